#!/bin/bash
# Every family on one GPU and on several of the same host (specs/scale.md), JSON records on stdout, talk on stderr. JOBS:
#   tdbem     an airplane from its mesh: assembly in memory, sums, all of a step; GPUs of one process
#   ranks     the same from files, ranks with a GPU each
#   dgtd      a box of as many tetrahedra as the head of cases/dgtd-head, P2 and P3, ranks with a GPU each
#   head      the head itself (HEAD), P3 with one step for all, P2 and P3 with local steps, ranks with a GPU each
#   devices   weak and strong scaling of slabs by bench_dgtd_devices
#   hbem      a wave on the submarine: assembly in memory, products, sparse systems; ranks with a GPU each
#   files     K and W of the submarine assembled into files by penstock-hmatrix-assemble
#   big       a wave on a hull with more unknowns (BIG: edge; wave number)
#   schwarz   slabs by GMRES and direct solution, ranks with a GPU each, for each of BOXES
#   resident  particles from file to file on one GPU: a cube and clusters; the latter's tree, sort and sums
#   tasks     tasks on cores and GPUs of one process (bench_fmm_tasks.sh)
# Inputs are made first, all at once. Then the runs with N GPUs for each of NUMBERS: jobs side by side, each with GPUs and cores
# of its own, but "tasks" and "devices", which have the machine. Environment: NUMBERS: of GPUs ("1 2 4 8", as
# many as there are); MESH: the airplane's surface (cases/tdbem-airplane), else a hull with EDGE m (.42); SPACING, STEPS
# (10823); CELLS (51), ORDERS ("2 3"), DGTD_STEPS (4000), HALOS ("auto host"); HEAD, a mesh; HEAD_STEPS (1000); HULL (.11); BIG
# (".0385 12"); COUNT (100000000), HEIGHT (8), GROUP (8000), ACCURACIES ("3 5"); BOXES ("264,264,286 528,528,572"); DEVICE: cuda; LIMIT:
# seconds of a run (60); UNTIL: seconds after which nothing begins (3600); KEEP: a folder for logs.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
[ -z "${KEEP:-}" ] || { mkdir -p "$KEEP" && KEEP=$(cd "$KEEP" && pwd); }
[ -z "${MESH:-}" ] || MESH=$(realpath "$MESH")
[ -z "${HEAD:-}" ] || HEAD=$(realpath "$HEAD")
. "$(dirname "$0")/lib.sh"
KEEP=${KEEP:-$work/keep}
mkdir -p "$KEEP/one" "$KEEP/taken"
measuring tdbem-march
unset OMP_NUM_THREADS # which nproc would heed
kind=${DEVICE:-cuda} limit=${LIMIT:-60} cores=$(nproc)
gpus=$(nvidia-smi -L 2> /dev/null | wc -l)
[ "$kind" = cuda ] || gpus=${GPUS:-2}
share=$((cores / gpus)) first=0
begin=$SECONDS
say() { echo "$((SECONDS - begin)) s: $*" >&2; }
late() { [ $((SECONDS - begin)) -ge "${UNTIL:-3600}" ]; }
wanted() { [[ " ${JOBS:-big tdbem head resident dgtd schwarz files hbem ranks devices tasks} " == *" $1 "* ]]; }
numbers() { for n in ${NUMBERS:-1 2 4 8}; do [ "$n" -gt "$gpus" ] || echo "$n"; done; }
most=$(numbers | sort -n | tail -n 1)
# on N GPUs from `first` on, with their share of the cores: COMMAND, whose figures go to NAME.json
on() { # N NAME COMMAND...
    local n=$1 name=$2 seen
    shift 2
    seen=$(seq -s, "$first" $((first + n - 1)))
    (
        [ "$kind" != cuda ] || export CUDA_VISIBLE_DEVICES=$seen
        exec timeout "$limit" taskset -c "$((first * share))-$(((first + n) * share - 1))" "$@" --json -q > "$KEEP/$name.json" 2> "$KEEP/$name.err"
    )
    local rc=$?
    say "$name: $rc $(grep -v warning "$KEEP/$name.err" | tail -n 1 | cut -c1-200)"
    return $rc
}
ranks() { [ "$1" = 1 ] || echo "mpirun -n $1 --bind-to none -x OMP_NUM_THREADS=$share"; }
of() { json "$1" "$KEEP/$2"; }
# against NAME QUANTITY N VALUE SIZE: seconds beside those of one GPU over N, if they are known by then
against() {
    local one=$1-$2-$5
    one=$KEEP/one/${one//[^a-z0-9]/_}
    [ "$3" != 1 ] || echo "$4" > "$one"
    record "scale-$1" "$2, $3 GPU" "$4" s "$([ ! -e "$one" ] || calculate "$(cat "$one") / $3")" "$5"
}

# ---- inputs ----

sound="--formulation sound-hard --points 3 --speed 340 --dt $(awk -v n="${SPACING:-339}" 'BEGIN { printf "%.12g", 36 / n / 340 }')"
hull_of() { # NAME EDGE K
    penstock-mesh-surface -q "$1.hdf" --shape suboff --scale 14.2 --edge "$2" --wavenumber "$3" > /dev/null &&
        penstock-cluster-build -q "$1.hdf" "$1.clusters.h5" --wavenumber "$3" > /dev/null
}
box_of() { # NODES
    penstock-gravity-model -q "mass$1.hdf" --body ball:0,0,7e3,3e3,100 --nodes "$1" > /dev/null &&
        penstock-gravity-assemble -q "mass$1.hdf" "load$1.hdf" --source one --boundary zero > /dev/null
}
inputs_tdbem() {
    if [ -n "${MESH:-}" ]; then ln -sf "$MESH" air.hdf; else
        penstock-mesh-surface air.hdf --shape suboff --scale 36 --edge "${EDGE:-.42}" -q > /dev/null; fi
}
# The words of $sound and $setup are options of their own.
# shellcheck disable=SC2086
inputs_ranks() {
    inputs_tdbem && penstock-slice-assemble -q air.hdf warp.h5 $sound --layout warp --device "$kind" > /dev/null
}
# Parts serve any number of ranks up to theirs.
inputs_dgtd() {
    local source="--source current:at=.5,.45,.55:axis=0,0,1:radius=.1:moment=1e-12:shape=gaussian:width=.2ns:delay=1ns" order
    penstock-mesh-box -q box.hdf --cells "${CELLS:-51}" > /dev/null &&
        penstock-mesh-partition -q box.hdf box.h5 --parts "$most" > /dev/null || return
    for order in ${ORDERS:-2 3}; do
        # shellcheck disable=SC2086
        penstock-dgtd-setup -q box.h5 "box$order.h5" --order "$order" --allow early --material default:eps=1 \
            --boundary outer:absorbing $source > /dev/null || return
    done
}
inputs_head() {
    penstock-mesh-partition -q "$HEAD" head.h5 --parts "$most" > /dev/null || return
    head_of() { # NAME OPTIONS...
        penstock-dgtd-setup -q head.h5 "$1.h5" "${@:2}" --materials "$root/cases/dgtd-head/tissues.txt" --divide 900MHz \
            --boundary absorbing_sphere:absorbing --source \
            current:at=0.115,0,0:axis=0,0,1:radius=0.02:moment=1e-12:shape=ramp:width=3ns:frequency=900e6 > /dev/null
    }
    head_of head-p3 --order 3 & head_of head-p2-local --order 2 --local-steps auto & head_of head-p3-local --order 3 --local-steps auto
    wait
}
inputs_hbem() { hull_of hull "${HULL:-.11}" 4.18879; }
inputs_big() { hull_of big ${BIG:-.0385 12}; }
inputs_resident() {
    penstock-particle-import --generate clusters --count "${COUNT:-100000000}" clusters.h5 -q > /dev/null &&
        penstock-particle-import --generate cube --count "${COUNT:-100000000}" p.h5 -q > /dev/null
}
inputs_tasks() {
    [ -e p.h5 ] || penstock-particle-import --generate cube --count "${COUNT:-100000000}" p.h5 -q > /dev/null &&
        penstock-octree-build p.h5 cube.h5 -q --height "${HEIGHT:-8}" --group "${GROUP:-8000}" --box 0,0,0,1 > /dev/null
}
inputs_schwarz() { local b; for b in ${BOXES:-264,264,286 528,528,572}; do box_of "$b" || return; done; }
inputs() { # JOB
    OMP_NUM_THREADS=$(((cores + 2) / 3)) "inputs_$1" 2> "$KEEP/inputs-$1.err" || say "no inputs of $1: $(tail -n 1 "$KEEP/inputs-$1.err")"
    say "inputs of $1"
}
[ -n "${HEAD:-}" ] || JOBS=${JOBS:-big tdbem resident dgtd schwarz files hbem ranks devices tasks}
if wanted ranks; then inputs ranks & elif wanted tdbem; then inputs tdbem & fi
if wanted hbem || wanted files; then inputs hbem & fi
if wanted resident || wanted tasks; then { ! wanted resident || inputs resident; ! wanted tasks || inputs tasks; } & fi
for job in dgtd head big schwarz; do wanted $job && inputs $job & done
wait

# ---- runs ----

march() { # N NAME CASE COMMAND...
    local n=$1 name=$2 of=$3 size seconds
    shift 3
    # shellcheck disable=SC2086
    on "$n" "$name" "$@" run.h5 --force --steps "${STEPS:-10823}" --group 16 --device "$kind" --checkpoint-every 0 \
        --emitter plane:dir=0.939692621,0.342020143,0:width=0.003 --allow short-pulse --allow loud-start || return
    penstock-inspect run.workers.h5 --json > "$KEEP/$name.workers.json" 2> /dev/null
    rm -f run.h5 run.workers.h5 run.log*
    size="$(of unknowns "$name") unknowns, $(of steps "$name") steps, n_g 16, fp32 warps"
    seconds=$(calculate "$(of median_at_the_end "$name.workers") * $(of sweeps "$name")")
    against "$of" "sums" "$n" "$seconds" "$size"
    against "$of" "sums, loads, radiation and solves" "$n" \
        "$(calculate "$seconds + $(of solve "$name") + $(of load "$name") + $(of radiation "$name")")" "$size"
    against "$of" "whole program" "$n" "$(of time "$name")" "$size"
    [ "$of" != tdbem ] || against "$of" "assembly in memory" "$n" "$(of assembled_in "$name")" "$size"
}
# shellcheck disable=SC2086
job_tdbem() { march "$1" "tdbem-$1" tdbem penstock-tdbem-march ../air.hdf $sound; }
# shellcheck disable=SC2046
job_ranks() { march "$1" "ranks-$1" tdbem-ranks $(ranks "$1") penstock-tdbem-march ../warp.h5 ../air.hdf; }
maxwell() { # N MODEL STEPS NAME OPTIONS...
    local n=$1 model=$2 steps=$3 name=$4
    shift 4
    # shellcheck disable=SC2046
    on "$n" "$name-$n" $(ranks "$n") penstock-dgtd-march "../$model.h5" run.h5 --force --steps "$steps" \
        --energy-every 1000 --device "$kind" --checkpoint-every 0 "$@" || return
    against "$name" "stepping" "$n" "$(of stepping "$name-$n")" "$(of elements "$name-$n") tetrahedra, $steps steps, fp32"
}
job_dgtd() {
    local order
    for order in ${ORDERS:-2 3}; do
        maxwell "$1" "box$order" "${DGTD_STEPS:-4000}" "dgtd-box-p$order" --halo auto
        [ "$1" = 1 ] || [[ " ${HALOS:-auto host} " != *" host "* ]] ||
            maxwell "$1" "box$order" "${DGTD_STEPS:-4000}" "dgtd-box-p$order-host" --halo host
    done
}
job_head() {
    local model
    for model in head-p3 head-p2-local head-p3-local; do maxwell "$1" $model "${HEAD_STEPS:-1000}" "dgtd-$model"; done
}
wave() { # N NAME MESH K CASE
    local part size
    # shellcheck disable=SC2046
    on "$1" "$2" $(ranks "$1") penstock-hbem-solve "../$3.hdf" "../$3.clusters.h5" phi.hdf --wavenumber "$4" --precision fp32 \
        --skeleton --device "$kind" --force --direction 0.984807753012208,0.173648177666930,0 || return
    size="$(of unknowns "$2") unknowns, k $4, one wave"
    for part in assembly products sparse; do against "$5" $part "$1" "$(of "${part}_time" "$2")" "$size"; done
    against "$5" "whole program" "$1" "$(of time "$2")" "$size"
}
job_hbem() { wave "$1" "hbem-$1" hull 4.18879 hbem; }
job_big() { local big=${BIG:-.0385 12}; wave "$1" "big-$1" big "${big#* }" hbem-big; }
job_files() {
    local o seconds=0
    for o in dlp hyps; do
        # shellcheck disable=SC2046
        on "$1" "files-$o-$1" $(ranks "$1") penstock-hmatrix-assemble ../hull.clusters.h5 $o.h5 --operator $o --wavenumber 4.18879 \
            --precision fp32 --skeleton --force --device "$kind" || return
        seconds=$(calculate "$seconds + $(of time "files-$o-$1")")
        rm -f $o.h5 $o.part*.h5
    done
    against hbem-files "K and W assembled into files" "$1" "$seconds" "$(of rows "files-dlp-$1") unknowns, k 4.18879, fp32, skeletons"
}
job_schwarz() {
    local box how
    for box in ${BOXES:-264,264,286 528,528,572}; do
        for how in "--slabs 8 --method gmres" "--method direct"; do
            # shellcheck disable=SC2046,SC2086
            on "$1" "schwarz-${how##* }-$box-$1" $(ranks "$1") penstock-schwarz-solve "../load$box.hdf" --device "$kind" $how || continue
            against "schwarz-${how##* }" "solving" "$1" "$(of solving "schwarz-${how##* }-$box-$1")" "$box nodes, $how"
        done
    done
}
job_resident() {
    local kind_ name
    [ "$1" = 1 ] || return 0
    for kind_ in clusters p; do
        name=resident-$kind_
        on 1 "$name" penstock-fmm "../$kind_.h5" r.h5 --device "$kind" --force || continue
        record "scale-fmm-${kind_/#p/cube}" "file to file, 1 GPU" "$(of time "$name")" s "" "$(of particles "$name") particles, errors within 3e-4"
        rm -f r.h5
    done
    [ "$kind" != cuda ] || CUDA_VISIBLE_DEVICES=$first timeout "$limit" taskset -c "$((first * share))-$(((first + 1) * share - 1))" \
        "$BUILD/gpu/bench_fmm_adaptive" clusters "${COUNT:-100000000}" 96 4 100 2> "$KEEP/adaptive.err" || say "bench_fmm_adaptive failed"
}
job_devices() {
    [ "$1" = "$most" ] && [ "$kind" = cuda ] || return 0
    timeout $((2 * limit)) "$BUILD/gpu/bench_dgtd_devices" "${DEVICE_STEPS:-500}" "weak-p3 weak-p4 strong-p3" || say "bench_dgtd_devices failed"
}
job_tasks() {
    [ "$kind" = cuda ] && [ -e ../cube.h5 ] || return 0
    WORK=$work COUNT=${COUNT:-100000000} GROUP="${GROUP:-8000}" SHAPES=cube HEIGHT=${HEIGHT:-8} KINDS=down GPUS=$1 ACCURACIES=${ACCURACIES:-3 5} \
        KEEP=$KEEP/fmm timeout $((3 * limit)) "$root/tests/gpu/bench_fmm_tasks.sh" || say "fmm: tasks failed"
}
# Lane L of N GPUs each: one job after the other that no other lane has begun.
lane() { # L N
    local job
    first=$(($1 * $2))
    mkdir -p "lane$first" && cd "lane$first" || return
    for job in big tdbem head resident dgtd schwarz files hbem ranks; do
        wanted $job && ! late && mkdir "$KEEP/taken/$2-$job" 2> /dev/null && "job_$job" "$2"
    done
}
for n in $(numbers); do
    for ((l = 0; l < gpus / n; ++l)); do (lane "$l" "$n") & done
    wait
    for job in devices tasks; do
        if wanted $job && ! late; then mkdir -p alone && (cd alone && "job_$job" "$n"); say "$job, $n GPUs"; fi
    done
done
say "all; logs in $KEEP"
