"""The programs, run as they are: keyword options, figures back, failures raised."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

from ._library import HERE, PenstockError, Stopped, numbers as _numbers, positions as _positions
from .files import Mesh, _names


def find(program):
    """The path of penstock-PROGRAM: in $PENSTOCK_BIN, in this package, on PATH."""
    name = "penstock-" + program
    if os.environ.get("PENSTOCK_BIN"):
        folders = [os.environ["PENSTOCK_BIN"]]
    else:
        folders = [str(HERE / "bin"), os.environ.get("PATH", os.defpath)]
    path = shutil.which(name, path=os.pathsep.join(folders))
    if path is None:
        raise PenstockError(f"{name} was not found in {os.pathsep.join(folders)}: install Penstock, or set PENSTOCK_BIN", 3)
    return path


def main():
    """penstock, penstock-NAME of a wheel: the program of this name in place of this process; and penstock demo."""
    name = Path(sys.argv[0]).name
    if name == "penstock" and sys.argv[1:2] == ["demo"]:
        from .demo import main as demo
        sys.exit(demo(sys.argv[2:]))
    path = find(name[len("penstock-"):] or "help")
    # penstock-help is the front command under the name "penstock"
    own = path if name.startswith("penstock-") else str(Path(path).with_name("penstock"))
    os.execv(path, [own, *sys.argv[1:]])


def arguments(options):
    """host_memory="2G" is --host-memory 2G; True a flag, False and None nothing; a tuple or an array is one value with
    commas, a list the option several times."""
    out = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, list) else [value]:
            if one is None or one is False:
                continue
            out.append(option)
            if one is not True:
                out.append(",".join(_text(v) for v in one) if isinstance(one, (tuple, np.ndarray)) else _text(one))
    return out


def _text(value):
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def run(program, *operands, progress=None, ranks=1, **options):
    """Runs penstock-PROGRAM OPERANDS --OPTIONS and returns its figures (its text, where it has none).

    progress: called with every line that the program says while it runs, once a second at least; what it raises ends the
    program, which saves its state where it has one. ranks: more than 1 through mpirun. Raises
    Stopped on exit code 75, PenstockError with what the program said and its code on any other but 0."""
    command = [find(program), *map(os.fspath, operands), *arguments(options), "--json"]
    if ranks > 1:
        command = ["mpirun", "-n", str(ranks), *command]
    said, out = [], []
    environment = {**os.environ, "PENSTOCK_PROGRESS": "1"} if progress else None
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
    reader = threading.Thread(target=lambda: out.append(process.stdout.read()))
    reader.start()
    try:
        for line in process.stderr:
            said.append(line.rstrip("\n"))
            if progress:
                progress(said[-1])
        code = process.wait()
    except BaseException:
        process.terminate()  # saves its state, where it has one
        process.wait()
        raise
    finally:
        reader.join()
        process.stdout.close()
        process.stderr.close()
    _warn(program, said)
    if code:
        raise (Stopped if code == 75 else PenstockError)(_reason(program, said, code), code, program)
    try:
        return json.loads(out[0])
    except ValueError:
        return out[0]


def _warn(program, said):
    mark = f"penstock-{program}: warning: "
    for line in said:
        if line.startswith(mark):
            warnings.warn(line, stacklevel=3)


def _reason(program, said, code):
    """From the last "error: " on, as messages may have several lines."""
    marks = [f"penstock-{program}: error: ", f"penstock-{program}: "]
    for mark in marks:
        for i in range(len(said) - 1, -1, -1):
            if said[i].startswith(mark):
                return "\n".join([said[i][len(mark):], *said[i + 1:]])
    return "\n".join(said[-5:]) or (f"ended by signal {-code}" if code < 0 else f"exit code {code}")


# ---- inputs from arrays ----

# What programs call the cell data that say regions, the surest first.
_TAGS = ("tag", "tags", "gmsh:physical", "medit:ref", "nastran:ref", "cell_tags", "MaterialIds", "avsucd:material", "region", "material",
         "gmsh:geometrical")
_WIDTHS = {"triangle": 3, "tetra": 4}


def _tags_of_sets(mesh):
    """Of a mesh whose regions are sets of cells: tags a block and their names; a cell of several sets has the first one's."""
    sets = {name: s for name, s in (getattr(mesh, "cell_sets", None) or {}).items() if not name.startswith("gmsh:")}
    tags = [np.zeros(len(block.data), int) for block in mesh.cells]
    for tag, members in enumerate(sets.values(), 1):
        for of, chosen in zip(tags, members):
            chosen = np.asarray([] if chosen is None else chosen, int)
            of[chosen[of[chosen] == 0]] = tag
    return (tags, dict(enumerate(sets, 1))) if sets else (None, {})


