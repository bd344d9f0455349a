# From a brick to marched fields through the programs: the cavity of the numerics guide, the same bits
# for every partition and order of the elements, a sheet of metal that parts a box, the surface of a
# total-field region.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-partition dgtd-setup dgtd-march compare

run() { expect 0 "" penstock-dgtd-march "$@" --precision fp64 --force -q; }
cavity="--material default:eps=1 --boundary outer:pec --source mode:n=1,1,1:amplitude=1,-1,0 --divide 1m"

# ---- the cavity: errors of the guide's table at 0.9 of the limit, T = 1 m ----
cube() { # CELLS ORDER STEPS ERROR
    expect 0 "" penstock-mesh-box cube.hdf --cells "$1" --force
    expect 0 "" penstock-mesh-partition cube.hdf cube.h5 --force
    expect 0 "" penstock-dgtd-setup cube.h5 model.h5 --order "$2" $cavity --force
    run model.h5 run.h5 --steps "$3" --mode-error 1
    within "$(awk -v v="$(figure mode_error)" -v e="$4" 'BEGIN { print v / e }')" .9998 1.0002 "error of P$2, n = $1"
}
cube 4 1 25 1.7728e-1; cube 2 2 21 1.2002e-1; cube 2 3 31 2.6830e-2; cube 1 4 22 7.7976e-2

# ---- parts and orders: the same fields, bit for bit ----
expect 0 "" penstock-mesh-box shaken.hdf --cells 4 --shake 0.25 --region 2:ball:.5,.5,.5,.3
media="--material 1:eps=1 --material 2:eps=3,sigma=.01,rho=1000 --boundary outer:absorbing"
wave="--source plane:dir=1,2,2:pol=2,-2,1:width=0.25m:amplitude=2"
same() { # NAME PARTITION-OPTIONS
    expect 0 "" penstock-mesh-partition shaken.hdf p.h5 $2 --force
    expect 0 "" penstock-dgtd-setup p.h5 m.h5 --order 2 $media $wave --force
    run m.h5 "$1.h5" --steps 40 --probe .3,.4,.5 --probe .7,.7,.2 --frequency 2e8
}
same whole ""
for way in "--order layers" "--parts 3 --method boxes" "--parts 5 --method hilbert --order layers"; do
    same cut "$way"
    for field in electric magnetic phasors; do # rows of elements in another order belong together by their numbers
        expect 0 "" penstock-compare whole.$field.h5 cut.$field.h5 --tolerance 0 --no-attributes
    done
done
expect 0 "/elements/number" penstock-compare whole.phasors.h5 cut.phasors.h5 --tolerance 0
expect 0 "" mpirun -n 3 penstock-dgtd-march m.h5 ranks.h5 --steps 40 --probe .3,.4,.5 --probe .7,.7,.2 --precision fp64 --force -q
expect 0 "" penstock-compare whole.electric.h5 ranks.electric.h5 --tolerance 0

# ---- a sheet at x = 1/2: mode (2, 1, 1) does not feel it, mode (1, 1, 1) is cut in two ----
needs mesh-import
geometry box 'Box(1) = {0, 0, 0, 1, 1, 1};
Rectangle(99) = {0, 0, 0, 1, 1};
Rotate {{0, 1, 0}, {0, 0, 0}, -Pi / 2} { Surface{99}; }
Translate {0.5, 0, 0} { Surface{99}; }
BooleanFragments{ Volume{1}; Delete; }{ Surface{99}; Delete; }
sheet() = Surface In BoundingBox{0.499, -0.1, -0.1, 0.501, 1.1, 1.1};
Physical Surface("sheet", 9) = sheet();
Physical Volume("air", 1) = {Volume{:}};'
expect 0 "" penstock-mesh-import box.geo box.hdf --size 0.3
expect 0 "" penstock-mesh-partition box.hdf box.h5
mode_error() { # MODE BOUNDARIES..: of 1 m of light, relative to the field of the mode
    expect 0 "" penstock-dgtd-setup box.h5 m.h5 --order 2 --material 1:eps=1 --divide 1m --source "$1" "${@:2}" --force
    steps=$(awk '$1 == "dt_metres" { printf "%.0f", 1 / $2 }' out)
    run m.h5 run.h5 --steps "$steps" --mode-error 8
}
two=mode:n=2,1,1:amplitude=1,-1,-1 one=mode:n=1,1,1:amplitude=1,-1,0
mode_error $two --boundary outer:pec --boundary sheet:pec; near mode_error 1e-3 0.2; with=$(figure mode_error)
mode_error $two --boundary outer:pec; within "$(awk -v v="$(figure mode_error)" "BEGIN { print v / $with }")" 0.8 1.25 "the sheet's part"
mode_error $one --boundary outer:pec; near mode_error 1e-4 0.06
mode_error $one --boundary outer:pec --boundary sheet:pec; near mode_error 0.3 3
