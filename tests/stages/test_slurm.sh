# The script for Slurm, by hand in its steps: time runs out, the job is put back into the queue, and the same command goes on from
# its checkpoint to the bits of a run that was never stopped.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble tdbem-march verify compare
mkdir bin
# srun runs its command here, and with STOP_AFTER sends what Slurm sends before the time limit (--signal=TERM@600).
cat > bin/srun <<'SRUN'
#!/bin/bash
while [[ $1 == --* ]]; do shift; done
"$@" & job=$!
if [ -n "${STOP_AFTER:-}" ]; then
    while [ "$(ls "$STOP_AFTER"* 2> /dev/null | wc -l)" -eq 0 ]; do kill -0 $job 2> /dev/null || break; sleep .05; done
    kill -TERM $job 2> /dev/null
fi
wait $job
SRUN
printf '#!/bin/bash\necho "$*" >> requeued\n' > bin/scontrol
chmod +x bin/srun bin/scontrol
export PATH=$PWD/bin:$PATH SLURM_JOB_ID=17 SLURM_CPUS_PER_TASK=1
expect 0 "" penstock-mesh-surface ball.hdf --divisions 8
expect 0 "" penstock-slice-assemble ball.hdf slices.h5 --formulation sound-hard --courant 2 --speed 340
march() { bash "$ROOT/cases/slurm/march.sbatch" slices.h5 ball.hdf "$1" 6000 plane:dir=0,0,1:width=3e-3 --threads 1; }
# the chain: stopped once its log of workers is there, then to the end
STOP_AFTER=chain expect 0 "" march chain.h5
[ "$(cat requeued 2> /dev/null)" = "requeue 17" ] || { cat out err; fail "the job was not put back into the queue"; }
[ ! -e chain.h5 ] || fail "a run that was stopped has an output"
expect 0 "good" march chain.h5
[ "$(wc -l < requeued)" -eq 1 ] || fail "a run that ended was put back"
expect 0 "good" march whole.h5
expect 0 "" penstock-compare chain.h5 whole.h5 --tolerance 0 --no-attributes
# what is wrong ends the chain
expect 2 "" bash "$ROOT/cases/slurm/march.sbatch" slices.h5 ball.hdf other.h5 10 plane:dir=nonsense
[ "$(wc -l < requeued)" -eq 1 ] || fail "a run that is refused was put back"
