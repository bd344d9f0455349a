# penstock-gravity-model: masses of bodies, tables and UBC-GIF models, the built-in crater; refusals.
. "$ROOT/tests/stages/lib.sh"
needs gravity-model verify
model=penstock-gravity-model
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
within "$(ratio)" .9999999 1.0000001 "mass of CHX-1 on the grid"
# Masses of what is far smaller than a cell, or thinner, are kept, too; boxes of no Earth are not.
expect 0 "spread over cells" $model small.hdf --box 0,1000,0,1000,0,500 --nodes 11,11,11 --body ball:503,507,251,.01,300
within "$(ratio)" .9999999 1.0000001 "mass of a small ball"
expect 0 "" $model thin.hdf --box 0,1000,0,1000,0,500 --nodes 11,11,11 --body ring:503,507,100,101,100,200,300
within "$(ratio)" .9999999 1.0000001 "mass of a thin ring"
expect 2 "ascending pairs within 1e+09" $model no.hdf --box 0,1e300,0,1e300,0,1e300 --nodes 5,5,5 --body brick:0,1,0,1,0,1,1
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
# bodies that cells do not follow: of a fiftieth of a cell, and one that fits along two axes; those between planes are well
box="--box=-10000,10000,-10000,10000,0,5000"
expect 0 "1 of 1 bodies are spread over cells of the grid that they do not fill: body 1 becomes 500 times as wide along z" $model s.hdf $box --nodes 21,21,11 --body brick:-1000,1000,0,2000,1011,1012,300
expect 0 "1 of 2 bodies are spread over cells of the grid that they do not fill: body 2 becomes 2.86 times as wide along x, where cells are 1e+04 m" $model s.hdf --force $box --nodes 3,21,11 --body brick:-10000,0,0,2000,1000,1500,300 --body brick:-4000,3000,-2000,5000,1000,2500,300
expect 0 "" $model s.hdf --force $box --nodes 21,21,11 --body brick:-4000,3000,-2000,5000,1000,2500,300 --body ball:0,0,2500,2100,300
! grep -q "spread over" err || fail "a warning of bodies that the cells follow"
# refusals
expect 2 "there is no density" $model no.hdf
expect 2 "belong together" $model no.hdf --ubc-mesh m.msh
expect 2 "expected is ball:X,Y,Z,R,DENSITY" $model no.hdf --body ball:1,2,3
expect 2 "brick:..., ring:... or ball:..." $model no.hdf --body cone:1,2,3
expect 3 "a brick is empty" $model no.hdf --body brick:1,1,2,3,4,5,6
expect 2 "ascending pairs" $model no.hdf --preset chx-1 --box 1,0,0,1,0,1
expect 2 "numbers of fp64" $model no.hdf --box 0,1e-60,0,1e-60,0,1e-60 --body brick:0,5e-61,0,5e-61,0,5e-61,300
expect 2 "ascending pairs within 1e+09" $model no.hdf --box 0,1e30,0,1e30,0,1e30 --body brick:0,5e29,0,5e29,0,5e29,300
expect 2 "three numbers of nodes" $model no.hdf --preset chx-1 --nodes 5,5
head -n 8 m.mod > short.mod
expect 3 "ends before all cells" $model no.hdf --ubc-mesh m.msh --ubc-model short.mod
echo 11 >> m.mod
expect 3 "more numbers than the mesh has cells" $model no.hdf --ubc-mesh m.msh --ubc-model m.mod
printf '2 3 2\n100 200 50\n10 x\n' > bad.msh
expect 3 'bad.msh line 3: "x" is no number' $model no.hdf --ubc-mesh bad.msh --ubc-model m.mod
printf '1 2 3\n' > bad.txt
expect 3 "bad.txt line 1: 3 numbers" $model no.hdf --bricks bad.txt
sed '1s/z0 z1/bottom top/' t.txt > bad.txt
expect 3 'bad.txt: its header calls column 5 "bottom", where z0 is expected' $model no.hdf --unit km --bricks bad.txt
printf 'x0[km] x1[km] y0[km] y1[km] z0[km] z1[km] density\n-5 5 -5 5 2 6 -200\n' > bad.txt
expect 3 'is in "km": m is expected' $model no.hdf --bricks bad.txt
expect 0 "" $model km.hdf --unit km --bricks bad.txt --nodes 64,51,23
printf '0 1 0 1 0 1 nan\n' > nan.txt
expect 3 "nan.txt line 1: a brick has a number that is not finite" $model no.hdf --bricks nan.txt
# real data
data=$SHARED/data/gravity
if [ -e "$data/LdM_ubc_mesh.msh" ]; then
    expect 0 "" $model ldm.hdf --ubc-mesh "$data/LdM_ubc_mesh.msh" --ubc-model "$data/LdM_density_model.mod.gz"
    [ "$(figure air_cells)" = 30735 ] || fail "$(figure air_cells) cells of air in Laguna del Maule"
    within "$(ratio)" .99999999 1.00000001 "mass of Laguna del Maule"
