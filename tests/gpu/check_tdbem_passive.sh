#!/bin/bash
# Are the default options passive? For each case: assemble, the passivity certificate, and 10,000 steps (STEPS)
# without growth, on a GPU. A line a case; exit 1 if a certificate is bad, a march grows, or a program fails.
#
#     MESHES=folder BUILD=build/current tests/gpu/check_tdbem_passive.sh [MESH:FORMULATION:COURANT]...
#
# MESHES: the folder of surface meshes, MESH.h5 each (penstock-mesh-import). Without arguments: the cases that two
# cores cannot march, the most telling first; SECONDS_MOST (230) ends the list early and names what was left.
# BLOCKS: a folder for the blocks, where the disk does not hold them beside the slices (/dev/shm).
# DEVICE: cuda; POINTS: auto; STEPS: 10000; OMIT_MARCH=1: certificates alone; WORK: as in lib.sh.
set -u
meshes=$(cd "${MESHES:?the folder of the meshes}" && pwd)
. "$(dirname "$0")/lib.sh"
device=${DEVICE:-cuda} most=${SECONDS_MOST:-230} bad=0 left=
[ $# -gt 0 ] || set -- medium:sound-hard:4 medium:sound-hard:2 11k:sound-hard:4 11k:sound-hard:2 cessna:sound-hard:4 \
    cessna:sound-hard:2 cessna:sound-hard:1 wb962:sound-hard:4 wb962:sound-hard:1 11k:sound-hard:1 medium:sound-soft-s:4 \
    medium:sound-soft-s:2 a319:sound-hard:2 a319:sound-hard:4 cessna:sound-soft-s:4 medium:sound-hard:1 \
    wb962:sound-soft-s:1 medium:sound-soft-s:1 11k:sound-soft-s:4 a319:sound-hard:1 cessna:sound-soft-s:2 \
    a319:sound-soft-s:4 11k:sound-soft-s:2

# least, rule and seconds of a case to $least, $points, $assembly; its matrix to s.h5
assemble() { # MESH FORMULATION COURANT
    local start=$SECONDS
    penstock-slice-assemble "$meshes/$1.h5" s.h5 --force --device "$device" --formulation "$2" --courant "$3" \
        --points "${POINTS:-auto}" > out 2> err || return 1
    assembly=$((SECONDS - start)) unknowns=$(figure unknowns) dt=$(figure dt) ratio=$(figure h_over_D)
    certificate=$(figure passivity_time)
    penstock-inspect s.h5 > out 2> err || return 1
    least=$(figure least) points=$(figure outer_points) verdict=$(awk '$1 == "verdict" { $1 = ""; print; exit }' out)
}

# its march: $growth, $largest, $alternating
march() { # MESH
    local width blocks
    width=$(calculate "5 * $ratio * $dt")
    blocks=${BLOCKS:-.}/b.h5
    penstock-slice-block s.h5 "$blocks" --force > out 2> err || return 1
    rm -f h.h5 h.log
    penstock-tdbem-march "$blocks" "$meshes/$1.h5" h.h5 --force --device "$device" --steps "${STEPS:-10000}" --group 16 \
        --checkpoint-every 0 --emitter "plane:dir=0.8,0.36,-0.48:width=$width" > out 2> err || return 1
    growth=$(figure growth_suspected) largest=$(figure largest) alternating=$(figure alternating_at_the_end)
    rm -f h.h5 h.log "$blocks"
}

printf '%-10s %-12s %3s %7s %6s %10s %9s %9s %7s %10s %10s %6s\n' mesh formulation h/D N points least assembly \
    certified grows largest alternates march
for case; do
    IFS=: read -r mesh formulation courant <<< "$case"
    [ $SECONDS -lt "$most" ] || { left="$left $case"; continue; }
    [ -e "$meshes/$mesh.h5" ] || { echo "$case: skipped, no $mesh.h5"; continue; }
    growth=- largest=- alternating=- start=0
    if ! assemble "$mesh" "$formulation" "$courant"; then
        echo "$case: assembly FAILED: $(tail -n 1 err)"; bad=1; continue
    fi
    start=$SECONDS
    if [ -z "${OMIT_MARCH:-}" ] && ! march "$mesh"; then
        growth="FAILED: $(tail -n 1 err)"; bad=1
    fi
    printf '%-10s %-12s %3s %7s %6s %10.3g %8ss %8ss %7s %10s %10s %5ss\n' "$mesh" "$formulation" "$courant" \
        "$unknowns" "$points" "${least:-nan}" "$assembly" "$certificate" "$growth" "$largest" "$alternating" $((SECONDS - start))
    [ "$verdict" = " passive" ] && [ "$growth" != yes ] || bad=1
done
[ -z "$left" ] || echo "left for want of time:$left"
exit $bad
