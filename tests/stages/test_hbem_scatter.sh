# The whole chain of hbem, mesh to target strength, against what is known: reciprocity of a body without symmetry, monostatic
# sweeps, potentials outside and inside by all four operators of Laplace. (Far fields of spheres: test_hbem_solve.sh.)
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface cluster-build hmatrix-assemble hbem-solve hbem-field

# matrices NAME K OPERATOR...: NAME-OPERATOR-K.h5 of NAME.hdf
matrices() {
    local name=$1 k=$2 operator
    [ -e "$name-clusters.h5" ] || expect 0 "" penstock-cluster-build "$name.hdf" "$name-clusters.h5"
    for operator in "${@:3}"; do
        expect 0 "" penstock-hmatrix-assemble "$name-clusters.h5" "$name-$operator-$k.h5" --operator "$operator" --wavenumber "$k" --force-coarse
    done
}
# ---- reciprocity of an L-shaped body: F(d -> x) = F(-x -> -d); monostatic sweep ----
expect 0 "" penstock-mesh-surface ell.hdf --shape lshape --size 2,1.6,1 --divisions 8
matrices ell 2 dlp hyps
expect 0 "" penstock-hbem-solve ell.hdf ell-dlp-2.h5 ell-hyps-2.h5 ell.phi.hdf --direction 1,0,0 \
    --direction 0,0.6,-0.8 --azimuths 90,270,3
expect 0 "" penstock-hbem-field ell.phi.hdf there.h5 --incidence 0 --direction 36.8698976458440,270 # x = (0, -.6, .8)
expect 0 "" penstock-hbem-field ell.phi.hdf back.h5 --incidence 1 --direction 90,180                  # -d = (-1, 0, 0); the wave is -x
paste <(trace_complex there.h5) <(trace_complex back.h5) | awk '{ d = sqrt(($1 - $3)^2 + ($2 - $4)^2) / sqrt($3^2 + $4^2) } END { print d }' > reciprocity
within "$(cat reciprocity)" 0 5e-3 "reciprocity"
expect 0 "" penstock-hbem-field ell.phi.hdf mono.h5 --monostatic --quantity target-strength
[ "$(trace_values mono.h5 real | wc -l)" -eq 5 ] || fail "monostatic: $(trace_values mono.h5 real)"
# No two sides are alike.
trace_values mono.h5 real | awk 'NR > 1 && $1 == first { bad = 1 } NR == 1 { first = $1 } END { exit bad }' || fail "sides do not differ"

# ---- Laplace outside and inside the sphere by S, K, W, K': u = z gives z/r^3 outside, z inside; d_n u = n_z
#      gives -z/(2 r^3) outside ----
expect 0 "" penstock-mesh-surface s8.hdf --divisions 8
matrices s8 0 slp dlp hyps adlp
# potential NAME POINT EXPECTED OPTIONS MATRIX...
potential() {
    local name=$1 point=$2 expected=$3
    expect 0 "" penstock-hbem-solve s8.hdf "${@:4}" "$name.hdf" --data linear:0,0,1
    expect 0 "" penstock-hbem-field "$name.hdf" "$name.h5" --at "$point"
    within "$(trace_values "$name.h5" real)" "$(awk -v e=$expected 'BEGIN { print e - .03 * (e < 0 ? -e : e) }')" \
        "$(awk -v e=$expected 'BEGIN { print e + .03 * (e < 0 ? -e : e) }')" "$name"
}
potential s 0,0,2 .25 --problem dirichlet --form indirect s8-slp-0.h5
potential sk 0,0,2 .25 --problem dirichlet s8-slp-0.h5 s8-dlp-0.h5
potential inside 0,0.2,0.5 .5 --problem dirichlet --side interior s8-slp-0.h5 s8-dlp-0.h5
potential wk 0,0,2 -.125 --problem neumann s8-hyps-0.h5 s8-adlp-0.h5
potential k 0,0,2 -.125 --problem neumann --form indirect s8-adlp-0.h5
