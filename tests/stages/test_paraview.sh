# ParaView opens mesh files, snapshots and their series as they are (where pvpython is installed).
. "$ROOT/tests/stages/lib.sh"
needs mesh-import
command -v pvpython > /dev/null || { echo "pvpython is not installed"; exit 77; }
geometry ball 'Sphere(1) = {0, 0, 0, 0.5};'
expect 0 "" penstock-mesh-import ball.geo surface.hdf --size 0.2 --kind surface
expect 0 "" penstock-mesh-import ball.geo volume.hdf --size 0.2 --kind volume
triangles=$(h5ls surface.hdf/VTKHDF/Types | sed 's/.*{\([0-9]*\)}.*/\1/')
tetrahedra=$(h5ls volume.hdf/VTKHDF/Types | sed 's/.*{\([0-9]*\)}.*/\1/')
"$BUILD/tests-programs/field_sample" surface.hdf snap || fail "field_sample"
cat > look.py <<PY
from paraview.simple import *
import os
def look(name, cells):
    reader = OpenDataFile(os.path.abspath(name))
    reader.UpdatePipeline()
    information = reader.GetDataInformation()
    assert information.GetNumberOfCells() == cells, (name, information.GetNumberOfCells(), cells)
    assert abs(information.GetBounds()[1] - 0.5) < 1e-6, information.GetBounds()
    return reader
look("surface.hdf", $triangles)
look("volume.hdf", $tetrahedra)
look("snap.000001.hdf", $triangles)
series = look("snap.hdf.series", $triangles)
assert [round(t, 12) for t in series.TimestepValues] == [0, 0.1, 0.4], series.TimestepValues
for k, t in enumerate(series.TimestepValues):
    series.UpdatePipeline(t)
    assert series.CellData["pressure"].GetRange() == (1000 * k, 1000 * k + $triangles - 1), k
    assert series.PointData["position"].GetNumberOfComponents() == 3
print("ParaView agrees")
PY
timeout 120 pvpython --force-offscreen-rendering look.py > look.log 2>&1
grep -q "ParaView agrees" look.log || { cat look.log; fail "ParaView sees something else"; }
