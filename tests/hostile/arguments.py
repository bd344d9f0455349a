#!/usr/bin/python3
"""Wrong arguments for every program: each program of cases.py is run with every kind of file in the place of each of its
inputs (`files`), and with numbers and words that no option takes (`options`). It must end with a refusal, 2 or 3 for a
file, that says what is wrong, leave no output and no temporary, and take its time; 0 only with what it may take.

Usage: arguments.py files|options [NAME...]   SEEDS, TEXTS: folders of seeds.sh and text_seeds.sh; BIN: of the programs;
WORK: an empty folder; MOST: how many of all are run, spread evenly (0: all); FIRST: which of them is the first, so that
another day runs others. Ends with 1 if anything did not hold.
"""
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

from cases import CASES

BIN, WORK = Path(os.environ["BIN"]), Path(os.environ["WORK"])
PLACES = {"s": os.environ["SEEDS"], "t": os.environ["TEXTS"]}
MOST, FIRST = int(os.environ.get("MOST", "0")), int(os.environ.get("FIRST", "0"))
SECONDS, ROOM = 20, 6 << 30
READS_ALL = ("inspect", "verify", "compare", "plot", "report")  # any file of ours may be what they are for
TEXTS = (".txt", ".csv", ".stations", ".observed", ".cells", ".prisms", ".sound", ".bricks", ".den", ".ubc", ".wav", ".samples",
         ".places", ".panels", ".pressures", ".fluid")
TAKE = {"mesh-import": (".off", ".obj", ".ply", ".stl", ".msh", ".vtk", ".mesh", ".gz"), "terrain-import": (".asc", ".nc", ".tif"),
        "prism-field": ("penstock-prism-model", "penstock-terrain"), "incident": ("penstock-block-matrix", "penstock-history"), "tdbem-march": ("penstock-block-matrix",),
        "particle-import": ("penstock-particles", ".pqr"), "fmm": ("penstock-particles",), "gravity-invert": (".cells", ".msh", ".ubc")}  # other kinds that a program reads in the same place
VALUES = ("1e300", "-1e300", "nan", "inf", "-0", "1e-320", "", "x", "99999999999999999999", "1,2", "0,0,0", "-1")
failures = 0


def fail(text):
    global failures
    failures += 1
    print("FAILED:", text, flush=True)


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (ROOM, ROOM))


