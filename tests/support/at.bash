# Programs stopped and killed at moments that do not depend on how busy the machine is. Sourced.

# at MOMENT SIGNAL COMMAND...: COMMAND gets SIGNAL (KILL, TERM, INT, HUP, XCPU) at MOMENT: CALL:N[:BEGIN], before its Nth such call
# (tests/hostile/fail_nth.c; rename+unlink counts both) on a file of this folder whose name begins so, or cpu:N, once it has
# used N ms of processor time. RANK: of several ranks this one.
at() {
    local call n begin signal=$2
    [ -e "$BUILD/hostile/fail_nth.so" ] || { echo "$BUILD/hostile/fail_nth.so is not built (make check-stages does)"; exit 1; }
    IFS=: read -r call n begin <<< "$1"
    shift 2
    env LD_PRELOAD="$BUILD/hostile/fail_nth.so" FAIL_CALL="$call" FAIL_NTH="$n" FAIL_SIGNAL="$(kill -l "$signal")" \
        FAIL_UNDER="$(pwd -P)/$begin" ${RANK:+FAIL_RANK=$RANK} "$@"
}

# killed_at MOMENT COMMAND...: it must end by that kill.
killed_at() {
    local moment=$1 rc=0
    shift
    { at "$moment" KILL "$@" > at.out 2>&1 || rc=$?; } 2> /dev/null # not what the shell says of it
    [ $rc -eq 137 ] || { cat at.out; echo "not killed at $moment but ended with $rc: $*"; exit 1; }
}

# partly COMMAND...: it is complete (0) or was stopped (75).
partly() {
    local rc=0
    "$@" || rc=$?
    [ $rc -eq 0 ] || [ $rc -eq 75 ] || { echo "$*: ended with $rc"; exit 1; }
}
