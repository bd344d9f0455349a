"""S11 and S21 of TE10 at a junction of rectangular guides, a line "HZ re im re im" for each HZ, e^{+iwt}.

  junctions.py iris A D T HZ...       inductive iris: an aperture D wide in the middle of a guide A wide, T thick
  junctions.py width A D HZ...        change of width from A to D, both in the middle (H-plane step)
  junctions.py height A B S HZ...     change of height from B to S, one wall going on (E-plane step)
  junctions.py handbook A B S HZ...   the same by the equivalent circuit of Marcuvitz, Waveguide Handbook (1951), 5.26

All but the last by mode matching: the field in the aperture in modes of the narrow guide, by Galerkin. The field is singular at
the edges, as r^(-1/3) at the step of heights, so that what is left out falls as N^(-4/3): of two N the limit is taken. S21 refers to
the power of both guides. The handbook says that its B is within 1 per cent of the exact one where 2 B < the wavelength in the guide.
"""
import cmath
import math
import sys

C, PI = 299792458.0, math.pi


def solve(m, r):
    n = len(r)
    m = [row[:] + [x] for row, x in zip(m, r)]
    for i in range(n):
        p = max(range(i, n), key=lambda j: abs(m[j][i]))
        m[i], m[p] = m[p], m[i]
        for j in range(n):
            if j != i:
                f = m[j][i] / m[i][i]
                m[j] = [x - f * y for x, y in zip(m[j], m[i])]
    return [m[i][n] / m[i][i] for i in range(n)]


def cosines(p, q, width, reach):
    """The integral of cos(p x) cos(q x) over 0 .. reach, over a norm of width."""
    f = lambda s: math.sin(s * reach) / s if abs(s) > 1e-9 else reach
    return (f(p - q) + f(p + q)) / 2 / width


class Junction:
    """Wave numbers across of the modes of both guides, admittances by propagation constants, and the coupling of modes."""

    def __init__(self, wide, narrow, orders, modes):
        self.across = [n * PI / wide for n in orders(modes * math.ceil(12 * wide / narrow))], [n * PI / narrow for n in orders(modes)]
        norm = lambda k, w: math.sqrt(w / (2 if k else 1))
        self.coupling = [[cosines(p, q, norm(p, wide) * norm(q, narrow), narrow) for q in self.across[1]] for p in self.across[0]]

    def system(self, admittance):
        """Galerkin's matrix of both half spaces, the admittances of the narrow modes, and what TE10 brings."""
        y, z = ([admittance(k) for k in side] for side in self.across)
        n = range(len(z))
        wide = [[sum(c[i] * c[j] * v for c, v in zip(self.coupling, y)) for j in n] for i in n]
        return wide, z, [2 * y[0] * c for c in self.coupling[0]]

    def reflected(self, field):
        return sum(c * v for c, v in zip(self.coupling[0], field)) - 1


def add(matrix, diagonal):
    return [[x + (d if i == j else 0) for j, x in enumerate(row)] for i, (row, d) in enumerate(zip(matrix, diagonal))]


def odd(n):
    """Of half a guide, whose middle is a magnetic wall."""
    return [m + .5 for m in range(n)]


def constant(k, across):
    return cmath.sqrt(across * across - k * k + 0j)


def step(junction, admittance):
    wide, z, drive = junction.system(admittance)
    field = solve(add(wide, z), drive)
    return junction.reflected(field), field[0] * cmath.sqrt(z[0] / admittance(junction.across[0][0]))


def iris(a, d, t, hertz, modes):
    """By both symmetries of what comes in from either side: shorted and open in the middle of the aperture."""
    k, half = 2 * PI * hertz / C, Junction(a / 2, d / 2, odd, modes)
    wide, z, drive = half.system(lambda across: constant(k, across))
    ends = [half.reflected(solve(add(wide, [y * end(y * t / 2) for y in z]), drive)) for end in (cmath.tanh, lambda x: 1 / cmath.tanh(x))]
    return sum(ends) / 2, (ends[0] - ends[1]) / 2


def width(a, d, hertz, modes):
    k = 2 * PI * hertz / C
    return step(Junction(a / 2, d / 2, odd, modes), lambda across: constant(k, across))


def height(a, b, s, hertz, modes):
    beta = math.sqrt((2 * PI * hertz / C) ** 2 - (PI / a) ** 2)
    return step(Junction(b, s, range, modes), lambda across: 1j * beta / constant(beta, across))


def handbook(a, b, s, hertz):
    """Equation (2a) of 5.26 with half the wavelength in the guide, as one wall goes on."""
    length, alpha = PI / math.sqrt((2 * PI * hertz / C) ** 2 - (PI / a) ** 2), s / b
    ratio, square = (1 + alpha) / (1 - alpha), 1 - alpha * alpha
    root = lambda h: math.sqrt(1 - (h / length) ** 2)
    first = ratio ** (2 * alpha) * (1 + root(b)) / (1 - root(b)) - (1 + 3 * alpha ** 2) / square
    second = ratio ** (2 / alpha) * (1 + root(s)) / (1 - root(s)) + (3 + alpha ** 2) / square
    third = (4 * alpha / square) ** 2
    susceptance = 2 * b / length * (
        math.log(square / (4 * alpha) * ratio ** ((alpha + 1 / alpha) / 2))
        + 2 * (first + second + 2 * third) / (first * second - third ** 2)
        + (b / (4 * length)) ** 2 * ratio ** (-4 * alpha) * ((5 * alpha ** 2 - 1) / square + 4 / 3 * alpha ** 2 * third / first) ** 2)
    load = 1 / alpha + 1j * susceptance
    return (1 - load) / (1 + load), 2 / (1 + load) / math.sqrt(alpha)


def limit(function, *arguments):
    """Of 8 and 16 modes."""
    less, more = function(*arguments, 8), function(*arguments, 16)
    gain = 2 ** (4 / 3) - 1
    return [y + (y - x) / gain for x, y in zip(less, more)]


def main():
    kinds = {"iris": (iris, 3), "width": (width, 2), "height": (height, 3), "handbook": (handbook, 3)}
    function, count = kinds[sys.argv[1]]
    sizes = [float(x) for x in sys.argv[2:2 + count]]
    for word in sys.argv[2 + count:]:
        reflected, passed = function(*sizes, float(word)) if function is handbook else limit(function, *sizes, float(word))
        print(word, reflected.real, reflected.imag, passed.real, passed.imag)


main()
