#!/bin/bash
# The airplane (cases/tdbem-airplane) marched by GPUs: in their memory, one and all there are; four
# times the memory of one, from pinned memory and from disk; with the cores beside it and by these
# alone. JSON records on stdout. MESH: the mesh, where it is made already; WORK: a folder with 45 GB
# of room; STEPS: of the runs in memory.
set -eu
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
steps=${STEPS:-10823}
mesh=${MESH:-}
if [ -z "$mesh" ]; then
    make -s -C "$ROOT/cases/tdbem-airplane" mesh OUT="$work" BUILD="$BUILD" >&2
    mesh=$work/airplane.hdf
fi
cd "$work"
if [ ! -e warp.h5 ]; then
    penstock-slice-assemble -q "$mesh" slices.h5 --formulation sound-hard --points 3 --speed 340 \
        --dt "$(awk 'BEGIN { printf "%.12g", 36 / 339 / 340 }')" --device cuda --force > assemble.txt
    penstock-slice-block -q slices.h5 warp.h5 --force > block.txt
    rm slices.h5
fi
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader | wc -l)
revision=$(penstock-tdbem-march --version | sed 's/.*(\(.*\)).*/\1/')

figure() { grep -o "\"$2\": *[-0-9.e+]*" "$1.json" | head -n 1 | sed 's/.*: *//'; }
# run NAME STEPS OPTIONS...: NAME.json, and one line about it
run() {
    local name=$1 count=$2
    shift 2
    penstock-tdbem-march -q warp.h5 "$mesh" run.h5 --force --steps "$count" --group 16 --json "$@" \
        --emitter plane:dir=0.939692621,0.342020143,0:width=0.003 > "$name.json"
    rm -f run.h5 run.*
    cat "$name.json" >&2
}
# record CASE QUANTITY VALUE UNIT FLOOR SIZE: fraction is of the floor for rates, floor of it for times
record() {
    awk -v c="$1" -v q="$2" -v v="$3" -v u="$4" -v f="$5" -v s="$6" -v d="$device" -v r="$revision" 'BEGIN {
        printf "{\"case\": \"%s\", \"quantity\": \"%s\", \"value\": %.4g, \"unit\": \"%s\", \"floor\": %.4g, ", c, q, v, u, f
        printf "\"fraction\": %.3f, \"size\": \"%s\", \"device\": \"%s\", \"revision\": \"%s\"}\n", u == "GB/s" ? v / f : f / v, s, d, r }'
}
calculate() { awk "BEGIN { print $1 }"; }

size="fp32 warps, $steps steps, n_g 16"
for n in 1 $gpus; do
    CUDA_VISIBLE_DEVICES=$(seq -s, 0 $((n - 1))) run "gpus$n" "$steps" --device cuda
    sweep=$(figure "gpus$n" streaming_elapsed) sweeps=$(figure "gpus$n" streaming_sweeps)
    bytes=$(figure "gpus$n" tiles_on_device)
    floor=$(calculate "$bytes * $sweeps / 4.58e12")
    solve=$(calculate "$(figure "gpus$n" solve) + $(figure "gpus$n" load)")
    record airplane-march "summation, $n GPUs" "$sweep" s "$floor" "$size"
    record airplane-march "summation, loads, radiation and solves, $n GPUs" "$(calculate "$sweep + $solve")" s "$(calculate "12 / $n")" "$size"
    [ "$gpus" -gt 1 ] || break
done
quarter=$(calculate "int($(figure gpus1 tiles_on_device) / 4)")
few="a quarter of the tiles on the device"
run host 480 --device cuda:0 --device-memory "$quarter" --cpu-worker off
record stream-host "copies of the airplane march" "$(calculate "$(figure host streaming_copied) / $(figure host streaming_elapsed)")" GB/s 55 "$few"
run hybrid 640 --device cuda:0 --device-memory "$quarter" --cpu-worker on
run cpu 64 --device cpu
record airplane-march "a sweep, GPU alone, $few" "$(calculate "$(figure host streaming_elapsed) / $(figure host streaming_sweeps)")" s "$(calculate "$(figure host streaming_copied) / $(figure host streaming_sweeps) / 55")" "$few"
record airplane-march "a sweep, GPU and cores, $few" "$(calculate "$(figure hybrid streaming_elapsed) / $(figure hybrid streaming_sweeps)")" s "$(calculate "$(figure host streaming_copied) / $(figure host streaming_sweeps) / 55")" "$few"
record airplane-march "a sweep, cores alone" "$(calculate "$(figure cpu compute_seconds) / $(figure cpu sweeps)")" s "$(calculate "$(figure host streaming_copied) / $(figure host streaming_sweeps) / 55")" "$(nproc) cores"
run disk 96 --device cuda:0 --device-memory "$quarter" --host-memory 8G --cpu-worker off
record stream-disk "stored bytes of the airplane march" "$(calculate "$(figure disk streaming_stored_read) / $(figure disk streaming_elapsed)")" GB/s 3.0 "$few, 8 GB of host memory"
