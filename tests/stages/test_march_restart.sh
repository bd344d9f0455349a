# kill -9 at ten moments, SIGTERM and --stop-after: the run ends with the bits of one that was never stopped. A torn log and
# damaged checkpoints are passed over. Moments are counted calls, so that none depends on how busy the machine is.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 2
penstock-slice-assemble sphere2.h5 s.h5 --courant 4 --speed 1 --points 3 --tile-rows 256 --tile-slices 64 -q > /dev/null
run="--steps 7000 $plane"
keep="--checkpoint-every 64steps"
march s.h5 sphere2.h5 whole.h5 $run $keep
[ "$(ls whole.*)" = "$(printf 'whole.h5\nwhole.workers.h5')" ] || { echo "left behind: $(ls whole.*)"; exit 1; }

for moment in rename:2 fsync:5 write:200 unlink:2 rename+unlink:9 write:400 fsync:2 rename:6 write:90 unlink:5; do
    killed_at $moment penstock-tdbem-march s.h5 sphere2.h5 killed.h5 $run $keep --restart
    [ ! -e killed.h5 ]
done
penstock-tdbem-march s.h5 sphere2.h5 killed.h5 $run $keep --restart --json > last.json 2> /dev/null
identical killed.h5 whole.h5
echo "the last start made $(figure last.json steps_in_this_start) steps"
[ "$(ls killed.*)" = "$(printf 'killed.h5\nkilled.workers.h5')" ]

# --stop-after and SIGTERM end with 75 and a checkpoint
fails 75 "the same command continues" penstock-tdbem-march s.h5 sphere2.h5 out.h5 $run --stop-after 0.001
ls out.log out.000001.h5 > /dev/null
# killed between the commit of the output and the removal of the rest: that is tidied up
cp out.log whole.log; cp out.000001.h5 whole.000001.h5
penstock-tdbem-march s.h5 sphere2.h5 whole.h5 $run --restart > said.txt 2>&1
grep -q "is up to date" said.txt
[ "$(ls whole.*)" = "$(printf 'whole.h5\nwhole.workers.h5')" ]
# a log without its head cannot be continued: the run starts over
cp out.log torn.log; cp out.000001.h5 torn.000001.h5
truncate -s 30 torn.log
penstock-tdbem-march s.h5 sphere2.h5 torn.h5 $run --restart > said.txt 2>&1
grep -q "begins from the start" said.txt
identical torn.h5 whole.h5
fails 2 'had steps "7000", now it is "500"' penstock-tdbem-march s.h5 sphere2.h5 out.h5 --steps 500 $plane
fails 2 'had group "8", now it is "16"' penstock-tdbem-march s.h5 sphere2.h5 out.h5 $run --group 16
fails 75 "continuing after" at rename:2 TERM penstock-tdbem-march s.h5 sphere2.h5 out.h5 $run $keep
# damage: the newest checkpoint, then the end of the log
newest=$(ls out.0*.h5 | tail -n 1)
printf 'x' | dd of="$newest" bs=1 seek=3000 conv=notrunc 2> /dev/null
fails 75 "passing over" at rename:1 TERM penstock-tdbem-march s.h5 sphere2.h5 out.h5 $run $keep --restart
truncate -s -100 out.log
march s.h5 sphere2.h5 out.h5 $run --restart
identical out.h5 whole.h5
# two at once
fails 75 "" at rename:1 TERM penstock-tdbem-march s.h5 sphere2.h5 twin.h5 $run $keep
fails 1 "is writing it; wait for that run" flock twin.log penstock-tdbem-march s.h5 sphere2.h5 twin.h5 $run --restart
march s.h5 sphere2.h5 twin.h5 $run --fresh
identical twin.h5 whole.h5
