# The combined field equation (--combined): the same bits whatever the tiles, ranks, stops and files; no interior
# resonances in the surface of a rigid sphere; tails that end; passive; what it is not for is refused.
set -eu
. "$ROOT/tests/support/march.bash"
same=$BUILD/tests-programs/slices_same
hard="--formulation sound-hard --speed 1 --precision fp64"

# ---- one matrix, whatever the tiles, ranks and stops: 296 vertices are two tiles of rows ----
awk -v a=1 -v n=7 -f "$ROOT/tests/support/box.awk" > box.off
penstock-mesh-import -q box.off box.h5 > /dev/null
how="$hard --courant 1 --points 3 --combined .25"
penstock-slice-assemble box.h5 a.h5 $how --threads 1 -q --json > a.json
penstock-slice-assemble box.h5 b.h5 $how --tile-rows 256 --tile-slices 64 -q --json > b.json
"$same" a.h5 b.h5 || fail "other tiles, other bits"
least=$(figure a.json passivity_least)
echo "box: passivity certificate $least"
below 1e-2 "$least"
below "$(awk -v a="$least" -v b="$(figure b.json passivity_least)" 'BEGIN { d = a / b - 1; print d < 0 ? -d : d }')" 1e-5
if command -v mpirun > /dev/null; then
    ranks 2 penstock-slice-assemble box.h5 m.h5 $how -q --json > m.json
    "$same" a.h5 m.h5 || fail "2 ranks, other bits"
    below "$(awk -v a="$least" -v b="$(figure m.json passivity_least)" 'BEGIN { d = a / b - 1; print d < 0 ? -d : d }')" 1e-5
fi
journal="box.h5 j.h5 $how --tile-rows 256 --device cpu -q"
killed_at write:3:j.h5.squares penstock-slice-assemble $journal --checkpoint-every 1step
[ -e j.h5.squares ]
penstock-slice-assemble $journal > /dev/null
"$same" a.h5 j.h5 || fail "other bits after a kill"

# ---- a march, whatever holds the matrix ----
sphere 2 12.566370614359172
penstock-slice-assemble sphere2.h5 s.h5 $hard --courant 2 --combined .25 -q --json > s.json
below 4e-2 "$(figure s.json passivity_least)"
run="--steps 200 $plane"
penstock-tdbem-march s.h5 sphere2.h5 staged.h5 $run --json -q > staged.json
grep -q BiCGStab staged.json
march sphere2.h5 whole.h5 $run $hard --courant 2 --combined auto
penstock-compare whole.h5 staged.h5 --tolerance 0 --no-attributes > /dev/null
penstock-slice-block s.h5 cut.h5 -q > /dev/null
march cut.h5 sphere2.h5 blocks.h5 $run
close_to blocks.h5 staged.h5 0
PENSTOCK_TEAM=2 march cut.h5 sphere2.h5 team.h5 $run
close_to team.h5 staged.h5 1e-10
partly penstock-tdbem-march s.h5 sphere2.h5 parts.h5 -q $run --checkpoint-every 16steps --stop-after 0.01 > /dev/null
march s.h5 sphere2.h5 parts.h5 $run --checkpoint-every 16steps
close_to parts.h5 staged.h5 0
! command -v mpirun > /dev/null || { ranks 2 penstock-tdbem-march s.h5 sphere2.h5 two.h5 $run -q > /dev/null; close_to two.h5 staged.h5 1e-10; }
penstock-incident sphere2.h5 wave.h5 --like s.h5 --steps 200 --source plane:dir=0,0,1:width=0.5:delay=3 -q > /dev/null
march s.h5 sphere2.h5 heard.h5 --steps 200 --incident wave.h5
close_to heard.h5 staged.h5 1e-11

# after a step has passed all is at its height, to rounding of the matrix: the constant in space is the one root z = 1,
# of M^0 as it is, not of its transpose
for body in "a.h5 box.h5" "s.h5 sphere2.h5"; do
    set -- $body
    march $body step.h5 --force --steps 400 --emitter plane:dir=.6,0,.8:shape=step:width=1
    penstock-probe -q step.h5 $2 got.h5 --force --surface all > /dev/null
    penstock-inspect got.h5 --csv | tail -n 1 | awk -F, '{ for (i = 2; i <= NF; ++i) { if (i == 2 || $i < a) a = $i; if (i == 2 || $i > b) b = $i }
        if (!(a > 1 - 1e-6 && b < 1 + 1e-6 && b - a < 1e-9)) { print "a step leaves " a " to " b; exit 1 } }'
done

