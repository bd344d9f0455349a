# What checks of penstock-hbem-solve on a device share beyond lib.sh: solutions or fields that are near to each other, or the same.
# Sourced, from beside them; DEVICE: cuda.
set -u
. "$(dirname "$0")/lib.sh"
device=${DEVICE:-cuda}
passed=0
run() { timeout 60 "$@" > out 2> err || fail "$*"; }
near() { # A B LIMIT WHAT
    penstock-compare "$1" "$2" --no-attributes > out 2> err
    awk -v limit="$3" 'NF == 1 { s = $1 } s ~ /^\/(solutions\/(single|double)|trace\/(real|imaginary))$/ && $1 == "relative_l2" { n++; bad += !($2 < limit); print "  " s " differs by " $2 } END { exit bad || !n }' out ||
        fail "$4"
    passed=$((passed + 1))
    echo "near: $4"
}
same() { # A B WHAT
    run penstock-compare "$1" "$2" --no-attributes
    passed=$((passed + 1))
    echo "same bits: $3"
}
