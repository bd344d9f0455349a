# Files that users open with other programs are read by stock HDF5, which knows no plugin of ours; what
# only our programs read is not, and says why.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface mesh-box prism-field particle-import octree-build fmm verify gravity-model schwarz-solve gravity-anomaly sphere-exact \
    cluster-build hbem-solve dgtd-sar slice-assemble tdbem-march
command -v h5dump > /dev/null || { echo "h5dump is not installed"; exit 77; }
export HDF5_PLUGIN_PATH=/nowhere

expect 0 "" penstock-mesh-surface hull.hdf --shape sphere --edge .1
expect 0 "" penstock-mesh-box box.hdf --size 1,1,1 --cells 8
echo "-1 1 -2 2 -3 3 1000" > prism.txt
awk 'BEGIN { for (i = 0; i < 3000; ++i) print i % 60, int(i / 60), 10 + i % 7 }' > stations.txt
expect 0 "" penstock-prism-field prism.txt stations.txt prism.h5 --field gradients
awk 'BEGIN { srand(3); for (i = 0; i < 3000; ++i) print rand(), rand(), rand(), rand() - .5 }' > particles.txt
expect 0 "" penstock-particle-import particles.txt particles.h5
expect 0 "" penstock-octree-build particles.h5 octree.h5
HDF5_PLUGIN_PATH=$BUILD/plugin expect 0 "" penstock-fmm octree.h5 fmm.h5
for file in hull.hdf box.hdf prism.h5 fmm.h5; do
    h5dump "$file" > dump 2>&1 || { tail -5 dump; fail "$file is not read without a plugin"; }
    grep -q "unable to print" dump && fail "$file: h5dump leaves something out"
    [ "$(wc -l < dump)" -gt 200 ] || fail "$file: h5dump shows too little"
    expect 0 good penstock-verify "$file"
done
# That costs no more than 1.15 times what Zstandard would take (docs/formats.md has more).
python_has h5py && { HDF5_PLUGIN_PATH=$BUILD/plugin python3 "$ROOT/tests/support/against_zstd.py" --most 1.15 hull.hdf prism.h5 fmm.h5 || fail "sizes"; }
# Coordinates: dimension scales that h5py follows; of them xarray and netCDF make theirs. The map is an image for VTK.
expect 0 "" penstock-gravity-model body.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 9,11,7
expect 0 "" penstock-gravity-assemble body.hdf load.hdf
expect 0 "" penstock-schwarz-solve load.hdf potential.hdf
expect 0 "" penstock-gravity-anomaly potential.hdf map.h5 --model body.hdf
expect 0 "" penstock-sphere-exact far.h5 --quantity hard-far --radius .1 --speed 343 --emitter plane:dir=0,0,1:width=1 --angles 0,90,180 --frequencies 100,200
for file in map.h5 far.h5 potential.hdf prism.h5; do expect 0 good penstock-verify $file; done
python_has h5py && { python3 - << 'PY' || fail "dimension scales"; }
import h5py
import numpy as np
with h5py.File("map.h5") as f:
    g = f["map/g_z"]
    assert [list(d.keys()) for d in g.dims] == [["x"], ["y"]], [list(d.keys()) for d in g.dims]
    x, y = g.dims[0][0][...], g.dims[1][0][...]
    assert g.shape == (9, 11) == (len(x), len(y)) and np.allclose(np.diff(x), f.attrs["spacing"][0]) and x[0] == f.attrs["origin"][0]
    assert f["map/y"].attrs["standard_name"] == b"projection_y_coordinate" and f["map/x"].attrs["units"] == b"m"
    assert (f["VTKHDF/PointData/g_z"][:, :, 0] == g[...]).all() and f["VTKHDF"].attrs["Type"] == b"ImageData"
with h5py.File("potential.hdf") as f:
    u = f["VTKHDF/PointData/potential"]
    assert [list(d.keys()) for d in u.dims] == [["x"], ["y"], ["z"]] and u.shape == (9, 11, 7)
    for d in range(3):
        expected = f.attrs["origin"][d] + np.arange(u.shape[d]) * f.attrs["spacing"][d]
        assert (u.dims[d][0][...] == expected).all(), "xyz"[d]
    assert f["z"].attrs["positive"] == b"down" and f["z"].attrs["axis"] == b"Z" and f.attrs["Conventions"] == b"CF-1.8"
