"""Surface data of a monopole at 0,0,Z on panels that may move: a sphere of an OFF mesh about it, c = 1.

panels.py MESH.off Z RADIUS DENSITY WIDTH DELAY STEP COUNT SPEED TURNS OUT: q is a derivative of a Gaussian bell, as --source
monopole:shape=derivative sends it. At time 0 the sphere's centre is at -SPEED * DELAY along x from the source; it moves by SPEED along
x and turns about z through where its centre was at 0. Writes OUT.csv (panels at time 0), OUT-p.csv, OUT-u.csv.
"""
import math, sys

mesh, out = sys.argv[1], sys.argv[11]
z, radius, rho, width, delay, step = map(float, sys.argv[2:8])
count, speed, turns = int(sys.argv[8]), float(sys.argv[9]), float(sys.argv[10])
words = open(mesh).read().split()[1:]
nv, nt = int(words[0]), int(words[1])
v = [tuple(map(float, words[3 + 3 * i:6 + 3 * i])) for i in range(nv)]
v = [tuple(radius * x / math.hypot(*p) for x in p) for p in v]
panels = []
for i in range(nt):
    a, b, c = (v[int(w)] for w in words[3 + 3 * nv + 4 * i + 1:3 + 3 * nv + 4 * i + 4])
    m = [sum(q) / 3 for q in zip(a, b, c)]
    n = [q / math.hypot(*m) for q in m]
    panels.append([q * radius for q in n] + n)
for p in panels:  # of equal share of the sphere, by the triangle's own
    p.append(4 * math.pi * radius ** 2 / nt)
areas = []
for i in range(nt):
    a, b, c = (v[int(w)] for w in words[3 + 3 * nv + 4 * i + 1:3 + 3 * nv + 4 * i + 4])
    u, w = [q - p for p, q in zip(a, b)], [q - p for p, q in zip(a, c)]
    areas.append(math.hypot(u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]) / 2)
for p, area in zip(panels, areas):
    p[6] = area * 4 * math.pi * radius ** 2 / sum(areas)
start = -speed * delay


def field(x, t):
    """p and u at x from the source, whose volume is rho0 d/dt of the flow."""
    r = math.hypot(*x)
    q = (t - delay - r) / width
    bell = math.exp(-q * q)
    p = -2 * q * bell / (4 * math.pi * r)
    flow = p / rho + width * bell / (4 * math.pi * r * r * rho)
    return p, [flow * k / r for k in x]


with open(out + ".csv", "w") as f:
    for p in panels:
        f.write(",".join("%.17g" % x for x in [p[0] + start, p[1], p[2] + z] + p[3:]) + "\n")
with open(out + "-p.csv", "w") as fp, open(out + "-u.csv", "w") as fu:
    for k in range(count):
        t = k * step
        c, s = math.cos(2 * math.pi * turns * t), math.sin(2 * math.pi * turns * t)
        rows = [field([c * p[0] - s * p[1] + start + speed * t, s * p[0] + c * p[1], p[2]], t) for p in panels]
        fp.write("%.17g," % t + ",".join("%.12g" % r[0] for r in rows) + "\n")
        fu.write("%.17g," % t + ",".join("%.12g" % x for r in rows for x in r[1]) + "\n")
