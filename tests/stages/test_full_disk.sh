# A disk without room: a long program ends before it computes anything, with code 4, and says how much it will write;
# a disk that fills up while it runs: code 4, the file is named, the last checkpoint stays, and once there is room again the
# same command goes on to the same bits. On a tmpfs in a name space of our own.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs mesh-surface cluster-build hbem-solve slice-assemble slice-block tdbem-march dgtd-march particle-import octree-build fmm gravity-invert \
    gravity-model terrain-import
same() { penstock-compare "$1" "$2" --tolerance 0 > compared 2>&1 || { cat compared; fail "$1 and $2 differ"; }; }
export OMP_NUM_THREADS=1
keeps=yes
mkdir -p disk

ballast() { dd if=/dev/zero of=disk/ballast bs=64K 2> /dev/null; [ -s disk/ballast ] || fail "the disk was full"; }
left() { ls -A disk | grep -vE "ballast|\.workers\.h5"; } # the latter is an output, too

# refused COMMAND...: with hardly a byte free nothing is left.
refused() {
    expect 4 "free some space" "$@"
    [ -z "$(left)" ] || fail "left by $1: $(left)"
}

# filled MOMENT COMMAND...: from MOMENT on, before so many calls on files of the disk, there is no room.
filled() {
    local moment=$1 pid shell code tries=0
    shift
    rm -f pid
    at "$moment:disk/" STOP sh -c 'echo $$ > pid; exec "$@"' sh "$@" > out 2> err & shell=$!
    until [ -s pid ] && pid=$(cat pid) && grep -q '^State:.T' /proc/$pid/status 2> /dev/null; do
        kill -0 $shell 2> /dev/null && [ $((tries += 1)) -lt 3000 ] || { cat out err; fail "over before the disk was full: $*"; }
        sleep .02
    done
    ballast
    kill -CONT $pid
    wait $shell
    code=$?
    [ $code -eq 4 ] || { cat out err; fail "a disk that filled up ended with $code: $*"; }
    grep -qE 'disk/.*(No space left|MB free)' err || { cat err; fail "neither file nor reason are told by: $*"; }
    [ -n "$(left)" ] || [ $keeps = no ] || fail "nothing is kept by: $*"
    [ -z "$(left)" ] || [ $keeps = yes ] || fail "something is left by: $*"
    [ -z "$(find disk -name '*.tmp')" ] || fail "half a file stays: $(left)"
    rm disk/ballast
}

# on_disk FILE MOMENT COMMAND...: FILE, the output in disk/, of a command that is refused, fills up and goes on, or begins again
# where it keeps nothing.
on_disk() {
    local file=$1 moment=$2
    shift 2
    expect 0 "" "${@//disk\//}"
    ballast
    TIMEFORMAT=%U
    truncate -s -64K disk/ballast # for a log that is begun
    { time refused "$@"; } 2> spent
    within "$(tail -n 1 spent)" 0 2 "seconds of processor time of $1 on a full disk"
    rm disk/ballast
    filled "$moment" "$@"
    expect 0 "" "$@"
    same "$file" "disk/$file"
    [ "$(left)" = "$file" ] || fail "left by $1: $(left)"
    rm disk/*
}

inputs() {
    penstock-mesh-surface ball.hdf --divisions 6
    penstock-cluster-build ball.hdf c.h5
    penstock-slice-assemble ball.hdf slices.h5 --courant 2 --speed 1 --formulation sound-hard
    penstock-particle-import --generate cube many.h5 --count 20000
    penstock-octree-build many.h5 tree.h5 --height 4
    penstock-particle-import --generate ellipsoid close.h5 --count 20000
    "$BUILD/tests-programs/dgtd_model" model.h5 side=3 order=1
    printf '10 10 6\n500000 4000000 0\n10*100\n10*100\n6*50\n' > mesh.msh
    penstock-gravity-model m.hdf --preset chx-1 --nodes 61,41,17
    penstock-gravity-assemble m.hdf load.hdf || true
    printf 'ncols 120\nnrows 120\nxllcorner 500000\nyllcorner 4000000\ncellsize 100\n' > heights.asc
    awk 'BEGIN { for (i = 0; i < 14400; ++i) print 100 + i % 37 }' >> heights.asc
    awk 'BEGIN { for (i = 0; i < 100; ++i) { x = int(i / 10); y = i % 10
        print 500050 + 100 * x, 4000050 + 100 * y, 10, exp(-((x - 4.5)^2 + (y - 4.5)^2) / 8) / 2, .03 } }' > obs.txt
}

all() {
    inputs > made 2>&1 || { cat made; fail "inputs"; }
    on_disk h.hdf write:40 penstock-hbem-solve ball.hdf c.h5 disk/h.hdf --azimuths 0,300,6 --wavenumber 3 --force-coarse --tolerance 1e-8 \
        --batch 2 --checkpoint-every 1step --device cpu
    on_disk s.h5 write:40 penstock-slice-assemble ball.hdf disk/s.h5 --courant 2 --speed 1 --checkpoint-every 1step
    on_disk t.h5 write:60 penstock-tdbem-march slices.h5 ball.hdf disk/t.h5 --steps 400 --emitter plane:dir=0,0,1:width=3 \
        --checkpoint-every 40steps
    on_disk d.h5 write:60 penstock-dgtd-march model.h5 disk/d.h5 --steps 2000 --energy-every 1 --checkpoint-every 80steps
    on_disk f.h5 write:8 penstock-fmm tree.h5 disk/f.h5 --order 5 --device cpu --checkpoint-every 1step
    on_disk f.h5 write:8 penstock-fmm close.h5 disk/f.h5 --tree adaptive --order 4 --device cpu --checkpoint-every 1step
    on_disk o.h5 write:8 penstock-octree-build many.h5 disk/o.h5 --height 4 --checkpoint-every 1step
    on_disk b.h5 write:2 penstock-slice-block slices.h5 disk/b.h5 --checkpoint-every 1step
    on_disk g.h5 write:60 penstock-gravity-invert obs.txt mesh.msh disk/g.h5 --bounds 0,900 --checkpoint-every 3steps
    if [ -e load.hdf ]; then # built with FFTW
        on_disk p.hdf fsync:2 penstock-schwarz-solve load.hdf disk/p.hdf --slabs 6 --checkpoint-every 1steps
        # Room for the output and for checkpoints as they are compressed, not as they are planned.
        ballast
        truncate -s -1M disk/ballast
        expect 0 "less as far as they are compressed" penstock-schwarz-solve load.hdf disk/p.hdf --slabs 6 --checkpoint-every 1steps
        rm disk/*
    fi
    keeps=no
    on_disk m.hdf write:2 penstock-gravity-model disk/m.hdf --preset chx-1 --nodes 61,41,17
    on_disk e.h5 write:2 penstock-terrain-import heights.asc disk/e.h5 --stations above:1m
}

on_disk_of 16m all "$@"
echo "no small disk can be mounted here"
exit 77
