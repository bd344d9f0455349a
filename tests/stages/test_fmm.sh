# penstock-fmm: errors against direct sums, targets of their own, degenerate and refused inputs.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare verify inspect
fmm="penstock-fmm --device cpu"
import=penstock-particle-import
build=penstock-octree-build


# ---- errors of the guide (relative L2, charges in (0, 1), N = 20,000): at most twice, at least half of it ----
$import --generate cube --count 20000 cube.h5 > /dev/null || fail "cube"
$import --generate ellipsoid --count 20000 ellipsoid.h5 > /dev/null || fail "ellipsoid"
$build cube.h5 c4.h5 --height 4 --box 0,0,0,1 --group 60 > /dev/null || fail "cube's tree"
$build ellipsoid.h5 e6.h5 --height 6 --box 0,0,0,1 --group 40 > /dev/null || fail "ellipsoid's tree"
while read -r tree kernel acc potential gradient momentum; do
    expect 0 "" $fmm $tree.h5 $tree.$kernel.$acc.h5 --kernel $kernel --order $acc --check 1000
    within "$(awk -v a="$(figure error_potential)" -v b=$potential 'BEGIN { print a / b }')" 0.4 2 "potential of $tree $kernel $acc"
    within "$(awk -v a="$(figure error_gradient)" -v b=$gradient 'BEGIN { print a / b }')" 0.02 2 "gradient of $tree $kernel $acc"
    within "$(figure momentum)" 0 $momentum "sum q g of $tree $kernel $acc"
done << END
c4 inverse 3 1.2e-4 4.8e-3 1e-4
c4 inverse 5 9.4e-7 8.6e-5 5e-6
c4 inverse 7 9.7e-9 1.1e-6 1e-7
e6 inverse 3 3.4e-4 4.1e-4 1e-4
e6 inverse 5 4.5e-6 1e-5 5e-6
e6 inverse 7 5.7e-8 1.8e-7 1e-7
c4 inverse-square 5 7.3e-6 2.4e-5 1e-4
c4 distance 5 1.3e-7 1.0e-5 1e-4
c4 exponential 5 1.8e-7 2.2e-5 1e-4
END
penstock-verify c4.inverse.5.h5 > /dev/null || fail "the result does not verify"
expect 0 "" $fmm c4.h5 plain.h5 --order 5 --basis plain --check 1000
within "$(figure error_potential)" 4e-7 2e-6 "error with plain operators"
expect 0 "" $fmm c4.h5 single.h5 --order 5 --precision fp32 --check 1000
within "$(figure error_potential)" 4e-7 3e-6 "error in single precision"
expect 0 "" $fmm c4.h5 mixed.h5 --order 5 --precision mixed --check 1000
within "$(figure error_potential)" 4e-7 2e-6 "error in mixed precision"
# r^2 is exact up to rounding: the far field is a polynomial
expect 0 "" $fmm c4.h5 square.h5 --kernel square --order 3 --epsilon 1e-14 --check 500
within "$(figure error_potential)" 0 1e-13 "potential of r^2"
within "$(figure error_gradient)" 0 1e-11 "gradient of r^2"

# ---- targets of their own ----
$import --generate cube --count 7000 --seed 5 targets.h5 > /dev/null || fail "targets"
$build ellipsoid.h5 both.h5 --targets targets.h5 --height 5 --box 0,0,0,1 --group 30 > /dev/null || fail "both"
expect 0 "" $fmm both.h5 apart.h5 --accuracy 1e-5 --check 1000
within "$(figure error_potential)" 1e-8 1e-5 "potential at targets of their own"
expect 0 "" $fmm both.h5 apart2.h5 --accuracy 1e-5 --workers 1 --host-memory "$(least $fmm both.h5 --accuracy 1e-5 --workers 1)"
same apart2.h5 apart.h5
# targets at the places of the sources: what one tree gives
$build cube.h5 twice.h5 --targets cube.h5 --height 4 --box 0,0,0,1 --group 60 > /dev/null || fail "twice"
expect 0 "" $fmm twice.h5 apart3.h5 --order 5
penstock-compare apart3.h5 c4.inverse.5.h5 --tolerance 1e-12 > compared || { cat compared; fail "two trees and one disagree"; }

