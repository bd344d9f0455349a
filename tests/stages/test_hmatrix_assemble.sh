#!/bin/bash
# penstock-cluster-build and penstock-hmatrix-assemble: the same bits whatever threads, ranks, memory,
# chunks, kills and restarts; refusals leave nothing.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import cluster-build hmatrix-assemble inspect verify
figure() { sed -n "s/.*\"$1\": \"*\([-0-9a-f.e+]*\)\"*[,}].*/\1/p" "${2:-out}" | head -1; }
clusters() { expect 0 "" penstock-cluster-build --json "$@"; }
assemble() { expect 0 "" penstock-hmatrix-assemble --json "$@"; }
content() { penstock-inspect --json "$1" > content.json && figure content content.json; }

geometry sphere 'Sphere(1) = {0, 0, 0, 1};'
geometry plate 'Rectangle(1) = {0, 0, 0, 1, 1};'
penstock-mesh-import -q sphere.geo s.hdf --size 0.16 > /dev/null || fail "no mesh"
penstock-mesh-import -q sphere.geo small.hdf --size 0.3 > /dev/null || fail "no mesh"
penstock-mesh-import -q plate.geo plate.hdf --size 0.3 --open > /dev/null || fail "no plate"

# ---- trees: any order, any threads ----
for order in median morton hilbert; do
    clusters s.hdf $order.h5 --order $order --leaf 16 --threads 1
    hash=$(content $order.h5)
    clusters s.hdf $order.h5 --order $order --leaf 16 --threads 2 --force
    [ "$(content $order.h5)" = "$hash" ] || fail "other threads, another tree ($order)"
    expect 0 "" penstock-verify $order.h5
done
expect 0 "up to date" penstock-cluster-build s.hdf median.h5 --leaf 16
expect 0 "near_leaves" penstock-cluster-build s.hdf --plan --wavenumber 2
mv median.h5 c.h5

# ---- one matrix, whatever threads, ranks and chunks ----
common="--epsilon 1e-3 --chunk-size 200K"
assemble c.h5 a.h5 $common --threads 1
hash=$(content a.h5); values=$(figure values_hash); rows=$(figure rows); double=$(figure bytes)
echo "$rows rows, mean rank $(figure mean_rank), $(figure chunks) chunks, $(figure bytes_per_row) B a row"
within "$(figure chunks)" 3 9 "chunks"
within "$(figure largest_error)" 0 1e-3 "estimated errors"
expect 0 "up to date" penstock-hmatrix-assemble c.h5 a.h5 $common
assemble c.h5 b.h5 $common --threads 2
[ "$(content b.h5)" = "$hash" ] || fail "other threads, another matrix"
assemble c.h5 b.h5 --epsilon 1e-3 --chunk-size 60K --compress none --threads 2 --force
[ "$(figure values_hash)" = "$values" ] || fail "other chunks, not compressed: other values"
within "$(figure stored)" "$(figure bytes)" $(($(figure bytes) * 11 / 10)) "bytes stored as they are"
if command -v mpirun > /dev/null; then
    for ranks in 2 3; do
        expect 0 "" mpirun --oversubscribe -np $ranks penstock-hmatrix-assemble c.h5 b.h5 $common \
            --threads 1 --force
        [ "$(content b.h5)" = "$hash" ] || fail "$ranks ranks, another matrix"
        [ "$(ls b*.part*.h5 | wc -l)" = "$(ls a.part*.h5 | wc -l)" ] || fail "parts stay behind"
    done
fi
expect 0 "" penstock-verify a.h5
# tables, with hashes made anew, that say that a chunk stores more than its part holds
"$BUILD/tests-programs/store_edit" a.h5 more.h5 /parts/stored 0 1099511627776 || fail "store_edit"
for part in a*.part*.h5; do ln -s "$part" "more${part#a}"; done
expect 3 "which its part does not hold" penstock-verify more.h5

# ---- stopped, killed: it goes on, to the same bits ----
common="--epsilon 1e-4 --chunk-size 30K --operator hyps --threads 1"
assemble c.h5 whole.h5 $common
hash=$(content whole.h5); all=$(figure chunks)
expect 75 "the same command continues" at rename:2 TERM penstock-hmatrix-assemble c.h5 k.h5 $common
[ ! -e k.h5 ] && [ -z "$(ls | grep '^k.*tmp')" ] || fail "a stop leaves parts alone"
for moment in rename:2 fsync:3 write:90; do
    killed_at $moment penstock-hmatrix-assemble -q c.h5 k.h5 $common
done
[ ! -e k.h5 ] || fail "there is a matrix after kills"
expect 2 'had epsilon "0.0001", now it is "0.001"' penstock-hmatrix-assemble c.h5 k.h5 $common --epsilon 1e-3
expect 2 'had input-clusters' penstock-hmatrix-assemble morton.h5 k.h5 $common
assemble c.h5 k.h5 $common; kept=$(figure kept)
echo "$all chunks, $kept kept after a stop and three kills"
within "$kept" 2 $((all - 1)) "chunks kept"
[ "$(content k.h5)" = "$hash" ] || fail "another matrix after restarts"
rm k.h5 # what is left of it is not written over either, but by --fresh
expect 2 "begin anew with --fresh" penstock-hmatrix-assemble c.h5 k.h5 $common --operator dlp
assemble c.h5 k.h5 $common --operator dlp --fresh
within "$(figure kept)" 0 0 "chunks kept of another matrix"

