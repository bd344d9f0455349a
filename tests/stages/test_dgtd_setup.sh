# penstock-dgtd-setup: limits of uniform cubes, media, conditions, sheets, sources; everything that a run
# would stumble over is refused before it; the real head as the numerics guide has it.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-partition dgtd-setup mesh-import verify inspect
setup=penstock-dgtd-setup

cut() { expect 0 "" penstock-mesh-partition "$@"; }
cube() { expect 0 "" penstock-mesh-box "$@"; }
# model FIRST: options for a cube of one medium with metal around, then what follows
model() { expect 0 "" $setup "$@"; }
refused() { expect 2 "$1" $setup "${@:2}"; }

cube two.hdf --cells 2; cut two.hdf two.h5
cube cube.hdf --cells 4 --region 2:box:0.5,0,0,1,1,1; cut cube.hdf cube.h5
one="--material default:eps=1"; metal="--boundary outer:pec"

# ---- limits: C_p .06904/n by the rule, Kuhn's by power iteration (from above) ----
set -- 2.61 2.617 1.60 1.608 1.06 1.0608 0.76 0.761
for p in 1 2 3 4; do
    model two.h5 m.h5 --order $p $one $metal --dt power --applications 300 --force
    c0=299792458
    within "$(awk -v v="$(figure limit_rule)" "BEGIN { print v * $c0 / ($1 * .0690356 / 2) }")" 0.9999 1.0001 "rule of P$p"
    within "$(awk -v v="$(figure limit_power)" "BEGIN { print v * $c0 / ($2 * .0690356 / 2) }")" 0.996 1.004 "limit of P$p"
    within "$(awk -v v="$(figure dt_metres)" -v w="$(figure limit_power)" "BEGIN { print v / (w * $c0) }")" 0.89999 0.90001 "share of P$p"
    shift 2
done
model two.h5 m.h5 --order 1 $one $metal --force; is faces_pec 48; is within_10_percent 48; near shape_min .034517 .034519
# T = 1 m in steps of at most 0.9 of the limit: 13, as in the guide's table
model two.h5 m.h5 --order 1 $one $metal --divide 1m --force; near dt_metres .0769230 .0769231
model two.h5 m.h5 --order 1 $one $metal --divide 299.792458MHz --force; near dt_metres .0769230 .0769231
model two.h5 m.h5 --order 1 $one $metal --dt 0.25ns --force; near dt_metres .0749481 .0749482
# above the rule but below the limit: accepted by power iteration; above that: refused
cube shaken.hdf --cells 3 --shake 0.3; cut shaken.hdf shaken.h5
model shaken.h5 m.h5 --order 1 $one $metal --dt power --force
rule=$(figure limit_rule) power=$(figure limit_power)
within "$(awk "BEGIN { print $power / $rule }")" 1.05 1.4 "limit of a shaken cube over the rule's"
model shaken.h5 m.h5 --order 1 $one $metal --dt "$(awk "BEGIN { print .97 * $power }")" --force
refused "unstable" shaken.h5 no.h5 --order 1 $one $metal --dt "$(awk "BEGIN { print .99 * $power }")"
refused "unstable" two.h5 no.h5 --order 1 $one $metal --dt 0.0925m
refused "unstable" two.h5 no.h5 --order 1 $one --boundary outer:absorbing --absorbing paper --dt 0.085m
model two.h5 m.h5 --order 1 $one --boundary outer:absorbing --absorbing paper --force; near dt_metres .07206 .07208
model two.h5 m.h5 --order 1 $one --boundary outer:absorbing --absorbing paper --dt 0.072m --force
# slivers with raised eps and mu: the limit follows the next element, and power iteration agrees
for n in 20 60; do
    model shaken.h5 m.h5 --order 1 $one $metal --scale-slivers $n --dt power --force
    is scaled_elements $n; within "$(figure limit_power)" "$(figure limit_rule)" 1 "limit with $n scaled elements"
    within "$(awk "BEGIN { print $(figure limit_rule) / $rule }")" 1.02 2.5 "gain of $n scaled elements"
done
grep -q "may be wrong by several times" err || fail "large scaled elements are not warned of"
refused "has 162 elements" shaken.h5 no.h5 $one $metal --scale-slivers 162
model two.h5 m.h5 --order 1 $one $metal --flux upwind --force; near dt_metres .03603 .03604
refused "unstable" two.h5 no.h5 --order 1 $one $metal --flux upwind --dt 0.041m
# opposite jumps of eps and mu: the smaller mu of neighbours counts
model cube.h5 m.h5 --order 1 --material 1:eps=1,mu=9 --material 2:eps=4,mu=1 $metal --force
near least_size .01725 .01727

