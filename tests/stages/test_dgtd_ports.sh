# Lumped ports: a line between plates with a port at either end against its exact S-parameters and impedances, reciprocity,
# the balance of energy, ranks, restart, an end by decay, Touchstone; and what is refused.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"
geometry line 'Box(1) = {0, 0, 0, 1, .2, .2};
Physical Volume("air", 1) = {1};
Physical Surface("one", 11) = {1};
Physical Surface("two", 12) = {2};
Physical Surface("sides", 13) = {3, 4};
Physical Surface("plates", 14) = {5, 6};
Mesh.MeshSizeMin = .1; Mesh.MeshSizeMax = .1;'
meshed line --parts 3
setup="penstock-dgtd-setup line.h5 OUT --force -q --order 2 --material default:eps=1 --boundary plates:pec --boundary sides:pmc"
open="--boundary one:pmc --boundary two:pmc"
drive=width=1.5ns:frequency=300e6
z=376.730313668
${setup/OUT/one.m.h5} $open --port one:faces=one:r=$z:$drive --port two:faces=two:r=$z > /dev/null
${setup/OUT/two.m.h5} $open --port one:faces=one:r=$z --port two:faces=two:r=$z:$drive > /dev/null
# the second run ends in other networks, which S and Z do not depend on
${setup/OUT/other.m.h5} $open --port one:faces=one:r=$z:l=1e-8:connect=series:z0=$z \
    --port two:faces=two:r=300:c=2e-13:connect=parallel:z0=$z:$drive > /dev/null
for run in one two other; do
    dgtd $run.m.h5 $run.h5 --time 30ns --precision fp64 --balance --energy-every 1
done
penstock-inspect --csv one.h5 | awk -F, 'NR > 1 { d = $8 < 0 ? -$8 : $8; if (d > worst) worst = d; if ($7 > most) most = $7 }
    END { print "imbalance", worst / most; exit !(most > 0 && worst < 1e-13 * most) }'

# S by frequency: |S11| below 1e-3, S21 = exp(-ikL) to 3e-3, S21 = S12
check_s() {
    awk -v equal="$1" '!/^[!#]/ { n++; k = 2 * 3.14159265358979 * $1 / 299792458
        near(sqrt($2^2 + $3^2), 1e-3); near(sqrt(($4 - cos(k))^2 + ($5 + sin(k))^2), 3e-3)
        near(sqrt(($4 - $6)^2 + ($5 - $7)^2), equal); near(sqrt($8^2 + $9^2), 1e-3) }
        END { exit !(n == 3) || bad }
        function near(x, bound) { if (!(x < bound)) { print "at", $1, "Hz", x, "is not below", bound; bad = 1 } }' line.s2p
}
frequencies="--frequencies 150MHz,300MHz,450MHz"
penstock-dgtd-ports -q one.ports.h5 two.ports.h5 s.h5 $frequencies --touchstone line.s2p > /dev/null
grep -qx "# Hz S RI R 376.730313668" line.s2p
check_s 1e-4
penstock-dgtd-ports -q one.ports.h5 other.ports.h5 s.h5 $frequencies --touchstone line.s2p --force > /dev/null
check_s 2e-3
penstock-dgtd-ports -q one.ports.h5 other.ports.h5 z.h5 --frequencies 200MHz,250MHz --quantity z > /dev/null
penstock-inspect --csv z.h5 | awk -F, -v z=$z 'NR > 1 { n++; k = 2 * 3.14159265358979 * $1 / 299792458
    if (($3 - z * cos(k) / sin(k))^2 + $2^2 > (2e-3 * z)^2 || ($5 - z / sin(k))^2 + $4^2 > (4e-3 * z)^2) { print; exit 1 } }
    END { exit n != 2 }'

# the end by decay, the same after a stop
penstock-dgtd-march -q one.m.h5 decay.h5 --time 200ns --until-decay 30dB --precision fp64 --json > out.json
awk -v left="$(figure out.json left)" -v steps="$(figure out.json steps)" \
    'BEGIN { print steps, "steps,", left, "left"; exit !(left > 0 && left <= 1e-3 && steps % 64 == 0 && steps < 1000) }'

