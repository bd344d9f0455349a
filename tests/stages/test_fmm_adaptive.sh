# penstock-fmm: the adaptive tree: chosen for clusters, within its bound, the same bits by any number of threads; what it
# cannot do falls back to the octree's tree, saying so, or is refused where it was asked for.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare
fmm="penstock-fmm --device cpu"
is_tree() { [ "$(figure tree)" = "$1" ] || fail "the tree is $(figure tree), expected $1: $2"; }
particles() { # KIND COUNT SEED: KIND.SEED.h5
    bash "$ROOT/tests/support/particles-of" "$1" "$2" "$3" > text.txt
    penstock-particle-import text.txt "$1.$3.h5" > import 2>&1 || { cat import; fail "$1"; }
}
tree() { # KIND COUNT OPTIONS...: KIND.tree.h5
    particles "$1" "$2" 1
    penstock-octree-build "$1.1.h5" "$1.tree.h5" "${@:3}" > built 2>&1 || { cat built; fail "$1: tree"; }
}

# ---- chosen, within the bound by an independent check of other targets; bits ----
tree cusp 12000 --height 12
tree deep 12000 --height 3
tree plummer 12000 --height 6
for kind in cusp deep plummer; do
    expect 0 "" $fmm $kind.tree.h5 $kind.h5 --accuracy 1e-3 --check 500 --threads 1
    is_tree adaptive $kind
    within "$(figure error_potential)" 0 1e-3 "potential of $kind"
    within "$(figure error_gradient)" 0 1e-3 "gradient of $kind"
    expect 0 "" $fmm $kind.tree.h5 other.h5 --accuracy 1e-3 --check 500 --threads 3 --force
    same other.h5 $kind.h5
done
within "$(figure work_of_uniform)" 1.1 1e9 "what it is chosen for"
expect 0 "" $fmm cusp.tree.h5 whole.h5 --order 6 --tree uniform
is_tree uniform "where it is asked for"
expect 0 "" $fmm cusp.tree.h5 parts.h5 --order 6 --tree adaptive
penstock-compare parts.h5 whole.h5 --tolerance 1e-4 > compared || { cat compared; fail "the trees disagree"; }

# ---- of a file of particles: the results of an octree of them, to the bit; what only an octree's tree does is refused ----
for kind in cusp plummer; do
    expect 0 "" $fmm $kind.1.h5 other.h5 --accuracy 1e-3 --check 500 --threads 3 --force
    is_tree adaptive "of particles, $kind"
    expect 0 "" penstock-compare other.h5 $kind.h5 --tolerance 0 --no-attributes
done
expect 0 "up to date" $fmm plummer.1.h5 other.h5 --accuracy 1e-3 --check 500 --threads 1
expect 0 "" $fmm plummer.1.h5 other.h5 --order 6 --charges plummer.1.h5 --force
expect 0 "" $fmm plummer.tree.h5 parts.h5 --order 6 --tree adaptive --force
expect 0 "" penstock-compare other.h5 parts.h5 --tolerance 0 --no-attributes
# Two chunks of the output, written as they come; their energy is that of all.
penstock-particle-import --generate cube --count 140000 many.h5 > built 2>&1 || fail particles
penstock-octree-build many.h5 tree.h5 > built 2>&1 || fail "an octree of many"
expect 0 "" $fmm many.h5 other.h5 --order 2 --force
energy=$(figure energy)
expect 0 "" $fmm tree.h5 parts.h5 --order 2 --tree adaptive --force
[ "$energy" = "$(figure energy)" ] || fail "energy $energy of chunks, $(figure energy) of all"
expect 0 "" penstock-compare other.h5 parts.h5 --tolerance 0 --no-attributes
particles cusp 900 3
expect 0 "" $fmm cusp.3.h5 parts.h5 --order 8
expect 0 "" $fmm cusp.3.h5 whole.h5 --order 8 --tree uniform --force
is_tree uniform "which of a file of particles is one leaf"
expect 0 "" penstock-compare parts.h5 whole.h5 --tolerance 1e-6 --no-attributes
expect 2 "no octree has sorted" $fmm plummer.1.h5 none.h5 --trace trace.h5
need=$(least $fmm plummer.1.h5 --order 3 --threads 1)
expect 4 "at least" $fmm plummer.1.h5 none.h5 --order 3 --threads 1 --host-memory $((need / 2))
expect 0 "" $fmm plummer.1.h5 other.h5 --order 3 --threads 1 --host-memory "$need" --force
expect 3 "" $fmm "$ROOT/README.md" none.h5

