# Perfectly matched layers: grown on a box and tagged, what they return, restart, file, tiles and ranks to the same bits, and what is
# refused before any step.
. "$ROOT/tests/stages/lib.sh"
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
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

# Flat elements have the upwind flux in the layer: no growth, same bits.
setup 0 "upwind in the layer" --source $source --pml auto:layers=2:thickness=.2:reflection=.01
march=(m.h5 --steps 400 --probe .4,.6,.5)
dgtd m.h5 flat.h5 "${march[@]:1}"
expect 75 "" penstock-dgtd-march m.h5 part.h5 "${march[@]:1}" --stop-after 0.03 -q --force
dgtd m.h5 part.h5 "${march[@]:1}"
same flat part
dgtd m.h5 file.h5 "${march[@]:1}" --state file --visit-steps 4 --force
same flat file
expect 2 "unstable with the upwind flux" penstock-dgtd-march m.h5 no.h5 --steps 5 --dt-scale 1.2 -q

# ---- a pulse along a guide of metal and magnetic walls, at normal incidence: hardly any of it stays ----
expect 0 "" penstock-mesh-box guide.hdf --cells 14,2,2 --size 1.4,.2,.2
expect 0 "" penstock-mesh-partition guide.hdf guide.h5
expect 0 "" penstock-dgtd-setup guide.h5 g.h5 --order 2 --material default:eps=1 --boundary 101:absorbing --boundary 102:absorbing \
    --boundary 103:pmc --boundary 104:pmc --boundary 105:pec --boundary 106:pec --pml auto --allow cut -q \
    --source current:at=.7,.1,.1:axis=0,0,1:radius=.35:moment=1e-12:width=3ns:frequency=300e6
grep -Eq "layer_elements +288" out || fail "6 rows of 3 tetrahedra on 16 faces are the layer of P2"
expect 0 "" penstock-dgtd-march g.h5 g.out.h5 --time 35e-9 --json -q
energy() { grep -oE "\"$1\": *[0-9.e+-]+" out | grep -oE "[0-9.e+-]+$"; }
within "$(awk "BEGIN { print $(energy electric_energy) / $(energy largest_electric_energy) }")" 0 2e-5 "energy that stays"

# ---- what a guide's layer sends back, against the wave that it was sent: at normal incidence and at 80 degrees ----
# Pulses, transformed at 300 MHz damped by `damping` of it, as near its cut-off a guide rings for hundreds of periods; waves are those
# of the mesh, fitted to a place a cell, and counted at the metal behind the layer, so that damping itself takes nothing off.
returned() { # ORDER CELLS_ALONG CELL SECONDS WALL DAMPING
    local order=$1 along=$2 cell=$3 i probes=
    expect 0 "" penstock-mesh-box guide.hdf --cells $along,1,1 --size $(awk "BEGIN { print $along * $cell }"),$cell,$cell --force
    expect 0 "" penstock-mesh-partition guide.hdf guide.h5 --force
    expect 0 "" penstock-dgtd-setup guide.h5 guide.m.h5 --order $order --material default:eps=1 --boundary 101:absorbing --boundary 102:absorbing \
        --boundary 103:$5 --boundary 104:pmc --boundary 105:pec --boundary 106:pec --pml auto:flux=centred --allow cut --allow early --force -q --json \
        --source current:at=$(awk "BEGIN { print 2 * $cell \",\" .999 * $cell }"),0:axis=0,0,1:radius=$(awk "BEGIN { print 2 * $cell }"):moment=1e-12:width=1.5m:delay=8m:frequency=299792458
    local thickness=$(sed -n 's/.*"layer_thickness": \([0-9.e+-]*\).*/\1/p' out)
    for ((i = 4; i < along; ++i)); do probes+=" --probe $(awk "BEGIN { print ($i + .63) * $cell \",\" .61 * $cell \",\" .37 * $cell }")"; done
    expect 0 "" penstock-dgtd-march guide.m.h5 guide.out.h5 --time $4 $probes --energy-every 1000 --force -q
    penstock-inspect --csv guide.out.electric.h5 > guide.csv
    python3 "$ROOT/tests/support/returned.py" guide.csv $cell $6 $(awk "BEGIN { print ($along - 4.63) * $cell + $thickness }")
}
within "$(returned 4 9 .2 60e-9 pmc 0)" -200 -60 "dB at normal incidence"
within "$(returned 3 12 .15 60e-9 pmc 0)" -200 -60 "dB at normal incidence, four rows"
within "$(returned 4 8 .253857 320e-9 pec .012)" -200 -45 "dB at 80 degrees"

