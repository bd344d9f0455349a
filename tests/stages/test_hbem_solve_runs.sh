# penstock-hbem-solve as a run: streamed and in memory, ranks, threads, killed and stopped and continued,
# limits.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hmatrix-assemble cluster-build mesh-surface compare

same() { penstock-compare "$1" "$2" > compared 2> differ || { cat compared differ; fail "$1 and $2 differ"; }; }
near() { # FILE FILE BOUND: of the solutions alone
    penstock-compare "$1" "$2" > compared 2> differ
    within "$(awk 'NF == 1 { s = $1 } s == "/solutions/double" && $1 == "relative_l2" { print $2; exit }' compared)" 0 "$3" "$1 and $2"
}

clustered s.hdf c.h5 --divisions 8
for o in dlp hyps; do
    expect 0 "" penstock-hmatrix-assemble c.h5 $o.h5 --operator $o --wavenumber 3 --chunk-size 64K --force-coarse
done
[ -e dlp.part0003.h5 ] || fail "the matrix has too few parts for this test"
solve="penstock-hbem-solve s.hdf dlp.h5 hyps.h5"
waves="--azimuths 0,300,6 --tolerance 1e-8"

# ---- in memory, streamed, by other numbers of threads: the same bits ----
expect 0 "" $solve memory.hdf $waves
resident=$(figure resident); matrices=$(figure matrices)
[ "$resident" -ge "$matrices" ] || fail "not in memory: $resident of $matrices"
within "$(figure radius)" .97 1.001 "radius of the sphere's mean curvature"
expect 0 "vectors" $solve plan.hdf $waves --plan
[ ! -e plan.hdf ] || fail "--plan wrote"
need=$(least $solve streamed.hdf $waves --batch 6)
expect 0 "" $solve streamed.hdf $waves --host-memory $need --batch 6
[ "$(figure resident)" -lt $((matrices / 2)) ] || fail "not streamed: $(figure resident) of $matrices"
same streamed.hdf memory.hdf
expect 0 "" $solve threads.hdf $waves --threads 1
same threads.hdf memory.hdf
expect 4 "cannot do, at least" $solve none.hdf $waves --host-memory 300K
expect 0 "up to date" $solve memory.hdf $waves

# ---- ranks: sums in another order, the same bits each time; more ranks than chunks ----
expect 0 "" mpirun -n 2 $solve ranks.hdf $waves
near ranks.hdf memory.hdf 1e-8
expect 0 "" mpirun -n 2 $solve again.hdf $waves
same again.hdf ranks.hdf
expect 0 "" mpirun -n 3 $solve three.hdf $waves --solver block
near three.hdf memory.hdf 1e-6

# ---- killed, stopped, continued: the same bits ----
long="$solve long.hdf $waves --batch 2 --inner-tolerance 1e-13 --coupling miller --checkpoint-every 1step"
expect 0 "" ${long/long.hdf/whole.hdf}
for n in 32 8; do # in the second of its batches, after some products of it
    RANK= killed_at rename:$n $long -q
    [ ! -e long.hdf ] || fail "killed, but complete"
    expect 75 "batch 0 goes on" at rename:1 TERM $long
    grep -q "the same command continues" err || fail "no word of how to continue: $(cat err)"
    [ ! -e long.hdf ] || fail "stopped, but complete"
done
expect 0 "batch 1 goes on" $long
same long.hdf whole.hdf
[ -z "$(ls long.hdf.batch* 2> ls.err)" ] || fail "checkpoints are left: $(ls long.hdf.batch*)"
expect 75 "the same command continues" at rename:3 TERM $long --force
expect 0 "goes on" mpirun -n 2 $long --restart --force
near long.hdf whole.hdf 1e-9
# a checkpoint that is damaged is passed over; one of other options too
expect 75 "stopped" at rename:2 TERM $long --force
newest=$(ls long.hdf.batch0000.*.h5 | tail -1)
head -c 3000 "$newest" > cut && mv cut "$newest"
expect 0 "passing over" $long --restart --force
same long.hdf whole.hdf

# ---- no convergence: the best iterates, an error, and on from there ----
expect 1 "largest residual" $solve short.hdf $waves --limit 3
[ -e short.hdf ] || fail "the best iterates were not kept"
grep -q "larger --limit" err || fail "no advice"
expect 3 "holds iterates that did not converge" penstock-hbem-field short.hdf no.h5 --direction 0,0 --incidence 0
expect 0 "holds iterates that did not converge" penstock-hbem-field short.hdf allowed.h5 --direction 0,0 --incidence 0 --allow unconverged
expect 0 "goes on after" $solve short.hdf $waves --limit 50
near short.hdf memory.hdf 1e-6
expect 0 "up to date" $solve short.hdf $waves --limit 50
