# A change of height in a rectangular guide: S-parameters against the published equivalent circuit (Marcuvitz, Waveguide Handbook, 1951,
# 5.26, within 1 per cent in B) and against mode matching (cases/dgtd-waveguide-step), with elements graded towards the edge in P2, and
# with larger ones as the mesher leaves them, slivers among them, in P3; Touchstone files drawn beside traces.
set -eu
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
. "$ROOT/tests/support/guides.bash"
case=$ROOT/cases/dgtd-waveguide-step
band="8.5e9 10e9 12e9" s=.00508 l=.02
for kind in handbook height; do python3 "$case/junctions.py" $kind .02286 .01016 $s $band > $kind.exact; done
# The references beside one another: the circuit is y = 2 + i B, and B is of S11.
paste -d ' ' handbook.exact height.exact | awk 'function b(x, y) { return -2 * y / ((1 + x)^2 + y^2) }
    { d = b($2, $3) / b($7, $8) - 1; print $1, "Hz: B of the handbook off by", d; if (!(d^2 < 1e-4)) bad = 1 } END { exit bad || NR != 3 }'

# step NAME ORDER NEAR FAR UGLY
step() {
    { echo "A = .02286; B = .01016; S = $s; L = $l; PLANE = 0; near = $3; far = $4; UGLY = $5;"; cat "$case/step.geo"; } > $1.geo
    meshed $1 --parts 2
    setup="penstock-dgtd-setup -q $1.h5 --force --order $2 --local-steps auto --material default:eps=1 --boundary walls:pec --boundary middle:pmc --boundary one:pmc --boundary two:pmc"
    two $1 1 width=160ps:frequency=10.3e9 ${band// /,} --shift one=$l --shift two=$l
}
time=2.5ns
step fine 2 .0015 .004 0
step rough 3 .003 .005 1
near_exact fine.s2p height.exact 4e-3 4e-3
near_exact fine.s2p handbook.exact 5e-3 5e-3
near_exact rough.s2p height.exact 5e-3 5e-3

# Drawn from the trace and from the Touchstone file: the same curves
penstock-plot -q spectrum fine.s.h5 fine.s2p --channels 0,2 --output steps.svg --script steps.gp
grep -c "title 'fine.*, S[12]1'" steps.gp | grep -qx 4
curve() { sed -n "/^\$C$1 << END/,/^END/p" steps.gp | sed 1d; }
curve 0 | cmp - <(curve 2)
curve 1 | cmp - <(curve 3)
awk '/^# /{ print "# GHz S DB R 50" } !/^[!#]/ { printf "%.12g", $1 / 1e9; for (i = 2; i < 9; i += 2)
    printf " %.12g %.12g", 10 * log($i^2 + $(i + 1)^2) / log(10), atan2($(i + 1), $i) * 180 / 3.14159265358979; print "" }' fine.s2p > levels.s2p
penstock-plot -q spectrum levels.s2p --channels 0,2 --output steps.svg --script levels.gp
sed -n '/^\$C0/,/^END/p' levels.gp | cmp - <(sed -n '/^\$C0/,/^END/p' steps.gp)
sed 's/ S RI/ Z RI/' fine.s2p > bad.s2p
fails 3 "not Z" penstock-plot spectrum bad.s2p --output bad.svg
sed '$s/ [^ ]*$//' fine.s2p > bad.s2p
fails 3 "are no table of frequencies" penstock-plot spectrum bad.s2p --output bad.svg
fails 3 "missing.s2p" penstock-plot spectrum missing.s2p --output bad.svg