def run(words):
    """Exit code (None: hung) and what was said."""
    try:
        end = subprocess.run(words, capture_output=True, timeout=SECONDS, cwd=WORK, preexec_fn=limits, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None, ""
    return end.returncode, (end.stderr + end.stdout).decode(errors="replace")


def spread(items):
    if not MOST or len(items) <= MOST:
        return items
    step = len(items) / MOST
    return [items[int(i * step + FIRST) % len(items)] for i in range(MOST)]


def words_of(case):
    program, *rest = case.new.format(**PLACES).split()
    return [str(BIN / ("penstock-" + program))] + [str(WORK / case.out) if w == "OUT" else w for w in rest]


# ---- files ----

def odd_files():
    """What no program reads: by name."""
    odd = WORK / "odd"
    odd.mkdir()
    (odd / "folder.h5").mkdir()
    (odd / "empty.h5").touch()
    (odd / "noise.h5").write_bytes(bytes((i * i * 7 + i // 13) % 251 for i in range(4096)))
    (odd / "words.txt").write_text("what is this?\n" * 20)
    (odd / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(60))
    (odd / "link.h5").symlink_to("nowhere.h5")
    (odd / "round.h5").symlink_to("round.h5")
    os.mkfifo(odd / "pipe.h5")
    return [odd / "missing.h5", *sorted(odd.iterdir()), Path("/dev/null"), Path("/dev/full"), Path("/proc/self/mem")]


def kind_of(path, kinds={}):
    """The format of a file of ours; of others the suffix."""
    if path not in kinds:
        said = run([str(BIN / "penstock-inspect"), "--json", str(path)])[1] if path.suffix in (".h5", ".hdf") else ""
        found = re.search(r'"format": "([^"]*)"', said)
        kinds[path] = found.group(1) if found else path.suffix
    return kinds[path]


def samples():
    """One file of each kind, and what is none."""
    chosen = {}
    for place in PLACES.values():
        for path in sorted(Path(place).iterdir()):
            if path.is_file() and path.suffix != ".log" and ".part" not in path.name:
                chosen.setdefault((kind_of(path), path.suffix), path)
    return list(chosen.values()) + odd_files()


def file_attacks(case, others):
    """Each input of the command replaced by each other kind of file."""
    words = words_of(case)
    for at, word in enumerate(words[1:], 1):
        found = re.search("|".join(re.escape(p) + r"/[\w.]+" for p in PLACES.values()), word)
        for other in others if found else []:
            own = Path(found.group(0))
            if kind_of(other) != kind_of(own) or str(other.parent).endswith("odd"):
                yield case, words[:at] + [word.replace(found.group(0), str(other))] + words[at + 1:], own, other


def look_file(case, words, own, other):
    code, said = run(words)
    name = words[0].rsplit("penstock-", 1)[1]
    what = f"{name}: {other.name} ({kind_of(other)}) for {own.name}"
    kinds = kind_of(own), kind_of(other)
    taken = name in READS_ALL or kinds[1] in TAKE.get(name, ()) or (kinds[0] in TEXTS and kinds[1] in TEXTS)
    if code not in (2, 3) and not (code in (0, 1, 4, 5) and taken):
        fail(f"{what}: code {code}: {said.strip()[-200:]}")
    elif code != 0 and not taken and other.name not in said:
        fail(f"{what}: code {code}, and the file is not named: {said.strip()[-300:]}")
    look_after(case, what, code, said)


def look_after(case, what, code, said):
    if code and "error: " not in said:
        fail(f"{what}: code {code} without a word")
    for path in list(WORK.iterdir()):
        if path.is_file() and (code or path.name != case.out):
            if code and case.name != "report":  # whose page says what could not be read
                fail(f"{what}: code {code} with {path.name}")
            path.unlink()
    (WORK / case.out).unlink(missing_ok=True)


# ---- options ----

def options_of(program, known={}):
    """Names of the options of a program that take a value."""
    if program not in known:
        said = run([program, "--help"])[1]
        known[program] = re.findall(r"^  --([\w-]+) [A-Za-z0-9|]", said, re.M)
    return known[program]


def option_attacks(case):
    words = words_of(case)
    for option in options_of(words[0]):
        if option not in ("help", "version", "figures", "verbose", "quiet", "json"):
            for value in VALUES:
                yield case, words + ["--" + option, value], option, value


def look_option(case, words, option, value):
    code, said = run(words)
    name = words[0].rsplit("penstock-", 1)[1]
    what = f"{name} --{option} '{value}'"
    if code not in (0, 1, 2, 3, 4, 5, 75):
        fail(f"{what}: code {code}: {said.strip()[-200:]}")
    elif code == 0 and case.out.endswith(("5", "f")) and (WORK / case.out).exists():
        if run([str(BIN / "penstock-verify"), "-q", str(WORK / case.out)])[0] != 0:
            fail(f"{what}: 0 and a damaged output")
    elif code == 0 and value in ("nan", "inf", "x") and not re.search(rf"--{option}[ =]", " ".join(words[:-2])):
        print(f"{what} is taken", flush=True) if os.environ.get("TOLD") else None
    look_after(case, what, code if code != 75 else 0, said)


def main():
    what, *names = sys.argv[1:]
    WORK.mkdir(exist_ok=True)
    cases = [c for c in CASES if not c.ranks and (not names or c.name in names) and (BIN / ("penstock-" + c.new.split()[0])).exists()]
    if what == "files":
        others = samples()
        attacks, look = [a for c in cases for a in file_attacks(c, others)], look_file
    else:
        attacks, look = [a for c in cases for a in option_attacks(c)], look_option
    chosen = spread(attacks)
    for attack in chosen:
        look(*attack)
    print(f"wrong {what}: {len(chosen)} of {len(attacks)}, {failures} failures", flush=True)
    sys.exit(1 if failures else 0)


main()
