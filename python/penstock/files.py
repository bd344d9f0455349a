"""Files of any kind: arrays with units and attributes, read through the library."""
import ctypes as c
import operator
import os

import numpy as np

from . import _library as lib

_TYPES = [np.dtype(t) for t in ("u1", "<u2", "<u4", "<i4", "<i8", "<f4", "<f8")]


class Variable:
    """A dataset: shape, dtype, units, attrs; read by v[...] with slices and numbers, which reads the rows asked alone."""

    def __init__(self, file, number):
        d = lib.Dataset()
        lib.call("file_dataset", file._handle, number, c.byref(d))
        self._file, self._number, self._chunks = file, number, d.chunks
        self.name, self.units = d.name.decode(), d.units.decode()
        self.dtype, self.shape, self.chunk_rows = _TYPES[d.type], tuple(d.dims[:d.rank]), d.chunk_rows
        self.attrs = file.attributes(self.name)

    def __repr__(self):
        return f"<{self.name} {self.dtype} {list(self.shape)} {self.units}>"

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, key):
        key = key if isinstance(key, tuple) else (key,)
        at = next((i for i, k in enumerate(key) if k is Ellipsis), None)
        if at is not None:
            key = key[:at] + (slice(None),) * (len(self.shape) - len(key) + 1) + key[at + 1:]
        if len(key) > len(self.shape):
            raise IndexError(f"{self.name} has {len(self.shape)} dimensions")
        key += (slice(None),) * (len(self.shape) - len(key))
        start, count, after = [], [], []
        for k, n in zip(key, self.shape):
            if isinstance(k, slice):
                indices = range(*k.indices(n))
                low = min(indices[0], indices[-1]) if len(indices) else 0
                high = max(indices[0], indices[-1]) + 1 if len(indices) else 0
                after.append(slice(None, None, indices.step))
            else:
                if np.ndim(k) > 0 or isinstance(k, (bool, np.bool_)) or not hasattr(k, "__index__"):
                    raise IndexError(f"{self.name}: {k!r}: slices and whole numbers are taken; [...][...] has NumPy's other ways")
                low = operator.index(k) + (n if k < 0 else 0)
                if not 0 <= low < n:
                    raise IndexError(f"{self.name}: {k} of {n}")
                high = low + 1
                after.append(0)
            start.append(low)
            count.append(high - low)
        out = np.empty(count, self.dtype)
        many = c.c_int64 * max(len(count), 1)
        lib.call("file_read_slab", self._file._handle, self._number, many(*start), many(*count), out.nbytes,
                 out.ctypes.data)
        return out[tuple(after)]

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self[...], dtype)

    def chunks(self):
        """The chunk table: a dictionary a chunk, from memory."""
        row, rows = lib.Chunk(), []
        for i in range(self._chunks):
            lib.call("file_chunk", self._file._handle, self._number, i, c.byref(row))
            rows.append(row.asdict())
        return rows

    def valid(self):
        """Of a ragged dataset the valid values of all chunks, one after the other; else all values."""
        table = self.chunks() if self.chunk_rows == 1 and len(self.shape) == 2 else []
        if all(row["count"] == self.shape[1] for row in table):
            return self[...]
        rows = [self[i, :row["count"]] for i, row in enumerate(table)]
        return np.concatenate(rows) if rows else np.empty(0, self.dtype)


class File(lib.Handle):
    """A file: format, version, attrs, inputs, and its datasets by name."""

    _close = "file_close"

    def __init__(self, path):
        super().__init__("file_open", os.fsencode(path))
        self.path = os.fspath(path)
        self.format, self.version = lib.value("file_format", self._handle), lib.value("file_version", self._handle)
        self.uuid = lib.value("file_uuid", self._handle)
        self.attrs = self.attributes("/")
        found = [Variable(self, i) for i in range(lib.value("file_datasets", self._handle))]
        self.variables = {v.name: v for v in found}

    def __repr__(self):
        return f"<penstock.File {self.path!r}: {self.format}, {len(self.variables)} datasets>"

    def __getitem__(self, name):
        return self.variables[name if name.startswith("/") else "/" + name]

    def __contains__(self, name):
        return (name if name.startswith("/") else "/" + name) in self.variables

    def keys(self):
        return self.variables.keys()

    @property
    def content_hash(self):
        text = c.create_string_buffer(17)
        lib.call("file_content_hash", self._handle, text)
        return text.value.decode()

    @property
    def inputs(self):
        """What the file was made from: a dictionary each."""
        count, one, found = c.c_int(), lib.Input(), []
        lib.call("file_inputs", self._handle, c.byref(count))
        for i in range(count.value):
            lib.call("file_input", self._handle, i, c.byref(one))
            found.append(one.asdict())
        return found

    def attributes(self, name):
        """Of "/", a group or a dataset: numbers, arrays of numbers, texts."""
        name, count, one, found = name.encode(), c.c_int(), lib.Attribute(), {}
        lib.call("file_attributes", self._handle, name, c.byref(count))
        for i in range(count.value):
            lib.call("file_attribute", self._handle, name, i, c.byref(one))
            if one.kind == 2:
                text = c.create_string_buffer(one.count + 1)
                lib.call("file_text", self._handle, name, one.name, text, one.count + 1)
                found[one.name.decode()] = text.value.decode(errors="replace")
            elif one.kind < 2:
                out = np.empty(one.count, (np.int64, np.float64)[one.kind])
                lib.call(("file_ints", "file_reals")[one.kind], self._handle, name, one.name, one.count, out.ctypes.data)
                found[one.name.decode()] = out if one.count != 1 else out[0].item()
        return found


