# Entries: right on spheres and on stretched boxes, for every operator; refused by hmatrix-assemble and hbem-solve, with
# k = 0 and k > 0, before anything is assembled, where faces nearly lie on one another.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import mesh-surface cluster-build hmatrix-assemble hbem-solve
export OMP_NUM_THREADS=2

clustered ball.hdf ball.h5 --divisions 4
expect 0 "" penstock-hmatrix-assemble ball.h5 m.h5 --device cpu
within "$(figure entry_error)" 1e-9 1e-3 "entries of the sphere"
expect 0 "entry_error" penstock-inspect m.h5

awk -v a=16 -v n=2 -f "$ROOT/tests/support/box.awk" > long.off
clustered long.hdf long.h5 long.off
for operator in slp dlp adlp hyps; do
    for k in 0 .01; do
        expect 0 "" penstock-hmatrix-assemble long.h5 m16.h5 --operator $operator --wavenumber $k --device cpu --force
        within "$(figure entry_error)" 1e-9 1e-4 "entries of a box of aspect 16, $operator, k = $k"
    done
done

awk -v a=1e-5 -f "$ROOT/tests/support/knife.awk" > knife.off
clustered knife.hdf knife.h5 knife.off
for k in 0 .01; do
    expect 3 "entries are wrong" penstock-hmatrix-assemble knife.h5 m.knife.h5 --operator dlp --wavenumber $k --epsilon 1e-6 --device cpu
    grep -q "aspect" err && grep -q "allow entries" err || { cat err; fail "which triangles, and what to do"; }
    [ ! -e m.knife.h5 ] || fail "a refused matrix is there"
done
expect 3 "entries are wrong" penstock-hbem-solve knife.hdf knife.h5 no.hdf --wavenumber .01 --epsilon 1e-6 --direction 1,0,0 --device cpu
expect 0 "entries are wrong" penstock-hmatrix-assemble knife.h5 m.knife.h5 --operator dlp --wavenumber .01 --epsilon 1e-6 --device cpu --allow entries
