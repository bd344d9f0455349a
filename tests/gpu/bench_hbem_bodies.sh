#!/bin/bash
# Laplace's operators on bodies of ugly triangles beside a sphere, P1, fp32, crosses through points, by penstock-hmatrix-assemble on
# a device: the seconds of computing, the better of two runs, and errors of row sums and of 40 rows. JSON records on stdout.
#     bench_hbem_bodies.sh CASE=FILE:SECONDS..    what is asked of a mesh, e.g. hbem-cessna=cessna.msh:.2 hbem-box16=box16.off:.2
# EPSILON: 1e-4; OPERATORS: dlp slp hyps; WORK: a folder; DEVICE: cuda.
set -eu
declare -A mesh asked
names=hbem-sphere-21k
for body; do
    names="$names ${body%%=*}"
    body=${body#*=} name=${names##* }
    mesh[$name]=$(realpath "${body%:*}") asked[$name]=${body##*:}
done
. "$(dirname "$0")/lib.sh"
measuring hmatrix-assemble
epsilon=${EPSILON:-1e-4}
for name in $names; do
    if [ "$name" = hbem-sphere-21k ]; then
        penstock-mesh-surface -q body.hdf --divisions 52 --force > /dev/null
    else
        penstock-mesh-import -q "${mesh[$name]}" body.hdf --force > /dev/null
    fi
    penstock-cluster-build -q body.hdf clusters.h5 --force > /dev/null
    for operator in ${OPERATORS:-dlp slp hyps}; do
        best=
        for run in 1 2; do
            penstock-hmatrix-assemble -q clusters.h5 matrix.h5 --operator $operator --precision fp32 --skeleton --epsilon "$epsilon" \
                --device "${DEVICE:-cuda}" --json --force --allow row-sums > matrix.json
            best=$(awk -v a="$(json compute matrix)" -v b="$best" 'BEGIN { print b == "" || a < b ? a : b }')
        done
        size="$(json rows matrix) unknowns, epsilon $epsilon"
        record "$name" "$operator, fp32, compute, by penstock-hmatrix-assemble --skeleton" "$best" s "${asked[$name]:-}" "$size${asked[$name]:+; floor: what is asked}"
        [ "$operator" = slp ] && continue
        record "$name" "$operator, fp32, largest error of row sums" "$(json row_sum_error matrix)" 1 "$epsilon" "$size"
        penstock-verify --json matrix.h5 --error 40 > verify.json
        record "$name" "$operator, fp32, error of 40 rows by penstock-verify" "$(json error verify)" 1 "$epsilon" "$size"
    done
done
