"""Writes a mesh of two regions, 5 "left" and 9 "right", in many formats: two cubes of six tetrahedra each. Those that the
standard library can write are always written; with NumPy, SciPy, h5py and meshio there are more. Prints the names."""
import base64
import itertools
import struct
import sys
import zlib
from pathlib import Path

POINTS = [(x, y, z) for x in (0, 1, 2) for y in (0, 1) for z in (0, 1)]


def cubes():
    cells, tags = [], []
    for cube, tag in ((0, 5), (1, 9)):
        for way in itertools.permutations(range(3)):
            at, cell = [cube, 0, 0], [4 * cube]
            for axis in way:
                at[axis] += 1
                cell.append(4 * at[0] + 2 * at[1] + at[2])
            odd = sum(a > b for a, b in itertools.combinations(way, 2)) % 2
            cells.append((cell[0], cell[1], cell[3], cell[2]) if odd else tuple(cell))
            tags.append(tag)
    return cells, tags


CELLS, TAGS = cubes()
N, M = len(POINTS), len(CELLS)


def rows(items, shift=0):
    return "\n".join(" ".join(str(v + shift) for v in item) for item in items) + "\n"


def msh22(groups):
    elements = "".join(f"{i} 4 2 {tag if groups else 0} {tag} {' '.join(str(v + 1) for v in cell)}\n"
                       for i, (cell, tag) in enumerate(zip(CELLS, TAGS), 1))
    nodes = "".join(f"{i} {x} {y} {z}\n" for i, (x, y, z) in enumerate(POINTS, 1))
    names = '$PhysicalNames\n2\n3 5 "left"\n3 9 "right"\n$EndPhysicalNames\n' if groups else ""
    return (f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n{names}$Nodes\n{N}\n{nodes}$EndNodes\n"
            f"$Elements\n{M}\n{elements}$EndElements\n")


def medit():
    return ("MeshVersionFormatted 2\nDimension 3\nVertices\n" + f"{N}\n" + rows(p + (0,) for p in POINTS) + f"Tetrahedra\n{M}\n"
            + "".join(" ".join(str(v + 1) for v in cell) + f" {tag}\n" for cell, tag in zip(CELLS, TAGS)) + "End\n")


def nastran():
    grid = "".join(f"GRID,{i},,{float(x)},{float(y)},{float(z)}\n" for i, (x, y, z) in enumerate(POINTS, 1))
    cells = "".join(f"CTETRA,{i},{tag},{','.join(str(v + 1) for v in cell)}\n" for i, (cell, tag) in enumerate(zip(CELLS, TAGS), 1))
    return f"$ two cubes\nBEGIN BULK\n{grid}{cells}ENDDATA\n"


def abaqus():
    nodes = "".join(f"{i}, {x}, {y}, {z}\n" for i, (x, y, z) in enumerate(POINTS, 1))
    line = lambda i: f"{i}, {', '.join(str(v + 1) for v in CELLS[i - 1])}\n"
    return (f"*HEADING\n two cubes\n** a comment\n*NODE, NSET=all\n{nodes}*Element, type=C3D4, elset=everything\n"
            + "".join(map(line, range(1, M + 1))) + "*ELSET, ELSET=left, GENERATE\n1, 6, 1\n*Elset, elset=right\n7, 8, 9,\n10, 11, 12\n"
            "*NODE OUTPUT\nU\n*Solid Section, elset=left, material=a\n1.,\n*Solid Section, elset=right, material=b\n1.,\n")


def vtk(version, binary):
    flat = [v for cell in CELLS for v in cell]
    put = lambda code, values: (struct.pack(f">{len(values)}{code}", *values) + b"\n") if binary else (" ".join(map(str, values)) + "\n").encode()
    out = f"# vtk DataFile Version {version}\ntwo cubes\n{'BINARY' if binary else 'ASCII'}\nDATASET UNSTRUCTURED_GRID\n".encode()
    out += f"POINTS {N} double\n".encode() + put("d", [float(v) for p in POINTS for v in p])
    if version >= 5:
        out += f"METADATA\nINFORMATION 0\n\nCELLS {M + 1} {4 * M}\nOFFSETS vtktypeint64\n".encode() + put("q", list(range(0, 4 * M + 1, 4)))
        out += b"CONNECTIVITY vtktypeint64\n" + put("q", flat)
    else:
        out += f"CELLS {M} {5 * M}\n".encode() + put("i", [v for cell in CELLS for v in (4,) + cell])
    out += f"CELL_TYPES {M}\n".encode() + put("i", [10] * M)
    out += f"CELL_DATA {M}\nSCALARS heat double 1\nLOOKUP_TABLE default\n".encode() + put("d", [.5 * i for i in range(M)])
    return out + f"FIELD FieldData 1\nmaterial 1 {M} int\n".encode() + put("i", TAGS)


