#!/bin/bash
# penstock-hmatrix-assemble on a device: the same values whatever chunks are computed together, with little
# memory, by two ranks, and killed -9 and restarted; errors of sampled rows. Its parts, which may run side by side:
#     PARTS="dlp hyps dense killed" check_hmatrix_waves.sh
set -eu
. "$(dirname "$0")/lib.sh"
passed=0
figure() { json "$1" out; } # of the run before
assemble() { penstock-hmatrix-assemble -q "${clusters:-c.h5}" "$@" --device "${DEVICE:-cuda}" --json > out.json || fail "$*"; }
# same NAME: the values of the run before are those of the first
same() {
    [ "$(figure values_hash)" = "$hash" ] || fail "$1: other values"
    passed=$((passed + 1))
}
parts=" ${PARTS:-dlp hyps dense killed} "
wanted() { case $parts in *" $1 "*) ;; *) return 1 ;; esac; }
options="--wavenumber ${K:-4.18879} --skeleton --chunk-size 4M"
penstock-mesh-surface -q hull.hdf --shape suboff --scale 4.73 --edge "${EDGE:-0.3}" > /dev/null
penstock-cluster-build -q hull.hdf c.h5 --wavenumber "${K:-4.18879}" > /dev/null
while read -r operator precision; do
    wanted "$operator" || continue
    k="--operator $operator --precision $precision $options"
    assemble k.h5 $k --force
    hash=$(figure values_hash)
    penstock-verify --json k.h5 --error 5 > out.json || fail "verify, $operator"
    awk -v e="$(figure error)" 'BEGIN { exit !(e < 2e-4) }' || fail "$operator, $precision: error $(figure error)"
    assemble k.h5 $k --chunk-size 1M --force
    same "smaller chunks, $operator, $precision"
    assemble k.h5 $k --device-memory 400M --host-memory 3G --force
    same "little memory, $operator, $precision"
done << END
dlp fp64
hyps fp32
END
# Dense matrices: leaves that are all near, of clusters that fill what a device takes.
penstock-mesh-surface -q ball.hdf --divisions 6 > /dev/null
penstock-cluster-build -q ball.hdf ball.h5 --leaf 64 > /dev/null
wanted dense && while read -r operator how; do
    clusters=ball.h5 assemble d.h5 --operator $operator $how --mode dense --force
    penstock-verify --json d.h5 --error 2 > out.json || fail "verify, dense $operator"
    awk -v e="$(figure error)" 'BEGIN { exit !(e < 1e-4) }' || fail "dense $operator, $how: error $(figure error)"
    passed=$((passed + 1))
done << END
slp --precision fp32
hyps --precision fp32
dlp --precision fp64 --wavenumber 2
adlp --precision fp64 --wavenumber 2
END
if ! wanted killed; then
    echo "$passed passed, 0 failed, 0 skipped"
    exit
fi
k="--operator hyps --precision fp32 $options"
assemble k.h5 $k --chunk-size 500K --device-memory 400M --force
hash=$(figure values_hash)
time=$(figure time)
rm -f k.*
for part in .5 .6; do
    penstock-hmatrix-assemble -q c.h5 k.h5 $k --chunk-size 500K --device-memory 400M --device "${DEVICE:-cuda}" --restart > /dev/null 2>&1 &
    sleep "$(awk -v t="$time" -v p="$part" 'BEGIN { print .3 + t * p }')"
    kill -9 $! 2> /dev/null && wait $! 2> /dev/null || true
done
[ -e k.h5 ] || assemble k.h5 $k --chunk-size 500K --device-memory 400M --restart
penstock-inspect --json k.h5 > out.json
same "killed twice"
if with_ranks; then
    mpirun --oversubscribe -np 2 penstock-hmatrix-assemble -q c.h5 k.h5 $k --device "${DEVICE:-cuda}" --force --json > out.json || fail "two ranks"
    same "two ranks"
fi
echo "$passed passed, 0 failed, 0 skipped"
