# Ports by modes: an empty rectangular guide, an inductive iris in half a guide against mode matching (cases/dgtd-waveguide-step/junctions.py), a
# coaxial line with a bead against the formula of lines, cut-offs of a round guide; a moved plane, ranks, restart; refusals.
set -eu
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
. "$ROOT/tests/support/guides.bash"
# an empty guide: nothing comes back, the phase is that of its length; planes moved by half of it, S21 = 1
geometry guide 'Box(1) = {0, 0, 0, .04, .02286, .01016};
Physical Volume("air", 1) = {1};
Physical Surface("one", 11) = {1};
Physical Surface("two", 12) = {2};
Physical Surface("walls", 13) = {3, 4, 5, 6};
Mesh.MeshSizeMin = .006; Mesh.MeshSizeMax = .006;'
meshed guide --parts 2
setup="penstock-dgtd-setup -q guide.h5 --force --order 2 --material default:eps=1 --boundary walls:pec --boundary one:pmc --boundary two:pmc"
band=8.5GHz,10GHz,11.5GHz time=2.2ns
two guide te10 width=160ps:frequency=10e9 $band 2> warned
grep -q "next mode of the guide propagates from 1.311e+10 Hz" warned
for f in 8.5e9 10e9 11.5e9; do
    awk -v f=$f 'BEGIN { pi = 3.14159265358979; k = 2 * pi * f / 299792458; p = sqrt(k^2 - (pi / .02286)^2) * .04
        print f, 0, 0, cos(p), -sin(p) }'
done > guide.exact
near_exact guide.s2p guide.exact 3e-3 5e-3
penstock-dgtd-ports -q guide.1.ports.h5 guide.2.ports.h5 moved.h5 --frequencies $band --touchstone moved.s2p --shift one=.02 --shift two=20mm > /dev/null
awk '{ print $1, 0, 0, 1, 0 }' guide.exact > moved.exact
near_exact moved.s2p moved.exact 3e-3 5e-3
grep -q "^# Hz S RI R 1$" guide.s2p
grep -q "a TE mode with a cut-off of 6.557" guide.s2p

# bits and ranks
partly dgtd guide.1.m.h5 part.h5 --time .3ns --stop-after 1e-3
dgtd guide.1.m.h5 part.h5 --time .3ns
dgtd guide.1.m.h5 whole.h5 --time .3ns
identical part.ports.h5 whole.ports.h5
dgtd guide.1.m.h5 one.h5 --time .3ns --precision fp64
mpirun -n 2 penstock-dgtd-march -q guide.1.m.h5 ranks.h5 --time .3ns --precision fp64 > /dev/null
penstock-compare -q ranks.ports.h5 one.ports.h5 --tolerance 1e-10 > /dev/null

# half of a guide with an iris, a magnetic wall in its middle; elements in two orders, for local steps
geometry iris 'a = .01143; b = .003; l = .015; t = .002; d = .005; e = 1e-6;
Rectangle(1) = {0, 0, 0, l, a}; Rectangle(2) = {l, 0, 0, t, d}; Rectangle(3) = {l+t, 0, 0, l, a};
BooleanFragments{ Surface{1}; Delete; }{ Surface{2,3}; Delete; }
Extrude {0,0,b} { Surface{:}; }
Physical Volume("air", 1) = {Volume{:}};
one() = Surface In BoundingBox{-e,-e,-e, e,a+e,b+e};
two() = Surface In BoundingBox{2*l+t-e,-e,-e, 2*l+t+e,a+e,b+e};
mid() = Surface In BoundingBox{-e,-e,-e, 2*l+t+e,e,b+e};
inner() = Surface In BoundingBox{l-e,-e,-e, l+e,d+e,b+e};
inner() += Surface In BoundingBox{l+t-e,-e,-e, l+t+e,d+e,b+e};
rest() = Surface{:}; rest() -= {one(), two(), mid(), inner()};
Physical Surface("one", 11) = {one()}; Physical Surface("two", 12) = {two()};
Physical Surface("middle", 13) = {mid()}; Physical Surface("walls", 14) = {rest()};
corner() = Point In BoundingBox{l-e,d-e,-e, l+t+e,d+e,b+e};
Field[1] = Distance; Field[1].PointsList = {corner()};
Field[2] = Threshold; Field[2].InField = 1; Field[2].SizeMin = .002; Field[2].SizeMax = .004; Field[2].DistMin = .0005; Field[2].DistMax = .008;
Background Field = 2;
Mesh.MeshSizeExtendFromBoundary = 0; Mesh.MeshSizeFromPoints = 0;'
meshed iris --parts 2
setup="penstock-dgtd-setup -q iris.h5 --force --order 2 --local-steps auto --material default:eps=1 --boundary walls:pec --boundary middle:pmc --boundary one:pmc --boundary two:pmc"
time=3ns
two iris 1 width=160ps:frequency=10.3e9 9GHz,10GHz,11.5GHz --shift one=15mm --shift two=15mm
python3 "$ROOT/cases/dgtd-waveguide-step/junctions.py" iris .02286 .010 .002 9e9 10e9 11.5e9 > iris.exact
near_exact iris.s2p iris.exact .01 .01

