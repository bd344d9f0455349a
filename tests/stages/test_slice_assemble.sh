#!/bin/bash
# penstock-slice-assemble: all formulations, tilings, threads and ranks give the same bits; memory
# stays within its budget; wrong options and meshes are refused and leave nothing.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import slice-assemble
same=$BUILD/tests-programs/slices_same
figure() { sed -n "s/.*\"$1\": \([-0-9.e+]*\)[,}].*/\1/p" out; }
assemble() { expect 0 "" penstock-slice-assemble --json --speed 1 "$@"; }

geometry sphere 'Sphere(1) = {0, 0, 0, 1};'
geometry plate 'Rectangle(1) = {0, 0, 0, 1, 1};'
penstock-mesh-import -q sphere.geo mesh.hdf --size 0.25 --order hilbert > /dev/null || fail "no mesh"
penstock-mesh-import -q plate.geo plate.hdf --size 0.3 --open > /dev/null || fail "no plate"

# ---- one result, whatever the tiles, threads and ranks ----
for formulation in sound-soft-s sound-soft-m sound-hard; do
    common="--formulation $formulation --courant 2 --points 3 --precision fp64"
    assemble mesh.hdf a.h5 $common --threads 1
    n=$(figure unknowns); k=$(figure k_max)
    echo "$formulation: $n unknowns, K = $k, d_max $(figure d_max), $(figure per_triangle_pair) s a pair"
    within "$k" 15 25 "K"
    assemble mesh.hdf b.h5 $common --threads 2 --tile-rows 256 --tile-slices 32
    "$same" a.h5 b.h5 || fail "other tiles and threads, other bits ($formulation)"
    if command -v mpirun > /dev/null; then
        for ranks in 2 3; do
            expect 0 "" mpirun --oversubscribe -np $ranks penstock-slice-assemble mesh.hdf m.h5 \
                --force --speed 1 $common
            "$same" a.h5 m.h5 || fail "$ranks ranks, other bits ($formulation)"
        done
        rm -f m.*h5
    fi
done
# The default precision is the rounding of f64; the same again does nothing.
assemble mesh.hdf s.h5 --courant 2 --points 3
expect 0 "up to date" penstock-slice-assemble mesh.hdf s.h5 --speed 1 --courant 2 --points 3
expect 1 "sizes differ" "$same" s.h5 a.h5

# ---- a screen ----
expect 3 "open" penstock-slice-assemble plate.hdf p.h5 --courant 2 --formulation sound-hard
assemble plate.hdf p.h5 --courant 2 --formulation sound-hard --screen
within "$(figure rim_vertices)" 12 20 "rim vertices"
assemble plate.hdf p.h5 --courant 2 --formulation sound-soft-s

# ---- stopped, killed, torn: with a journal it goes on, to the same bits ----
penstock-mesh-import -q sphere.geo fine.hdf --size 0.14 --order hilbert > /dev/null || fail "no mesh"
common="fine.hdf j.h5 --speed 1 --courant 3 --tile-rows 256 --device cpu --json"
expect 0 "" penstock-slice-assemble $common; mv j.h5 whole.h5; all=$(figure pairs)
expect 75 "" at write:9:j.h5.squares TERM penstock-slice-assemble $common --checkpoint-every 1step
grep -q "the same command continues" err || fail "a stop with a journal does not say how to go on"
[ -e j.h5.squares ] && [ ! -e j.h5 ] && [ -z "$(find . -name '*.tmp')" ] || fail "a stop leaves a journal alone"
expect 2 'had points "auto", now it is "3"' penstock-slice-assemble $common --points 3
printf 'torn' >> j.h5.squares
for n in 3 5; do killed_at write:$n:j.h5.squares penstock-slice-assemble -q $common --checkpoint-every 1step; done
[ ! -e j.h5 ] || fail "there is an output after kills"
expect 0 "" penstock-slice-assemble $common
within "$(figure pairs)" 0 $((all - 1)) "pairs after a restart (all: $all)"
[ ! -e j.h5.squares ] || fail "the journal stays behind"

# ---- a journal of other ranks is refused, and goes with --fresh alone ----
if command -v mpirun > /dev/null; then
    rm -f j.*
    alone="penstock-slice-assemble -q $common --checkpoint-every 1step"
    two="mpirun --oversubscribe -np 2 $alone"
    killed_at write:3:j.h5.squares $alone
    expect 2 "j.h5.squares is of other ranks than these 2" $two
    [ -e j.h5.squares ] && [ ! -e j.h5 ] || fail "an unfinished run of one rank went"
    expect 0 "" $two --fresh
    [ -z "$(ls | grep squares)" ] || fail "journals are left: $(ls | grep squares)"
    rm -f j.*
    { RANK=1 at rename:1:j. KILL $two > at.out 2>&1; } 2> /dev/null
    ls | grep -q "part0000.*squares" || fail "two ranks left no journals: $(ls | grep '^j')"
    expect 2 "is of other ranks than these 1" $alone
    expect 0 "" $alone --fresh
    [ -z "$(ls | grep squares)" ] || fail "journals are left: $(ls | grep squares)"
fi
"$same" whole.h5 j.h5 || fail "other bits after restarts"
expect 0 "to continue from" penstock-slice-assemble $common --restart --force
rm -f j.h5* whole.h5

# ---- memory and plan ----
expect 0 "chunks" penstock-slice-assemble mesh.hdf none.h5 --courant 2 --plan
[ ! -e none.h5 ] || fail "--plan wrote a file"
expect 4 "host-memory" penstock-slice-assemble mesh.hdf none.h5 --courant 2 --host-memory 20M
assemble mesh.hdf c.h5 --courant 4 --host-memory 90M --device cpu
within "$(figure peak_memory)" 1e6 99e6 "peak memory in a budget of 90M"

# ---- refusals leave nothing ----
expect 2 "--dt" penstock-slice-assemble mesh.hdf none.h5
expect 2 "either" penstock-slice-assemble mesh.hdf none.h5 --dt 1 --courant 2
expect 2 "h/(c dt) = 6.77e+08" penstock-slice-assemble mesh.hdf none.h5 --dt 1e-12
expect 2 "nothing is left to march" penstock-slice-assemble mesh.hdf none.h5 --dt 1
expect 2 "--points" penstock-slice-assemble mesh.hdf none.h5 --courant 2 --points 1
expect 2 "256" penstock-slice-assemble mesh.hdf none.h5 --courant 2 --tile-rows 100
expect 2 "--dt" penstock-slice-assemble mesh.hdf none.h5 --dt -1
expect 2 "23 mantissa bits" penstock-slice-assemble mesh.hdf none.h5 --courant 2 --keep-bits 40
expect 3 "s.h5" penstock-slice-assemble s.h5 none.h5 --courant 2
expect 3 "absent" penstock-slice-assemble absent.hdf none.h5 --courant 2
[ -z "$(ls | grep none)" ] || fail "something was left: $(ls | grep none)"
