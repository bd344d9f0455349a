# An airplane of eight ellipsoids as an OFF file: fuselage, wings, tailplane, fin and engines.
#
#   awk -f ellipsoids.awk [-v h=0.14] [-v rise=1.59] > airplane.off
#
# Each is closed and counterclockwise seen from outside; they pass through one another. Rings about
# an ellipsoid's longest axis lie equally far apart along its meridian, and so do the points of a
# ring along it: h apart, m, the rings `rise` times as much. The default has the vertices (24k) and
# the mean edge (0.2 m) of the stand-in for the airplane of Bramas, Coulaud and Sylvand (2014).

BEGIN {
    PI = 3.141592653589793; vertices = triangles = 0
    if (!(h > 0)) h = 0.14
    if (!(rise > 0)) rise = 1.59
    ellipsoid("0 0 0", "18 2 2")
    ellipsoid("1 8.999 -.3", "2.2 9 .35"); ellipsoid("1 -8.999 -.3", "2.2 9 .35")
    ellipsoid("-16 3.199 .6", "1.2 3.2 .2"); ellipsoid("-16 -3.199 .6", "1.2 3.2 .2")
    ellipsoid("-16 0 3", "1.5 .2 3")
    ellipsoid("3 5.5 -1.6", "2 .9 .9"); ellipsoid("3 -5.5 -1.6", "2 .9 .9")
    printf "OFF\n%d %d 0\n", vertices, triangles
    for (v = 0; v < vertices; ++v) print place[v]
    for (t = 0; t < triangles; ++t) print "3", corners[t]
}

function vertex(a, b, c,    x) {
    x[p] = centre[p + 1] + a; x[q] = centre[q + 1] + b; x[r] = centre[r + 1] + c
    place[vertices++] = sprintf("%.17g %.17g %.17g", x[0], x[1], x[2])
}

function triangle(a, b, c) { corners[triangles++] = a " " b " " c }

# Arc length of the ellipse (a cos t, b sin t), t = 0 .. end, in `steps` chords; table[0 .. steps].
function arc(a, b, end, steps, table,    i, t, x, y, u, v) {
    u = a; v = 0; table[0] = 0
    for (i = 1; i <= steps; ++i) {
        t = end * i / steps; x = a * cos(t); y = b * sin(t)
        table[i] = table[i - 1] + sqrt((x - u) ^ 2 + (y - v) ^ 2)
        u = x; v = y
    }
    return table[steps]
}

# The angle at arc length s; asked for ascending s from 0 on: `at` remembers the chord.
function angle(table, steps, end, s) {
    while (at < steps - 1 && table[at + 1] < s) ++at
    return end * (at + (s - table[at]) / (table[at + 1] - table[at])) / steps
}

# The points of a ring with semi-axes (b, c) at height a; the first one `shift` spacings along.
function ring(a, b, c, shift,    n, i, length_, table, t) {
    length_ = arc(b, c, 2 * PI, 720, table)
    n = int(length_ / h + .5)
    if (n < 6) n = 6
    at = 0
    for (i = 0; i < n; ++i) {
        t = angle(table, 720, 2 * PI, (i + shift) * length_ / n)
        vertex(a, b * cos(t), c * sin(t))
    }
    return n
}

# The strip between two rings: `first` vertex, count and shift of each, the upper one nearer to
# the pole a > 0. Advances where the next point is the nearer one.
function stitch(u, m, us, l, n, ls,    i, j, on_upper) {
    for (i = j = 0; i < m || j < n;) {
        on_upper = j >= n || (i < m && (i + 1 + us) * n <= (j + 1 + ls) * m)
        if (on_upper) { triangle(u + i, l + j % n, u + (i + 1) % m); ++i }
        else { triangle(l + j, l + (j + 1) % n, u + i % m); ++j }
    }
}

function ellipsoid(where, axes,    s, k, rings, table, whole, t, first, count, before, n, shift, old) {
    split(where, centre, " "); split(axes, s, " ")
    p = 0 # the longest axis; (p, q, r) is right-handed
    for (k = 1; k < 3; ++k) if (s[k + 1] > s[p + 1]) p = k
    q = (p + 1) % 3; r = (p + 2) % 3
    whole = arc(s[p + 1], s[q + 1] > s[r + 1] ? s[q + 1] : s[r + 1], PI, 1440, table)
    rings = int(whole / (h * rise) + .5)
    first = vertices
    vertex(s[p + 1], 0, 0)
    for (k = 1; k < rings; ++k) {
        at_ring = 0; at = 0
        t = angle(table, 1440, PI, k * whole / rings)
        before = count ? last : 0
        old = shift; n = count
        shift = k % 2 ? 0 : .5
        last = vertices
        count = ring(s[p + 1] * cos(t), s[q + 1] * sin(t), s[r + 1] * sin(t), shift)
        if (k == 1) for (t = 0; t < count; ++t) triangle(first, last + t, last + (t + 1) % count)
        else stitch(before, n, old, last, count, shift)
    }
    vertex(-s[p + 1], 0, 0)
    for (t = 0; t < count; ++t) triangle(vertices - 1, last + (t + 1) % count, last + t)
}
