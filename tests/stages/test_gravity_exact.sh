# penstock-gravity-anomaly: the map from convolutions is what sums over the cells give at its nodes, on rough models and on very
# flat cells; in little memory, too. A model, a constant of gravity, stations that cannot be meant are refused; stations far
# outside have the attraction of a point mass.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve gravity-anomaly
of() { awk -v s="$1" -v n="$2" '$1 == s { on = 1 } on && $1 == n { print $2; exit }' out; }
anomaly=penstock-gravity-anomaly
# rough NAME NX NY NZ X0 Y0 Z0 HX HY HZ: a model of so many cells, its load and its potential
rough() {
    awk -v nx=$2 -v ny=$3 -v nz=$4 -v x0=$5 -v y0=$6 -v z0=$7 -v hx=$8 -v hy=$9 -v hz=${10} -v seed=7 -f "$ROOT/tests/support/rough_model.awk" > $1.txt
    local box=$(awk -v v="$*" 'BEGIN { split(v, a, " "); for (k = 0; k < 3; ++k) printf "%s%.17g,%.17g", k ? "," : "", a[5 + k], a[5 + k] + a[2 + k] * a[8 + k] }')
    expect 0 "" penstock-gravity-model $1.hdf --bricks $1.txt --box=$box --nodes $(($2 + 1)),$(($3 + 1)),$(($4 + 1))
    assembled $1.hdf $1.load.hdf
    expect 0 "" penstock-schwarz-solve $1.load.hdf $1.p.hdf
    # stations at every third node of the top: another way to the same sums
    awk -v nx=$2 -v ny=$3 -v x0=$5 -v y0=$6 -v z0=$7 -v hx=$8 -v hy=$9 'BEGIN {
        for (i = 0; i <= nx; i += 3) for (j = 0; j <= ny; j += 3) printf "%.17g %.17g %.17g\n", x0 + i * hx, y0 + j * hy, -z0 }' > $1.nodes.txt
}
agrees() { # NAME BOUND NY: the map at those nodes against the sums cell by cell, relative L2
    h5dump -d /map/g_z -m %.15g -w 1 -y $1.h5 | sed -n '/DATA {/,/}/p' | tr -d ' ,' | grep -E '^-?[0-9]' > map.txt
    h5dump -d /stations/g_z -m %.15g -w 1 -y $1.h5 | sed -n '/DATA {/,/}/p' | tr -d ' ,' | grep -E '^-?[0-9]' > sums.txt
    awk -v ny=$(($3 + 1)) 'NR == FNR { m[NR - 1] = $1; n = NR; next } { s[count++] = $1 } END {
        for (i = 0; i * ny < n; i += 3) for (j = 0; j < ny; j += 3) { d = m[i * ny + j] - s[k++]; dd += d * d; ss += s[k - 1] ^ 2 }
        print (k == count && ss > 0) ? sqrt(dd / ss) : "none" }' map.txt sums.txt > relative
    within "$(cat relative)" 0 $2 "$1: the map against sums at its nodes"
}
rough a 27 27 27 355000 5999000 -3000 250 300 40
expect 0 "the elements' g_z at stations is off by" $anomaly a.p.hdf a.h5 --stations a.nodes.txt
agrees a 1e-10 27
within "$(of elements_against_exact rms)" .02 .2 "what elements are off by"
expect 0 "" $anomaly a.p.hdf b.h5 --stations a.nodes.txt --host-memory "$(least $anomaly a.p.hdf b.h5 --stations a.nodes.txt)" # layers a few at a time
h5diff a.h5 b.h5 /map/g_z || fail "the map depends on the memory"
expect 4 "takes at least" $anomaly a.p.hdf no.h5 --host-memory 100K
rough flat 17 20 5 -1e5 0 0 10000 10000 .5
expect 0 "" $anomaly flat.p.hdf flat.h5 --stations flat.nodes.txt
agrees flat 1e-7 20

