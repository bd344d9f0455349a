#!/bin/bash
# The airplane's matrices (cases/tdbem-airplane) by penstock-slice-assemble, written to disk. One JSON
# record on stdout. MESH: the mesh, where it is made already; WORK: a folder with 22 GB of room, which keeps
# the matrices (slices.h5) for bench_tdbem_march.sh; DEVICE: cuda; SPACING: c dt = 36 m / SPACING, 339.
set -eu
. "$(dirname "$0")/lib.sh"
measuring slice-assemble
airplane
penstock-slice-assemble -q "$mesh" slices.h5 $how --device "${DEVICE:-cuda}" --force --json > slices.json
cat slices.json >&2
# The floor: the stored bytes at the 3.0 GB/s that the disk of the benchmark machine writes.
stored=$(json stored slices)
record airplane-generate "penstock-slice-assemble to disk" "$(json time slices)" s "$(calculate "$stored / 3.0e9")" \
    "$(json unknowns slices) unknowns, $(json nnz slices) values, $(calculate "$stored / 1e9") GB stored, 3 points"
