# From a density model to gravity: gravity-assemble, schwarz-solve, gravity-anomaly, pictures. The prism of the
# numerics guide of schwarz, the slab schemes against the direct solution, streaming and restart to the
# same bits, a real model where the data are.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve gravity-anomaly compare plot verify
solve=penstock-schwarz-solve

# ---- the prism of the guide on 101 x 101 x 31 nodes: top centre by elements of fourth order, exact -21.8174 ----
expect 0 "" penstock-gravity-model prism.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 101,101,31
assembled prism.hdf load.hdf
expect 0 "" $solve load.hdf whole.hdf
within "$(figure residual)" 0 1e-12 "residual of the direct solution"
expect 0 "" penstock-gravity-anomaly whole.hdf map.h5 --profile 0,0,20e3,0,0,3 --table t.csv --model prism.hdf
row() { awk -F, -v x="$1" -v c="$2" '$1 == x { print $c }' t.csv; }
within "$(row 0 5)" -21.86 -21.77 "g_z above the prism, by elements"
within "$(row 0 4)" -21.8173632 -21.8173624 "exact g_z above the prism"
within "$(row 10000 4)" -3.0432506 -3.0432496 "exact g_z beside the prism"
expect 0 "" penstock-verify map.h5 load.hdf whole.hdf prism.hdf
expect 0 written penstock-plot gravity-map map.h5 --output map.png
expect 0 written penstock-plot gravity-profile map.h5 --output profile.png
# the matrix of its elements: entries in closed form (kernels/schwarz/grid.h), those that are drawn
expect 0 written penstock-plot sparsity load.hdf --output pattern.svg --script pattern.gp
grep -q "316231 rows, 7429127 entries .*bandwidth 3163'" pattern.gp || fail "figures of the elements' matrix"
within "$(awk '/^\$S/ { on = 1; next } /^END/ { on = 0 }
    function begin(y) { return int((y * 316231 + 599) / 600) }
    on { for (j = 1; j <= NF; ++j) if ($j != "NaN") sum += $j * (begin(y + 1) - begin(y)); ++y }
    END { print sum / 7429127 }' pattern.gp)" .99999 1.00001 "entries drawn"
expect 2 "in cells" penstock-plot sparsity prism.hdf --output no.png

# Galerkin's masses: -22.924, as the guide's table
expect 0 "" penstock-gravity-assemble prism.hdf galerkin.hdf --mass galerkin
expect 0 "" $solve galerkin.hdf gp.hdf
expect 0 "" penstock-gravity-anomaly gp.hdf g.h5 --profile 0,0,20e3,0,0,3 --table t.csv
within "$(row 0 5)" -23.15 -22.69 "g_z above the prism, Galerkin's masses"

# ---- a ball of four cells: densities in halves of them; g_z along a radius within .5 % (L2) ----
expect 0 "" penstock-gravity-model ball.hdf --unit km --body ball:0,0,5,2,-300 --nodes 201,201,91 --box -50,50,-50,50,0,15
expect 0 "" penstock-gravity-assemble ball.hdf bl.hdf --coarsen 2,2,1
expect 0 "" $solve bl.hdf bp.hdf
expect 0 "" penstock-gravity-anomaly bp.hdf ball.h5 --model ball.hdf --profile 0,0,20e3,0,0,21 --table ball.csv
within "$(awk -F, 'NR > 1 { e = -2.683895 * (1 + ($1 / 5000) ^ 2) ^ -1.5; s += e * e; d += ($5 - e) ^ 2 } END { print sqrt(d / s) }' ball.csv)" 0 .005 "g_z of a ball"
expect 2 "are no multiple" penstock-gravity-assemble ball.hdf no.hdf --coarsen 3,1,1
expect 2 "three numbers of cells" penstock-gravity-assemble ball.hdf no.hdf --coarsen 2,0,1
expect 3 "is not the model that bp.hdf belongs to" penstock-gravity-anomaly bp.hdf no.h5 --model prism.hdf

# ---- zeros on the boundary double it: the benchmark mode ----
expect 0 "" penstock-gravity-assemble prism.hdf zero.hdf --boundary zero --mass galerkin
expect 0 "" $solve zero.hdf zerop.hdf
expect 0 "" penstock-gravity-anomaly zerop.hdf zero.h5 --profile 0,0,20e3,0,0,3 --table t.csv
within "$(row 0 5)" -44.2 -43.2 "g_z with zeros on the boundary"

# ---- benchmark matrix 36 x 36 x 38: CG 153, CR 142, BiCGStab within 20 %; the direct solution agrees ----
expect 0 "" penstock-gravity-model box.hdf --body ball:0,0,7e3,3e3,100 --nodes 36,36,38
expect 0 "" penstock-gravity-assemble box.hdf one.hdf --source one --boundary zero --matrix a.mtx --face-mass m.mtx
[ "$(figure entries)" = 1067632 ] || fail "$(figure entries) entries"
[ "$(sed -n 3p a.mtx)" = "49248 49248 558440" ] || fail "a.mtx: $(sed -n 3p a.mtx)"
for m in "cg 151 155" "bicgcr 141 143" "bicgstab 78 118"; do
    set -- $m
    expect 0 "" $solve one.hdf $1.hdf --method $1
    within "$(figure iterations)" $2 $3 "iterations of $1"
done

