"""Traces and meshes of the stage tests of hbem."""
import h5py
import numpy as np


def values(name):
    """The complex numbers of a trace: [axis][channel]."""
    with h5py.File(name) as f:
        return f["/trace/real"][...] + 1j * f["/trace/imaginary"][...]


def surface(name):
    """Corners and triangles of a mesh."""
    with h5py.File(name) as f:
        return f["/VTKHDF/Points"][...], f["/VTKHDF/Connectivity"][...].reshape(-1, 3)


def write_msh(name, x, t, tags=None):
    """A text MSH of triangles t of corners x, each in the group of its tag (1)."""
    with open(name, "w") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(x))
        out.writelines("%d %.17g %.17g %.17g\n" % (i + 1, *p) for i, p in enumerate(x))
        out.write("$EndNodes\n$Elements\n%d\n" % len(t))
        for i, (e, tag) in enumerate(zip(t, np.ones(len(t), int) if tags is None else tags)):
            out.write("%d 2 2 %d %d %d %d %d\n" % (i + 1, tag, tag, *(e + 1)))
        out.write("$EndElements\n")


def off_by(got, want):
    """The largest difference over the largest value."""
    return np.max(np.abs(got - want)) / np.max(np.abs(want))


def close(what, got, want, limit):
    print(what, off_by(got, want))
    assert off_by(got, want) < limit, (what, off_by(got, want), got, want)
