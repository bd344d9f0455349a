"""attack.py power|faults|allocations|kills|kills-at-writes [NAME...]: programs whose power goes away, whose calls fail, that are killed.

power   every event of a run (record_calls.c), and all that a disk may hold after it, if nothing stays that was not synced,
        or only some of it: OUT is the old or the new one, whole; the same command makes the new one, and leaves nothing behind.
faults  every nth write, fsync, rename, unlink and open fails: an error that says something, OUT as it was, or whole.
allocations  the same of every nth allocation by the program, and of some by the libraries.
kills   the process ends before the nth rename, fsync or unlink (kills-at-writes: write); then as with power.

BUILD: the object folder; SEEDS, TEXTS: the folders of seeds, in UNDER, where files count; WORK: a folder in it, to be
emptied, best in memory. MOST: at most so many
of each kind a program (the n are spread evenly), 0: all. DONE: a file of what has held already, which is added to and not
done again, so that a sweep that was interrupted goes on. JOBS: attacks at once, each in a folder of its own; SOON: the time
(seconds since 1970) after which none is begun. The cases are in cases.py. Ends with 1 if anything did not hold.
"""
import hashlib
import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from cases import CASES

BUILD, WORK = Path(os.environ["BUILD"]), Path(os.environ["WORK"])
BIN = Path(os.environ.get("BIN", BUILD / "bin"))  # of the attacked programs
MOST = int(os.environ.get("MOST", "0"))
PLACES = {"s": os.environ["SEEDS"], "t": os.environ["TEXTS"]}
DIR = WORK / "run"
UNDER = os.environ["UNDER"]
JOBS, SOON = int(os.environ.get("JOBS", "1")), int(os.environ.get("SOON", "0"))
FEW = 30  # allocations, all of which fail whatever MOST says
CODES = {0, 1, 2, 3, 4, 5, 75}
DONE = os.environ.get("DONE")
done = dict(line.rstrip("\n").split("\t") for line in open(DONE)) if DONE and os.path.exists(DONE) else {}
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text, flush=True)


def once(name, attack):
    """What an attack found, kept if all held (then it is not repeated after an interruption)."""
    if name not in done:
        before = failures
        found = attack()
        if failures > before:
            return found
        done[name] = found
        if DONE:
            with open(DONE, "a") as file:
                file.write(f"{name}\t{found}\n")
    return done[name]


# ---- many at once ----

class Share:
    """What the processes that attack at once were given: they are made when it is known."""
    attack, items = None, []


def settle(numbers):
    global WORK, DIR
    WORK = WORK / f"job{numbers.get()}"
    WORK.mkdir(exist_ok=True)
    DIR = WORK / "run"


def one(number):
    before = failures
    return (Share.attack(*Share.items[number]), failures - before) if not is_late() else (None, 0)


def is_late():
    return 0 < SOON <= time.time()


def all_of(attack, items):
    """What attack(*item) found, of all items that came to it before it was late, JOBS at a time."""
    global failures
    Share.attack, Share.items = attack, items
    if JOBS == 1:
        found = [one(n)[0] for n in range(len(items))]
    else:
        fork = multiprocessing.get_context("fork")
        numbers = fork.SimpleQueue()
        for job in range(JOBS):
            numbers.put(job)
        with fork.Pool(JOBS, settle, (numbers,)) as pool:
            both = pool.map(one, range(len(items)), chunksize=1)
        found = [f for f, _ in both]
        failures += sum(bad for _, bad in both)
    return [f for f in found if f is not None]


def told(found, items):
    """How many there were."""
    return f"{len(items)}" if len(found) == len(items) else f"{len(found)} ({len(items) - len(found)} left out)"


# ---- running ----

def command(case, text):
    program, *rest = text.format(**PLACES).split()
    words = [str(BIN / ("penstock-" + program))] + [str(DIR / case.out) if w == "OUT" else w for w in rest]
    return ["mpirun", "--oversubscribe", "-n", "2"] + words if case.ranks else words


def run(words, **environment):
    """Exit code (-9: killed, None: hung) and what was said."""
    try:
        end = subprocess.run(words, env={**os.environ, **environment}, capture_output=True, timeout=60, cwd=WORK)
    except subprocess.TimeoutExpired:
        return None, ""
    return end.returncode, (end.stderr + end.stdout).decode(errors="replace")


