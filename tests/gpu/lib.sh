# What the checks and benchmarks of whole programs share, here and in tests/bench. Sourced, from beside them:
#     . "$(dirname "$0")/lib.sh"
# Programs are those of BUILD, an object folder, or where that is not set on PATH; the current folder
# is then a temporary one, which goes at the end, or WORK, which stays; ranks share a machine.
if [ -n "${BUILD:-}" ]; then
    BUILD=$(cd "$BUILD" && pwd)
    export PATH=$BUILD/bin:$BUILD/tests-programs:$PATH HDF5_PLUGIN_PATH=$BUILD/plugin
fi
mesh=${MESH:+$(realpath "$MESH")}
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
work=$PWD
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

fail() { echo "FAILED: $*"; cat out err 2> /dev/null; exit 1; }
# run COMMAND...: must end well; what it says stays in ./out and ./err
run() { "$@" > out 2> err || fail "$*"; }
# figure NAME: of what the last program told, as lines
figure() { awk -v n="$1" '$1 == n { print $2; exit }' out; }
# json NAME REPORT: of REPORT.json
json() { grep -o "\"$1\": *\"*[-+0-9a-f.e]*" "$2.json" | head -n 1 | sed 's/.*[: "]//'; }
# airplane: $mesh is the airplane's (cases/tdbem-airplane), unless MESH was given; $how its matrices are assembled, c dt = 36 m / SPACING
airplane() {
    how="--formulation sound-hard --points 3 --speed 340 --dt $(awk -v n="${SPACING:-339}" 'BEGIN { printf "%.12g", 36 / n / 340 }')"
    [ -z "$mesh" ] || return 0
    make -s -C "$ROOT/cases/tdbem-airplane" mesh OUT="$work" BUILD="$BUILD" >&2
    mesh=$work/airplane.hdf
}
calculate() { awk "BEGIN { printf \"%.9g\", $1 }"; }
with_ranks() { [ "${RANKS:-2}" -gt 1 ] && command -v mpirun > /dev/null; }

# ---- records of bench/results ----
# measuring PROGRAM: whose revision they name
measuring() {
    device=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1)
    revision=$("penstock-$1" --version | sed 's/.*(\(.*\)).*/\1/')
}
# record CASE QUANTITY VALUE UNIT FLOOR SIZE: the fraction is floor / value of times, value / floor else
record() {
    awk -v c="$1" -v q="$2" -v v="$3" -v u="$4" -v f="$5" -v s="$6" -v d="${device:-cpu}" -v r="$revision" 'BEGIN {
        printf "{\"case\": \"%s\", \"quantity\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", ", c, q, v, u
        if (f == "") printf "\"floor\": null, \"fraction\": null, "
        else printf "\"floor\": %.4g, \"fraction\": %.3f, ", f, u == "s" || u == "ms" ? f / v : v / f
        printf "\"size\": \"%s\", \"device\": \"%s\", \"revision\": \"%s\"}\n", s, d, r }'
}