# bits: stopped and continued; ranks
partly dgtd one.m.h5 part.h5 --time 9ns --precision fp64 --stop-after 1e-3
dgtd one.m.h5 part.h5 --time 9ns --precision fp64
dgtd one.m.h5 whole.h5 --time 9ns --precision fp64
identical part.ports.h5 whole.ports.h5
mpirun -n 2 penstock-dgtd-march -q one.m.h5 ranks.h5 --time 9ns --precision fp64 > /dev/null
penstock-compare -q ranks.ports.h5 whole.ports.h5 --tolerance 1e-10 > /dev/null

# local steps: those of a port's elements are whole ones, else its current meets more inductance than there is (6 % more here)
geometry strip 'Box(1) = {-.1, -.1, 0, .2, .2, .05};
Rectangle(100) = {-.01, 0, 0, .02, .05};
Rotate {{1, 0, 0}, {0, 0, 0}, Pi / 2} { Surface{100}; }
BooleanFragments{ Volume{1}; Delete; }{ Surface{100}; Delete; }
e = 1e-6;
port() = Surface In BoundingBox{-.01-e, -e, -e, .01+e, e, .05+e};
plates() = Surface In BoundingBox{-1, -1, -e, 1, 1, e}; plates() += Surface In BoundingBox{-1, -1, .05-e, 1, 1, .05+e};
sides() = Surface{:}; sides() -= {port(), plates()};
Physical Volume("air", 1) = {1};
Physical Surface("port", 11) = {port()}; Physical Surface("sides", 13) = {sides()}; Physical Surface("plates", 14) = {plates()};
Field[1] = Ball; Field[1].Radius = .03; Field[1].ZCenter = .025; Field[1].VIn = .02; Field[1].VOut = .07; Field[1].Thickness = .05;
Field[2] = Ball; Field[2].Radius = .008; Field[2].XCenter = .09; Field[2].YCenter = .09; Field[2].VIn = .006; Field[2].VOut = .07; Field[2].Thickness = .06;
Field[3] = Min; Field[3].FieldsList = {1, 2};
Background Field = 3; Mesh.MeshSizeExtendFromBoundary = 0; Mesh.MeshSizeFromPoints = 0;'
meshed strip
for local in off auto; do
    penstock-dgtd-setup strip.h5 $local.m.h5 -q --order 1 --local-steps $local --material default:eps=1 --boundary plates:pec --boundary sides:pmc \
        --port one:faces=port:r=40:width=.7ns:frequency=500e6 > $local.txt
    dgtd $local.m.h5 $local.h5 --time 12ns --precision fp64
    penstock-dgtd-ports -q $local.ports.h5 $local.z.h5 --frequencies 500MHz,600MHz --quantity z --allow undecayed > /dev/null 2>&1
    penstock-inspect --csv $local.z.h5 | awk -F, 'NR > 1 { print $1, -$3 }' > $local.x
done
grep -q "levels  *2" auto.txt
dgtd auto.m.h5 memory.h5 --time .5ns --precision fp64
dgtd auto.m.h5 file.h5 --time .5ns --precision fp64 --state file --visit-steps 2 --force # in a range of the port, or of smaller steps
identical memory.h5 file.h5
identical memory.ports.h5 file.ports.h5
paste -d ' ' off.x auto.x | awk '{ d = $4 / $2 - 1; print $1, "Hz", $2, "ohm, by local steps", $4; if (!(d^2 < 1e-6)) exit 1 }'

# fields that the march has not seen the end of
dgtd one.m.h5 short.one.h5 --time 6ns 2> /dev/null
dgtd two.m.h5 short.two.h5 --time 6ns 2> /dev/null
# runs whose media differ, by a little, make no S-parameters
${setup/OUT/lossy.m.h5} $open --material default:eps=1.01 --port one:faces=one:r=$z --port two:faces=two:r=$z:$drive > /dev/null
dgtd lossy.m.h5 lossy.h5 --time 3ns --precision fp64 2> /dev/null
fails 3 "of models whose media, conditions, layer or order differ" penstock-dgtd-ports one.ports.h5 lossy.ports.h5 bad.h5 --frequencies 300MHz
# files of older programs do not say of what body they are, but more power out than in, and S that is not symmetric, do
${setup/OUT/dense.m.h5} $open --material default:eps=2:sigma=.05 --port one:faces=one:r=$z --port two:faces=two:r=$z:$drive > /dev/null
dgtd dense.m.h5 dense.h5 --time 30ns --precision fp64
if "${PENSTOCK_PYTHON:-/usr/bin/python3}" -c 'import h5py; del h5py.File("dense.ports.h5", "a").attrs["body_hash"]' 2> /dev/null; then
    fails 3 "(--allow active" penstock-dgtd-ports one.ports.h5 dense.ports.h5 bad.h5 --frequencies 300MHz --trust
    fails 3 "is not symmetric by up to" penstock-dgtd-ports one.ports.h5 dense.ports.h5 bad.h5 --frequencies 300MHz --trust --allow active
