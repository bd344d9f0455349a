#!/bin/bash
# penstock-dgtd-march on a GPU against the CPU: energies, probes and transforms with all kinds of faces
# and sources, both precisions, P1..P4; a stopped and restarted run to the same bits; ranks; snapshots and
# the distance from a mode. Ends with "N passed, N failed".
#   check_dgtd_march.sh [PART[:CHOICE,..]]..
# PART: compare restart ranks window stop upwind mode layer local media ports guides, all if none is named;
# CHOICE: orders 1 to 4 of compare, local, media, ports and guides, or centred, upwind of layer, all if none.
# Their restarts, windows and ranks are of order 2, and come with it. Each part tells its time: on an H200 with 8 to 13 of
# them side by side an order of local, media or ports, two of guides, and window take 30 to 80 s.
# Environment: programs on PATH, among them the tests' dgtd_model; RANKS: 2, 1 to leave ranks out; DEVICE: cuda.
set -u
all="compare restart ranks window stop upwind mode layer local media ports guides" part=""
[ $# -gt 0 ] || set -- $all
for asked in "$@"; do
    [[ " $all " == *" ${asked%%:*} "* ]] || { echo "$asked: no part of this; there are $all"; exit 2; }
done
asked=("$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
kind=${DEVICE:-cuda} RANKS=${RANKS:-2} passed=0 failed=0
tell() { [ -z "$part" ] || echo "$part: $((SECONDS - since)) s"; part=""; }
# wanted PART: was it asked for? choice: what of it, or nothing
wanted() {
    local one
    tell
    for one in "${asked[@]}"; do
        [ "${one%%:*}" = "$1" ] || continue
        choice=""
        [[ $one == *:* ]] && choice=${one#*:}
        choice=${choice//,/ } part=$one since=$SECONDS
        return 0
    done
    return 1
}
chosen() { [[ " ${choice:-$1} " == *" $1 "* ]]; }
ok() { passed=$((passed + 1)); echo "ok      $*"; }
bad() { failed=$((failed + 1)); echo "FAILED  $*"; tail -n 4 said.txt; }
march() { penstock-dgtd-march "$@" -q > said.txt 2>&1; }
# agree WHAT RUN RUN TOLERANCE: all files of two runs
agree() {
    local kind tolerance=$4
    for kind in "" .electric .magnetic .phasors .ports; do
        [ -e $2$kind.h5 ] || continue
        [ "$kind" = .phasors ] && [ "$4" = 1e-11 ] && tolerance=2e-6
        penstock-compare $2$kind.h5 $3$kind.h5 --tolerance $tolerance --no-attributes > said.txt 2>&1 ||
            { bad "$1 ($kind)"; grep -h relative_l2 said.txt | head -n 3; return; }
    done
    ok "$1"
}
record="--probe .3,.4,.5 --probe .5,.5,.5 --probe .9,.1,.2 --frequency 1e8,2.5e8 --allow part-periods --energy-every 3 --allow faint"
# against_cores WHAT MODEL OPTIONS FP64 FP32: in both precisions, within these tolerances
against_cores() {
    local what=$1 model=$2 options=$3 precision tolerance
    for precision in fp64 fp32; do
        [ $precision = fp64 ] && tolerance=$4 || tolerance=$5
        rm -f cpu* gpu*
        march $model cpu.h5 --device cpu $options --precision $precision || bad "on the CPU"
        march $model gpu.h5 --device $kind $options --precision $precision || { bad "$what $precision"; continue; }
        agree "$what $precision" cpu gpu $tolerance
    done
}
# restarted WHAT MODEL SECONDS OPTIONS..: stopped after these and continued, to the same bits
restarted() {
    local what=$1 model=$2 seconds=$3
    shift 3
    rm -f whole* part* # of another part of this check, with more files
    march $model whole.h5 "$@" --device $kind
    march $model part.h5 "$@" --device $kind --stop-after $seconds
    [ -e part.log ] && ok "stopped on the way" || bad "the run was over before it could be stopped"
    march $model part.h5 "$@" --device $kind --restart
    agree "$what restarted, same bits" whole part 0
}
wanted compare && for order in ${choice:-1 2 3 4}; do
    for model in "kind=absorbing source=current sigma=.5 eps=2" "kind=pmc source=mode" \
                 "kind=absorbing source=wave absorbing=paper dt=.5" \
                 "kind=absorbing source=current sigma=.5 eps=2 flux=upwind dt=.15" \
                 "kind=absorbing source=wave total=1 flux=upwind dt=.15"; do
        dgtd_model m.h5 side=5 parts=2 shake=.2 order=$order $model dt=.55
        for precision in fp64 fp32; do
            [ $precision = fp64 ] || [[ $model == *wave* ]] || continue
            run="m.h5 --steps 200 $record --precision $precision --force"
            [ $precision = fp64 ] && tolerance=1e-11 || tolerance=2e-5
            march m.h5 cpu.h5 --device cpu ${run#m.h5} || bad "on the CPU"
            march m.h5 gpu.h5 --device $kind ${run#m.h5} || { bad "P$order $precision $model"; continue; }
            agree "P$order $precision $model" cpu gpu $tolerance
        done
    done
done
if wanted restart; then
dgtd_model m.h5 side=10 parts=2 order=2 kind=absorbing source=wave
restarted "a run" m.h5 0.4 $record --steps 4000 --checkpoint-every 400steps
fi
# Ranks: each on a device of its own traces go directly into the other's memory, or through the host; to the
# same bits. HALO: direct, which two ranks of one device can do as well, slowly.
on_ranks() { mpirun --oversubscribe --allow-run-as-root -np $RANKS penstock-dgtd-march "$@" -q > said.txt 2>&1; }
# halo_agrees WHAT MODEL OPTIONS..: the run alone, and with either way of the halo
halo_agrees() {
    local what=$1 model=$2
    shift 2
    set -- "$@" --precision fp64 --force --device $kind
    march $model alone.h5 "$@" && on_ranks $model direct.h5 "$@" --halo ${HALO:-direct} && on_ranks $model host.h5 "$@" --halo host ||
        { bad "$what on $RANKS ranks"; return; }
    agree "$what $RANKS ranks" alone direct 1e-11
    agree "$what the halo directly and by the host" host direct 0
}
ranks() { # ORDER OPTIONS OF THE SETUP: elements inside each part, and some that touch the other
    local order=$1
    shift
    penstock-dgtd-setup -q cut.h5 r.h5 --force --allow early --order $order "$@" > said.txt 2>&1 || { bad "setup $*"; return; }
    halo_agrees "P$order $1 $2" r.h5 --steps 100 $record
}
if wanted ranks && [ "$RANKS" -gt 1 ]; then
    penstock-mesh-box -q cut.hdf --cells 9 --shake .2 > said.txt 2>&1 &&
        penstock-mesh-partition -q cut.hdf cut.h5 --parts $RANKS > said.txt 2>&1 || bad "the mesh of the ranks"
    current="--source current:at=.5,.45,.55:axis=0,0,1:radius=.3:moment=1e-12:shape=gaussian:width=.8ns:delay=2ns"
    plane="--source plane:dir=1,2,2:pol=2,-2,1:shape=gaussian:width=.8ns:delay=2ns"
    lossy="--material default:eps=2,sigma=.001 --boundary outer:absorbing" air="--material default:eps=1"
    ranks 1 $lossy $current
    ranks 2 $air --boundary outer:absorbing --absorbing paper $plane
    ranks 3 $lossy --flux upwind $current
    ranks 4 $air --boundary outer:pmc --source mode:n=1,1,1:amplitude=1,-1,0
    ranks 2 $air --boundary outer:absorbing --flux upwind --total box:.3,.3,.3,.7,.7,.7 $plane
fi
# A window of the state on the device: same bits for any number of steps a visit, from memory and file.
told() { grep -oE "\"$1\": *[0-9]+" plan.json | tail -n 1 | grep -oE "[0-9]+$"; }
window_of() { # FRACTION MODEL OUTPUT OPTIONS: the device memory for so much of the state
    local share=$1
    shift
    penstock-dgtd-march "$@" --plan --json > plan.json 2> said.txt
    awk "BEGIN { printf \"%d\", $(told device_memory) - 67108864 - $(told fields) / 2 - (1 - $share) * ($(told fields) + $(told transforms)) }"
}
through_window() { # MODEL: all runs of one, in a folder of their own
    local model=$1 precision place run memory
    dgtd_model w.h5 arrange=layers shake=.2 $model dt=.55
    for precision in fp64 fp32; do
        run="--steps 37 $record --precision $precision --device $kind --force"
        march w.h5 core.h5 $run --snapshots 30 || bad "in core"
        memory=$(window_of .85 w.h5 x.h5 $run)
        for place in "" "--visit-steps 2" "--state file --visit-steps 1"; do
            penstock-dgtd-march w.h5 window.h5 $run --device-memory $memory $place --snapshots 30 --json -q > out.json 2> said.txt ||
                { bad "$precision $model $place in $memory bytes"; continue; }
            agree "window, $precision $model $place: $(grep -oE '"(steps_a_visit|part_on_device|geometry_on_device)": *[0-9.a-z]+' out.json | tr -d '\n')" core window 0
        done
        penstock-compare core.000030.hdf window.000030.hdf --tolerance 0 --no-attributes > said.txt 2>&1 && ok "its snapshot" || bad "its snapshot"
    done
}
# in_windows WHAT OPTIONS..: m.h5, slender, at once and through windows
in_windows() {
    local what=$1 place
    shift
    march m.h5 gpu.h5 "$@" || bad "$what, slender"
    for place in "" "--state file --visit-steps 1"; do
        march m.h5 window.h5 "$@" --device-memory $(window_of .85 m.h5 x.h5 "$@") $place || { bad "$what, window $place"; continue; }
        agree "$what, window $place" gpu window 0
    done
}
if wanted window; then # the models side by side
    models=("kind=absorbing source=current sigma=.5 eps=2 order=1 side=20" "kind=pmc source=mode order=3 side=20"
            "kind=absorbing source=wave order=2 side=16" "kind=absorbing source=wave total=1 flux=upwind dt=.15 order=2 side=16")
    for i in 0 1 2 3; do
        mkdir window$i
        (cd window$i && through_window "${models[i]}" > told.txt 2>&1) &
    done
    wait
    cat window?/told.txt
    passed=$((passed + $(cat window?/told.txt | grep -c "^ok ")))
    failed=$((failed + $(cat window?/told.txt | grep -c "^FAILED ")))
fi
if wanted stop; then
dgtd_model w.h5 arrange=layers shake=.2 dt=.55 kind=pmc source=mode order=2 side=16
run="--periods 9 --transform-periods 2 $record --checkpoint-every 300steps --device $kind"
march w.h5 whole.h5 $run --device-memory $(window_of .85 w.h5 x.h5 $run)
march w.h5 core.h5 $run
agree "transforms of the last periods through a window" core whole 0
for place in "" "--state file"; do
    again="$run --device-memory $(window_of .85 w.h5 x.h5 $run) $place"
    rm -f part*
    march w.h5 part.h5 $again --stop-after 0.5
    [ -e part.log ] && ok "a window is stopped on the way" || bad "the run was over before it could be stopped"
    march w.h5 part.h5 $again --restart
    agree "a window restarted, same bits $place" whole part 0
done
fi
if wanted upwind; then
dgtd_model u.h5 side=10 order=2 kind=absorbing source=wave flux=upwind dt=.15
restarted upwind u.h5 0.4 $record --steps 3000 --checkpoint-every 300steps
fi
# A matched layer: against the cores; a window, a file, a stop and ranks to the same bits.
if wanted layer; then
penstock-mesh-box -q cut.hdf --cells 7 --shake .2 > said.txt 2>&1 &&
    penstock-mesh-box -q long.hdf --cells 48,8,8 --size 8,1,1 --corner -.5,0,0 --tag 2 --region 1:box:0,.125,.125,7,.875,.875 > said.txt 2>&1 &&
    penstock-mesh-partition -q long.hdf long.h5 --order layers > said.txt 2>&1 &&
    penstock-mesh-partition -q cut.hdf one.h5 > said.txt 2>&1 && penstock-mesh-partition -q cut.hdf cut.h5 --parts $RANKS > said.txt 2>&1 ||
    bad "the mesh of the layer"
layered() { # MESH ORDER OPTIONS; boundary, layer: of the model
    penstock-dgtd-setup -q $1 m.h5 --force --allow early --order $2 --material default:eps=1 --boundary outer:${boundary:-absorbing} --pml ${layer:-auto:layers=3}:reflection=1e-3 \
        --source current:at=.5,.45,.55:axis=0,0,1:radius=.3:moment=1e-12:shape=gaussian:width=.8ns:delay=2ns --allow short-pulse "${@:3}" > said.txt 2>&1 || bad "setup ${*:2}"
}
for flux in ${choice:-centred upwind}; do
    for order in 1 2 3 4; do
        layered one.h5 $order --flux $flux
        against_cores "layer P$order $flux" m.h5 "--steps 150 $record" 1e-11 2e-5
    done
    # A layer of the mesh, which is in layers: what grows is put along a curve, for which windows are wide.
    boundary=pec layer=2 layered long.h5 2 --flux $flux --allow flat-layer --allow strong-layer
    run="--steps 150 --probe .3,.4,.5 --probe .5,.5,.5 --frequency 1e8,2.5e8 --allow part-periods --allow faint --energy-every 3
        --device $kind --force"
    in_windows "layer, $flux" $run
    layered one.h5 2 --flux $flux
    restarted "layer, $flux," m.h5 0.4 $record --steps 4000 --checkpoint-every 400steps
    [ "$RANKS" -gt 1 ] || continue
    layered cut.h5 2 --flux $flux
    halo_agrees "layer, $flux," m.h5 --steps 100 $record
done
fi
# Local steps, of two levels, on ranks of four: against the cores, with a layer, stopped, on ranks with traces of either way.
if wanted local; then
penstock-mesh-box -q cut.hdf --cells 9 --shake .25 --region 2:ball:.5,.5,.5,.2 > said.txt 2>&1 &&
    penstock-mesh-partition -q cut.hdf one.h5 > said.txt 2>&1 &&
    penstock-mesh-partition -q cut.hdf cut.h5 --parts $RANKS > said.txt 2>&1 || bad "the mesh of the local steps"
local_steps() { # MESH ORDER OPTIONS
    penstock-dgtd-setup -q $1 m.h5 --force --allow early --order $2 --material 2:eps=1 --local-steps auto --boundary outer:absorbing \
        --source current:at=.5,.45,.55:axis=0,0,1:radius=.3:moment=1e-12:shape=gaussian:width=.8ns:delay=2ns --allow short-pulse "${@:3}" > said.txt 2>&1 || bad "setup ${*:2}"
}
for order in ${choice:-1 2 3 4}; do
    for medium in eps=20,sigma=.001 "eps=20 --pml auto:layers=3:reflection=1e-3"; do
        local_steps one.h5 $order --material 1:$medium
        against_cores "local steps P$order $medium" m.h5 "--steps 60 $record" 1e-11 2e-5
    done
done
# Steps of which nothing is recorded, in which small operations run beside half steps and H of level 1 is kept by the half
# step of H, where groups of small elements hold absorbing ones, too, and where they do not; of media with poles, whose
# elements near others are small, too.
for small in "9 .2" "11 .12"; do
    penstock-mesh-box -q small.hdf --force --cells ${small% *} --shake .25 --region 2:ball:.5,.5,.5,${small#* } > said.txt 2>&1 &&
        penstock-mesh-partition -q small.hdf small.h5 --force > said.txt 2>&1 || bad "the mesh of small elements"
    for order in ${choice:-1 2 3 4}; do
        for medium in eps=20,sigma=.001 "eps=20,debye=5/1ns,drude=1e9/4e8 --allow absorbing-poles" "eps=20 --pml auto:layers=3:reflection=1e-3"; do
            local_steps small.h5 $order --material 1:$medium
            against_cores "local steps unrecorded P$order, $small, $medium" m.h5 "--steps 60 --energy-every 20" 1e-11 2e-5
        done
    done
done
penstock-mesh-box -q long.hdf --cells 36,8,8 --size 6,1,1 --shake .3 --region 2:box:2.5,.2,.2,3.5,.8,.8 > said.txt 2>&1 &&
    penstock-mesh-partition -q long.hdf long.h5 --order layers > said.txt 2>&1 || bad "the long mesh of the local steps"
for order in ${choice:-1 2 3 4}; do
    local_steps long.h5 $order --material 1:eps=20,sigma=.001
    in_windows "local steps P$order" --steps 37 $record --precision fp32 --device $kind --force
done
if chosen 2; then
local_steps one.h5 2 --material 1:eps=20,sigma=.001
restarted "local steps" m.h5 0.4 $record --steps 2000 --checkpoint-every 200steps
local_steps small.h5 2 --material 1:eps=20,sigma=.001
restarted "local steps unrecorded" m.h5 0.6 --energy-every 50 --steps 20000 --checkpoint-every 1530steps
if [ "$RANKS" -gt 1 ]; then
    local_steps cut.h5 2 --material 1:eps=20,sigma=.001
    halo_agrees "local steps," m.h5 --steps 60 $record
    local_steps cut.h5 2 --material 1:eps=400
    halo_agrees "local steps of four levels," m.h5 --steps 12 $record
fi
fi
fi
# Media with poles, and with tensors: against the cores, both fluxes, local steps; a window, a file, a stop and ranks
# to the same bits.
if wanted media; then
poles=debye=5/1ns,debye=2/.1ns,lorentz=2/3e9/5e8,drude=1e9/4e8
penstock-mesh-box -q cut.hdf --cells 8 --shake .2 --region 2:ball:.75,.5,.5,.18 > said.txt 2>&1 &&
    penstock-mesh-box -q long.hdf --cells 48,8,8 --size 8,1,1 --region 2:box:2,.25,.25,6,.75,.75 > said.txt 2>&1 &&
    penstock-mesh-partition -q long.hdf long.h5 --order layers > said.txt 2>&1 &&
    penstock-mesh-partition -q cut.hdf one.h5 > said.txt 2>&1 && penstock-mesh-partition -q cut.hdf cut.h5 --parts $RANKS > said.txt 2>&1 ||
    bad "the mesh of the media"
media() { # MESH ORDER OPTIONS; outside: the medium around
    penstock-dgtd-setup -q $1 m.h5 --force --allow early --allow cut --order $2 --material 1:eps=${outside:-1} --boundary outer:absorbing \
        --source current:at=.22,.5,.5:axis=0,0,1:radius=.15:moment=1e-12:shape=gaussian:width=.8ns:delay=2ns --allow short-pulse "${@:3}" > said.txt 2>&1 || bad "setup ${*:2}"
}
for order in ${choice:-1 2 3 4}; do
    for medium in eps=3,sigma=.01,$poles "eps=4/3/5/.5/0/-.2,$poles" "eps=3,$poles --flux upwind" "eps=1,$poles --local-steps 1"; do
        [[ $medium == *local* ]] && outside=30 || outside=1
        media one.h5 $order --material 2:$medium
        against_cores "media P$order $medium" m.h5 "--steps 150 $record" 1e-11 2e-5
    done
done
for medium in eps=3,sigma=.01,$poles "eps=3,$poles --flux upwind"; do
    chosen 2 || break
    media long.h5 2 --material 2:$medium
    run="--steps 150 --probe .3,.4,.5 --probe .5,.5,.5 --frequency 1e8,2.5e8 --allow part-periods --allow faint --energy-every 3
        --device $kind --force"
    in_windows "media $medium" $run
    media one.h5 2 --material 2:$medium
    restarted media m.h5 0.3 $record --steps 4000 --checkpoint-every 400steps
    [ "$RANKS" -gt 1 ] || continue
    media cut.h5 2 --material 2:$medium
    halo_agrees media m.h5 --steps 100 $record
done
fi
# A line between plates with a port at either end: against the cores, local steps, a stop and ranks.
if wanted ports; then
penstock-mesh-box -q cut.hdf --cells 12,3,3 --size 1.2,.3,.3 --shake .2 --region 2:box:.4,0,0,.6,.3,.3 > said.txt 2>&1 &&
    penstock-mesh-partition -q cut.hdf one.h5 > said.txt 2>&1 &&
    penstock-mesh-partition -q cut.hdf cut.h5 --parts $RANKS --method boxes > said.txt 2>&1 || bad "the mesh of the ports"
line() { # MESH ORDER OPTIONS
    penstock-dgtd-setup -q $1 m.h5 --force --order $2 --material 1:eps=9 --material 2:eps=1 --boundary 101:pmc --boundary 102:pmc \
        --boundary 103:pmc --boundary 104:pmc --boundary 105:pec --boundary 106:pec \
        --port one:faces=101:r=300:l=5e-9:c=1e-12:width=1.5ns:frequency=300e6 --port two:faces=102:r=200:l=9e-9:c=5e-13:connect=parallel:z0=50 "${@:3}" > said.txt 2>&1 || bad "setup ${*:2}"
}
record="--probe .3,.14,.1 --frequency 1e8,2.5e8 --energy-every 3 --allow faint"
for order in ${choice:-1 2 3 4}; do
    for steps in off 1; do
        line one.h5 $order --local-steps $steps
        against_cores "ports P$order, local steps $steps" m.h5 "--steps 300 $record --allow part-periods" 1e-11 5e-5
    done
done
if chosen 2; then
    line one.h5 2
    restarted ports m.h5 0.3 $record --steps 8000 --checkpoint-every 500steps --allow part-periods
fi
if chosen 2 && [ "$RANKS" -gt 1 ]; then
    line cut.h5 2
    halo_agrees ports m.h5 --steps 300 $record --allow part-periods
fi
fi
# A guide, or a line between plates, with ports of modes at both ends, whose lines have more cells than a block threads.
if wanted guides; then
penstock-mesh-box -q guide.hdf --cells 8,5,4 --size .04,.02286,.01016 --shake .1 > said.txt 2>&1 &&
    penstock-mesh-partition -q guide.hdf guide.h5 > said.txt 2>&1 || bad "the mesh of the guides"
record="--probe .02,.011,.005 --energy-every 3"
for order in ${choice:-1 2 3 4}; do
    for mode in te10 tm11 tem; do
        [ $mode = tem ] && sides=pmc || sides=pec
        [ $order$mode = 1tm11 ] && continue # whose waves cells of this size do not resolve in P1
        penstock-dgtd-setup -q guide.h5 m.h5 --force --order $order --material default:eps=1 --boundary 101:pmc --boundary 102:pmc \
            --boundary 103:$sides --boundary 104:$sides --boundary 105:pec --boundary 106:pec \
            --port one:faces=101:mode=$mode:width=80ps:frequency=18e9 --port two:faces=102:mode=$mode > said.txt 2>&1 || bad "setup, $mode"
        against_cores "$mode, P$order" m.h5 "--steps 1500 $record" 1e-10 1e-4
    done
done
restarted guides m.h5 0.3 $record --steps 20000 --checkpoint-every 1000steps
fi
if wanted mode; then
dgtd_model c.h5 order=3 side=4 dt=.9
for device in cpu $kind; do
    penstock-dgtd-march c.h5 mode.$device.h5 --time 3.3356409519815204e-09 --mode-error 1 --precision fp64 \
        --snapshots 30 --device $device --json --force -q > $device.json 2> said.txt
done
error() { grep -o '"mode_error": *[-0-9.e+]*' $1.json | sed 's/.*: *//'; }
awk -v a="$(error cpu)" -v b="$(error $kind)" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 1e-16) }' &&
    ok "distance from the mode $(error $kind)" || bad "distance from the mode: $(error cpu), $(error $kind)"
penstock-compare mode.cpu.000030.hdf mode.$kind.000030.hdf --tolerance 1e-5 --no-attributes > said.txt 2>&1 &&
    ok "snapshots" || bad "snapshots"
fi
tell
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
