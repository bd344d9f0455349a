# What a process is given by whoever starts it: small stacks, closed streams, streams that take nothing, children that nobody waits
# for, a mask that lets nobody read, folders that are not there. The output is the same, or the refusal has a name.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-import particle-import fmm
printf 'SetFactory("Built-in"); Point(1) = {0, 0, 0, 1}; Extrude {1, 0, 0} { Point{1}; } Extrude {0, 1, 0} { Line{1}; }\n' > square.geo
printf '0.5 1.5e0 2.25 1\n3 4 5 -1\n' > two.txt
run() { # FOLDER: what is made there, with $given before each command
    mkdir "$1"
    $given penstock-mesh-box "$1/box.hdf" --cells 6 -q &&
        $given penstock-particle-import two.txt "$1/two.h5" -q &&
        $given penstock-particle-import --generate cube "$1/p.h5" --count 2000 -q &&
        $given penstock-fmm "$1/p.h5" "$1/f.h5" --order 4 -q &&
        $given penstock-mesh-import square.geo "$1/square.hdf" --open -q
}
alike() { # FOLDER WHAT
    chmod -R u+rw "$1"
    for file in plain/*; do same "$file" "$1/${file#plain/}"; done
    rm -r "$1"
}
given=""
run plain > said 2>&1 || { cat said; fail "nothing given"; }
for given in "env OMP_STACKSIZE=16k" "env GOMP_STACKSIZE=16" "env OMP_STACKSIZE=.5M" "env -i PATH=$PATH TMPDIR=/proc/none TZ=:/etc/passwd" \
    "env OMP_NUM_THREADS=-1 OMP_PROC_BIND=nonsense OMP_PLACES={999}"; do
    run other > said 2>&1 || { cat said; fail "$given"; }
    alike other "$given"
done
given="" # of bash from here on
(trap '' CHLD; run other) > said 2>&1 || { cat said; fail "SIGCHLD ignored"; }
alike other "SIGCHLD ignored"
(ulimit -S -s 256; run other) > said 2>&1 || { cat said; fail "a small stack"; }
alike other "a small stack"
(umask 277; run other) > said 2>&1 || { cat said; fail "a mask"; }
alike other "a mask"
run other < /dev/null > said 2>&- || fail "no stream of messages"
alike other "no stream of messages"
# without a stream for results the command ends with 4, as they are lost; its file is whole, and no message is in it
for closed in '>&-' '<&- >&- 2>&-' '> /dev/full'; do
    rm -f o.hdf
    eval "penstock-mesh-box o.hdf --cells 6 $closed" 2> err
    [ $? -eq 4 ] || fail "results that went nowhere ($closed) did not end the command with 4"
    same plain/box.hdf o.hdf
done
(ulimit -s 512; expect 4 "the stack may not grow beyond 512 KB" penstock-fmm plain/p.h5 no.h5) || exit 1
expect 2 "at most 4096 can be" env OMP_NUM_THREADS=10000 penstock-mesh-box no.h5 --cells 6
