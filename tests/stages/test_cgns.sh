# penstock-incident --panels FILE.cgns: the loads are those of the same panels as text, whichever way round its corners are; what
# is refused.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/march.bash"
needs_python h5py numpy
set -e
sphere 1 12.566370614359172
python3 "$ROOT/tests/support/panels.py" sphere1.off 4 1.5 1000 4 14 .3 106 0 0 rest
# its triangles, about the source
awk 'NR == 2 { n = $1 } NR > 2 && NR <= n + 2 { $0 = sprintf("%.17g %.17g %.17g", $1 * 1.5, $2 * 1.5, $3 * 1.5 + 4) } 1' sphere1.off > rest.off
for how in plain turned; do
    python3 "$ROOT/tests/support/cgns.py" rest $how.cgns $how
done
make="penstock-incident sphere1.h5 OUT --dt .3 --speed 1 --steps 96 -q --formulation sound-soft-s --density 1000 --panels"
${make/OUT/text.h5} plain.cgns.csv:pressure=rest-p.csv:fluid=rest-u.csv > /dev/null
for how in plain turned; do
    ${make/OUT/$how.h5} $how.cgns:ambient=1e5 > /dev/null
    penstock-compare text.h5 $how.h5 --dataset /loads --tolerance 1e-6 --no-attributes > /dev/null || fail "$how"
done
# a cube of quadrilaterals, with pressures at its vertices
cp plain.cgns cube.cgns
python3 - << 'P'
import h5py
import numpy as np

f = h5py.File("cube.cgns", "a")
z = f["Base/Zone"]


def put(where, data):
    del where[" data"]
    where.create_dataset(" data", data=data)


x = np.array([[i & 1, i >> 1 & 1, i >> 2 & 1] for i in range(8)], float) * .4 + (0, 0, 4)
quads = np.array([[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]])
put(z, np.array([[8], [6], [0]], "i4"))
for k, axis in enumerate("XYZ"):
    put(z["GridCoordinates/Coordinate" + axis], x[:, k].copy())
del z["Second"]
put(z["First"], np.array([7, 0], "i4"))
put(z["First/ElementRange"], np.array([1, 6], "i4"))
put(z["First/ElementConnectivity"], (quads.ravel() + 1).astype("i4"))
times = f["Base/Times/TimeValues/ data"][:]
shares = np.arange(8) / 10
rows = np.exp(-((times - 14) / 4)**2)[:, None] * shares
for n, row in enumerate(rows):
    for axis in "XYZ":
        del z[f"Flow{n}/Velocity{axis}"]
    put(z[f"Flow{n}/GridLocation"], np.frombuffer(b"Vertex", "i1"))
    put(z[f"Flow{n}/Pressure"], row)
middles = x[quads].mean(1)
np.savetxt("cube.csv", np.c_[middles, (middles - (.2, .2, 4.2)) / .2, np.full(6, .16)], delimiter=",", fmt="%.17g")
np.savetxt("cube-p.csv", np.c_[times, rows[:, quads].mean(2)], delimiter=",", fmt="%.17g")
P
${make/OUT/cube-text.h5} cube.csv:pressure=cube-p.csv > /dev/null
${make/OUT/cube.h5} cube.cgns > /dev/null
penstock-compare cube-text.h5 cube.h5 --dataset /loads --tolerance 1e-9 --no-attributes > /dev/null || fail "a cube"

bad=${make/OUT/no.h5}
fails 3 "fade it in" $bad plain.cgns
fails 2 "itself" $bad plain.cgns:pressure=rest-p.csv
fails 2 "ambient= is of CGNS" $bad plain.cgns.csv:pressure=rest-p.csv:ambient=1
changed() { # TEXT PYTHON: refused with this text, once the file f, whose zone is z, was changed so
    cp plain.cgns changed.cgns
    python3 -c "import h5py, numpy as np; f = h5py.File('changed.cgns', 'a'); z = f['Base/Zone']; $2"
    fails 3 "$1" $bad changed.cgns:ambient=1e5
}
changed "there is no Pressure" "del z['Flow7/Pressure']"
changed "elements of type 10" "z['First/ data'][0] = 10"
changed "vertex 900" "z['First/ElementConnectivity/ data'][5] = 900"
changed "given twice" "z['Second/ElementRange/ data'][0] = 3"
changed "a surface in space is wanted" "f['Base/ data'][0] = 3"
changed "is not finite" "z['Flow3/VelocityX/ data'][2] = np.nan"
changed "Vertex or CellCenter" "z['Flow3/GridLocation/ data'][:] = np.frombuffer(b'FaceCenter', 'i1')"
changed "a gap" "f['Base/Times/TimeValues/ data'][5] += .1"
# chunks at the edge are larger than what they hold: the storage of one alone is more than the values take
changed "1 of 2 chunks of Pressure were never written" "g = z['Flow3/Pressure']; p = g[' data'][:]; del g[' data']
d = g.create_dataset(' data', p.shape, p.dtype, chunks=(p.size * 2 // 3,), maxshape=(None,)); d[:p.size // 2] = p[:p.size // 2]"
