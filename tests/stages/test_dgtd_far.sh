# penstock-dgtd-far: the far field of a sphere from its exact field on a cube, and on two faces of volumes,
# against its series; outflow is what the sphere absorbs; refused input.
. "$ROOT/tests/stages/lib.sh"
needs dgtd-far dgtd-sphere dgtd-sar compare verify
sample=$BUILD/tests-programs/phasors_sample
sphere="--radius .02 --eps 4 --sigma .3"
error() { # FILE EXACT: the larger of both parts' relative L2
    expect 0 "" penstock-compare "$1" "$2" --tolerance 1
    awk '$1 == "relative_l2" && n++ < 2 && $2 > m { m = $2 } END { print m }' out
}

"$sample" sphere 3 6 mesh.hdf sphere.h5 || fail "sample"
expect 0 "" penstock-dgtd-far sphere.h5 mesh.hdf far.h5 --directions 36 --direction 50,30
grep -q "faces  *432" out || { cat out; fail "not 6 x 6 x 6 x 2 faces"; }
awk '$1 == "area" { exit !($2 > .0215999 && $2 < .0216001) }' out || fail "area"
expect 0 "" penstock-dgtd-sphere exact.h5 $sphere --quantity far --like far.h5
within "$(error far.h5 exact.h5)" 0 2e-4 "far field from the boundary" # interpolation at P3
penstock-verify far.h5 > /dev/null || fail "verify"

# both halves of the cube together are the cube; inner faces are then no part of the surface
expect 0 "" penstock-dgtd-far sphere.h5 mesh.hdf both.h5 --directions 36 --direction 50,30 --around muscle,2
expect 0 "" penstock-compare far.h5 both.h5 --tolerance 1e-12
# fields of the halves, of which one surface is inside the sphere's field: they add up to the whole
expect 0 "faces" penstock-dgtd-far sphere.h5 mesh.hdf lower.h5 --directions 36 --direction 50,30 --around muscle
expect 0 "" penstock-dgtd-far sphere.h5 mesh.hdf upper.h5 --directions 36 --direction 50,30 --around 2
paste -d' ' <(trace_values lower.h5 real) <(trace_values upper.h5 real) <(trace_values far.h5 real) |
    awk '{ d = $1 + $2 - $3; if (d * d > 1e-18) bad = 1; n += NF == 3 } END { exit bad || n < 111 }' || fail "parts do not add up"

expect 0 "" penstock-dgtd-far sphere.h5 mesh.hdf rcs.h5 --directions 36 --quantity rcs
expect 0 "" penstock-dgtd-sphere exact_rcs.h5 $sphere --quantity rcs --like rcs.h5
within "$(error rcs.h5 exact_rcs.h5)" 0 5e-4 "radar cross-section"
expect 0 "up to date" penstock-dgtd-far sphere.h5 mesh.hdf rcs.h5 --directions 36 --quantity rcs
expect 4 "are needed" penstock-dgtd-far sphere.h5 mesh.hdf no.h5 --directions 36 --host-memory 8M

# directivity: the exact cross-section over that of the sphere, whose mean over all directions is 1 (midpoints: .2 %)
around=$(awk 'BEGIN { for (i = 0; i < 12; ++i) for (j = 0; j < 8; ++j) printf "--direction %g,%g ", (i + .5) * 15, j * 45 }')
expect 0 "radiated_power" penstock-dgtd-far sphere.h5 mesh.hdf d.h5 $around --quantity directivity
expect 0 "" penstock-dgtd-far sphere.h5 mesh.hdf s.h5 $around --quantity rcs
expect 0 "" penstock-dgtd-sphere exact_s.h5 $sphere --quantity rcs --like s.h5
paste -d' ' <(trace_values d.h5 real) <(trace_values exact_s.h5 real) | awk '{ s = sin((int((NR - 1) / 8) + .5) * 3.14159265358979 / 12)
    a += s; d += s * $1; r = $2 / $1; if (r > most) most = r; if (NR == 1 || r < least) least = r }
    END { print d / a, most / least; exit !(NR == 96 && d / a > .997 && d / a < 1.004 && most / least < 1.001) }' || fail "directivity"