with h5py.File("prism.h5") as f:
    assert [list(d.keys()) for d in f["gradients"].dims] == [["station"], ["derivative"]]
    assert [list(d.keys()) for d in f["attraction"].dims] == [["station"], ["direction"]] == [list(d.keys()) for d in f["place"].dims]
    assert (f["potential"].dims[0]["station"][...] == np.arange(3000)).all()
with h5py.File("far.h5") as f:
    assert [list(d.keys()) for d in f["trace/real"].dims] == [["axis"], ["channel"]] == [list(d.keys()) for d in f["trace/imaginary"].dims]
    assert (f["trace/real"].dims[0]["axis"][...] == [100, 200]).all() and list(f["trace/places"].dims[0].keys()) == ["channel"]
try:
    import xarray
    assert list(xarray.open_dataset("map.h5", group="map", engine="h5netcdf").g_z.dims) == ["x", "y"]
    assert xarray.open_dataset("far.h5", group="trace", engine="h5netcdf")["real"].sel(axis=200).shape == (3,)
    u = xarray.open_dataset("potential.hdf", group="VTKHDF/PointData", engine="h5netcdf").potential
    with h5py.File("potential.hdf") as f:
        origin, spacing = f.attrs["origin"], f.attrs["spacing"]
        assert u.sel(x=origin[0] + 2 * spacing[0], y=origin[1], z=origin[2] + 6 * spacing[2], method="nearest") == f["VTKHDF/PointData/potential"][2, 0, 6]
    prism = xarray.open_dataset("prism.h5", engine="h5netcdf")
    assert prism.attraction.dims == ("station", "direction") and prism.gradients.units == "Eotvos"
    fmm = xarray.open_dataset("fmm.h5", engine="h5netcdf")
    assert fmm.potential0.dims == ("target",) and fmm.gradient0.dims == ("target", "direction")
    far = xarray.open_dataset("far.h5", group="trace", engine="h5netcdf")
    assert "places" in far["real"].coords and "place" in prism.attraction.coords
except (ImportError, ValueError):  # without h5netcdf
    pass
try:
    import vtk
    reader = vtk.vtkHDFReader()
    reader.SetFileName("map.h5")
    reader.Update()
    with h5py.File("map.h5") as f:
        bounds, x, y, g = reader.GetOutput().GetBounds(), f["map/x"][...], f["map/y"][...], f["map/g_z"][...]
    assert np.allclose(bounds[:4], [x[0], x[-1], y[0], y[-1]]) and np.allclose(reader.GetOutput().GetPointData().GetArray(0).GetRange(), [g.min(), g.max()])
except ImportError:
    pass
PY
# ---- every array of every kind by its dimensions: sums of every shape, fields on cells and points, SAR, solutions, histories ----
expect 0 "" penstock-fmm octree.h5 second.h5 --hessian
sample=$BUILD/tests-programs
"$sample/phasors_sample" wave 2 4 cube.hdf phasors.h5 || fail "phasors"
expect 0 "" penstock-dgtd-sar phasors.h5 cube.hdf sar.hdf --grid 4e-3 --cut='-.02,-.02,-.01;.04,0,0;0,.04,0;5x5' --cut-output cut.h5
expect 0 "" penstock-mesh-surface ball.hdf --shape sphere --radius .1 --divisions 3
"$sample/field_sample" ball.hdf snap || fail "snapshots"
expect 0 "" penstock-cluster-build ball.hdf clusters.h5
expect 0 "" penstock-hbem-solve ball.hdf clusters.h5 solution.hdf --wavenumber 5 --direction 0,0,1
expect 0 "" penstock-slice-assemble ball.hdf slices.h5 --formulation sound-hard --courant 1 --speed 343
expect 0 "" penstock-tdbem-march slices.h5 ball.hdf run.h5 --steps 20 --emitter plane:dir=0,0,1:width=1e-3
for file in second.h5 phasors.h5 sar.hdf cut.h5 snap.000001.hdf solution.hdf run.h5; do expect 0 good penstock-verify $file; done
needs_python h5py
python3 "$ROOT/tests/support/opens_anywhere.py" hull.hdf box.hdf prism.h5 fmm.h5 second.h5 map.h5 far.h5 potential.hdf cube.hdf phasors.h5 sar.hdf \
    cut.h5 snap.000001.hdf solution.hdf run.h5 > list || { cat list; fail "an array whose dimensions are not known"; }
[ "$(wc -l < list)" = 15 ] || fail "not all files were looked at"
h5dump octree.h5 > dump 2>&1 && fail "an octree is stored as what users open"
exit 0
