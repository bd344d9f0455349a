"""Penstock from Python: its programs, its files, its H-matrices and sums (specs/library.md).

    import penstock
    penstock.run("mesh-surface", "ball.hdf", divisions=8)
    ball = penstock.open("ball.hdf")            # points, cells, tags
    A = penstock.open("slp.h5")                 # a scipy LinearOperator
"""
from ._library import PenstockError, Stopped, value as _value
from .files import Arrays, File, Mesh, Octree, open, verify
from .operators import BoundaryOperator, HMatrix, RetardedOperator, fmm
from .programs import find, import_mesh, import_particles, run, write_mesh


def version():
    """Of the library: "1.0.0 (REVISION)"."""
    return _value("version")
