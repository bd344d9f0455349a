# kill -9 at ten moments, SIGTERM and --stop-after, in memory, in a file and with several ranks: the run
# ends with the bits of one that was never stopped. Damaged checkpoints and logs are passed over.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"
cube m.h5 order=1 side=5 parts=2 kind=absorbing source=wave arrange=layers
run="--steps 4000 --probe .3,.4,.5 --frequency 2e8 --energy-every 5 --checkpoint-every 300steps"
dgtd m.h5 whole.h5 $run

# generations RUN: checkpoints that are complete, oldest first; at_step FILE: the step of one.
generations() { ls "$1".[0-9]*.h5 2> /dev/null || true; }
at_step() { h5dump -a /step "$1" | sed -n 's/.*(0): *//p'; }

# killed MODE: killed ten times, each time some moment after it has written checkpoints of its own, then finished.
# Each run begins where the newest checkpoint is that the one before left: not at the first step.
killed() {
    local kills=0 tries=0 job last newest expected=0 rc
    rm -f killed.*
    while [ $kills -lt 10 ] && [ $tries -lt 60 ]; do
        tries=$((tries + 1))
        last=$(generations killed | tail -n 1)
        penstock-dgtd-march m.h5 killed.h5 $run --restart $1 > said.txt 2>&1 &
        job=$!
        while kill -0 $job 2> /dev/null; do
            newest=$(generations killed | tail -n 1)
            [ -z "$newest" ] || [ "$newest" = "$last" ] || break
            sleep 0.005
        done
        sleep 0.0$((RANDOM % 5))$((RANDOM % 10))
        kill -9 $job 2> /dev/null || true
        rc=0; wait $job 2> /dev/null || rc=$?
        if [ $expected -gt 0 ]; then
            grep -q "continuing after step $expected\$" said.txt ||
                { echo "$1: the run after the one killed did not begin at step $expected:"; cat said.txt; exit 1; }
        fi
        if [ $rc -eq 0 ]; then same killed whole; rm killed.*; expected=0; continue; fi
        kills=$((kills + 1))
        expected=$(at_step "$(generations killed | tail -n 1)")
        [ "$expected" -gt 0 ]
    done
    penstock-dgtd-march m.h5 killed.h5 $run --restart $1 > said.txt 2>&1
    [ $expected -eq 0 ] || grep -q "continuing after step $expected\$" said.txt
    same killed whole
    [ -z "$(left killed)" ] || { echo "left behind: $(left killed)"; exit 1; }
    rm killed.*
    [ $kills -eq 10 ]
}
killed "--state memory"
killed "--state file --visit-steps 7"

# SIGTERM and --stop-after end with 75 and a checkpoint; the same command continues
for state in "memory" "file"; do
    go="penstock-dgtd-march m.h5 out.h5 $run --state $state"
    fails 75 "the same command continues" $go --stop-after 0.05
    ls out.log out.0*.h5 > /dev/null
    fails 2 'had steps "4000", now it is "500"' penstock-dgtd-march m.h5 out.h5 --steps 500 --state $state
    for attempt in 1 2 3 4 5; do # a run may be over before the signal comes
        $go > said.txt 2>&1 &
        job=$!
        until grep -q "continuing after" said.txt || ! kill -0 $job 2> /dev/null; do sleep 0.01; done
        kill -TERM $job 2> /dev/null || true
        partly wait $job
        [ ! -e out.log ] || break
        same out whole
        rm out.*
        partly $go --stop-after 0.05 > said.txt 2>&1
    done
    [ -e out.log ] || { echo "the run was always over before it could be stopped"; exit 1; }
    # damage to the newest checkpoint: the one before is taken
    newest=$(generations out | tail -n 1)
    if [ $state = file ]; then # the last of the figures is the number of the state file
        newest=out.state$(h5dump -d /figures -y -m %.0f "$newest" | sed -n '/DATA {/,/}/p' | tr -c '0-9\n' '\n' | grep . | tail -n 1)
    fi
    printf 'xyz' | dd of="$newest" bs=1 seek=3000 conv=notrunc 2> /dev/null
    partly $go --stop-after 0.05 > said.txt 2>&1
    grep -q "passing over" said.txt || { echo "no word about the damaged $newest"; cat said.txt; exit 1; }
    if [ -e out.log ]; then dgtd m.h5 out.h5 $run --restart --state $state; fi
    same out whole
    rm out.*
done
fails 2 'had state "file", now it is "memory"' bash -c "
    penstock-dgtd-march m.h5 o.h5 $run --state file --stop-after .05 -q || penstock-dgtd-march m.h5 o.h5 $run --restart"
rm o.*

# two ranks, killed and continued
run="--steps 1500 --probe .3,.4,.5 --frequency 2e8 --energy-every 5 --checkpoint-every 100steps"
ranks 2 penstock-dgtd-march m.h5 two.h5 $run -q > /dev/null
for stop in .05 .05; do
    partly ranks 2 penstock-dgtd-march m.h5 both.h5 $run --restart --stop-after $stop -q > /dev/null
done
[ -e both.log ]
mpirun --oversubscribe -np 2 penstock-dgtd-march m.h5 both.h5 $run --restart > /dev/null 2>&1 &
job=$!
sleep 0.4
rank=$("$ROOT/tests/support/rank-of" $job)
[ -z "$rank" ] || kill -9 $rank 2> /dev/null || true
for second in $(seq 20); do # mpirun may wait for ever for a rank that was killed while it started
    kill -0 $job 2> /dev/null || break
    sleep 1
done
pkill -9 -P $job 2> /dev/null || true
kill -9 $job 2> /dev/null || true
wait $job 2> /dev/null || true
if [ -e both.log ]; then
    fails 2 'had ranks "2", now it is "1"' penstock-dgtd-march m.h5 both.h5 $run --restart
    ranks 2 penstock-dgtd-march m.h5 both.h5 $run --restart -q > /dev/null
fi
same both two
[ -z "$(left both)" ] || { echo "left behind: $(left both)"; exit 1; }
# a complete output is not computed again
penstock-dgtd-march m.h5 again.h5 $run -q > /dev/null
penstock-dgtd-march m.h5 again.h5 $run > said.txt 2>&1
grep -q "is up to date" said.txt
