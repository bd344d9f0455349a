#!/bin/bash
# penstock-hmatrix-assemble on a CUDA device, from the programs on PATH: row sums of K and K' of boxes of long triangles within two
# eps, whose far blocks have parts that a few rows or columns alone see, and vectors that nearly depend on each other; then of a
# dense matrix in many waves, all of whose values come from the stream of near leaves: they must not be packed before it is done.
# (The first two waves allocate, which waits for the device by itself.)
# ASPECTS, EPSILONS, SINGLE (eps of fp32 through points): which. Leaves nothing.
here=$(cd "$(dirname "$0")" && pwd)
. "$here/near.sh"
clusters() { # ASPECT N
    awk -v a="$1" -v n="$2" -f "$here/../support/box.awk" > box.off
    run penstock-mesh-import box.off box.hdf --force
    run penstock-cluster-build box.hdf "box$1.h5" --force
}
sums() { # ASPECT OPERATOR EPS OPTIONS..
    run penstock-hmatrix-assemble "box$1.h5" k.h5 --operator "$2" --epsilon "$3" "${@:4}" --device "$device" --force --allow row-sums
    local error
    error=$(awk '$1 == "row_sum_error" { print $2 }' out)
    echo "box of aspect $1, $2, eps $3 ${*:4}: $error"
    awk -v e="$error" -v eps="$3" 'BEGIN { exit !(e <= 2 * eps) }' || fail "row sums of $2 of a box of aspect $1 at $3 ${*:4}"
    passed=$((passed + 1))
}
for aspect in ${ASPECTS:-16 64}; do
    clusters "$aspect" 44
    for operator in dlp adlp; do
        for eps in ${EPSILONS:-1e-3 1e-4 1e-5}; do sums "$aspect" "$operator" "$eps"; done
        for eps in ${SINGLE:-1e-3}; do sums "$aspect" "$operator" "$eps" --precision fp32 --skeleton; done
    done
done
clusters 16 20
sums 16 dlp 1e-4 --mode dense --chunk-size 1M --device-memory 64M
echo "$passed passed"
