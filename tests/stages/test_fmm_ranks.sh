# penstock-fmm on several ranks: the bits of one, in memory and streamed, one tree and two, more ranks than
# groups; a trace for each rank; what is refused.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare verify
command -v mpirun > /dev/null || { echo "mpirun is not installed"; exit 77; }
mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1 || { echo "built without MPI"; exit 77; }
fmm="penstock-fmm --device cpu"

penstock-particle-import --generate ellipsoid --count 60000 --right-hand-sides 2 p.h5 > /dev/null || fail "particles"
penstock-octree-build p.h5 tree.h5 --height 7 --box 0,0,0,1 --group 40 > /dev/null || fail "tree"
expect 0 "" $fmm tree.h5 one.h5 --order 4 --check 200
error=$(figure error_potential)
for n in 2 3; do
    expect 0 "" mpirun -n $n $fmm tree.h5 ranks.h5 --order 4 --threads 1 --check 200 --force --trace trace.h5
    same ranks.h5 one.h5
    [ "$(figure error_potential)" = "$error" ] || fail "errors with $n ranks differ"
    within "$(figure received)" 1 1e9 "bytes received"
    penstock-verify trace.part0000.h5 trace.part000$((n - 1)).h5 > /dev/null || fail "traces of $n ranks"
done
expect 0 "" $fmm tree.h5 sided.h5 --order 4 --pairs one-sided
expect 0 "" mpirun -n 3 $fmm tree.h5 ranks.h5 --order 4 --threads 1 --pairs one-sided --check 200 --force
same ranks.h5 sided.h5
expect 0 "" mpirun -n 2 $fmm tree.h5 ranks.h5 --order 4 --threads 1 --check 200 --force
expect 0 "up to date" mpirun -n 2 $fmm tree.h5 ranks.h5 --order 4 --threads 1 --check 200
expect 0 "" mpirun -n 2 $fmm tree.h5 ranks.h5 --order 4 --threads 1 --force --host-memory 62M
[ "$(figure in_core)" = no ] || fail "24 MB hold everything"
same ranks.h5 one.h5

penstock-particle-import --generate cube --count 9000 --seed 7 t.h5 > /dev/null || fail "targets"
penstock-octree-build p.h5 both.h5 --targets t.h5 --height 5 --box 0,0,0,1 --group 50 > /dev/null || fail "both"
expect 0 "" $fmm both.h5 apart.h5 --order 4
expect 0 "" mpirun -n 3 $fmm both.h5 apart3.h5 --order 4 --threads 1
same apart3.h5 apart.h5

printf '0 0 0 1\n1 0 0 2\n0 1 1 3\n' > few.txt
penstock-particle-import few.txt few.h5 > /dev/null || fail "few"
for h in 1 4; do
    penstock-octree-build few.h5 few_tree.h5 --height $h --group 1 --force > /dev/null || fail "few's tree"
    expect 0 "" $fmm few_tree.h5 few1.h5 --force
    expect 0 "" mpirun -n 5 $fmm few_tree.h5 few5.h5 --threads 1 --force
    same few5.h5 few1.h5
done

# ---- a journal: a rank that is killed ends the run; others go on, to the bits of a run never stopped ----
ranks="mpirun -n 3 $fmm tree.h5 cut.h5 --order 9 --basis plain --threads 1"
expect 0 "" $fmm tree.h5 long.h5 --order 9 --basis plain
RANK=1 killed_at write:9:cut.h5.groups $ranks --checkpoint-every 1step
while "$ROOT/tests/support/still-there" penstock-fmm; do sleep .02; done # the others end a little later
[ -e cut.h5.groups.part0002 ] && [ ! -e cut.h5 ] || fail "the journals of a run that was killed"
expect 2 "basis" mpirun -n 2 $fmm tree.h5 cut.h5 --order 9 --threads 1
expect 0 "groups are done already" mpirun -n 2 $fmm tree.h5 cut.h5 --order 9 --basis plain --threads 1
same cut.h5 long.h5
[ -z "$(ls cut.h5.* 2> /dev/null)" ] || fail "journals are left behind"

# ---- a mapping of each rank's own ----
expect 0 "" mpirun -n 2 $fmm tree.h5 ranks.h5 --order 4 --threads 2 --force --trace first.h5
expect 0 "" mpirun -n 2 $fmm tree.h5 again.h5 --order 4 --threads 2 --mapping first.h5 --trace second.h5
for part in part0000 part0001; do
    penstock-compare first.$part.h5 second.$part.h5 --tolerance 0 --dataset /tasks/worker --dataset /tasks/kind > compared ||
        { cat compared; fail "the replayed run has another mapping"; }
done
same again.h5 one.h5
expect 4 "cannot do, at least" mpirun -n 2 $fmm tree.h5 none.h5 --order 4 --host-memory 3M
[ ! -e none.h5 ] && [ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"