# ---- other kernels, precisions, targets that are not the sources ----
for how in "--kernel yukawa --parameter 2 --order 5" "--precision mixed --order 5" "--precision fp32 --order 4"; do
    expect 0 "" $fmm plummer.tree.h5 other.h5 $how --check 300 --force
    is_tree adaptive "$how"
    within "$(figure error_potential)" 0 1e-3 "potential, $how"
    within "$(figure error_gradient)" 0 1e-2 "gradient, $how"
done
particles cusp 3000 2
penstock-octree-build cusp.1.h5 two.tree.h5 --targets cusp.2.h5 --height 8 > built 2>&1 || { cat built; fail "two sets"; }
expect 0 "" $fmm two.tree.h5 two.h5 --order 6 --tree adaptive --check 300
within "$(figure error_potential)" 0 1e-5 "potential of other targets"
within "$(figure error_gradient)" 0 1e-3 "gradient of other targets"
# all at one place, one particle, few particles
printf '1 2 3 1\n%.0s' {1..50} > text.txt
penstock-particle-import text.txt place.h5 --coincident keep > import 2>&1 || { cat import; fail "one place"; }
penstock-octree-build place.h5 place.tree.h5 --height 1 > built 2>&1 || { cat built; fail "one place"; }
expect 0 "" $fmm place.tree.h5 place.r.h5 --order 3 --tree adaptive
[ "$(figure energy)" = 0 ] || fail "particles at one place act on each other: $(figure energy)"

# ---- on a device: trees that grow there, and those that the host makes for it ----
tree cube 12000 --height 4
on_a_device() {
    gpu="penstock-fmm --device cuda"
    tree far 12000 --height 6
    for kind in plummer far; do
        expect 0 "growing" $gpu $kind.tree.h5 gpu.h5 --tree adaptive --accuracy 1e-3 --check 500 --force
        is_tree adaptive "$kind on a device"
        within "$(figure error_potential)" 0 1e-3 "potential of $kind on a device"
        within "$(figure error_gradient)" 0 1e-3 "gradient of $kind on a device"
        expect 0 "growing" $gpu $kind.tree.h5 again.h5 --tree adaptive --accuracy 1e-3 --check 500 --force
        same again.h5 gpu.h5
        expect 0 "growing" $gpu $kind.tree.h5 gpu.h5 --order 6 --tree adaptive --force
        expect 0 "" $fmm $kind.tree.h5 cores.h5 --order 6 --tree adaptive --force
        penstock-compare gpu.h5 cores.h5 --tolerance 1e-4 --no-attributes > compared || { cat compared; fail "$kind: the device disagrees"; }
    done
    expect 0 "growing" $gpu plummer.1.h5 again.h5 --accuracy 1e-3 --check 500 --force
    within "$(figure error_gradient)" 0 1e-3 "gradient of a file of particles on a device"
    # more than a stretch, a tile and a copy of them
    penstock-particle-import --generate plummer --count 1300000 many.h5 > import 2>&1 || { cat import; fail "many"; }
    expect 0 "growing" $gpu many.h5 gpu.h5 --order 5 --check 500 --force
    within "$(figure error_gradient)" 0 1e-3 "gradient of many particles on a device"
    penstock-octree-build many.h5 many.tree.h5 --height 8 > built 2>&1 || { cat built; fail "many: tree"; }
    expect 0 "growing" $gpu many.tree.h5 again.h5 --order 5 --tree adaptive --force
    expect 0 "" penstock-compare gpu.h5 again.h5 --tolerance 1e-12 --no-attributes
    rm many.h5 many.tree.h5
    expect 0 "growing" $gpu plummer.tree.h5 gpu.h5 --accuracy 1e-3 --precision mixed --check 500 --force
    within "$(figure error_gradient)" 0 1e-3 "gradient in mixed precision"
    expect 0 "growing" $gpu plummer.tree.h5 --order 5 --plan
    is_tree adaptive "chosen on a device"
    expect 0 "" $gpu cube.tree.h5 gpu.h5 --order 3 --force
    is_tree uniform "a cube on a device"
    expect 0 "the host makes the adaptive tree" $gpu deep.tree.h5 gpu.h5 --tree adaptive --accuracy 1e-3 --check 500 --force
    within "$(figure error_gradient)" 0 1e-3 "gradient of a deep cusp on a device"
    expect 0 "the host makes the adaptive tree" $gpu two.tree.h5 gpu.h5 --order 6 --tree adaptive --check 300 --force
    within "$(figure error_potential)" 0 1e-5 "potential of other targets on a device"
    expect 2 "--device cpu keeps" $gpu plummer.1.h5 none.h5 --checkpoint-every 1step
    expect 0 "--device cpu keeps" $gpu plummer.tree.h5 gpu.h5 --order 3 --checkpoint-every 1step --force
    is_tree uniform "with a journal on a device"
    expect 4 "MB of a device's memory" $gpu plummer.tree.h5 none.h5 --order 3 --tree adaptive --device-memory 1M
    # by stretches: the bits of the whole
    penstock-particle-import --generate plummer --count 400000 some.h5 > import 2>&1 || { cat import; fail "some"; }
    expect 0 "" $gpu some.h5 gpu.h5 --order 4 --check 100 --force
    for memory in 60M 40M; do
        expect 0 "by stretches" $gpu some.h5 again.h5 --order 4 --check 100 --device-memory $memory --force
        within "$(figure evaluated)" 2 1e9 "stretches on a device with $memory"
        expect 0 "" penstock-compare again.h5 gpu.h5 --tolerance 0 --no-attributes
    done
    expect 2 "has $(nvidia-smi -L | wc -l) here" $gpu some.h5 none.h5 --order 4 --devices 16
    if [ "$(nvidia-smi -L | wc -l)" -gt 1 ]; then # two of one process: the bits of one
        expect 0 "growing" $gpu some.h5 again.h5 --order 4 --check 100 --devices 2 --force
        within "$(figure devices)" 2 2 "devices of one process"
        same again.h5 gpu.h5
        expect 4 "one device" $gpu some.h5 none.h5 --order 4 --devices 2 --device-memory 40M
        expect 2 "made on the host" $gpu deep.tree.h5 none.h5 --order 4 --tree adaptive --devices 2
        expect 2 "the octree's" $gpu cube.tree.h5 none.h5 --order 3 --devices 2
    fi
    rm some.h5
    expect 0 "the uniform tree" $gpu plummer.tree.h5 gpu.h5 --order 3 --device-memory 1M --force
    is_tree uniform "with too little memory of the device"
}
expect 2 "grows on each" $fmm plummer.tree.h5 none.h5 --order 3 --tree adaptive --devices 2
expect 2 "the octree's is used" $fmm cube.tree.h5 none.h5 --order 3 --devices 2
if nvidia-smi -L > /dev/null 2>&1; then
    on_a_device
