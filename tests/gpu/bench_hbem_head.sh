#!/bin/bash
# A head at 20 kHz in air by penstock-hbem-solve: an ear that vibrates at 1 m/s and ten point sources half a metre away, all
# together, matrices in memory; time of the program, steps, and reciprocity: the sound that the ear sends to a source against
# what the source leaves on the ear, and from one source to the other. JSON records on stdout, figures on stderr.
#     bench_hbem_head.sh HEAD.off[.gz]
# The first closed part of the file is the head, in mm; its vertex of the largest x is the ear, with what lies within EAR (15 mm)
# of it. CUTS: into how many parts edges are cut, one run each (2 3); FREQUENCY: Hz; WORK: a folder; DEVICE: cuda; LIMIT: s, what
# is asked at 100,000 triangles (10).
set -eu
head=$(realpath "$1")
. "$(dirname "$0")/lib.sh"
measuring hbem-solve
density=1.204 speed=343
k=$(calculate "2 * 3.14159265358979324 * ${FREQUENCY:-20000} / $speed")
read_head() { case $head in *.gz) gzip -dc "$head" ;; *) cat "$head" ;; esac; }
# cut_head N: the first part with edges in N, group 2 within EAR of the ear, as text MSH; ear.txt: centroid, 1 um off, and area of each
# triangle of the group, m.
cut_head() {
    read_head | awk -v n="$1" -v reach="${EAR:-15}" '
    function at(a, b, c, i, j,    key, p) { # corner a + i/n of the way to b, j/n to c; shared along edges
        if (i + j == 0) key = a; else if (i == n) key = b; else if (j == n) key = c
        else if (j == 0) key = a < b ? a " " b " " i : b " " a " " n - i
        else if (i == 0) key = a < c ? a " " c " " j : c " " a " " n - j
        else if (i + j == n) key = b < c ? b " " c " " j : c " " b " " i
        else key = a " " b " " c " " i " " j
        if (key in number) return number[key]
        for (p = 0; p < 3; ++p) y[count, p] = x[a, p] + (i * (x[b, p] - x[a, p]) + j * (x[c, p] - x[a, p])) / n
        return number[key] = count++
    }
    function put(a, b, c,    p, m, square) {
        for (p = 0; p < 3; ++p) { m = (y[a, p] + y[b, p] + y[c, p]) / 3 - x[ear, p]; square += m * m }
        t[triangles] = (square < reach * reach ? "2 2" : "1 1") " " a + 1 " " b + 1 " " c + 1
        if (square < reach * reach) patch(a, b, c)
        ++triangles
    }
    function patch(a, b, c,    p, u, v, s, m, size) {
        for (p = 0; p < 3; ++p) { u[p] = y[b, p] - y[a, p]; v[p] = y[c, p] - y[a, p]; m[p] = (y[a, p] + y[b, p] + y[c, p]) / 3 }
        for (p = 0; p < 3; ++p) { s[p] = u[(p + 1) % 3] * v[(p + 2) % 3] - u[(p + 2) % 3] * v[(p + 1) % 3]; size += s[p] * s[p] }
        size = sqrt(size)
        for (p = 0; p < 3; ++p) printf "%.12g ", 1e-3 * (m[p] + 1e-3 * s[p] / size) > "ear.txt"
        printf "%.12g\n", .5e-6 * size > "ear.txt"
    }
    BEGIN { count = faces = triangles = 0 }
    NR == 1 { next }
    NR == 2 { vertices = $1; next }
    NR < 3 + vertices { for (p = 0; p < 3; ++p) x[NR - 3, p] = $(p + 1); next }
    NF > 3 { corner[faces, 0] = $2; corner[faces, 1] = $3; corner[faces, 2] = $4; ++faces; join($2, $3); join($2, $4) }
    function root(a) { while (a in up) a = up[a]; return a }
    function join(a, b) { a = root(a); b = root(b); if (a < b) up[b] = a; else if (b < a) up[a] = b }
    END {
        first = root(corner[0, 0])
        for (v = 0; v < vertices; ++v) if (root(v) == first && (ear == "" || x[v, 0] > x[ear, 0])) ear = v
        for (f = 0; f < faces; ++f) {
            a = corner[f, 0]; b = corner[f, 1]; c = corner[f, 2]
            if (root(a) != first) continue
            for (i = 0; i < n; ++i)
                for (j = 0; i + j < n; ++j) {
                    put(at(a, b, c, i, j), at(a, b, c, i + 1, j), at(a, b, c, i, j + 1))
                    if (i + j < n - 1) put(at(a, b, c, i + 1, j), at(a, b, c, i + 1, j + 1), at(a, b, c, i, j + 1))
                }
        }
        printf "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", count
        for (v = 0; v < count; ++v) printf "%d %.12g %.12g %.12g\n", v + 1, y[v, 0], y[v, 1], y[v, 2]
        printf "$EndNodes\n$Elements\n%d\n", triangles
        for (f = 0; f < triangles; ++f) print f + 1, 2, 2, t[f]
        print "$EndElements"
    }' > head.msh
}
# Ten places on a sphere of half a metre, as options and as a list.
awk 'BEGIN { for (i = 0; i < 10; ++i) { z = .8 - .17 * i; s = sqrt(1 - z * z); a = 2.39996 * i
    printf "%.9g %.9g %.9g\n", .5 * s * cos(a), .5 * s * sin(a), .5 * z } }' > places.txt