def vtu(form):
    """form: ascii, base64, zlib (in base64), raw (appended)."""
    appended = b""

    def array(name, kind, code, values, components=1):
        nonlocal appended
        head = f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" '
        data = struct.pack(f"<{len(values)}{code}", *values)
        if form == "ascii":
            return head + f'format="ascii">\n{" ".join(map(str, values))}\n</DataArray>\n'
        if form == "raw":
            head += f'format="appended" offset="{len(appended)}"/>\n'
            appended += struct.pack("<Q", len(data)) + data
            return head
        half = len(data) // 2 // 8 * 8 or len(data)
        blocks = [zlib.compress(data[i:i + half]) for i in range(0, len(data), half)]
        sizes = [len(blocks), half, len(data) % half, *map(len, blocks)]
        text = (base64.b64encode(struct.pack("<Q", len(data)) + data) if form == "base64" else
                base64.b64encode(struct.pack(f"<{len(sizes)}Q", *sizes)) + base64.b64encode(b"".join(blocks)))
        return head + f'format="binary">\n{text.decode()}\n</DataArray>\n'

    body = ("<PointData>" + array("warm", "Float32", "f", [0.] * N) + "</PointData>\n<Points>"
            + array("Points", "Float64", "d", [float(v) for p in POINTS for v in p], 3) + "</Points>\n<Cells>"
            + array("connectivity", "Int64", "q", [v for cell in CELLS for v in cell])
            + array("offsets", "Int64", "q", list(range(4, 4 * M + 1, 4))) + array("types", "UInt8", "B", [10] * M)
            + "</Cells>\n<CellData>" + array("heat", "Float64", "d", [.5] * M) + array("region", "Int32", "i", TAGS) + "</CellData>\n")
    compressor = ' compressor="vtkZLibDataCompressor"' if form == "zlib" else ""
    head = ('<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64"'
            f'{compressor}>\n<UnstructuredGrid>\n<!-- <Piece> --><Piece NumberOfPoints="{N}" NumberOfCells="{M}">\n')
    tail = '<AppendedData encoding="raw">\n_'.encode() + appended + b"\n</AppendedData>\n" if appended else b""
    return (head + body + "</Piece>\n</UnstructuredGrid>\n").encode() + tail + b"</VTKFile>\n"


def own(folder):
    made = {"two.msh": msh22(True), "entities.msh": msh22(False), "two.mesh": medit(), "two.bdf": nastran(), "two.inp": abaqus(),
            "two_3.vtk": vtk(3.0, False), "two_4b.vtk": vtk(4.2, True), "two_5.vtk": vtk(5.1, False), "two_5b.vtk": vtk(5.1, True),
            **{f"two_{form}.vtu": vtu(form) for form in ("ascii", "base64", "zlib", "raw")}}
    for name, content in made.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(made)


def with_packages(folder):
    """What NumPy, SciPy, h5py and meshio write, as far as they are there."""
    made = []
    try:
        import numpy
        numpy.savez(folder / "two.npz", points=numpy.array(POINTS, float), cells=numpy.array(CELLS), tags=numpy.array(TAGS),
                    names=["5 left", "9 right"])
        made.append("two.npz")
        from scipy.io import savemat
        savemat(folder / "two.mat", {"p": numpy.array(POINTS, float).T, "t": numpy.array(CELLS).T + 1, "regions": TAGS})
        made.append("two.mat")
        import h5py
        with h5py.File(folder / "two73.mat", "w", userblock_size=512) as file:
            file["points"], file["cells"] = numpy.array(POINTS, float).T, numpy.array(CELLS, float).T + 1
            file["tags"] = numpy.array([TAGS], float).T
        with (folder / "two73.mat").open("r+b") as file:
            file.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\0\2IM")
        made.append("two73.mat")
        import meshio
        tags = numpy.array(TAGS)
        mesh = lambda **more: meshio.Mesh(numpy.array(POINTS, float), [("tetra", numpy.array(CELLS))], **more)
        med = mesh(cell_data={"cell_tags": [-tags]})
        med.cell_tags = {-5: ["left"], -9: ["right"]}
        for name, one in (("two.med", med), ("two.xdmf", mesh(cell_data={"tag": [tags]})),
                          ("meshio.vtu", mesh(cell_data={"medit:ref": [tags]})),
                          ("meshio.inp", mesh(cell_sets={"left": [numpy.arange(6)], "right": [numpy.arange(6, 12)]}))):
            one.write(folder / name)
            made.append(name)
    except ImportError:
        pass
    return made


if __name__ == "__main__":
    target = Path(sys.argv[1])
    print("\n".join(own(target)))
    print("\n".join(with_packages(target)))
