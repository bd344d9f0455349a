# What tdbem-march, slice-assemble and spectrum find doubtful: pulses that mesh and step do not resolve, that
# are on the body at t = 0, sources inside and close to it, matrices that are not passive, target strengths of
# point sources and beyond the band. Each is refused, says what to do, and goes on if allowed.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 1
assemble="penstock-slice-assemble sphere1.h5"
$assemble s.h5 --courant 2 --speed 1 --formulation sound-hard -q > /dev/null
go="penstock-tdbem-march s.h5 sphere1.h5 out.h5 --steps 60"

# the certificate: a good one is shown and says nothing, a bad one and none are told
penstock-inspect s.h5 > said.txt
grep -q "verdict *passive" said.txt || { echo "no certificate"; cat said.txt; exit 1; }
$go --plan $plane > said.txt 2>&1
! grep -q "passiv" said.txt || { echo "a warning of a passive matrix"; cat said.txt; exit 1; }
"$tool" unstable sphere1.h5 wild.h5
penstock-tdbem-march wild.h5 sphere1.h5 out.h5 --steps 5 --plan $plane > said.txt 2>&1
grep -q "wild.h5 has no passivity certificate" said.txt || { echo "no word of it"; cat said.txt; exit 1; }
# blocks keep it
penstock-slice-block s.h5 b.h5 -q > /dev/null
penstock-inspect b.h5 > said.txt
grep -q "verdict *passive" said.txt || { echo "blocks have lost the certificate"; cat said.txt; exit 1; }

# A lens with a tip of slivers much smaller than a shell: what its Hermitian part is there, is as small as the
# rounding of the stored values, which must not be taken for growth.
awk 'BEGIN { pi = atan2(0, -1); m = 16; n = split(".002 .1 .35 .7 1.05 1.4 1.75 2.1 2.45 2.8", polar, " ")
    print "solid lens"
    for (j = 0; j < m; ++j) {
        face(0, 0, 1, j, 1, j + 1); face(n, j, n + 1, 0, n, j + 1)
        for (i = 1; i < n; ++i) { face(i, j, i + 1, j, i + 1, j + 1); face(i, j, i + 1, j + 1, i, j + 1) }
    }
    print "endsolid lens" }
function vertex(i, j,  s, f) {
    s = i == 0 ? 0 : i > n ? pi : polar[i]; f = 2 * pi * (j % m) / m
    printf "vertex %.17g %.17g %.17g\n", sin(s) * cos(f), 2e-4 * sin(s) * sin(f), cos(s)
}
function face(a, b, c, d, e, f) {
    print "facet normal 0 0 0\nouter loop"; vertex(a, b); vertex(c, d); vertex(e, f); print "endloop\nendfacet"
}' > lens.stl
penstock-mesh-import -q lens.stl lens.h5 > /dev/null
penstock-slice-assemble -q lens.h5 l.h5 --courant 1 --formulation sound-hard --points 6 > said.txt 2>&1
penstock-inspect l.h5 > inspected.txt
grep -q "verdict *passive" inspected.txt || { echo "rounding taken for growth"; cat said.txt inspected.txt; exit 1; }

# pulses
fails 3 "Use a longer :width" $go --emitter plane:dir=0,0,1:width=0.05
fails 3 "--allow short-pulse" $go --emitter plane:dir=0,0,1:shape=modulated:width=2:frequency=3
$go --plan --allow short-pulse --emitter plane:dir=0,0,1:width=0.05 > /dev/null 2>&1
fails 3 "leave the delay out" $go --emitter plane:dir=0,0,1:width=0.5:delay=0
fails 3 "leave the delay out" $go --emitter plane:dir=0,0,1:width=0.5:delay=-9
$go --plan --allow loud-start --emitter plane:dir=0,0,1:width=0.5:delay=0 > /dev/null 2>&1
$go --plan --emitter plane:dir=0,0,1:width=0.5:delay=1000 > said.txt 2>&1
grep -q "its beginning alone" said.txt || { echo "no word of a late pulse"; cat said.txt; exit 1; }

# point sources
fails 3 "inside the closed body" $go --emitter point:at=0.1,0,0.2:width=0.5
fails 3 "from the surface" $go --emitter point:at=0,0,1.02:width=0.5
$go --plan --emitter point:at=0,0,1.5:width=0.5 > /dev/null 2>&1

# target strength
point="--emitter point:at=0,0,4:width=1"
penstock-tdbem-march -q s.h5 sphere1.h5 point.h5 --steps 150 $point > /dev/null 2>&1
penstock-tdbem-march -q s.h5 sphere1.h5 plane.h5 --steps 150 --emitter plane:dir=0,0,1:width=1 > /dev/null 2>&1
for kind in point plane; do
    penstock-probe $kind.h5 sphere1.h5 $kind.far.h5 --direction 180,0 -q > /dev/null 2>&1
