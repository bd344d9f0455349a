#!/bin/bash
# H-matrices by penstock-hmatrix-assemble on a device, in core and written to disk: K and W of the hull of
# cases/hbem-submarine, the single layer of spheres. JSON records on stdout, figures of each matrix on
# stderr. CASES: submarine sphere-1m5 sphere-4m2, all of them; WORK: a folder with 17 GB of room; DEVICE: cuda.
set -eu
. "$(dirname "$0")/lib.sh"
measuring hmatrix-assemble
# assemble CLUSTERS NAME OPTIONS: figures to NAME.json; the files are removed.
assemble() {
    local clusters=$1 name=$2
    shift 2
    penstock-hmatrix-assemble -q "$clusters" "$name.h5" --precision fp32 --skeleton \
        --device "${DEVICE:-cuda}" --json "$@" --force > "$name.json"
    cat "$name.json" >&2
    rm -f "$name".h5 "$name".part*.h5
}
# total FIGURE NAMES: its sum over some matrices
total() {
    local of=$1 sum=0 name
    for name in $2; do sum="$sum + $(json "$of" "$name")"; done
    calculate "$sum"
}
# both CASE SIZE NAMES: device results, written once at 4.29 TB/s; with files, at the 1.6 GB/s of the disk.
both() {
    record "$1" "assembly, in core, by penstock-hmatrix-assemble" "$(total compute "$3")" s \
        "$(calculate "$(total bytes "$3") / 4.29e12")" "$2"
    record "$1" "assembly to disk, by penstock-hmatrix-assemble" "$(total time "$3")" s \
        "$(calculate "$(total stored "$3") / 1.6e9")" "$2; floor: writing at 1.6 GB/s"
}
sphere() {
    penstock-mesh-surface -q sphere.hdf --divisions "$2" --force > /dev/null
    penstock-cluster-build -q sphere.hdf sphere-clusters.h5 --leaf "$3" --force > /dev/null
    assemble sphere-clusters.h5 sphere
    both "hbem-$1" "N = $(json rows sphere), k = 0, eps 0.0001, eta 2, leaf $3, fp32, skeletons, upper half" sphere
}
for case in ${CASES:-submarine sphere-1m5 sphere-4m2}; do
    case $case in
    submarine)
        wave="--wavenumber 4.18879"
        penstock-mesh-surface -q hull.hdf --shape suboff --scale 14.2 --edge 0.11 $wave --force > /dev/null
        penstock-cluster-build -q hull.hdf hull-clusters.h5 $wave --force > /dev/null
        assemble hull-clusters.h5 dlp --operator dlp $wave
        assemble hull-clusters.h5 hyps --operator hyps $wave
        both submarine-setup "K and W, N = $(json rows dlp), k = 4.18879, fp32, skeletons" "dlp hyps" ;;
    sphere-1m5) sphere "$case" 612 48 ;;
    sphere-4m2) sphere "$case" 1025 40 ;;
    esac
done
