"""A Gaussian plane wave along z, or the velocity of a sphere that oscillates along z, at the places of an OFF mesh.

samples.py MESH.off QUANTITY PLACES STEP FIRST COUNT WIDTH DELAY OUT: QUANTITY is pressure, slope, gradient or velocity; PLACES
vertices or centroids. Writes OUT.csv (times FIRST, FIRST + STEP, ...) and OUT-points.csv, points in reversed order. c = 1.
"""
import math, sys

mesh, quantity, places, out = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[9]
step, first, count, width, delay = float(sys.argv[4]), float(sys.argv[5]), int(sys.argv[6]), float(sys.argv[7]), float(sys.argv[8])
words = open(mesh).read().split()[1:]
nv, nt = int(words[0]), int(words[1])
v = [tuple(map(float, words[3 + 3 * i:6 + 3 * i])) for i in range(nv)]
t = [tuple(map(int, words[3 + 3 * nv + 4 * i + 1:3 + 3 * nv + 4 * i + 4])) for i in range(nt)]


def normal(a, b, c):
    u, w = [q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)]
    n = [u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]]
    return [q / math.hypot(*n) for q in n]


if places == "centroids":
    points = [tuple(sum(v[i][k] for i in c) / 3 for k in range(3)) for c in t]
    normals = [normal(*(v[i] for i in c)) for c in t]
else:
    points, normals = v, [[q / math.hypot(*p) for q in p] for p in v]


def bell(q):
    return math.exp(-(q / width) ** 2)


def value(p, n, now):
    if quantity == "velocity":
        return [n[2] * bell(now - delay)]
    q = now - delay - p[2]
    if quantity == "pressure":
        return [bell(q)]
    slope = 2 * q / width ** 2 * bell(q)  # d/dz
    return [slope * n[2]] if quantity == "slope" else [0.0, 0.0, slope]


order = range(len(points) - 1, -1, -1)
with open(out + "-points.csv", "w") as f:
    f.write("x,y,z\n" + "".join("%.17g,%.17g,%.17g\n" % points[i] for i in order))
with open(out + ".csv", "w") as f:
    for r in range(count):
        now = first + r * step
        row = [now] + [x for i in order for x in value(points[i], normals[i], now)]
        f.write(",".join("%.12g" % x for x in row) + "\n")
