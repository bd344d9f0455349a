# Row sums of Laplace's double layer: right on a cube and a stretched box, refused where faces nearly lie on one another, by
# hmatrix-assemble and by hbem-solve; and fields of the cube's solution at any distance from its surface.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import cluster-build hmatrix-assemble hbem-solve hbem-field
export OMP_NUM_THREADS=2

box() { # NAME ASPECT N
    awk -v a="$2" -v n="$3" -f "$ROOT/tests/support/box.awk" > "$1.off"
    clustered "$1.hdf" "$1.c.h5" "$1.off"
}
box cube 1 3
expect 0 "" penstock-hmatrix-assemble cube.c.h5 k.h5 --operator dlp --device cpu
within "$(figure row_sum_error)" 1e-7 1e-3 "row sums of the cube"
expect 0 "" penstock-inspect k.h5
grep -q row_sum_error out || fail "the file does not tell its row sums"
expect 0 "" penstock-hmatrix-assemble cube.c.h5 a.h5 --operator adlp --device cpu
within "$(figure row_sum_error)" 1e-7 1e-3 "column sums of the cube"
expect 0 "" penstock-hmatrix-assemble cube.c.h5 w.h5 --operator dlp --wavenumber 1 --device cpu
grep -q row_sum_error out && fail "waves have no row sums"
expect 0 "" penstock-hmatrix-assemble cube.c.h5 w.h5 --operator hyps --device cpu --force
within "$(figure row_sum_error)" 0 1e-12 "row sums of the cube's hypersingular operator"

# ---- a stretched box: right ----
box long 16 2
expect 0 "" penstock-hmatrix-assemble long.c.h5 k16.h5 --operator dlp --device cpu
within "$(figure row_sum_error)" 1e-7 2e-4 "row sums of a box of aspect 16"

# W of a larger cube has far blocks: its sums follow eps, from both halves of what a symmetric matrix keeps. P0 has none.
box large 1 10
expect 0 "" penstock-hmatrix-assemble large.c.h5 w.h5 --operator hyps --epsilon 1e-2 --rules 1e-3 --device cpu --precision fp32
within "$(figure row_sum_error)" 1e-7 2e-3 "row sums of W at 1e-2"
expect 0 "" penstock-hmatrix-assemble large.c.h5 w.h5 --operator hyps --epsilon 1e-6 --rules 1e-3 --device cpu --force
within "$(figure row_sum_error)" 1e-14 2e-7 "row sums of W at 1e-6"
expect 0 "" penstock-hmatrix-assemble large.c.h5 s.h5 --operator slp --device cpu
grep -q row_sum_error out && fail "a single layer has no row sums"

# ---- what single precision cannot keep on any body is refused ----
expect 2 "single precision keeps 1e-06 at best" penstock-hmatrix-assemble cube.c.h5 no.h5 --operator slp --precision fp32 --epsilon 9e-7 --device cpu
expect 0 "" penstock-hmatrix-assemble cube.c.h5 f.h5 --operator slp --precision fp32 --epsilon 1e-6 --device cpu

# ---- faces that nearly lie on one another, at six digits: wrong, and said ----
awk -v a=1e-5 -f "$ROOT/tests/support/knife.awk" > long.off
clustered long.hdf long.c.h5 long.off
expect 3 "row sums" penstock-hmatrix-assemble long.c.h5 k6.h5 --operator dlp --rules 1e-6 --allow entries --epsilon 1e-6 --device cpu
grep -q "aspect" err && grep -q "allow row-sums" err || { cat err; fail "which triangles, and what to do"; }
[ ! -e k6.h5 ] || fail "a refused matrix is there"
# Between 2 and 10 eps it is said, below it is not: 1.7e-4.
expect 0 "more than 2 eps" penstock-hmatrix-assemble long.c.h5 k5.h5 --operator dlp --epsilon 3e-5 --allow entries --device cpu
expect 0 "" penstock-hmatrix-assemble long.c.h5 k5.h5 --operator dlp --epsilon 1e-4 --allow entries --device cpu --force
grep -q "more than 2 eps" err && fail "a warning below 2 eps"
# The parts that were there count as well.
expect 3 "row sums" penstock-hmatrix-assemble long.c.h5 k6.h5 --operator dlp --rules 1e-6 --epsilon 1e-6 --allow entries --device cpu --restart
[ ! -e k6.h5 ] || fail "a refused matrix is there after --restart"
# What was there before, of another operator, stays whole, also where parts of the refused one were kept.
expect 0 "" penstock-hmatrix-assemble long.c.h5 old.h5 --operator slp --allow entries --device cpu
for again in "" --restart; do
    expect 3 "row sums" penstock-hmatrix-assemble long.c.h5 old.h5 --operator dlp --rules 1e-6 --epsilon 1e-6 --allow entries --device cpu $again
    expect 0 "" penstock-verify old.h5
    expect 0 "slp" penstock-inspect old.h5
