"""libpenstock.so by ctypes: structures and calls as in the headers (specs/library.md)."""
import ctypes as c
import os
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


class PenstockError(Exception):
    """What a program or the library said, and its exit code (specs/conventions.md)."""

    def __init__(self, message, code=1, program=None):
        super().__init__(f"penstock-{program}: {message}" if program else message)
        self.message, self.code, self.program = message, code, program


class Stopped(PenstockError):
    """A run that ended before its end, with its state saved: the same call goes on."""


def _candidates():
    if os.environ.get("PENSTOCK_LIBRARY"):
        yield os.environ["PENSTOCK_LIBRARY"]
        return
    bundled = HERE / "lib" / "libpenstock.so.1"
    if bundled.exists():
        yield str(bundled)
    if os.environ.get("PENSTOCK_BIN"):
        yield str(Path(os.environ["PENSTOCK_BIN"]).resolve().parent / "lib" / "libpenstock.so.1")
    yield "libpenstock.so.1"


def _load():
    said = []
    for name in _candidates():
        try:
            return c.CDLL(name)
        except OSError as problem:
            said.append(str(problem))
    raise PenstockError("libpenstock.so.1 was not found: install Penstock, or set PENSTOCK_LIBRARY to the file; "
                        + "; ".join(said), 3)


class _Structure(c.Structure):
    """With the names of its fields as a dictionary."""

    def asdict(self):
        text = lambda v: v.decode() if isinstance(v, bytes) else v
        return {name: text(getattr(self, name)) for name, _ in self._fields_}


I64, REAL, POINTER = c.c_int64, c.c_double, c.c_void_p


class Dataset(_Structure):
    _fields_ = [("name", c.c_char * 128), ("units", c.c_char * 32), ("type", c.c_int), ("rank", c.c_int),
                ("dims", I64 * 4), ("chunk_rows", I64), ("chunks", I64)]


class Chunk(_Structure):
    _fields_ = [("stored_bytes", I64), ("raw_bytes", I64), ("count", I64), ("xxh3", c.c_uint64), ("minimum", REAL),
                ("maximum", REAL), ("sum", REAL), ("sum_squares", REAL), ("zeros", I64), ("non_finite", I64)]


class Attribute(_Structure):
    _fields_ = [("name", c.c_char * 128), ("kind", c.c_int), ("count", I64)]


class Input(_Structure):
    _fields_ = [("role", c.c_char * 128), ("file", c.c_char * 256), ("format", c.c_char * 64), ("uuid", c.c_char * 40),
                ("content_hash", c.c_char * 17)]


class Verdict(_Structure):
    _fields_ = [("chunks", I64), ("bad_chunks", I64), ("bytes", I64), ("first_problem", c.c_char * 256)]


class MatrixInfo(_Structure):
    _fields_ = [("rows", I64), ("columns", I64), ("complex_numbers", c.c_bool), ("symmetric", c.c_bool),
                ("kernel", c.c_char * 8), ("test_space", c.c_char * 8), ("trial_space", c.c_char * 8),
                ("wavenumber", REAL), ("tolerance", REAL), ("leaves", I64), ("bytes", I64), ("mesh_hash", c.c_char * 17)]


class Sum(_Structure):
    _fields_ = [("sources", I64), ("targets", I64), ("source", POINTER * 3), ("target", POINTER * 3),
                ("charges", POINTER), ("sides", c.c_int), ("kernel", c.c_char_p), ("parameter", REAL), ("accuracy", REAL)]


class SumFigures(_Structure):
    _fields_ = [("order", c.c_int), ("levels", c.c_int), ("attempts", c.c_int), ("samples", I64), ("potential", REAL),
                ("gradient", REAL)]


class Surface(_Structure):
    _fields_ = [("vertex_count", I64), ("triangle_count", I64), ("vertices", POINTER), ("triangles", POINTER)]


class Operator(_Structure):
    _fields_ = [("kernel", c.c_char_p), ("test_space", c.c_char_p), ("trial_space", c.c_char_p), ("wavenumber", REAL),
                ("tolerance", REAL)]


class Retarded(_Structure):
    _fields_ = [("row_begin", I64), ("row_end", I64), ("column_begin", I64), ("column_end", I64), ("zero", POINTER),
                ("first", POINTER), ("lengths", POINTER), ("values", POINTER), ("capacity", I64), ("count", I64)]


