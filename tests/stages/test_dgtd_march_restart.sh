# kill -9 at ten moments, SIGTERM and --stop-after, in memory, in a file and with several ranks: the run
# ends with the bits of one that was never stopped. Damaged checkpoints and logs are passed over. All moments are counted
# calls, so that none depends on how busy the machine is.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"
cube m.h5 order=1 side=5 parts=2 kind=absorbing source=wave arrange=layers
run="--steps 4000 --probe .3,.4,.5 --frequency 2e8 --energy-every 5 --checkpoint-every 300steps"
dgtd m.h5 whole.h5 $run

# generations RUN: checkpoints that are complete, oldest first; at_step FILE: the step of one.
generations() { ls "$1".[0-9]*.h5 2> /dev/null || true; }
at_step() { h5dump -a /step "$1" | sed -n 's/.*(0): *//p'; }

# killed MODE MOMENT...: killed at these moments of runs that go on from each other, then finished. Each run begins where
# the newest checkpoint is that the one before left: not at the first step.
killed() {
    local mode=$1 moment expected=0
    shift
    rm -f killed.*
    for moment; do
        killed_at $moment penstock-dgtd-march m.h5 killed.h5 $run --restart $mode
        began $expected at.out
        [ ! -e killed.h5 ]
        expected=$(at_step "$(generations killed | tail -n 1)")
        [ "$expected" -gt 0 ]
    done
    penstock-dgtd-march m.h5 killed.h5 $run --restart $mode > said.txt 2>&1
    began $expected said.txt
    same killed whole
    [ -z "$(left killed)" ] || { echo "left behind: $(left killed)"; exit 1; }
    rm killed.*
}
began() { # STEP SAID: 0: from the start
    [ "$1" -eq 0 ] || grep -q "continuing after step $1\$" "$2" || { echo "it did not begin at step $1:"; cat "$2"; exit 1; }
}
moments="rename:3 fsync:4 write:90 unlink:1 rename:2 write:150 fsync:3 unlink:2 rename+unlink:3 write:60"
killed "--state memory" $moments
killed "--state file --visit-steps 7" $moments

# SIGTERM and --stop-after end with 75 and a checkpoint; the same command continues
for state in "memory" "file"; do
    go="penstock-dgtd-march m.h5 out.h5 $run --state $state"
    fails 75 "the same command continues" $go --stop-after 0.05
    ls out.log out.0*.h5 > /dev/null
    fails 2 'had steps "4000", now it is "500"' penstock-dgtd-march m.h5 out.h5 --steps 500 --state $state
    fails 75 "the same command continues" at rename:2 TERM $go
    grep -q "continuing after" said.txt
    [ ! -e out.h5 ]
    # damage to the newest checkpoint: the one before is taken
    newest=$(generations out | tail -n 1)
    if [ $state = file ]; then # the last of the figures is the number of the state file
        newest=out.state$(h5dump -d /figures -y -m %.0f "$newest" | sed -n '/DATA {/,/}/p' | tr -c '0-9\n' '\n' | grep . | tail -n 1)
    fi
    printf 'xyz' | dd of="$newest" bs=1 seek=3000 conv=notrunc 2> /dev/null
    fails 75 "passing over" at rename:1 TERM $go
    dgtd m.h5 out.h5 $run --restart --state $state
    same out whole
    rm out.*
done
fails 75 "" at rename:1 TERM penstock-dgtd-march m.h5 o.h5 $run --state file
fails 2 'had state "file", now it is "memory"' penstock-dgtd-march m.h5 o.h5 $run --restart
rm o.*

# two ranks, killed and continued
run="--steps 1500 --probe .3,.4,.5 --frequency 2e8 --energy-every 5 --checkpoint-every 100steps"
ranks 2 penstock-dgtd-march m.h5 two.h5 $run -q > /dev/null
for rank in 0 1; do # SIGTERM to one of them stops both
    RANK=$rank fails 75 "the same command continues" at rename:2 TERM mpirun --oversubscribe -np 2 penstock-dgtd-march m.h5 both.h5 $run --restart
done
rc=0
RANK=1 at write:90 KILL timeout 60 mpirun --oversubscribe -np 2 penstock-dgtd-march m.h5 both.h5 $run --restart > said.txt 2>&1 || rc=$?
[ $rc -ne 0 ] && [ -e both.log ] && [ ! -e both.h5 ] || { echo "the ranks ended with $rc"; cat said.txt; exit 1; }
while "$ROOT/tests/support/still-there" penstock-dgtd-march; do sleep .05; done # the other rank ends a little later
fails 2 'had ranks "2", now it is "1"' penstock-dgtd-march m.h5 both.h5 $run --restart
ranks 2 penstock-dgtd-march m.h5 both.h5 $run --restart -q > /dev/null
same both two
[ -z "$(left both)" ] || { echo "left behind: $(left both)"; exit 1; }
# a complete output is not computed again
penstock-dgtd-march m.h5 again.h5 $run -q > /dev/null
penstock-dgtd-march m.h5 again.h5 $run > said.txt 2>&1
grep -q "is up to date" said.txt

# what lies beside an output is made again where it is gone, damaged or of something else, and set aside with it by a stop; points of a
# file are told by their places
echo .3 .4 .5 > points.txt
side="penstock-dgtd-march m.h5 side.h5 --steps 300 --frequency 2e8 --probes points.txt"
dgtd m.h5 side.h5 ${side#*side.h5}
cp side.electric.h5 electric.h5; cp side.phasors.h5 phasors.h5
for gone in "rm side.phasors.h5" "cp electric.h5 side.magnetic.h5" "truncate -s -40 side.electric.h5"; do
    $gone
    $side > said.txt 2>&1 || { cat said.txt; exit 1; }
    for kind in phasors electric; do identical side.$kind.h5 $kind.h5; done
    $side 2>&1 | grep -q "side.h5 is up to date" || { echo "not made whole after: $gone"; exit 1; }
done
fails 75 "the same command continues" at rename:1 TERM ${side/300 /4000 } --checkpoint-every 100steps
ls side.h5.previous side.electric.h5.previous side.phasors.h5.previous > /dev/null
echo .3 .4 .6 > points.txt
fails 2 'had probe_points "' ${side/300 /4000 }
