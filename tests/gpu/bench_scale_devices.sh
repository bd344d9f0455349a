#!/bin/bash
# Every family on one GPU and on several of the same host (specs/scale.md), JSON records on stdout, talk on stderr:
#   tdbem    march of an airplane: sums, and all of a step; GPUs of one process, then ranks with a GPU each
#   dgtd     a box of as many tetrahedra as the head of cases/dgtd-head, P2 and P3, ranks with a GPU each, traces
#            directly and through the host; weak and strong scaling of slabs by bench_dgtd_devices
#   hbem     a wave on the submarine: assembly in memory, products, sparse systems; ranks with a GPU each
#   fmm      tasks on cores and GPUs of one process (bench_fmm_tasks.sh); resident on one GPU
#   schwarz  slabs by GMRES and direct solution, ranks with a GPU each
# Inputs are made first, all at once; then one run after the other has the machine. Environment: WHAT: families;
# NUMBERS: of GPUs ("1 2 4 8", as many as there are); MESH: the airplane's surface (cases/tdbem-airplane), else a
# hull with EDGE m (.42); SPACING, STEPS (10823); CELLS (51), DGTD_STEPS (4000); HULL (.11); COUNT (100000000),
# HEIGHT (8), GROUP (8000), ORDERS ("3 5"); NODES (264,264,286); LIMIT: seconds of a run (60); DEVICE: cuda; KEEP: a folder for logs.
set -u
here=$PWD root=$(cd "$(dirname "$0")/../.." && pwd)
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && KEEP=$(cd "$KEEP" && pwd); }
[ -z "${MESH:-}" ] || MESH=$(realpath "$MESH")
. "$(dirname "$0")/lib.sh"
KEEP=${KEEP:-$work/keep}
mkdir -p "$KEEP"
measuring tdbem-march
kind=${DEVICE:-cuda} limit=${LIMIT:-60} cores=$(nproc)
gpus=$(nvidia-smi -L 2> /dev/null | wc -l)
[ "$kind" = cuda ] || gpus=${GPUS:-2}
begin=$SECONDS
say() { echo "$((SECONDS - begin)) s: $*" >&2; }
wanted() { [[ " ${WHAT:-tdbem dgtd hbem schwarz fmm} " == *" $1 "* ]]; }
numbers() { for n in ${NUMBERS:-1 2 4 8}; do [ "$n" -gt "$gpus" ] || echo "$n"; done; }
# on N GPUs and their share of the cores: COMMAND, whose figures go to NAME.json
on() { # N NAME COMMAND...
    local n=$1 name=$2 seen
    shift 2
    seen=$(seq -s, 0 $((n - 1)))
    [ "$kind" = cuda ] && export CUDA_VISIBLE_DEVICES=$seen
    timeout "$limit" taskset -c "0-$((cores / gpus * n - 1))" "$@" --json -q > "$KEEP/$name.json" 2> "$KEEP/$name.err"
    local rc=$?
    unset CUDA_VISIBLE_DEVICES
    say "$name: $rc $(tail -n 1 "$KEEP/$name.err" | cut -c1-200)"
    return $rc
}
ranks() { [ "$1" = 1 ] || echo "mpirun -n $1 --bind-to none -x OMP_NUM_THREADS=$((cores / gpus))"; }
of() { json "$1" "$KEEP/$2"; }
declare -A one
# against NAME QUANTITY N VALUE SIZE: seconds beside those of one GPU over N
against() {
    [ "$3" = 1 ] && one[$1/$2]=$4
    [ -n "${one[$1/$2]:-}" ] || return 0
    record "scale-$1" "$2, $3 GPU" "$4" s "$(calculate "${one[$1/$2]} / $3")" "$5"
}

# ---- inputs ----

inputs_tdbem() {
    local spacing=${SPACING:-339} least="--device $kind"
    if [ -n "${MESH:-}" ]; then ln -sf "$MESH" air.hdf; else
        penstock-mesh-surface air.hdf --shape suboff --scale 36 --edge "${EDGE:-.42}" -q > /dev/null || return
    fi
    penstock-slice-assemble -q air.hdf slices.h5 --formulation sound-hard --points 3 --speed 340 $least \
        --dt "$(awk -v n="$spacing" 'BEGIN { printf "%.12g", 36 / n / 340 }')" --json > "$KEEP/slices.json" &&
        penstock-slice-block -q slices.h5 warp.h5 --json > "$KEEP/blocks.json" && rm slices.h5
}
inputs_dgtd() {
    local source="--source current:at=.5,.45,.55:axis=0,0,1:radius=.1:moment=1e-12:shape=gaussian:width=.2ns:delay=1ns"
    penstock-mesh-box -q box.hdf --cells "${CELLS:-51}" > /dev/null || return
    for n in $(numbers); do
        penstock-mesh-partition -q box.hdf "box$n.h5" --parts "$n" > /dev/null || return
        for order in 2 3; do
            penstock-dgtd-setup -q "box$n.h5" "model$n-$order.h5" --order $order --allow early \
                --material default:eps=1 --boundary outer:absorbing $source > /dev/null || return
        done
    done
}
inputs_hbem() {
    penstock-mesh-surface -q hull.hdf --shape suboff --scale 14.2 --edge "${HULL:-.11}" --wavenumber 4.18879 > /dev/null &&
        penstock-cluster-build -q hull.hdf clusters.h5 --wavenumber 4.18879 > /dev/null
}
inputs_fmm() {
    penstock-particle-import --generate cube --count "${COUNT:-100000000}" p.h5 -q > /dev/null &&
        penstock-octree-build p.h5 cube.h5 -q --height "${HEIGHT:-8}" --group "${GROUP:-8000}" --box 0,0,0,1 > /dev/null && rm p.h5
}
inputs_schwarz() {
    penstock-gravity-model -q mass.hdf --body ball:0,0,7e3,3e3,100 --nodes "${NODES:-264,264,286}" > /dev/null &&
        penstock-gravity-assemble -q mass.hdf load.hdf --source one --boundary zero > /dev/null
}
for family in tdbem dgtd hbem fmm schwarz; do
    wanted $family && { inputs_$family 2> "$KEEP/inputs-$family.err" || say "no inputs of $family: $(tail -n 1 "$KEEP/inputs-$family.err")"; say "inputs of $family"; } &
