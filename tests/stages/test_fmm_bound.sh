# penstock-fmm: --accuracy is a bound, met or refused with code 5; kernels much narrower than the box; particles
# outside the box; octrees whose lists, permutation or positions are not those of their tree.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare
fmm="penstock-fmm --device cpu"
tree() { # KIND COUNT OPTIONS...: KIND.h5 and KIND.tree.h5
    bash "$ROOT/tests/support/particles-of" "$1" "$2" > "$1.txt"
    made penstock-particle-import "$1.txt" "$1.h5" --force
    made penstock-octree-build "$1.h5" "$1.tree.h5" --force "${@:3}"
}

# ---- the bound, by an independent check of other targets ----
tree cube 8000 --height 4 --group 40
tree plummer-signed 6000 --height 6
tree plane 8000 --height 6
tree pairs 8000 --height 4
while read -r kind accuracy kernel; do
    expect 0 "reached_gradient" $fmm $kind.tree.h5 r.h5 --accuracy $accuracy --kernel $kernel --check 400 --force
    within "$(figure error_potential)" 0 "$accuracy" "potential of $kind, $kernel"
    within "$(figure error_gradient)" 0 "$accuracy" "gradient of $kind, $kernel"
done << END
cube 1e-5 inverse
plummer-signed 1e-3 inverse
plane 1e-4 inverse
pairs 1e-4 inverse
cube 1e-3 exponential --parameter 10
cube 1e-4 distance
END
# five close pairs in a hundred make up the norm: the others are right all the same
expect 0 "" $fmm pairs.tree.h5 r.h5 --accuracy 1e-3 --check 400 --force
within "$(figure error_gradient)" 0 1e-9 "relative L2 error, which says nothing here"
within "$(figure reached_gradient)" 1e-6 1e-3 "what is held against the bound"
# nothing is promised where the order is given
expect 0 "" $fmm cube.tree.h5 r.h5 --order 5 --force
grep -q reached_gradient out && fail "a bound that nobody asked for"
# leaves with pairs that single precision hardly tells apart are summed in fp64: nobody samples them here
for how in "fp32 --tree uniform" "mixed --tree uniform" "fp32 --tree adaptive" "mixed --tree adaptive"; do
    expect 0 "" $fmm pairs.tree.h5 r.h5 --order 5 --precision $how --check 400 --force
    within "$(figure error_potential)" 0 1e-6 "potential of close pairs, $how"
    within "$(figure error_gradient)" 0 1e-9 "gradient of close pairs, $how"
done
# charges that single precision does not hold
for scale in 1e-200 1e-25; do
    bash "$ROOT/tests/support/particles-of" cube 2000 | awk -v s=$scale 'NF == 4 && $1 != "#" { print $1, $2, $3, $4 * s }' > faint.txt
    penstock-particle-import faint.txt $scale.h5 > /dev/null 2>&1 || fail "faint charges"
    penstock-octree-build $scale.h5 $scale.tree.h5 --height 3 > /dev/null 2>&1 || fail "a tree of faint charges"
done
for input in 1e-200.tree.h5 1e-200.h5; do
    for precision in fp32 mixed; do
        expect 3 "take --precision fp64" $fmm $input none.h5 --order 5 --precision $precision
    done
done
expect 3 "take --precision fp64" $fmm 1e-25.tree.h5 none.h5 --order 5 --precision mixed --charges 1e-200.h5
expect 0 "" $fmm 1e-200.tree.h5 r.h5 --order 5 --check 400 --force
within "$(figure error_gradient)" 0 2e-4 "gradient of charges of 1e-200"
expect 0 "" $fmm 1e-25.tree.h5 r.h5 --order 5 --precision fp32 --check 400 --force
within "$(figure error_gradient)" 0 2e-4 "gradient of charges of 1e-25 in single precision"
# what cannot be had: code 5, the figure, no output
expect 5 "is not reached" $fmm cube.tree.h5 none.h5 --accuracy 1e-5 --precision fp32
grep -q "fp64" err || fail "the message does not say what to do"