def content(path, cache={}):
    """What is in a file, without what differs from run to run; None: damaged."""
    key = hashlib.sha256(b"".join(p.read_bytes() for p in sorted(path.parent.glob(path.stem + ".*"))) + str(path).encode()).digest()
    if key not in cache:
        if path.suffix not in (".h5", ".hdf"):
            cache[key] = path.read_bytes()
        elif run([str(BUILD / "bin/penstock-verify"), "-q", str(path)])[0] != 0:
            cache[key] = None
        else:  # its content hash, which verify has found to be right, and those of its inputs
            said = run([str(BUILD / "bin/penstock-inspect"), "--json", str(path)])[1]
            cache[key] = tuple(re.findall(r'content"?:? "?([0-9a-f]{16})', said)) or None
    return cache[key]


def files():
    return {p.name: p.read_bytes() for p in DIR.iterdir()}


def put(state):
    shutil.rmtree(DIR, ignore_errors=True)
    DIR.mkdir()
    for name, data in state.items():
        (DIR / name).write_bytes(data)


def ends_well(case, text):
    put({})
    code, said = run(command(case, text))
    if code != 0:
        fail(f"{case.name}: code {code}: {said.strip()[-300:]}")
    return code == 0


def plain(names):
    """Names without the generation of a set of parts (the master says which one it joins)."""
    return {re.sub(r"\.g\d+\.part", ".part", n) for n in names}


class Expected:
    """What the two commands of a case leave: files, and the contents of OUT."""

    def __init__(self, case):
        self.case, self.old_files, self.old = case, {}, None
        self.good = True
        if case.old:
            self.good = ends_well(case, case.old)
            self.old_files = files()
            self.old = content(DIR / case.out) if self.good else None
        self.good = self.good and ends_well(case, case.new)
        self.names = plain(files())
        self.new = content(DIR / case.out) if case.out != "-" and self.good else None
        self.steady = {}  # side outputs whose content is that of every run
        for name in set(files()) - {case.out}:
            self.steady[name] = content(DIR / name)
        if self.good and self.steady and ends_well(case, case.new):
            self.steady = {n: c for n, c in self.steady.items() if ".part" not in n and (DIR / n).exists() and content(DIR / n) == c}


def look(expected, what):
    """What OUT is: "old", "new", "none", or "bad", which is a failure."""
    case = expected.case
    path = DIR / case.out
    if case.out == "-":
        return "none"
    if not path.exists():
        previous = DIR / (case.out + ".previous")
        if expected.old is None or (previous.exists() and previous.read_bytes() == expected.old_files[case.out]):
            return "none"
        fail(f"{what}: the old output is gone")
        return "bad"
    found = content(path)
    if found is not None and found in (expected.old, expected.new):
        return "new" if found == expected.new else "old"
    fail(f"{what}: the output is " + ("damaged" if found is None else "neither the old nor the new one"))
    return "bad"


def repeat(expected, what):
    """The same command makes the same, and leaves nothing else."""
    code, said = run(command(expected.case, expected.case.new))
    if code != 0:
        fail(f"{what}: the same command ends with {code}: {said.strip()[-300:]}")
        return False
    good = look(expected, what + ", repeated") == "new"
    if not good:
        fail(f"{what}: repeated, the output is not the new one")
    for name, kept in expected.steady.items():
        if good and not ((DIR / name).exists() and content(DIR / name) == kept):
            fail(f"{what}: repeated, {name} is not as in a run by itself")
            good = False
    left = plain(n for n in os.listdir(DIR) if not n.endswith(".previous")) - expected.names - plain(expected.old_files)
    if left:
        fail(f"{what}: left behind: {sorted(left)}")
    return good and not left


# ---- power ----

