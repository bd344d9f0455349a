"""Pressure outside of a sphere that pulsates or oscillates along z, exact in time, against traces.

pulsating.py KIND RADIUS DENSITY WIDTH DELAY AMPLITUDE LIMIT TRACE.csv X,Y,Z...: KIND is pulsating (v_n = s) or
oscillating (v_n = s cos(theta)); s is a Gaussian bell of WIDTH about DELAY, c = 1. Pressure is F(t - r + a)/r, or
cos(theta) d/dr of that; F follows from d_n p = -DENSITY ds/dt on the sphere, an ordinary differential equation, here by
Runge and Kutta's method. LIMIT is of the relative L2 norm over all samples and places. "surface" in place of places:
all columns are on the sphere, at z/a of the file vertices.txt; "far" Z...: directions of cosine Z.
"""
import csv, math, sys

kind, a, rho, width, delay, amplitude, limit = sys.argv[1], *map(float, sys.argv[2:8])
with open(sys.argv[8]) as f:
    rows = [[float(v) for v in row] for row in list(csv.reader(f))[1:]]
if sys.argv[9] == "surface":
    places = [(a, z) for z in map(float, open("vertices.txt"))]
elif sys.argv[9] == "far":
    places = [(math.inf, float(z)) for z in sys.argv[10:]]
else:
    xyz = [[float(v) for v in word.split(",")] for word in sys.argv[9:]]
    places = [(math.hypot(*p), p[2] / math.hypot(*p)) for p in xyz]


def slope(t):
    x = (t - delay) / width
    return -2 * x / width * amplitude * math.exp(-x * x)


def rate(t, y):
    if kind == "pulsating":
        return [a * rho * slope(t) - y[0] / a, 0.0]
    return [y[1], -rho * a * slope(t) - 2 * y[1] / a - 2 * y[0] / a ** 2]


h = width / 200
count = int(rows[-1][0] / h) + 4
states = [[0.0, 0.0]]
for n in range(count):
    t, y = n * h, states[-1]
    k1 = rate(t, y)
    k2 = rate(t + h / 2, [u + h / 2 * k for u, k in zip(y, k1)])
    k3 = rate(t + h / 2, [u + h / 2 * k for u, k in zip(y, k2)])
    k4 = rate(t + h, [u + h * k for u, k in zip(y, k3)])
    states.append([u + h / 6 * (p + 2 * q + 2 * r + s) for u, p, q, r, s in zip(y, k1, k2, k3, k4)])


def pressure(t, r, cosine):
    far = math.isinf(r)
    t += a if far else a - r
    if t <= 0:
        return 0.0
    n = min(int(t / h), count - 1)
    s = t / h - n
    f, g = [(1 - s) * u + s * v for u, v in zip(states[n], states[n + 1])]
    if far:
        return f if kind == "pulsating" else -cosine * g
    return f / r if kind == "pulsating" else cosine * (-g / r - f / r ** 2)


error = norm = 0
for row in rows:
    for value, (r, cosine) in zip(row[1:], places, strict=True):
        exact = pressure(row[0], r, cosine)
        error += (value - exact) ** 2
        norm += exact ** 2
print(f"{kind}: {math.sqrt(error / norm):.3e} of {math.sqrt(norm / len(rows) / len(places)):.3e}, allowed {limit:g}")
sys.exit(not error <= limit ** 2 * norm)
