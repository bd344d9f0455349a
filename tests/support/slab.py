#!/usr/bin/env python3
"""What a slab reflects and lets through, from signals of two probes with and without it, against the exact
figures: slab.py AIR SLAB FRONT BEHIND BEGIN END EPS, where EPS is an expression of s = i w and e0. Files are
penstock-inspect --csv of the electric signals (E_z; travelling along x). Prints the largest error."""
import cmath
import csv
import math
import sys

C, E0 = 299792458.0, 1 / (376.730313668 * 299792458.0)


def signals(path):
    rows = list(csv.reader(open(path)))[1:]
    return [[float(v) for v in (r[0], r[3], r[6])] for r in rows]


air, slab = signals(sys.argv[1]), signals(sys.argv[2])
front, behind, begin, end = map(float, sys.argv[3:7])
worst = 0
for f in (2e8, 3e8, 4e8, 5e8):
    w, turn = 2 * math.pi * f, [0j, 0j, 0j, 0j]
    k = w / C
    for a, b in zip(air, slab):
        phase = cmath.exp(-1j * w * a[0])
        turn[0] += a[1] * phase
        turn[1] += (b[1] - a[1]) * phase
        turn[2] += a[2] * phase
        turn[3] += b[2] * phase
    n = cmath.sqrt(eval(sys.argv[7], {"s": 1j * w, "e0": E0}))
    n = -n if n.imag > 0 else n
    r, p = (1 - n) / (1 + n), cmath.exp(-1j * k * n * (end - begin))
    exact = r * (1 - p * p) / (1 - r * r * p * p), (1 - r * r) * p / (1 - r * r * p * p)
    found = (turn[1] / turn[0] * cmath.exp(2j * k * (begin - front)),
             turn[3] / turn[2] * cmath.exp(-1j * k * (end - begin)))
    worst = max(worst, abs(found[0] - exact[0]), abs(found[1] - exact[1]))
print(worst)
