# The adaptive tree of penstock-fmm by portions of its targets: on ranks, stopped, killed and continued, in other numbers of
# ranks and threads, to the bits of one run; what differs is named.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare
fmm="penstock-fmm --device cpu"
generated() { made penstock-particle-import --generate "$1" --count "$2" "$3.h5" "${@:4}"; } # KIND COUNT NAME OPTIONS...
generated plummer 12000 plummer
generated cube 9000 dipoles --charges signed --moments dipoles
generated plummer 14000 forces --charges signed --moments forces
generated cube 9000 targets --seed 3
for kind in cusp deep; do
    bash "$ROOT/tests/support/particles-of" $kind 9000 > text.txt
    made penstock-particle-import text.txt $kind.h5
done
made penstock-octree-build cusp.h5 two.h5 --targets targets.h5 --height 6
made penstock-octree-build plummer.h5 tree.h5 --height 6 --group 40
# Portions are of 64 leaves; a box that repeats has leaves above the cells that have expansions, and deep ones.
awk 'BEGIN { srand(5); for (i = 0; i < 12000; ++i) { w = i < 11000 ? .02 : 1; print rand() * w, rand() * w, rand() * w, 2 * (i % 2) - 1 } }' > text.txt
made penstock-particle-import text.txt uneven.h5

# one NAME INPUT OPTIONS...: by one rank, which others have to equal
declare -A of
one() {
    of[$1]="${*:2}"
    expect 0 "" $fmm $2 $1.one.h5 "${@:3}" --threads 2
    [ "$(figure tree)" = adaptive ] || fail "$1: the tree is $(figure tree)"
}
one plummer plummer.h5 --order 4 --check 200
error=$(figure error_potential)
one cusp cusp.h5 --order 4
one deep deep.h5 --order 3
one two two.h5 --order 4 --tree adaptive
one mixed plummer.h5 --order 4 --precision mixed
one dipoles dipoles.h5 --order 4 --hessian
one forces forces.h5 --order 3 --kernel stokeslet
one periodic uneven.h5 --order 4 --periodic xyz --period 1

# ---- ranks ----
if command -v mpirun > /dev/null && mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1; then
    for name in "${!of[@]}"; do
        set -- ${of[$name]}
        for n in 2 3; do
            expect 0 "" mpirun -n $n $fmm $1 $name.r.h5 "${@:2}" --threads 1 --force
            same $name.r.h5 $name.one.h5
            within "$(figure received)" 1 1e9 "bytes received, $name"
            [ $name != plummer ] || [ "$(figure error_potential)" = "$error" ] || fail "errors with $n ranks differ"
        done
    done
    # chosen as by one rank; more ranks than portions
    expect 0 "" $fmm tree.h5 auto.one.h5 --accuracy 1e-3
    expect 0 "" mpirun -n 2 $fmm tree.h5 auto.h5 --accuracy 1e-3 --threads 1
    [ "$(figure tree)" = adaptive ] || fail "two ranks choose the $(figure tree) tree"
    same auto.h5 auto.one.h5
    generated plummer 400 few
    expect 0 "" $fmm few.h5 few.one.h5 --order 4
    expect 0 "" mpirun -n 4 $fmm few.h5 few.r.h5 --order 4 --threads 1
    same few.r.h5 few.one.h5
    expect 0 "traffic" $fmm plummer.h5 --order 4 --plan --ranks 3
    within "$(figure imbalance)" 1 1.2 "the most work over the mean"
    expect 4 "at least" mpirun -n 2 $fmm plummer.h5 none.h5 --order 4 --host-memory 3M
    ranks=yes
else
    echo "no MPI: one rank alone"
fi

# ---- kept, stopped, killed: the same bits; passes of a sum, too ----
for name in plummer forces periodic; do
    set -- ${of[$name]}
    killed_at write:9:cut.h5.groups $fmm $1 cut.h5 "${@:2}" --threads 1 --checkpoint-every 1step
    [ -e cut.h5.groups ] && [ ! -e cut.h5 ] || fail "$name: what a run that was killed leaves"
    expect 2 "order" $fmm $1 cut.h5 "${@:2}" --order 5
    expect 75 "the same command continues" at write:2:cut.h5.groups TERM $fmm $1 cut.h5 "${@:2}" --threads 1 --checkpoint-every 1step
    expect 0 "groups are done already" $fmm $1 cut.h5 "${@:2}" --threads 3
    within "$(figure groups_from_journal)" 2 100 "portions from the journal, $name"
    same cut.h5 $name.one.h5
    [ ! -e cut.h5.groups ] || fail "$name: the journal is left"
    rm cut.h5
done
set -- ${of[forces]}
if [ -n "${ranks:-}" ]; then # three ranks are killed, two go on, then one
    RANK=1 killed_at write:2:cut.h5.groups mpirun -n 3 $fmm $1 cut.h5 "${@:2}" --threads 1 --checkpoint-every 1step
    while "$ROOT/tests/support/still-there" penstock-fmm; do sleep .02; done
    RANK=1 killed_at write:1:cut.h5.groups mpirun -n 2 $fmm $1 cut.h5 "${@:2}" --threads 1 --checkpoint-every 1step
    while "$ROOT/tests/support/still-there" penstock-fmm; do sleep .02; done
    expect 0 "groups are done already" $fmm $1 cut.h5 "${@:2}" --threads 2
    same cut.h5 forces.one.h5
    [ -z "$(ls cut.h5.* 2> /dev/null)" ] || fail "journals are left behind"
    rm cut.h5
fi
# An unfinished run says which tree goes on, and options that differ are named.
killed_at write:6:cut.h5.groups $fmm tree.h5 cut.h5 --order 4 --threads 1 --checkpoint-every 1step
expect 0 "groups are done already" $fmm tree.h5 cut.h5 --order 4
[ "$(figure tree)" = adaptive ] || fail "an adaptive run goes on with the $(figure tree) tree"
killed_at write:6:left.h5.groups $fmm tree.h5 left.h5 --order 4 --tree uniform --threads 1 --checkpoint-every 1step
expect 2 "tree" $fmm tree.h5 left.h5 --order 4 --tree adaptive
expect 0 "" $fmm tree.h5 left.h5 --order 4 --tree adaptive --fresh
same left.h5 cut.h5
expect 0 "no new.h5.groups to continue from" $fmm plummer.h5 new.h5 --order 4 --restart
expect 0 "" $fmm plummer.h5 new.h5 --order 4 --force --checkpoint-every 0
[ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"
