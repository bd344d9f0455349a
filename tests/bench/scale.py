#!/usr/bin/env python3
"""Predicts every family from 1 to 1,024 GPUs (specs/scale.md): prints its tables, writes its picture.

scale.py [--count FOLDER] [--picture FILE]

Rates of one GPU come from bench/results/*-nvidia-h200.json, what ranks send from bench/scale-counts.json: the section
`traffic` of --plan --ranks N on the files of specs/scale.md. --count FOLDER takes it anew from FOLDER/FAMILY-N.json, reports
made with --json. --picture needs gnuplot. No package beyond Python's own.
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

    def seconds(self, n):
        sweep = rate("airplane-march", "^summation, 1 GPU", "K 340") / 677
        solve = 16 * rate("airplane-march", "radiation and solves, a step")
        local = min(n, HOST)
        bytes_ = 4 * 16 * 23952
        peers = (local - 1) * (bytes_ / LINK + HOP / 5)
        over = total(hosts(n), bytes_) + 2 * bytes_ / PCIE + 2 * HOP if n > HOST else 0
        return sweep * self.share(n) + solve + peers + over


class Dgtd(Family):
    name, what = "dgtd", "head, 792,991 tetrahedra, P3: a step"

    def seconds(self, n):
        step = rate("dgtd-head-p3", "with transforms, 1 device") / 1000
        if n == 1:
            return step
        sent = self.of(n)
        outer = 2 * 22e-6  # two launches for elements that touch others, and their flags
        if n <= HOST:
            return step * self.share(n) + outer
        halo = 2 * through(sent["most_sent"] / 2, sent["most_messages"] / 2)
        return step * self.share(n) + max(0, halo - step * self.share(n)) + outer + 2 * HOP


class Hbem(Family):
    name, what = "hbem", "submarine, 115,155 unknowns, k 4.19, one wave: assembly and 8 products"

    def seconds(self, n):
        kernels = rate("submarine-setup", "^K and W in core")
        fixed = rate("submarine-setup", "ready for products") - kernels
        products = 8 * rate("submarine-solve", "^products, a step")
        sparse = 8 * rate("submarine-solve", "^sparse systems, a step")
        sums = 8 * (total(n, self.of(n)["summed"], PCIE if n <= HOST else NET) + (n > 1) * 3 * HOP)
        return (kernels + products) * self.share(n) + fixed + sparse + sums


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

    def seconds(self, n):
        one = rate("gravity-19m9-slabs", "^64 slabs, GMRES, coarse space", "without reading")
        if n == 1 or n > 64:
            return one if n == 1 else float("nan")
        plane = 8 * 264 * 286
        return one * self.share(n) + 8 * (through(2 * plane, 2) + 3 * (LATENCY + n * CALL))


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


def checks(models):
    """What, GPUs, measured, predicted; seconds."""
    tdbem, dgtd, hbem, fmm = (models[k] for k in ("tdbem", "dgtd", "hbem", "fmm"))
    rows = []
    for n in (2, 4):
        rows.append(("airplane: sums", n, rate("airplane-march", f"^summation, {n} GPUs"),
                     rate("airplane-march", "^summation, 1 GPU", "K 340") * tdbem.share(n)))
        rows.append(("airplane: all of the steps", n, rate("airplane-march", f"^summation, loads.*, {n} GPUs"),
                     677 * tdbem.seconds(n)))
    for p in (3, 4):
        one = rate(f"dgtd-weak-p{p}", "1 devices$")
        rows.append((f"slabs of its own size, P{p}, 1,000 steps", 2, rate(f"dgtd-weak-p{p}", "2 devices$"), one + .012))
    rows.append(("head, P3, 1,000 steps", 2, rate("dgtd-head-p3", "with transforms, 2 devices"), 1000 * dgtd.seconds(2)))
    rows.append(("a slab cut up, P3, 1,000 steps", 2, rate("dgtd-strong-p3", "2 devices"),
                 rate("dgtd-strong-p3", "1 devices") / 2 + .044))
    rows.append(("a slab cut up, P3, 1,000 steps", 4, rate("dgtd-strong-p3", "4 devices"),
                 rate("dgtd-strong-p3", "1 devices") / 4 + .044))
    rows.append(("submarine: assembly", 2, (1.16 + 1.38) / 2,
                 rate("submarine-setup", "^K and W in core") * hbem.share(2) +
                 rate("submarine-setup", "ready for products") - rate("submarine-setup", "^K and W in core")))
    for order in (3, 5, 7):
        one = rate(f"fmm-tasks-cube-acc{order}", "makespan", "30000000.*15 cores . 1 GPU.*down")
        rows.append((f"cube of 30 million, order {order}", 2,
                     rate(f"fmm-tasks-cube-acc{order}", "makespan", "30000000.*30 cores . 2 GPU.*down"), (one - .004) / 2 + .010))
    return rows


def stops(model):
    """The most GPUs that are still half used, and those that are fastest."""
    times = {n: model.seconds(n) for n in NUMBERS}
    known = {n: t for n, t in times.items() if t == t}
    half = max(n for n, t in known.items() if times[1] / t / n >= .5)
    best = min(known, key=known.get)
    return half, best


def picture(models, path):
    lines = ["$data << EOD"]
    for n in NUMBERS:
        lines.append(" ".join([str(n)] + [f"{m.seconds(1) / m.seconds(n):.4g}" for m in models.values()]))
    colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9"]
    plots = ", ".join(f"$data using 1:{i + 2} with linespoints lw 2 pt {i + 4} lc rgb '{colours[i]}' title '{name}'"
                      for i, name in enumerate(models))
    lines += ["EOD", f"set terminal pngcairo size 900,600 noenhanced\nset output '{path}'", "set logscale xy 2", "set key left top",
              "set grid lc rgb '#dddddd'", "set xlabel 'GPUs (8 a host)'", "set ylabel 'speed-up over one GPU, predicted'",
              "set xrange [1:1024]\nset yrange [.5:1024]", f"plot x with lines dt 2 lc rgb '#888888' title 'ideal', {plots}"]
    subprocess.run(["gnuplot"], input="\n".join(lines) + "\n", text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", metavar="FOLDER")
    parser.add_argument("--picture", metavar="FILE")
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
    print("\n| run | GPUs | measured, s | predicted, s | off by |\n|---|---|---|---|---|")
    worst = 0
    for what, n, measured, predicted in checks(models):
        off = predicted / measured - 1
        worst = max(worst, abs(off))
        print(f"| {what} | {n} | {measured:.4g} | {predicted:.4g} | {100 * off:+.1f} % |")
    print(f"\nLargest deviation {100 * worst:.1f} %.")
    if options.picture:
        picture(models, options.picture)
    raise SystemExit(worst > .15)


if __name__ == "__main__":
    main()