# What every call takes; those that return something other than a status are named below.
_TAKES = {
    "file_open": (c.c_char_p, POINTER), "file_close": (POINTER,), "file_format": (POINTER,), "file_version": (POINTER,),
    "file_uuid": (POINTER,), "file_content_hash": (POINTER, c.c_char_p), "file_datasets": (POINTER,),
    "file_dataset": (POINTER, c.c_int, POINTER), "file_chunk": (POINTER, c.c_int, I64, POINTER),
    "file_read_slab": (POINTER, c.c_int, POINTER, POINTER, I64, POINTER),
    "file_attributes": (POINTER, c.c_char_p, POINTER), "file_attribute": (POINTER, c.c_char_p, c.c_int, POINTER),
    "file_ints": (POINTER, c.c_char_p, c.c_char_p, c.c_int, POINTER),
    "file_reals": (POINTER, c.c_char_p, c.c_char_p, c.c_int, POINTER),
    "file_text": (POINTER, c.c_char_p, c.c_char_p, c.c_char_p, I64),
    "file_inputs": (POINTER, POINTER), "file_input": (POINTER, c.c_int, POINTER),
    "verify": (c.c_char_p, c.c_bool, POINTER), "hmatrix_open": (c.c_char_p, I64, POINTER), "hmatrix_close": (POINTER,),
    "hmatrix_info_of": (POINTER, POINTER), "hmatrix_product": (POINTER, c.c_bool, I64, POINTER, POINTER),
    "sum_run": (POINTER, POINTER, POINTER, POINTER), "boundary_open": (POINTER, POINTER, POINTER),
    "boundary_close": (POINTER,), "boundary_size": (POINTER, POINTER, POINTER),
    "boundary_entries": (POINTER, I64, I64, I64, I64, POINTER),
    "retarded_open": (POINTER, c.c_char_p, REAL, REAL, c.c_int, POINTER), "retarded_close": (POINTER,),
    "retarded_size": (POINTER, POINTER, POINTER), "retarded_bound": (POINTER, POINTER),
    "retarded_entries": (POINTER, POINTER), "message": (), "version": ()}
_RETURNS = {"file_format": c.c_char_p, "file_uuid": c.c_char_p, "message": c.c_char_p, "version": c.c_char_p,
            "retarded_bound": I64, "file_version": c.c_int, "file_datasets": c.c_int}
_loaded = None


def library():
    """The library, loaded at the first call."""
    global _loaded
    if _loaded is None:
        loaded = _load()
        for name, takes in _TAKES.items():
            function = getattr(loaded, "penstock_" + name)
            function.argtypes = takes
            function.restype = _RETURNS.get(name, None if name.endswith(("_close", "_size")) else c.c_int)
        _loaded = loaded
    return _loaded


def call(name, *arguments):
    """A function that returns a status; raises what the library says of a failure."""
    code = getattr(library(), "penstock_" + name)(*arguments)
    if code:
        raise PenstockError(library().penstock_message().decode(errors="replace"), code)


def value(name, *arguments):
    """A function that returns something else; texts as str."""
    result = getattr(library(), "penstock_" + name)(*arguments)
    return result.decode() if isinstance(result, bytes) else result


class Handle:
    """What the library opens, and closes when it is not used any more."""

    _close = None

    def __init__(self, opened, *arguments):
        self._held = c.c_void_p()
        call(opened, *arguments, c.byref(self._held))

    @property
    def _handle(self):
        if not self._held:
            raise PenstockError(f"this {type(self).__name__.lstrip('_')} was closed: open it again", 2)
        return self._held

    def close(self):
        if getattr(self, "_held", None):
            getattr(library(), "penstock_" + self._close)(c.byref(self._held))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


def numbers(values, kind=float, what="numbers"):
    """An array of fp64, or of another type of numbers, of what loses nothing by it: no imaginary parts, masked values, fractions
    or numbers that the type does not hold."""
    if np.ma.is_masked(values):
        raise PenstockError(f"{what}: some are masked: leave them out, or fill them", 2)
    given = np.asarray(values)
    if np.iscomplexobj(given):
        raise PenstockError(f"{what} are complex: real ones are expected", 2)
    with np.errstate(invalid="ignore"):
        out = given.astype(kind)
    if np.issubdtype(kind, np.integer) and given.size and not (out == given).all():
        raise PenstockError(f"{what}: whole numbers that fit {np.dtype(kind)} are expected", 2)
    return out


def positions(places):
    """Places as an array [n][3] of fp64."""
    out = numbers(places, what="positions")
    if out.ndim != 2 or out.shape[1] != 3:
        raise PenstockError(f"positions [n][3] are expected, not {list(out.shape)}", 2)
    return out
