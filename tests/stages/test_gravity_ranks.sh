# penstock-schwarz-solve on several ranks: the bits of one, whatever the method, in memory and streamed;
# stopped, killed and continued; what does not converge leaves its last iterate.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve gravity-anomaly compare verify
solve="penstock-schwarz-solve load.hdf"
penstock-gravity-model model.hdf --preset chx-1 --nodes 49,41,15 > /dev/null || fail "model"
assembled model.hdf load.hdf
ranks=
command -v mpirun > /dev/null && mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1 && ranks=3

# ---- the bits of one rank; streamed too ----
way() { # NAME OPTIONS...
    local name=$1
    shift
    expect 0 "" $solve $name.hdf "$@" --threads 2
    within "$(figure residual)" 0 "${limit:-1e-6}" "residual of $name"
    local iterations=$(figure iterations)
    for n in $ranks; do
        expect 0 "" mpirun -n $n $solve $name.r.hdf "$@" --threads 1 --force
        [ "$(figure iterations)" = "$iterations" ] || fail "$name on $n ranks: $(figure iterations) iterations, not $iterations"
        [ "$(figure ranks)" = $n ] || fail "not on $n ranks"
        same $name.hdf $name.r.hdf
    done
}
way gmres --slabs 7 --tolerance 1e-8
# coordinates, which ranks do not write, are no difference
[ -z "$ranks" ] || expect 0 "yes" penstock-compare gmres.hdf gmres.r.hdf --tolerance 0 --no-attributes
way fixed --slabs 7 --method fixed-point --coarse 0.1 --kind oo2
way sweeps --slabs 6 --method sweeps
way stream --slabs 6 --method sweeps --streamed
same sweeps.hdf stream.hdf
way inner --slabs 5 --method fixed-point --inner cg
limit=1e-5 way both --slabs 5 --method gmres --inner bicgcr --coarse 0.1 --streamed
way cg --method cg --tolerance 1e-8
way stab --method bicgstab --tolerance 1e-8
way cr --method bicgcr --tolerance 1e-8
expect 0 "" $solve direct.hdf
for n in $ranks; do
    expect 0 "" mpirun -n $n $solve direct.r.hdf --force --method direct
    within "$(figure residual)" 0 1e-11 "residual of the direct solution on $n ranks"
    penstock-compare direct.hdf direct.r.hdf --tolerance 1e-11 --dataset '*potential' --no-attributes > out || fail "direct solution on $n ranks"
done
[ -z "$ranks" ] || { penstock-verify cg.r.hdf > out 2>&1 || { cat out; fail "verify"; }; }
penstock-gravity-anomaly gmres.hdf one.h5 > out || fail "anomaly"
for file in gmres.hdf ${ranks:+gmres.r.hdf}; do
    penstock-gravity-anomaly $file map.h5 --force > out 2> err || { cat err; fail "anomaly of $file"; }
    penstock-compare one.h5 map.h5 --tolerance 0 --dataset /map/g_z --no-attributes > out || fail "g_z of $file"
done
expect 1 "more --limit" $solve --slabs 4 --limit 2
expect 0 "" $solve --slabs 4
[ "$(figure iterations)" -gt 1 ] && ! grep -q ^residual out || fail "a trial"

# ---- stopped or killed, and continued: the same bits ----
working() { "$ROOT/tests/support/still-there" penstock-schwarz-solve; }
# Over ranks states are a file each.
run=$solve
[ -z "$ranks" ] || run="mpirun -n 2 $solve"
resumed() { # FILE OPTIONS...: goes on to the bits of FILE and leaves no state
    local file=$1
    shift
    expect 0 "$said" $run again.hdf "$@" --threads 1
    same $file again.hdf
    [ -z "$(ls again.hdf.state* 2> /dev/null)" ] || fail "checkpoints are left behind"
}
limited() { # FILE OPTIONS...: by its limit in the middle
    rm -f again*.hdf*
    expect 1 "more --limit" $run again.hdf "${@:2}" --checkpoint-every 1steps --threads 1 --limit $half
    [ -e again.unconverged.hdf ] && [ ! -e again.hdf ] || fail "the last iterate is not kept: $*"
    grep -q "The best iterate.* is again.unconverged.hdf" err || fail "the best iterate is not named"
    said="continuing after iteration $half" resumed "$@"
}
killed() { # FILE OPTIONS...: before the second iteration's state has its name
    rm -f again*.hdf*
    RANK=$([ "$run" = "$solve" ] || echo 0) killed_at rename:2 $run again.hdf "${@:2}" --checkpoint-every 1steps --threads 1
    while working; do sleep .02; done # its ranks end with it, a little later
    [ ! -e again.hdf ] || fail "killed, and there is an output"
    said="continuing after iteration" resumed "$@"
}
half=3 limited gmres.hdf --slabs 7 --tolerance 1e-8
half=2 limited stream.hdf --slabs 6 --method sweeps --streamed
half=20 limited cg.hdf --method cg --tolerance 1e-8
killed gmres.hdf --slabs 7 --tolerance 1e-8
killed cg.hdf --method cg --tolerance 1e-8
run=$solve # the other methods keep their states by the same two
half=3 limited gmres.hdf --slabs 7 --tolerance 1e-8
half=2 limited fixed.hdf --slabs 7 --method fixed-point --coarse 0.1 --kind oo2
half=2 limited inner.hdf --slabs 5 --method fixed-point --inner cg
half=20 limited cg.hdf --method cg --tolerance 1e-8
half=10 limited stab.hdf --method bicgstab --tolerance 1e-8
half=20 limited cr.hdf --method bicgcr --tolerance 1e-8
killed fixed.hdf --slabs 7 --method fixed-point --coarse 0.1 --kind oo2
rm -f again.hdf
expect 75 "stopped after iteration" $solve again.hdf --method cg --tolerance 1e-14 --limit 90000 --stop-after 0.001
[ ! -e again.hdf ] || fail "a stopped run left an output"
expect 0 "continuing" $solve again.hdf --method cg --tolerance 1e-14
for n in $ranks; do
    expect 2 "need at least as many" mpirun -n $n $solve no.hdf --slabs $((n - 1)) --method gmres
done
expect 2 "is for slabs" $solve no.hdf --inner cg
# The load cannot be opened in one rank alone: all end.
if [ -n "$ranks" ]; then
    LD_PRELOAD=$BUILD/hostile/fail_nth.so FAIL_CALL=open FAIL_NTH=1 FAIL_RANK=1 FAIL_UNDER=$PWD \
        expect 3 "cannot be opened" timeout 30 mpirun -n 2 penstock-schwarz-solve $PWD/load.hdf $PWD/no.hdf --slabs 3 --method sweeps
fi
[ ! -e no.hdf ] && [ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"
