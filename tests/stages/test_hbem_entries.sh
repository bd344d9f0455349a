# Entries of stretched triangles: refused by hmatrix-assemble and hbem-solve for every operator, with k = 0 and k > 0,
# before anything is assembled; a sphere passes.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import mesh-surface cluster-build hmatrix-assemble hbem-solve
export OMP_NUM_THREADS=2
figure() { awk -v n="$1" '$1 == n { print $2; exit }' out; }

expect 0 "" penstock-mesh-surface ball.hdf --divisions 4
expect 0 "" penstock-cluster-build ball.hdf ball.h5
expect 0 "" penstock-hmatrix-assemble ball.h5 m.h5 --device cpu
within "$(figure entry_error)" 1e-9 1e-3 "entries of the sphere"
expect 0 "entry_error" penstock-inspect m.h5

awk -v a=16 -v n=2 -f "$ROOT/tests/support/box.awk" > long.off
expect 0 "" penstock-mesh-import long.off long.hdf
expect 0 "" penstock-cluster-build long.hdf long.h5
for operator in slp dlp adlp hyps; do
    for k in 0 .01; do
        expect 3 "entries are wrong" penstock-hmatrix-assemble long.h5 m16.h5 --operator $operator --wavenumber $k --device cpu
        grep -q "aspect" err && grep -q "allow entries" err || { cat err; fail "which triangles, and what to do"; }
        [ ! -e m16.h5 ] || fail "a refused matrix is there"
    done
done
expect 3 "entries are wrong" penstock-hbem-solve long.hdf long.h5 u.hdf --wavenumber .01 --direction 1,0,0 --device cpu
[ ! -e u.hdf ] || fail "a refused solution is there"
expect 0 "entries are wrong" penstock-hmatrix-assemble long.h5 m16.h5 --device cpu --allow entries
