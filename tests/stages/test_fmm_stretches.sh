# The adaptive tree of penstock-fmm where --host-memory does not hold it: by stretches, within three budgets, to the bits of
# all in memory, energy and samples with them; stopped, killed and continued; with less than the least it is refused.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare
fmm="penstock-fmm --device cpu"
by_stretches() { # LIMIT: the last run was, and had no more memory
    [ "$(figure tree)" = adaptive ] || fail "the tree is $(figure tree)"
    within "$(figure evaluated)" 2 1e9 "stretches with $1"
    within "$(figure peak_memory)" 1 "$1" "peak of memory with $1"
}
# What is needed in memory, and by stretches, which is the least of a plan that has less.
bound() { # OPTIONS...: whole and little
    whole=$(least $fmm "$@")
    little=$(least $fmm "$@" --host-memory $((whole * 4 / 5)))
    [ -n "$little" ] && [ "$little" -lt $((whole - 6000000)) ] || fail "$1: $whole B in memory, $little B by stretches"
    little=$((little + 2000000))
}

made penstock-particle-import --generate plummer --count 200000 plummer.h5
made penstock-particle-import --generate cube --count 200000 cube.h5 --charges signed
bash "$ROOT/tests/support/particles-of" deep 200000 > text.txt
made penstock-particle-import text.txt deep.h5
rm text.txt
for kind in plummer cube deep; do
    bound $kind.h5 --order 3 --check 20 --threads 2
    expect 0 "" $fmm $kind.h5 $kind.r.h5 --order 3 --check 20 --threads 2
    for memory in $little $(((little + whole) / 2)); do
        expect 0 "by stretches" $fmm $kind.h5 other.h5 --order 3 --check 20 --threads 2 --host-memory $memory --force
        by_stretches $memory
        same other.h5 $kind.r.h5
    done
    expect 0 "" $fmm $kind.h5 other.h5 --order 3 --check 20 --threads 2 --host-memory $((whole + 2000000)) --force
    same other.h5 $kind.r.h5
done
expect 4 "at least" $fmm deep.h5 none.h5 --order 3 --threads 2 --host-memory $((little - 8000000))

# ---- sorted by runs: more particles than memory sorts ----
made penstock-particle-import --generate clusters --count 500000 many.h5
expect 0 "" $fmm many.h5 whole.h5 --order 2 --threads 2
little=$(least $fmm many.h5 --order 2 --threads 2 --host-memory 72M)
expect 0 "its particles" $fmm many.h5 other.h5 --order 2 --threads 2 --host-memory $((little + 2000000))
by_stretches $((little + 2000000))
same other.h5 whole.h5
rm many.h5 whole.h5 other.h5

# ---- of an octree, in fp32, with a bound and several attempts ----
made penstock-octree-build plummer.h5 tree.h5 --height 5 --group 400
how="--tree adaptive --accuracy 1e-3 --precision fp32 --threads 2"
bound tree.h5 $how
expect 0 "" $fmm tree.h5 tree.r.h5 $how
expect 0 "by stretches" $fmm tree.h5 other.h5 $how --host-memory $little
by_stretches $little
same other.h5 tree.r.h5

# ---- kept, killed, stopped: the same bits, in and out of memory ----
bound plummer.h5 --order 3 --check 20 --threads 2
how="--order 3 --check 20 --threads 2 --checkpoint-every 1step"
memory=$((little + 2000000))
killed_at write:9:cut.h5.groups $fmm plummer.h5 cut.h5 $how --host-memory $memory
[ -e cut.h5.groups ] && [ ! -e cut.h5 ] || fail "what a run that was killed leaves"
expect 75 "the same command continues" at write:2:cut.h5.groups TERM $fmm plummer.h5 cut.h5 $how --host-memory $memory
cp cut.h5.groups kept
expect 0 "groups are done already" $fmm plummer.h5 cut.h5 $how --host-memory $memory
within "$(figure groups_from_journal)" 2 100 "portions from the journal"
same cut.h5 plummer.r.h5
[ ! -e cut.h5.groups ] || fail "the journal is left"
rm cut.h5
mv kept cut.h5.groups # it goes on in memory as well
expect 0 "groups are done already" $fmm plummer.h5 cut.h5 --order 3 --check 20 --threads 1
same cut.h5 plummer.r.h5
echo "the adaptive tree by stretches: three budgets, sorted by runs, kept; a refusal"
