# penstock-fmm: bits that depend on neither workers, memory, schedule nor kill -9; the trace.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare verify inspect
fmm="penstock-fmm --device cpu"
import=penstock-particle-import
build=penstock-octree-build


# ---- the same bits: workers, schedulers, memory, a replayed mapping; other groups: to rounding ----
$import --generate ellipsoid --count 60000 --right-hand-sides 2 many.h5 > /dev/null || fail "many"
$build many.h5 many_tree.h5 --height 7 --box 0,0,0,1 --group 40 > /dev/null || fail "many's tree"
expect 0 "" $fmm many_tree.h5 all.h5 --order 4 --workers 2 --trace trace.h5
whole=$(figure pieces)
for how in "--workers 1" "--workers 3 --scheduler eager" "--workers 2 --mapping trace.h5 --trace again.h5"; do
    expect 0 "" $fmm many_tree.h5 other.h5 --order 4 $how --force
    same other.h5 all.h5
done
penstock-compare again.h5 trace.h5 --tolerance 0 --dataset '/tasks/worker' --dataset '/tasks/kind' > compared ||
    { cat compared; fail "the replayed run has another mapping"; }
expect 0 "" $fmm many_tree.h5 other.h5 --order 4 --workers 2 --force --host-memory 50M
within "$(figure pieces_peak)" 1 $((whole / 2)) "memory with 50 MB"
same other.h5 all.h5
expect 4 "cannot do, at least" $fmm many_tree.h5 none.h5 --order 4 --workers 1 --host-memory 2M
need=$(least $fmm many_tree.h5 --order 4 --workers 1)
expect 0 "" $fmm many_tree.h5 other.h5 --order 4 --workers 1 --force --host-memory "$need"
within "$(figure pieces_peak)" 1 $((whole / 4)) "memory with the least"
same other.h5 all.h5
expect 2 "all groups in memory" $fmm many_tree.h5 none.h5 --order 4 --mapping trace.h5 --host-memory 50M --workers 2
$build many.h5 big.h5 --height 7 --box 0,0,0,1 --group 1000 > /dev/null || fail "big groups"
expect 0 "" $fmm big.h5 other.h5 --order 4 --force
penstock-compare other.h5 all.h5 --tolerance 1e-12 > compared || { cat compared; fail "group sizes disagree"; }

expect 0 "" $fmm many_tree.h5 sided.h5 --order 4 --workers 2 --pairs one-sided
penstock-compare sided.h5 all.h5 --tolerance 1e-12 > compared || { cat compared; fail "one-sided pairs disagree"; }
expect 0 "" $fmm many_tree.h5 other.h5 --order 4 --workers 1 --pairs one-sided --force --host-memory 50M
same other.h5 sided.h5

# ---- the trace of the run: sound, and above its bound ----
expect 0 good penstock-verify trace.h5
expect 0 "makespan_over_lp" penstock-inspect trace.h5
within "$(figure makespan_over_lp)" 1 100 "makespan over LP"
if command -v gnuplot > /dev/null; then
    expect 0 "written" penstock-plot gantt trace.h5 --output gantt.png
fi

# ---- killed and stopped, continued to the same bits ----
expect 0 "" $fmm many_tree.h5 long.h5 --order 5 --workers 1
killed_at write:20:cut.h5.groups $fmm many_tree.h5 cut.h5 --order 5 --workers 1 --checkpoint-every 1step
[ -e cut.h5.groups ] && [ ! -e cut.h5 ] || fail "what a run that was killed leaves"
expect 2 "order" $fmm many_tree.h5 cut.h5 --order 6
expect 75 "the same command continues" at write:20:cut.h5.groups TERM $fmm many_tree.h5 cut.h5 --order 5 --workers 1 --checkpoint-every 1step
expect 0 "groups are done already" $fmm many_tree.h5 cut.h5 --order 5 --host-memory 60M
within "$(figure groups_from_journal)" 2 100000 "groups from the journal"
same cut.h5 long.h5
[ ! -e cut.h5.groups ] || fail "the journal is left"
expect 0 "no cut2.h5.groups to continue from" $fmm many_tree.h5 cut2.h5 --restart
expect 0 "up to date" $fmm many_tree.h5 cut.h5 --order 5

# ---- a trace of another run ----
$build many.h5 other_tree.h5 --height 5 --box 0,0,0,1 > /dev/null || fail "another tree"
expect 3 "tasks" $fmm other_tree.h5 none.h5 --mapping trace.h5 --workers 2
[ ! -e none.h5 ] && [ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"
