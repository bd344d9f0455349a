#!/bin/bash
# The submarine of cases/hbem-submarine in full size, N = 115,155, k = 4.18879, one incident wave, on a device: the
# solution with K and W assembled in memory, and through files; 3,600 points at 20 km; and the solution by cores,
# for the deviation (13). JSON records on stdout, wall clock of whole programs; figures on stderr.
# WORK: a folder with 6 GB of room; DEVICE: cuda; SIDES: waves of a second solution, 8; CPU=no leaves the cores
# out; FILES=no what goes through files; SOLVE_OPTIONS: more options of the solver; SCALE, EDGE: of the hull.
set -eu
. "$(dirname "$0")/lib.sh"
measuring hbem-solve
kind=${DEVICE:-cuda}
wave="--wavenumber 4.18879"
# timed NAME PROGRAM...: figures in NAME.json, seconds in NAME.time
timed() {
    local name=$1 start
    shift
    start=$(date +%s.%N)
    "$@" --json > "$name.json" 2> "$name.err" || { cat "$name.err" >&2; exit 1; }
    awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { print b - a }' > "$name.time"
    echo "$name: $(cat "$name.time") s: $(tr -d '\n' < "$name.json")" >&2
    cat "$name.err" >&2
}
seconds() { for name in "$@"; do cat "$name.time"; done | awk '{ s += $1 } END { print s }'; }
[ -e hull.hdf ] || penstock-mesh-surface -q hull.hdf --shape suboff --scale "${SCALE:-14.2}" --edge "${EDGE:-0.11}" $wave > /dev/null
timed clusters penstock-cluster-build -q hull.hdf clusters.h5 $wave
abroad="--direction 0.984807753012208,0.173648177666930,0"
points="--speed 1500 --incidence 0 --directions 3600 --plane-normal 0,0,1 --distance 20000"
fields() { timed "$1" penstock-hbem-field -q "$2" "$3" $points --device "$kind" --force; }

core="penstock-hbem-solve -v hull.hdf clusters.h5 $wave --precision fp32 --skeleton --device $kind --force ${SOLVE_OPTIONS:-}"
timed core $core phi-core.hdf $abroad
fields field-core phi-core.hdf u-core.h5
n="N = $(json unknowns core), k = 4.18879"
floor=$(awk -v b="$(json matrices core)" 'BEGIN { print b / 55e9 }')
record submarine-setup "K and W assembled in memory, ready for products, in penstock-hbem-solve" \
    "$(json assembly_time core)" s 1.374 "$n, fp32, skeletons; floor: the kernels one after the other"
record submarine-total "set-up, solution and 3600 points at 20 km, whole programs, matrices in memory" \
    "$(seconds clusters core field-core)" s 2.1 "$n, one wave, fp32, skeletons; floor: kernels, sparse systems, field"
timed core-sides $core sides.hdf --azimuths 0,350,"${SIDES:-8}"
record submarine-solve "assembly in memory and Burton-Miller, OSRC, ${SIDES:-8} waves" "$(seconds core-sides)" s "$floor" "$n"
through_files() {
    for o in dlp hyps; do
        timed $o penstock-hmatrix-assemble -q clusters.h5 $o.h5 --operator $o $wave --precision fp32 --skeleton \
            --device "$kind"
    done
    solve="penstock-hbem-solve -v hull.hdf dlp.h5 hyps.h5 ${SOLVE_OPTIONS:-}"
    timed solve $solve phi.hdf $abroad --device "$kind" --force
    fields field phi.hdf u.h5
    penstock-compare phi.hdf phi-core.hdf --no-attributes > same.txt && echo "the same bits through files" >&2 ||
        { cat same.txt >&2; echo "OTHER BITS through files" >&2; }
    record submarine-solve "Burton-Miller, OSRC, $(json steps_most solve) steps, by penstock-hbem-solve" \
        "$(seconds solve)" s "$floor" "$n, one wave; floor: matrices to the device at 55 GB/s"
    record submarine-solve "products, a step" \
        "$(awk -v t="$(json products_time solve)" -v n="$(json products solve)" 'BEGIN { print 1e3 * t / n }')" ms \
        "$(awk -v b="$(json matrices solve)" 'BEGIN { print 1e3 * b / 4.58e12 }')" "$n, one wave; floor: bytes at 4.58 TB/s"
    record submarine-solve "sparse systems, a step" \
        "$(awk -v t="$(json sparse_time solve)" -v n="$(json products solve)" 'BEGIN { print 1e3 * t / n }')" ms "" "$n, one wave"
    record submarine-total "set-up, solution and 3600 points at 20 km, whole programs with files" \
        "$(seconds clusters dlp hyps solve field)" s "$floor" "$n, one wave, fp32, skeletons"
    timed sides $solve sides.hdf --azimuths 0,350,${SIDES:-8} --device "$kind" --force
    record submarine-solve "Burton-Miller, OSRC, ${SIDES:-8} waves" "$(seconds sides)" s "$floor" "$n"
}
[ "${FILES:-yes}" != yes ] || through_files
[ "${CPU:-yes}" = yes ] || exit 0
# All of it by cores, matrices too, as the paper compares.
timed cpu ${core/--device $kind/--device cpu} phi-cpu.hdf $abroad
kind=cpu fields field-cpu phi-cpu.hdf u-cpu.h5
penstock-compare u-core.h5 u-cpu.h5 --norm space-time --measure deviation --tolerance 1e-4 --json > compare.json || true
cat compare.json >&2
record submarine-deviation "mean of ||u| - |u of cores|| / |u of cores| at 3600 points (13), matrices of each their own" \
    "$(json deviation compare)" "" "" "$n; 1e-4 is asked"
record submarine-setup "speed-up of assembling K and W over $(nproc) cores (the paper: 1.9 over 20)" \
    "$(awk -v a="$(json assembly_time cpu)" -v b="$(json assembly_time core)" 'BEGIN { print a / b }')" "" "" "$n"
record submarine-total "speed-up of set-up, solution and 3600 points over $(nproc) cores (the paper: 1.4 over 20)" \
    "$(awk -v a="$(seconds cpu field-cpu)" -v b="$(seconds core field-core)" 'BEGIN { print a / b }')" "" "" "$n"
