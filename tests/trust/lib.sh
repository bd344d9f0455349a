# What the families of `make trust` share. Source it: . "$ROOT/tests/trust/lib.sh"
# ROOT: the repository; BUILD: the object folder; SHARED: input data, may be absent; the current folder is empty
# and temporary. Every solver is run against something exact on three clean and three ugly inputs; a row is printed for each.
set -u

# row SOLVER INPUT clean|ugly QUANTITY ASKED REACHED: a line of the table. It is right if REACHED is a number of at most ASKED.
row() {
    awk -v a="$5" -v r="$6" -v head="$(printf '%-12s | %-34s | %-5s | %-34s' "$1" "$2" "$3" "$4")" 'BEGIN {
        good = r == r + 0 && r + 0 <= a + 0 && a + 0 > 0
        printf "%s | %9.3g | %9.3g | %s\n", head, a, r, good ? "right" : "WRONG"
    }'
}

# refused SOLVER INPUT QUANTITY CODE TEXT COMMAND...: a row for an input that must be refused with this code and text.
refused() {
    local solver=$1 input=$2 quantity=$3 code=$4 text=$5 got
    shift 5
    "$@" > refused.out 2> refused.err
    got=$?
    { [ "$got" -eq "$code" ] && grep -qF -- "$text" refused.err; } && verdict=refused || verdict=WRONG
    printf '%-12s | %-34s | %-5s | %-34s | %9s | %9s | %s\n' "$solver" "$input" ugly "$quantity" "code $code" "code $got" "$verdict"
}

# run COMMAND...: a step that must succeed; a failure is said, and the rows that need it come out WRONG.
run() {
    "$@" > run.out 2> run.err || { echo "trust: failed: $*" >&2; tail -n 3 run.err >&2; return 1; }
}

# skipped SOLVER INPUT WHY: an input that is not on this machine.
skipped() { printf '%-12s | %-34s | %-5s | %-34s | %9s | %9s | skipped: %s\n' "$1" "$2" ugly - - - "$3"; }
