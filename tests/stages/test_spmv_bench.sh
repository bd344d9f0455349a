# penstock-spmv-bench: figures and iteration counts of table 5's first matrix, a file of the Matrix Market.
. "$ROOT/tests/stages/lib.sh"
needs spmv-bench
bench=penstock-spmv-bench
figure() { awk -v k="$1" -v n="$2" 'NF == 1 { s = $1 } s == k && $1 == n { print $2; exit }' out; }

expect 0 "" $bench --gravi 0 --least-time 0
[ "$(figure "" rows)" = 49248 ] && [ "$(figure "" entries)" = 1067632 ] || fail "the first matrix of table 5"
within "$(figure "" row_deviation)" 9.424 9.426 "deviation of the rows"
for form in csr stencil; do
    within "$(figure cg_$form iterations)" 151 155 "iterations of CG ($form)"
    within "$(figure bicgcr_$form iterations)" 141 143 "iterations of BiCGCR ($form)"
    within "$(figure bicgstab_$form iterations)" 78 118 "iterations of BiCGStab ($form)"
    within "$(figure cg_$form residual)" 0 1e-6 "residual of CG ($form)"
done
# in fp32, to what it reaches
expect 0 "" $bench --gravi 0 --least-time 0 --precision fp32 --tolerance 1e-4 --device cpu
for form in csr stencil; do
    within "$(figure cg_$form iterations)" 90 130 "iterations of CG in fp32 ($form)"
    within "$(figure bicgcr_$form residual)" 0 1e-4 "residual of BiCGCR in fp32 ($form)"
done
# a file: 1D Laplacian of 40 rows, CG ends after at most 40 steps
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 40, 40, 79
    for (i = 1; i <= 40; ++i) { print i, i, 2; if (i > 1) print i, i - 1, -1 } }' | gzip > line.mtx.gz
expect 0 "" $bench line.mtx.gz --least-time 0 --tolerance 1e-10
within "$(figure cg_csr iterations)" 1 40 "iterations on a line"
[ "$(figure "" longest_row)" = 3 ] || fail "longest row of a line"
# an indefinite matrix is told, and the rest is timed
printf '%%%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 1\n2 2 -1\n' > saddle.mtx
expect 0 "failed" $bench saddle.mtx --least-time 0
expect 2 "give one matrix" $bench
expect 2 "give one matrix" $bench line.mtx.gz --gravi 1
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 2 -1\n' > wide.mtx
expect 3 "a square matrix" $bench wide.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 1 -1\n' > hole.mtx
expect 3 "diagonal" $bench hole.mtx
