# What the stage tests share. Source it: . "$ROOT/tests/stages/lib.sh"
# ROOT: the repository; BUILD: the object folder; the current folder is empty and temporary.
set -u
. "$ROOT/tests/support/shared.bash"
export PYTHONPATH=$ROOT/tests/support PYTHONDONTWRITEBYTECODE=1 # modules that tests share

# python3 runs one Python in all tests: $PENSTOCK_PYTHON, Debian's own, or the one on PATH, the first of them that has NumPy and h5py;
# what stands first on PATH may be an installation that has neither.
find_python() {
    local one
    for one in ${PENSTOCK_PYTHON:-} /usr/bin/python3 python3; do
        PYTHON=$(type -P "$one") || continue
        python_has numpy h5py && return
    done
    PYTHON=${PENSTOCK_PYTHON:-$(type -P python3 || true)}
}
# python_has MODULE...: whether that Python has all of them.
python_has() {
    "$PYTHON" -c 'import sys; from importlib.util import find_spec as f; sys.exit(not all(map(f, sys.argv[1:])))' "$@" 2> /dev/null
}
# needs_python MODULE...: skips the test where it does not.
needs_python() { python_has "$@" || { echo "${PYTHON:-python3} does not have all of: $*"; exit 77; }; }
find_python
[ -z "$PYTHON" ] || python3() { "$PYTHON" "$@"; }

# expect CODE TEXT COMMAND...: the command ends with this exit code, and its messages (or what it
# printed) contain the text. Both are left in ./out and ./err. What it refuses to make is not there (nothing_made).
expect() {
    local code=$1 text=$2 got
    shift 2
    "$@" >out 2>err
    got=$?
    [ $got -eq "$code" ] || { cat err; fail "exit code $got, expected $code: $*"; }
    [ -z "$text" ] || grep -qF -- "$text" out err || { cat out err; fail "no \"$text\" in what was said by: $*"; }
    [[ "$code" = 0 || "$code" = 75 ]] || nothing_made "$@"
}

# within VALUE LOW HIGH WHAT: a number in a range; not a number fails.
within() {
    awk -v v="$1" -v a="$2" -v b="$3" 'BEGIN { exit !(v + 0 == v && v >= a && v <= b) }' ||
        fail "$4: $1 is not within $2 .. $3"
}

# figure NAME [FILE]: of what a program printed, as lines, to ./out.
figure() { awk -v n="$1" '$1 == n { print $2; exit }' "${2:-out}"; }
# trace_values FILE real|imaginary: those of a trace, one a line; trace_complex FILE: both, side by side.
trace_values() { h5dump -y -w 1 -m %.17g -d "/trace/$2" "$1" | sed -n '/DATA {/,/}/p' | sed '/}/q' | grep -o '[-0-9.e+]*[0-9]'; }
trace_complex() { paste <(trace_values "$1" real) <(trace_values "$1" imaginary); }
# content FILE: the hash of what a store holds.
content() { h5dump -a content_hash "$1" | sed -n 's/.*(0): "\(.*\)".*/\1/p'; }
# is NAME VALUE, near NAME LOW HIGH: a figure of the program before.
is() { [ "$(figure "$1")" = "$2" ] || { cat out err; fail "$1 is $(figure "$1"), expected $2"; }; }
near() { within "$(figure "$1")" "$2" "$3" "$1"; }
# same FILE FILE: to the bit; same_content: what they hold.
same_content() { [ "$(content "$1")" = "$(content "$2")" ] || fail "$1 and $2 differ"; }
same() { penstock-compare "$1" "$2" --tolerance 0 > compared || { cat compared; fail "$1 and $2 differ"; }; }

# least COMMAND...: the least --host-memory, in bytes, that its --plan tells.
least() { "$@" --plan --json -q 2>/dev/null | sed -n 's/.*"least_memory": \([0-9]*\).*/\1/p'; }

# made COMMAND...: it ends well; what it says is of no interest.
made() { "$@" > made 2>&1 || { cat made; fail "$*"; }; }

# clustered MESH CLUSTERS FROM..: a surface from a file, or by the options of mesh-surface, and its clusters.
clustered() {
    case $3 in
    --*) expect 0 "" penstock-mesh-surface "$1" "${@:3}" ;;
    *) expect 0 "" penstock-mesh-import "$3" "$1" "${@:4}" ;;
    esac
    expect 0 "" penstock-cluster-build "$1" "$2"
}

# on_disk_of SIZE FUNCTION [ARGUMENTS OF THE TEST]: the test ends with what FUNCTION does where ./disk is a tmpfs of this size, in a
# name space of its own, with which the mount ends whatever happens; where none can be mounted, it goes on.
on_disk_of() {
    local mount="mount -t tmpfs -o size=$1 penstock-test disk" how
    if [ "${3:-}" = inside ]; then
        $mount || exit 1
        "$2"
        exit 0
    fi
    for how in --map-root-user --; do
        unshare --mount $how sh -c "$mount" 2> /dev/null || continue
        unshare --mount $how bash "$0" inside
        exit $?
    done
}

# needs_browser: skips the test where there is none.
needs_browser() {
    browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
        { echo "no chromium: pages were not opened in a browser"; exit 77; }
}
# dom PAGE: the document as the browser has it once its scripts ran, in ./dom; what its console says, in ./chrome.log.
dom() {
    timeout 120 "$browser" --headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --user-data-dir="$PWD/chrome" \
        --enable-logging=stderr --virtual-time-budget=5000 --window-size=700,500 --dump-dom "file://$1" > dom 2> chrome.log ||
        { tail -n 3 chrome.log; fail "the browser ended on $1"; }
}

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
    expect 0 "" penstock-mesh-import hand.msh hand.hdf --orient --allow-intersections
}
