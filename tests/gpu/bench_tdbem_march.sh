#!/bin/bash
# The airplane (cases/tdbem-airplane) marched by GPUs, JSON records on stdout, talk on stderr:
#   airplane-march   all in the memory of one GPU, and of 2, 4 .. where there are more; a quarter of the
#                    tiles on one GPU: alone, with the cores beside it, and these alone
#   stream-host      that quarter, the rest copied from pinned host memory in every sweep
#   stream-disk      that quarter, the rest read from disk in every sweep, past the page cache
#   airplane-groups  a coarse airplane (6,000 unknowns) in memory, n_g = 1 .. 32; as halves
#   airplane-restart the coarse one stopped and restarted: is it the same to the bit?
# Environment: MESH, COARSE: the meshes, where they are made already (make -C cases/tdbem-airplane mesh
# [SIZE=0.28]); STREAM: one for the runs that stream, if not MESH; WORK: a folder with 45 GB of room, used again
# where it holds slices.h5 or warp.h5; STEPS: of the run in memory; DEVICE: cuda; SPACING: c dt = 36 m / SPACING, of the
# mesh, 339; COARSE_SPACING, STREAM_SPACING; BESIDE, FEW: device memory for what is no tile, 3e8 bytes, host memory
# of the run from disk, 6G; STOP: of the run that is restarted, after so many seconds, 1.2; LENGTHS: values of n_g;
# TEAMS: numbers of GPUs.
set -eu
here=$PWD
. "$(dirname "$0")/lib.sh"
measuring tdbem-march
steps=${STEPS:-10823} kind=${DEVICE:-cuda} spacing=${SPACING:-339} coarse_spacing=${COARSE_SPACING:-170}
mesh() { # FILE OPTIONS...: of the case
    local file=$1
    shift
    make -s -C "$ROOT/cases/tdbem-airplane" mesh OUT="$work/${file%.hdf}" BUILD="$BUILD" "$@" >&2
    ln -f "$work/${file%.hdf}/airplane.hdf" "$work/$file"
}
link() { [ -z "$1" ] || ln -sf "$(cd "$here" && realpath "$1")" "$work/$2"; }
link "${MESH:-}" fine.hdf
link "${COARSE:-}" coarse.hdf
link "${STREAM:-}" stream.hdf
[ -e "$work/fine.hdf" ] || mesh fine.hdf
[ -e "$work/coarse.hdf" ] || mesh coarse.hdf SIZE=0.28
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
one=$kind$([ "$kind" = cpu ] || echo :0) # of one GPU

say() { echo "$(date +%T) $*" >&2; }
# assemble MESH SPACING SLICES
assemble() {
    penstock-slice-assemble -q "$1" "$3" --formulation sound-hard --points 3 --speed 340 --device "$kind" \
        --dt "$(awk -v n="$2" 'BEGIN { printf "%.12g", 36 / n / 340 }')" --force > assemble.txt
}
# march NAME MATRIX MESH STEPS OPTIONS...: NAME.json; the run stays as run.h5 where KEEP is set
march() {
    local name=$1 matrix=$2 surface=$3 count=$4
    shift 4
    say "$name"
    penstock-tdbem-march -q "$matrix" "$surface" run.h5 --force --steps "$count" --json "$@" \
        --emitter plane:dir=0.939692621,0.342020143,0:width=0.003 --checkpoint-every 0 > "$name.json" ||
        [ $? -eq 75 ] # stopped on purpose
    cat "$name.json" >&2
    penstock-inspect run.workers.h5 --json > "$name.workers.json"
    [ -n "${KEEP:-}" ] || rm -f run.h5 run.log* run.workers.h5
}
# What a sweep of a run took, s: the slowest worker, median of the last half of the run, when tiles are
# loaded and intervals have settled.
sweep() { json median_at_the_end "$1.workers"; }

# ---- the coarse airplane ----

say coarse
assemble coarse.hdf "$coarse_spacing" coarse-slices.h5
penstock-slice-block -q coarse-slices.h5 coarse-warp.h5 --force > block.txt
penstock-slice-block -q coarse-slices.h5 coarse-half.h5 --values f16 --force > block.txt
rm coarse-slices.h5
for group in ${LENGTHS:-1 2 4 8 16 32}; do
    march "group$group" coarse-warp.h5 coarse.hdf $((96 * group)) --group "$group" --device "$one"
    floor=$(calculate "1e3 * $(json tiles_on_device "group$group") / 4.58e12")
    record airplane-groups "a sweep, n_g $group" "$(calculate "1e3 * $(sweep "group$group")")" ms "$floor" \
        "$(json unknowns "group$group") unknowns, fp32 warps, $(calculate "$(json tiles_on_device "group$group") / 1e9") GB of tiles"
done
march half coarse-half.h5 coarse.hdf 512 --group 8 --device "$one"
record airplane-groups "a sweep of halves, n_g 8" "$(calculate "1e3 * $(sweep half)")" ms \
    "$(calculate "1e3 * $(json tiles_on_device half) / 4.58e12")" "$(json unknowns half) unknowns, fp16 warps"
KEEP=1 march whole coarse-warp.h5 coarse.hdf 4800 --group 16 --device "$one"
mv run.h5 whole.h5
KEEP=1 march stopped coarse-warp.h5 coarse.hdf 4800 --group 16 --device "$one" --stop-after "${STOP:-1.2}"
[ -e run.h5 ] && parts=1 || parts=2
[ $parts = 1 ] || penstock-tdbem-march -q coarse-warp.h5 coarse.hdf run.h5 --steps 4800 --group 16 --device "$one" \
    --emitter plane:dir=0.939692621,0.342020143,0:width=0.003 --checkpoint-every 0 --restart > restart.txt
