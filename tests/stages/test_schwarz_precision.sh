# penstock-schwarz-solve --precision mixed: P-CG with vectors in fp32 and residuals in fp64 gives the
# potential and the iterations of fp64, the residual that is asked for, also where fp32 alone could
# not; it keeps its last iterate at the limit and is refused where it does not apply.
. "$ROOT/tests/stages/lib.sh"
needs gravity-model gravity-assemble schwarz-solve compare
penstock-gravity-model model.hdf --preset chx-1 --nodes 41,37,31 > /dev/null || fail "model"
penstock-gravity-assemble model.hdf load.hdf --boundary point-mass > out || fail "load"
solve="penstock-schwarz-solve load.hdf"
expect 0 "" $solve wide.hdf --device cpu --method cg --tolerance 1e-10
wide=$(figure iterations)
expect 0 "" $solve narrow.hdf --device cpu --method cg --tolerance 1e-10 --precision mixed
within "$(figure iterations)" $((wide - 2)) $((wide + wide / 20 + 2)) "iterations with vectors in fp32"
within "$(figure residual)" 0 1.5e-10 "residual"
expect 0 "" penstock-compare narrow.hdf wide.hdf --tolerance 1e-8 --dataset '*potential' --no-attributes
expect 1 "iterate, of residual" $solve short.hdf --device cpu --method cg --precision mixed --limit 20
[ -e short.unconverged.hdf ] || [ -e short.hdf.unconverged.hdf ] || fail "no last iterate"
expect 2 "--method cg" $solve x.hdf --method bicgstab --precision mixed
expect 2 "--method cg" $solve x.hdf --slabs 4 --precision mixed
