# gravity: g_z of penstock-gravity-anomaly against closed forms and against other sums, schwarz-solve against the direct solution;
# rough models, wrong models, wrong stations, flags of air.
. "$ROOT/tests/trust/lib.sh"
if ! command -v penstock-gravity-anomaly > /dev/null; then exit 0; fi
cell() { awk -F, -v r="$1" -v c="$2" 'NR == r + 1 { print $c }' t.csv; }
off() { awk -v a="$1" -v b="$2" 'BEGIN { d = a / b - 1; print d < 0 ? -d : d }'; }
# relative L2 of the columns g_z and elements (5: of the second against the first), or of g_z against the file exact.txt
against() { awk -F, -v c="$1" 'FILENAME == "exact.txt" { e[++n] = $1; next } FNR > 1 { b = n ? e[FNR - 1] : $4; d = $c - b; dd += d * d; bb += b * b } END { print sqrt(dd / bb) }' ${2:-} t.csv; }
chain() { # NAME MODEL-OPTIONS...
    local name=$1
    shift
    run penstock-gravity-model $name.hdf "$@" && run penstock-gravity-assemble $name.hdf $name.load.hdf &&
        run penstock-schwarz-solve $name.load.hdf $name.p.hdf
}
anomaly() { rm -f t.csv; run penstock-gravity-anomaly "$@" --table t.csv; }

# clean: the prism of Nagy's form (values of the numerics guide), a ball, a slab
chain prism --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 101,101,31
anomaly prism.p.hdf prism.h5 --profile 0,0,20e3,0,0,3
row gravity "prism, 316,231 nodes" clean "g_z beside it, exact" 1e-6 "$(off "$(cell 2 4)" -3.043250)"
row gravity "prism, 316,231 nodes" clean "g_z above it, elements" 3e-3 "$(off "$(cell 1 5)" -21.817363)"
run penstock-schwarz-solve prism.load.hdf slabs.hdf --slabs 8 --tolerance 1e-9
row schwarz "prism, 8 slabs by GMRES" clean "potential against the direct one" 1e-6 \
    "$(penstock-compare slabs.hdf prism.p.hdf --tolerance 1 --dataset '*potential' --no-attributes --json 2> /dev/null | sed -n 's/.*"relative_l2": *\([-0-9.e+]*\).*/\1/p')"
chain ball --unit km --body ball:0,0,5,2,-300 --nodes 101,101,46 --box -50,50,-50,50,0,15
anomaly ball.p.hdf ball.h5 --profile 0,0,20e3,0,0,21
awk 'BEGIN { for (i = 0; i < 21; ++i) print -2.683895 * (1 + (i / 5) ^ 2) ^ -1.5 }' > exact.txt
row gravity "ball of four cells a diameter" clean "g_z along a radius, relative L2" 2e-2 "$(against 4 exact.txt)"
chain slab --unit km --body brick:-5e3,5e3,-5e3,5e3,1,2,100 --nodes 41,41,9 --box=-5e3,5e3,-5e3,5e3,0,4
anomaly slab.p.hdf slab.h5 --profile 0,0,1,0,0,2
row gravity "slab 10,000 km wide" clean "g_z above its middle, exact" 1e-3 "$(off "$(cell 1 4)" 4.19359)"

# ugly: a rough model in UTM coordinates, stations on corners, edges and inside; the same with very flat cells
rough="awk -f $ROOT/tests/support/rough_model.awk -v seed=3"
$rough -v nx=27 -v ny=27 -v nz=27 -v x0=355000 -v y0=5999000 -v z0=-3000 -v hx=250 -v hy=300 -v hz=40 > rough.txt
chain rough --bricks rough.txt --box=355000,361750,5999000,6007100,-3000,-1920 --nodes 28,28,28
awk 'BEGIN { for (i = 0; i <= 27; i += 3) for (j = 0; j <= 27; j += 3) print 355000 + 250 * i, 5999000 + 300 * j, 3000 }' > nodes.txt
anomaly rough.p.hdf rough.h5 --stations nodes.txt
cut -d, -f4 t.csv | sed 1d > sums.txt
h5dump -d /map/g_z -m %.12g -w 1 -y rough.h5 | sed -n '/DATA {/,/}/p' | tr -d ' ,' | grep -E '^-?[0-9]' |
    awk '{ i = int((NR - 1) / 28); j = (NR - 1) % 28 } i % 3 == 0 && j % 3 == 0' > map.txt
