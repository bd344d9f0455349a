# Subdomains of any shape: gravity-assemble --subdomains by Scotch and as slabs, schwarz-solve --subdomains
# against the direct solution, directly and by Krylov methods, on several ranks, continued; refusals.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve compare verify
near() { penstock-compare "$1" whole.hdf --tolerance "$2" --dataset '*potential' --no-attributes > compared || { cat compared; fail "$1 is not the direct solution"; }; }
solve="penstock-schwarz-solve load.hdf"
penstock-gravity-model model.hdf --preset chx-1 --nodes 33,29,11 > /dev/null || fail "model"
assembled model.hdf load.hdf --subdomains slabs.h5 --partition slabs --parts 5
[ "$(figure interfaces)" = 4 ] && [ "$(figure cross_points)" = 0 ] || fail "interfaces of slabs"
expect 0 "" $solve whole.hdf
direct=direct
penstock-schwarz-solve load.hdf --subdomains slabs.h5 > out 2>&1 || { grep -q CHOLMOD out && direct=cg; }

# ---- slabs by their matrices take the iterations of slabs by sine modes ----
for way in "gmres 1e-9" "fixed-point 1e-9"; do
    set -- $way
    expect 0 "" $solve sines.hdf --slabs 5 --method $1 --tolerance $2 --force
    iterations=$(figure iterations)
    expect 0 "" $solve rows.hdf --subdomains slabs.h5 --inner $direct --method $1 --tolerance $2 --force
    [ "$(figure iterations)" = "$iterations" ] || fail "$1: $(figure iterations) iterations by rows, $iterations by sine modes"
    near rows.hdf 1e-8
done
expect 0 "" penstock-verify slabs.h5

# ---- shapes by Scotch, with points where three and more meet ----
penstock-gravity-assemble model.hdf load.hdf --subdomains s.h5 --parts 9 > out 2> err || { grep -q "without Scotch" err && { echo "built without Scotch"; exit 0; }; cat err; fail "subdomains"; }
within "$(figure cross_points)" 1 100000 "points where three and more meet"
within "$(figure imbalance)" 1 1.1 "imbalance"
expect 0 "" $solve gmres.hdf --subdomains s.h5 --inner $direct --tolerance 1e-11
within "$(figure iterations)" 5 40 "iterations of GMRES"
near gmres.hdf 1e-9
# a coarse space: fewer iterations, the same answer; conditions of zeroth order gain most
expect 0 "" $solve rough.hdf --subdomains s.h5 --inner $direct --kind oo0 --tolerance 1e-11
rough=$(figure iterations)
expect 0 "" $solve coarse.hdf --subdomains s.h5 --inner $direct --kind oo0 --tolerance 1e-11 --coarse 1
within "$(figure iterations)" 5 $((rough - 1)) "iterations with a coarse space, $rough without"
near coarse.hdf 1e-9
expect 1 "more --limit" $solve again.hdf --subdomains s.h5 --inner $direct --kind oo0 --tolerance 1e-11 --coarse 1 --limit 7 --checkpoint-every 1steps
expect 0 "continuing after iteration 7" $solve again.hdf --subdomains s.h5 --inner $direct --kind oo0 --tolerance 1e-11 --coarse 1
same coarse.hdf again.hdf
rm again.hdf
expect 0 "" $solve fixed.hdf --subdomains s.h5 --inner $direct --method fixed-point --kind oo2 --tolerance 1e-9
within "$(figure iterations)" 5 120 "iterations of the fixed point"
near fixed.hdf 1e-7
for inner in cg bicgcr; do
    expect 0 "" $solve inner.hdf --subdomains s.h5 --inner $inner --tolerance 1e-6 --force
    within "$(figure inner_iterations)" 100 100000 "iterations in the subdomains"
    near inner.hdf 1e-5
done
expect 1 "inner.unconverged.hdf" $solve inner.hdf --subdomains s.h5 --inner $direct --limit 4 --checkpoint-every 1steps --tolerance 1e-11 --force
expect 0 "continuing after iteration 4" $solve inner.hdf --subdomains s.h5 --inner $direct --tolerance 1e-11 --restart --force
same gmres.hdf inner.hdf
expect 0 "" $solve warm.hdf --subdomains s.h5 --inner cg --method fixed-point --tolerance 1e-4
expect 1 "more --limit" $solve again.hdf --subdomains s.h5 --inner cg --method fixed-point --tolerance 1e-4 --limit 3
expect 0 "continuing after iteration 3" $solve again.hdf --subdomains s.h5 --inner cg --method fixed-point --tolerance 1e-4 --restart
same warm.hdf again.hdf
if command -v mpirun > /dev/null && mpirun -n 2 "$BUILD/tests-programs/comm_check" 2 > /dev/null 2>&1; then
    for way in "gmres.hdf 1e-11" "coarse.hdf 1e-11 --kind oo0 --coarse 1" "fixed.hdf 1e-9 --method fixed-point --kind oo2"; do
        set -- $way
        expect 0 "" mpirun -n 3 $solve ranks.hdf --subdomains s.h5 --inner $direct --threads 1 --tolerance "${@:2}" --force
        same $1 ranks.hdf
    done
    expect 2 "need at least as many" mpirun -n 6 $solve no.hdf --subdomains slabs.h5 --inner cg
fi

# ---- refusals ----
penstock-gravity-model other.hdf --preset chx-1 --nodes 29,29,11 > /dev/null || fail "model"
penstock-gravity-assemble other.hdf other_load.hdf > /dev/null || fail "load"
expect 3 "assemble both from one model" penstock-schwarz-solve other_load.hdf no.hdf --subdomains s.h5 --inner cg
expect 2 "give one of them" $solve no.hdf --subdomains s.h5 --slabs 3
expect 2 "goes with gmres" $solve no.hdf --subdomains s.h5 --coarse 1 --method fixed-point
expect 3 "" $solve no.hdf --subdomains load.hdf
expect 2 "at most as many slabs" penstock-gravity-assemble model.hdf no.hdf --subdomains no.h5 --partition slabs --parts 33
[ ! -e no.hdf ] && [ ! -e no.h5 ] && [ -z "$(find . -name '*.tmp')" ] || fail "something was left behind"