# ---- coordinates times 2: potentials half, gradients a quarter, to the bit ----
awk 'BEGIN { srand(3); for (i = 0; i < 3000; ++i) printf "%.9f %.9f %.9f %.6f\n", rand(), rand(), rand(), rand() }' > p1.txt
awk '{ printf "%.9f %.9f %.9f %s\n", 2 * $1, 2 * $2, 2 * $3, $4 }' p1.txt > p2.txt
for i in 1 2; do
    $import p$i.txt p$i.h5 > /dev/null && $build p$i.h5 t$i.h5 --height 4 --box 0,0,0,$i > /dev/null || fail "p$i"
    expect 0 "" $fmm t$i.h5 r$i.h5
done
energy() { h5dump -a energy "$1" | sed -n 's/.*(0): //p'; }
awk -v a="$(energy r1.h5)" -v b="$(energy r2.h5)" 'BEGIN { exit !(a > 0 && a == 2 * b) }' || fail "scaling by 2"

# ---- degenerate ----
echo 1 2 3 4 > one.txt; $import one.txt one.h5 > /dev/null || fail "one"
for h in 1 2 3 6; do
    $build one.h5 tree.h5 --height $h --force > /dev/null || fail "one at height $h"
    expect 0 "" $fmm tree.h5 one_result.h5 --check 5 --force
    [ "$(figure energy)" = 0 ] || fail "one particle at height $h acts on itself"
done
awk 'BEGIN { for (i = 0; i < 3000; ++i) print "0.25 0.5 0.75 1" }' > heap.txt
$import heap.txt heap.h5 --coincident keep > /dev/null 2>&1 || fail "heap"
$build heap.h5 tree.h5 --height 4 --force > /dev/null 2>&1 || fail "heap's tree"
expect 0 "" $fmm tree.h5 heap_result.h5 --check 100
[ "$(figure energy)" = 0 ] || fail "particles at one place act on each other"
printf '0 0 0 1\n1 0 0 2\n' > two.txt; $import two.txt two.h5 > /dev/null || fail "two"
for h in 1 3 5; do
    $build two.h5 tree.h5 --height $h --force > /dev/null || fail "two at height $h"
    expect 0 "" $fmm tree.h5 two_result.h5 --order 7 --force
    within "$(figure energy)" 1.9999999 2.0000001 "energy of two charges at height $h"
done
: > empty.txt; expect 3 "empty.txt" $import empty.txt empty.h5
printf '0 0 0 1\n1 nan 0 2\n' > nan.txt; expect 3 "nan.txt" $import nan.txt nan.h5
printf '0 0 0 1e308\n1e-300 0 0 1e308\n1 1 1 1\n' > huge.txt; $import huge.txt huge.h5 > /dev/null || fail "huge"
$build huge.h5 tree.h5 --height 3 --force > /dev/null || fail "huge's tree"
expect 3 "not finite" $fmm tree.h5 none.h5
[ ! -e none.h5 ] && [ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"

# ---- refused ----
expect 2 "OUTPUT is missing" $fmm c4.h5
expect 3 "missing.h5" $fmm missing.h5 none.h5
expect 3 "penstock-octree" $fmm heap_result.h5 none.h5
expect 2 "inverse-square" $fmm c4.h5 none.h5 --kernel invers
expect 2 "--accuracy chooses" $fmm c4.h5 none.h5 --accuracy 3 --order 4
expect 0 "pieces" $fmm c4.h5 --plan

# ---- real particles ----
data=$SHARED/data/particles
if [ -d "$data" ]; then
    for f in galaxy_20K.tipsy achbp_16090.pqr.gz scalfmm_unitCube20k.fma.gz; do
        $import "$data/$f" real.h5 --force > /dev/null || fail "$f"
        $build real.h5 real_tree.h5 --force --order 6 > /dev/null || fail "$f: tree"
        expect 0 "" $fmm real_tree.h5 real_result.h5 --order 6 --check 1000 --force
        within "$(figure error_potential)" 0 1e-5 "potential of $f"
        within "$(figure error_gradient)" 0 1e-4 "gradient of $f"
        echo "$f: potential $(figure error_potential), gradient $(figure error_gradient)"
    done
fi
exit 0
