# The whole chain of hbem, mesh to target strength, against what is known: far fields of the rigid
# sphere (numerics guide hbem, 6), the optical theorem, reciprocity of a body without symmetry,
# monostatic sweeps, potentials outside and inside by all four operators of Laplace.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface cluster-build hmatrix-assemble hbem-solve hbem-field sphere-exact compare

values() { h5dump -y -w 1 -d "/trace/$2" "$1" | sed -n '/DATA {/,/}/p' | sed '/}/q' | grep -o '[-0-9.e+]*[0-9]'; }
# complex FILE: real and imaginary parts, one number a line
complex() { paste <(values "$1" real) <(values "$1" imaginary); }
# matrices NAME K OPERATOR...: NAME-OPERATOR-K.h5 of NAME.hdf
matrices() {
    local name=$1 k=$2 operator
    shift 2
    [ -e "$name-clusters.h5" ] || expect 0 "" penstock-cluster-build "$name.hdf" "$name-clusters.h5"
    for operator; do
        expect 0 "" penstock-hmatrix-assemble "$name-clusters.h5" "$name-$operator-$k.h5" --operator "$operator" --wavenumber "$k" --force-coarse
    done
}
# worst FILE EXACT: largest |F - exact| over largest |exact|
worst() {
    paste <(complex "$1") <(complex "$2") | awk '{ d = sqrt(($1 - $3)^2 + ($2 - $4)^2); m = sqrt($3^2 + $4^2)
        if (d > off) off = d; if (m > top) top = m } END { print off / top }'
}

# ---- the sphere, k = 5: far field of the guide's prototype 2.7e-2, 1.0e-2 at n = 8, 12; k = 1: 5.9e-3 at n = 12 ----
for n in 8 12; do
    expect 0 "" penstock-mesh-surface s$n.hdf --divisions $n
    matrices s$n 5 dlp hyps
    expect 0 "" penstock-hbem-solve s$n.hdf s$n-dlp-5.h5 s$n-hyps-5.h5 s$n.phi.hdf --direction 0,0,1 --radius 1
    expect 0 "" penstock-hbem-field s$n.phi.hdf far$n.h5 --directions 72
    penstock-sphere-exact exact.h5 -q --force --quantity hard-far --like far$n.h5 --emitter plane:dir=0,0,1:width=1 || fail exact
    worst far$n.h5 exact.h5 > worst$n
done
within "$(cat worst8)" .024 .030 "far field, k = 5, n = 8"
within "$(cat worst12)" .0090 .0125 "far field, k = 5, n = 12"
matrices s12 1 dlp hyps
expect 0 "" penstock-hbem-solve s12.hdf s12-dlp-1.h5 s12-hyps-1.h5 one.hdf --direction 0,0,1 --radius 1
expect 0 "" penstock-hbem-field one.hdf far1.h5 --directions 72
penstock-sphere-exact exact.h5 -q --force --quantity hard-far --like far1.h5 --emitter plane:dir=0,0,1:width=1 || fail exact
within "$(worst far1.h5 exact.h5)" .0053 .0065 "far field, k = 1, n = 12"

# ---- two wavenumbers in two files are a spectrum; int |F|^2 = (4 pi/k) Im F(0) on the mesh ----
expect 0 "" penstock-hbem-field s12.phi.hdf one.hdf all.h5 --sphere 24x12 --direction 0,0
complex all.h5 | awk -v n=289 '
    { f = NR > n; i = (NR - 1) % n; k = f ? 5 : 1;
      if (i == 0) im[k] = $2
      else { t = (int((i - 1)/12) + .5) * 3.14159265358979/24
             sum[k] += ($1^2 + $2^2) * sin(t) * (3.14159265358979/24) * (2 * 3.14159265358979/12) } }
    END { for (k = 1; k < 6; k += 4) { r = sum[k] / (4 * 3.14159265358979 / k * im[k]); print k, sum[k], r
              if (r < .98 || r > 1.02) bad = 1 } exit bad }' > optical || fail "optical theorem: $(cat optical)"

# ---- reciprocity of an L-shaped body: F(d -> x) = F(-x -> -d); monostatic sweep ----
expect 0 "" penstock-mesh-surface ell.hdf --shape lshape --size 2,1.6,1 --divisions 8
matrices ell 2 dlp hyps
expect 0 "" penstock-hbem-solve ell.hdf ell-dlp-2.h5 ell-hyps-2.h5 ell.phi.hdf --direction 1,0,0 \
    --direction 0,0.6,-0.8 --azimuths 90,270,3
expect 0 "" penstock-hbem-field ell.phi.hdf there.h5 --incidence 0 --direction 36.8698976458440,270 # x = (0, -.6, .8)
expect 0 "" penstock-hbem-field ell.phi.hdf back.h5 --incidence 1 --direction 90,180                  # -d = (-1, 0, 0); the wave is -x
paste <(complex there.h5) <(complex back.h5) | awk '{ d = sqrt(($1 - $3)^2 + ($2 - $4)^2) / sqrt($3^2 + $4^2) } END { print d }' > reciprocity
within "$(cat reciprocity)" 0 5e-3 "reciprocity"
expect 0 "" penstock-hbem-field ell.phi.hdf mono.h5 --monostatic --quantity target-strength
[ "$(values mono.h5 real | wc -l)" -eq 5 ] || fail "monostatic: $(values mono.h5 real)"
# No two sides are alike.
values mono.h5 real | awk 'NR > 1 && $1 == first { bad = 1 } NR == 1 { first = $1 } END { exit bad }' || fail "sides do not differ"

# ---- Laplace outside and inside the sphere by S, K, W, K': u = z gives z/r^3 outside, z inside; d_n u = n_z
#      gives -z/(2 r^3) outside ----
matrices s8 0 slp dlp hyps adlp
# potential NAME POINT EXPECTED OPTIONS MATRIX...
potential() {
    local name=$1 point=$2 expected=$3
    shift 3
    expect 0 "" penstock-hbem-solve s8.hdf "$@" "$name.hdf" --data linear:0,0,1
    expect 0 "" penstock-hbem-field "$name.hdf" "$name.h5" --at "$point"
    within "$(values "$name.h5" real)" "$(awk -v e=$expected 'BEGIN { print e - .03 * (e < 0 ? -e : e) }')" \
        "$(awk -v e=$expected 'BEGIN { print e + .03 * (e < 0 ? -e : e) }')" "$name"
}
potential s 0,0,2 .25 --problem dirichlet --form indirect s8-slp-0.h5
potential sk 0,0,2 .25 --problem dirichlet s8-slp-0.h5 s8-dlp-0.h5
potential inside 0,0.2,0.5 .5 --problem dirichlet --side interior s8-slp-0.h5 s8-dlp-0.h5
potential wk 0,0,2 -.125 --problem neumann s8-hyps-0.h5 s8-adlp-0.h5
potential k 0,0,2 -.125 --problem neumann --form indirect s8-adlp-0.h5
exit 0
