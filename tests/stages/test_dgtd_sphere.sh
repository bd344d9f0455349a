# penstock-dgtd-sphere: the guide's efficiencies, fields against one another, RCS, refused input.
. "$ROOT/tests/stages/lib.sh"
needs dgtd-sphere compare inspect verify
sphere=penstock-dgtd-sphere

# Numerics guide, section 6: Q_abs and field at the centre, six digits.
row() { # RADIUS HZ EPS SIGMA Q CENTRE
    expect 0 "" $sphere --radius $1 --frequencies $2 --eps $3 --sigma $4
    within "$(figure q_absorption)" "$(awk "BEGIN { print $5 - 6e-6 }")" "$(awk "BEGIN { print $5 + 6e-6 }")" Q_abs
    within "$(figure centre_field)" "$(awk "BEGIN { print $6 - 6e-6 }")" "$(awk "BEGIN { print $6 + 6e-6 }")" centre
}
row .05 900e6 41.5 .97 1.17487 .41450
row .2 300e6 4 .02 1.24456 .85614
row .2 300e6 4 0 0 1.03291

# Turned and shifted, the same sphere has the same values at the same places of it.
expect 0 "" $sphere a.h5 --radius .1 --eps 4 --sigma .1 --fmin 1e8 --fmax 9e8 --count 5 --at .03,.05,.02 --at .2,-.1,.3
expect 0 "" $sphere b.h5 --radius .1 --eps 4 --sigma .1 --fmin 1e8 --fmax 9e8 --count 5 --wave 1,0,0 --polarisation 0,1,0 \
    --centre 1,2,3 --origin 1,2,3 --at 1.02,2.03,3.05 --at 1.3,2.2,2.9
for part in real imaginary; do
    # x, y, z of the one are y, z, x of the other
    paste -d' ' <(trace_values a.h5 $part) <(trace_values b.h5 $part | awk '{ v[NR % 3] = $1 } NR % 3 == 0 { print v[2]; print v[0]; print v[1] }') |
        awk '{ d = $1 - $2; if (d * d > 1e-20) bad = 1; s += $1 * $1 } END { exit !(NR == 30 && !bad && s > .1) }' ||
        fail "$part parts of the turned sphere differ"
done
expect 0 "" $sphere c.h5 --radius .1 --eps 4 --sigma .1 --like a.h5
expect 0 "" penstock-compare a.h5 c.h5 --tolerance 1e-14
expect 0 "" penstock-verify a.h5

# A metal sphere: RCS of a direction is 4 pi |far|^2; backwards the figure.
expect 0 "" $sphere rcs.h5 --radius 1 --pec --quantity rcs --direction 180,0 --frequencies 300e6
rcs=$(figure rcs_backwards)
within "$(trace_values rcs.h5 real)" "$(awk "BEGIN { print $rcs * .99999 }")" "$(awk "BEGIN { print $rcs * 1.00001 }")" RCS
expect 0 "m2" penstock-inspect rcs.h5

expect 2 "orthogonal" $sphere no.h5 --wave 0,0,1 --polarisation 0,0,1 --frequencies 1e9 --at 0,0,0
expect 2 "say --frequencies" $sphere no.h5 --at 0,0,0
expect 2 "say where" $sphere no.h5 --frequencies 1e9
expect 2 "far, rcs" $sphere no.h5 --frequencies 1e9 --quantity far --at 0,0,0
expect 3 "kR" $sphere no.h5 --frequencies 1e12 --at 0,0,0
expect 3 "not a trace over frequency" $sphere no.h5 --quantity far --like a.h5