fi
penstock-mesh-partition line.hdf whole.h5 -q > /dev/null # another partition is the same body
${setup/line.h5 OUT/whole.h5 whole.m.h5} $open --port one:faces=one:r=$z --port two:faces=two:r=$z:$drive > /dev/null
dgtd whole.m.h5 whole.h5 --time 30ns --precision fp64
penstock-dgtd-ports -q one.ports.h5 whole.ports.h5 s.h5 $frequencies --touchstone line.s2p --force > /dev/null
check_s 1e-4
fails 3 "of the largest energy is in the fields still" penstock-dgtd-ports short.one.ports.h5 short.two.ports.h5 bad.h5 --frequencies 300MHz
[ ! -e bad.h5 ]
fails 3 "S there is the rounding" penstock-dgtd-ports one.ports.h5 two.ports.h5 bad.h5 --frequencies 8GHz
fails 2 "as many runs as there are ports" penstock-dgtd-ports one.ports.h5 bad.h5 --frequencies 300MHz
fails 3 "not independent" penstock-dgtd-ports one.ports.h5 one.ports.h5 bad.h5 --frequencies 300MHz
fails 2 "are a file .s2p" penstock-dgtd-ports one.ports.h5 two.ports.h5 bad.h5 --frequencies 300MHz --touchstone x.s1p
fails 2 "decibels above 0" penstock-dgtd-march one.m.h5 bad.h5 --steps 9 --until-decay -3dB

# out of core: a port is in one range of its own, whose visits make its steps; the same bits, also stopped and continued
${setup/OUT/three.m.h5} $open --port one:faces=one:r=$z:$drive --port two:faces=two:r=100:l=1e-8:c=1e-12:connect=parallel > /dev/null
dgtd three.m.h5 core.h5 --time 6ns --precision fp64 --frequency 300e6 --balance --energy-every 1
for visit in 1 5; do
    dgtd three.m.h5 file.h5 --time 6ns --precision fp64 --frequency 300e6 --balance --energy-every 1 --state file --visit-steps $visit --force
    identical core.ports.h5 file.ports.h5
    same core file
done
dgtd three.m.h5 tiles.h5 --time 6ns --precision fp64 --frequency 300e6 --balance --energy-every 1 --visit-steps 3
identical core.ports.h5 tiles.ports.h5
partly dgtd three.m.h5 cut.h5 --time 6ns --precision fp64 --frequency 300e6 --balance --energy-every 1 --state file --stop-after 1e-3
dgtd three.m.h5 cut.h5 --time 6ns --precision fp64 --frequency 300e6 --balance --energy-every 1 --state file
identical core.ports.h5 cut.ports.h5

# power: all that the ports of a line of lossy material accept is absorbed in it
${setup/OUT/lossy.m.h5} $open --material default:eps=2:sigma=.01:rho=1000 --port one:faces=one:r=$z:$drive --port two:faces=two:r=$z > /dev/null
dgtd lossy.m.h5 lossy.h5 --time 40ns --precision fp64 --frequency 300e6
penstock-dgtd-sar -q lossy.phasors.h5 line.hdf lossy.hdf --accepted-power 2 --grid 0 --json > out.json
awk -v a="$(figure out.json absorbed)" 'BEGIN { print a, "W of 2 W"; exit !(a > 1.996 && a < 2.004) }'
fails 2 "exclude each other" penstock-dgtd-sar lossy.phasors.h5 line.hdf bad.hdf --accepted-power 1 --power 1