sources=$(sed 's/\([^ ]*\) \([^ ]*\) \(.*\)/--source point:\1,\2,\3/' places.txt)
awk '{ print $1, $2, $3 }' places.txt > at.txt
# values FILE: one line, real and imaginary parts of all channels, the incidences one after the other
values() { penstock-inspect "$1" --csv | tail -n 1 | cut -d , -f 2-; }
for cuts in ${CUTS:-2 3}; do
    rm -f ear.txt
    cut_head "$cuts"
    run penstock-mesh-import -q head.msh head.hdf --unit mm --force
    run penstock-cluster-build -q head.hdf clusters.h5 --wavenumber "$k" --force ${COARSE:+--force-coarse}
    begin=$(date +%s.%N)
    # shellcheck disable=SC2086
    penstock-hbem-solve ${VERBOSE:--q} head.hdf clusters.h5 phi.hdf --wavenumber "$k" --precision fp32 --skeleton \
        --device "${DEVICE:-cuda}" --density $density --speed $speed --boundary others:rigid --boundary 2:velocity:1 $sources \
        ${COARSE:+--force-coarse} --json --force > solve.json
    all=$(calculate "$(date +%s.%N) - $begin")
    cat solve.json >&2
    field="--incidence all --device ${DEVICE:-cuda} --force"
    # A source is not seen from its own place.
    run penstock-hbem-field -q phi.hdf at.h5 --points at.txt $field --quantity scattered
    awk '{ print $1, $2, $3 }' ear.txt > on.txt
    run penstock-hbem-field -q phi.hdf on.h5 --points on.txt --quantity total $field
    { values at.h5; values on.h5; awk '{ printf "%s%s", (NR > 1 ? "," : ""), $4 } END { print "" }' ear.txt; } > numbers.txt
    # i k rho c v times the integral of a source's pressure over the ear; e^{-iwt}, q = i k rho c v along the outward normal.
    awk -F , -v k="$k" -v impedance="$(calculate "$density * $speed")" '
    NR == 1 { for (i = 1; i <= NF; ++i) at[i - 1] = $i }
    NR == 2 { for (i = 1; i <= NF; ++i) on[i - 1] = $i }
    NR == 3 { patch = NF; for (i = 1; i <= NF; ++i) area[i - 1] = $i }
    END {
        for (s = 0; s < 10; ++s) {
            re = im = 0
            for (c = 0; c < patch; ++c) { re += area[c] * on[2 * (s * patch + c)]; im += area[c] * on[2 * (s * patch + c) + 1] }
            fr = k * impedance * im; fi = -k * impedance * re # -i k rho c times it
            gr = at[2 * (100 + s)]; gi = at[2 * (100 + s) + 1]
            size = sqrt(gr * gr + gi * gi); off = sqrt((fr - gr)^2 + (fi - gi)^2)
            ear[s] = off / size; if (size > loud) loud = size; if (off > worst) worst = off
            for (r = 0; r < s; ++r) {
                dr = at[2 * (10 * s + r)] - at[2 * (10 * r + s)]; di = at[2 * (10 * s + r) + 1] - at[2 * (10 * r + s) + 1]
                size = sqrt(at[2 * (10 * s + r)]^2 + at[2 * (10 * s + r) + 1]^2); d = sqrt(dr * dr + di * di)
                if (size > most) most = size; if (d > apart) apart = d
            }
        }
        printf "%.3g %.3g\n", worst / loud, apart / most
        for (s = 0; s < 10; ++s) printf "source %d: off by %.3g of its own\n", s, ear[s] > "/dev/stderr"
    }' numbers.txt > reciprocity.txt
    of="N = $(json unknowns solve), k $(printf %.2f "$k"), head of $(sed -n '/Elements/{n;p;q}' head.msh) triangles, fp32, $(json steps_most solve) steps"
    record hbem-head-20khz "an ear that vibrates and ten point sources, one frequency, whole program" "$all" s "${LIMIT:-10}" "$of; floor: what is asked"
    record hbem-head-20khz "reciprocity of the ear and ten sources, largest deviation over the loudest" "$(cut -d ' ' -f 1 reciprocity.txt)" "" "" "$of"
    record hbem-head-20khz "reciprocity of ten sources, scattered fields, likewise" "$(cut -d ' ' -f 2 reciprocity.txt)" "" "" "$of"
done