# a sphere that pulsates or oscillates, against the exact solution, at places and on the surface
awk 'NR == 2 { n = $1 } NR > 2 && NR <= n + 2 { print $3 / sqrt($1 * $1 + $2 * $2 + $3 * $3) }' sphere2.off > vertices.txt
places="3,0,0 0,0,1.5 1,1,1 0,-1.2,-2"
for row in "pulsating .002 .004" "oscillating .0066 .012"; do
    read -r kind near surface <<< "$row"
    along=; [ $kind = pulsating ] || along=:along=0,0,1
    penstock-incident sphere2.h5 moves.h5 --like s.h5 --steps 160 --density 2 --force -q \
        --velocity all$along:width=2:delay=8:amplitude=.5 > /dev/null
    march s.h5 sphere2.h5 moved.h5 --steps 150 --incident moves.h5 --force
    penstock-probe -q moved.h5 sphere2.h5 got.h5 --force $(for p in $places; do echo --at $p; done) > /dev/null
    penstock-inspect got.h5 --csv > near.csv
    penstock-probe -q moved.h5 sphere2.h5 got.h5 --force --surface all > /dev/null
    penstock-inspect got.h5 --csv > surface.csv
    python3 "$ROOT/tests/support/pulsating.py" $kind 1 2 2 8 .5 "$near" near.csv $places
    python3 "$ROOT/tests/support/pulsating.py" $kind 1 2 2 8 .5 "$surface" surface.csv surface
done

# ---- the surface of a rigid sphere, at interior resonances (ka = 2.08, 3.34, 4.49), h/D = 2: 320 triangles ----
# error KA HISTORY: relative L2 over the surface against the series
error() {
    local f=$(awk -v k="$1" 'BEGIN { printf "%.10g", k / 6.283185307179586 }')
    penstock-probe -q "$2" sphere2.h5 probe.h5 --force --surface all > /dev/null
    penstock-spectrum -q probe.h5 got.h5 --force --divide --basis --frequencies "$f" > /dev/null 2>&1
    penstock-sphere-exact -q exact.h5 --force --quantity hard-surface --mesh sphere2.h5 --frequencies "$f" --speed 1 \
        --emitter plane:dir=0,0,1:width=0.5:delay=3 > /dev/null
    penstock-compare got.h5 exact.h5 --norm space-time --weights sphere2.h5 --tolerance 9 --json > error.json
    figure error.json relative_l2
}
march sphere2.h5 plain.h5 --steps 200 $plane $hard --courant 2
for row in "2.0816 .0264 .1" "3.3421 .0470 .2" "4.4934 .0645 .25"; do
    read -r ka most before <<< "$row"
    got=$(error "$ka" staged.h5) plain=$(error "$ka" plain.h5)
    echo "ka = $ka: surface error $got, without --combined $plain"
    below "$got" "$most"
    below "$before" "$plain"
done
# what is left after 200 steps, of a peak of 1.5: a hull eight times as long as wide
awk 'NR > 2 && NF == 3 { $3 *= 8 } { print }' sphere2.off > hull.off
penstock-mesh-import -q hull.off hull.h5 > /dev/null
tail="--steps 70 --emitter plane:dir=.36,.48,.8:width=1 --formulation sound-hard --speed 1 --courant 2 --points 3"
for alpha in 0 auto; do
    penstock-tdbem-march -q hull.h5 hull-$alpha.h5 $tail --combined $alpha --json > hull-$alpha.json 2> /dev/null
    penstock-probe -q hull-$alpha.h5 hull.h5 probe.h5 --force --surface all > /dev/null
    penstock-spectrum -q probe.h5 got.h5 --force --frequencies .1 --json > left-$alpha.json 2> /dev/null
done
echo "hull, 70 steps: what is left $(figure left-auto.json truncation), without --combined $(figure left-0.json truncation)"
below "$(awk -v a="$(figure left-auto.json truncation)" -v b="$(figure left-0.json truncation)" 'BEGIN { print a / b }')" .05

# ---- refused ----
fails 2 "closed sound-hard bodies" penstock-slice-assemble sphere2.h5 no.h5 --courant 2 --combined .25
fails 2 "from 0 (none) to 2" penstock-slice-assemble sphere2.h5 no.h5 --courant 2 --combined 3 --formulation sound-hard
fails 2 "from 0 (none) to 2" penstock-slice-assemble sphere2.h5 no.h5 --courant 2 --combined -1 --formulation sound-hard
awk 'NR == 2 { $2 -= 1 } { print }' sphere2.off | sed '$d' > open.off
penstock-mesh-import -q open.off open.h5 --open > /dev/null
fails 2 "a screen has no inside" penstock-slice-assemble open.h5 no.h5 $hard --courant 2 --combined .25 --screen
fails 2 "is for symmetric matrices" penstock-tdbem-march s.h5 sphere2.h5 no.h5 $run --solver cholesky
fails 2 "give them with MESH OUTPUT" penstock-tdbem-march s.h5 sphere2.h5 no.h5 $run --combined .25
penstock-slice-assemble sphere2.h5 other.h5 $hard --courant 2 --points 3 --combined .5 -q > /dev/null
fails 3 "holds loads of --combined 0.25" penstock-tdbem-march other.h5 sphere2.h5 no.h5 --steps 200 --incident wave.h5
printf '0,0\n1,0\n' > samples.csv
fails 3 "of sources and velocities" penstock-incident sphere2.h5 no.h5 --like s.h5 --steps 20 --samples samples.csv:quantity=slope
awk 'NR > 2 && NF == 3 { $3 *= .02 } { print }' sphere2.off > flat.off
penstock-mesh-import -q flat.off flat.h5 > /dev/null
fails 0 "the body is thin" penstock-slice-assemble flat.h5 flat-s.h5 --formulation sound-hard --courant 1 --points 3 --combined auto
