#!/bin/bash
# Table 4 of RR-8513 (2013) by the programs: both distributions of 30M particles imported (generated),
# sorted into octrees within all the memory and within a tenth of the particles' own. The floor of a
# quantity of the table is the paper's value. COUNT: fewer particles, without the paper's values.
set -eu
: "${COUNT:=30000000}"
. "$(dirname "$0")/../gpu/lib.sh"
measuring octree-build
device=cpu size="N = $COUNT"
seconds() { local begin end; begin=$(date +%s.%N); "$@" > out; end=$(date +%s.%N); took=$(awk -v a="$begin" -v b="$end" 'BEGIN { print b - a }'); }
rate() { awk -v n="$COUNT" -v t="$took" 'BEGIN { print n / t }'; }

table() { # kind height, then the paper's values
    local kind=$1 height=$2; shift 2
    local names=(leaves particles_per_leaf particles_per_leaf_min particles_per_leaf_max
        particles_per_leaf_difference m2l_per_leaf m2l_per_leaf_difference subcells_per_cell)
    seconds penstock-particle-import --generate "$kind" --count "$COUNT" "$kind.h5"
    record "fmm-octree-$kind" "generated" "$(rate)" particles/s "" "$size"
    seconds penstock-octree-build "$kind.h5" tree.h5 --height "$height" --box 0,0,0,1 --force
    record "fmm-octree-$kind" "built in memory" "$(rate)" particles/s "" "$size"
    for name in "${names[@]}"; do
        local paper=; [ "$COUNT" != 30000000 ] || paper=$1
        shift
        record "fmm-octree-$kind" "$name" "$(figure "$name")" 1 "$paper" "$size"
    done
    local memory=$((COUNT * 48 / 10))
    seconds penstock-octree-build "$kind.h5" parts.h5 --height "$height" --box 0,0,0,1 --host-memory "$memory"
    record "fmm-octree-$kind" "built in a tenth of the memory" "$(rate)" particles/s "" "$size"
    record "fmm-octree-$kind" "peak memory of that" "$(figure peak_memory)" B "$memory" "$size"
    [ "$(h5dump -a content_hash tree.h5 | grep '(0)')" = "$(h5dump -a content_hash parts.h5 | grep '(0)')" ] ||
        { echo "bench_fmm_octree: $kind: trees of other memory differ" >&2; exit 1; }
    rm -f ./*.h5
}
table cube 7 262144 114.4 67 163 8.5 176.6 20.4 8
table ellipsoid 11 755815 39.6 1 172 27.2 46.5 4.9 3.9
