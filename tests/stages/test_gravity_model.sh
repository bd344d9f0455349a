# penstock-gravity-model: masses of bodies, tables and UBC-GIF models, the built-in crater; refusals.
. "$ROOT/tests/stages/lib.sh"
needs gravity-model verify
model=penstock-gravity-model
figure() { awk -v n="$1" '$1 == n { print $2; exit }' out; }
ratio() { awk -v a="$(figure mass_on_grid)" -v b="$(figure mass_of_model)" 'BEGIN { print a / b }'; }

expect 0 "" $model prism.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 64,51,23
within "$(ratio)" .99999999 1.00000001 "mass of a prism"
within "$(figure mass_of_model)" -1.2000001e14 -1.1999999e14 "mass of a prism"
expect 0 "" penstock-verify prism.hdf
# the same from tables: text with a header, CSV, HDF5-independent of the unit
printf 'x0 x1 y0 y1 z0 z1 density\n-5 5 -5 5 2 6 -200 # lower\n' > t.txt
printf '%s\n' '-5000,5000,-5000,5000,2000,6000,-100' | gzip > t.csv.gz
expect 0 "" $model a.hdf --unit km --bricks t.txt --body brick:-5,5,-5,5,2,6,-100 --nodes 64,51,23
expect 0 "" $model b.hdf --bricks t.csv.gz --nodes 64,51,23 --body brick:-5000,5000,-5000,5000,2000,6000,-200
for f in a b; do
    h5diff -d 1e-9 prism.hdf $f.hdf /VTKHDF/CellData/density || fail "$f.hdf differs from prism.hdf"
done
# the crater: net mass of the numerics guide
expect 0 "" $model crater.hdf --preset chx-1 --nodes 126,126,31
within "$(figure mass_of_model)" -9.11e15 -9.09e15 "mass of CHX-1"
within "$(ratio)" .9995 1.0005 "mass of CHX-1 on the grid"
# UBC-GIF: 2 x 3 x 2 bricks, values z first, then x, then y; air
printf '2 3 2\n100 200 50\n2*10\n10 20 10\n5 15\n' > m.msh
printf '1\n2\nnan\n-99\n' > m.mod; for v in 3 4 5 6 7 8 9 10; do echo $v >> m.mod; done
expect 0 "" $model u.hdf --ubc-mesh m.msh --ubc-model m.mod --air -90
[ "$(figure air_cells)" = 2 ] || fail "$(figure air_cells) cells of air"
grep -q "nodes  *\[3, 5, 5\]" out || { cat out; fail "nodes of the UBC grid"; }
# 1000 [100 (1 5 + 2 15) + 200 (3 5 + 4 15 + 5 5 + 6 15) + 100 (7 5 + 8 15 + 9 5 + 10 15)]
within "$(figure mass_of_model)" 76499999 76500001 "mass of the UBC model"
within "$(ratio)" .99999999 1.00000001 "mass of the UBC model on the grid"
grep -q "origin  *\[100, 200, -50\]" out || { cat out; fail "corner of the UBC grid"; }
# refusals
expect 2 "there is no density" $model no.hdf
expect 2 "belong together" $model no.hdf --ubc-mesh m.msh
expect 2 "expected is ball:X,Y,Z,R,DENSITY" $model no.hdf --body ball:1,2,3
expect 2 "brick:..., ring:... or ball:..." $model no.hdf --body cone:1,2,3
expect 3 "a brick is empty" $model no.hdf --body brick:1,1,2,3,4,5,6
expect 2 "ascending pairs" $model no.hdf --preset chx-1 --box 1,0,0,1,0,1
expect 2 "three numbers of nodes" $model no.hdf --preset chx-1 --nodes 5,5
head -n 8 m.mod > short.mod
expect 3 "ends before all cells" $model no.hdf --ubc-mesh m.msh --ubc-model short.mod
echo 11 >> m.mod
expect 3 "more numbers than the mesh has cells" $model no.hdf --ubc-mesh m.msh --ubc-model m.mod
printf '2 3 2\n100 200 50\n10 x\n' > bad.msh
expect 3 'bad.msh line 3: "x" is no number' $model no.hdf --ubc-mesh bad.msh --ubc-model m.mod
printf '1 2 3\n' > bad.txt
expect 3 "bad.txt line 1: 3 numbers" $model no.hdf --bricks bad.txt
printf '0 1 0 1 0 1 nan\n' > nan.txt
expect 3 "nan.txt line 1: a brick has a number that is not finite" $model no.hdf --bricks nan.txt
[ ! -e no.hdf ] || fail "something was left behind"
# real data
data=$SHARED/data/gravity
if [ -e "$data/LdM_ubc_mesh.msh" ]; then
    expect 0 "" $model ldm.hdf --ubc-mesh "$data/LdM_ubc_mesh.msh" --ubc-model "$data/LdM_density_model.mod.gz"
    [ "$(figure air_cells)" = 30735 ] || fail "$(figure air_cells) cells of air in Laguna del Maule"
    within "$(ratio)" .99999999 1.00000001 "mass of Laguna del Maule"
else echo "no $data: real model not tried"; fi
