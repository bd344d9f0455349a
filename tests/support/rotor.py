"""Harmonics of a monopole or dipole that circles about a rigid sphere, by the series of spherical waves, against traces.

rotor.py KIND OMEGA RADIUS SCATTERED.csv LIMIT R,THETA,PHI...: KIND is monopole or dipole (a force along the axis, z); the sphere
has radius 1, c = 1, the source starts at phi = 0 of the equator at RADIUS. Columns are the scattered pressure at the places
(degrees), of which the last period is transformed. Pressure is 2 Re sum_m p_m exp(-i m OMEGA t). Nothing of Penstock is used.
"""
import cmath, csv, math, sys

TERMS = 60


def bessel(k, count):
    """j_l and y_l of k: j downwards (Miller), y upwards."""
    start = count + 40
    j = [0.0] * (start + 2)
    j[start] = 1e-300
    for l in range(start, 0, -1):
        j[l - 1] = (2 * l + 1) / k * j[l] - j[l + 1]
        if abs(j[l - 1]) > 1e200:
            j = [v * 1e-250 for v in j]
    scale = math.sin(k) / k / j[0]
    y = [-math.cos(k) / k, -math.cos(k) / k ** 2 - math.sin(k) / k]
    for l in range(1, count + 1):
        y.append((2 * l + 1) / k * y[l] - y[l - 1])
    return [v * scale for v in j[: count + 2]], y


def slope(f, k, l):
    return (l / k) * f[l] - f[l + 1]


def legendre(m, count, x):
    """Orthonormal Y_lm(theta), without exp(i m phi), l = 0 .. count, and d/dtheta of them."""
    s = math.sqrt(1 - x * x)
    p = [0.0] * (count + 1)
    start = math.sqrt(1 / (4 * math.pi))
    for i in range(1, m + 1):
        start *= -math.sqrt((2 * i + 1) / (2 * i)) * s
    p[m] = start
    if m < count:
        p[m + 1] = math.sqrt(2 * m + 3) * x * start
    for l in range(m + 2, count + 1):
        a = math.sqrt((4 * l * l - 1) / (l * l - m * m))
        b = math.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1))
        p[l] = a * (x * p[l - 1] - b * p[l - 2])
    d = [0.0] * (count + 1)
    for l in range(m, count + 1):
        before = p[l - 1] if l > m else 0.0
        d[l] = (l * x * p[l] - math.sqrt((2 * l + 1) * (l * l - m * m) / (2 * l - 1)) * before) / s if l else 0.0
    return p, d


def series(kind, k, m, b, r, theta, phi):
    """p_m at (r, theta, phi), and its incident part."""
    near, far = min(r, b), max(r, b)
    jn, yn = bessel(k * near, TERMS)
    jf, yf = bessel(k * far, TERMS)
    js, ys = bessel(k, TERMS)
    ps, ds = legendre(m, TERMS, 0.0)
    po, _ = legendre(m, TERMS, math.cos(theta))
    total = incident = 0
    for l in range(m, TERMS):
        c = -slope(js, k, l) / complex(slope(js, k, l), slope(ys, k, l))
        source = ps[l] if kind == "monopole" else -ds[l] / b  # e_z = -e_theta on the equator
        h = complex(jf[l], yf[l])
        incident += source * po[l] * jn[l] * h
        total += source * po[l] * (jn[l] + c * complex(jn[l], yn[l])) * h
    factor = 1j * k * cmath.exp(1j * m * phi)
    return factor * total, factor * incident


def harmonics(path, omega):
    """Of each column: p_0 .. p_4 over the last period."""
    with open(path) as f:
        rows = [[float(v) for v in row] for row in list(csv.reader(f))[1:]]
    dt = rows[1][0] - rows[0][0]
    count = round(2 * math.pi / omega / dt)
    assert abs(count * dt * omega / (2 * math.pi) - 1) < 1e-9, "a period is no whole number of steps"
    rows = rows[-count:]
    return [[sum(row[c] * cmath.exp(1j * m * omega * row[0]) for row in rows) / count for m in range(5)]
            for c in range(1, len(rows[0]))]


def main():
    kind, omega, radius, path, limit = sys.argv[1], *map(float, sys.argv[2:4]), sys.argv[4], float(sys.argv[5])
    if kind == "monopole":  # the table of the guide
        p = series(kind, .3, 1, 2., 3., math.radians(60), math.radians(45))[0]
        assert abs(p - (.0055420615 + .0081166648j)) < 1e-8, p
    else:
        p = series(kind, .6, 2, 2., 3., math.radians(60), math.radians(45))[0]
        assert abs(p - (-.0000831690 + .0037290679j)) < 1e-8, p
    out = harmonics(path, omega)
    worst = 0
    for place, there in zip(sys.argv[6:], out, strict=True):
        r, theta, phi = [float(v) for v in place.split(",")]
        for m in range(1, 5):
            total, incident = series(kind, m * omega, m, radius, r, math.radians(theta), math.radians(phi))
            found = there[m] + incident
            error = abs(found - total) / abs(total)
            worst = max(worst, error)
            print(f"{kind} r={r} theta={theta} phi={phi} m={m}: {found:.10f} series {total:.10f} error {error:.2e}")
    print(f"{kind}: worst {worst:.2e}, allowed {limit:g}")
    sys.exit(worst > limit)


main()