# ---- a plane wave through the surface of the total field, the layer beyond: outside of the surface there is next to nothing; the same bits ----
expect 0 "" penstock-mesh-box total.hdf --cells 5
expect 0 "" penstock-mesh-partition total.hdf total.h5
expect 0 "layer_elements" penstock-dgtd-setup total.h5 total.m.h5 --order 2 --material default:eps=1 --boundary outer:absorbing -q \
    --total box:.2,.2,.2,.8,.8,.8 --pml auto:layers=2:reflection=.01 --source plane:dir=.6,0,.8:pol=0,1,0:width=2ns:frequency=150e6
march=(total.m.h5 --time 18e-9 --probe .5,.5,.5 --probe .1,.5,.5 --probe .9,.6,.6)
dgtd total.m.h5 total.h5 "${march[@]:1}" --force
penstock-inspect --csv total.electric.h5 > total.csv
within "$(awk -F, 'NR > 1 { for (i = 2; i <= 10; ++i) { v = $i < 0 ? -$i : $i; k = i > 4; if (v > m[k]) m[k] = v } }
    END { if (m[0] > .9 && m[0] < 1.1) print m[1] / m[0]; else print "no wave" }' total.csv)" 0 1e-2 "field outside of the surface"
expect 75 "" penstock-dgtd-march total.m.h5 part.h5 "${march[@]:1}" --state file --stop-after 0.03 -q --force
dgtd total.m.h5 part.h5 "${march[@]:1}" --state file --visit-steps 4
same total part

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
setup 2 "thinner than a thousandth" --source $source --pml auto:thickness=1e-9
setup 2 "reflection" --source $source --pml auto:reflection=2
setup 2 "kappa" --source $source --pml auto:kappa=.5
setup 2 "alpha" --source $source --pml auto:alpha=-1
setup 2 "grading" --source $source --pml auto:grading=0
setup 2 "sigma" --source $source --pml auto:sigma=1
setup 3 "conducts" --source $source --pml auto --material default:eps=1,sigma=.1
setup 3 "density" --source $source --pml auto --material default:eps=1,rho=1000
setup 2 "flux is centred or upwind" --source $source --pml auto:flux=sideways
setup 3 "fields grow above 6.7" --source $source --pml auto:layers=2:flux=centred
setup 3 "as high along it as it is wide" --source $source --pml auto:layers=3:reflection=1e-3:thickness=.2:flux=centred
setup 0 "" --source $source --pml auto:layers=2 --flux upwind
setup 0 "" --source $source --pml auto:layers=2:flux=centred --allow strong-layer
setup 0 "upwind in the layer" --source $source --pml auto:layers=2
setup 2 "is unstable with the upwind flux in the layer" --source $source --pml auto:layers=2 --dt 3e-10
setup 2 "do not go together" --source mode:n=1,1,1:amplitude=1,-1,0 --pml auto
expect 3 "reaches into the layer" penstock-dgtd-setup cube.h5 m.h5 --order 1 --material default:eps=1 --boundary outer:absorbing \
    --source current:at=.5,.5,.25:axis=0,0,1:radius=.3:moment=1e-12:width=1.5ns --pml auto --force -q --allow cut
setup 0 "" --source $source --pml auto:layers=3:reflection=1e-3
expect 2 "lies in the matched layer" penstock-dgtd-march m.h5 no.h5 --steps 2 --probe 1.2,.5,.5 -q
expect 2 "a model has one layer" penstock-dgtd-setup cube.h5 m.h5 --material default:eps=1 --boundary outer:absorbing --source $source --pml auto --pml auto:layers=3 --force -q
expect 2 "there are none" penstock-dgtd-setup cube.h5 m.h5 --material default:eps=1 --boundary outer:pec --source $source --pml auto --force -q
