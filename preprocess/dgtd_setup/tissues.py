#!/usr/bin/env python3
"""Writes into tissue_table.h, after the Cole-Cole parameters of each tissue, Debye poles that stand
for them over the table's band, with the largest relative error there. Everything is passive: terms
are not negative, found by least squares over 1/|eps| for given relaxation times, which a simplex
search moves. Run it in this folder after a change of these parameters."""
import itertools
import math
import re
import numpy

TABLE = open("tissue_table.h").read()
LOW, HIGH = map(float, re.search(r"tissue_band\[2\] = {(.*), (.*)}", TABLE).groups())
SAMPLES = 60
STARTS = ([7e-12, 3e-11, 2e-10, 2e-9], [6e-12, 1.5e-11, 1e-10, 1e-9])
EPS0 = 1 / (376.730313668 * 299792458.0)
UNITS = (1e-12, 1e-9, 1e-6, 1e-3)
FREQUENCIES = numpy.geomspace(LOW, HIGH, SAMPLES)


def cole_cole(p, f):
    w = 2j * math.pi * f
    sum_ = p[0] + p[7] / (w * EPS0)
    for k, at in enumerate((1, 4, 8, 11)):
        sum_ = sum_ + p[at] / (1 + (w * p[at + 1] * UNITS[k]) ** (1 - p[at + 2]))
    return sum_


def rows_of(taus, f):
    """Columns: 1, each Debye term, conductivity."""
    w = 2j * math.pi * f
    return numpy.stack([numpy.ones_like(w)] + [1 / (1 + w * t) for t in taus] + [1 / (w * EPS0)], 1)


def stack(a):
    return numpy.concatenate([a.real, a.imag])


def fit(taus, eps):
    """Terms >= 0 and eps_inf >= 1 of least squares: all sets of terms that may be there."""
    a = stack(rows_of(taus, FREQUENCIES) / abs(eps)[:, None])
    b = stack(eps / abs(eps)) - a[:, 0]  # eps_inf = 1 + what is found
    best = (math.inf, None)
    n = a.shape[1]
    for size in range(n, 0, -1):
        for kept in itertools.combinations(range(n), size):
            x = numpy.zeros(n)
            x[list(kept)] = numpy.linalg.lstsq(a[:, kept], b, rcond=None)[0]
            r = float(numpy.sum((a @ x - b) ** 2))
            if (x >= 0).all() and r < best[0]:
                best = (r, x)
        if best[1] is not None and size == n:
            break
    x = best[1].copy()
    x[0] += 1
    return best[0], x


def search(eps, start):
    """Nelder-Mead over the logarithms of the times."""
    n = len(start)
    value = lambda p: fit(numpy.exp(p), eps)[0]
    points = [numpy.log(start)] + [numpy.log(start) + .7 * numpy.eye(n)[i] for i in range(n)]
    values = [value(p) for p in points]
    for _ in range(220):
        order = numpy.argsort(values)
        points, values = [points[i] for i in order], [values[i] for i in order]
        middle = sum(points[:-1]) / n
        for step in (1, 2, -.5):
            trial = middle + step * (middle - points[-1])
            found = value(trial)
            if step == 1:
                first = (found, trial)
                if values[0] <= found < values[-2]:
                    break
                if found >= values[-2]:
                    continue
            if found < values[0] or (step == -.5 and found < values[-1]):
                break
        if first[0] < found:
            found, trial = first
        if found < values[-1]:
            points[-1], values[-1] = trial, found
        else:
            points = [points[0]] + [(p + points[0]) / 2 for p in points[1:]]
            values = [values[0]] + [value(p) for p in points[1:]]
    return numpy.exp(points[int(numpy.argmin(values))])


def row_of(match):
    name, cole = match.groups()
    p = [float(x) for x in cole.split(",")]
    eps = cole_cole(p, FREQUENCIES)
    found = [search(eps, numpy.array(start)) for start in STARTS]
    taus = numpy.sort(min(found, key=lambda t: fit(t, eps)[0]))
    x = fit(taus, eps)[1]
    fine = numpy.geomspace(LOW, HIGH, 1001)
    taus, x = [float(f"{t:.7g}") for t in taus], [float(f"{v:.7g}") for v in x]
    found = rows_of(taus, fine) @ numpy.array(x)
    error = float(max(abs(found / cole_cole(p, fine) - 1)))
    poles = ", ".join(f"{{{d:.7g}, {t:.7g}}}" for d, t in zip(x[1:-1], taus))
    print(f"{name}: {error:.2e}", flush=True)
    return f'    {{"{name}", {{{cole}}}, {x[0]:.7g}, {x[-1]:.7g},\n     {{{poles}}}, {error * 1.01:.2e}}},\n'


table = re.sub(r'    {"([^"]*)", {([^}]*)}.*\n.*\n', row_of, TABLE)
open("tissue_table.h", "w").write(table)
