# Ranks agree to rounding and files, visits and threads to the bit, with all kinds of faces, sources and
# losses; a state larger than --host-memory; --time and periods; snapshots.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"
record="--probe .3,.4,.5 --probe .5,.5,.5 --probe .9,.1,.2 --frequency 1e8,2.5e8 --energy-every 3 --allow faint"

ranks=1
for model in "order=2 kind=absorbing source=current sigma=.5 eps=2" "order=1 kind=pmc source=mode" \
             "order=3 kind=absorbing source=wave side=3 absorbing=paper dt=.7"; do
    cube m.h5 side=4 parts=5 shake=.2 dt=.6 $model
    ranks=$((ranks + 1))
    for precision in fp32 fp64; do
        run="--steps 61 $record --precision $precision --force"
        dgtd m.h5 one.h5 $run
        dgtd m.h5 threads.h5 $run --threads 3
        same one threads
        for n in 2 3 4; do
            [ $n -eq $ranks ] || continue
            ranks $n penstock-dgtd-march m.h5 ranks.h5 $run -q > /dev/null
            tolerance=1e-13
            [ $precision = fp64 ] || tolerance=1e-6
            for kind in "" .electric .magnetic .phasors; do
                close_to one$kind.h5 ranks$kind.h5 $([ "$kind" = .phasors ] && echo 1e-6 || echo $tolerance)
            done
        done
    done
done

# upwind flux: ranks and restarts, too; it dissipates; what it cannot do is refused
cube u.h5 side=4 parts=3 order=2 flux=upwind source=mode dt=.4 shake=.1
dgtd u.h5 one.h5 --steps 400 --energy-every 100 --precision fp64 --probe .3,.4,.5 --force
ranks 3 penstock-dgtd-march u.h5 ranks.h5 --steps 400 --energy-every 100 --precision fp64 --probe .3,.4,.5 \
    --force -q > /dev/null
close_to one.h5 ranks.h5 1e-13
close_to one.electric.h5 ranks.electric.h5 1e-13
h5dump -d /trace/real -y -m %.17g -o numbers.txt one.h5 > /dev/null
tr ',' '\n' < numbers.txt | awk 'NF && n++ % 3 == 0 { if (last && $1 >= last) exit bad = 1; last = $1 } END { exit bad }'
partly penstock-dgtd-march u.h5 part.h5 --steps 400 --energy-every 100 --precision fp64 --probe .3,.4,.5 --stop-after 1e-3 \
    > said.txt 2>&1
if [ -e part.log ]; then
    dgtd u.h5 part.h5 --steps 400 --energy-every 100 --precision fp64 --probe .3,.4,.5 --restart
fi
identical part.electric.h5 one.electric.h5
fails 2 "is unstable with the upwind flux" penstock-dgtd-march u.h5 out.h5 --steps 5 --dt-scale 1.1
# and in a file
cube v.h5 side=6 order=2 arrange=layers kind=absorbing source=wave shake=.2 dt=.3 flux=upwind
run="--steps 61 $record --force"
dgtd v.h5 one.h5 $run
for visit in 1 3 0; do
    dgtd v.h5 file.h5 $run --state file --visit-steps $visit
    same one file
done
partly dgtd v.h5 part.h5 --steps 61 $record --state file --checkpoint-every 5steps --stop-after 1e-3
[ ! -e part.log ] || dgtd v.h5 part.h5 --steps 61 $record --state file --checkpoint-every 5steps --restart
same one part

# in a file: every m, forwards and backwards
cube m.h5 side=6 order=2 arrange=layers kind=absorbing source=wave shake=.2 dt=.6
run="--steps 61 $record --force"
dgtd m.h5 one.h5 $run --snapshots 25
for visit in 1 2 3 8 0; do
    dgtd m.h5 file.h5 $run --state file --visit-steps $visit --snapshots 25
    same one file
    [ -z "$(left file | grep -v hdf)" ] || { echo "left behind: $(left file)"; exit 1; }
done
# in memory, by tiles for the caches
dgtd m.h5 tiled.h5 $run --state memory --visit-steps 3 --snapshots 25
same one tiled
for step in 25 50; do
    h5dump -d /VTKHDF/PointData/electric_field -y -o a.txt one.0000$step.hdf > /dev/null
    h5dump -d /VTKHDF/PointData/electric_field -y -o b.txt file.0000$step.hdf > /dev/null
    cmp a.txt b.txt
done
grep -q "file.000050.hdf" file.hdf.series
# Hilbert order: thick ranges, all the same
cube h.h5 side=6 order=2 kind=absorbing source=wave shake=.2 dt=.6
dgtd h.h5 hilbert.h5 $run
dgtd h.h5 hfile.h5 $run --state file --visit-steps 2
same hilbert hfile

# a state larger than the memory it gets
cube big.h5 side=16 order=1 arrange=layers
run="--steps 12 --allow faint --precision fp64 --frequency 1e8,1.5e8,2e8,2.5e8,3e8,3.5e8,4e8,4.5e8,5e8,5.5e8,6e8,7e8"
dgtd big.h5 one.h5 $run --force
penstock-dgtd-march big.h5 file.h5 $run --host-memory 100M --force -q --json > out.json
same one file
state=$((16 * 16 * 16 * 6 * 2 * 3 * 4 * 8 * 25))
peak=$(figure out.json peak_memory)
echo "state $state bytes, --host-memory $((100 << 20)), peak $peak, steps a visit $(figure out.json steps_a_visit)"
below $peak $((100 << 20))
below $((100 << 20)) $state
below 0.1 $(figure out.json read)
fails 4 "cannot do" penstock-dgtd-march big.h5 small.h5 $run --host-memory 20M
fails 4 "cannot do" penstock-dgtd-march big.h5 small.h5 $run --host-memory 100M --visit-steps 100
[ -z "$(ls small.* 2> /dev/null)" ] || { echo "left behind: $(ls small.*)"; exit 1; }
penstock-dgtd-march big.h5 small.h5 $run --host-memory 100M --plan | grep -qE "fields_in_memory +no"
