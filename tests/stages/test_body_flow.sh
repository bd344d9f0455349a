# A flow that a body turns (incident --flow --around, tdbem-march, probe): a sphere against fields at rest, shifted by the
# exact potential of the flow; source and receiver exchanged with the flow turned around, on ugly bodies too; what does not
# go together is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
set -eu
how="--formulation sound-hard --speed 1 --courant 2 --combined .25 --precision fp64 --points 3"
march_csv() { penstock-inspect "$1" --csv | tail -n +2; }

# sounds NAME SOURCE FLOW...: the march of a source, in m.h5 on s.h5
sounds() {
    penstock-incident s.h5 in.h5 --like m.h5 --steps 200 -q --force --source monopole:at=$2:width=3:delay=9 "${@:3}" > said.txt 2>&1 || { cat said.txt; return 1; }
    penstock-tdbem-march -q m.h5 s.h5 "$1.h5" --incident in.h5 --steps 200 --force > /dev/null
}
# heard NAME FILE PROBE...
heard() { penstock-probe -q "$1.h5" s.h5 p.h5 --force "${@:3}" > /dev/null; march_csv p.h5 > "$2"; }

sphere 2 12.566370614359172
cp sphere2.h5 s.h5
penstock-slice-assemble s.h5 m.h5 $how -q > /dev/null
U=.12,0,.09 S=0,.4,3 R=1.5,.6,-1.2
sounds rest $S
heard rest rest.csv --at $R
heard rest around.csv --at 1.34,.6,-1.2 --at 1.42,.6,-1.2 --at 1.58,.6,-1.2 --at 1.66,.6,-1.2 --at 1.5,.44,-1.2 --at 1.5,.52,-1.2 \
    --at 1.5,.68,-1.2 --at 1.5,.76,-1.2 --at 1.5,.6,-1.36 --at 1.5,.6,-1.28 --at 1.5,.6,-1.12 --at 1.5,.6,-1.04
sounds flow $S --flow $U --around
grep -q "^mach_number *0.15" said.txt || fail "the Mach number is not told"
penstock-incident s.h5 told.h5 --like m.h5 --steps 20 --source monopole:at=$S:width=3 --flow $U --around > said.txt 2>&1
grep -q "0.022 of sizes.* up to 0.09[01]* m" said.txt || { cat said.txt; fail "what is left out is not told"; } # .0225 of 4.02 m
heard flow rate.csv --at $R --rate
heard flow pressure.csv --at $R
set -- $(python3 "$ROOT/tests/support/body_flow.py" $U $S $R rest.csv around.csv rate.csv pressure.csv)
echo "sphere: rate $1, pressure $2"
below "$1" 2e-5
below "$2" 5e-3 # gradients of fields whose densities are linear between steps
penstock-inspect flow.h5 | grep -q "flow_potential" || fail "the history does not keep the flow"

# exchanged: rates are as near to each other as at rest, where what is left is the mesh
exchanged() { # NAME MOST
    sounds there 0,.4,3 --flow .12,0,.09 --around
    heard there a.csv --at 1.5,.6,-1.2 --rate
    sounds back 1.5,.6,-1.2 --flow -.12,0,-.09 --around
    heard back b.csv --at 0,.4,3 --rate
    apart=$(paste -d, a.csv b.csv | awk -F, 'NF == 4 { d += ($2 - $4)^2; s += $2^2 } END { print sqrt(d / s) }')
    echo "$1, exchanged: $apart"
    below "$apart" "$2"
}
exchanged sphere 4e-3

# ---- refused ----
make="penstock-incident s.h5 no.h5 --like m.h5 --steps 20 -q --source"
fails 3 "up to 0.3 is taken" $make monopole:at=0,0,3:width=3 --flow 1.2,0,0 --around
fails 2 "--around is of --flow" $make monopole:at=0,0,3:width=3 --around
fails 2 "at rest, of pulses" $make dipole:at=0,0,3:force=1,0,0:width=3 --flow .1,0,0 --around
fails 2 "at rest, of pulses" $make monopole:at=0,0,3:velocity=.1,0,0:width=3 --flow .1,0,0 --around
fails 2 "at rest, of pulses" $make monopole:at=0,0,3:frequency=.1:ramp=9 --flow .1,0,0 --around
fails 2 "fields at points" penstock-probe -q flow.h5 s.h5 no.h5 --direction 0,0
fails 2 "fields at points" penstock-probe -q flow.h5 s.h5 no.h5 --surface all
fails 2 "scattered field alone" penstock-probe -q flow.h5 s.h5 no.h5 --at 0,0,2 --field total
penstock-mesh-surface other.hdf --divisions 3 > said.txt
fails 3 "was computed on another mesh" penstock-probe -q flow.h5 other.hdf no.h5 --at 0,0,2
fails 2 "of histories in a flow" penstock-probe -q rest.h5 s.h5 no.h5 --at 0,0,2 --rate
sounds flow $S --flow $U --around
penstock-slice-assemble s.h5 g.h5 $how --lining all -q > /dev/null
fails 2 "answer otherwise" penstock-tdbem-march -q m.h5 s.h5 no.h5 --incident in.h5 --steps 20 --lining g.h5 --admittance all:b0=1

# ---- ugly bodies ----
for body in "box 4 2" "wedge 20 3" "pit .75 4"; do
    python3 "$SHARED/tools/ugly-meshes" $body | awk 'NR == 2 { n = $1 } NR > 2 && NR <= n + 2 { print $1 * .6, $2 * .6, $3 * .6; next } { print }' > ugly.off
    penstock-mesh-import ugly.off s.h5 --order none -q --force > /dev/null
    penstock-slice-assemble s.h5 m.h5 $how -q --force > /dev/null
    exchanged "$body" 5e-2
done