# ---- the same bits and samples whatever memory, workers, journal ----
expect 0 "" $fmm plane.tree.h5 a.h5 --accuracy 1e-4
first=$(figure reached_gradient)
[ "$(figure attempts)" -gt 1 ] || fail "a plane was right at once: nothing was raised"
expect 0 "" $fmm plane.tree.h5 b.h5 --accuracy 1e-4 --workers 1 --host-memory 90M
same a.h5 b.h5
[ "$(figure reached_gradient)" = "$first" ] || fail "samples depend on memory"
expect 0 "" $fmm plane.tree.h5 c.h5 --accuracy 1e-4 --checkpoint-every 1step
same a.h5 c.h5
[ ! -e c.h5.groups ] || fail "a journal is left"

# ---- kernels that reach less far than a leaf ----
penstock-octree-build cube.h5 wide.tree.h5 --height 3 > /dev/null 2> err || { cat err; fail "a tree of wide leaves"; }
for kernel in "gaussian --parameter 1e4" "gaussian --parameter 1e7" "yukawa --parameter 3000" "exponential --parameter 1e5" "exponential --parameter 40"; do
    for accuracy in 1e-3 1e-4; do
        expect 0 "" $fmm wide.tree.h5 r.h5 --kernel $kernel --accuracy $accuracy --check 300 --force
        within "$(figure error_potential)" 0 $accuracy "potential of $kernel"
    done
    expect 0 "" $fmm wide.tree.h5 r.h5 --kernel $kernel --order 4 --basis plain --force
done
expect 2 "meant to be positive" $fmm wide.tree.h5 none.h5 --kernel yukawa --parameter -3000

# ---- outside the box ----
for box in 0.2,0.2,0.2,0.6 -1,0,0,1.5; do
    penstock-octree-build cube.h5 out.tree.h5 --height 5 --box $box --clamp --force > /dev/null 2>&1 || fail "--clamp"
    expect 3 "build the octree with a --box that holds them" $fmm out.tree.h5 none.h5
    expect 3 "build the octree with a --box that holds them" $fmm out.tree.h5 none.h5 --order 5
done
penstock-octree-build cube.h5 out.tree.h5 --height 2 --box 0.2,0.2,0.2,0.6 --clamp --force > /dev/null 2>&1 || fail "--clamp"
expect 0 "" $fmm out.tree.h5 near.h5 --check 8000 # no far field: right wherever they are
within "$(figure error_potential)" 0 1e-12 "potential without a far field"

# ---- octrees that are not what they say ----
edit="$BUILD/tests-programs/store_edit"
[ -x "$edit" ] || { echo "store_edit was not built"; exit 0; }
wrong() { # DATASET INDEX VALUE TEXT
    "$edit" cube.tree.h5 bad.h5 "$1" "$2" "$3" || fail "store_edit $1"
    expect 3 "$4" $fmm bad.h5 none.h5 --force --order 4
    expect 3 "$4" $fmm bad.h5 none.h5 --force --accuracy 1e-3 --host-memory 50M
}
"$edit" cube.tree.h5 good.h5 /sources/permutation 0 "$(h5dump -d /sources/permutation -s 0,0 -c 1,1 cube.tree.h5 | sed -n 's/.*(0,0): \([0-9]*\).*/\1/p')" || fail "store_edit"
expect 0 "" $fmm good.h5 r.h5 --order 4 --force
wrong /sources/permutation 17 23 "permutation does not name"
wrong /sources/permutation 17 8000 "place 8000"
wrong /sources/permutation 17 -1 "place -1"
wrong /sources/x 100 0.999 "outside its leaf"
wrong /sources/z 7000 -5 "outside its leaf"
wrong /sources/level_03/far_groups 3 0 "lists of group"
wrong /sources/level_03/near_groups 0 12 "lists of group"
wrong /sources/level_03/augmented 2 0 "lists of group"
wrong /sources/level_03/near_pairs 2 1 "lists of group"
[ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"
