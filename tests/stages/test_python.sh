# The Python package: programs, files, matrices, sums (tests/python).
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble slice-block tdbem-march probe spectrum compare plot report verify sphere-exact cluster-build hmatrix-assemble mesh-import particle-import octree-build fmm
needs_python numpy # SciPy, xarray, meshio and pyvista are used where they are
export PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1 PENSTOCK_BIN=$BUILD/bin PENSTOCK_LIBRARY=$BUILD/lib/libpenstock.so.1
unset HDF5_PLUGIN_PATH # nothing here needs it
python3 "$ROOT/tests/python/test_penstock.py" || exit 1
# The commands of a wheel: the front command, too, which a program is under another name.
run_as() { python3 -c 'import sys; from penstock import programs; sys.argv = sys.argv[1:]; programs.main()' "$@"; }
expect 0 "" run_as /somewhere/penstock mesh-surface front.hdf --divisions 4
expect 0 "good" run_as /somewhere/penstock-verify front.hdf
# The demonstration of a wheel, with fewer triangles; an aircraft that comes with holes in its mesh stops it.
expect 0 "report.html" python3 -c 'import sys; from penstock import demo; sys.exit(not demo.demonstrate("demo", 2.0))'
grep -q "soft sphere: far field and exact series differ by .* good" out && grep -q "left of it at the end.* good" out || { cat out; fail "the demonstration"; }
expect 1 "3 kinds of fault" python3 -c 'from penstock import demo; demo.demonstrate("coarse", 3.0)'
[ -s demo/report.html ] && [ -s demo/pressure.hdf.series ] || fail "the demonstration left no page"
expect 0 "edges of the aircraft" run_as /somewhere/penstock demo --help
# Each call and structure of the package is that of the headers.
nm -D --defined-only "$PENSTOCK_LIBRARY" | sed -n 's/.* T penstock_\([a-z_]*\)@@.*/\1/p' | sort > exported
python3 -c 'from penstock import _library as l; print("\n".join(sorted(l._TAKES)))' > known
[ -z "$(comm -13 exported known)" ] || fail "the library has no $(comm -13 exported known)"