else echo "no $data: real model not tried"; fi
# flags of air: taken for it where they can be no density, asked for where they can
mesh='1 1 4\n0 0 0\n10\n10\n4*5\n'
printf "$mesh" > f.msh
for flag in -100 -99999 -9999 -999 nan; do
    printf '%s\n' $flag $flag -0.3 0.1 > f.mod
    said="taken for air"
    [ $flag != nan ] || said=
    expect 0 "$said" $model f.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5 --force
    [ "$(figure air_cells)" = 2 ] || fail "$(figure air_cells) cells of air by $flag"
    within "$(figure least_density)" -300.0001 -299.9999 "least density with the flag $flag"
done
printf -- "-100\n-100\n-20\n5\n" > f.mod
expect 3 "say --air -100 if it is air" $model no.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5 --scale 1
expect 0 "" $model f.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5 --scale 1 --air -100 --force
within "$(figure least_density)" -20.0001 -19.9999 "least density with --air"
expect 0 "" $model f.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5 --scale 1 --air -1e30 --force
within "$(figure least_density)" -100.0001 -99.9999 "least density without air"
printf -- "-20\n5\n-100\n-100\n" > f.mod # at the bottom it is a density
expect 0 "" $model f.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5 --scale 1 --force
printf -- "-300\n-300\n100\n50\n" > f.mod # kg/m3 taken for g/cm3
expect 3 "check units" $model no.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5
expect 0 "bricks of the UBC mesh end up to" $model f.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,4 --scale 1 --force
# mass outside of the box: what is lost is counted without signs
box="--box 0,100,0,100,0,100 --nodes 5,5,5"
expect 3 "lies outside of the box" $model no.hdf $box --body brick:200,300,0,100,0,100,1
expect 3 "7.965 % of the mass" $model no.hdf $box --body brick:0,100,0,100,0,100,1 --body brick:95,105,0,100,20,120,1 --body brick:-100,0,0,100,20,25,-0.6
expect 0 "" $model e.hdf $box --body brick:0,100,0,100,0,100,1 --body brick:100,105,0,100,0,.001,1
expect 0 "lies outside" $model e.hdf $box --body brick:-100,100,0,100,0,100,1 --allow mass-outside --force
within "$(figure mass_outside)" 999999.99 1000000.01 "mass outside"
expect 3 "lies outside" $model no.hdf $box --body ball:100,50,50,30,1
expect 0 "" $model e.hdf $box --body ball:100,100,100,30,1 --allow mass-outside --force
within "$(awk -v m="$(figure mass_outside)" 'BEGIN { print m / (4 / 3 * atan2(0, -1) * 27000) }')" .87499 .87501 "share of a ball beside a corner"
expect 0 "" $model e.hdf $box --body ring:100,50,10,40,0,50,1 --allow mass-outside --force
within "$(awk -v m="$(figure mass_outside)" -v a="$(figure mass_of_model)" 'BEGIN { print m / a }')" .49999 .50001 "share of a ring"
expect 0 "" $model e.hdf $box --body ball:50,50,50,50,1 --force # touches the box all round
expect 3 "lies outside" $model no.hdf --ubc-mesh f.msh --ubc-model f.mod --scale 1 --box 0,5,0,10,0,20 --nodes 3,3,5