done
expect 0 "row sums" penstock-hmatrix-assemble long.c.h5 k6.h5 --operator dlp --rules 1e-6 --epsilon 1e-6 --allow entries --device cpu --force --allow row-sums
rm k6.h5
expect 0 "row sums" penstock-hmatrix-assemble long.c.h5 k6.h5 --operator dlp --rules 1e-6 --epsilon 1e-6 --allow entries --device cpu --restart --allow row-sums
within "$(figure kept)" 1 100 "parts kept"
expect 3 "row sums" penstock-hbem-solve long.hdf long.c.h5 no.hdf --problem dirichlet --side interior --data linear:0,0,1 --epsilon 1e-6 --allow entries --device cpu

# ---- fields near the cube, on it, and beside it: u = z inside ----
expect 0 "" penstock-cluster-build cube.hdf s.c.h5 --test p0
expect 0 "" penstock-cluster-build cube.hdf k.c.h5 --test p0 --trial p1
expect 0 "" penstock-hbem-solve cube.hdf s.c.h5 k.c.h5 u.hdf --problem dirichlet --side interior --data linear:0,0,1 --device cpu --tolerance 1e-9 --rules 1e-6
within "$(figure row_sum_error)" 1e-7 1e-3 "row sums in memory"
# W and K' of a Neumann problem: of W what its far blocks leave, in units of its diagonal.
expect 0 "" penstock-cluster-build large.hdf w.c.h5
expect 0 "" penstock-cluster-build large.hdf a.c.h5 --test p1 --trial p0
expect 0 "" penstock-hbem-solve -v large.hdf w.c.h5 a.c.h5 v.hdf --problem neumann --side interior --data linear:0,0,1 --epsilon 1e-2 --rules 1e-3 \
    --device cpu
within "$(sed -n 's/.*hyps.*row sums that are off by //p' err)" 1e-7 2e-3 "row sums of W in memory"
within "$(sed -n 's/.*adlp.*row sums that are off by //p' err)" 1e-7 1e-2 "row sums of K' in memory"
printf '.41 .37 .9999\n.41 .37 1\n.41 .37 .9\n.9999 .5 .694\n1 .5 .694\n1 1 .694\n1 1 1\n.3 1e-7 .25\n.41 .37 1.0001\n' > points
expect 3 "1 of 9 points lie outside the surface, where there is no field" penstock-hbem-field u.hdf f.h5 --points points --device cpu
expect 0 "lie on the surface" penstock-hbem-field u.hdf f.h5 --points points --device cpu --allow no-field
within "$(figure points_on_surface)" 4 4 "points on the surface"
within "$(figure points_inside)" 4 4 "points inside"
grep -q "lie outside the surface" err || fail "a point without a field is not said"
trace_values f.h5 real > values
[ "$(wc -l < values)" = 9 ] || fail "9 values"
paste points values | awk '{ z = NR == 9 ? 0 : $3; e = $4 - z; if (e * e > 1e-8) { print "at", $1, $2, $3, "is", $4; bad = 1 } }
    END { exit bad }' || fail "u = z near the cube"