differ=0
penstock-compare -q whole.h5 run.h5 --tolerance 0 >&2 || differ=1
record airplane-restart "runs that are not the same bits" $differ 1 "" \
    "4800 steps of $(json unknowns stopped) unknowns in $parts starts, stopped at step $(json steps stopped)"
rm -f run.h5 run.log* whole.h5 coarse-*.h5

# ---- the airplane in memory ----

if [ ! -e warp.h5 ]; then
    [ -e slices.h5 ] || { say assembly; assemble fine.hdf "$spacing" slices.h5; }
    say blocks
    penstock-slice-block -q slices.h5 warp.h5 --force > block.txt
    cat block.txt >&2
    rm slices.h5
fi
for n in ${TEAMS:-1 2 4 8}; do
    [ $n -le "$gpus" ] || continue
    [ "$kind" = cpu ] || export CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((n - 1)))
    march "gpus$n" warp.h5 fine.hdf "$steps" --group 16 --device "$kind"
    sweeps=$(json sweeps "gpus$n") seconds=$(calculate "$(sweep "gpus$n") * $(json sweeps "gpus$n")")
    size="$(json unknowns "gpus$n") unknowns, fp32 warps, $steps steps, n_g 16"
    record airplane-march "summation, $n GPUs" "$seconds" s \
        "$(calculate "$(json tiles_on_device "gpus$n") * $sweeps / 4.58e12")" "$size"
    record airplane-march "summation, loads, radiation and solves, $n GPUs" \
        "$(calculate "$seconds + $(json solve "gpus$n") + $(json load "gpus$n")")" s "$(calculate "12 / $n")" "$size"
    record airplane-march "whole program, history written, $n GPUs" "$(json time "gpus$n")" s "" "$size"
    unset CUDA_VISIBLE_DEVICES
done

# ---- a quarter of the tiles on the device ----

whole=gpus1
if [ -e stream.hdf ]; then
    rm warp.h5
    say streamed
    assemble stream.hdf "${STREAM_SPACING:-339}" slices.h5
    penstock-slice-block -q slices.h5 warp.h5 --force > block.txt
    rm slices.h5
    ln -sf "$(realpath stream.hdf)" fine.hdf
    whole=small
    march small warp.h5 fine.hdf 16 --group 16 --device "$one"
fi
quarter=$(calculate "int(($(json tiles_on_device $whole) / 4 + $(json near_matrices $whole) + ${BESIDE:-3e8}) / 1e6)")M
few="tiles of $(calculate "$(json tiles_on_device $whole) / 1e9") GB, four times those on the device"
march host warp.h5 fine.hdf 480 --group 16 --device "$one" --device-memory "$quarter" --cpu-worker off
record stream-host "copies of the airplane march" \
    "$(calculate "$(json streaming_copied host) / 1e9 / $(json streaming_elapsed host)")" GB/s 55 "$few, $(json tiles_on_device host) bytes resident"
march hybrid warp.h5 fine.hdf 400 --group 16 --device "$one" --device-memory "$quarter" --cpu-worker on --balance 5
march cpu warp.h5 fine.hdf 64 --group 16 --device cpu
alone=$(sweep host) both=$(sweep hybrid) cores=$(sweep cpu)
link=$(calculate "$(json streaming_copied host) / $(json streaming_sweeps host) / 55e9")
record airplane-march "a sweep, GPU alone" "$alone" s "$link" "$few"
record airplane-march "a sweep, GPU and cores" "$both" s "$link" "$few"
record airplane-march "a sweep, cores alone" "$cores" s "$link" "$(nproc) cores"
record airplane-march "speed of GPU and cores together over the faster of both" \
    "$(calculate "($alone < $cores ? $alone : $cores) / $both")" 1 1 "$few, $(nproc) cores"

# Pages of the file are dropped behind the reader: what a sweep read is not there for the next.
drop() { dd if=warp.h5 iflag=nocache count=0 2> dropped.txt; }
drop
while sleep 0.5; do drop; done &
dropper=$!
plain() { # GB/s of reading the first gigabytes of the file from disk, one thread
    local start bytes
    drop
    bytes=$(stat -c %s warp.h5)
    start=$(date +%s.%N)
    dd if=warp.h5 of=/dev/null bs=16M count=128 2> plain.txt
    calculate "($bytes < 128 * 2 ^ 24 ? $bytes : 128 * 2 ^ 24) / 1e9 / ($(date +%s.%N) - $start)"
}
before=$(plain)
march disk warp.h5 fine.hdf 48 --group 16 --device "$one" --device-memory "$quarter" --host-memory "${FEW:-6G}" --cpu-worker off
after=$(plain)
kill $dropper
record stream-disk "stored bytes of the airplane march, beside plain reading by one thread" \
    "$(calculate "$(json streaming_stored_read disk) / 1e9 / $(json streaming_elapsed disk)")" GB/s "$(calculate "($before + $after) / 2")" \
    "$few, $(calculate "$(json streaming_stored_read disk) / 1e9 / $(json streaming_sweeps disk)") GB read a sweep; plain $before GB/s before, $after after"
