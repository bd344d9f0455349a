#!/usr/bin/env python3
"""Figures 4 and 5 of the paper of hbem from records: seconds of cores over seconds of a device, against the unknowns.

hbem_speedup.py RECORDS PICTURE: a file bench/results/hbem-DEVICE.json with records of tests/gpu/bench_hbem_speedup.sh. Prints the
table, too. No package beyond Python's own; PICTURE (png, svg, pdf) needs gnuplot.
"""
import json
import re
import sys

from gnuplot_picture import draw

PANELS = [(mode, kind) for mode in ("dense", "hmatrix") for kind in ("laplace", "helmholtz")]
OPERATORS = {"slp": "#0072b2", "dlp": "#d55e00", "adlp": "#009e73", "hyps": "#cc79a7"}
PRECISIONS = {"fp32": 2, "fp64": 1}  # dashed, solid, as the paper draws them


def speedups(path):
    """{(mode, kind, operator, precision): [(N, seconds of the device, of cores)]}; the latest records count."""
    seconds = {}
    with open(path) as file:
        for r in json.load(file):
            case = re.fullmatch(r"hbem-(dense|hmatrix)/(\w+)-(\w+)-(fp\d+)", r["case"])
            if case:
                seconds[case.groups(), int(r["size"].split()[-1]), "device" in r["quantity"]] = r["value"]
    curves = {}
    for key, n, on_device in sorted(seconds):
        if on_device and (key, n, False) in seconds:
            curves.setdefault(key, []).append((n, seconds[key, n, True], seconds[key, n, False]))
    return curves


def picture(curves, path):
    text = ["set multiplot layout 2,2", "set logscale xy", "set key outside right top", "set xlabel 'unknowns N'", "set ylabel 'speed-up over all cores'", "set grid"]
    for mode, equation in PANELS:
        lines = []
        for operator, colour in OPERATORS.items():
            for precision, dash in PRECISIONS.items():
                points = curves.get((mode, equation, operator, precision), [])
                if points:
                    name = f"${operator}_{precision}_{mode}_{equation}"
                    text.append(f"{name} << EOD\n" + "\n".join(f"{n} {cores / device}" for n, device, cores in points) + "\nEOD")
                    lines.append(f"{name} using 1:2 with linespoints pt 7 ps .5 lw 1.5 dt {dash} lc rgb '{colour}' "
                                 f"title '{operator.upper()} {precision}'")
        title = {"dense": "dense matrices", "hmatrix": "H-matrices"}[mode]
        text.append(f"set title '{equation.capitalize()}, {title}'")
        if lines:
            text.append("plot " + ", ".join(lines))
    draw(path, 1100, 800, text + ["unset multiplot"])


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    curves = speedups(sys.argv[1])
    print("| matrix | operator | precision | N: speed-up |\n|---|---|---|---|")
    for (mode, kind, operator, precision), points in sorted(curves.items()):
        print(f"| {mode} | {kind} {operator} | {precision} | "
              + ", ".join(f"{n}: {cores / device:.3g}" for n, device, cores in points) + " |")
    picture(curves, sys.argv[2])


if __name__ == "__main__":
    main()
