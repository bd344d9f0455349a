#!/bin/bash
# Figures 4 and 5 of the paper: weak forms of the eight operators on spheres, P1, on all cores and on a device, in both
# precisions: dense matrices, and H-matrices. JSON records on stdout (hbem-dense/OPERATOR, hbem-hmatrix/OPERATOR: seconds of
# assembly on the device beside those of the cores, floor null), picture by tests/bench/hbem_speedup.py. Waves have kh = .6.
# DENSE, HMATRIX: divisions of spheres with 4 n^2 + 2 unknowns ("16 32 48", "32 64 128"); CPU_MOST: most of them on
# cores in H-matrices (64); ROOM: where matrices are written, memory at best (/dev/shm); DEVICE: cuda; PRECISIONS.
set -eu
room=$(mktemp -d -p "${ROOM:-/dev/shm}")
. "$(dirname "$0")/lib.sh"
trap 'rm -rf "$room" "$work"' EXIT
measuring hmatrix-assemble
# assemble DEVICE OPTIONS: seconds of the slowest rank, nothing where it fails.
assemble() {
    penstock-hmatrix-assemble -q clusters.h5 "$room/matrix.h5" --epsilon 1e-4 --compress none --force --device "$@" --json \
        > seconds.json 2> err || { tail -n 2 err >&2; return 1; }
    rm -f "$room"/matrix*
    json compute seconds
}
both() { # MODE OPERATOR KIND PRECISION N OPTIONS
    local mode=$1 operator=$2 kind=$3 precision=$4 n=$5 on off=""
    shift 5
    on=$(assemble "${DEVICE:-cuda}" --mode "$mode" --operator "$operator" --precision "$precision" "$@") || return 0
    record "hbem-$mode/$kind-$operator-$precision" "assembly on the device" "$on" s "" "N = $n"
    [ "$n" -le "$most" ] || return 0
    off=$(assemble cpu --mode "$mode" --operator "$operator" --precision "$precision" "$@") || return 0
    record "hbem-$mode/$kind-$operator-$precision" "assembly by $(nproc) cores" "$off" s "" "N = $n"
}
for mode in dense hmatrix; do
    [ $mode = dense ] && sizes=${DENSE:-16 32 48} most=1000000 || { sizes=${HMATRIX:-32 64 128}; most=$((4 * ${CPU_MOST:-64} * ${CPU_MOST:-64} + 2)); }
    for d in $sizes; do
        penstock-mesh-surface -q ball.hdf --divisions "$d" --force > /dev/null
        for kind in laplace helmholtz; do
            # Edges of a sphere cut d times are about 1.6 / d.
            wave=$([ $kind = laplace ] || echo "--wavenumber $(calculate "0.375 * $d")")
            # shellcheck disable=SC2086
            penstock-cluster-build -q ball.hdf clusters.h5 $wave --force > /dev/null
            for operator in slp dlp adlp hyps; do
                for precision in ${PRECISIONS:-fp32 fp64}; do
                    # shellcheck disable=SC2086
                    both $mode $operator $kind "$precision" $((4 * d * d + 2)) $wave $([ $mode = dense ] || echo --skeleton)
                done
            done
        done
    done
done
