#!/bin/bash
# penstock-compare, dataset by dataset: different chunks, types and capacities; every kind of
# difference is found and named.
. "$ROOT/tests/stages/lib.sh"
needs compare
make=$BUILD/tests-programs/compare_pair
[ -x "$make" ] || { echo "compare_pair was not built"; exit 77; }

$make a.h5 64 f64 none && $make b.h5 333 f64 none && $make c.h5 17 f32 none || fail "making stores"
expect 0 'identical' penstock-compare a.h5 b.h5 --tolerance 0
expect 0 'agree' penstock-compare a.h5 c.h5 --tolerance 1e-15
expect 1 'types differ' penstock-compare a.h5 c.h5 --tolerance 0

# One value of 7000 is off by 2^-10 (the largest is 4).
$make value.h5 50 f64 value || fail making
expect 1 'first at value 4321' penstock-compare value.h5 a.h5 --tolerance 0
expect 1 'largest difference 0.000977' penstock-compare value.h5 a.h5 --tolerance 1e-6
expect 0 '' penstock-compare value.h5 a.h5 --tolerance 1e-5 --json
l2=$(penstock-compare value.h5 a.h5 --tolerance 1 --json | grep -o '"relative_l2": [-0-9.e]*' | head -1 | cut -d' ' -f2)
norm=$(awk 'BEGIN { for (i = 0; i < 7000; ++i) { v = (i * 7919 % 2048 - 1024) / 256; s += v * v }
                    print 2 ^ -10 / sqrt(s) }')
within "$(awk -v a="$l2" -v b="$norm" 'BEGIN { print a / b }')" 0.99999 1.00001 "relative L2"
expect 0 '' penstock-compare value.h5 a.h5 --measure max --tolerance 2.5e-4
expect 1 'differs' penstock-compare value.h5 a.h5 --measure max --tolerance 2.4e-4
expect 0 '' penstock-compare value.h5 a.h5 --measure max --absolute --tolerance 9.8e-4
expect 1 'differs' penstock-compare value.h5 a.h5 --measure max --absolute --tolerance 9.7e-4
expect 0 '' penstock-compare value.h5 a.h5 --tolerance 0 --exclude '/group/*'
expect 0 '' penstock-compare value.h5 a.h5 --tolerance 0 --dataset /counts --dataset /ragged

$make nan.h5 50 f64 nan && $make count.h5 50 f64 count && $make units.h5 50 f64 units &&
    $make shape.h5 50 f64 shape && $make missing.h5 50 f64 missing && $make ragged.h5 50 f64 ragged ||
    fail making
expect 1 '/group/values differs' penstock-compare nan.h5 a.h5 --tolerance 1e9
expect 0 'identical' penstock-compare nan.h5 nan.h5
expect 1 '/counts differs' penstock-compare count.h5 a.h5 --tolerance 0.1
expect 1 'units differ' penstock-compare units.h5 a.h5
expect 1 '999 x 7 and 1000 x 7' penstock-compare shape.h5 a.h5
expect 1 '/counts is missing in the first file' penstock-compare missing.h5 a.h5
expect 1 '/counts is missing in the reference' penstock-compare a.h5 missing.h5
expect 1 '/ragged differs' penstock-compare ragged.h5 a.h5 --tolerance 0.1
expect 3 'histories and traces' penstock-compare a.h5 b.h5 --norm space-time
expect 2 'space-time' penstock-compare a.h5 b.h5 --weights mesh.h5

# Damaged data are refused, not compared.
cp a.h5 damaged.h5
head -c 2000 /dev/zero | tr '\0' '\377' |
    dd of=damaged.h5 bs=1 seek=$(($(stat -c %s a.h5) / 2)) conv=notrunc 2>/dev/null
expect 3 'damaged.h5' penstock-compare damaged.h5 a.h5

# Slice matrices of one and of three ranks: other tiles, a master over parts, the same entries.
if command -v mpirun > /dev/null && command -v penstock-slice-assemble > /dev/null &&
    command -v penstock-mesh-import > /dev/null; then
    awk -f "$ROOT/cases/tdbem-sphere/icosphere.awk" -v levels=2 > s.off
    penstock-mesh-import -q s.off s.h5 > log || fail import
    assemble="penstock-slice-assemble -q s.h5 --courant 2 --speed 1"
    $assemble one.h5 > log && mpirun --oversubscribe -np 3 $assemble three.h5 > log &&
        $assemble double.h5 --precision fp64 > log && $assemble other.h5 --points 3 > log || fail assembly
    expect 0 'M^k' penstock-compare three.h5 one.h5 --tolerance 0
    expect 0 'M^0' penstock-compare three.h5 double.h5 --tolerance 1e-6
    expect 1 'M^0 differs' penstock-compare three.h5 other.h5 --tolerance 1e-3
    expect 3 'unknowns' sh -c 'awk -f "$ROOT/cases/tdbem-sphere/icosphere.awk" -v levels=1 > t.off &&
        penstock-mesh-import -q t.off t.h5 > log && penstock-slice-assemble -q t.h5 small.h5 \
        --courant 2 --speed 1 > log && penstock-compare three.h5 small.h5'
fi
echo "differences are found and named"
