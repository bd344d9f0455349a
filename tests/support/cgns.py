"""cgns.py NAME OUT.cgns [turned|vertex]: the panels of NAME.csv, NAME-p.csv and NAME-u.csv (panels.py) as a CGNS file, on the triangles of
NAME.off in their order, and these triangles as panels in OUT.csv. Pressures stand on 1e5 Pa. turned: corners the other way round."""
import sys

import h5py
import numpy as np

name, out, how = sys.argv[1], sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else ""
words = open(name + ".off").read().split()[1:]
count, faces = int(words[0]), int(words[1])
points = np.array(words[3:3 + 3 * count], float).reshape(-1, 3)
corners = np.array(words[3 + 3 * count:], float).reshape(faces, 4)[:, 1:].astype("i4") + 1
a, b, c = (points[corners[:, k] - 1] for k in range(3))
normal = np.cross(b - a, c - a) / 2
area = np.linalg.norm(normal, axis=1, keepdims=True)
np.savetxt(out + ".csv", np.c_[(a + b + c) / 3, normal / area, area], delimiter=",", fmt="%.17g")
if how == "turned":
    corners = corners[:, ::-1]
pressure, fluid = (np.loadtxt(name + end, delimiter=",") for end in ("-p.csv", "-u.csv"))


def node(parent, title, label, data=None):
    g = parent.create_group(title)
    for key, value in (("name", title), ("label", label)):
        g.attrs.create(key, np.bytes_(value), dtype="S33")
    if isinstance(data, str):
        data = np.frombuffer(data.encode(), "i1")
    if data is not None:
        g.create_dataset(" data", data=data)
    return g


with h5py.File(out, "w") as f:
    f.attrs.create("label", np.bytes_("Root Node of HDF5 File"), dtype="S33")
    base = node(f, "Base", "CGNSBase_t", np.array([2, 3], "i4"))
    zone = node(base, "Zone", "Zone_t", np.array([[count], [faces], [0]], "i4"))
    node(zone, "ZoneType", "ZoneType_t", "Unstructured")
    grid = node(zone, "GridCoordinates", "GridCoordinates_t")
    for k, axis in enumerate("XYZ"):
        node(grid, "Coordinate" + axis, "DataArray_t", points[:, k].copy())
    half = faces // 2  # two sections, of which one is mixed
    for title, kind, first, part in (("First", 5, 1, corners[:half].ravel()),
                                     ("Second", 20, half + 1, np.c_[np.full(faces - half, 5), corners[half:]].ravel())):
        section = node(zone, title, "Elements_t", np.array([kind, 0], "i4"))
        node(section, "ElementRange", "IndexRange_t", np.array([first, first + len(part) // (3 if kind == 5 else 4) - 1], "i4"))
        node(section, "ElementConnectivity", "DataArray_t", part.astype("i4"))
    for n, (p, u) in enumerate(zip(pressure[:, 1:], fluid[:, 1:].reshape(len(fluid), -1, 3))):
        solution = node(zone, f"Flow{n}", "FlowSolution_t")
        node(solution, "GridLocation", "GridLocation_t", "CellCenter")
        node(solution, "Pressure", "DataArray_t", p + 1e5)
        for k, axis in enumerate("XYZ"):
            node(solution, "Velocity" + axis, "DataArray_t", u[:, k].copy())
    times = node(base, "Times", "BaseIterativeData_t", np.array([len(pressure)], "i4"))
    node(times, "TimeValues", "DataArray_t", pressure[:, 0].copy())
    steps = node(zone, "Steps", "ZoneIterativeData_t")
    names = "".join(f"Flow{n}".ljust(32) for n in range(len(pressure)))
    node(steps, "FlowSolutionPointers", "DataArray_t", np.frombuffer(names.encode(), "i1").reshape(-1, 32))
