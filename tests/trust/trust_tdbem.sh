# make trust, tdbem: marches of spheres and rough bodies against series and a refinement, and what must be refused.
. "$ROOT/tests/trust/lib.sh"
error() { # FILE REFERENCE OPTIONS: relative L2 of two traces in space and time
    penstock-compare "$1" "$2" --norm space-time --tolerance 1e9 --no-attributes --json "${@:3}" 2> /dev/null |
        grep -o '"relative_l2": *[-+.0-9e]*' | head -n 1 | sed 's/.*: *//'
}
least() { penstock-inspect "$1" | awk '$1 == "least" { print -$2 + 0; exit }'; }
# ball K ROWS PULL: a unit sphere of ROWS rings of K vertices, with slivers about its poles; every 40th vertex is pulled
# to PULL of the way from its neighbour along the ring.
ball() {
    awk -v k="$1" -v m="$2" -v pull="$3" 'BEGIN { pi = 3.141592653589793
        print "OFF"; print 2 + k * m, 2 * k * m, 0; print 0, 0, 1; print 0, 0, -1
        for (r = 1; r <= m; ++r) for (i = 0; i < k; ++i) {
            a = pi * r / (m + 1); v = k * (r - 1) + i; b = 2 * pi * (i + (v % 40 == 7 ? 1 - pull : 0) + r / 2) / k
            printf "%.15g %.15g %.15g\n", sin(a) * cos(b), sin(a) * sin(b), cos(a) }
        for (i = 0; i < k; ++i) { j = (i + 1) % k; print 3, 0, 2 + i, 2 + j; print 3, 1, 2 + k * (m - 1) + j, 2 + k * (m - 1) + i }
        for (r = 0; r + 1 < m; ++r) for (i = 0; i < k; ++i) { j = (i + 1) % k; o = 2 + k * r
            print 3, o + i, o + k + i, o + j; print 3, o + j, o + k + i, o + k + j } }'
}

wave=plane:dir=0,0,1:width=1.2
# sphere MESH NAME KIND FORMULATION COURANT ASKED: marched; its far field against Mie's series for the sphere of its area,
# its certificate, and what is left of the pulse after 3,000 steps.
sphere() {
    local mesh=$1 name="$2, ${4#sound-}, h/D $5" q=soft-far radius
    [ "$4" = sound-hard ] && q=hard-far
    radius=$(penstock-inspect "$mesh" 2> /dev/null | awk '$1 == "area" { printf "%.12g", sqrt($2 / 12.566370614359172); exit }')
    [ -n "$radius" ] || radius=$(awk '$1 == "area" { printf "%.12g", sqrt($2 / 12.566370614359172); exit }' "$mesh.txt")
    run penstock-slice-assemble "$mesh" s.h5 --force --formulation "$4" --courant "$5" --speed 1
    run penstock-tdbem-march s.h5 "$mesh" h.h5 --force --time 24 --group 16 --emitter $wave
    run penstock-probe h.h5 "$mesh" far.h5 --force --direction 0,0 --direction 90,0 --direction 180,0
    run penstock-sphere-exact exact.h5 --force --quantity $q --radius "$radius" --like far.h5
    row tdbem-march "$name" "$3" "far field, L2 in time" "$6" "$(error far.h5 exact.h5)"
    row slice-assemble "$name" "$3" "-(least eigenvalue)" 1e-5 "$(least s.h5)"
}

penstock-mesh-surface clean.h5 --divisions 6 > clean.h5.txt 2> /dev/null
ball 24 8 1 > poles.off; ball 20 9 .06 > pulled.off; ball 40 6 1 > bands.off
for b in poles pulled bands; do penstock-mesh-import $b.off $b.h5 > $b.h5.txt 2> run.err || echo "trust: no $b.h5" >&2; done
sphere clean.h5 "sphere of 288" clean sound-soft-s 2 .02
sphere clean.h5 "sphere of 288" clean sound-hard 2 .03
sphere clean.h5 "sphere of 288" clean sound-soft-m 4 .02
sphere poles.h5 "slivers about poles" ugly sound-soft-s 2 .02
sphere pulled.h5 "pulled vertices" ugly sound-hard 2 .04
sphere bands.h5 "stretched triangles" ugly sound-hard 2 .04

march="penstock-tdbem-march s.h5 bands.h5 no.h5 --time 9"
refused tdbem-march "pulse of a tenth of an edge" "what mesh and step resolve" 3 "allow short-pulse" \
    $march --emitter plane:dir=0,0,1:width=.02
refused tdbem-march "pulse begun at t = 0" "a quiet start" 3 "allow loud-start" $march --emitter $wave:delay=0
refused tdbem-march "source inside" "sources outside" 3 "allow inner-source" $march --emitter point:at=.2,0,0:width=1.2
run penstock-tdbem-march s.h5 bands.h5 h.h5 --force --time 24 --emitter point:at=0,0,5:width=1.2
run penstock-probe h.h5 bands.h5 far.h5 --force --direction 180,0
refused spectrum "point source" "target strength" 3 "one plane wave" penstock-spectrum far.h5 ts.h5 --target-strength