class Disk:
    """Names and contents that are there for good, and what is not yet."""

    def __init__(self, state):
        self.names = {name: ("old", name) for name in state}  # name: file
        self.durable = {("old", name): data for name, data in state.items()}
        self.now = dict(self.durable)
        self.pending = []  # changes of names since the folder was synced: {name: file or None}
        self.current = dict(self.names)
        self.numbers = {(DIR / name).stat().st_ino: ("old", name) for name in state}
        self.made = 0

    def apply(self, kind, words, copies):
        inside = [Path(w).name for w in words]
        if kind == "make":
            self.made += 1
            file = ("new", self.made)
            self.numbers[int(words[0])] = file
            self.durable[file] = self.now[file] = b""
            self.change({inside[1]: file})
        elif kind == "rename":
            self.change({inside[1]: self.current[inside[0]], inside[0]: None})
        elif kind == "unlink":
            self.change({inside[0]: None})
        elif kind == "syncdir":
            self.names, self.pending = dict(self.current), []
        elif kind in ("state", "sync"):
            file = self.numbers.get(int(words[0]))
            if file is None:
                return
            self.now[file] = (copies / words[1]).read_bytes()
            if kind == "sync":
                self.durable[file] = self.now[file]
        elif kind != "end":
            raise ValueError(kind)

    def change(self, names):
        self.pending.append(names)
        for name, file in names.items():
            if file is None:
                self.current.pop(name, None)
            else:
                self.current[name] = file

    def folders(self):
        """None of the pending changes of names, all, one alone, all but one, and those up to each."""
        count = len(self.pending)
        picks = {(), tuple(range(count))}
        for i in range(count):
            picks |= {(i,), tuple(j for j in range(count) if j != i), tuple(range(i))}
        for pick in sorted(picks):
            names = dict(self.names)
            for i in pick:
                for name, file in self.pending[i].items():
                    names[name] = file
            yield {n: f for n, f in names.items() if f is not None}

    def states(self):
        for folder in self.folders():
            for how in ("lost", "kept", "cut", "zeros"):
                yield {n: self.hold(f, how) for n, f in folder.items()}

    def hold(self, file, how):
        durable, now = self.durable[file], self.now[file]
        if how == "lost" or now == durable:
            return durable
        half = (len(durable) + len(now)) // 2 if len(now) > len(durable) else len(now) // 2
        return {"kept": now, "cut": now[:half], "zeros": now[:half] + bytes(len(now) - half)}[how]


def record(expected, state):
    """The events of the attacked command from this state, or None."""
    case = expected.case
    put(state)
    to = WORK / "record"
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    disk = Disk(state)
    code, said = run(command(case, case.new), LD_PRELOAD=str(BUILD / "hostile/record_calls.so"), RECORD_UNDER=str(DIR), RECORD_TO=str(to))
    if code != 0:
        fail(f"{case.name}: recorded, code {code}: {said.strip()[-300:]}")
        return None
    events = [line.split() for line in (to / "log").read_text().splitlines()]
    if any(e[0] == "unknown" for e in events) or not events:
        fail(f"{case.name}: calls that the record does not know, or none")
        return None
    return disk, events, to


def power_from(expected, state, what, seen):
    """All states that the disk may be in; returns those in which a run is under way."""
    recorded = record(expected, state)
    if not recorded:
        return []
    disk, events, copies = recorded
    found = []
    for number, (kind, *words) in enumerate(events):
        disk.apply(kind, words, copies)
        last = number == len(events) - 1
        for possible in disk.states():
            key = hashlib.sha256(repr([(n, hashlib.sha256(d).digest()) for n, d in sorted(possible.items())]).encode()).digest()
            if (key, last) not in seen and (last or key not in {k for k, _ in seen}):
                seen.add((key, last))
                event = f"event {number + 1} of {len(events)} ({kind} {Path(words[-1]).name if words else ''})"
                found.append((f"{what}, state {len(found) + 1} after {event}", last, possible))
    return found


def check_power(expected, found):
    """How many states were looked at."""
    def check(what, last, possible):  # names of temporaries are random
        return once(re.sub(r" \(.*?\)", "", what), lambda: loses_power(expected, what, last, possible))

    return len(all_of(check, spread(found)))


def loses_power(expected, what, last, possible):
    put(possible)
    is_now = look(expected, what)
    if last and is_now not in ("new", "bad") and expected.case.out != "-":
        fail(f"{what}: it ended with 0, and the output is the {is_now} one after a loss of power")
    if is_now != "bad":
        repeat(expected, what)
    return is_now


