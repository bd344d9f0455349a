#!/bin/bash
# H-matrices by penstock-hmatrix-assemble on a device, in core and written to disk: K and W of the hull of
# cases/hbem-submarine, the single layer of spheres. JSON records on stdout, figures of each matrix on
# stderr. CASES: submarine sphere-1m5 sphere-4m2, all of them; WORK: a folder with 17 GB of room; DEVICE: cuda.
set -eu
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
cd "$work"
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
revision=$(penstock-hmatrix-assemble --version | sed 's/.*(\(.*\)).*/\1/')
figure() { sed -n "s/.*\"$1\": *\([-+0-9.e]*\).*/\1/p" "$2.json"; }
# assemble CLUSTERS NAME OPTIONS: figures to NAME.json; the files are removed.
assemble() {
    local clusters=$1 name=$2
    shift 2
    penstock-hmatrix-assemble -q "$clusters" "$name.h5" --precision single --skeleton \
        --device "${DEVICE:-cuda}" --json "$@" --force > "$name.json"
    cat "$name.json" >&2
    rm -f "$name".h5 "$name".part*.h5
}
# record CASE QUANTITY SIZE FIGURE BYTES RATE NAMES: the sum of a figure of some matrices; the floor: their
# bytes at a rate.
record() {
    local sum=0 bytes=0 name
    for name in $7; do
        sum="$sum+$(figure "$4" "$name")"
        bytes="$bytes+$(figure "$5" "$name")"
    done
    awk -v of="$1" -v quantity="$2" -v size="$3" -v device="$device" -v revision="$revision" \
        "BEGIN { value = $sum; floor = ($bytes) / $6
        printf \"{\\\"case\\\": \\\"%s\\\", \\\"quantity\\\": \\\"%s\\\", \\\"value\\\": %.4g, \", of, quantity, value
        printf \"\\\"unit\\\": \\\"s\\\", \\\"floor\\\": %.4g, \\\"fraction\\\": %.3g, \", floor, floor / value
        printf \"\\\"size\\\": \\\"%s\\\", \\\"device\\\": \\\"%s\\\", \\\"revision\\\": \\\"%s\\\"}\\n\", size, device, revision }"
}
# both CASE SIZE NAMES: device results, written once at 4.29 TB/s; with files, at the 1.6 GB/s of the disk.
both() {
    record "$1" "assembly, in core, by penstock-hmatrix-assemble" "$2" compute bytes 4.29e12 "$3"
    record "$1" "assembly to disk, by penstock-hmatrix-assemble" "$2; floor: writing at 1.6 GB/s" time stored 1.6e9 "$3"
}
sphere() {
    penstock-mesh-surface -q sphere.hdf --divisions "$2" --force > /dev/null
    penstock-cluster-build -q sphere.hdf sphere-clusters.h5 --leaf "$3" --force > /dev/null
    assemble sphere-clusters.h5 sphere
    both "hbem-$1" "N = $(figure rows sphere), k = 0, eps 0.0001, eta 2, leaf $3, fp32, skeletons, upper half" sphere
}
for case in ${CASES:-submarine sphere-1m5 sphere-4m2}; do
    case $case in
    submarine)
        wave="--wavenumber 4.18879"
        penstock-mesh-surface -q hull.hdf --shape suboff --scale 14.2 --edge 0.11 $wave --force > /dev/null
        penstock-cluster-build -q hull.hdf hull-clusters.h5 $wave --force > /dev/null
        assemble hull-clusters.h5 dlp --operator dlp $wave
        assemble hull-clusters.h5 hyps --operator hyps $wave
        both submarine-setup "K and W, N = $(figure rows dlp), k = 4.18879, fp32, skeletons" "dlp hyps" ;;
    sphere-1m5) sphere "$case" 612 48 ;;
    sphere-4m2) sphere "$case" 1025 40 ;;
    esac
done
