#!/bin/bash
# The airplane's matrices (cases/tdbem-airplane) by penstock-slice-assemble, written to disk. One JSON
# record on stdout. MESH: the mesh, where it is made already; WORK: a folder with 22 GB of room, which keeps
# the matrices (slices.h5) for bench_tdbem_march.sh; DEVICE: cuda; SPACING: c dt = 36 m / SPACING, 339.
set -eu
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mesh=${MESH:-}
if [ -z "$mesh" ]; then
    make -s -C "$ROOT/cases/tdbem-airplane" mesh OUT="$work" BUILD="$BUILD" >&2
    mesh=$work/airplane.hdf
fi
penstock-slice-assemble -q "$mesh" "$work/slices.h5" --formulation sound-hard --points 3 --speed 340 \
    --dt "$(awk -v n="${SPACING:-339}" 'BEGIN { printf "%.12g", 36 / n / 340 }')" --device "${DEVICE:-cuda}" --force --json > "$work/slices.json"
cat "$work/slices.json" >&2
figure() { sed -n "s/.*\"$1\": *\([-+0-9.e]*\).*/\1/p" "$work/slices.json"; }
device=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
# The floor: the stored bytes at the 3.0 GB/s that the disk of the benchmark machine writes.
awk -v seconds="$(figure time)" -v stored="$(figure stored)" -v n="$(figure unknowns)" \
    -v nnz="$(figure nnz)" -v device="$device" -v revision="$(penstock-slice-assemble --version | sed 's/.*(\(.*\)).*/\1/')" 'BEGIN {
    floor = stored / 3.0e9
    printf "{\"case\": \"airplane-generate\", \"quantity\": \"penstock-slice-assemble to disk\", "
    printf "\"value\": %.4g, \"unit\": \"s\", \"floor\": %.4g, \"fraction\": %.3f, ", seconds, floor, floor / seconds
    printf "\"size\": \"%d unknowns, %d values, %.3g GB stored, 3 points\", ", n, nnz, stored / 1e9
    printf "\"device\": \"%s\", \"revision\": \"%s\"}\n", device, revision }'
