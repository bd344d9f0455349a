#!/usr/bin/env python3
"""Predicts every family from 1 to 1,024 GPUs (specs/scale.md): prints its tables, writes its picture.

scale.py [--count FOLDER] [--picture FILE] [--checks FILE]

Rates of one GPU come from bench/results/*-nvidia-h200.json, what ranks send from bench/scale-counts.json: the section
`traffic` of --plan --ranks N on the files of specs/scale.md. --count FOLDER takes it anew from FOLDER/FAMILY-N.json, reports
made with --json. --checks writes the table of all runs of bench/results/scale-*.json beside what the model says of them from one GPU of
the same host. --picture needs gnuplot. No package beyond Python's own.
"""
import argparse
import glob
import json
import math
import os
import re
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NUMBERS = [2**i for i in range(11)]

# The network: a host has 8 GPUs, linked; seconds and bytes a second of one GPU. LINK: NVLink; NET: 400 Gb/s a GPU;
# PCIE: pinned copies as measured (runtime-nvidia-h200); LATENCY: of a message over the network, CALL: of posting one,
# HOP: of a host's turn: an event waited for, a copy begun.
HOST, LINK, NET, PCIE, LATENCY, CALL, HOP = 8, 300e9, 50e9, 55e9, 5e-6, 1e-6, 10e-6
PIECE = 4 << 20  # of a sum (runtime/comm.c)
# Taken from runs with 2 and 4 GPUs (bench/scale.md): of a step of dgtd the launches and flags where the mesh is cut up, and where each GPU
# has its own; of hbem opening and tables, and starting ranks, by doubling; of an iteration of schwarz, one and by doubling;
# the part of a run of tasks of fmm that the memory of the host bounds, where cores are what it waits for;
# bytes a second of blocks to the host and back; of an exchange of local steps through the hosts, seconds and bytes a second.
CUT, WEAK, OPENING, STARTING, EXCHANGE, BY_HOST = 44e-6, 12e-6, .38, .2, 60e-6, .55
BLOCKS, LOCAL = (20e9, 10e9), (33e-6, 16e9)


def records():
    found = []
    for path in glob.glob(os.path.join(ROOT, "bench/results/*-nvidia-h200.json")):
        with open(path) as file:
            found += json.load(file)
    return found


RECORDS = records()


def rate(case, quantity, size=""):
    """The value of the latest record whose names match these patterns."""
    good = [r for r in RECORDS if re.fullmatch(case, r["case"]) and re.search(quantity, r["quantity"])
            and re.search(size, str(r["size"]))]
    if not good:
        raise SystemExit(f"scale.py: no record of {case}, {quantity}, {size}")
    value = good[-1]["value"]
    return value * {"s": 1, "ms": 1e-3, "us": 1e-6}.get(good[-1]["unit"], 1)


def total(ranks, bytes_, over=NET):
    """Seconds of a sum over ranks (ps_comm_sum): pieces, each rank adds a segment and hands it on."""
    if ranks == 1:
        return 0
    pieces = math.ceil(bytes_ / PIECE)
    return 2 * pieces * (LATENCY + (ranks - 1) * CALL) + 2 * bytes_ * (ranks - 1) / ranks / over


def hosts(n):
    return (n + HOST - 1) // HOST


def through(bytes_, messages):
    """Seconds from a GPU through its host to another one's."""
    return 2 * bytes_ / PCIE + bytes_ / NET + messages * CALL + LATENCY + 2 * HOP


class Family:
    def __init__(self, counts):
        self.counts = counts

    def of(self, n):
        """What n ranks share and send; not a number where that was not counted."""
        known = 1 if n == 1 else float("nan")
        return self.counts.get(str(n), {"imbalance": known, "most_sent": 0, "most_messages": 0, "summed": 0})

    def share(self, n):
        return self.of(n)["imbalance"] / n


