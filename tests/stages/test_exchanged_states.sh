# A state in the place of another one of the same shape, of another batch or of another rank, is passed over: the run goes on
# from the one before, or begins, and ends with the bits of a run that nobody touched.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/dgtd_march.bash"
needs mesh-surface cluster-build hbem-solve dgtd-march compare
figure() { awk -v n="$1" '$1 == n { print $2; exit }' out; }

# ---- two batches of hbem-solve, killed in the second ----
clustered ball.hdf c.h5 --divisions 5
solve="penstock-hbem-solve ball.hdf c.h5"
waves="--azimuths 0,300,4 --wavenumber 3 --force-coarse --tolerance 1e-8 --batch 2 --checkpoint-every 1step --device cpu"
expect 0 "" $solve whole.hdf $waves
killed_at rename:$(($(figure steps_most) + 4)) $solve o.hdf $waves -q
first=$(ls o.hdf.batch0000.*.h5 | tail -n 1) second=$(ls o.hdf.batch0001.*.h5 | tail -n 1)
[ -n "$first" ] && [ -n "$second" ] || fail "not killed in the second batch: $(ls o.hdf*)"
cp "$first" "$second"
expect 0 "is the state of part 0 of the run, not of part 1" $solve o.hdf $waves
penstock-compare o.hdf whole.hdf --tolerance 0 > compared 2>&1 || { cat compared; fail "the state of a batch was taken for another's"; }

# ---- two ranks of dgtd-march, whose halves have the same shape ----
command -v mpirun > /dev/null || { echo "no mpirun: ranks were not tried"; exit 0; }
cube m.h5 side=4 order=1 parts=2
run="--steps 400 --checkpoint-every 40steps"
expect 0 "" ranks 2 penstock-dgtd-march m.h5 rwhole.h5 $run --probe .3,.4,.5
expect 75 "" ranks 2 penstock-dgtd-march m.h5 r.h5 $run --probe .3,.4,.5 --stop-after 0.001
one=$(ls r.rank0000.*.h5 | tail -n 1) two=$(ls r.rank0001.*.h5 | tail -n 1)
[ -n "$one" ] && [ -n "$two" ] || fail "no states of two ranks: $(ls r.*)"
mv "$one" kept && mv "$two" "$one" && mv kept "$two"
expect 0 "is the state of part 1 of the run, not of part 0" ranks 2 penstock-dgtd-march m.h5 r.h5 $run --probe .3,.4,.5
same rwhole r