def verify(path, deep=True):
    """Checks a file and, if deep, every chunk of it; PenstockError where anything is wrong. Returns what was read."""
    verdict = lib.Verdict()
    lib.call("verify", os.fsencode(path), deep, c.byref(verdict))
    return verdict.asdict()


class Mesh:
    """points [n][3] in m, cells [m][3 or 4], tags [m], names of tags, data of cells and points by name."""

    def __init__(self, points, cells, tags=None, names=None, cell_data=None, point_data=None, attrs=None):
        self.stored = np.asarray(points).dtype  # what write_mesh judges the precision by
        self.points, self.cells = lib.numbers(points, what="points"), np.asarray(cells)
        self.tags = np.zeros(len(self.cells), np.int32) if tags is None else np.asarray(tags)
        self.names, self.cell_data, self.point_data = names or {}, cell_data or {}, point_data or {}
        self.attrs = attrs or {}

    def __repr__(self):
        kind = {3: "triangles", 4: "tetrahedra"}[self.cells.shape[1]]
        return f"<penstock.Mesh {len(self.points)} points, {len(self.cells)} {kind}, tags {sorted(set(self.tags.tolist()))}>"

    def to_meshio(self):
        import meshio
        kind = {3: "triangle", 4: "tetra"}[self.cells.shape[1]]
        data = {name: [values] for name, values in {"tag": self.tags, **self.cell_data}.items()}
        names = {name: np.array([tag, self.cells.shape[1] - 1]) for tag, name in self.names.items()}
        return meshio.Mesh(self.points, [(kind, self.cells)], point_data=self.point_data, cell_data=data, field_data=names)

    def to_pyvista(self):
        import pyvista
        kind = {3: 5, 4: 10}[self.cells.shape[1]]
        grid = pyvista.UnstructuredGrid({kind: self.cells}, self.points)
        for name, values in {"tag": self.tags, **self.cell_data}.items():
            grid.cell_data[name] = values
        for name, values in self.point_data.items():
            grid.point_data[name] = values
        if self.names:
            grid.field_data["tag_names"] = [f"{tag} {name}" for tag, name in self.names.items()]
        return grid


def _names(lines):
    """Names of tags from texts "7 wing"; "-7 wall" is a surface's in a mesh of volumes."""
    return {int(line.split(" ", 1)[0]): line.split(" ", 1)[1] for line in lines if " " in line and line[0] != "-"}


def _mesh(file):
    cells = file["/VTKHDF/Types"][...]
    width = {5: 3, 10: 4}.get(int(cells[0]) if len(cells) else 5)
    if width is None:
        raise lib.PenstockError(f"{file.path}: cells of another kind than triangles and tetrahedra", 3)
    below = lambda group: {n[len(group):]: v[...] for n, v in file.variables.items() if n.startswith(group)}
    data = below("/VTKHDF/CellData/")
    names = _names(file.attrs.get("tag_names", "").splitlines())
    return Mesh(file["/VTKHDF/Points"][...], file["/VTKHDF/Connectivity"][...].reshape(-1, width), data.pop("tag", None),
                names, data, below("/VTKHDF/PointData/"), file.attrs)


class Octree:
    """An octree as arrays: corner, width, height; per side ("sources", "targets") x, y, z, q0.. in the caller's order,
    keys[level] and start[level]."""

    def __init__(self, file):
        self.attrs = file.attrs
        self.corner, self.width, self.height = file.attrs["corner"], file.attrs["width"], file.attrs["height"]
        self.sources = self._side(file, "/sources/")
        self.targets = self.sources if file.attrs["same"] else self._side(file, "/targets/")

    def _side(self, file, group):
        order, side = file[group + "permutation"].valid().ravel(), {}
        for name in [n[len(group):] for n in file.keys() if n.startswith(group)]:
            if name in ("x", "y", "z") or name[0] == "q":
                side[name] = np.empty(len(order))
                side[name][order] = file[group + name].valid().ravel()
        for what in ("keys", "start"):
            side[what] = {level: file[f"{group}level_{level:02d}/{what}"][...] for level in range(self.height)
                          if f"{group}level_{level:02d}/{what}" in file}
        return side


