#!/bin/bash
# The airplane (cases/tdbem-airplane) from its mesh to its densities, JSON records on stdout, talk on stderr:
#   airplane-whole   penstock-tdbem-march given the mesh alone: assembled in memory
#   airplane-files   blocks written at once (penstock-slice-assemble --layout warp), then marched
# and both densities compared to the bit. MESH: the mesh, where it is made already; WORK: a folder with 45 GB of
# room; STEPS: 10823; DEVICE: cuda; SPACING: c dt = 36 m / SPACING, 339; LENGTHS: other values of n_g in memory, 32.
set -eu
. "$(dirname "$0")/lib.sh"
measuring tdbem-march
airplane
kind=${DEVICE:-cuda}
march() { # NAME OPERANDS.. -- OPTIONS..
    local name=$1
    shift
    penstock-tdbem-march -q "$@" --force --steps "${STEPS:-10823}" --group "${group:-16}" --device "$kind" --checkpoint-every 0 \
        --emitter plane:dir=0.939692621,0.342020143,0:width=0.003 --json > "$name.json"
    cat "$name.json" >&2
}
# The name speaks: $how is of several words.
# shellcheck disable=SC2086
march whole "$mesh" whole.h5 $how
size="$(json unknowns whole) unknowns, fp32 warps, $(json steps whole) steps, n_g 16"
record airplane-whole "assembling in memory" "$(json assembled_in whole)" s "" "$size"
record airplane-whole "from the mesh to densities, history written" "$(json time whole)" s 15 "$size"
for group in ${LENGTHS:-32}; do
    # shellcheck disable=SC2086
    march "group$group" "$mesh" other.h5 $how
    record airplane-whole "from the mesh to densities, n_g $group" "$(json time "group$group")" s 15 \
        "$(json unknowns whole) unknowns, sums $(json summation "group$group") s, radiation and solves $(json solve "group$group") s"
done
group=16
# shellcheck disable=SC2086
penstock-slice-assemble -q "$mesh" warp.h5 $how --layout warp --device "$kind" --force --json > blocks.json
cat blocks.json >&2
march files warp.h5 "$mesh" files.h5
record airplane-files "blocks written at once" "$(json time blocks)" s "" "$size"
record airplane-files "from the mesh to densities, history written" "$(calculate "$(json time blocks) + $(json time files)")" s 30 "$size"
differ=0
penstock-compare -q whole.h5 files.h5 --tolerance 0 --no-attributes >&2 || differ=1
record airplane-whole "densities that are not those of the files" $differ 1 "" "$size"
rm -f whole.h5 other.h5 files.h5 warp.h5 ./*.workers.h5
