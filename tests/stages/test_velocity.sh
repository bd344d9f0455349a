# penstock-incident --velocity: a sphere that pulsates, one that oscillates, against the exact transient solution: near,
# far, on the surface; a tag of a mesh; what is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -e
sphere 2 12.566370614359172
awk 'NR == 2 { n = $1 } NR > 2 && NR <= n + 2 { print $3 / sqrt($1 * $1 + $2 * $2 + $3 * $3) }' sphere2.off > vertices.txt
penstock-slice-assemble sphere2.h5 hard.h5 --courant 2 --speed 1 --formulation sound-hard -q > /dev/null
places="3,0,0 0,0,1.5 1,1,1 0,-1.2,-2"
make="penstock-incident sphere2.h5 OUT --like hard.h5 --steps 160 -q --density 2"
exact() { python3 "$ROOT/tests/support/pulsating.py" $kind 1 2 2 8 .5 "$@" || fail "$kind"; }
for kind in pulsating oscillating; do
    [ $kind = pulsating ] && along= limits=".002 .006 .003" || along=:along=0,0,1 limits=".007 .015 .01"
    set -- $limits
    ${make/OUT/$kind.sound.h5} --velocity all$along:width=2:delay=8:amplitude=.5 > /dev/null
    penstock-tdbem-march -q hard.h5 sphere2.h5 $kind.h5 --steps 150 --incident $kind.sound.h5 > /dev/null
    penstock-probe -q $kind.h5 sphere2.h5 near.h5 $(for p in $places; do echo --at $p; done) > /dev/null
    penstock-inspect near.h5 --csv > near.csv
    exact $1 near.csv $places
    penstock-probe -q $kind.h5 sphere2.h5 surface.h5 --surface all > /dev/null
    penstock-inspect surface.h5 --csv > surface.csv
    exact $2 surface.csv surface
    penstock-probe -q $kind.h5 sphere2.h5 far.h5 --direction 0,0 --direction 60,0 > /dev/null
    penstock-inspect far.h5 --csv > far.csv
    exact $3 far.csv far 1 .5
    rm near.h5 surface.h5 far.h5
done
fails 0 "up to date" penstock-incident sphere2.h5 oscillating.sound.h5 --like hard.h5 --steps 160 --density 2 \
    --velocity all:along=0,0,1:width=2:delay=8:amplitude=.5
penstock-verify pulsating.h5 > /dev/null
# the same bits out of core and over again, and with velocities that add up to the same
march="penstock-tdbem-march -q hard.h5 sphere2.h5 OUT --steps 150 --incident pulsating.sound.h5"
${march/OUT/core.h5} --host-memory "$(least ${march/OUT/core.h5})" > /dev/null
identical pulsating.h5 core.h5
# killed in the middle, of the march and of the making of its file, the same command goes on to the same bits
killed_at rename:2 ${march/OUT/killed.h5} --checkpoint-every 40steps
[ ! -e killed.h5 ] || fail "a killed march left an output"
${march/OUT/killed.h5} --checkpoint-every 40steps --json > last.json
identical pulsating.h5 killed.h5
below 40 "$(awk -v n="$(figure last.json steps_in_this_start)" 'BEGIN { print 150 - n }')"
again="${make/OUT/again.h5} --velocity all:width=2:delay=8:amplitude=.5"
killed_at rename:1 $again
[ ! -e again.h5 ] || fail "a killed making left an output"
$again > /dev/null
identical pulsating.sound.h5 again.h5
${make/OUT/two.h5} --velocity all:width=2:delay=8:amplitude=.2 --velocity 0:width=2:delay=8:amplitude=.3 > /dev/null
penstock-tdbem-march -q hard.h5 sphere2.h5 sum.h5 --steps 150 --incident two.h5 > /dev/null
penstock-compare sum.h5 pulsating.h5 --dataset /densities --no-attributes --tolerance 1e-9 > /dev/null

# refused
bad=${make/OUT/no.h5}
fails 2 "neither the number nor the name" $bad --velocity skin:width=2
fails 2 "no triangle of the mesh has tag 7" $bad --velocity 7:width=2
fails 2 "along, amplitude" $bad --velocity all:at=0,0,1:width=2
fails 2 "sends one of" $bad --velocity all
fails 3 "Use a longer width" $bad --velocity all:width=.05
fails 3 "on the body at t = 0" $bad --velocity all:width=2:delay=0
fails 2 "--density" penstock-incident sphere2.h5 no.h5 --like hard.h5 --steps 160 --velocity all:width=2
fails 3 "closed bodies and sound-hard" penstock-incident sphere2.h5 no.h5 --dt .1 --speed 1 --steps 160 --density 2 --velocity all:width=2
fails 4 "--host-memory" $bad --velocity all:width=2 --host-memory 12M
