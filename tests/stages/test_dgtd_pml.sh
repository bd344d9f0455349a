# Perfectly matched layers: grown on a box and tagged, what they return, restart, file, tiles and ranks to the same bits, and what is
# refused before any step.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-partition dgtd-setup dgtd-march dgtd-far compare inspect
. "$ROOT/tests/support/dgtd_march.bash"

# ---- a box of air, a dipole, layers on all sides ----
expect 0 "" penstock-mesh-box cube.hdf --cells 4
expect 0 "" penstock-mesh-partition cube.hdf cube.h5
expect 0 "" penstock-mesh-partition cube.hdf two.h5 --parts 2 --method boxes
source=current:at=.5,.5,.5:axis=0,0,1:radius=.3:moment=1e-12:width=1.5ns
setup() { # CODE TEXT OPTIONS
    expect "$1" "$2" penstock-dgtd-setup cube.h5 m.h5 --order 1 --material default:eps=1 --boundary outer:absorbing --force -q "${@:3}"
}
setup 0 "layer_elements" --source $source --pml auto:layers=2:reflection=.01
grep -Eq "layer_shape +box" out || fail "the layer is about no box"
grep -Eq "layer_elements +2688" out || fail "8^3 - 4^3 cells of six tetrahedra are in the layer"
grep -Eq "faces_absorbing +0" out || fail "faces absorb outside of the layer"
march=(m.h5 --steps 300 --probe .4,.6,.5 --frequency 1e8)
dgtd m.h5 whole.h5 "${march[@]:1}"
expect 75 "" penstock-dgtd-march m.h5 part.h5 "${march[@]:1}" --stop-after 0.03 -q
dgtd m.h5 part.h5 "${march[@]:1}"
same whole part
dgtd m.h5 file.h5 "${march[@]:1}" --state file --visit-steps 4
same whole file
expect 75 "" penstock-dgtd-march m.h5 cut.h5 "${march[@]:1}" --state file --stop-after 0.03 -q
dgtd m.h5 cut.h5 "${march[@]:1}" --state file
same whole cut
penstock-inspect whole.phasors.h5 > out || fail "phasors cannot be read"
expect 0 "" penstock-dgtd-march m.h5 balance.h5 --steps 60 --precision fp64 --balance -q
expect 0 "" penstock-inspect --csv balance.h5
within "$(awk -F, 'NR > 1 { v = $8 < 0 ? -$8 : $8; if (v > m) m = v; if ($7 > s) s = $7 } END { print m / s }' out)" 0 1e-12 "balance"

# ---- a pulse along a guide of metal and magnetic walls, at normal incidence: hardly any of it stays ----
expect 0 "" penstock-mesh-box guide.hdf --cells 14,2,2 --size 1.4,.2,.2
expect 0 "" penstock-mesh-partition guide.hdf guide.h5
expect 0 "" penstock-dgtd-setup guide.h5 g.h5 --order 2 --material default:eps=1 --boundary 101:absorbing --boundary 102:absorbing \
    --boundary 103:pmc --boundary 104:pmc --boundary 105:pec --boundary 106:pec --pml auto --allow cut -q \
    --source current:at=.7,.1,.1:axis=0,0,1:radius=.35:moment=1e-12:width=3ns:frequency=300e6
expect 0 "" penstock-dgtd-march g.h5 g.out.h5 --time 35e-9 --json -q
energy() { grep -oE "\"$1\": *[0-9.e+-]+" out | grep -oE "[0-9.e+-]+$"; }
within "$(awk "BEGIN { print $(energy electric_energy) / $(energy largest_electric_energy) }")" 0 2e-5 "energy that stays"

# two ranks, to rounding
expect 0 "" penstock-dgtd-setup two.h5 m2.h5 --order 1 --material default:eps=1 --boundary outer:absorbing --source $source --pml auto:layers=3:reflection=1e-3 -q
expect 0 "" penstock-dgtd-march m2.h5 one.h5 --steps 60 --probe .4,.6,.5 --precision fp64 -q
if command -v mpirun > /dev/null; then
    ranks 2 penstock-dgtd-march m2.h5 both.h5 --steps 60 --probe .4,.6,.5 --precision fp64 -q > /dev/null || fail "two ranks"
    expect 0 "" penstock-compare one.electric.h5 both.electric.h5 --tolerance 1e-11
fi

# ---- refused, with what to do ----
setup 2 "layers is a whole number" --source $source --pml auto:layers=-3
setup 2 "thickness a length" --source $source --pml auto:thickness=-.1
setup 2 "reflection" --source $source --pml auto:reflection=2
setup 2 "kappa" --source $source --pml auto:kappa=.5
setup 2 "alpha" --source $source --pml auto:alpha=-1
setup 2 "grading" --source $source --pml auto:grading=0
setup 2 "sigma" --source $source --pml auto:sigma=1
setup 3 "conducts" --source $source --pml auto --material default:eps=1,sigma=.1
setup 3 "density" --source $source --pml auto --material default:eps=1,rho=1000
setup 3 "fields grow above 6.7" --source $source --pml auto:layers=2
setup 3 "as high along it as it is wide" --source $source --pml auto:layers=3:reflection=1e-3:thickness=.2
setup 0 "" --source $source --pml auto:layers=2 --flux upwind
setup 0 "" --source $source --pml auto:layers=2 --allow strong-layer
setup 2 "do not go together" --source mode:n=1,1,1:amplitude=1,-1,0 --pml auto
expect 3 "reaches into the layer" penstock-dgtd-setup cube.h5 m.h5 --order 1 --material default:eps=1 --boundary outer:absorbing \
    --source current:at=.5,.5,.25:axis=0,0,1:radius=.3:moment=1e-12:width=1.5ns --pml auto --force -q --allow cut
setup 0 "" --source $source --pml auto:layers=3:reflection=1e-3
expect 2 "lies in the matched layer" penstock-dgtd-march m.h5 no.h5 --steps 2 --probe 1.2,.5,.5 -q
expect 2 "there are none" penstock-dgtd-setup cube.h5 m.h5 --material default:eps=1 --boundary outer:pec --source $source --pml auto --force -q
exit 0
