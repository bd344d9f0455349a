# penstock-fmm on one device: what is refused and what falls back to the cores; where there is a GPU, its
# results against those of the cores.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare verify
figure() { awk -v n="$1" '$1 == n { gsub(/[][,]/, "", $2); print $2; exit }' out; } # of several sides the first

penstock-particle-import --generate ellipsoid --count 20000 --right-hand-sides 2 p.h5 > /dev/null || fail "particles"
penstock-octree-build p.h5 tree.h5 --height 6 --box 0,0,0,1 --group 40 > /dev/null || fail "tree"
penstock-particle-import --generate cube --count 3000 --seed 7 t.h5 > /dev/null || fail "targets"
penstock-octree-build p.h5 both.h5 --targets t.h5 --height 4 --box 0,0,0,1 --group 50 > /dev/null || fail "both"

expect 2 "needs a CUDA device" penstock-fmm tree.h5 no.h5 --device cpu --resident yes
expect 2 "which are of tasks" penstock-fmm tree.h5 no.h5 --resident yes --checkpoint-every 1step
expect 0 "" penstock-fmm tree.h5 cores.h5 --order 5 --device cpu --check 300
error=$(figure error_potential)

if ! nvidia-smi -L > /dev/null 2>&1; then
    expect 1 "cuda" penstock-fmm tree.h5 no.h5 --device cuda
    expect 1 "no CUDA device" penstock-fmm tree.h5 no.h5 --device cuda --resident no
    expect 1 "no CUDA device" penstock-fmm tree.h5 no.h5 --device cuda --trace trace.h5
    expect 0 "" penstock-fmm tree.h5 auto.h5 --order 5 --resident auto
    penstock-compare auto.h5 cores.h5 --tolerance 0 > /dev/null || fail "the cores by themselves"
    echo "no GPU here: its results are not compared"
    exit 0
fi
expect 0 "device_memory" penstock-fmm tree.h5 --order 5 --device cuda --plan
expect 4 "GB of device memory" penstock-fmm tree.h5 no.h5 --device cuda --resident yes --device-memory 1M
expect 0 "evaluation" penstock-fmm tree.h5 gpu.h5 --order 5 --device cuda --check 300
penstock-compare gpu.h5 cores.h5 --tolerance 1e-11 --no-attributes || fail "the device differs from the cores"
within "$(awk -v a="$(figure error_potential)" -v b="$error" 'BEGIN { print a / b }')" 0.99 1.01 "its error"
penstock-verify gpu.h5 > /dev/null || fail "the result does not verify"
expect 0 "" penstock-fmm tree.h5 again.h5 --order 5 --device cuda
penstock-compare gpu.h5 again.h5 --tolerance 0 > /dev/null || fail "the bits do not repeat"
for precision in fp32 mixed; do
    expect 0 "" penstock-fmm tree.h5 $precision.h5 --order 3 --device cuda --precision $precision --check 300
    within "$(figure error_potential)" 1e-5 8e-4 "error in $precision precision"
done
for kernel in yukawa inverse-square; do
    expect 0 "" penstock-fmm both.h5 g.h5 --order 4 --kernel $kernel --device cuda --force
    expect 0 "" penstock-fmm both.h5 c.h5 --order 4 --kernel $kernel --device cpu --force
    penstock-compare g.h5 c.h5 --tolerance 1e-11 --no-attributes || fail "targets of their own, $kernel"
done