# ---- bound to its model by what that holds ----
expect 0 "" penstock-gravity-model other.hdf --body brick:356000,357000,6e6,6.001e6,-2500,-2000,10 --box=355000,361750,5999000,6007100,-3000,-1920 --nodes 28,28,28
expect 3 "is not the model that a.p.hdf belongs to" $anomaly a.p.hdf no.h5 --model other.hdf
cp a.hdf copy.hdf
expect 0 "" $anomaly a.p.hdf c.h5 --model copy.hdf # by contents, not by name
mkdir elsewhere && cp a.p.hdf elsewhere/
expect 3 "give --model FILE" $anomaly elsewhere/a.p.hdf no.h5
expect 0 "there is no /map/g_z" $anomaly elsewhere/a.p.hdf e.h5 --allow elements-only
h5dump -H e.h5 | grep -q 'DATASET "g_z"' && fail "elements' values under the name of exact ones"
cp other.hdf elsewhere/a.hdf
expect 3 "that file is another one" $anomaly elsewhere/a.p.hdf no.h5
expect 0 "" penstock-gravity-assemble a.hdf old.hdf --gravity 6.672e-11
expect 0 "" penstock-schwarz-solve old.hdf old.p.hdf
expect 0 "" $anomaly old.p.hdf old.h5 # the constant goes with the files
within "$(awk 'NR == FNR { if ($1 == "largest") a = $2; next } $1 == "largest" { print $2 / a }' <($anomaly a.p.hdf c.h5 -q --force 2> err) out)" .99965 .99966 "the constant of gravity"
expect 2 "was made with 6.672e-11" $anomaly old.p.hdf no.h5 --gravity 6.6743e-11
expect 0 "" penstock-gravity-assemble a.hdf one.hdf --source one --boundary zero
expect 0 "" penstock-schwarz-solve one.hdf one.p.hdf
expect 3 "for benchmarks" $anomaly one.p.hdf no.h5

expect 1 "best iterate" penstock-schwarz-solve a.load.hdf few.hdf --method cg --limit 3
expect 3 "did not converge" $anomaly few.unconverged.hdf few.h5
expect 0 "did not converge" $anomaly few.unconverged.hdf few.h5 --allow unconverged

# ---- stations ----
printf '%s\n' "-70.5 -36.1 2000" "-70.45 -36.05 2100" > degrees.txt
expect 3 "are they in degrees?" $anomaly flat.p.hdf no.h5 --stations degrees.txt
expect 3 "are they in degrees?" $anomaly a.p.hdf no.h5 --stations degrees.txt
printf '%s\n' "356.1 6000.2 2500" "359 6003 2600" > km.txt
expect 3 "are they in km?" $anomaly a.p.hdf no.h5 --stations km.txt
printf '%s\n' "100 200 0" "100 200 -1" > hole.txt # a borehole is none of that
expect 0 "" $anomaly flat.p.hdf hole.h5 --stations hole.txt
expect 0 "" $anomaly flat.p.hdf hole.h5 --profile 0,0,50,0,0,3 --force # a line is in m
printf 'x y depth\n100 200 0\n' > depth.txt
expect 3 'calls column 3 "depth", where z is expected' $anomaly flat.p.hdf no.h5 --stations depth.txt
expect 0 "" $anomaly flat.p.hdf hole.h5 --stations depth.txt --no-elevations --force
printf '3\n100 200 0\n' > cut.txt
expect 3 "announces 3 stations, there are 1" $anomaly flat.p.hdf no.h5 --stations cut.txt
for bad in "356000 nan 2500" "inf 6e6 2500" "356000 6e6 2500 nan"; do
    echo "$bad" > bad.txt
    expect 3 "leave the station out" $anomaly a.p.hdf no.h5 --stations bad.txt
done
expect 3 "lie outside" $anomaly a.p.hdf no.h5 --profile 356000,6e6,357000,6e6,-4000,3
# a brick 1 km wide from 3,000 km away, below its horizon: G M d / r^3
expect 0 "" penstock-gravity-model far.hdf --body brick:-500,500,-500,500,0,100,300 --box=-500,500,-500,500,0,100 --nodes 11,11,5
expect 0 "" penstock-gravity-assemble far.hdf far.load.hdf
expect 0 "" penstock-schwarz-solve far.load.hdf far.p.hdf
expect 0 "2 of 2 stations lie outside" $anomaly far.p.hdf far.h5 --profile 3e6,0,0,0,-4e6,2 --allow stations-outside --table far.csv
expect 0 written penstock-plot gravity-profile far.h5 --output far.svg --script far.gp # NaN of the elements is no fault
grep -q "title 'exact prisms'" far.gp && ! grep -q "from the elements" far.gp || fail "what is drawn outside of the box"
awk -F, 'NR > 1 { gm = 6.6743e-11 * 1e8 * 300 * 1e5; z = 50 - $3; e = gm * z / ($1 ^ 2 + z ^ 2) ^ 1.5; d = $4 / e - 1; if (d * d > 1e-14) exit 1; ++n } END { exit n != 2 }' far.csv || { cat far.csv; fail "far stations are not those of a point mass"; }
awk -F, 'NR > 1 && $5 != "" { exit 1 }' far.csv || fail "elements outside of their box"
