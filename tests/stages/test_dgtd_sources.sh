# Sources that would give wrong fields: pulses that are not quiet where they enter at t = 0, currents cut by a wall or by
# metal in the mesh; and fields that have not settled when they are transformed.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-partition dgtd-setup dgtd-march dgtd-sar dgtd-far

expect 0 "" penstock-mesh-box cube.hdf --cells 3
expect 0 "" penstock-mesh-partition cube.hdf cube.h5
setup() { # CODE TEXT OPTIONS: of a unit cube of air
    expect "$1" "$2" penstock-dgtd-setup cube.h5 m.h5 --order 1 --material default:eps=1 --boundary outer:absorbing --force "${@:3}"
}
wave=plane:dir=0,0,1:pol=1,0,0:width=1ns

# half of the cube is behind a front at its centre: without a delay of its own the pulse waits, a given one is refused
setup 0 "" --source $wave
! grep -q "its delay is" err || fail "a quiet wave was changed"
setup 0 "its delay is" --source $wave:at=.5,.5,.5
setup 3 "--allow early" --source $wave:at=.5,.5,.5:delay=3.8ns
setup 0 "" --source $wave:at=.5,.5,.5:delay=5.4ns
setup 0 "warning" --source $wave:at=.5,.5,.5:delay=3.8ns --allow early
setup 3 "--allow early" --source $wave:at=.5,.5,.5:delay=1ns:shape=ramp
setup 0 "" --source $wave:at=.5,.5,0:delay=0ns:shape=ramp
setup 3 "--allow early" --source current:at=.5,.5,.5:axis=0,0,1:radius=.4:moment=1e-12:width=1ns:delay=1ns

# the ball of a current
setup 0 "" --source current:at=.5,.5,.5:axis=0,0,1:radius=.4999:moment=1e-12:width=1ns
setup 3 "cut by 2 faces with a condition" --source current:at=.5,.45,.36:axis=0,0,1:radius=.365:moment=1e-12:width=1ns
setup 3 "--allow cut" --source current:at=.5,.5,.05:axis=0,0,1:radius=.4:moment=1e-12:width=1ns
setup 0 "warning" --source current:at=.5,.5,.05:axis=0,0,1:radius=.4:moment=1e-12:width=1ns --allow cut

# an incident dipole on a face of the boundary, whose field no polynomial has; half an edge (.236) from it
dipole=dipole:axis=0,0,1:moment=1e-12:width=3ns
setup 3 "edges from a face at which its field enters" --source $dipole:at=1.0001,.5,.5
setup 0 "warning" --source $dipole:at=1.0001,.5,.5 --allow close-source
setup 3 "--allow close-source" --source $dipole:at=1.2,.5,.5
setup 0 "" --source $dipole:at=1.3,.5,.5
# a wave that is 100 m away, and a dipole, when the march ends: their transforms would be 0 per unit of them
for source in $wave:at=0,0,-100 $dipole:at=101,.5,.5; do
    setup 0 "" --source $source
    expect 3 "the source has 0 there" penstock-dgtd-march m.h5 no.h5 --time 30ns --frequency 1e8
    expect 3 "(--allow faint" penstock-dgtd-march m.h5 no.h5 --time 320ns --frequency 1e8
    expect 0 "" penstock-dgtd-march m.h5 late.h5 --time 400ns --frequency 1e8 --force
done

# pulses that cells of a third cannot carry: 265 GHz of one without a carrier, a carrier of 2 GHz; where it conducts there is no wave
setup 3 "at 2.65e+11 Hz" --source plane:dir=0,0,1:pol=1,0,0:width=1ps
setup 3 "--allow short-pulse" --source current:at=.5,.5,.5:axis=0,0,1:radius=.4:moment=1e-12:width=3ns:frequency=2e9
setup 0 "fewer than two nodes a wavelength" --source plane:dir=0,0,1:pol=1,0,0:width=1ps --allow short-pulse
setup 0 "" --source current:at=.5,.5,.5:axis=0,0,1:radius=.4:moment=1e-12:width=.1ns:shape=ramp
# half of the cube is water: eps 2 at infinite frequency and 80 at that of the pulse
expect 0 "" penstock-mesh-box two.hdf --cells 4 --region 2:box:.5,0,0,1,1,1
expect 0 "" penstock-mesh-partition two.hdf two.h5
for half in "" :debye=78/8ps; do
    code=0; [ -z "$half" ] || code=3
    expect $code "" penstock-dgtd-setup two.h5 m.h5 --order 1 --material 1:eps=2$half --material 2:eps=1 --boundary outer:pec --force \
        --source current:at=.2,.5,.5:axis=0,0,1:radius=.15:moment=1e-12:width=3ns:frequency=3e8
done
expect 0 "" penstock-dgtd-setup cube.h5 m.h5 --order 1 --material default:eps=1,sigma=1e6 --boundary outer:pec --force \
    --source current:at=.5,.5,.5:axis=0,0,1:radius=.4:moment=1e-12:width=1ps

# settled or not
setup 0 "" --source $wave
expect 0 "have not died away" penstock-dgtd-march m.h5 short.h5 --time 5e-9 --frequency 2e8 --force -q
expect 3 "had not died away" penstock-dgtd-sar short.phasors.h5 cube.hdf sar.hdf --grid 0 -q
expect 3 "had not died away" penstock-dgtd-far short.phasors.h5 cube.hdf far.h5 --directions 4 -q
[ ! -e sar.hdf ] && [ ! -e far.h5 ] || fail "something is left of fields that had not died away"
expect 0 "had not died away" penstock-dgtd-sar short.phasors.h5 cube.hdf sar.hdf --grid 0 -q --allow unsettled
expect 0 "had not died away" penstock-dgtd-far short.phasors.h5 cube.hdf far.h5 --directions 4 -q --allow unsettled
expect 0 "" penstock-dgtd-march m.h5 long.h5 --time 4e-8 --frequency 2e8 --force -q
! grep -q "died away" err || fail "a warning of fields that are gone"
setup 0 "" --source $wave:frequency=2e8:shape=ramp
expect 0 "are not steady" penstock-dgtd-march m.h5 short.h5 --periods 2 --energy-every 1 --frequency 2e8 --transform-periods 1 --force -q
expect 0 "" penstock-dgtd-march m.h5 long.h5 --periods 8 --energy-every 1 --frequency 2e8 --transform-periods 1 --force -q
! grep -q "not steady" err || fail "a warning of steady fields"

# a source that never ends hides what grows: W is below what E has of it
setup 0 "" --source current:at=.5,.5,.5:axis=0,0,1:radius=.4:moment=1e-12:width=4ns:shape=ramp:frequency=1e8
expect 1 "the march is unstable" penstock-dgtd-march m.h5 wild.h5 --steps 120 --dt-scale 1.2 --fresh -q
expect 0 "" penstock-dgtd-march m.h5 tame.h5 --steps 400 --force -q
