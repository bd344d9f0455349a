# Regular refinement of a volume mesh by penstock-mesh-import --divide: eight tetrahedra and four tagged triangles for one, of the
# volume and conditions of their parents, conforming and positive when they are read again; quality stays bounded.
set -eu
figure() { awk -v name="$2" '$1 == name { print $2 }' "$1"; }
penstock-mesh-box -q box.hdf --cells 3,2,2 --size 3,2,2 --shake .3 > /dev/null
penstock-mesh-import box.hdf zero.hdf > zero.txt
penstock-mesh-import box.hdf twice.hdf --divide 2 --order hilbert > twice.txt
penstock-mesh-import twice.hdf > again.txt # faces of three cells, negative ones, stray triangles are refused
awk -v few="$(figure zero.txt tetrahedra)" -v many="$(figure again.txt tetrahedra)" -v faces="$(figure zero.txt boundary_faces)" \
    -v now="$(figure again.txt boundary_faces)" -v v="$(figure zero.txt volume)" -v w="$(figure again.txt volume)" \
    -v q="$(figure zero.txt quality_min)" -v r="$(figure again.txt quality_min)" 'BEGIN {
    d = w / v - 1; print many / few, now / faces, d, r / q
    exit !(many == 64 * few && now == 16 * faces && d < 1e-13 && d > -1e-13 && r > q / 2) }'
cmp <(sed -n 's/^boundary_.*  //p; s/^edges .*  //p' twice.txt) <(sed -n 's/^boundary_.*  //p; s/^edges .*  //p' again.txt)
cmp <(grep "^triangle_tags" zero.txt) <(grep "^triangle_tags" again.txt)
# a third division halves edges once more, in classes of shape that repeat (Bey): the least quality falls no further
penstock-mesh-import box.hdf --divide 3 > thrice.txt
awk -v r="$(figure again.txt quality_min)" -v t="$(figure thrice.txt quality_min)" 'BEGIN { exit !(t > .99 * r) }'
[ "$(figure thrice.txt edges)" = "$(penstock-mesh-import twice.hdf --divide 1 | awk '$1 == "edges" { print $2 }')" ]
# it goes on to a solver, each part its condition
penstock-mesh-partition -q twice.hdf twice.h5 > /dev/null
penstock-dgtd-setup -q twice.h5 model.h5 --order 1 --material default:eps=1 --boundary 105:pec --boundary outer:absorbing > setup.txt
penstock-mesh-import box.hdf --kind surface --divide 1 > no.txt 2>&1 && exit 1
grep -q "divide is for tetrahedra" no.txt

# Bisection of longest edges: none is left that is longer, anywhere or in a ball; what is read again conforms, has the volume, and its
# boundary what was counted; quality stays above a quarter of what it was (longest edges make few classes of shape).
bisected() { # NAME FEWEST
    penstock-mesh-import "$1.hdf" > again.txt
    for k in tetrahedra edges boundary_faces boundary_triangles parts volume_min; do [ "$(figure "$1.txt" $k)" = "$(figure again.txt $k)" ] || { echo "$1: $k"; exit 1; }; done
    awk -v few="$(figure "$1.txt" tetrahedra)" -v v="$(figure zero.txt volume)" -v w="$(figure again.txt volume)" \
        -v q="$(figure zero.txt quality_min)" -v r="$(figure again.txt quality_min)" -v least="$2" \
        'BEGIN { d = w / v - 1; print few, d, r / q; exit !(few > least && d < 1e-13 && d > -1e-13 && r > q / 4) }'
}
penstock-mesh-import box.hdf fine.hdf --longest-edge .4 --order hilbert > fine.txt
bisected fine 4000
awk -v e="$(figure fine.txt edge_max)" 'BEGIN { exit !(e <= .4 && e > .35) }'
penstock-mesh-import box.hdf ball.hdf --longest-edge .2 --within 1.5,1,1,.5 > ball.txt
bisected ball 4000
[ "$(figure ball.txt tetrahedra)" -lt "$(penstock-mesh-import box.hdf --longest-edge .2 | awk '$1 == "tetrahedra" { print $2 / 3 }')" ]
awk -v e="$(figure ball.txt edge_max)" -v b="$(figure zero.txt edge_max)" 'BEGIN { exit !(e > b / 2) }' # far from the ball nothing is cut
penstock-mesh-import ball.hdf --longest-edge .2 --within 1.5,1,1,.5 | grep -q "^tetrahedra  *$(figure ball.txt tetrahedra)$" # nothing is left to do
penstock-mesh-import box.hdf millimetres.hdf --scale 1e-3 --longest-edge .4e-3 > mm.txt # lengths are those of the output
[ "$(figure mm.txt tetrahedra)" = "$(figure fine.txt tetrahedra)" ]
penstock-mesh-import box.hdf --kind surface --longest-edge .1 > no.txt 2>&1 && exit 1
grep -q "longest-edge is for tetrahedra" no.txt
for bad in "--within 0,0,0,1" "--longest-edge .1 --within 0,0,0" "--longest-edge .1 --within 0,0,0,-1" "--longest-edge .1 --within 0,0,0,1,2"; do
    penstock-mesh-import box.hdf $bad > no.txt 2>&1 && exit 1
    grep -q "within" no.txt
done

# a fault in a volume mesh of its own is told by the numbers of that file
edit="$BUILD/tests-programs/store_edit"
[ -x "$edit" ] || { echo "store_edit was not built"; exit 0; }
"$edit" box.hdf stray.hdf /boundary/triangles 0 35
code=0
penstock-mesh-import stray.hdf > no.txt 2>&1 || code=$?
[ $code = 3 ]
grep -q "no faces of tetrahedra: face 1 (vertices" no.txt
