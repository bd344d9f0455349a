# An icosahedron subdivided `levels` times with its vertices on a sphere, as an OFF file.
#
#   awk -f icosphere.awk -v levels=2 [-v area=12.566370614359172] > sphere320.off
#
# 20 * 4^levels triangles, 10 * 4^levels + 2 vertices, counterclockwise seen from outside. The
# radius is 1, or such that the flat triangles together have the given area: 4 pi is what
# makes comparisons with the unit sphere second order with a small constant.

function vertex(x, y, z,    r) {
    r = sqrt(x * x + y * y + z * z)
    X[vertices] = x / r; Y[vertices] = y / r; Z[vertices] = z / r
    return vertices++
}

function triangle(a, b, c) { A[triangles] = a; B[triangles] = b; C[triangles] = c; ++triangles }

# The vertex in the middle of an edge, made once.
function middle(a, b,    key) {
    key = a < b ? a " " b : b " " a
    if (!(key in halved)) halved[key] = vertex(X[a] + X[b], Y[a] + Y[b], Z[a] + Z[b])
    return halved[key]
}

function subdivide(    old, t, a, b, c, ab, bc, ca) {
    old = triangles
    split("", halved)
    for (t = 0; t < old; ++t) {
        a = A[t]; b = B[t]; c = C[t]
        ab = middle(a, b); bc = middle(b, c); ca = middle(c, a)
        A[t] = ab; B[t] = bc; C[t] = ca
        triangle(a, ab, ca); triangle(b, bc, ab); triangle(c, ca, bc)
    }
}

function flat_area(    t, sum, ux, uy, uz, vx, vy, vz, nx, ny, nz) {
    for (t = 0; t < triangles; ++t) {
        ux = X[B[t]] - X[A[t]]; uy = Y[B[t]] - Y[A[t]]; uz = Z[B[t]] - Z[A[t]]
        vx = X[C[t]] - X[A[t]]; vy = Y[C[t]] - Y[A[t]]; vz = Z[C[t]] - Z[A[t]]
        nx = uy * vz - uz * vy; ny = uz * vx - ux * vz; nz = ux * vy - uy * vx
        sum += sqrt(nx * nx + ny * ny + nz * nz) / 2
    }
    return sum
}

BEGIN {
    vertices = triangles = 0
    g = (1 + sqrt(5)) / 2
    vertex(-1, g, 0); vertex(1, g, 0); vertex(-1, -g, 0); vertex(1, -g, 0)
    vertex(0, -1, g); vertex(0, 1, g); vertex(0, -1, -g); vertex(0, 1, -g)
    vertex(g, 0, -1); vertex(g, 0, 1); vertex(-g, 0, -1); vertex(-g, 0, 1)
    count = split("0 11 5 0 5 1 0 1 7 0 7 10 0 10 11 1 5 9 5 11 4 11 10 2 10 7 6 7 1 8 " \
                  "3 9 4 3 4 2 3 2 6 3 6 8 3 8 9 4 9 5 2 4 11 6 2 10 8 6 7 9 8 1", face, " ")
    for (f = 1; f <= count; f += 3) triangle(face[f] + 0, face[f + 1] + 0, face[f + 2] + 0)
    for (l = 0; l < levels; ++l) subdivide()
    scale = area > 0 ? sqrt(area / flat_area()) : 1
    printf "OFF\n%d %d 0\n", vertices, triangles
    for (v = 0; v < vertices; ++v)
        printf "%.17g %.17g %.17g\n", scale * X[v], scale * Y[v], scale * Z[v]
    for (t = 0; t < triangles; ++t) printf "3 %d %d %d\n", A[t], B[t], C[t]
}
