"""iris.py A D T SHIFT HZ...: S11 and S21 of TE10 at an inductive iris (aperture D centred in a guide of width A, thickness T), by mode matching."""
import cmath, math, sys
a, d, t = map(float, sys.argv[1:4])
c, pi = 299792458.0, math.pi
def solve(m, r):
    n = len(r); m = [row[:] + [x] for row, x in zip(m, r)]
    for i in range(n):
        p = max(range(i, n), key=lambda j: abs(m[j][i])); m[i], m[p] = m[p], m[i]
        for j in range(n):
            if j != i:
                f = m[j][i] / m[i][i]
                m[j] = [x - f * y for x, y in zip(m[j], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]
def overlap(m, n):  # odd modes about the middle: sin(m pi x/a) is +-cos(m pi u/a)
    p, q = m * pi / a, n * pi / d
    f = lambda s: math.sin(s * d / 2) / s if abs(s) > 1e-9 else d / 2
    return 2 / math.sqrt(a * d) * (f(p - q) + f(p + q))
odd = lambda n: range(1, 2 * n, 2)
N, M = 12, 400
C = [[overlap(m, n) for n in odd(N)] for m in odd(M)]
def s(f):
    k = 2 * pi * f / c
    gamma = lambda m, w: cmath.sqrt((m * pi / w) ** 2 - k * k + 0j)
    y = [gamma(m, a) for m in odd(M)]; z = [gamma(n, d) for n in odd(N)]
    base = [[sum(C[m][i] * y[m] * C[m][j] for m in range(M)) for j in range(N)] for i in range(N)]
    g = []
    for end in (cmath.tanh, lambda x: 1 / cmath.tanh(x)):
        A = [row[:] for row in base]
        for n in range(N): A[n][n] += z[n] * end(z[n] * t / 2)
        v = solve(A, [2 * y[0] * C[0][n] for n in range(N)])
        g.append(sum(C[0][n] * v[n] for n in range(N)) - 1)
    return (g[0] + g[1]) / 2, (g[0] - g[1]) / 2
for word in sys.argv[4:]:
    x, y = s(float(word)); print(word, x.real, x.imag, y.real, y.imag)
