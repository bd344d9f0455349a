# Linings (slice-assemble --lining, tdbem-march --lining --admittance): a sphere that gives way against its series, at
# points, in directions and on the surface, at six frequencies; parts that add up; the same bits whatever the tiles,
# memory and stops; walls that are not passive, and what does not go together, are refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -eu
same=$BUILD/tests-programs/slices_same
hard="--formulation sound-hard --speed 1 --courant 2 --combined .25"
wall=b0=.1:pair=.6,-.242711950090,.75,1.854049621773557
wave="--emitter plane:dir=0,0,1:width=0.5"

# ---- the matrices: 296 vertices are two tiles of rows ----
awk -v a=1 -v n=7 -f "$ROOT/tests/support/box.awk" > box.off
penstock-mesh-import -q box.off box.h5 > /dev/null
how="--formulation sound-hard --speed 1 --courant 1 --points 3 --combined .25 --precision fp64"
penstock-slice-assemble box.h5 a.h5 $how --lining all --threads 1 -q > /dev/null
penstock-slice-assemble box.h5 b.h5 $how --lining all --tile-rows 256 --tile-slices 64 -q > /dev/null
"$same" a.h5 b.h5 || fail "other tiles, other bits"
penstock-inspect a.h5 | grep -q "sound-hard-lining" || fail "inspect does not tell a lining"

# ---- a sphere of two tags, 1 above and 2 below ----
halves 2
penstock-slice-assemble s.h5 m.h5 $hard -q > /dev/null
penstock-slice-assemble s.h5 all.h5 $hard --lining all -q > /dev/null
penstock-slice-assemble s.h5 one.h5 $hard --lining "upper half" -q > /dev/null
penstock-slice-assemble s.h5 two.h5 $hard --lining 2 -q > /dev/null
run="--steps 200 $wave"
lined="$run --lining all.h5 --admittance all:$wall"
march m.h5 s.h5 lined.h5 $lined

# ---- against the series: 320 triangles, kh from .15 to .61; 1,280 leave a quarter ----
f=.0795775,.1194,.1591549,.1989437,.2387324,.3115
spectrum() { # KIND LIMIT PROBE...
    local kind=$1 limit=$2 basis=
    shift 2
    [ "$kind" != surface ] || basis=--basis
    penstock-probe -q lined.h5 s.h5 p.h5 "$@" --force > /dev/null
    penstock-spectrum p.h5 f.h5 --frequencies $f --divide $basis -q --force > /dev/null
    penstock-sphere-exact e.h5 --like f.h5 --quantity hard-$kind --emitter plane:dir=0,0,1:width=1 \
        --admittance "all:$wall" -q --force > /dev/null
    penstock-compare f.h5 e.h5 --norm space-time --tolerance "$limit" --json > said.json || { cat said.json; fail "$kind"; }
    echo "$kind: $(figure said.json relative_l2)"
}
spectrum field .0145 --at 0,0,1.5 --at 1.2,0,.9 --at 2,0,0 --at 0,0,-1.2
spectrum far .0165 --direction 0,0 --direction 60,0 --direction 180,0
spectrum surface .018 --surface all
# in time, from the middle on: the recursion of the field begins at rest, whatever is asked for
penstock-probe -q lined.h5 s.h5 whole.h5 --at 0,0,1.5 > /dev/null
penstock-probe -q lined.h5 s.h5 late.h5 --at 0,0,1.5 --from 12 > /dev/null
penstock-inspect whole.h5 --csv | tail -n +2 > whole.csv
penstock-inspect late.h5 --csv | tail -n +2 > late.csv
[ "$(tail -n "$(wc -l < late.csv)" whole.csv)" = "$(cat late.csv)" ] || fail "--from changes the field"

