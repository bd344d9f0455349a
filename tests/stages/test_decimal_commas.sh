# Decimal commas: "0,5 1 2" is not taken for the four numbers 0 5 1 2, nor "1,5" for 1 or for 15: whatever reads text or
# an option refuses it and names the line or the option.
. "$ROOT/tests/stages/lib.sh"
needs particle-import prism-field gravity-invert mesh-import mesh-surface mesh-box terrain-import cluster-build hbem-solve incident
mixed="decimal commas are to be points"

# ---- numbers in columns: as many as are wanted, if commas separated them ----
printf '0,5 1 2\n3,5 4 5\n' > x.txt; expect 3 "x.txt: line 1: commas stand" penstock-particle-import x.txt no.h5
expect 3 "$mixed" penstock-particle-import x.txt no.h5 --columns 1,2,3,4
printf '0 1 2 3\n0,5 1,5\n' > x.txt; expect 3 "line 2: commas stand" penstock-particle-import x.txt no.h5
printf '0,5;1;2\n' > x.txt; expect 3 "$mixed" penstock-particle-import x.txt no.h5
printf 'x y z q\n0,5 1,5 2,5 1,5\n' > x.txt; expect 3 "$mixed" penstock-particle-import x.txt no.h5
printf '0 1 0 1 -1 0 300\n' > prism.txt
for line in '0,5 1' '0,5;1' '1 0,5'; do
    echo "$line" > x.txt
    expect 3 "x.txt line 1: commas stand" penstock-prism-field prism.txt x.txt no.h5
done
printf '1 1 1 4,5 -1\n' > x.txt; echo '0 0 9' > at.txt; expect 3 "$mixed" penstock-prism-field x.txt at.txt no.h5
printf '2 2 2\n0 0 0\n2*100\n2*100\n2*50\n' > mesh.msh
printf '50 50 10 1.5\n50 150 10 1,5\n' > x.txt; expect 3 "x.txt line 2: commas stand" penstock-gravity-invert x.txt mesh.msh no.h5 --plan
head -n 1 x.txt > good.txt
printf '2 2 2\n0,5 0\n2*100\n2*100\n2*50\n' > x.msh; expect 3 "x.msh line 2: commas stand" penstock-gravity-invert good.txt x.msh no.h5 --error .1 --plan
# what commas or blanks alone separate is read as before
printf '0, 1,2 ,3,\n"4","5","6","7"\n' > commas.txt; printf '0;1;2;3\n' > other.txt; printf '0 1\t2  3 \n' > blanks.txt
for kind in other blanks; do expect 0 "" penstock-particle-import $kind.txt $kind.h5; done
same other.h5 blanks.h5
head -n 1 commas.txt > x.txt; expect 0 "" penstock-particle-import x.txt commas.h5; same commas.h5 other.h5
cut -d, -f1-3 commas.txt > x.txt; expect 0 "" penstock-prism-field prism.txt x.txt f.h5 # quotes, too

# ---- meshes ----
nodes() { printf '*NODE\n1, 0, 0, 0%s\n2, 1%s, 0%s, 0%s\n3, 0%s, 1%s, 0%s\n4, 0%s, 0%s, 1%s\n*ELEMENT, TYPE=S3\n1,1,3,2\n2,1,2,4\n3,1,4,3\n4,2,3,4\n' "$@"; }
nodes "" ,5 ,25 "" "" ,5 ,25 "" ,25 ,5 > x.inp
expect 3 "decimal commas are to be points" penstock-mesh-import x.inp no.h5
nodes "" .5 .25 "" "" .5 .25 "" .25 .5 > good.inp; expect 0 "" penstock-mesh-import good.inp good.hdf
nodes ", 0., 0., 1." .5 .25 ", 0, 0, 1." "" .5 .25 "" .25 .5 > normals.inp
expect 0 "" penstock-mesh-import normals.inp normals.hdf
printf 'v 0,5 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' > x.obj; expect 3 "x.obj: line 1" penstock-mesh-import x.obj no.h5
printf 'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0,5 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n' > x.stl
expect 3 "x.stl: line 4" penstock-mesh-import x.stl no.h5 --open
grid() { printf 'ncols 2\nnrows 2\nxllcorner %s\nyllcorner 0\ncellsize %s\n%s 2\n3 4\n' "$@" > x.asc; }
grid 1000,5 10 1; expect 3 "xllcorner" penstock-terrain-import x.asc no.h5
grid 1000 0,5 1; expect 3 "cellsize" penstock-terrain-import x.asc no.h5
grid 1000 10 1,5; expect 3 '"1,5", no number' penstock-terrain-import x.asc no.h5

# ---- options ----
expect 2 '"1,5" is not a length' penstock-mesh-surface no.h5 --divisions 4 --radius 1,5
expect 2 "--size 1,5" penstock-mesh-box no.h5 --cells 2 --size 1,5
clustered s.hdf c.h5 --divisions 4
expect 2 '"1,5" is not a finite number' penstock-hbem-solve s.hdf c.h5 no.h5 --wavenumber 2 --direction 0,0,1 --density 1,5
echo '0 0 1,5' > x.txt; expect 3 "x.txt, line 1" penstock-hbem-solve s.hdf c.h5 no.h5 --wavenumber 2 --directions x.txt
expect 2 "width=1,5" penstock-tdbem-march s.hdf no.h5 --courant 2 --speed 1 --steps 9 --emitter plane:dir=0,0,1:width=1,5
expect 2 "6 numbers" penstock-gravity-model no.h5 --body ball:0,0,5,2,-300,5 --nodes 9,9,9
