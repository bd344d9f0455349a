"""H-matrices, sums of particles, boundary integrals: arrays in, arrays out, by the library."""
import ctypes as c
import operator
import os

import numpy as np

from . import _library as lib

try:
    from scipy.sparse.linalg import LinearOperator
except ImportError:  # the few things of it that are used here
    class LinearOperator:
        def __init__(self, dtype, shape):
            self.dtype, self.shape = np.dtype(dtype), shape

        def matvec(self, x):
            return self._matvec(np.asarray(x))

        def rmatvec(self, x):
            return self._rmatvec(np.asarray(x))

        def matmat(self, x):
            return self._matmat(np.asarray(x))

        def __matmul__(self, x):
            return self.matvec(x) if np.ndim(x) == 1 else self.matmat(x)


class HMatrix(LinearOperator):
    """The matrix of a file in memory: A @ x, A.matmat, A.rmatvec (the adjoint), product(x, transposed). Functions are
    numbered as in the mesh; .info says kernel, spaces, wavenumber, tolerance."""

    def __init__(self, path, memory_limit=0):
        self._open = _Matrix("hmatrix_open", os.fsencode(path), memory_limit)
        info = lib.MatrixInfo()
        lib.call("hmatrix_info_of", self._open._handle, c.byref(info))
        self.info = info.asdict()
        super().__init__(np.dtype(complex if info.complex_numbers else float), (info.rows, info.columns))

    def product(self, x, transposed=False):
        """A x, or A^T x without a conjugate, of a vector or of the columns of an array."""
        if np.ma.is_masked(x):
            raise lib.PenstockError("some values of the vector are masked: fill them", 2)
        x = np.asarray(x)
        rows, columns = self.shape[::-1] if transposed else self.shape
        if x.shape[:1] != (columns,) or x.ndim > 2:
            raise lib.PenstockError(f"a vector of {columns}, or columns of it, are expected, not {list(x.shape)}", 2)
        if np.iscomplexobj(x) and self.dtype == float:
            return self.product(x.real, transposed) + 1j * self.product(x.imag, transposed)
        sides = np.ascontiguousarray(x.reshape(columns, -1).T, self.dtype)
        out = np.empty((len(sides), rows), self.dtype)
        if len(sides):
            lib.call("hmatrix_product", self._open._handle, transposed, len(sides), sides.ctypes.data, out.ctypes.data)
        return out.T.reshape((rows,) + x.shape[1:])

    def _matvec(self, x):
        return self.product(x)

    def _matmat(self, x):
        return self.product(x)

    def _rmatvec(self, x):
        return np.conj(self.product(np.conj(x), True))

    def _rmatmat(self, x):
        return np.conj(self.product(np.conj(x), True))


class _Matrix(lib.Handle):
    _close = "hmatrix_close"


def fmm(sources, charges, targets=None, kernel="inverse", parameter=0.0, accuracy=1e-6, gradient=False):
    """Potentials of particles at [n][3] with charges [n] or [sides][n], at the targets [m][3] (None: the sources):
    [m] or [sides][m]; with gradient also [m][3] or [sides][m][3]; last the figures reached. specs/fmm.md has the kernels."""
    columns = lambda p: [np.ascontiguousarray(lib.positions(p)[:, d]) for d in range(3)]
    x, y = columns(sources), columns(sources if targets is None else targets)
    q = np.ascontiguousarray(np.atleast_2d(lib.numbers(charges, what="charges (give real and imaginary parts as two sides)")))
    if q.ndim != 2 or q.shape[1] != len(x[0]):
        raise lib.PenstockError(f"charges [{len(x[0])}] or [sides][{len(x[0])}] are expected, not {list(q.shape)}", 2)
    sides, m = len(q), len(y[0])
    pointers = lambda a: (c.c_void_p * 3)(*[v.ctypes.data for v in a])
    asked = lib.Sum(len(x[0]), m, pointers(x), (c.c_void_p * 3)() if targets is None else pointers(y), q.ctypes.data, sides,
                    kernel.encode(), parameter, accuracy)
    phi, grad, figures = np.empty((sides, m)), np.empty((sides, 3, m)) if gradient else None, lib.SumFigures()
    lib.call("sum_run", c.byref(asked), phi.ctypes.data, grad.ctypes.data if gradient else None, c.byref(figures))
    one = np.ndim(charges) == 1
    out = [phi[0] if one else phi]
    if gradient:
        grad = np.moveaxis(grad, 1, 2)
        out.append(grad[0] if one else grad)
    return (*out, figures.asdict())


