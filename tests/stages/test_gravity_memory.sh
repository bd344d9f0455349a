# penstock-schwarz-solve in a tenth of the memory that the whole takes: the same bits as in memory.
. "$ROOT/tests/stages/lib.sh"
needs gravity-model gravity-assemble schwarz-solve
figure() { awk -v n="$1" '$1 == n { print $2; exit }' out; }
values() { h5dump -d /VTKHDF/PointData/potential -b LE -o raw "$1" > /dev/null && md5sum < raw; }
same() { [ "$(values "$1")" = "$(values "$2")" ] || fail "the potentials of $1 and $2 differ"; }
penstock-gravity-model long.hdf --preset chx-1 --nodes 1201,61,41 > /dev/null || fail "model"
penstock-gravity-assemble long.hdf load.hdf --boundary zero > out || fail "load"
solve="penstock-schwarz-solve load.hdf"
expect 0 "" $solve --plan --threads 1
tenth=$(($(figure memory) / 10))
for way in "sweeps 50" "fixed-point 40"; do
    set -- $way
    expect 0 "" $solve in.hdf --slabs $2 --method $1 --threads 1 --force
    expect 0 "slabs are streamed" $solve out.hdf --slabs $2 --method $1 --threads 1 --host-memory $tenth --force
    within "$(figure memory)" 1 $tenth "memory of the plan"
    same in.hdf out.hdf
done
exit 0
