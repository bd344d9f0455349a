"""wire.py A H SEGMENTS HZ...: impedance of a straight dipole of thin wire, radius A, half length H, fed in its middle, a line "HZ R X" for each
HZ, e^{+iwt}: moments of the electric field integral equation with the exact kernel of a tube, hats on SEGMENTS (even) equal segments, Galerkin,
a voltage at the middle node. A gap without length has a capacitance that grows with the logarithm of SEGMENTS until they are as short as A: .5 wavelengths of
A = .001 have 85.6 + 45.4 i with 40, 86.0 + 45.9 i with 60, 86.7 + 46.8 i with 160, so that results are compared at equal SEGMENTS. Independent of dgtd."""
import cmath
import math
import sys

C, Z0 = 299792458.0, 376.730313668


def gauss(n):
    """Points and weights on 0 .. 1 (Legendre's polynomials by Newton's method)."""
    points, weights = [], []
    for i in range(n):
        t = math.cos(math.pi * (i + .75) / (n + .5))
        for _ in range(50):
            before, value = 1.0, t
            for j in range(2, n + 1):
                before, value = value, ((2 * j - 1) * t * value - (j - 1) * before) / j
            slope = n * (t * value - before) / (t * t - 1)
            t -= value / slope
        points.append((1 + t) / 2)
        weights.append(1 / ((1 - t * t) * slope * slope))
    return points, weights


def kernel(z, a, k):
    """e^{-ikR}/(4 pi R), its mean over the ring at distance z: the static part by the arithmetic-geometric mean."""
    x, y = math.sqrt(z * z + 4 * a * a), abs(z)
    for _ in range(40):
        if abs(x - y) < 1e-15 * x:
            break
        x, y = (x + y) / 2, math.sqrt(x * y)
    far = math.sqrt(z * z + 2 * a * a)
    return 1 / (2 * math.pi * (x + y)) + (cmath.exp(-1j * k * far) - 1) / (4 * math.pi * far)


def pair(distance, length, a, k):
    """Of two segments so many apart: the integral of the kernel, and with the hats of their ends."""
    (s, w), (v, u) = gauss(8), gauss(16)
    whole, hats = 0, [[0, 0], [0, 0]]
    for x, outer in zip(s, w):
        near = min(1, max(0, x - distance))
        for reach in (-near, 1 - near):
            for y, inner in zip(v, u):  # graded towards the nearest place, where the kernel has a logarithm
                t = near + reach * y ** 4
                part = outer * inner * 4 * y ** 3 * abs(reach) * length ** 2 * kernel((x - t - distance) * length, a, k) if reach else 0
                whole += part
                for i in range(4):
                    hats[i // 2][i % 2] += part * (x if i // 2 else 1 - x) * (t if i % 2 else 1 - t)
    return whole, hats


def solve(m, r):
    n = len(r)
    m = [row[:] + [x] for row, x in zip(m, r)]
    for i in range(n):
        for j in range(i + 1, n):
            f = m[j][i] / m[i][i]
            m[j][i:] = [x - f * y for x, y in zip(m[j][i:], m[i][i:])]
    out = [0] * n
    for i in reversed(range(n)):
        out[i] = (m[i][n] - sum(m[i][j] * out[j] for j in range(i + 1, n))) / m[i][i]
    return out


def impedance(a, h, segments, hertz):
    k, length = 2 * math.pi * hertz / C, 2 * h / segments
    pairs = [pair(d, length, a, k) for d in range(segments)]

    def entry(m, n):  # node m is the end of segment m and the beginning of the next one
        sum = 0
        for e in (0, 1):
            for g in (0, 1):
                d = (n + 1 - g) - (m + 1 - e)
                whole, hats = pairs[abs(d)]
                sum += 1j * k * (hats[e][g] if d >= 0 else hats[g][e]) + (1 if e == g else -1) * whole / (1j * k * length ** 2)
        return Z0 * sum

    nodes = range(segments - 1)
    middle = segments // 2 - 1
    current = solve([[entry(m, n) for n in nodes] for m in nodes], [float(m == middle) for m in nodes])
    return 1 / current[middle]


if __name__ == "__main__":
    for word in sys.argv[4:]:
        z = impedance(float(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), float(word))
        print(word, z.real, z.imag)