class Tdbem(Family):
    name, what = "tdbem", "airplane, 23,952 unknowns, K 340, n_g 16: a group of 16 steps"
    GROUPS, BLOCKS = 677, 4 * 5.42e9

    def between(self, n):
        local, bytes_ = min(n, HOST), 4 * 16 * 23952
        peers = (local - 1) * (bytes_ / LINK + HOP / 5)
        return peers + (total(hosts(n), bytes_) + 2 * bytes_ / PCIE + 2 * HOP if n > HOST else 0)

    def steps(self, sums, all_, n):
        return sums * self.share(n) + all_ - sums + self.GROUPS * self.between(n)

    def seconds(self, n):
        sums, all_ = (rate("scale-tdbem", q) for q in ("^sums, 1 GPU", "^sums, loads.*, 1 GPU"))
        return self.steps(sums, all_, n) / self.GROUPS


class Dgtd(Family):
    name, what = "dgtd", "head, 792,991 tetrahedra, P3: a step"

    def seconds(self, n):
        step = rate("scale-dgtd-head-p3", "stepping, 1 GPU") / 1000
        if n == 1:
            return step
        if n <= HOST:
            return step * self.share(n) + CUT
        sent = self.of(n)
        halo = 2 * through(sent["most_sent"] / 2, sent["most_messages"] / 2)
        return step * self.share(n) + max(0, halo - step * self.share(n)) + CUT + 2 * HOP


class Hbem(Family):
    name, what = "hbem", "submarine, 115,155 unknowns, k 4.19, one wave: assembly and 8 products"

    def assembly(self, one, n):
        return one if n == 1 else (one - OPENING) * self.share(n) + OPENING

    def seconds(self, n):
        assembly, products, sparse = (rate("scale-hbem", f"^{q}, 1 GPU") for q in ("assembly", "products", "sparse"))
        sums = 8 * (total(n, self.of(n)["summed"], PCIE if n <= HOST else NET) + (n > 1) * 3 * HOP)
        return self.assembly(assembly, n) + products * self.share(n) + sparse + sums


class Fmm(Family):
    name, what = "fmm", "cube of 30 million, order 5, 15 cores a GPU: a run of tasks"

    def seconds(self, n, gathered=True):
        work = rate("fmm-tasks-cube-acc5", "makespan", "30000000.*15 cores . 1 GPU.*down")
        ends = .004 if n == 1 else .010
        if n <= HOST:
            return work * self.share(min(n, 1)) / n + ends
        results = 30e6 * 32 * (hosts(n) - 1) / hosts(n)
        sent = self.of(hosts(n))
        others = max(0, sent["most_sent"] - results / max(1, hosts(n) - 1))
        return work * self.of(hosts(n))["imbalance"] / n + ends + through(others, 0) + gathered * results / NET


class Schwarz(Family):
    name, what = "schwarz", "19.9 million unknowns, 64 slabs, GMRES with coarse space: 6 iterations"

    def slabs(self, one, n):
        return one if n == 1 else one / n + 8 * EXCHANGE * (1 + math.log2(n))

    def seconds(self, n):
        if n > 64:
            return float("nan")
        return self.slabs(rate("gravity-19m9-slabs", "^64 slabs, GMRES, coarse space", "without reading"), n)


FAMILIES = [Tdbem, Dgtd, Hbem, Fmm, Schwarz]


def take_counts(folder):
    counts = {}
    for path in sorted(glob.glob(os.path.join(folder, "*-[0-9]*.json"))):
        family, n = re.fullmatch(r"(.*)-(\d+)\.json", os.path.basename(path)).groups()
        with open(path) as file:
            text = file.read().strip()
        if text:
            counts.setdefault(family, {})[n] = json.loads(text)["traffic"]
    with open(os.path.join(ROOT, "bench/scale-counts.json"), "w") as file:
        rows = [f' "{f}": {{\n  ' + ",\n  ".join(f'"{n}": {json.dumps(t)}' for n, t in sorted(
            c.items(), key=lambda item: int(item[0]))) + "}" for f, c in sorted(counts.items())]
        file.write("{\n" + ",\n".join(rows) + "}\n")