done
wait

# ---- runs ----

tdbem() { # N NAME RANKS
    local sweeps seconds name=$2 size
    on "$1" "$name" $(ranks "$3") penstock-tdbem-march warp.h5 air.hdf run.h5 --force --steps "${STEPS:-10823}" --group 16 \
        --device "$kind" --emitter plane:dir=0.939692621,0.342020143,0:width=0.003 --checkpoint-every 0 --allow short-pulse --allow loud-start || return
    penstock-inspect run.workers.h5 --json > "$KEEP/$name.workers.json" 2> /dev/null
    sweeps=$(of sweeps "$name") size="$(of unknowns "$name") unknowns, $(of steps "$name") steps, n_g 16, fp32 warps"
    seconds=$(calculate "$(of median_at_the_end "$name.workers") * $sweeps")
    against "${4:-tdbem}" "sums" "$1" "$seconds" "$size"
    against "${4:-tdbem}" "sums, loads, radiation and solves" "$1" \
        "$(calculate "$seconds + $(of solve "$name") + $(of load "$name")")" "$size"
    rm -f run.h5 run.workers.h5 run.log*
}
dgtd() { # N ORDER HALO
    local name=dgtd-p$2-$1-$3
    on "$1" "$name" $(ranks "$1") penstock-dgtd-march "model$1-$2.h5" run.h5 --force --steps "${DGTD_STEPS:-4000}" \
        --energy-every 1000 --device "$kind" --halo "$3" --checkpoint-every 0 || return
    against "dgtd-box-p$2$([ "$3" = auto ] || echo "-$3")" "stepping" "$1" "$(of stepping "$name")" \
        "$(of elements "$name") tetrahedra, ${DGTD_STEPS:-4000} steps, fp32"
}
hbem() { # N
    local name=hbem-$1 part
    on "$1" "$name" $(ranks "$1") penstock-hbem-solve hull.hdf clusters.h5 phi.hdf --wavenumber 4.18879 --precision fp32 \
        --skeleton --device "$kind" --force --direction 0.984807753012208,0.173648177666930,0 || return
    for part in assembly products sparse; do
        against hbem "$part" "$1" "$(of "${part}_time" "$name")" "$(of unknowns "$name") unknowns, k 4.18879, one wave"
    done
    against hbem "whole program" "$1" "$(of time "$name")" "$(of unknowns "$name") unknowns, k 4.18879, one wave"
}
schwarz() { # N NAME OPTIONS...
    local n=$1 name=$2
    shift 2
    on "$n" "schwarz-$name-$n" $(ranks "$n") penstock-schwarz-solve load.hdf --device "$kind" "$@" || return
    against "schwarz-$name" "solving" "$n" "$(of solving "schwarz-$name-$n")" "${NODES:-264,264,286} nodes, $*"
}

for n in $(numbers); do
    wanted tdbem && tdbem "$n" "tdbem-$n" 1
    wanted dgtd && for order in 2 3; do
        dgtd "$n" $order auto
        [ "$n" = 1 ] && one[dgtd-box-p$order-host/stepping]=${one[dgtd-box-p$order/stepping]:-} || dgtd "$n" $order host
    done
    wanted hbem && hbem "$n"
    wanted schwarz && { schwarz "$n" gmres --slabs 8 --method gmres; schwarz "$n" direct --method direct; }
done
wanted tdbem && for n in $(numbers); do
    [ "$n" = 1 ] && for q in "sums" "sums, loads, radiation and solves"; do one[tdbem-ranks/$q]=${one[tdbem/$q]:-}; done
    [ "$n" = 1 ] || tdbem "$n" "tdbem-ranks-$n" "$n" tdbem-ranks
done
if wanted fmm && [ -e cube.h5 ]; then
    on 1 resident penstock-fmm cube.h5 r.h5 --order 5 --device "$kind" --force --accuracy 0 &&
        record scale-fmm-resident "evaluation, 1 GPU" "$(of evaluation resident)" s "" "$(of particles resident) particles, order 5"
    [ "$kind" != cuda ] || WORK=$work COUNT=${COUNT:-100000000} GROUP="${GROUP:-8000}" SHAPES=cube HEIGHT=${HEIGHT:-8} KINDS=down \
        GPUS=$(numbers | tr '\n' ' ') ACCURACIES=${ORDERS:-3 5} KEEP=$KEEP/fmm timeout $((3 * limit)) "$root/tests/gpu/bench_fmm_tasks.sh" || say "fmm: tasks failed"
    rm -f cube.h5 r.h5
fi
if wanted dgtd && [ "$kind" = cuda ]; then
    timeout "$limit" "$BUILD/gpu/bench_dgtd_devices" "${DEVICE_STEPS:-500}" "weak-p3 weak-p4 strong-p3" || say "bench_dgtd_devices failed"
fi
say "all; logs in $KEEP"
