#!/bin/bash
# SIGTERM and SIGINT to solvers while a GPU works: each ends with 75 within two seconds, without an output and with a word of
# what the same command does; then, with --restart where it continues, it ends with the bits of a run that nobody stopped. The
# first size whose run lasts LEAST seconds (1.2) is stopped after each of PARTS of its time (.4 .7). WHAT: some of its
# programs; SIZES: of one of them, instead of those below; DEVICE: cuda. Ends with "N passed, N failed".
set -u
. "$(dirname "$0")/lib.sh"
kind=${DEVICE:-cuda} least=${LEAST:-1.2} passed=0 failed=0 signal=TERM
wanted() { [[ " ${WHAT:-tdbem dgtd hbem fmm particles schwarz} " == *" $1 "* ]]; }
ok() { passed=$((passed + 1)); echo "ok      $*"; }
bad() { failed=$((failed + 1)); echo "FAILED  $*"; tail -n 3 err; }
now() { date +%s.%N; }
since() { calculate "$(now) - $1"; }
at_least() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }'; }

# stopped NAME SECONDS COMMAND...: a signal comes to it after that time, or after half or a quarter of it where the run is over
# before, as where the machine was busier while it was timed; the command writes part.h5 then
stopped() {
    local name=$1 seconds=$2 pid began took ended try
    shift 2
    for try in 1 2 4; do
        rm -rf part.*
        "$@" > out 2> err & pid=$!
        sleep "$(calculate "$seconds / $try")"
        began=$(now)
        kill -$signal $pid 2> kill.err
        wait $pid; ended=$?
        took=$(since "$began")
        [ $ended -eq 0 ] || break
    done
    [ $ended -eq 75 ] || { bad "$name: SIG$signal after $seconds s ended it with $ended"; return 1; }
    at_least 2 "$took" || bad "$name: $took s from SIG$signal to its end"
    [ ! -e part.h5 ] || bad "$name: there is an output after a stop"
    [ -z "$(find . -name '*.tmp')" ] || bad "$name: left $(find . -name '*.tmp')"
    grep -q "the same command" err || bad "$name does not say what the same command does"
    grep -q "begins again" err && again= || again=--restart
    ok "$name: 75, $took s after SIG$signal: $(grep -o 'the same command.*' err | head -n 1)"
    [ $signal = TERM ] && signal=INT || signal=TERM
}
# solves NAME SIZES COMMAND: its word SIZE is the first of SIZES that lasts, or the last; OUTPUT is what it writes
solves() {
    local name=$1 sizes=${SIZES:-$2} command=$3 size line began took part
    wanted "$name" || return 0
    for size in $sizes; do
        rm -rf whole.*; began=$(now)
        line=${command//SIZE/$size}
        timeout 60 ${line//OUTPUT/whole.h5} --device $kind > out 2> err || { bad "$name: ${line//OUTPUT/whole.h5}"; return; }
        took=$(since "$began")
        ! at_least "$took" "$least" || break
    done
    at_least "$took" "$least" || { bad "$name is over in $took s"; return; }
    echo "$name: $took s, size $size"
    for part in ${PARTS:-.4 .7}; do
        stopped "$name" "$(calculate "$part * $took")" ${line//OUTPUT/part.h5} --device $kind || continue
        timeout 100 ${line//OUTPUT/part.h5} --device $kind $again > out 2> err || { bad "$name ${again:-again}"; continue; }
        same "$name"
    done
    rm -rf whole.* part.*
}
same() {
    penstock-compare part.h5 whole.h5 --tolerance 0 --no-attributes > out 2> err && ok "$1: the same bits" || bad "$1: other bits"
}

wanted tdbem && penstock-mesh-surface ball.hdf --divisions 8 > out 2> err && penstock-slice-assemble ball.hdf slices.h5 --courant 2 --speed 1 > out 2> err &&
    penstock-slice-block slices.h5 blocks.h5 --layout warp > out 2> err
solves tdbem "20000 100000" "penstock-tdbem-march blocks.h5 ball.hdf OUTPUT --steps SIZE --emitter plane:dir=0,0,1:width=3"

wanted dgtd && {
    penstock-mesh-box cube.hdf --cells 14 && penstock-mesh-partition cube.hdf cube.h5 &&
        penstock-dgtd-setup cube.h5 model.h5 --order 3 --material default:eps=1 --boundary outer:pec \
            --source mode:n=1,1,1:amplitude=1,-1,0 --divide 1m
} > out 2> err
solves dgtd "40000 160000" "penstock-dgtd-march model.h5 OUTPUT --steps SIZE"

wanted hbem && { penstock-mesh-surface fine.hdf --divisions 24 && penstock-cluster-build fine.hdf clusters.h5; } > out 2> err
solves hbem "200 800 3200" "penstock-hbem-solve fine.hdf clusters.h5 OUTPUT --wavenumber 6 --azimuths 0,345,SIZE --tolerance 1e-9 --batch 4"

wanted fmm && {
    penstock-particle-import --generate cube many.h5 --count 2000000 && penstock-octree-build many.h5 tree.h5 --height 6
} > out 2> err
solves fmm "6 9 12" "penstock-fmm tree.h5 OUTPUT --order SIZE --checkpoint-every 1step"

wanted particles && penstock-particle-import --generate ellipsoid swarm.h5 --count 20000000 > out 2> err
solves particles "6 9 12" "penstock-fmm swarm.h5 OUTPUT --order SIZE"

wanted schwarz && {
    penstock-gravity-model prism.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 321,161,161 && penstock-gravity-assemble prism.hdf load.hdf
} > out 2> err
solves schwarz "20 40 80" "penstock-schwarz-solve load.hdf OUTPUT --slabs SIZE --kind oo0 --method fixed-point --tolerance 1e-12 --limit 100000"

echo "signals: $passed passed, $failed failed"
[ $failed -eq 0 ]
