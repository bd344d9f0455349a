"""What comes back along a guide: returned.py SAMPLES.csv CELL DAMPING DISTANCE.

Samples of E at places CELL apart are transformed at 299,792,458 Hz times (1 - i DAMPING) and fitted by
the two waves of the mesh, a q^j and b q^-j; printed is |b/a| in dB at DISTANCE from the first place.
"""
import cmath
import math
import sys

cell, damping, distance = (float(x) for x in sys.argv[2:5])
w = 2 * math.pi * 299792458 * (1 - 1j * damping)
u = []
with open(sys.argv[1]) as samples:
    for line in samples:
        if not line[0].isdigit():
            continue
        row = [float(x) for x in line.split(",")]
        turn = cmath.exp(-1j * w * row[0])
        u = [old + z * turn for old, z in zip(u or [0] * len(row[3::3]), row[3::3])]  # E along z

inner = range(1, len(u) - 1)
cosine = sum((u[j - 1] + u[j + 1]) * u[j].conjugate() for j in inner) / sum(2 * abs(u[j]) ** 2 for j in inner)
q = cosine - cmath.sqrt(cosine * cosine - 1)
q = q if q.imag < 0 else 1 / q


def dot(f, g):
    return sum(x.conjugate() * y for x, y in zip(f, g))


f, g = [q**j for j in range(len(u))], [q**-j for j in range(len(u))]
both = dot(f, f) * dot(g, g) - abs(dot(f, g)) ** 2
a = (dot(g, g) * dot(f, u) - dot(f, g) * dot(g, u)) / both
b = (dot(f, f) * dot(g, u) - dot(g, f) * dot(f, u)) / both
print("%.2f" % (20 * math.log10(abs(b / a)) - 40 * distance / cell * math.log10(abs(q))))
