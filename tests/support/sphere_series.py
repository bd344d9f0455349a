"""Waves at the unit sphere by their series (numerics guide hbem-real, 4), k real or complex, in plain Python: j and h of order n, their
derivatives, and what a wave along z scatters. `follow` says q = follow(n) p at the sphere, None that p = 0."""
import cmath
import math


def j(n, x):
    term, total = x**n / math.prod(range(1, 2 * n + 2, 2)), 0
    for m in range(40):
        total += term
        term *= -x * x / 2 / ((m + 1) * (2 * n + 2 * m + 3))
    return total


def h(n, x):
    a, b = -1j * cmath.exp(1j * x) / x, -cmath.exp(1j * x) * (x + 1j) / x**2
    for m in range(n):
        a, b = b, (2 * m + 3) / x * b - a
    return a


def slope(f, n, x):
    return n / x * f(n, x) - f(n + 1, x)


def legendre(n, c):
    a, b = 1, c
    for m in range(1, n + 1):
        a, b = b, ((2 * m + 1) * c * b - m * a) / (m + 1)
    return a


def coefficient(n, k, follow):
    """a_n of u_s = sum i^n (2n+1) a_n h_n P_n; q/k = follow(n) p."""
    if follow is None:
        return -j(n, k) / h(n, k)
    return -(slope(j, n, k) - follow(n) * j(n, k)) / (slope(h, n, k) - follow(n) * h(n, k))


def rigid(n):
    return 0


def fluid(k, density, k1):
    """A fluid of density and wave number k1, those outside being 1 and k."""
    return lambda n: k1 / k / density * slope(j, n, k1) / j(n, k1)


def scattered(k, follow, r, c, terms=12):
    """At the distance r and the cosine c of the angle to the wave."""
    return sum(1j**n * (2 * n + 1) * coefficient(n, k, follow) * h(n, k * r) * legendre(n, c) for n in range(terms))


def far(k, follow, c, terms=12):
    return sum((2 * n + 1) * coefficient(n, k, follow) * legendre(n, c) for n in range(terms)) / (1j * k)
