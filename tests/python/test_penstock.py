"""The Python package on real files and programs (unittest). Run in an empty folder by tests/stages/test_python.sh."""
import inspect
import importlib.util
import unittest
import warnings
from pathlib import Path

import numpy as np

import penstock

random = np.random.default_rng(5)


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"{', '.join(missing)} is not installed")


def off(a, b):
    return np.abs(np.asarray(a) - b).max() / np.abs(b).max()


class Programs(unittest.TestCase):
    def test_figures_and_progress(self):
        figures = penstock.run("mesh-surface", "cube.hdf", shape="cube", size=2.0, divisions=2)
        self.assertAlmostEqual(figures["volume"], 8)
        said = []
        penstock.run("mesh-surface", "cube.hdf", shape="cube", size=2.0, divisions=2, progress=said.append)
        self.assertTrue(any("up to date" in line for line in said), said)

    def test_failures(self):
        with self.assertRaises(penstock.PenstockError) as caught:
            penstock.run("mesh-surface", "x.hdf", nonsense=3)
        self.assertEqual((caught.exception.code, caught.exception.program), (2, "mesh-surface"))
        self.assertIn("--nonsense", caught.exception.message)
        with self.assertRaises(penstock.PenstockError) as caught:
            penstock.run("verify", "missing.h5")
        self.assertEqual(caught.exception.code, 3)
        with self.assertRaisesRegex(penstock.PenstockError, "penstock-no-such was not found"):
            penstock.run("no-such")

    def test_stopped(self):
        penstock.run("mesh-surface", "s.hdf", divisions=6)
        penstock.run("slice-assemble", "s.hdf", "s.h5", courant=3.0)
        march = lambda **more: penstock.run("tdbem-march", "s.h5", "s.hdf", "m.h5", steps=400, emitter="plane:dir=0,0,1:width=0.01", **more)
        try:
            march(stop_after=1e-3)
        except penstock.Stopped as stopped:
            self.assertEqual(stopped.code, 75)
            march()
        else:
            self.fail("a march of 400 steps ended within 1 ms")
        self.assertEqual(penstock.File("m.h5").format, "penstock-history")


    def test_progress_that_raises_ends_the_program(self):
        class Enough(Exception):
            pass

        def stop(line):
            raise Enough(line)

        penstock.run("mesh-surface", "large.hdf", divisions=40)
        with self.assertRaisesRegex(Enough, "penstock-slice-assemble"):
            penstock.run("slice-assemble", "large.hdf", "large.h5", courant=3.0, threads=1, progress=stop)
        self.assertFalse(Path("large.h5").exists())


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        penstock.run("mesh-surface", "ball.hdf", divisions=8)

    def test_slabs(self):
        with penstock.File("ball.hdf") as file:
            points = file["/VTKHDF/Points"]
            whole = points[...]
            self.assertEqual((points.units, points.shape), ("m", whole.shape))
            for key in [(slice(3, 90, 7), 1), (slice(None, None, -1), slice(1, 3)), (-1,), (slice(5, 5),), (Ellipsis, 2)]:
                np.testing.assert_array_equal(points[key], whole[key])
            table = points.chunks()
            self.assertAlmostEqual(sum(c["minimum"] for c in table[:1]), whole[:points.chunk_rows].min())
            for wrong in [len(points), -len(points) - 1, 2.7, True, np.array([3]), None, "a", [1, 2]]:
                with self.assertRaises(IndexError, msg=wrong):
                    points[wrong]
            self.assertEqual(file.attrs["format"], "penstock-surface-mesh")
            self.assertEqual(len(file.content_hash), 16)
            self.assertIn(file["VTKHDF/Types"].dtype, [np.dtype("u1")])
        for use in [lambda: points[0], lambda: file.attributes("/"), lambda: file.content_hash, lambda: file.inputs]:
            with self.assertRaisesRegex(penstock.PenstockError, "this File was closed"):
                use()

    def test_damage_is_seen(self):
        self.assertGreater(penstock.verify("ball.hdf")["chunks"], 5)
        bytes_ = bytearray(Path("ball.hdf").read_bytes())
        for at in range(len(bytes_) // 4, len(bytes_) // 2, 64):  # in chunks, too: what HDF5 leaves unused may be anything
            bytes_[at] ^= 1
        Path("bad.hdf").write_bytes(bytes_)
        with self.assertRaises(penstock.PenstockError) as caught:
            penstock.verify("bad.hdf")
            penstock.open("bad.hdf")
        self.assertEqual(caught.exception.code, 3)
        self.assertIn("bad.hdf", caught.exception.message)

    def test_mesh_comes_back(self):
        mesh = penstock.open("ball.hdf")
        tags = np.arange(len(mesh.cells)) % 3 + 4
        penstock.import_mesh((mesh.points, mesh.cells), "again.hdf", tags=tags, names={4: "hull", 5: "fin"})
        again = penstock.open("again.hdf")
        np.testing.assert_array_equal(again.points, mesh.points)
        np.testing.assert_array_equal(again.tags, tags)
        self.assertEqual(again.names, {4: "hull", 5: "fin"})
        penstock.import_mesh((mesh.points, mesh.cells.astype(float)), "again.hdf", force=True)
        np.testing.assert_array_equal(penstock.open("again.hdf").cells, mesh.cells)
        hidden = np.ma.masked_array(mesh.points, mesh.points > 0)
        for text, points, cells, more in [
                ("finite", mesh.points * np.nan, mesh.cells, {}), ("complex", mesh.points + 1j, mesh.cells, {}),
                ("masked", hidden, mesh.cells, {}), ("whole numbers", mesh.points, mesh.cells + 0.7, {}),
                ("whole numbers", mesh.points, mesh.cells, dict(tags=np.full(len(mesh.cells), 2 ** 40))),
                ("quotes", mesh.points, mesh.cells, dict(names={1: 'a"b'}))]:
            with self.assertRaisesRegex(penstock.PenstockError, text):
                penstock.write_mesh("x.msh", (points, cells), **more)
        np.savez("x.npz", points=mesh.points, cells=mesh.cells + 0.7)
        with self.assertRaisesRegex(penstock.PenstockError, "whole numbers"):
            penstock.import_mesh("x.npz", "x.hdf")

    def test_meshes_of_others(self):
        class Block:  # what meshio.Mesh and its blocks look like
            def __init__(self, kind, data):
                self.type, self.data = kind, data

        class Foreign:
            points = np.vstack([np.zeros(3), np.eye(3)])
            cells = [Block("tetra", np.array([[0, 1, 2, 3]])), Block("line", np.array([[0, 1]]))]
            cell_data = {"medit:ref": [np.array([7]), np.array([0])]}

        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            penstock.write_mesh("one.msh", Foreign())
        self.assertIn("line", str(seen[0].message))
        self.assertIn("1 4 2 7 7 1 2 3 4\n", Path("one.msh").read_text())
        # surfaces and volumes are numbered apart, whichever comes first
        Foreign.cells[1] = Block("triangle", np.array([[1, 2, 3]]))
        Foreign.cell_data = {"gmsh:physical": [np.array([1]), np.array([1])]}
        for order in 1, -1:
            Foreign.field_data = dict([("skin", np.array([1, 2])), ("flesh", np.array([1, 3])), ("rim", np.array([1, 1]))][::order])
            penstock.import_mesh(Foreign(), "two.hdf", force=True)
            self.assertEqual(penstock.open("two.hdf").names, {1: "flesh"})

    @needs("h5py")
    def test_units_of_med(self):
        import h5py
        with h5py.File("box.med", "w") as file:
            file.create_group("ENS_MAA/box").attrs["UNI"] = np.bytes_("mm".ljust(16) * 3)
        with self.assertRaisesRegex(penstock.PenstockError, "are in mm: give unit="):
            penstock.import_mesh("box.med", "box.hdf")

    def test_single_precision_far_away(self):
        corners, tetra = np.array([[0, 0, 0], [3, 0, 0], [0, 3, 0], [0, 0, 3.0]]), np.array([[0, 1, 2, 3]])
        for there, kind in [(0, "f4"), (4649776, "f8")]:
            self.assertAlmostEqual(penstock.import_mesh(((corners + there).astype(kind), tetra), "far.hdf", force=True)["volume"], 4.5)
        with self.assertRaisesRegex(penstock.PenstockError, "points of float32 are rounded to 0.28"):
            penstock.import_mesh(((corners + 4649776).astype("f4"), tetra), "none.hdf")
        np.savez("far.npz", points=(corners + 4649776).astype("f4"), cells=tetra)
        with self.assertRaisesRegex(penstock.PenstockError, "points of float32 are rounded to 0.28"):
            penstock.import_mesh("far.npz", "none.hdf")

    @needs("h5py")
    def test_cgns_of_several_parts(self):
        """meshio would read one zone, one section, and quadrangles as tetrahedra."""
        import h5py

        def write(zones, kind, unit=None):
            with h5py.File("mesh.cgns", "w") as file:
                def node(at, name, label, data=None):
                    made = at.create_group(name)
                    made.attrs["label"] = np.bytes_(label)
                    if data is not None:
                        made.create_dataset(" data", data=data)
                    return made
                base = node(file, "Base", "CGNSBase_t", np.array([3, 3], "i4"))
                if unit:
                    node(base, "Units", "DimensionalUnits_t", np.frombuffer(b"".join(t.ljust(32) for t in (b"Kilogram", unit)), "i1"))
                for zone in zones:
                    node(node(base, zone, "Zone_t"), "Elements", "Elements_t", np.array([kind, 0], "i4"))
        for zones, kind, unit, said in [(["Zone1", "Zone2"], 10, None, "2 zones"), (["Zone1"], 7, None, "types \\[7\\]"),
                                        (["Zone1"], 10, b"Millimeter", "in Millimeter: give unit= or scale=")]:
            write(zones, kind, unit)
            with self.assertRaisesRegex(penstock.PenstockError, said):
                penstock.import_mesh("mesh.cgns", "box.hdf")

    @needs("meshio", "pyvista")
    def test_meshio_and_pyvista(self):
        import meshio
        import pyvista
        mesh = penstock.open("ball.hdf")
        tags = np.arange(len(mesh.cells)) % 2 + 1
        mesh = penstock.Mesh(mesh.points, mesh.cells, tags, {1: "hull", 2: "the fin"})
        for foreign, path in [(mesh.to_meshio(), "io.hdf"), (mesh.to_pyvista(), "vista.hdf")]:
            penstock.import_mesh(foreign, path)
            again = penstock.open(path)
            np.testing.assert_array_equal(again.cells, mesh.cells)
            np.testing.assert_array_equal(again.tags, tags)
            self.assertEqual(again.names, mesh.names)
        grid = pyvista.ImageData(dimensions=(3, 3, 3)).cast_to_unstructured_grid()
        with self.assertRaisesRegex(penstock.PenstockError, "triangulate"):
            penstock.write_mesh("x.msh", grid)
        grid = grid.triangulate()
        grid.cell_data["tag"] = np.arange(grid.n_cells) % 2 + 4
        penstock.import_mesh(grid, "box.hdf")
        box = penstock.open("box.hdf")
        self.assertEqual((box.cells.shape[1], sorted(set(box.tags))), (4, [4, 5]))
        self.assertAlmostEqual(box.to_pyvista().volume, grid.volume)
        mixed = meshio.Mesh(box.points, [("tetra", box.cells), ("line", np.array([[0, 1]]))])
        with self.assertWarnsRegex(UserWarning, "line"):
            penstock.import_mesh(mixed, "mixed.hdf")
        np.testing.assert_array_equal(penstock.open("mixed.hdf").cells, box.cells)

    def test_fields_are_meshes_and_memory_is_bounded(self):
        penstock.run("slice-assemble", "ball.hdf", "b.h5", courant=3.0)
        penstock.run("tdbem-march", "b.h5", "ball.hdf", "b-run.h5", steps=12, emitter="plane:dir=0,0,1:width=0.05", allow=["short-pulse", "loud-start"])
        penstock.run("probe", "b-run.h5", "ball.hdf", "b-all.h5", surface="all", snapshots="snap", every=4)
        snapshot = penstock.open("snap.000001.hdf")
        self.assertEqual([len(v) for v in snapshot.point_data.values()] + [len(v) for v in snapshot.cell_data.values()], [len(snapshot.cells)])
        with self.assertRaisesRegex(penstock.PenstockError, "may be used") as caught:
            penstock.open("b-run.h5", memory_limit=1000)
        self.assertEqual(caught.exception.code, 4)

    @needs("xarray")
    def test_xarray(self):
        import xarray
        penstock.run("sphere-exact", "x.h5", frequencies="100Hz,.2kHz", angles=(0.0, 45.0, 180.0), speed=343.0, emitter="plane:dir=0,0,1:width=1e-3")
        trace = penstock.open("x.h5")
        self.assertIsInstance(trace, xarray.Dataset)
        self.assertEqual(trace["value"].dims, ("frequency", "channel"))
        self.assertEqual(trace["value"].attrs["units"], trace.attrs["value_units"])
        self.assertEqual(trace.value.sel(frequency=190, method="nearest").frequency, 200)
        penstock.run("slice-assemble", "ball.hdf", "b.h5", courant=3.0)
        penstock.run("tdbem-march", "b.h5", "ball.hdf", "b-run.h5", steps=12, emitter="plane:dir=0,0,1:width=0.05", allow=["short-pulse", "loud-start"])
        self.assertEqual(list(trace.coords), ["frequency", "place"])
        history = penstock.open("b-run.h5")
        self.assertEqual(history.densities.dims, ("time", "unknown"))
        dt = history.attrs["dt"]
        np.testing.assert_allclose(history.time, (np.arange(12) + 0.5) * dt)  # means over steps: not of a rigid body

    def test_trace(self):
        penstock.run("sphere-exact", "exact.h5", frequencies=(100.0, 200.0), angles=(0.0, 45.0, 180.0), speed=343.0, emitter="plane:dir=0,0,1:width=1e-3")
        trace = penstock.open("exact.h5")
        self.assertEqual(trace["value"].dtype, complex)
        np.testing.assert_allclose(trace["frequency"], [100, 200])


class Matrices(unittest.TestCase):
    def matrix(self, kernel, test, trial, k):
        penstock.run("mesh-surface", "m.hdf", divisions=6)
        penstock.run("cluster-build", "m.hdf", "c.h5", test=test, trial=trial, leaf=16, force=True)
        penstock.run("hmatrix-assemble", "c.h5", "a.h5", operator=kernel, wavenumber=k, tolerance=1e-6, force=True)
        entries = penstock.BoundaryOperator(penstock.open("m.hdf"), kernel, test, trial, k, 1e-6).entries()
        return penstock.open("a.h5"), entries

    def test_products(self):
        for kernel, test, trial, k in [("dlp", "p0", "p1", 2.0), ("slp", "p0", "p0", 0.0)]:
            A, entries = self.matrix(kernel, test, trial, k)
            self.assertEqual(A.shape, entries.shape)
            x, y = (random.normal(size=(n, 3)) + 1j * random.normal(size=(n, 3)) for n in A.shape[::-1])
            self.assertLess(off(A @ x, entries @ x), 1e-5)
            self.assertLess(off(A.matvec(x[:, 0]), entries @ x[:, 0]), 1e-5)
            self.assertLess(off(A.product(y, transposed=True), entries.T @ y), 1e-5)
            self.assertLess(off(A.rmatvec(y[:, 1]), entries.conj().T @ y[:, 1]), 1e-5)
            with self.assertRaises(penstock.PenstockError):
                A.product(np.full(A.shape[1], np.nan))
            with self.assertRaises(penstock.PenstockError):
                A.product(np.ones(A.shape[1] + 1))
            with self.assertRaisesRegex(penstock.PenstockError, "masked"):
                A.product(np.ma.masked_array(x[:, 0].real, x[:, 0].real > 0))
        with self.assertRaisesRegex(penstock.PenstockError, "may be used"):
            penstock.open("a.h5", memory_limit=1000)

    def test_entries_of_what_was_given(self):
        penstock.run("mesh-surface", "m.hdf", divisions=6)
        points, cells = (lambda m: (m.points, m.cells))(penstock.open("m.hdf"))
        op = penstock.BoundaryOperator((points, cells.astype(float)))
        entries = op.entries()
        for rows, columns in [(3, -1), (slice(5, 2), slice(None)), (slice(7, 8, 2), 0)]:
            r, c = (k if isinstance(k, slice) else slice(k, k + 1 or None) for k in (rows, columns))
            np.testing.assert_array_equal(op.entries(rows, columns), entries[r, c])
        for rows in [slice(0, 20, 2), slice(None, None, -1)]:  # as many values as of all rows between would be written
            with self.assertRaisesRegex(penstock.PenstockError, "follow one another"):
                op.entries(rows)
        with self.assertRaises(IndexError):
            op.entries(len(cells))
        wrapped = cells.astype(np.int64)
        wrapped[0, 0] += 2 ** 32
        for text, mesh in [("whole numbers", (points, wrapped)), ("whole numbers", (points, cells + 0.7)),
                           ("complex", (points + 1j, cells)), ("masked", (points, np.ma.masked_array(cells, cells == 0)))]:
            with self.assertRaisesRegex(penstock.PenstockError, text):
                penstock.BoundaryOperator(mesh)
        for kernel in "dlp", "adlp":
            with self.assertRaisesRegex(penstock.PenstockError, "point inward"):
                penstock.BoundaryOperator((points, cells[:, ::-1]), kernel)
            penstock.BoundaryOperator((points, cells[1:, ::-1]), kernel)  # what is open has no inside
        with op:
            pass
        with self.assertRaisesRegex(penstock.PenstockError, "this BoundaryOperator was closed"):
            op.entries()

    @needs("scipy")
    def test_scipy_solves_with_an_hmatrix(self):
        import scipy.sparse.linalg as sparse
        A, entries = self.matrix("slp", "p0", "p0", 0.0)
        self.assertIsInstance(A, sparse.LinearOperator)
        b = random.normal(size=A.shape[0])
        named = "rtol" if "rtol" in inspect.signature(sparse.gmres).parameters else "tol"  # before SciPy 1.12
        x, info = sparse.gmres(A, b, **{named: 1e-10})
        self.assertEqual(info, 0)
        self.assertLess(off(entries @ x, b), 1e-4)
        self.assertLess(off((2 * A + A.T) @ b, 2 * entries @ b + entries.T @ b), 1e-5)
        self.assertLess(off(A.H @ b, entries.T @ b), 1e-5)

    def test_retarded_is_static_in_sum(self):
        penstock.run("mesh-surface", "m.hdf", divisions=6)
        mesh = penstock.open("m.hdf")
        rows, columns = slice(3, 8), slice(0, 40)
        zero, _, lengths, values = penstock.RetardedOperator(mesh, dt=0.1, speed=1.0, points=12).entries(rows, columns)
        self.assertEqual(lengths.tolist(), [[len(v) for v in row] for row in values])
        total = zero + [[v.sum() for v in row] for row in values]
        self.assertLess(off(total, penstock.BoundaryOperator(mesh).entries(rows, columns)), 1e-2)


class Sums(unittest.TestCase):
    def test_in_a_child_of_fork(self):
        import os
        import signal
        x, q = random.random((3000, 3)), random.random(3000)
        phi = penstock.fmm(x, q, accuracy=1e-3)[0]
        child = os.fork()
        if child == 0:
            signal.alarm(60)  # threads that are not there are waited for without end
            os._exit(0 if np.array_equal(penstock.fmm(x, q, accuracy=1e-3)[0], phi) else 3)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_against_program_and_definition(self):
        x, q = random.random((3000, 3)), random.random((2, 3000)) - 0.5
        with self.assertRaisesRegex(penstock.PenstockError, "positions"):
            penstock.fmm(np.ones((5, 4)), np.ones(5))
        with self.assertRaisesRegex(penstock.PenstockError, "complex"):
            penstock.fmm(x, q * 1j)
        with self.assertRaisesRegex(penstock.PenstockError, "another unit"):
            penstock.fmm(x * 1e-160, q)
        for values in [(np.ma.masked_array(x, x < 0.1), q), (x, np.ma.masked_array(q, q < 0))]:
            with self.assertRaisesRegex(penstock.PenstockError, "masked"):
                penstock.fmm(*values)
            with self.assertRaisesRegex(penstock.PenstockError, "masked"):
                penstock.import_particles(*values, "masked.h5")
        with self.assertRaisesRegex(penstock.PenstockError, "complex"):
            penstock.import_particles(x, q * 1j, "complex.h5")
        with self.assertRaisesRegex(penstock.PenstockError, "are expected"):
            penstock.import_particles(x, q.T, "turned.h5")
        penstock.import_particles(x, np.vstack([q, q[:1]]), "dipoles.h5", moments="dipoles")
        self.assertEqual(penstock.File("dipoles.h5").attrs["moments"], "dipoles")
        phi, gradient, figures = penstock.fmm(x, q, gradient=True, accuracy=1e-3)
        self.assertLess(figures["potential"], 1e-3)
        d = x[:50, None] - x[None]
        r = np.sqrt((d ** 2).sum(2))
        inverse = np.divide(1, r, where=r > 0, out=np.zeros_like(r))
        self.assertLess(off(phi[:, :50], q @ inverse.T), 1e-3)
        self.assertLess(off(gradient[1, :50], -np.einsum("j,ij,ijd->id", q[1], inverse ** 3, d)), 1e-3)
        penstock.import_particles(x, q, "p.h5")
        penstock.run("octree-build", "p.h5", "tree.h5")
        penstock.run("fmm", "tree.h5", "result.h5", accuracy=1e-3)
        result, tree = penstock.open("result.h5"), penstock.open("tree.h5")
        self.assertLess(off(result["potential1"], phi[1]), 2e-3)
        self.assertEqual(getattr(result["gradient1"], "dims", ("target", "direction")), ("target", "direction"))
        np.testing.assert_array_equal(tree.sources["q1"], q[1])
        np.testing.assert_array_equal(tree.sources["z"], x[:, 2])
        self.assertEqual(sum(len(k) for k in tree.sources["keys"].values()) > 1, True)
        with self.assertRaisesRegex(penstock.PenstockError, "source y: number 4"):
            x[4, 1] = np.inf
            penstock.fmm(x, q)


if __name__ == "__main__":
    unittest.main(verbosity=1)