# a quarter of a coaxial line with a bead
geometry coax 'l = .006; m = .008; a = .0015; b = .00345; L = 2*l+m; e = 1e-6;
Cylinder(1) = {0,0,0, l,0,0, b, Pi/2}; Cylinder(2) = {l,0,0, m,0,0, b, Pi/2}; Cylinder(3) = {l+m,0,0, l,0,0, b, Pi/2};
Cylinder(4) = {-l,0,0, 4*l+m,0,0, a, 2*Pi};
BooleanDifference(5) = { Volume{1}; Delete; }{ Volume{4}; };
BooleanDifference(6) = { Volume{2}; Delete; }{ Volume{4}; };
BooleanDifference(7) = { Volume{3}; Delete; }{ Volume{4}; Delete; };
v() = BooleanFragments{ Volume{5}; Delete; }{ Volume{6,7}; Delete; };
Physical Volume("air", 1) = {5, 7}; Physical Volume("bead", 2) = {6};
one() = Surface In BoundingBox{-e,-b-e,-b-e, e,b+e,b+e};
two() = Surface In BoundingBox{L-e,-b-e,-b-e, L+e,b+e,b+e};
cut() = Surface In BoundingBox{-e,-b-e,-e, L+e,b+e,e}; cut() += Surface In BoundingBox{-e,-e,-b-e, L+e,e,b+e};
inn() = Surface In BoundingBox{l-e,-b-e,-b-e, l+e,b+e,b+e}; inn() += Surface In BoundingBox{l+m-e,-b-e,-b-e, l+m+e,b+e,b+e};
core() = Surface In BoundingBox{-e,-a-e,-a-e, L+e,a+e,a+e};
rest() = Surface{:}; rest() -= {one(), two(), cut(), inn(), core()};
Physical Surface("one", 11) = {one()}; Physical Surface("two", 12) = {two()}; Physical Surface("cut", 13) = {cut()};
Physical Surface("shield", 14) = {rest()}; Physical Surface("core", 15) = {core()};
Mesh.MeshSizeMin = .0015; Mesh.MeshSizeMax = .0015;'
meshed coax --parts 2
setup="penstock-dgtd-setup -q coax.h5 --force --order 2 --material air:eps=1 --material bead:eps=2.1 --boundary shield:pec --boundary core:pec --boundary cut:pmc --boundary one:pmc --boundary two:pmc"
time=.6ns
two coax tem:plus=core width=40ps:frequency=5e9 2GHz,5GHz,8GHz --shift one=6mm --shift two=6mm
for f in 2e9 5e9 8e9; do
    awk -v f=$f 'BEGIN { pi = 3.14159265358979; n = sqrt(2.1); r = (1 - n) / (1 + n); p = 2 * pi * f / 299792458 * n * .008
        # (1 - q^2), q, 1 - r^2 q^2 with q = e^{-ip}
        nr = 1 - cos(2 * p); ni = sin(2 * p); dr = 1 - r^2 * cos(2 * p); di = r^2 * sin(2 * p); d = dr^2 + di^2
        qr = (1 - r^2) * cos(p); qi = -(1 - r^2) * sin(p)
        print f, r * (nr * dr + ni * di) / d, r * (ni * dr - nr * di) / d, (qr * dr + qi * di) / d, (qi * dr - qr * di) / d }'
