#!/bin/bash
# penstock-probe on spheres: fields at points, planes and directions against exact series; blocks of
# steps and groups of receivers give the same bits; refusals.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import slice-assemble tdbem-march probe sphere-exact compare

figure() { grep -o "\"$1\": [-+0-9.eE]*" | head -n 1 | cut -d' ' -f2; }
# error GOT EXACT: the worst channel's relative L2 error over time
error() { penstock-compare "$1" "$2" --norm space-time --tolerance 99 --json | figure channel_largest; }

awk -f "$ROOT/cases/tdbem-sphere/icosphere.awk" -v levels=2 -v area=12.566370614359172 > s.off
penstock-mesh-import -q s.off mesh.h5 > log || fail mesh
wave=plane:dir=0,0,1:width=0.5:delay=5
for f in soft hard; do
    formulation=sound-hard; [ $f = soft ] && formulation=sound-soft-s
    penstock-slice-assemble -q mesh.h5 $f-slices.h5 --formulation $formulation --courant 3 --speed 1 \
        > log || fail assembly
    penstock-tdbem-march -q $f-slices.h5 mesh.h5 $f.h5 --time 14 --emitter $wave > log || fail march
    penstock-probe -q $f.h5 mesh.h5 near.h5 --force --at 2,0,0 --at 0,0,-1.5 --at 0.8,0.8,0.2 --at 0,0,4 > log || fail near
    penstock-sphere-exact -q near-exact.h5 --force --quantity $f-field --like near.h5 || fail exact
    within "$(error near.h5 near-exact.h5)" 1e-4 $([ $f = soft ] && echo 0.015 || echo 0.08) "$f points"
    penstock-probe -q $f.h5 mesh.h5 far.h5 --force --directions 6 --plane-normal 0,1,0 > log || fail far
    penstock-sphere-exact -q far-exact.h5 --force --quantity $f-far --like far.h5 || fail exact
    within "$(error far.h5 far-exact.h5)" 1e-4 $([ $f = soft ] && echo 0.012 || echo 0.08) "$f far field"
    # The response at one frequency, through the pulse: target strength.
    penstock-spectrum -q far.h5 ts.h5 --force --divide --frequencies 0.2 > log || fail spectrum
    penstock-sphere-exact -q ts-exact.h5 --force --quantity $f-far --like ts.h5 --emitter $wave || fail exact
    within "$(penstock-compare ts.h5 ts-exact.h5 --norm space-time --tolerance 99 --json |
        figure relative_l2)" 1e-4 $([ $f = soft ] && echo 0.012 || echo 0.08) "$f spectrum"
done

# Above the middle of a triangle, 1e-9 of the radius from it, the field is what it is a little farther away; beyond
# what sound reaches in the march there is none, and places whose distances overflow are refused.
awk 'NR == 3 { a = $0 } NR > 2 { v[NR - 3] = $0 } $1 == 3 && NF == 4 && !done { done = 1; for (k = 2; k < 5; ++k) {
    split(v[$k], x, " "); for (d = 1; d < 4; ++d) c[d] += x[d] / 3 } } END { for (s = 0; s < 2; ++s) {
    f = 1 + (s ? 1e-4 : 1e-9); printf "%.17g %.17g %.17g\n", f * c[1], f * c[2], f * c[3] > ("above" s ".txt") } }' s.off
for f in soft hard; do
    for s in 0 1; do
        penstock-probe -q $f.h5 mesh.h5 above$s.h5 --force --points above$s.txt > log || fail "above a triangle"
    done
    expect 0 '' penstock-compare above0.h5 above1.h5 --no-attributes --norm space-time --tolerance 2e-3
    penstock-probe $f.h5 mesh.h5 away.h5 --force --at 0,0,1e9 --at 2,0,1e90 > out 2> err || fail "far points"
    within "$(awk '$1 == "largest_value" { print $2 }' out)" 0 0 "what has not arrived"
    expect 2 'beyond 1e+100 m' penstock-probe $f.h5 mesh.h5 x.h5 --at 0,0,1e160
done
sed -n 3p s.off > vertex.txt
penstock-probe hard.h5 mesh.h5 x.h5 --points vertex.txt > out 2> err || fail "on a vertex"
grep -q 'lie on the surface' err || fail "no warning of a point on the surface"
rm x.h5

