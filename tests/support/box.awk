# A closed box as OFF: the unit cube with faces cut n x n, stretched by a along x.  awk -v a=4 -v n=4 -f box.awk
function vertex(x, y, z,  key) {
    key = x "," y "," z
    if (!(key in at)) { at[key] = points++; line[at[key]] = sprintf("%.10g %.10g %.10g", a * x / n, y / n, z / n) }
    return at[key]
}
function face(p, q, r) { faces[triangles++] = "3 " p " " q " " r }
function quad(p, q, r, s) { face(p, q, r); face(p, r, s) }
BEGIN {
    for (i = 0; i < n; ++i) for (j = 0; j < n; ++j) {
        quad(vertex(i, j, n), vertex(i + 1, j, n), vertex(i + 1, j + 1, n), vertex(i, j + 1, n))
        quad(vertex(i, j, 0), vertex(i, j + 1, 0), vertex(i + 1, j + 1, 0), vertex(i + 1, j, 0))
        quad(vertex(n, i, j), vertex(n, i + 1, j), vertex(n, i + 1, j + 1), vertex(n, i, j + 1))
        quad(vertex(0, i, j), vertex(0, i, j + 1), vertex(0, i + 1, j + 1), vertex(0, i + 1, j))
        quad(vertex(j, n, i), vertex(j, n, i + 1), vertex(j + 1, n, i + 1), vertex(j + 1, n, i))
        quad(vertex(j, 0, i), vertex(j + 1, 0, i), vertex(j + 1, 0, i + 1), vertex(j, 0, i + 1))
    }
    print "OFF"; print points, triangles, 0
    for (i = 0; i < points; ++i) print line[i]
    for (i = 0; i < triangles; ++i) print faces[i]
}