# ---- the same file whatever the threads; nothing to do; a plan ----
all="--order 3 --material 1:eps=2,sigma=.1,rho=1000 --material 2:eps=1 --boundary x-:pmc --boundary outer:absorbing
    --source current:at=.3,.5,.5:axis=0,0,2:radius=.2:moment=1e-12:width=1ns:frequency=1e9"
expect 3 "sends back 20 % of E at 1e+09 Hz" $setup cube.h5 all.h5 $all
all="$all --allow absorbing-losses"
model cube.h5 all.h5 $all --threads 1; model cube.h5 all2.h5 $all --threads 3
[ "$(content all.h5)" = "$(content all2.h5)" ] || fail "threads change the model"
is faces_pmc 32; is faces_absorbing 160; is elements 384; near steps_a_period_1 18.20 18.22
grep -q "badly resolved" err || fail "a ball of the size of the elements is not warned of"
expect 0 "up to date" $setup cube.h5 all.h5 $all
expect 0 "limit_rule" $setup cube.h5 none.h5 $all --plan; [ ! -e none.h5 ] || fail "a plan wrote a file"
penstock-verify all.h5 > /dev/null || fail "the model does not verify"
expect 0 "current" penstock-inspect all.h5; near frequency .999999e9 1.000001e9; near amplitude .112940 .112941
printf '# tissues\n\n1  eps=2\tsigma=.1 rho=1000 # wet\n2 eps=3\n' > tissues.txt
model cube.h5 m.h5 --materials tissues.txt --material 2:eps=1 $metal --force
[ "$(grep -c '  eps  *[21]$' out)" -eq 2 ] || { cat out; fail "a file of materials is not read, or not overruled"; }

# ---- sheets: an inner face with a condition is one on both sides ----
pair='0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n'; tets='4 2 1 1 1 2 3 4\n4 2 1 1 5 4 3 2\n'
hand_mesh "$pair" "$tets"'2 2 7 7 2 3 4\n'; cut hand.hdf sheet.h5
model sheet.h5 m.h5 $one $metal --force; is faces_pec 6
model sheet.h5 m.h5 $one --boundary 7:pec --boundary outer:pmc --force; is faces_pec 2; is faces_pmc 6
refused "elements on both sides" sheet.h5 no.h5 $one --boundary 7:absorbing --boundary outer:pec

# ---- sources ----
wave="--source plane:dir=0,0,2:pol=3,0,0:width=1ns"
model cube.h5 m.h5 $one --boundary outer:absorbing $wave --force
model cube.h5 m.h5 $one $metal --total box:.2,.2,.2,.8,.8,.8 $wave --force; near total_field_elements 40 120
model cube.h5 m.h5 $one $metal --total tag:2 $wave --force; is total_field_elements 192
model cube.h5 m.h5 $one --boundary outer:absorbing --source dipole:at=2,0,0:axis=0,0,1:moment=1e-12:shape=ramp:width=3ns:frequency=1e9 --force
model cube.h5 m.h5 $one $metal --source mode:n=1,1,1:amplitude=1,-1,0 --force
refused "there are none" cube.h5 no.h5 $one $metal $wave
refused "another medium" cube.h5 no.h5 --material 1:eps=1 --material 2:eps=4 $metal --total box:.2,.2,.2,.8,.8,.8 $wave --flux upwind
refused "not orthogonal" cube.h5 no.h5 $one --boundary outer:absorbing --source plane:dir=0,0,1:pol=1,0,1:width=1ns
refused "of another medium" cube.h5 no.h5 --material 1:eps=2 --material 2:eps=1 --boundary outer:absorbing $wave
refused "inside the region" cube.h5 no.h5 $one --boundary outer:absorbing --source dipole:at=.4,.4,.4:axis=0,0,1:width=1ns
refused "is no number" cube.h5 no.h5 $one $metal --source current:at=.5,.5,.5:axis=0,0,1:radius=.2:width=1ns:moment=1e300
refused "one incident field" cube.h5 no.h5 $one --boundary outer:absorbing $wave $wave
refused "no element at (2, 0, 0)" cube.h5 no.h5 $one $metal --source current:at=2,0,0:axis=0,0,1:radius=.2:width=1ns
refused "radius= is missing" cube.h5 no.h5 $one $metal --source current:at=.5,.5,.5:axis=0,0,1:width=1ns
refused "length 0" cube.h5 no.h5 $one $metal --source current:at=.5,.5,.5:axis=0,0,0:radius=.2:width=1ns
refused "\"colour\" is not known" cube.h5 no.h5 $one --boundary outer:absorbing $wave:colour=red
refused "is no source" cube.h5 no.h5 $one $metal --source laser:at=0,0,0
refused "a time is expected" cube.h5 no.h5 $one --boundary outer:absorbing --source plane:dir=0,0,1:pol=1,0,0:width=1lightyear
refused "wave vector" cube.h5 no.h5 $one $metal --source mode:n=1,1,1:amplitude=1,1,0
refused "no incident field" cube.h5 no.h5 $one $metal --total tag:2
refused "0 of 384 elements" cube.h5 no.h5 $one $metal --total box:9,9,9,10,10,10 $wave