# residuals of BiCGStab rise: where it reaches its limit there, a better iterate is kept
worse=0
for limit in 106 107 108 109 110; do
    expect 1 "The best iterate, of residual" $solve one.hdf stab.hdf --method bicgstab --tolerance 1e-10 --limit $limit --checkpoint-every 0 --force
    best=$(sed -n 's/.*of residual \([^,]*\),.*/\1/p' err) last=$(sed -n 's/.*residual is \([^ ]*\) after.*/\1/p' err)
    awk -v b=$best -v l=$last 'BEGIN { exit !(b <= l) }' || fail "the iterate kept has the residual $best, the last one $last"
    [ $best = $last ] || worse=$((worse + 1))
done
[ $worse -gt 0 ] || echo "BiCGStab's residuals did not rise: keeping a better iterate not tried"

# ---- slabs: interface iterations, the same answer as the whole ----
for m in "gmres 8 " "sweeps 8 " "fixed-point 14 " "gmres 8 --kind oo2" "fixed-point 10 --coarse 0.5"; do
    set -- $m
    expect 0 "" $solve load.hdf slabs.hdf --slabs 5 --method $1 ${3:-} ${4:-} --tolerance 1e-9 --force
    within "$(figure iterations)" 1 $2 "iterations of $m"
    within "$(figure residual)" 0 1e-8 "residual of the whole with $m"
done
expect 0 "" $solve load.hdf slabs.hdf --slabs 5 --method sweeps --tolerance 1e-12 --force
h5diff -d 1e-8 whole.hdf slabs.hdf /VTKHDF/PointData/potential || fail "slabs differ from the whole"
# streamed and in memory, whatever the threads: the same bits
expect 0 "" $solve load.hdf stream.hdf --slabs 5 --method sweeps --tolerance 1e-12 --streamed --threads 1
same slabs.hdf stream.hdf
expect 0 "streamed" $solve load.hdf little.hdf --slabs 20 --kind oo2 --host-memory "$(least $solve load.hdf little.hdf --slabs 20 --kind oo2)"
within "$(figure residual)" 0 1e-5 "residual with little memory"
expect 4 "more --slabs help" $solve load.hdf no.hdf --slabs 2 --host-memory 2M
# stopped in the middle, and again: the same bits
expect 75 "stopped after" $solve load.hdf again.hdf --slabs 5 --method sweeps --tolerance 1e-12 --streamed --stop-after 0.001
[ ! -e again.hdf ] || fail "a stopped run left an output"
expect 0 "" $solve load.hdf again.hdf --slabs 5 --method sweeps --tolerance 1e-12
same slabs.hdf again.hdf
[ -z "$(ls again.hdf.state* 2>/dev/null)" ] || fail "checkpoints are left behind"
expect 1 "more --limit" $solve load.hdf few.hdf --slabs 5 --method sweeps --limit 2
expect 2 'had slabs "5", now it is "4"' $solve load.hdf few.hdf --slabs 4 --method sweeps
expect 0 "continuing after iteration 2" $solve load.hdf few.hdf --slabs 5 --method sweeps

# ---- refusals ----
expect 2 "needs --slabs 2" $solve load.hdf no.hdf --method gmres
expect 2 "is for the whole box" $solve load.hdf no.hdf --slabs 2 --method cg
expect 2 "at most as many slabs" $solve load.hdf no.hdf --slabs 101
expect 2 "P1,Q1,P2,Q2" $solve load.hdf no.hdf --slabs 2 --coefficients 1,2,3
expect 2 "none negative" $solve load.hdf no.hdf --slabs 2 --coefficients 1,-2,1,1 # indefinite
expect 2 "none negative" $solve load.hdf no.hdf --slabs 2 --coefficients 0,0,0,0 # singular
expect 2 "not with sweeps" $solve load.hdf no.hdf --slabs 2 --method sweeps --coarse 1
expect 3 'wanted is "load"' $solve prism.hdf no.hdf
expect 3 'wanted is "density"' penstock-gravity-assemble load.hdf no.hdf
expect 3 "lie outside" penstock-gravity-anomaly whole.hdf no.h5 --profile 0,0,1e6,0,0,3
expect 1 "more --limit" $solve load.hdf no.hdf --slabs 5 --method fixed-point --limit 1 --checkpoint-every 0
# Slabs solved to less than their interfaces: the whole system tells, and nothing is kept.
expect 5 "nothing is kept; lower --inner-tolerance" $solve load.hdf no.hdf --slabs 5 --inner cg --inner-tolerance .1

# ---- Laguna del Maule: 191 stations ----
data=$SHARED/data/gravity
if [ -e "$data/LdM_grav_obs.grv" ]; then
    expect 0 "" penstock-gravity-model l.hdf --ubc-mesh "$data/LdM_ubc_mesh.msh" --ubc-model "$data/LdM_density_model.mod.gz"
    expect 0 "" penstock-gravity-assemble l.hdf ll.hdf
    expect 0 "" $solve ll.hdf lp.hdf
    expect 0 "" penstock-gravity-anomaly lp.hdf l.h5 --stations "$data/LdM_grav_obs.grv"
    of() { awk -v s="$1" -v n="$2" '$1 == s { on = 1 } on && $1 == n { print $2; exit }' out; }
    within "$(of elements_against_observed rms)" 0 .3 "rms at the stations, by elements"
    within "$(of elements_against_observed correlation)" .999 1 "correlation at the stations"
    within "$(of exact_against_observed rms)" 0 .08 "rms at the stations"
else echo "no $data: real stations not tried"; fi