def _regions(mesh, dimension):
    """Tags a block (None: there are none) and their names, below 0 those of surfaces beside volumes."""
    known = [name for name in _TAGS if name in mesh.cell_data]
    whole = [name for name, v in mesh.cell_data.items() if all(np.asarray(b).ndim == 1 and np.issubdtype(b.dtype, np.integer) for b in v)]
    name = known[0] if known else whole[0] if len(whole) == 1 else None
    left = sorted(n for n in mesh.cell_data if n != name and not n.startswith("gmsh:"))
    if left:
        warnings.warn(f"cell data that are left out: {', '.join(left)}", stacklevel=5)
    if name is None:
        return _tags_of_sets(mesh)
    names = {int(v[0]) * (1 if v[1] == dimension else -1): text
             for text, v in (getattr(mesh, "field_data", None) or {}).items() if np.size(v) == 2 and 2 <= v[1] <= dimension}
    # meshio's MED: families of cells have negative numbers and lists of names
    names.update({abs(int(tag)): ", ".join(texts) for tag, texts in (getattr(mesh, "cell_tags", None) or {}).items() if texts})
    values = [np.asarray(b) for b in mesh.cell_data[name]]
    every = np.unique(np.concatenate(values)) if values else np.zeros(0)
    if (both := np.intersect1d(every[every > 0], -every[every < 0])).size:
        raise PenstockError(f"the cell data \"{name}\" have both {-both[0]} and {both[0]}, which would be one tag: number regions from 1 on", 2)
    return [np.abs(b) for b in values], names


def _from_meshio(mesh):
    blocks = [(i, b) for i, b in enumerate(mesh.cells) if b.type in _WIDTHS]
    kind = "tetra" if any(b.type == "tetra" for _, b in blocks) else "triangle"
    tags, names = _regions(mesh, 3 if kind == "tetra" else 2)
    tagged = tags is not None
    dropped = sorted({b.type for b in mesh.cells if len(b.data) and b.type != kind and not (b.type == "triangle" and tagged)})
    unread = [name for name in dropped if name not in ("vertex", "line", "line3", "triangle")]
    if unread:
        raise PenstockError(f"cells of the types {', '.join(unread)}: triangles and tetrahedra with straight edges are taken; "
                            "split the others, or leave them out yourself", 2)
    if dropped:
        warnings.warn(f"cells that are left out: {', '.join(dropped)}", stacklevel=4)
    kept = [(i, b) for i, b in blocks if b.type == kind or tagged]
    cells = [np.asarray(b.data) for _, b in kept]
    return np.asarray(mesh.points), cells, [tags[i] if tagged else None for i, _ in kept], names


def _from_pyvista(mesh):
    found = []
    grid = mesh.cast_to_unstructured_grid()
    data = grid.cell_data
    tag = next((name for name in _TAGS if name in data), None)
    others = sorted(set(map(int, grid.celltypes)) - {5, 10})
    if others:
        raise PenstockError(f"cells of VTK types {others}: triangulate() first, triangles and tetrahedra are taken", 2)
    for kind, cells in grid.cells_dict.items():
        found.append((cells, np.asarray(data[tag])[grid.celltypes == kind] if tag else None))
    names = _names(map(str, grid.field_data["tag_names"])) if "tag_names" in grid.field_data else {}
    return np.asarray(grid.points), [f[0] for f in found], [f[1] for f in found], names


def _check_rounded(kind, points, cells):
    """As penstock-mesh-import does of files in single precision, which the text that is written for it does not tell."""
    edges = [np.linalg.norm(points[block[:, 1]] - points[block[:, 0]], axis=1) for block in cells if len(block)]
    if kind.kind != "f" or kind.itemsize >= 8 or not edges:
        return
    step, edge = np.finfo(kind).eps / 2 * np.abs(points).max(), np.concatenate(edges).mean()
    if step > 0.01 * edge:
        raise PenstockError(f"points of {kind} are rounded to {step:.2g}, and edges are {edge:.2g} long: it is another body than was meant. "
                            "Give float64, or move it to the origin where it was made", 3)


