#!/usr/bin/env python3
"""How hbem grows on a hull at fixed elements a wavelength, from records: time and memory beside N log^2 N.

hbem_growth.py RECORDS PICTURE: a file bench/results/hbem-DEVICE.json with records of tests/gpu/bench_hbem_waves.sh. Prints the
table, too. No package beyond Python's own; PICTURE (png, svg, pdf) needs gnuplot.
"""
import json
import math
import re
import sys

from gnuplot_picture import draw

QUANTITIES = {"all": "mesh and clusters to solution", "assembly": "assembly of K and W", "memory": "memory of K and W a function"}
COLOURS = {"all": "#0072b2", "assembly": "#d55e00", "memory": "#009e73"}


def growth(path):
    """{quantity: [(N, value)]}; the latest records count."""
    found = {name: {} for name in QUANTITIES}
    with open(path) as file:
        for r in json.load(file):
            unknowns = re.match(r"N = (\d+), k = ", r["size"])
            for name, quantity in QUANTITIES.items():
                if re.fullmatch(r"hbem-hull-\d+k", r["case"]) and r["quantity"] == quantity and unknowns:
                    found[name][int(unknowns[1])] = r["value"]
    return {name: sorted(points.items()) for name, points in found.items()}


def quasilinear(points, power):
    """What (log N)^power makes of the first point: a value a function, times N where `power` is of a sum."""
    n, value = points[0]
    return [(m, value * (math.log(m) / math.log(n)) ** power) for m, _ in points]


def exponent(points):
    """Of N, between the first and the last point."""
    (n, a), (m, b) = points[0], points[-1]
    return math.log(b / a) / math.log(m / n)


def picture(curves, path):
    seconds = [(n, value / n) for n, value in curves["all"]]
    asked = [(n, n * value) for n, value in quasilinear(seconds, 2)]
    blocks = {"all": curves["all"], "assembly": curves["assembly"], "asked": asked,
              "memory": [(n, value / 1e3) for n, value in curves["memory"]],
              "thin": [(n, value / 1e3) for n, value in quasilinear(curves["memory"], 2)]}
    lines = [f"${name} << EOD\n" + "\n".join(f"{n} {value}" for n, value in points) + "\nEOD" for name, points in blocks.items()]
    style = "with linespoints pt 7 ps .8 lw 2 lc rgb"
    lines += ["set multiplot layout 1,2", "set logscale xy", "set grid", "set xlabel 'unknowns N, at fixed elements a wavelength'",
              "set key left top", "set ylabel 'seconds'", "set xrange [1e5:1.1e6]",
              f"plot $all {style} '{COLOURS['all']}' title 'mesh to solution', "
              f"$assembly {style} '{COLOURS['assembly']}' title 'assembly of K and W', "
              "$asked with lines dt 2 lw 1.5 lc rgb 'black' title 'N log^2 N'",
              "set ylabel 'kB a function'",
              f"plot $memory {style} '{COLOURS['memory']}' title 'K and W', "
              "$thin with lines dt 2 lw 1.5 lc rgb 'black' title 'log^2 N'", "unset multiplot"]
    draw(path, 1100, 450, lines)


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    curves = growth(sys.argv[1])
    if any(len(points) < 2 for points in curves.values()):
        raise SystemExit("hbem_growth.py: there are not two sizes of each quantity: " +
                         ", ".join(f"{name} {len(points)}" for name, points in curves.items()))
    print("| N | mesh to solution, s | assembly, s | kB a function |\n|---|---|---|---|")
    memories = dict(curves["memory"])
    for (n, seconds), (_, assembly) in zip(curves["all"], curves["assembly"]):
        print(f"| {n:,} | {seconds:.3g} | {assembly:.3g} | {f'{memories[n] / 1e3:.3g}' if n in memories else ''} |")
    print("| as N to the | " + " | ".join(f"{exponent(p):.2f}" for p in curves.values()) + " |")
    picture(curves, sys.argv[2])


if __name__ == "__main__":
    main()
