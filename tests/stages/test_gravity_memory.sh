# penstock-schwarz-solve in the least memory of its plan, whose arrays are a quarter of the whole's: the same bits as in memory,
# and no more memory than that.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve
penstock-gravity-model long.hdf --preset chx-1 --nodes 1201,61,41 > /dev/null || fail "model"
penstock-gravity-assemble long.hdf load.hdf --boundary zero > out || fail "load"
solve="penstock-schwarz-solve load.hdf"
expect 0 "" $solve whole.hdf --plan --threads 1
base=$(($(figure libraries) + $(figure inputs)))
whole=$(($(figure memory) - base))
for way in "sweeps 50" "fixed-point 40"; do
    set -- $way
    expect 0 "" $solve in.hdf --slabs $2 --method $1 --threads 1 --force
    little=$(least $solve out.hdf --slabs $2 --method $1 --threads 1)
    [ $((little - base)) -lt $((whole / 4)) ] || fail "the least, $little - $base, is above a quarter of $whole"
    expect 0 "slabs are streamed" $solve out.hdf --slabs $2 --method $1 --threads 1 --host-memory $little --force
    within "$(figure memory)" 1 $little "memory of the plan"
    within "$(figure peak_memory)" 1 $little "memory held"
    same in.hdf out.hdf
done
exit 0
