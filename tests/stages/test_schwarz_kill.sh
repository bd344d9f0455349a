# penstock-schwarz-solve killed (-9) at each moment at which its files change (every rename and unlink: checkpoints,
# parts, the output, the removal of checkpoints), also between the last checkpoint and the output, on one rank and on two:
# the same command goes on to the bits of a run that was never killed, with all of its history, and leaves no state behind.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve compare
penstock-gravity-model model.hdf --preset chx-1 --nodes 25,21,9 > /dev/null || fail "model"
assembled model.hdf load.hdf
solve="penstock-schwarz-solve load.hdf"
mpi=
command -v mpirun > /dev/null && mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1 && mpi="mpirun -n 2"
export OMPI_MCA_orte_abort_print_stack=0
working() { "$ROOT/tests/support/still-there" penstock-schwarz-solve; }
kills=0
# each WHAT STEP RANK OPTIONS...: with a kill before the first, the (1 + STEP)th ... change of a file by this rank.
each() {
    local what=$1 step=$2 rank=$3 run=$solve at rc n=0
    shift 3
    [ $rank = - ] && rank= || run="$mpi $solve"
    rm -f whole.* again.*
    expect 0 "" $run whole.hdf "$@"
    for ((at = 1;; at += step)); do
        rm -f again.*
        { RANK=$rank at rename+unlink:$at KILL $run again.hdf "$@" > killed.out 2>&1; rc=$?; } 2> /dev/null
        [ $rc -ne 0 ] || break # it was never to be killed
        while working; do sleep .02; done # the other ranks end a little later
        n=$((n + 1))
        expect 0 "" $run again.hdf "$@"
        for set in '*potential' '/history/residual'; do
            penstock-compare whole.hdf again.hdf --tolerance 0 --dataset "$set" --no-attributes > said 2>&1 ||
                { cat said; ls; fail "$what, killed before change $at: $set is another"; }
        done
        for name in iterations converged; do
            [ "$(h5dump -a /$name whole.hdf | grep '(0)')" = "$(h5dump -a /$name again.hdf | grep '(0)')" ] ||
                fail "$what, killed before change $at: other $name"
        done
        [ -z "$(ls again.hdf.state* 2> /dev/null)" ] || fail "$what, killed before change $at: states are left"
    done
    [ $n -ge 2 ] || fail "$what: killed only $n times"
    kills=$((kills + n))
}
each sweeps 1 - --slabs 3 --method sweeps --tolerance 1e-3 --threads 1
each fixed 5 - --slabs 4 --method fixed-point --inner cg --checkpoint-every 2steps --threads 1
each gmres 3 - --slabs 5 --tolerance 1e-8 --checkpoint-every 2steps --gmres-restart 3 --threads 1
each bicgstab 3 - --method bicgstab --tolerance 1e-8 --checkpoint-every 9steps --threads 1
if [ -n "$mpi" ]; then
    each "gmres, rank 1 of 2" 3 1 --slabs 5 --tolerance 1e-8 --checkpoint-every 2steps --threads 1
    each "cg, rank 0 of 2" 2 0 --method cg --checkpoint-every 25steps --threads 1
fi
# --limit and a restart: the best iterate of BiCGStab is known after a restart, too
rm -f *.unconverged.hdf*
expect 1 "best iterate" $solve one.hdf --method bicgstab --tolerance 1e-15 --limit 30 --threads 1
expect 1 "best iterate" $solve two.hdf --method bicgstab --tolerance 1e-15 --limit 27 --threads 1
expect 1 "best iterate" $solve two.hdf --method bicgstab --tolerance 1e-15 --limit 30 --threads 1
penstock-compare one.unconverged.hdf two.unconverged.hdf --tolerance 0 --dataset '*potential' --no-attributes > said 2>&1 || { cat said; fail "the best iterate is another after a restart"; }
echo "$kills kills"