def spread(items):
    if not MOST or len(items) <= MOST:
        return items
    return [items[i * len(items) // MOST] for i in range(MOST - 1)] + [items[-1]]


def power(case, kind):
    if case.out == "-":
        return
    expected = Expected(case)
    if not expected.good:
        return
    total = 0
    for start, state in (("old output", expected.old_files), ("no output", {})):
        seen = set()
        if not state:
            expected.old = None
        found = power_from(expected, state, f"{case.name}, {start}", seen)
        total += check_power(expected, found)
        if case.keeps and not state:  # a second loss, while the first is being mended
            middle = [f for f in found if len(f[2]) > 2]
            for what, _, possible in middle[:: max(1, len(middle) // 3)][:3]:
                again = power_from(expected, possible, what + ", again", seen)
                total += check_power(expected, again)
    print(f"{case.name}: {total} states of the disk", flush=True)


# ---- failing calls and kills ----

CALLS = {"faults": ("rename", "fsync", "unlink", "open", "write"), "allocations": ("malloc", "malloc-inside"), "kills": ("rename", "fsync", "unlink"), "kills-at-writes": ("write",)}


def failing(case, call, rank, **more):
    """The environment in which a call fails; with two ranks, in this one of them."""
    return {"LD_PRELOAD": str(BUILD / "hostile/fail_nth.so"), "FAIL_CALL": call, "FAIL_UNDER": UNDER, **more, **({"FAIL_RANK": rank} if case.ranks else {})}


def count(case, call, rank, state):
    put(state)
    counted = WORK / "count"
    counted.unlink(missing_ok=True)
    run(command(case, case.new), **failing(case, call, rank, FAIL_COUNT=str(counted)))
    return int(counted.read_text()) if counted.exists() else 0


def calls(expected, kind):
    """Each kind of call with the rank that makes it, the n that are attacked, and how many there are."""
    case = expected.case
    for rank in ("0", "1") if case.ranks else ("",):
        for call in CALLS[kind]:
            total = count(case, call, rank, expected.old_files)
            numbers = list(range(1, total + 1))
            if kind != "allocations" or total > FEW:
                numbers = spread(numbers)
            if call == "malloc-inside" and len(numbers) > 100:  # allocations of the libraries: a sample
                numbers = numbers[:: len(numbers) // 100]
            yield call, rank, numbers, total


def attack(expected, call, rank, n, kill):
    case = expected.case
    put(expected.old_files)
    return run(command(case, case.new), **failing(case, call, rank, FAIL_NTH=str(n), **({"FAIL_SIGNAL": "9"} if kill else {})))


def judge_fault(expected, what, call, code, said):
    """True if the program ended in its own way."""
    if code is None:
        fail(f"{what}: hung")
        return False
    if code not in CODES:
        if call != "malloc":  # libhdf5 does not survive that some allocations fail while it sets itself up
            fail(f"{what}: code {code}: {said.strip()[-200:]}")
        look(expected, what)
        return False
    is_now = look(expected, what)
    if code == 0 and is_now == "old":
        fail(f"{what}: code 0, and the output is the old one")
    if code == 0 and is_now == "none" and expected.case.out != "-":
        fail(f"{what}: code 0 without an output")
    if code != 0 and "error" not in said and "warning" not in said:
        fail(f"{what}: code {code} without a word")
    left = [n for n in os.listdir(DIR) if n.endswith(".tmp")]
    if left and call != "unlink":
        fail(f"{what}: left behind: {left}")
    return True


def fault(expected, call, rank, n):
    """"noticed" if the program ended with an error, "unheeded" if not, "ended" if it was a library that ended it."""
    code, said = attack(expected, call, rank, n, False)
    name = f"{expected.case.name}: {call} {n} fails" + (f" in rank {rank}" if rank else "")
    if not judge_fault(expected, name, call.split("-")[0], code, said):
        return "ended"
    return "noticed" if code else "unheeded"


def faults(case, kind):
    expected = Expected(case)
    if not expected.good:
        return
    lines = []

    def fails(call, rank, n):
        return once(f"{call} {n} of {case.name} {rank}", lambda: fault(expected, call, rank, n))

    for call, rank, numbers, total in calls(expected, kind):
        items = [(call, rank, n) for n in numbers]
        ends = all_of(fails, items)
        ended = ends.count("ended")
        lines.append(f"{call} {told(ends, items)} of {total}, {len(ends) - ends.count('unheeded')} errors" + (f", {ended} ended a library" if ended else ""))
    print(f"{case.name}: " + "; ".join(lines), flush=True)


def kill(expected, what, call, rank, n):
    attack(expected, call, rank, n, True)
    found = look(expected, what)
    if found != "bad":
        repeat(expected, what)
    return found


def kills(case, kind):
    if case.out == "-":
        return
    expected = Expected(case)
    if not expected.good:
        return

    def dies(call, rank, n):
        what = f"{case.name}: killed at {call} {n}" + (f" of rank {rank}" if rank else "")
        return once(what, lambda: kill(expected, what, call, rank, n))

    items = [(call, rank, n) for call, rank, numbers, _ in calls(expected, kind) for n in numbers]
    print(f"{case.name}: {told(all_of(dies, items), items)} kills", flush=True)


def main():
    WORK.mkdir(exist_ok=True)
    what, *names = sys.argv[1:]
    for case in CASES:
        name = case.old.split()[0] if case.old else case.new.split()[0]
        if (names and case.name not in names) or not (BIN / ("penstock-" + name)).exists():
            continue
        if is_late():
            print(f"{case.name}: left out", flush=True)
            continue
        {"power": power, "faults": faults, "allocations": faults, "kills": kills, "kills-at-writes": kills}[what](case, what)
    sys.exit(1 if failures else 0)


main()
