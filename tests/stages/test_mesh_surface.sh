# penstock-mesh-surface: counts, areas and volumes of its shapes, every edge twice in opposite
# directions, the same file whatever the threads, what it refuses.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface verify
make=penstock-mesh-surface


# closed FILE: each directed edge once, and its opposite.
closed() {
    h5dump -y -w 1 -d /VTKHDF/Connectivity "$1" | sed -n '/DATA {/,/}/p' | grep -o '[0-9]\+' |
        awk '{ v[NR % 3] = $1 } NR % 3 == 0 { a = v[1]; b = v[2]; c = v[0]
               if (e[a, b]++ || e[b, c]++ || e[c, a]++) bad = 1 }
             END { for (k in e) { split(k, p, SUBSEP); if (!((p[2], p[1]) in e)) bad = 1 }
                   exit bad || NR == 0 }' || fail "$1: an edge is open, or goes the same way twice"
}

expect 0 "" $make sphere.hdf --divisions 9 --radius 2 --centre 1,-2,3
is vertices 326; is triangles 648; closed sphere.hdf
within "$(figure area)" 49 50.27 area; within "$(figure volume)" 32 33.52 volume
within "$(figure quality_min)" 0.82 1 quality
expect 0 "" $make sphere.hdf --divisions 1 --force
is vertices 6; is triangles 8; within "$(figure volume)" 1.3333 1.3334 volume; closed sphere.hdf
expect 0 "" $make sphere.hdf --divisions 60 --force
within "$(figure area)" 12.562 12.5664 area; within "$(figure volume)" 4.185 4.18880 volume

expect 0 "" $make cube.hdf --shape cube --divisions 5 --size 2
is vertices 152; is triangles 300; is area 24; is volume 8; closed cube.hdf
expect 0 "" $make box.hdf --shape box --size 1,2,0.3 --edge 0.25
is triangles 224; is area 5.8; is volume 0.6; closed box.hdf # 4 x 8 x 2 cells
expect 0 "" $make ell.hdf --shape lshape --size 2,2,1 --divisions 5
is area 14; is volume 3; closed ell.hdf # 6 x 6 x 3 cells, even along x and y
is triangles 252

expect 0 "" $make hull.hdf --shape suboff --scale 14.2 --edge 0.8 --wavenumber 4.18879 --json
grep -q '"edges_per_wavelength": 1.8' out || fail "edges a wavelength: $(cat out)"
expect 0 "" $make hull.hdf --shape suboff --edge 0.03 --force; closed hull.hdf
# The hull of the model: 5.988 m2 (table, revolved: 5.9855 on a coarser mesh), 0.699 m3.
within "$(figure area)" 5.96 5.99 area; within "$(figure volume)" 0.69 0.70 volume
within "$(figure quality_min)" 0.7 1 quality; within "$(figure quality_mean)" 0.97 1 quality

# Semi-axes .07 and .01: 6.98e-3 m2, 4/3 pi a b^2; and a flat one, .01 and .07.
expect 0 "" $make fish.hdf --shape spheroid --size .14,.02 --edge 1e-3; closed fish.hdf
within "$(figure area)" 6.96e-3 6.98e-3 area; within "$(figure volume)" 2.925e-5 2.9322e-5 volume
within "$(figure quality_min)" 0.7 1 quality
expect 0 "" $make flat.hdf --shape spheroid --size .02,.14 --edge 2e-3; closed flat.hdf
within "$(figure volume)" 2.044e-4 2.0526e-4 volume
expect 2 "length and width" $make no.hdf --shape spheroid --edge 1e-3

for threads in 1 3; do
    expect 0 "" $make again.hdf --shape suboff --edge 0.03 --threads $threads --force
    [ "$(content hull.hdf)" = "$(content again.hdf)" ] || fail "threads change the mesh"
done
penstock-verify sphere.hdf cube.hdf hull.hdf > /dev/null || fail "files do not verify"
expect 0 "up to date" $make again.hdf --shape suboff --edge 0.03
expect 0 "triangles" $make --divisions 1025 --plan
is vertices 4202502

expect 2 "--edge M or --divisions N" $make no.hdf
expect 2 "one of the two" $make no.hdf --edge 1 --divisions 4
expect 2 "spheroid take --edge" $make no.hdf --shape suboff --divisions 4
expect 2 "too long" $make no.hdf --shape suboff --edge 4
expect 2 "sides are positive" $make no.hdf --shape box --size 1,-1,1 --edge 1
expect 2 "one number is expected" $make no.hdf --shape cube --size 1,1,1 --edge 1
expect 2 "X,Y,Z are expected" $make no.hdf --divisions 2 --centre 1
expect 2 "the format holds" $make no.hdf --divisions 12000