# ---- test and trial space apart, Helmholtz, fp32, dense ----
clusters small.hdf mixed.h5 --test dp1 --trial p0 --leaf 48
assemble mixed.h5 m.h5 --operator dlp --wavenumber 1 --epsilon 1e-3
within "$(figure rows)" $(($(figure columns) * 3)) $(($(figure columns) * 3)) "functions of dp1"
expect 0 "" penstock-verify m.h5
assemble c.h5 f.h5 --precision fp32 --epsilon 1e-3
within "$(figure bytes)" $((double * 49 / 100)) $((double * 51 / 100)) "bytes in fp32"
assemble c.h5 d.h5 --mode dense --rules 1e-2 --threads 2
within "$(figure bytes)" $((4 * rows * rows)) $((7 * rows * rows)) "bytes of the dense upper half"

# ---- errors against exact rows: a body with edges, all four operators ----
geometry cube 'Box(1) = {-1, -1, -1, 2, 2, 2};'
penstock-mesh-import -q cube.geo cube.hdf --size 0.25 > /dev/null || fail "no cube"
clusters cube.hdf cube.h5 --leaf 16
for operator in slp dlp adlp hyps; do
    assemble cube.h5 e.h5 --operator $operator --epsilon 1e-4 --force
    expect 0 "" penstock-verify --json e.h5 --error 1
    echo "cube, $operator at 1e-4: error $(figure error)"
    within "$(figure error)" 0 2e-4 "error of $operator"
done
assemble cube.h5 e.h5 --operator dlp --wavenumber 2 --epsilon 1e-3 --skeleton --force
expect 0 "" penstock-verify --json e.h5 --error 1
echo "cube, dlp at 1e-3, k = 2, skeleton: error $(figure error)"
within "$(figure error)" 0 2e-3 "error of a skeleton"
assemble cube.h5 e.h5 --operator hyps --hyps weak --force
expect 0 "" penstock-verify --json e.h5 --error 1
echo "cube, weak hyps at 1e-4: error $(figure error)"
within "$(figure error)" 0 2e-4 "error of weak hyps"
assemble c.h5 e.h5 --epsilon 1e-2 --rules 1e-3 --check-rows 1
expect 0 "exact_rows" penstock-verify e.h5 --error 1 --clusters c.h5
expect 3 "was not assembled from" penstock-verify e.h5 --error 2 --clusters cube.h5

# ---- figures and a picture ----
expect 0 "rank_from" penstock-inspect a.h5 --histogram
if command -v gnuplot > /dev/null; then
    expect 0 "written" penstock-plot hmatrix a.h5 --output a.png
    expect 0 "written" penstock-plot hmatrix c.h5 --output c.svg
fi

# ---- memory and plan ----
expect 0 "chunks" penstock-hmatrix-assemble c.h5 --plan
expect 4 "host-memory" penstock-hmatrix-assemble c.h5 none.h5 --host-memory 20M
clusters s.hdf dp1.h5 --test dp1
assemble dp1.h5 d.h5 --mode dense --rules 1e-2 --threads 1 --force
values=$(figure values_hash); bytes=$(figure bytes)
within "$bytes" 55e6 80e6 "bytes of a dense matrix"
assemble dp1.h5 d.h5 --mode dense --rules 1e-2 --threads 1 --chunk-size 2M --host-memory 45M --force
within "$(figure peak_memory)" 1e6 49.5e6 "peak memory in a budget of 45M (matrix: $bytes)"
[ "$(figure values_hash)" = "$values" ] || fail "less memory, other values"
rm -f d.*h5

# ---- refusals leave nothing ----
expect 3 "open" penstock-cluster-build plate.hdf none.h5
clusters plate.hdf plate.h5 --open
assemble plate.h5 screen.h5
expect 3 "open" penstock-hmatrix-assemble plate.h5 none.h5 --operator hyps
expect 2 "P1" penstock-hmatrix-assemble mixed.h5 none.h5 --operator hyps
expect 3 "too coarse for k = 40" penstock-cluster-build s.hdf none.h5 --wavenumber 40
expect 3 "too coarse for k = 40" penstock-hmatrix-assemble c.h5 none.h5 --wavenumber 40
expect 2 "only --operator hyps" penstock-hmatrix-assemble c.h5 none.h5 --hyps weak
expect 2 "not with --skeleton" penstock-hmatrix-assemble c.h5 none.h5 --operator hyps --hyps weak \
    --skeleton
expect 2 "needs a CUDA device" penstock-hmatrix-assemble c.h5 none.h5 --scheme paper --device cpu
expect 4 "larger rank" penstock-hmatrix-assemble c.h5 none.h5 --max-rank 2
expect 3 "s.hdf" penstock-hmatrix-assemble s.hdf none.h5
expect 3 "absent" penstock-cluster-build absent.hdf none.h5
expect 2 "--eta" penstock-cluster-build s.hdf none.h5 --eta -1
[ -z "$(ls | grep none)" ] || fail "something was left: $(ls | grep none)"

# ---- damage ----
part=$(ls a*.part*.h5 | sed -n 2p); size=$(stat -c %s "$part")
cp "$part" keep; printf 'x' | dd of="$part" bs=1 seek=$((size / 2)) conv=notrunc 2> /dev/null
expect 3 "" penstock-verify a.h5
mv keep "$part"; expect 0 "" penstock-verify a.h5
rm "$part"; expect 3 "missing" penstock-verify a.h5
common="--epsilon 1e-3 --chunk-size 200K"
assemble c.h5 a.h5 $common --restart
within "$(figure computed)" 1 1 "chunks computed anew"
expect 0 "" penstock-verify a.h5
