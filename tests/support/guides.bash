# What the stage tests of ports by modes share: S of two ports, its distance from exact ones. Sourced.
. "$ROOT/tests/support/dgtd_march.bash"
# two NAME MODE DRIVE FREQUENCIES DP_OPTION..: S of both ports in NAME.s2p, from runs of $time
two() {
    local name=$1 mode=$2 drive=$3 frequencies=$4
    $setup $name.1.m.h5 --port one:faces=one:mode=$mode:$drive --port two:faces=two:mode=$mode > $name.setup
    $setup $name.2.m.h5 --port one:faces=one:mode=$mode --port two:faces=two:mode=$mode:$drive > /dev/null
    for run in 1 2; do dgtd $name.$run.m.h5 $name.$run.h5 --time $time; done
    penstock-dgtd-ports -q $name.1.ports.h5 $name.2.ports.h5 $name.s.h5 --frequencies $frequencies --touchstone $name.s2p \
        --force --json "${@:5}" > $name.json
    awk -v a="$(figure $name.json asymmetry)" -v s="$(figure $name.json largest_singular_value)" \
        'BEGIN { print "asymmetry", a, "singular value", s; exit !(a < 2e-4 && s < 1.003 && s > .99) }'
}
# near_exact S2P EXACT BOUND11 BOUND21: lines HZ S11 S21 (real, imaginary); distances, as parts of 1
near_exact() {
    grep -v '^[!#[]' $1 | awk 'NF == 9' | paste -d ' ' - $2 | awk -v b1=$3 -v b2=$4 '{ n++
        d1 = sqrt(($2 - $11)^2 + ($3 - $12)^2); d2 = sqrt(($4 - $13)^2 + ($5 - $14)^2); print $1, "Hz off by", d1, d2
        if (!(d1 < b1 && d2 < b2)) bad = 1 } END { exit bad || n < 3 }'
}
