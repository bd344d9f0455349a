# What the stage tests share. Source it: . "$ROOT/tests/stages/lib.sh"
# ROOT: the repository; BUILD: the object folder; the current folder is empty and temporary.
set -u
. "$ROOT/tests/support/at.bash"

fail() { echo "FAILED: $*"; exit 1; }

# expect CODE TEXT COMMAND...: the command ends with this exit code, and its messages (or what it
# printed) contain the text. Both are left in ./out and ./err.
expect() {
    local code=$1 text=$2 got
    shift 2
    "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || { cat err; fail "exit code $got, expected $code: $*"; }
    [ -z "$text" ] || grep -qF -- "$text" out err || { cat out err; fail "no \"$text\" in what was said by: $*"; }
}

# within VALUE LOW HIGH WHAT: a number in a range; not a number fails.
within() {
    awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v + 0 == v && v >= a && v <= b) }' ||
        fail "$4: $1 is not within $2 .. $3"
}

# least COMMAND...: the least --host-memory, in bytes, that its --plan tells.
least() { "$@" --plan --json -q 2>/dev/null | sed -n 's/.*"least_memory": \([0-9]*\).*/\1/p'; }

# needs PROGRAM...: skips the test where a program was not built.
needs() {
    local program
    for program; do
        command -v "penstock-$program" >/dev/null || { echo "penstock-$program was not built"; exit 77; }
    done
}

# hand_mesh NODES ELEMENTS: a text MSH of these lines ("x y z\n..", "TYPE TAGS.. NODES..\n..") through
# mesh-import, as hand.hdf.
hand_mesh() {
    {
        printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n' "$(printf "$1" | wc -l)"
        printf "$1" | awk '{ print NR, $0 }'
        printf '$EndNodes\n$Elements\n%d\n' "$(printf "$2" | wc -l)"
        printf "$2" | awk '{ print NR, $0 }'
        printf '$EndElements\n'
    } > hand.msh
    expect 0 "" penstock-mesh-import hand.msh hand.hdf --orient
}