row gravity "rough, 19,683 cells, UTM" ugly "map against sums of prisms, L2" 1e-6 \
    "$(paste map.txt sums.txt | awk '{ d = $1 - $2; dd += d * d; ss += $2 * $2; ++n } END { print n == 100 ? sqrt(dd / ss) : "none" }')"
# the same cells as a brick model of twice the nodes: densities do not change, nor may g_z
chain fine --bricks rough.txt --box=355000,361750,5999000,6007100,-3000,-1920 --nodes 55,55,55
anomaly fine.p.hdf fine.h5 --stations nodes.txt
cp sums.txt exact.txt
row gravity "the same in cells of an eighth" ugly "g_z at stations, relative L2" 1e-6 "$(against 4 exact.txt)"
$rough -v nx=17 -v ny=17 -v nz=5 -v x0=0 -v y0=0 -v z0=0 -v hx=10000 -v hy=10000 -v hz=1 > flat.txt
chain flat --bricks flat.txt --box=0,170000,0,170000,0,5 --nodes 18,18,6
# 60 Mm away the model is a point mass: G M d / r^3, and the mass is the sum over the table
anomaly flat.p.hdf flat.h5 --profile 6e7,85000,6.1e7,85000,-6e7,2 --allow stations-outside
row gravity "cells 10,000 times as wide as high" ugly "g_z 85,000 km away" 2e-3 \
    "$(off "$(cell 1 4)" "$(awk '{ m += ($2 - $1) * ($4 - $3) * ($6 - $5) * $7 } END { x = 6e7 - 85000; z = 6e7; printf "%.12g", 6.6743e-11 * m * z / (x * x + z * z) ^ 1.5 * 1e5 }' flat.txt)")"

# refused
refused gravity "another model of the same grid" "model of the potential" 3 "is not the model" penstock-gravity-anomaly rough.p.hdf no.h5 --model ball.hdf
printf '%s\n' "-70.5 -36.1 2000" "-70.45 -36.05 2100" > degrees.txt
refused gravity "stations in degrees" "unit of stations" 3 "are they in degrees?" penstock-gravity-anomaly rough.p.hdf no.h5 --stations degrees.txt
refused gravity "ball half outside of the box" "mass of the model" 3 "lies outside of the box" penstock-gravity-model no.hdf --unit km --body ball:125,0,5,2,100
printf '1 1 4\n0 0 0\n10\n10\n4*5\n' > f.msh
printf -- '-100\n-100\n-20\n5\n' > f.mod
refused gravity "UBC flag that could be a density" "air or kg/m3" 3 "say --air -100" penstock-gravity-model no.hdf --ubc-mesh f.msh --ubc-model f.mod --nodes 3,3,5 --scale 1

# Laguna del Maule: 191 stations, model of 190,440 bricks
data=$SHARED/data/gravity
if [ -e "$data/LdM_grav_obs.grv" ]; then
    chain l --ubc-mesh "$data/LdM_ubc_mesh.msh" --ubc-model "$data/LdM_density_model.mod.gz"
    anomaly l.p.hdf l.h5 --stations "$data/LdM_grav_obs.grv"
    row gravity "Laguna del Maule, 191 stations" ugly "against observed, rms in mGal" .08 \
        "$(awk -F, 'NR > 1 { d = $4 - $6; s += d * d; ++n } END { print sqrt(s / n) }' t.csv)"
else skipped gravity "Laguna del Maule" "no $data"; fi