def _complex(values):
    """Real and imaginary parts of a name are one complex array of it."""
    for name in [n for n in values if n.endswith("imaginary") and n[:-9] + "real" in values]:
        real, units, dims = values.pop(name[:-9] + "real")
        values[(name[:-9] + "value").replace("trace/", "")] = (real + 1j * values.pop(name)[0], units, dims)
    return values


def _history(file, values):
    """Densities over time: at the end of each step, or of means over steps at their middle (specs/history.md)."""
    array, units, _ = values["densities"]
    middle = 0 if file.attrs["formulation"].startswith("sound-hard") else 0.5
    values["densities"] = array, units, ("time", "unknown")
    return {"time": (file.attrs["dt"] * (np.arange(1, len(array) + 1) - middle), "s", ("time",))}


def _dimensions(file):
    """Names of the dimensions of each array, in short where that is clear; numbers where the file says none, as before 1.0.0.
    Which arrays hold the coordinates of a dimension, by its name; and all that do."""
    lengths, dimensions, scales, named = {}, {}, {}, set()
    for name, v in file.variables.items():
        paths = v.attrs.get("dimensions", "").split()
        short = [p.rpartition("/")[2] for p in paths]
        clear = all(lengths.setdefault(s, n) == n for s, n in zip(short, v.shape))
        dimensions[name] = tuple(short if clear else paths) or tuple(f"{name[1:]}_{d}" for d in range(len(v.shape)))
        scales.update({s: p for s, p in zip(short, paths) if clear and p in file})
        named.update(paths)
    return dimensions, scales, named


def _dataset(file, memory_limit):
    """All arrays: an xarray.Dataset where xarray is installed, else a dictionary of them, with .attrs."""
    values, bytes_ = {}, sum(v.dtype.itemsize * int(np.prod(v.shape, dtype=float)) for v in file.variables.values())
    if bytes_ > (memory_limit or 0.8 * _free_memory()):
        raise lib.PenstockError(f"{file.path}: its arrays take {bytes_} bytes, {memory_limit or 'fewer'} may be used: read the rows "
                                "that are needed with penstock.File(path)[name][first:last], or give memory_limit", 4)
    dimensions, scales, named = _dimensions(file)
    coordinates = {name: (file[path].valid(), file[path].units, (name,)) for name, path in scales.items()}
    for name, v in file.variables.items():
        if name not in named:
            values[name.lstrip("/")] = (v.valid(), v.units, dimensions[name])
    if file.format == "penstock-history" and "time" not in coordinates:
        coordinates = _history(file, values)
    if file.format == "penstock-trace":
        axis = "frequency" if file.attrs["in_frequency"] else "time"
        for name in ("trace/real", "trace/imaginary"):
            if name in values:
                values[name] = values[name][:2] + ((axis, "channel"),)
        times = coordinates.get("axis") or values.pop("trace/axis")
        coordinates = {axis: times[:2] + ((axis,),),
                       "place": values.pop("trace/places")[:2] + (("channel", "xyz"),)}
        values.pop("trace/channel", None)
        if "trace/imaginary" not in values:
            values["value"] = values.pop("trace/real")
    values = _complex(values)
    if file.format == "penstock-trace":  # the file says of which unit its values are in an attribute
        values["value"] = values["value"][0], file.attrs.get("value_units", values["value"][1]), values["value"][2]
    try:
        import xarray
    except ImportError:
        return Arrays({n: v[0] for n, v in {**coordinates, **values}.items()}, file.attrs,
                      {n: v[1] for n, v in {**coordinates, **values}.items()})
    wrap = lambda v: (v[2], v[0], {"units": v[1]})
    return xarray.Dataset({n: wrap(v) for n, v in values.items()}, {n: wrap(v) for n, v in coordinates.items()}, file.attrs)


def _free_memory():
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return float("inf")


class Arrays(dict):
    """Arrays by name; attrs of the file, units by name."""

    def __init__(self, arrays, attrs, units):
        super().__init__(arrays)
        self.attrs, self.units = attrs, units


def open(path, memory_limit=0):
    """A file as what it is: Mesh, HMatrix (a SciPy LinearOperator), Octree, else its arrays with their attributes."""
    from .operators import HMatrix
    with File(path) as file:
        if file.format == "penstock-hmatrix":
            return HMatrix(path, memory_limit)
        if "VTKHDF/Connectivity" in file:  # meshes, fields and solutions
            return _mesh(file)
        return Octree(file) if file.format == "penstock-octree" else _dataset(file, memory_limit)