# ---- parts, in any order ----
march m.h5 s.h5 halves.h5 $run --lining one.h5 --lining two.h5 --admittance "2:$wall" --admittance "upper half:$wall"
close_to halves.h5 lined.h5 1e-5
penstock-probe -q halves.h5 s.h5 p.h5 --at 0,0,1.5 --force > /dev/null
close_to p.h5 whole.h5 1e-5
march m.h5 s.h5 rigid.h5 $run
march m.h5 s.h5 half.h5 $run --lining two.h5 --admittance 2:impedance=1
fails 1 "densities" penstock-compare half.h5 rigid.h5 --dataset /densities --no-attributes --tolerance .1
march m.h5 s.h5 stiff.h5 $run --lining all.h5 --admittance all:b0=1e-4 # nearly rigid, to first order
close_to stiff.h5 rigid.h5 1e-3

# ---- the same bits: out of core, stopped, killed; to rounding in blocks, with ranks and other groups ----
march m.h5 s.h5 core.h5 $lined --host-memory "$(least penstock-tdbem-march m.h5 s.h5 core.h5 $lined)"
close_to core.h5 lined.h5 0
partly penstock-tdbem-march m.h5 s.h5 parts.h5 -q $lined --checkpoint-every 16steps --stop-after 0.01 > /dev/null
march m.h5 s.h5 parts.h5 $lined --checkpoint-every 16steps
close_to parts.h5 lined.h5 0
killed_at rename:2 penstock-tdbem-march -q m.h5 s.h5 killed.h5 $lined --checkpoint-every 40steps
penstock-tdbem-march -q m.h5 s.h5 killed.h5 $lined --checkpoint-every 40steps --json > last.json
close_to killed.h5 lined.h5 0
below "$(figure last.json steps_in_this_start)" 170
penstock-slice-block all.h5 cut.h5 -q > /dev/null
march m.h5 s.h5 blocks.h5 ${lined/all.h5/cut.h5}
close_to blocks.h5 lined.h5 1e-5
march m.h5 s.h5 group.h5 $lined --group 5
close_to group.h5 lined.h5 1e-5
! command -v mpirun > /dev/null || { ranks 2 penstock-tdbem-march -q m.h5 s.h5 ranks.h5 $lined > /dev/null; close_to ranks.h5 lined.h5 1e-5; }

# ---- refused ----
bad="penstock-tdbem-march -q m.h5 s.h5 no.h5 $run"
fails 2 "at 159.155 Hz" $bad --lining all.h5 --admittance all:b0=1:pair=-.0010001,0,.001,1000
fails 2 "does not decay" $bad --lining all.h5 --admittance all:pole=1,-1
fails 2 "one for one" $bad --lining all.h5
fails 2 "no --lining is of" $bad --lining all.h5 --admittance upper:b0=1
fails 3 "linings of the same triangles" $bad --lining all.h5 --lining two.h5 --admittance all:b0=1 --admittance 2:b0=1
fails 3 "is no lining" $bad --lining m.h5 --admittance all:b0=1
fails 3 "give it with --lining" penstock-tdbem-march -q all.h5 s.h5 no.h5 $run
fails 2 "linings are not" $bad --lining all.h5 --admittance all:b0=1 --solver cholesky
fails 2 "linings not so evenly" $bad --lining all.h5 --admittance all:b0=1 --project-mean
fails 2 "for matrices in files" penstock-tdbem-march -q s.h5 no.h5 $run $hard --lining all.h5 --admittance all:b0=1
penstock-slice-assemble s.h5 plain.h5 ${hard% --combined*} --lining all -q > /dev/null
fails 3 "does not go with" $bad --lining plain.h5 --admittance all:b0=1
fails 2 "neither the number nor the name" penstock-slice-assemble s.h5 no.h5 $hard --lining wing
fails 2 "of closed sound-hard bodies" penstock-slice-assemble s.h5 no.h5 --speed 1 --courant 2 --lining all
fails 2 "of a hard sphere" penstock-sphere-exact no.h5 --like f.h5 --quantity soft-far --emitter plane:dir=0,0,1:width=1 --admittance all:b0=1