def write_mesh(path, mesh, tags=None, names=None):
    """Writes an MSH 2.2 file that penstock-mesh-import reads: a Mesh, (points, cells), a mesh of meshio or of pyvista.
    Regions are the integers of the cell data "tag", "gmsh:physical", "medit:ref", "cell_tags" or "MaterialIds"."""
    if isinstance(mesh, Mesh):
        points, cells, tag, known = mesh.points, [mesh.cells], [mesh.tags], mesh.names
    elif isinstance(mesh, tuple):
        points, cells, tag, known = mesh[0], [mesh[1]], [tags], {}
    elif hasattr(mesh, "cast_to_unstructured_grid"):
        points, cells, tag, known = _from_pyvista(mesh)
    elif hasattr(mesh, "cells") and hasattr(mesh, "points"):
        points, cells, tag, known = _from_meshio(mesh)
    else:
        raise PenstockError(f"{type(mesh).__name__}: a Mesh, (points, cells), or a mesh of meshio or pyvista is expected", 2)
    names = {**known, **(names or {})}
    stored = mesh.stored if isinstance(mesh, Mesh) else np.asarray(points).dtype
    points, lines, number = _numbers(points, what="points"), [], 0
    if points.ndim == 2 and points.shape[1] == 2:
        points = np.column_stack([points, np.zeros(len(points))])
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise PenstockError("points [n][3] of finite numbers are expected", 2)
    if any(not set('"\n\r').isdisjoint(name) for name in names.values()):
        raise PenstockError(f"names {list(names.values())}: without quotes and ends of lines", 2)
    cells = [_numbers(block, np.int64, "cells") for block in cells]
    for block, of in zip(cells, tag):
        if block.ndim != 2 or block.shape[1] not in (3, 4) or block.size and not 0 <= block.min() <= block.max() < len(points):
            raise PenstockError("cells [m][3] or [m][4] with numbers of points are expected", 2)
        of = np.zeros(len(block), int) if of is None else _numbers(of, np.int32, "tags")
        if of.shape != (len(block),):
            raise PenstockError(f"{list(of.shape)} tags for {len(block)} cells", 2)
        kind = {3: 2, 4: 4}[block.shape[1]]
        for cell, t in zip(block.tolist(), of.tolist()):
            number += 1
            lines.append(f"{number} {kind} 2 {t} {t} " + " ".join(str(v + 1) for v in cell))
    _check_rounded(stored, points, cells)
    dimension = max((block.shape[1] - 1 for block in cells), default=2)
    with Path(path).open("w") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n")
        if names:
            out.write(f"$PhysicalNames\n{len(names)}\n")
            out.writelines(f'{dimension if tag > 0 else 2} {abs(tag)} "{name}"\n' for tag, name in names.items())
            out.write("$EndPhysicalNames\n")
        out.write(f"$Nodes\n{len(points)}\n")
        out.writelines(f"{i} {x!r} {y!r} {z!r}\n" for i, (x, y, z) in enumerate(points.tolist(), 1))
        out.write(f"$EndNodes\n$Elements\n{len(lines)}\n" + "\n".join(lines) + "\n$EndElements\n")


# ---- files of arrays ----

_ARRAYS = {"points": ("points", "p", "vertices", "nodes"), "cells": ("cells", "tetrahedra", "triangles", "t", "elements", "faces"),
           "tags": ("tags", "tag", "regions", "region", "materials")}


def _matlab(path):
    """Arrays of a MATLAB file: version 7.3 is HDF5, whose arrays lie transposed, by h5py; older ones by SciPy."""
    with path.open("rb") as file:
        is_hdf5 = b"MATLAB 7.3" in file.read(128)
    if is_hdf5:
        import h5py
        with h5py.File(path) as file:
            return {name: file[name][...].T for name in file if isinstance(file[name], h5py.Dataset)}
    from scipy.io import loadmat
    return loadmat(path)


def _from_arrays(path):
    """points, cells, tags of an .npz or .mat file; MATLAB counts from 1, which is taken where no 0 occurs."""
    matlab = path.suffix.lower() == ".mat"
    held = _matlab(path) if matlab else np.load(path, allow_pickle=False)
    found = {what: next((np.asarray(held[n]) for n in names if n in held), None) for what, names in _ARRAYS.items()}
    if found["points"] is None or found["cells"] is None:
        raise PenstockError(f"{path}: expected arrays {_ARRAYS['points']} and {_ARRAYS['cells']}, there are {sorted(held)}", 3)
    points, cells = found["points"], _numbers(found["cells"], np.int64, "cells")
    points = points.T if points.ndim == 2 and points.shape[1] != 3 and points.shape[0] == 3 else points
    cells = cells.T if cells.ndim == 2 and cells.shape[1] not in (3, 4) and cells.shape[0] in (3, 4) else cells
    cells = cells - 1 if matlab and cells.size and cells.min() >= 1 else cells
    names = _names([str(line).strip() for line in np.ravel(held["names"])]) if "names" in held else {}
    return Mesh(points, cells, None if found["tags"] is None else np.ravel(_numbers(found["tags"], np.int32, "tags")), names)