done > coax.exact
near_exact coax.s2p coax.exact .01 .02
# of a quarter: 4 times 60 ohm ln(b/a), 3.8 % more by two facets of the core
awk '$1 == "impedance" { print "quarter of a line:", $2, "ohm"; exit !($2 > 199.9 && $2 < 1.05 * 199.9) }' coax.setup

# a round guide: TE11 1.8412/a, both of its directions, then TM01 2.4048/a, TE21 3.0542/a
geometry round 'Cylinder(1) = {0,0,0, 0,0,.01, .01};
Physical Volume("air", 1) = {1};
Physical Surface("wall", 11) = {1}; Physical Surface("far", 12) = {2}; Physical Surface("end", 13) = {3};
Mesh.MeshSizeMin = .004; Mesh.MeshSizeMax = .004;'
meshed round --parts 2
round="penstock-dgtd-setup -q round.h5 round.m.h5 --force --order 2 --material default:eps=4 --boundary wall:pec --boundary far:pec --boundary end:pmc"
for mode in 1:axis=0,1,0=1.8412 2:axis=1,0,0=1.8412 3=2.4048 4:axis=1,0,0=3.0542; do
    want=${mode##*=}
    [ $want != 3.0542 ] || { fails 2 "none has a mean field along the axis" $round --port end:faces=end:mode=${mode%=*}; continue; }
    $round --port end:faces=end:mode=${mode%=*} > round.txt
    awk -v want=$want '$1 == "cutoff" { x = $2 * 2 * 3.14159265358979 * 2 * .01 / 299792458 / want; print want, x
        bad = !(x > 1 && x < 1.03) } END { exit bad }' round.txt
done
fails 2 "2 modes have the cut-off of mode 1" $round --port end:faces=end:mode=1
fails 2 "in rectangles with metal walls" $round --port end:faces=end:mode=te11

# no such port
bad="penstock-dgtd-setup -q guide.h5 bad.h5 --order 2 --material default:eps=1 --boundary walls:pec --boundary two:pmc"
fails 2 "no element touches it" $bad --boundary one:pmc --port x:faces=77:mode=te10
fails 2 "is above the band of the pulse" $bad --boundary one:pmc --port x:faces=one:mode=te10:width=1ns:frequency=5e9
fails 2 "there is no mode te00" $bad --boundary one:pmc --port x:faces=one:mode=te00
fails 2 "does not resolve it" $bad --boundary one:pmc --port x:faces=one:mode=40
fails 2 "a TEM wave goes between two" $bad --boundary one:pmc --port x:faces=one:mode=tem
fails 2 "expected tem, a name like te10" $bad --boundary one:pmc --port x:faces=one:mode=hybrid
fails 2 "is not known here" $bad --boundary one:pmc --port x:faces=one:mode=te10:r=50
fails 2 "which shorts it" $bad --boundary one:pec --port x:faces=one:mode=te10
fails 2 "conducts" ${bad/eps=1/eps=1:sigma=1} --boundary one:pmc --port x:faces=one:mode=te10
fails 2 "another port has faces" $bad --boundary one:pmc --port x:faces=one:mode=te10 --port y:faces=one:mode=te20
fails 2 "do not lie in a plane" ${bad/walls:pec/walls:pmc} --boundary one:pec --port x:faces=walls:mode=1
fails 2 "no port of this name" penstock-dgtd-ports guide.1.ports.h5 guide.2.ports.h5 bad.h5 --frequencies 9GHz --shift three=1mm
fails 2 "is not above the cut-off of port \"one\"" penstock-dgtd-ports guide.1.ports.h5 guide.2.ports.h5 bad.h5 --frequencies 6.5GHz,9GHz
[ ! -e bad.h5 ]