class _OnSurface(lib.Handle):
    def __init__(self, opened, mesh, *arguments):
        points = np.ascontiguousarray(lib.positions(mesh.points if hasattr(mesh, "points") else mesh[0]))
        triangles = np.ascontiguousarray(lib.numbers(mesh.cells if hasattr(mesh, "cells") else mesh[1], np.int32, "triangles"))
        if triangles.ndim != 2 or triangles.shape[1] != 3:
            raise lib.PenstockError("points [n][3] and triangles [m][3] are expected", 2)
        surface = lib.Surface(len(points), len(triangles), points.ctypes.data, triangles.ctypes.data)
        super().__init__(opened, c.byref(surface), *arguments)
        size = c.c_int64(), c.c_int64()
        getattr(lib.library(), "penstock_" + self._size)(self._handle, c.byref(size[0]), c.byref(size[1]))
        self.shape = size[0].value, size[1].value

    @staticmethod
    def _range(chosen, count):
        """Consecutive functions: a slice, or the number of one."""
        if isinstance(chosen, slice):
            found = range(count)[chosen]
            if len(found) > 1 and found.step != 1:
                raise lib.PenstockError(f"{chosen}: functions that follow one another are expected: take the others out of the result", 2)
            return found if len(found) != 0 else range(0)
        number = operator.index(chosen)
        if not -count <= number < count:
            raise IndexError(f"function {number} of {count}")
        return range(number % count, number % count + 1)

    def _ranges(self, rows, columns, count):
        return self._range(rows, count[0]), self._range(columns, count[1])


class BoundaryOperator(_OnSurface):
    """Entries of "slp", "dlp", "adlp", "hyps" on a Mesh or (points, triangles): op.entries(slice, slice)."""

    _close, _size = "boundary_close", "boundary_size"

    def __init__(self, mesh, kernel="slp", test="p0", trial="p0", wavenumber=0.0, tolerance=1e-4):
        op = lib.Operator(kernel.encode(), test.encode(), trial.encode(), wavenumber, tolerance)
        super().__init__("boundary_open", mesh, c.byref(op))
        self.dtype = np.dtype(complex if wavenumber else float)

    def entries(self, rows=slice(None), columns=slice(None)):
        r, k = self._ranges(rows, columns, self.shape)
        out = np.empty((len(r), len(k)), self.dtype)
        lib.call("boundary_entries", self._handle, r.start, r.stop, k.start, k.stop, out.ctypes.data)
        return out


class RetardedOperator(_OnSurface):
    """Entries of the matrices M^k of "sound-soft-s", "sound-soft-m" or "sound-hard"; .shape is (unknowns, lags)."""

    _close, _size = "retarded_close", "retarded_size"

    def __init__(self, mesh, formulation="sound-soft-s", dt=None, speed=343.0, points=6):
        if dt is None:
            raise lib.PenstockError("dt, the time step in s, is to be given", 2)
        super().__init__("retarded_open", mesh, formulation.encode(), dt, speed, points)

    def entries(self, rows=slice(None), columns=slice(None)):
        """M^0 as [rows][columns], and for each pair the first lag and how many, [rows][columns], and a list of arrays of
        the values of lags 1 and up."""
        r, k = self._ranges(rows, columns, (self.shape[0], self.shape[0]))
        turned = (len(k), len(r))
        zero, first, lengths = np.zeros(turned), np.zeros(turned, np.int32), np.zeros(turned, np.int32)
        block = lib.Retarded(r.start, r.stop, k.start, k.stop, zero.ctypes.data, first.ctypes.data, lengths.ctypes.data)
        block.capacity = lib.value("retarded_bound", self._handle, c.byref(block))
        values = np.empty(block.capacity)
        block.values = values.ctypes.data
        lib.call("retarded_entries", self._handle, c.byref(block))
        ends = np.cumsum(lengths.ravel())
        pieces = np.split(values[:block.count].copy(), ends[:-1]) if len(ends) else []
        return zero.T, first.T, lengths.T, [[pieces[j * len(r) + i] for j in range(len(k))] for i in range(len(r))]