def _check_med(path, options):
    """meshio leaves the unit out that a MED file states of its coordinates."""
    try:
        import h5py
    except ImportError:
        return  # nor does meshio read it then
    with h5py.File(path) as file:
        said = [bytes(mesh.attrs.get("UNI", b"")).decode(errors="replace") for mesh in file.get("ENS_MAA", {}).values()]
    others = {unit.lower() for units in said for unit in units.replace("\0", " ").split()} & {"um", "mm", "cm", "dm", "km", "in", "inch", "ft"}
    if others and not {"unit", "scale"} & set(options):
        raise PenstockError(f"{path}: states that its coordinates are in {', '.join(sorted(others))}: give unit= or scale=", 3)


def _check_cgns(path, options):
    """meshio takes one section of elements of one zone, whatever there is beside it, for tetrahedra."""
    try:
        import h5py
    except ImportError:
        return
    found, units = {"CGNSBase_t": [], "Zone_t": [], "Elements_t": []}, set()

    def visit(_, node):
        label = node.attrs.get("label", b"")
        label = (label if isinstance(label, bytes) else str(label).encode()).strip(b"\0 ").decode()
        if label in found:
            found[label].append(node)
        if label == "DimensionalUnits_t" and " data" in node:
            units.add(node[" data"][...].tobytes()[32:64].strip(b"\0 ").decode(errors="replace"))

    with h5py.File(path) as file:
        file.visititems(visit)
        bases, zones, sections = (found[k] for k in ("CGNSBase_t", "Zone_t", "Elements_t"))
        kinds = [int(np.ravel(node[" data"])[0]) for node in sections if " data" in node]
    if max(len(bases), len(zones), len(sections)) > 1 or kinds not in ([], [10]):
        raise PenstockError(f"{path}: has {len(zones)} zones and sections of the types {kinds} (CGNS), of which meshio reads one of "
                            "tetrahedra (10) alone: convert it to MSH, VTU or MED", 3)
    others = units - {"Meter", "Null", "UserDefined", ""}
    if others and not {"unit", "scale"} & set(options):
        raise PenstockError(f"{path}: states that its coordinates are in {', '.join(sorted(others))}: give unit= or scale=", 3)


def _from_file(path, options):
    """A mesh of a file that penstock-mesh-import does not read: arrays, else what meshio reads."""
    if path.suffix.lower() == ".med":
        _check_med(path, options)
    if path.suffix.lower() == ".cgns":
        _check_cgns(path, options)
    if path.suffix.lower() in (".npz", ".mat"):
        return _from_arrays(path)
    try:
        import meshio
    except ImportError:
        raise PenstockError(f"{path}: penstock-mesh-import does not read \"{path.suffix}\", and meshio, which may, is not installed", 3)
    try:
        return meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio ends the program over a file that it cannot read
        raise PenstockError(f"{path}: meshio cannot read it: {error}", 3) from error


# Of penstock-mesh-import itself.
_OWN = {".msh", ".stl", ".vtk", ".vtu", ".vtp", ".off", ".obj", ".ply", ".inp", ".unv", ".mesh", ".bdf", ".nas", ".geo", ".step", ".stp",
        ".iges", ".igs", ".brep", ".gz", ".zst"}


def import_mesh(mesh, output, tags=None, names=None, **options):
    """A mesh of arrays, meshio or pyvista, or a file, as a mesh file of Penstock, by penstock-mesh-import; its figures. A file
    is one that the program reads, arrays points, cells and tags in an .npz or .mat, or one that meshio reads (MED, CGNS, XDMF)."""
    if isinstance(mesh, (str, os.PathLike)):
        if Path(mesh).suffix.lower() in _OWN:
            return run("mesh-import", mesh, output, **options)
        mesh = _from_file(Path(mesh), options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mesh.msh"
        write_mesh(path, mesh, tags, names)
        return run("mesh-import", path, output, **options)


def import_particles(positions, charges, output, **options):
    """Particles [n][3] with charges [n] or [sides][n] as a file of Penstock, by penstock-particle-import; its figures. With
    moments= rows of charges are the columns of specs/particles.md, in their order."""
    places, charges = _positions(positions), np.atleast_2d(_numbers(charges, what="charges"))
    if charges.ndim != 2 or charges.shape[1] != len(places):
        raise PenstockError(f"charges [{len(places)}] or [sides][{len(places)}] are expected, not {list(charges.shape)}", 2)
    columns = np.column_stack([places, *charges])
    if "moments" in options:  # which columns these are is said by their order
        options.setdefault("columns", tuple(range(1, columns.shape[1] + 1)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "particles.csv"
        header = ",".join(["x", "y", "z"] + [f"q{i}" for i in range(columns.shape[1] - 3)])
        np.savetxt(path, columns, "%.17g", ",", header=header, comments="")
        return run("particle-import", path, output, **options)