# A plane: its points are those of --at; the total field is the scattered plus the incident.
penstock-probe -q soft.h5 mesh.h5 plane.h5 --plane '-2,0,2;4,0,0;0,3,1;5x3' > log || fail plane
awk 'BEGIN { for (i = 0; i < 5; ++i) for (j = 0; j < 3; ++j) print -2 + i, 1.5 * j, 2 + j / 2 }' > points.txt
penstock-probe -q soft.h5 mesh.h5 points.h5 --points points.txt > log || fail points
expect 0 '' penstock-compare plane.h5 points.h5 --no-attributes --tolerance 1e-14
penstock-probe -q soft.h5 mesh.h5 total.h5 --points points.txt --field total > log || fail total
peak=$(penstock-compare total.h5 points.h5 --norm space-time --tolerance 99 --json | figure largest)
within "$peak" 0.99 1.0001 "the incident pulse's peak"

# Little memory: many groups and blocks, the same bits.
penstock-probe -q soft.h5 mesh.h5 small.h5 --points points.txt --host-memory 600K > log || fail small
expect 0 '' penstock-compare small.h5 points.h5 --tolerance 0
penstock-probe -q soft.h5 mesh.h5 one.h5 --points points.txt --threads 1 > log || fail threads
expect 0 '' penstock-compare one.h5 points.h5 --tolerance 0
expect 4 'host-memory' penstock-probe soft.h5 mesh.h5 x.h5 --points points.txt --host-memory 100K

# Densities: unknowns and mean; part of the time.
penstock-probe -q soft.h5 mesh.h5 all.h5 --surface all > log || fail surface
expect 0 '' penstock-compare soft.h5 all.h5 --norm space-time --tolerance 0
penstock-probe -q hard.h5 mesh.h5 some.h5 --surface 5,7-9 --mean --from 3 --to 4 > log || fail some
within "$(penstock-compare some.h5 some.h5 --norm space-time --json | figure values)" 20 60 "samples x 5"

# Pictures for ParaView.
penstock-probe soft.h5 mesh.h5 cut.h5 --plane '-2,0,-2;4,0,0;0,0,4;9x9' --snapshots cut --every 20 \
    > log 2> warnings || fail snapshots
grep -q 'lie inside the body' warnings || fail "no warning about points inside"
expect 3 "1 of 2 points lie inside the body" penstock-probe soft.h5 mesh.h5 no.h5 --at 0,0,2 --at 0,0,.5
expect 0 "1 of 2 points lie inside the body" penstock-probe soft.h5 mesh.h5 allowed.h5 --at 0,0,2 --at 0,0,.5 --allow no-field
[ -s cut.000001.hdf ] && grep -q cut.000001.hdf cut.hdf.series || fail "no snapshots"
h5dump -d /VTKHDF/NumberOfCells cut.000000.hdf | grep -q '(0): 128' || fail "cells of the plane"

# Refusals.
awk -f "$ROOT/cases/tdbem-sphere/icosphere.awk" -v levels=2 > unit.off
penstock-mesh-import -q unit.off other.h5 > log || fail mesh
expect 3 'another mesh' penstock-probe soft.h5 other.h5 x.h5 --at 2,0,0
expect 2 'say where' penstock-probe soft.h5 mesh.h5 x.h5
expect 2 'run the program once for each' penstock-probe soft.h5 mesh.h5 x.h5 --at 2,0,0 --directions 3
expect 2 'only points' penstock-probe soft.h5 mesh.h5 x.h5 --directions 3 --field total
expect 2 'outside of 0-319' penstock-probe soft.h5 mesh.h5 x.h5 --surface 300-320
expect 2 'allows times up to' penstock-probe soft.h5 mesh.h5 x.h5 --at 2,0,0 --to 99
expect 3 'line 1' penstock-probe soft.h5 mesh.h5 x.h5 --points s.off
expect 3 'missing.h5' penstock-probe missing.h5 mesh.h5 x.h5 --at 2,0,0
ls x.h5* 2> /dev/null && fail "something was left behind"
echo "fields agree with the exact ones"
