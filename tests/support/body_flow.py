"""Fields in a flow against those at rest: body_flow.py U S R REST.csv AROUND.csv RATE.csv PRESSURE.csv

With the exact potential of the flow about the unit sphere, Phi(x) = U.x (1 + 1/(2 r^3)), the rate at t is that at rest at t +
Phi(R) - Phi(S) (c = 1), and the pressure (1 + U^2) u + U.grad int u there; AROUND has u at R - 2 h, R - h, R + h, R + 2 h along each axis.
Prints both relative differences.
"""
import math
import sys

U, S, R = ([float(x) for x in a.split(",")] for a in sys.argv[1:4])
rest, around, rate, pressure = ([[float(x) for x in l.split(",")] for l in open(n) if l[0] in "-0123456789"] for n in sys.argv[4:])
dot = lambda a, b: sum(x * y for x, y in zip(a, b))
length = lambda a: math.sqrt(dot(a, a))
potential = lambda x: dot(U, x) * (1 + 1 / (2 * length(x) ** 3))
start, dt, h = rest[0][0], rest[1][0] - rest[0][0], .08


def at(y, t):
    k = (t - start) / dt
    first, value = math.floor(k) - 2, 0
    for i in range(6):
        weight = 1
        for j in range(6):
            weight *= (k - first - j) / (i - j) if j != i else 1
        value += weight * y[first + i] if 0 <= first + i < len(y) else 0
    return value


def apart(x, y):
    return length([a - b for a, b in zip(x, y)]) / length(y)


u = [row[1] for row in rest]
r = length(R)
flow = [U[k] * (1 + 1 / (2 * r ** 3)) - 1.5 * dot(U, R) * R[k] / r ** 5 for k in range(3)]
slope = [0, 0] + [sum(flow[k] * (8 * (row[3 + 4 * k] - row[2 + 4 * k]) - row[4 + 4 * k] + row[1 + 4 * k]) / (12 * h) for k in range(3)) for row in around] + [0]
summed, p = 0, []
for n, value in enumerate(u):
    s = slope[n:n + 4]
    summed += dt * (13 * (s[1] + s[2]) - s[0] - s[3]) / 24
    p.append((1 + dot(flow, flow)) * value + summed)
later = potential(R) - potential(S)
times = [row[0] for row in rate]
print("%.3e %.3e" % (apart([row[1] for row in rate], [at(u, t + later) for t in times]),
                     apart([row[1] for row in pressure], [at(p, t + later) for t in times])))