expect 2 "had no ports" penstock-dgtd-far sphere.h5 mesh.hdf no.h5 --directions 4 --quantity gain
expect 2 "had no ports" penstock-dgtd-sar sphere.h5 mesh.hdf no.hdf --accepted-power 1 --grid 0

# metal that was left out of the mesh: its faces are no part of the surface (they took everything away again)
"$sample" hole 3 6 hole.hdf hole.h5 || fail "sample"
expect 0 "" penstock-dgtd-far hole.h5 hole.hdf metal.h5 --directions 36 --direction 50,30
grep -q "faces  *432" out && grep -q "holes_inside  *1" out || { cat out; fail "not the outer boundary alone"; }
expect 0 "" penstock-dgtd-sphere exact_metal.h5 --radius .02 --pec --quantity far --like metal.h5
within "$(error metal.h5 exact_metal.h5)" 0 5e-4 "far field of a hole of metal"
# a hole between volumes inside and outside belongs to those inside: the surface goes over the metal on the other side,
# and both volumes together are the whole again
expect 0 "" penstock-dgtd-far hole.h5 hole.hdf lower.h5 --directions 36 --direction 50,30 --around muscle
grep -q "holes_inside  *1" out || { cat out; fail "the hole is not inside"; }

# metal in the air outside of the surface scatters, too: refused, or said
"$sample" beside 3 6 beside.hdf beside.h5 || fail "sample"
expect 3 "--allow outside" penstock-dgtd-far beside.h5 beside.hdf no.h5 --directions 36 --around muscle
expect 0 "they scatter, too" penstock-dgtd-far beside.h5 beside.hdf allowed.h5 --directions 36 --around muscle --allow outside

# no scatterer, in a background of eps 2: nothing radiates
"$sample" nothing 3 6 empty.hdf empty.h5 || fail "sample"
expect 0 "" penstock-dgtd-far empty.h5 empty.hdf zero.h5 --directions 36 --quantity rcs
grep -q "background_eps  *2" out || { cat out; fail "background"; }
largest=$(trace_values zero.h5 real | awk '$1 > m { m = $1 } END { print m + 0 }')
within "$largest" 0 1e-8 "RCS of nothing, m2"

# what is no free space all round
"$sample" wave 1 3 wave.hdf wave.h5 || fail "sample"
expect 3 "conducts" penstock-dgtd-far wave.h5 wave.hdf no.h5 --directions 4

# energy: what flows in is what the exact sphere absorbs, sigma_abs/(2 Z0)
expect 0 "" penstock-dgtd-sphere $sphere --frequencies 3e9
absorbed=$(awk '$1 == "absorption_cross_section" { print $2 / (2 * 376.730313668) }' out)
expect 0 "" penstock-dgtd-sar sphere.h5 mesh.hdf sar.hdf --grid 0
within "$(awk '$1 == "outflow" { print -$2 }' out)" "$(awk "BEGIN { print $absorbed * .999 }")" \
    "$(awk "BEGIN { print $absorbed * 1.001 }")" "inflow"

expect 2 "neither the number nor the name of a physical group" penstock-dgtd-far sphere.h5 mesh.hdf no.h5 --directions 4 --around brain
expect 2 "no tetrahedron" penstock-dgtd-far sphere.h5 mesh.hdf no.h5 --directions 4 --around 7
expect 2 "say where" penstock-dgtd-far sphere.h5 mesh.hdf no.h5
"$sample" uniform 1 3 other.hdf other.h5 || fail "sample"
expect 3 "has no H" penstock-dgtd-far other.h5 other.hdf no.h5 --directions 4
expect 3 "was not computed on" penstock-dgtd-far sphere.h5 other.hdf no.h5 --directions 4