# gain of what comes in: V_s^2/(8 R) of a unit, less what S11 sends back
geometry strips 'Box(1) = {-.3, -.3, -.3, .6, .6, .6};
Rectangle(100) = {-.02, .02, 0, .04, .1}; Rectangle(101) = {-.02, -.12, 0, .04, .1}; Rectangle(102) = {-.02, -.02, 0, .04, .04};
BooleanFragments{ Volume{1}; Delete; }{ Surface{100:102}; Delete; }
e = 1e-6;
arms() = Surface In BoundingBox{-.02-e, .02-e, -e, .02+e, .12+e, e}; arms() += Surface In BoundingBox{-.02-e, -.12-e, -e, .02+e, -.02+e, e};
port() = Surface In BoundingBox{-.02-e, -.02-e, -e, .02+e, .02+e, e};
outer() = Surface{:}; outer() -= {port(), arms()};
Physical Volume("air", 1) = {1};
Physical Surface("port", 11) = {port()}; Physical Surface("arms", 12) = {arms()}; Physical Surface("outer", 13) = {outer()};
Field[1] = Ball; Field[1].Radius = .13; Field[1].VIn = .045; Field[1].VOut = .12; Field[1].Thickness = .15;
Background Field = 1; Mesh.MeshSizeExtendFromBoundary = 0; Mesh.MeshSizeFromPoints = 0;'
meshed strips
penstock-dgtd-setup strips.h5 strips.m.h5 -q --order 1 --material default:eps=1 --boundary outer:absorbing --boundary arms:pec \
    --port feed:faces=port:r=50:axis=0,1,0:width=.8ns:frequency=500e6 > /dev/null
dgtd strips.m.h5 strips.run.h5 --time 10ns --frequency 500e6 2> /dev/null
penstock-dgtd-ports -q strips.run.ports.h5 strips.s.h5 --frequencies 500e6 --allow undecayed > /dev/null 2>&1
for quantity in gain realized; do
    penstock-dgtd-far -q strips.run.phasors.h5 strips.hdf strips.$quantity.h5 --quantity $quantity --direction 90,0 --allow unsettled --json > $quantity.json 2> /dev/null
done
{ penstock-inspect --csv strips.s.h5; penstock-inspect --csv strips.gain.h5; penstock-inspect --csv strips.realized.h5; } |
    awk -F, -v p="$(figure realized.json incident_power)" '/^5/ { n++; if (n == 1) s = $2^2 + $3^2; else x[n] = $2 }
    END { r = x[3] / x[2] / (1 - s); print p, "W comes in;", x[2], "of the accepted power,", x[3], "of it: off by", r - 1
        exit !(n == 3 && p / .0025 > .9999 && p / .0025 < 1.0001 && (r - 1)^2 < 1e-4) }'

# more power that radiates than the ports accept: half of it is said to be accepted
if "${PENSTOCK_PYTHON:-/usr/bin/python3}" -c 'import h5py
a = h5py.File("strips.run.phasors.h5", "a").attrs; a["accepted_power"] = a["accepted_power"] * .5' 2> /dev/null; then
    fails 3 "radiate, and the ports accept" penstock-dgtd-far strips.run.phasors.h5 strips.hdf bad.h5 --quantity gain --direction 90,0 --allow unsettled --trust
    [ ! -e bad.h5 ]
fi

# ports that are none
bad=${setup/OUT/bad.h5}
fails 2 "all zero" $bad $open --port x:faces=one
fails 2 "no element touches it" $bad $open --port x:faces=77:r=50
fails 2 "which shorts it" $bad $open --port x:faces=plates:r=50
fails 2 "touch 4 conductors" $bad $open --port x:faces=sides:r=50
fails 2 "absorbing" $bad --boundary one:absorbing --boundary two:pmc --port x:faces=one:r=50
fails 2 "is not known here" $bad $open --port x:faces=one:r=50:q=1
fails 2 "two ports of this name" $bad $open --port x:faces=one:r=50 --port x:faces=two:r=50
fails 2 "another port has faces" $bad $open --port x:faces=one:r=50 --port y:faces=one:r=50
geometry corner 'Box(1) = {0, 0, 0, .1, .1, .1};
Physical Volume("air", 1) = {1};
Physical Surface("one", 11) = {1}; Physical Surface("two", 12) = {3}; Physical Surface("sides", 13) = {2, 4}; Physical Surface("plates", 14) = {5, 6};
Mesh.MeshSizeMin = 1; Mesh.MeshSizeMax = 1;'
meshed corner
fails 2 "an element between ports" penstock-dgtd-setup corner.h5 bad.h5 -q --material default:eps=1 --boundary plates:pec --boundary sides:pmc \
    --boundary one:pmc --boundary two:pmc --port one:faces=one:r=50 --port two:faces=two:r=50
fails 2 "has its resistance" $bad $open --port x:faces=one:c=1e-12:connect=parallel:$drive
fails 2 "upwind flux damps" $bad $open --flux upwind --port x:faces=one:r=50