def measured():
    """Runs of hosts: {device: {(case, quantity, size): {GPUs: seconds}}}, and the latest of each."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "bench/results/scale-*.json"))):
        with open(path) as file:
            for r in json.load(file):
                several = re.search(r", (\d+) (GPUs?|devices)$", r["quantity"])
                tasks = re.search(r", (\d+) cores \+ (\d+) GPU.*", r["size"])
                if r["unit"] != "s" or not (several or tasks) or tasks and int(tasks[1]) != 15 * int(tasks[2]):
                    continue
                n = int(several[1] if several else tasks[2])
                quantity = r["quantity"][:several.start()] if several else "makespan"
                size = r["size"][:tasks.start()] if tasks else "" if several[2] == "devices" else r["size"]
                found.setdefault(r["device"], {}).setdefault((r["case"], quantity, size), {})[n] = r["value"]
    return found


def predictions(models):
    """[case, quantity, seconds of n GPUs from those of one, `one(quantity)` of the same case]."""
    tdbem, hbem, schwarz = (models[k] for k in ("tdbem", "hbem", "schwarz"))

    def to_memory(t, n):
        return t / n + tdbem.BLOCKS / BLOCKS[0]

    def whole_tdbem(t, n, one):
        sums, all_, assembly = (one(q) for q in ("sums", "sums, loads, radiation and solves", "assembly in memory"))
        return t - all_ - assembly + tdbem.steps(sums, all_, n) + to_memory(assembly, n) + tdbem.BLOCKS / BLOCKS[1]

    def local_steps(t, n, of_p3):
        """1,000 steps of four levels, 30 exchanges each of the traces of a half step, if all levels touch."""
        bytes_ = of_p3 * models["dgtd"].of(n)["most_sent"] / 2
        return t / n + 1000 * 30 * (LOCAL[0] + bytes_ / LOCAL[1])

    def whole_hbem(t, n, one):
        assembly = one("assembly")
        return t - assembly + hbem.assembly(assembly, n) + STARTING * math.log2(n)

    return [
        ("scale-tdbem(-ranks)?", "sums", lambda t, n, one: t * tdbem.share(n)),
        ("scale-tdbem(-ranks)?", "sums, loads.*", lambda t, n, one: tdbem.steps(one("sums"), t, n)),
        ("scale-tdbem", "assembly in memory", lambda t, n, one: to_memory(t, n)),
        ("scale-tdbem", "whole program", whole_tdbem),
        ("scale-dgtd-box-p[23]", "stepping", lambda t, n, one: t / n + 4000 * CUT),
        ("scale-dgtd-head-p3", "stepping", lambda t, n, one: t / n + 1000 * CUT),
        ("scale-dgtd-head-p2-local", "stepping", lambda t, n, one: local_steps(t, n, .6)),
        ("scale-dgtd-head-p3-local", "stepping", lambda t, n, one: local_steps(t, n, 1)),
        ("dgtd-weak-p[34]", "time.*", lambda t, n, one: t + 1000 * WEAK * min(n - 1, 2)),
        ("dgtd-strong-p3", "time.*", lambda t, n, one: t / n + 1000 * CUT),
        ("scale-hbem(-big)?", "assembly", lambda t, n, one: hbem.assembly(t, n)),
        ("scale-hbem(-big)?", "whole program", whole_hbem),
        ("scale-hbem-files", ".*files", lambda t, n, one: (t - 2 * OPENING) / n + 2 * (OPENING + STARTING * math.log2(n))),
        ("fmm-tasks-cube-acc[35]", "makespan", lambda t, n, one: t * ((1 - BY_HOST) / n + BY_HOST)),
        ("scale-schwarz-gmres", "solving", lambda t, n, one: schwarz.slabs(t, n))]


def checks(models):
    """[device, case, quantity, size, GPUs, seconds of one, measured, predicted]."""
    rows = []
    for device, runs in measured().items():
        for (case, quantity, size), values in runs.items():
            if case.endswith("-ranks"):  # one rank is one process
                values.update({1: runs[case[:-6], quantity, size][1]})
            for of, what, predict in predictions(models):
                if 1 not in values or not re.fullmatch(of, case) or not re.fullmatch(what, quantity):
                    continue
                rows += [(device, case, quantity, size, n, values[1], values[n],
                          predict(values[1], n, lambda q, case=case, size=size, runs=runs: runs[case.replace("-ranks", ""), q, size][1]))
                         for n in sorted(values) if n > 1]
    return rows


def stops(model):
    """The most GPUs that are still half used, and those that are fastest."""
    times = {n: model.seconds(n) for n in NUMBERS}
    known = {n: t for n, t in times.items() if t == t}
    half = max(n for n, t in known.items() if times[1] / t / n >= .5)
    best = min(known, key=known.get)
    return half, best


SHOWN = {"tdbem": ("scale-tdbem", "sums, loads.*"), "dgtd": ("scale-dgtd-(head|box)-p3", "stepping"), "hbem": ("scale-hbem", "assembly"),
         "fmm": ("fmm-tasks-cube-acc5", "makespan"), "schwarz": ("scale-schwarz-gmres", "solving")}


def picture(models, path, rows):
    """Lines: what the model says; points: what was measured (of fmm and schwarz other sizes than the lines')."""
    lines = []
    for i, name in enumerate(models):
        case, quantity = SHOWN[name]
        points = [f"{n} {one / seconds:.4g}" for _, of, what, _, n, one, seconds, _ in rows
                  if re.fullmatch(case, of) and re.fullmatch(quantity, what)]
        lines += [f"$points{i} << EOD"] + points + ["EOD"]
    lines.append("$data << EOD")
    for n in NUMBERS:
        lines.append(" ".join([str(n)] + [f"{m.seconds(1) / m.seconds(n):.4g}" for m in models.values()]))
    colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"]
    plots = ", ".join(f"$data using 1:{i + 2} with lines lw 2 lc rgb '{colours[i]}' title '{name}'"
                      for i, name in enumerate(models))
    plots += ", " + ", ".join(f"$points{i} with points ps 1.6 lw 2 pt {i + 4} lc rgb '{colours[i]}' notitle" for i in range(len(models)))
    lines += ["EOD", f"set terminal pngcairo size 900,600 noenhanced\nset output '{path}'", "set logscale xy 2", "set key left top",
              "set grid lc rgb '#dddddd'", "set xlabel 'GPUs (8 a host)'", "set ylabel 'speed-up over one GPU; points: measured'",
              "set xrange [.9:1024]\nset yrange [.5:64]", f"plot x with lines dt 2 lc rgb '#888888' title 'ideal', {plots}"]
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", metavar="FOLDER")
    parser.add_argument("--picture", metavar="FILE")
    parser.add_argument("--checks", metavar="FILE")
    options = parser.parse_args()
    if options.count:
        take_counts(options.count)
    with open(os.path.join(ROOT, "bench/scale-counts.json")) as file:
        counts = json.load(file)
    models = {f.name: f(counts.get(f.name, {})) for f in FAMILIES}
    print("| GPUs | " + " | ".join(models) + " |\n|---|" + "---|" * len(models))
    for n in NUMBERS:
        print(f"| {n} | " + " | ".join("-" if m.seconds(n) != m.seconds(n) else f"{m.seconds(1) / m.seconds(n):.3g}"
                                       for m in models.values()) + " |")
    print("\n| family | one GPU | half used up to | fastest at |\n|---|---|---|---|")
    for m in models.values():
        print(f"| {m.name}: {m.what} | {1e3 * m.seconds(1):.3g} ms | {stops(m)[0]} | {stops(m)[1]} |")
    rows = checks(models)
    lines = ["| run | GPUs | one, s | measured, s | speed-up | predicted, s | off by |", "|---|---|---|---|---|---|---|"]
    for device, case, quantity, size, n, one, seconds, predicted in rows:
        off = predicted / seconds - 1
        mark = "**" if abs(off) > .15 else ""
        name = device.split()[1] + ": " + case.replace("scale-", "") + ", " + quantity
        if "slabs" in size:
            name += ", " + size.split(",")[0] + " nodes a side"
        lines.append(f"| {name} | {n} | {one:.4g} | {seconds:.4g} | {one / seconds:.3g} | {predicted:.4g} | {mark}{100 * off:+.1f} %{mark} |")
    print("\n" + "\n".join(lines))
    outside = sum(abs(r[-1] / r[-2] - 1) > .15 for r in rows)
    print(f"\n{outside} of {len(rows)} rows are off by more than 15 %.")
    if options.checks:
        with open(options.checks, "w") as file:
            file.write("\n".join(lines) + "\n")
    if options.picture:
        picture(models, options.picture, rows)


if __name__ == "__main__":
    main()
