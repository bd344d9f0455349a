# The notebooks, which are tutorials, run from their first cell to their last; their own checks fail the test.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble tdbem-march probe sphere-exact cluster-build hmatrix-assemble particle-import octree-build fmm
needs_python numpy scipy nbclient ipykernel
export PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1 PENSTOCK_BIN=$BUILD/bin PENSTOCK_LIBRARY=$BUILD/lib/libpenstock.so.1
python3 "$ROOT/tests/python/run_notebooks.py" "$ROOT"/python/notebooks/*.ipynb 2> err || { grep -v WARNING err | tail -n 30; fail "a notebook"; }
exit 0
