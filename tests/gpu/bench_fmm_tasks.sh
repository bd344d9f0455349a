#!/bin/bash
# penstock-fmm by tasks on cores and GPUs: makespan against LP, JSON records; what each run said, and its trace,
# stay in KEEP. COUNT particles (30000000) in groups of GROUP (1000); SHAPES ("cube ellipsoid"), a cube of height
# HEIGHT (7), an ellipsoid of 3 more; ACCURACIES ("3 5 7"); KINDS of tasks on GPUs ("two down"); GPUS, their
# numbers (1 to all). CPU workers: the GPUs' share of the cores, less one a GPU; runs have these cores alone.
set -eu
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && KEEP=$(cd "$KEEP" && pwd); }
. "$(dirname "$0")/lib.sh"
KEEP=${KEEP:-$work/keep}
mkdir -p "$KEEP"
measuring fmm
count=${COUNT:-30000000}
gpus=$(nvidia-smi -L | wc -l)
cores=$(nproc)

tree() { # distribution height; one that lies in WORK is taken as it is
    [ ! -e "$1".h5 ] || return 0
    penstock-particle-import --generate "$1" --count "$count" p.h5 > /dev/null
    penstock-octree-build p.h5 "$1".h5 --height "$2" --group "${GROUP:-1000}" --box 0,0,0,1 > /dev/null
    rm p.h5
}
bench() { # distribution accuracy GPUs kinds
    told() { awk -v n="$1" '$1 == n { print $2; exit }' "$KEEP/$name.txt"; }
    local name=$1-acc$2-$3-$4 share=$((cores / gpus * $3))
    CUDA_VISIBLE_DEVICES=$(seq -s, 0 $(($3 - 1))) taskset -c "0-$((share - 1))" \
        penstock-fmm "$1".h5 r.h5 --order "$2" --device cuda \
        --workers $((share - $3)) --resident no --gpu-kinds "$4" --force --trace "$KEEP/$name.h5" > "$KEEP/$name.txt"
    record "fmm-tasks-$1-acc$2" "makespan, floor LP" "$(told makespan)" s "$(told lp)" \
        "$count particles, groups of ${GROUP:-1000}, $((share - $3)) cores + $3 GPU, kinds on GPUs: $4"
}
height=${HEIGHT:-7}
for shape in ${SHAPES:-cube ellipsoid}; do
    tree "$shape" "$height"
    for n in ${GPUS:-$(seq "$gpus")}; do
        for kinds in ${KINDS:-two down}; do
            for accuracy in ${ACCURACIES:-3 5 7}; do bench "$shape" "$accuracy" "$n" "$kinds"; done
        done
    done
    height=$((height + 3))
done
