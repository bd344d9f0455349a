#!/bin/bash
# Slices to blocks: every layout, the table, the plan, threads, what is refused and how.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import slice-assemble slice-block compare
block=penstock-slice-block

awk -f "$ROOT/cases/tdbem-sphere/icosphere.awk" -v levels=2 -v area=12.566370614359172 > sphere.off
penstock-mesh-import sphere.off sphere.h5 --order hilbert > /dev/null 2>&1 || fail "mesh"
penstock-slice-assemble sphere.h5 slices.h5 --courant 4 --speed 1 > figures || fail "slices"
d_max=$(awk '$1 == "d_max" { print $2 }' figures)
nnz=$(awk '$1 == "nnz" { print $2 }' figures)

# All layouts keep every value; contiguous blocks are as many as their definition says.
for layout in full contiguous warp; do
    $block slices.h5 $layout.h5 --layout $layout --block-rows 64 > figures 2> /dev/null || fail $layout
    grep -q "^nnz  *$nnz" figures || fail "$layout: nnz is not $nnz"
    expect 0 "is up to date" $block slices.h5 $layout.h5 --layout $layout --block-rows 64
done
$block slices.h5 --table --json > table.json || fail "table"
python3 - "$d_max" <<'END' || fail "the table contradicts itself"
import json, sys
t = json.load(open("table.json"))
t = t.get("figures", t)
d_max, n = int(sys.argv[1]), 320
tiles = 2 # of 256 and 64 rows
c = t["contiguous_%d" % d_max]
assert c["blocks"] == [n * sum(-(-r // b) for r in (256, 64)) for b in (16, 32, 64, 128)], c
f = t["full_16"]
assert f["blocks"] == sorted(f["blocks"], reverse=True), f
for i, rows in enumerate((16, 32, 64, 128)):
    due = 100 * t["nnz"] / (f["blocks"][i] * rows * 16)
    assert abs(f["nnz_percent"][i] - due) < 1e-3, (f, due)
w = t["warp_%d" % d_max]
assert w["nnz_percent"][0] > c["nnz_percent"][0], (w, c)
END

# Near and far lags together are all values; halves take half the values' bytes and tell their error.
$block slices.h5 near.h5 --k-below 10 > near 2> /dev/null || fail "near"
$block slices.h5 far.h5 --k-from 10 > far 2> /dev/null || fail "far"
[ $(awk '$1 == "nnz" { n += $2 } END { print n }' near far) -eq "$nnz" ] || fail "near and far: not $nnz values"
$block slices.h5 half.h5 --values f16 > half 2> /dev/null || fail "halves"
within $(awk '$1 == "rounding_max" { print $2 }' half) 1e-4 4.8829e-4 "largest rounding error"
within $(awk '$1 == "rounding_rms" { print $2 }' half) 1e-4 4.8829e-4 "mean rounding error"
penstock-verify half.h5 far.h5 > /dev/null || fail "halves and far lags do not verify"
expect 0 "is up to date" $block slices.h5 half.h5 --values f16

# Contents do not depend on the number of threads; a plan writes nothing.
$block slices.h5 one.h5 --threads 1 > /dev/null || fail "one thread"
$block slices.h5 three.h5 --threads 3 > /dev/null || fail "three threads"
penstock-compare one.h5 three.h5 > /dev/null || fail "one and three threads differ"
# Values as they are: the same numbers, not less on the disk than in memory.
$block slices.h5 plain.h5 --compress none > figures || fail "--compress none"
penstock-compare one.h5 plain.h5 > /dev/null || fail "compressed and plain values differ"
awk '$1 == "compression" { exit !($2 <= 1) }' figures || fail "--compress none compressed"
$block slices.h5 three.h5 --threads 3 --k-from 5 --values f16 --force > /dev/null || fail "three threads"
$block slices.h5 one.h5 --threads 1 --k-from 5 --values f16 --force > /dev/null || fail "one thread"
penstock-compare one.h5 three.h5 > /dev/null || fail "halves of one and three threads differ"
expect 0 "nnz_percent" $block slices.h5 none.h5 --plan
[ ! -e none.h5 ] || fail "a plan wrote its output"

# Refusals.
expect 2 "d_max = $d_max" $block slices.h5 none.h5 --layout full --block-columns $((d_max - 1))
expect 2 "d_max = $d_max" $block slices.h5 none.h5 --layout contiguous --block-columns $((d_max - 1))
expect 2 "block-rows" $block slices.h5 none.h5 --layout full --block-rows 1025
expect 2 "there is no lag" $block slices.h5 none.h5 --k-from 5000
expect 2 "there is no lag" $block slices.h5 none.h5 --k-from 9 --k-below 9
expect 2 "only warps" $block slices.h5 none.h5 --values f16 --layout full
expect 2 "OUTPUT is missing" $block slices.h5
expect 3 "sphere.h5" $block sphere.h5 none.h5
expect 3 "missing.h5" $block missing.h5 none.h5
head -c 40000 slices.h5 > cut.h5
expect 3 "cut.h5" $block cut.h5 none.h5
expect 4 "host-memory" $block slices.h5 none.h5 --host-memory 64K

# Killed with some tiles finished, the same command goes on from them to the same bits, in halves, too (with their errors).
for layout in "full --block-rows 64" warp "warp --values f16"; do
    $block slices.h5 whole.h5 --layout $layout -q --force > whole || fail "$layout"
    for ((n = 4; n < 200; n += 3)); do
        rm -f killed.h5*
        LD_PRELOAD=$BUILD/hostile/fail_nth.so FAIL_CALL=write FAIL_NTH=$n FAIL_SIGNAL=9 FAIL_UNDER=$PWD \
            $block slices.h5 killed.h5 --layout $layout --checkpoint-every 1step -q > /dev/null 2>&1
        [ $? -eq 137 ] || fail "$layout: was not killed at write $n"
        $block slices.h5 killed.h5 --layout $layout --checkpoint-every 1step > figures 2> said || fail "$layout: goes on"
        grep -q "[123] of 4 tiles were kept" said && break
    done
    grep -q "[123] of 4 tiles were kept" said || fail "$layout: no tile was kept"
    penstock-compare -q whole.h5 killed.h5 > /dev/null || fail "$layout: after a kill"
    [ "$(grep rounding whole)" = "$(grep rounding figures)" ] || fail "$layout: other errors after a kill"
    [ ! -e killed.h5.items ] || fail "$layout: the journal stays"
done