done
fails 3 "defined for one plane wave" penstock-spectrum point.far.h5 ts.h5 --target-strength --frequencies .1
fails 3 "all frequencies are above" penstock-spectrum plane.far.h5 ts.h5 --target-strength --frequencies .3
penstock-tdbem-march -q s.h5 sphere1.h5 cut.h5 --steps 20 --emitter plane:dir=0,0,1:width=1 > /dev/null 2>&1
penstock-probe cut.h5 sphere1.h5 cut.far.h5 --direction 180,0 -q > /dev/null 2>&1
fails 3 "has not decayed where the trace ends" penstock-spectrum cut.far.h5 ts.h5 --target-strength --frequencies .1
fails 3 "has not decayed where the trace ends" penstock-spectrum cut.far.h5 response.h5 --divide --frequencies .1
penstock-spectrum plane.far.h5 ts.h5 --target-strength --frequencies .1,.3 > said.txt 2>&1
grep -q "at 1 of 2 frequencies, above .* NaN stands" said.txt || { echo "line not marked"; cat said.txt; exit 1; }
penstock-inspect ts.h5 --csv > ts.csv
awk -F, 'NR == 1 { ok = $1 == "frequency [Hz]" && NF == 2 } NR == 2 { ok = ok && $2 + 0 == $2 }
    NR == 3 { ok = ok && $2 ~ /nan/ } END { exit !(ok && NR == 3) }' ts.csv || { echo "ts.csv:"; cat ts.csv; exit 1; }
penstock-spectrum plane.far.h5 ts.h5 --force --target-strength --frequencies .1,.3 --allow beyond-band > /dev/null 2>&1
penstock-inspect ts.h5 --csv > ts.csv
! grep -q nan ts.csv || { echo "allowed, but not there"; exit 1; }
fails 2 "--csv is for traces" penstock-inspect s.h5 --csv

# a pulse that has not come when the march ends
penstock-tdbem-march -q s.h5 sphere1.h5 never.h5 --steps 16 --emitter plane:dir=0,0,1:width=0.6:delay=1000 > /dev/null 2> said.txt
grep -q "nothing came in" said.txt || { echo "zeros without a word"; cat said.txt; exit 1; }

# interior resonances of a rigid sphere, the first at k R = 2.08: R = 1, .331 Hz
penstock-tdbem-march -q s.h5 sphere1.h5 ring.h5 --time 60 --emitter plane:dir=0,0,1:width=0.6 > /dev/null 2>&1
penstock-probe ring.h5 sphere1.h5 ring.surface.h5 --surface 0-41 -q > /dev/null 2>&1
fails 3 "all frequencies are above" penstock-spectrum ring.surface.h5 ring.spectrum.h5 --divide --fmin .5 --fmax .6 --count 3
penstock-spectrum ring.surface.h5 ring.spectrum.h5 --divide --fmin .2 --fmax .45 --count 26 > said.txt 2>&1
line=$(grep -o "still rings at [0-9.]*" said.txt | head -n 1 | cut -d' ' -f4)
below .31 "$line"; below "$line" .36
penstock-probe ring.h5 sphere1.h5 ring.far.h5 --direction 0,0 -q > /dev/null 2>&1
penstock-spectrum ring.far.h5 ring.spectrum.h5 --force --divide --fmin .2 --fmax .45 --count 26 > said.txt 2>&1
! grep -q "still rings" said.txt || { echo "far fields do not have them"; cat said.txt; exit 1; }

# --plan's least can be done with
least=$($go --plan $plane --json 2> /dev/null | grep -o '"least_memory": *[0-9]*' | grep -o '[0-9]*')
penstock-tdbem-march -q s.h5 sphere1.h5 least.h5 --steps 60 $plane --host-memory "$least" > /dev/null 2>&1 ||
    { echo "--host-memory $least, the least of the plan, cannot do"; exit 1; }

# files of one and three ranks are alike
if command -v mpirun > /dev/null; then
    $assemble one.h5 --courant 2 --speed 1 --tile-slices 16 -q > /dev/null
    ranks 3 $assemble three.h5 --courant 2 --speed 1 --tile-slices 16 -q > /dev/null
    penstock-compare one.h5 three.h5 --tolerance 0 > said.txt || { echo "1 and 3 ranks:"; cat said.txt; exit 1; }
    least() { penstock-inspect "$1" | awk '$1 == "least" { print $2 }'; }
    echo "$(least one.h5) $(least three.h5)" | awk '{ exit !($1 > 0 && ($1 / $2 - 1)^2 < 1e-8) }' ||
        { echo "certificates of 1 and 3 ranks: $(least one.h5) $(least three.h5)"; exit 1; }
fi
