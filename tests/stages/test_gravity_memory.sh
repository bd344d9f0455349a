# penstock-schwarz-solve in the least memory of its plan, two fifths of what the whole takes: the same bits as in memory.
. "$ROOT/tests/stages/lib.sh"
needs gravity-model gravity-assemble schwarz-solve
figure() { awk -v n="$1" '$1 == n { print $2; exit }' out; }
values() { h5dump -d /VTKHDF/PointData/potential -b LE -o raw "$1" > /dev/null && md5sum < raw; }
same() { [ "$(values "$1")" = "$(values "$2")" ] || fail "the potentials of $1 and $2 differ"; }
penstock-gravity-model long.hdf --preset chx-1 --nodes 1201,61,41 > /dev/null || fail "model"
penstock-gravity-assemble long.hdf load.hdf --boundary zero > out || fail "load"
solve="penstock-schwarz-solve load.hdf"
expect 0 "" $solve whole.hdf --plan --threads 1
whole=$(figure memory)
for way in "sweeps 50" "fixed-point 40"; do
    set -- $way
    expect 0 "" $solve in.hdf --slabs $2 --method $1 --threads 1 --force
    little=$(least $solve out.hdf --slabs $2 --method $1 --threads 1)
    [ "$little" -lt $((whole * 2 / 5)) ] || fail "the least, $little, is above two fifths of $whole"
    expect 0 "slabs are streamed" $solve out.hdf --slabs $2 --method $1 --threads 1 --host-memory $little --force
    within "$(figure memory)" 1 $little "memory of the plan"
    same in.hdf out.hdf
done
exit 0
