# Every program with a long input, stopped by SIGTERM, SIGINT, SIGHUP or SIGXCPU in turn: it ends with 75 within two seconds (or was done before),
# leaves no output and nothing half-written, and is not silent at a terminal before. Times are processor time, so that the
# test does not depend on what else the machine does.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface mesh-box mesh-partition dgtd-setup dgtd-march particle-import octree-build fmm slice-assemble slice-block \
    tdbem-march cluster-build hmatrix-assemble hbem-solve gravity-model gravity-assemble schwarz-solve

{
    penstock-mesh-surface ball.hdf --divisions 8
    penstock-mesh-surface fine.hdf --divisions 40
    penstock-mesh-box cube.hdf --cells 6
    penstock-mesh-partition cube.hdf cube.h5
    penstock-dgtd-setup cube.h5 model.h5 --order 3 --material default:eps=1 --boundary outer:pec \
        --source mode:n=1,1,1:amplitude=1,-1,0 --divide 1m
    penstock-particle-import --generate cube many.h5 --count 300000
    penstock-octree-build many.h5 tree.h5 --height 5
    penstock-slice-assemble ball.hdf slices.h5 --courant 2 --speed 1
    penstock-cluster-build fine.hdf clusters.h5
    penstock-gravity-model prism.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 61,61,31
    penstock-gravity-assemble prism.hdf load.hdf
} > made 2>&1

export OMP_NUM_THREADS=1
signal=TERM stopped=0
# spent: seconds of processor time of the processes that were waited for, as $seconds.
spent() { times > times; seconds=$(awk -F'[ms ]+' 'END { print 60 * $1 + $2 + 60 * $3 + $4 }' times); }
# heeds OUTPUT COMMAND...: after 0.3 s of its processor time a signal comes.
heeds() {
    local output=$1 ended before
    shift
    rm -rf "$output"
    spent; before=$seconds
    at cpu:300 $signal timeout -k 5 200 "$@" > out 2> err
    ended=$?
    spent
    case $ended in
        75) stopped=$((stopped + 1)); [ ! -e "$output" ] || fail "$1: there is an output after a stop" ;;
        0) echo "$1: done before the signal came" ;;
        *) cat err; fail "$1: SIG$signal ended it with $ended" ;;
    esac
    [ $ended -eq 0 ] || within "$seconds" 0 "$(awk -v b="$before" 'BEGIN { print b + 2.8 }')" "$1 after SIG$signal: processor time (from $before)"
    [ -z "$(find . -name '*.tmp')" ] || fail "$1: left $(find . -name '*.tmp')"
    [ $ended -ne 75 ] || grep -q "the same command" err || { cat err; fail "$1 does not say what the same command does"; }
    case $signal in TERM) signal=INT ;; INT) signal=HUP ;; HUP) signal=XCPU ;; *) signal=TERM ;; esac
}

heeds o1 penstock-mesh-surface o1 --divisions 900
heeds o2 penstock-mesh-box o2 --cells 120
heeds o3 penstock-particle-import --generate cube o3 --count 20000000
heeds o4 penstock-octree-build many.h5 o4 --height 8
heeds o5 penstock-fmm tree.h5 o5 --order 10 --threads 1
heeds o6 penstock-slice-assemble fine.hdf o6 --courant 2 --speed 1 --threads 1
heeds o7 penstock-tdbem-march slices.h5 ball.hdf o7 --steps 1000000 --emitter plane:dir=0,0,1:width=3
heeds o8 penstock-dgtd-march model.h5 o8 --steps 10000000
heeds o10 penstock-hmatrix-assemble clusters.h5 o10 --operator dlp --epsilon 1e-8 --device cpu --threads 1
heeds o11 penstock-hbem-solve fine.hdf clusters.h5 o11 --direction 1,0,0 --wavenumber 2 --device cpu --threads 1
heeds o12 penstock-gravity-model o12 --unit km --body ball:0,0,5,2,-300 --nodes 801,801,301 --box -50,50,-50,50,0,15
heeds o13 penstock-schwarz-solve load.hdf o13 --slabs 30 --method fixed-point --inner cg --inner-tolerance 1e-13 --tolerance 1e-12 --limit 100000
[ $stopped -ge 8 ] || fail "only $stopped of them ran long enough to be stopped"

# ---- what whoever starts a program left undone ----
march="penstock-tdbem-march slices.h5 ball.hdf o7 --steps 1000000 --emitter plane:dir=0,0,1:width=3"
signal=TERM stopped=0
heeds o7 env --block-signal=TERM $march
[ $stopped -eq 1 ] || fail "SIGTERM that was blocked by whoever started it is not heeded"
# Under nohup a closed terminal stops nothing.
at cpu:300 HUP timeout 200 env --ignore-signal=HUP penstock-dgtd-march model.h5 o9 --steps 2000 > out 2> err || { cat err; fail "SIGHUP under nohup"; }
# Under a limit of memory the threads of BLAS ask for buffers without end.
(ulimit -d 60000; exec timeout -k 5 60 env -u OMP_NUM_THREADS penstock-octree-build many.h5 limited.h5 --height 5 > out 2> err)
ended=$?
[ $ended -eq 0 ] || [ $ended -eq 4 ] || { cat err; fail "a limit of 60 MB of data ended octree-build with $ended"; }

# ---- a terminal is told how far it is, and how long it will take ----
command -v script > /dev/null || { echo "there is no script(1) to make a terminal"; exit 0; }
told() { # TEXT COMMAND: a line of the terminal, as soon as it comes
    local tries=0 pid
    : > terminal
    script -qefc "exec timeout 100 $2" terminal < /dev/null > /dev/null 2>&1 & pid=$!
    until tr '\r' '\n' < terminal | grep -aqE -- "$1"; do
        kill -0 $pid 2> /dev/null && [ $((tries += 1)) -lt 1000 ] || { tail -n 3 terminal; fail "no \"$1\" at a terminal from: $2"; }
        sleep 0.1
    done
    kill $pid; wait $pid
}
told "assembling: [0-9]+ of [0-9]+ tiles .*left" "penstock-slice-assemble fine.hdf o6 --courant 2 --speed 1 --threads 1"
told "marching: [0-9]+ of 1000000 steps .*left" "penstock-tdbem-march slices.h5 ball.hdf o7 --steps 1000000 --emitter plane:dir=0,0,1:width=3"
told "working for [0-9]+ s" "penstock-mesh-surface o1 --divisions 2600"