# ---- media, conditions, steps that are wrong ----
refused "no material for elements of physical group 1, 2" cube.h5 no.h5 $metal
refused "no material for elements of physical group 2" cube.h5 no.h5 --material 1:eps=1 $metal
refused "no element of cube.h5 has tag 3" cube.h5 no.h5 $one --material 3:eps=1 $metal
refused "eps and mu are positive" cube.h5 no.h5 --material default:eps=-1 $metal
refused "\"epsilon\" is not known" cube.h5 no.h5 --material default:epsilon=1 $metal
named() { # NAMES: surfaces and volumes are numbered apart
    { printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n' $#; printf '%s\n' "$@" '$EndPhysicalNames'; tail -n +4 hand.msh; } > named.msh
    expect 0 "" penstock-mesh-import named.msh named.hdf --orient --force; cut named.hdf named.h5 --force
}
named '2 1 "skin"' '3 1 "air"' '3 2 "skin"'
refused 'no element of named.h5 has tag 2 (skin)' named.h5 no.h5 $one --material skin:eps=4 $metal
refused 'no face of named.h5 has tag 1 (skin)' named.h5 no.h5 $one --boundary skin:pec $metal
refused 'group of the mesh'"'"'s surfaces; it has names for: 1 skin' named.h5 no.h5 $one --boundary air:pec $metal
named '2 1 "skin"' '3 1 "air"' '3 2 "air"'
refused 'group of the mesh'"'"'s volumes; it has names for: 1 air,2 air' named.h5 no.h5 $one --material skin:eps=4 $metal
refused '"air" is the name of the physical groups 1 and 2: say which by its number' named.h5 no.h5 $one --material air:eps=4 $metal
refused "neither the number nor the name" cube.h5 no.h5 --material liver:eps=1 $metal
refused "192 outer faces have no condition" cube.h5 no.h5 $one
refused "160 outer faces have no condition; the first has tag 10" cube.h5 no.h5 $one --boundary x+:pec
refused "no face of cube.h5 has tag 55" cube.h5 no.h5 $one --boundary 55:pec $metal
refused "is no condition" cube.h5 no.h5 $one --boundary outer:soft
refused "are of the same faces" cube.h5 no.h5 $one $metal --boundary outer:pmc
refused "rule, power or a positive time" cube.h5 no.h5 $one $metal --dt -1ns
refused "a time is expected" cube.h5 no.h5 $one $metal --dt soon
refused "--divide" cube.h5 no.h5 $one $metal --divide 0
refused "OUTPUT is missing" cube.h5
printf '1 eps=2\n2 eps=x\n' > bad.txt; refused "bad.txt, line 2" cube.h5 no.h5 --materials bad.txt $metal
expect 3 "missing.txt" $setup cube.h5 no.h5 --materials missing.txt $metal
expect 3 "penstock-partition" $setup cube.hdf no.h5 $one $metal
expect 4 "--host-memory" $setup cube.h5 no.h5 $one $metal --dt power --host-memory 1M
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary file is left"

# ---- the real head: min V/P .00525 mm, median .160 mm, dt .217 .133 .088 .063 ps at 0.9 ----
head=$SHARED/data/head/head_colin27_4tissue_air.msh.zst
[ -e "$head" ] || { echo "own meshes pass; $head is absent"; exit 77; }
expect 0 "" penstock-mesh-import "$head" head.hdf --unit mm
cut head.hdf head.h5 --parts 4 --method boxes
tissues="--material skin:eps=41.4 --material skull:eps=12.5 --material csf:eps=68.6 --material brain:eps=52.7
    --material air:eps=1 --boundary absorbing_sphere:absorbing"
model head.h5 m.h5 --order 1 $tissues --divide 900MHz --force
is elements 792991; is faces_absorbing 5120
near shape_min .00524e-3 .00526e-3; near shape_median .159e-3 .161e-3
near dt_rule_p1 .2165e-12 .2175e-12; near dt_rule_p2 .1325e-12 .1335e-12
near dt_rule_p3 .0875e-12 .0885e-12; near dt_rule_p4 .0625e-12 .0635e-12
near gain_without_10 1.45 1.55; near gain_without_100 2.1 2.25; near gain_without_1000 3.5 3.7
grep -q "limited_in *2 (skull)" out || fail "the head is not limited by the skull"
model head.h5 m.h5 --order 1 $tissues --scale-slivers 100 --force # the next one of them, .95 of 2.16 times
within "$(awk "BEGIN { print $(figure limit_rule) / .2415e-12 }")" 2.0 2.1 "gain of 100 scaled elements"
near scaled_volume 1e-7 1e-5