else
    expect 1 "cuda" penstock-fmm --device cuda plummer.tree.h5 none.h5 --order 3 --tree adaptive
fi

# ---- left to the octree's tree ----
expect 0 "" $fmm cube.tree.h5 cube.h5 --order 3
is_tree uniform cube
grep -q uniform_because out && fail "a cube has no reason to tell"
expect 0 "which are of tasks" $fmm plummer.tree.h5 other.h5 --order 3 --trace trace.h5 --force
is_tree uniform "with a trace"
expect 2 "which are of tasks" $fmm plummer.tree.h5 none.h5 --order 3 --tree adaptive --trace trace.h5
# The adaptive tree takes 8 MB more than the other one. How much a process takes of itself differs from run to run, by up to
# 2 MB where libraries of devices are mapped, so a budget lies midway between what is needed (least holds 2 MiB for that).
tree plummer 200000 --height 5 --group 400
uniform=$(least $fmm plummer.tree.h5 --order 6 --threads 1 --tree uniform)
adaptive=$(least $fmm plummer.tree.h5 --order 6 --threads 1 --tree adaptive)
either=$(least $fmm plummer.tree.h5 --order 6 --threads 1)
[ "$adaptive" -gt $((uniform + 5000000)) ] || fail "the trees need $uniform and $adaptive B: too alike to tell them by memory"
[ "$either" -lt $(((uniform + adaptive) / 2)) ] || fail "--tree auto needs $either B and the adaptive tree $adaptive B: it does with less"
midway=$(((uniform + adaptive) / 2 - 2097152))
expect 0 "by stretches" $fmm plummer.tree.h5 --order 6 --threads 1 --plan --host-memory $midway
is_tree adaptive "with too little memory for all at once"
tree plummer 12000 --height 6
need=$(least $fmm plummer.tree.h5 --order 3 --tree adaptive --threads 1)
expect 4 "" $fmm plummer.tree.h5 none.h5 --order 3 --tree adaptive --threads 1 --host-memory $((need / 2))
expect 0 "" $fmm plummer.tree.h5 other.h5 --order 3 --tree adaptive --threads 1 --host-memory $((need + 2000000)) --force
is_tree adaptive "with the least memory"
echo "the adaptive tree: chosen, bounded, repeatable; refusals and fallbacks"
