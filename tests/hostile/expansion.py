"""Small files that announce, or expand to, much: each must be refused (or read) with a peak of memory below ten times the
file plus 64 MB, the program's own start not counted. BUILD: the object folder; WORK: a folder. Ends with 1 otherwise."""
import gzip
import os
import struct
import sys
from pathlib import Path

BUILD, WORK = Path(os.environ["BUILD"]), Path(os.environ["WORK"])
MANY = 1_500_000_000
PLY = "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face {}\nproperty list uchar int vertex_indices\nend_header\n"
MSH4 = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 1 0\n1 0 0 0 1 1 1 1 7 0\n$EndEntities\n"
MTX = "%%MatrixMarket matrix coordinate real general\n"
FILES = {
    "ascii.ply": PLY.format("ascii", MANY, MANY),
    "faces.ply": PLY.format("ascii", 3, MANY) + "0 0 0\n1 0 0\n0 1 0\n",
    "binary.ply": PLY.format("binary_little_endian", MANY, MANY),
    "list.ply": PLY.replace("uchar", "uint").format("binary_little_endian", 1, 1).encode() + bytes(12) + struct.pack("<I", MANY),
    "nodes.off": f"OFF\n{MANY} {MANY} 0\n0 0 0\n",
    "corners.off": f"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n{MANY} 0 1 2\n",
    "index.obj": f"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 {MANY}\n",
    "count.stl": bytes(80) + struct.pack("<I", 4_000_000_000) + bytes(50),
    "nodes.msh": f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{MANY}\n1 0 0 0\n$EndNodes\n",
    "number.msh": f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n{MANY} 0 1 0\n$EndNodes\n$Elements\n1\n1 2 2 7 1 1 2 {MANY}\n$EndElements\n",
    "elements.msh": f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n{MANY}\n",
    "blocks.msh": MSH4 + f"$Nodes\n{MANY} {MANY} 1 {MANY}\n2 1 0 {MANY}\n",
    "tags.msh": MSH4 + f"$Nodes\n1 1 1 {MANY}\n2 1 0 1\n{MANY}\n0 0 0\n$EndNodes\n",
    "entities.msh": f"$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n{MANY} {MANY} {MANY} {MANY}\n",
    "points.vtk": f"# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {MANY} double\n0 0 0\n",
    "vertices.mesh": f"MeshVersionFormatted 2\nDimension 3\nVertices\n{MANY}\n0 0 0 0\n",
    "bomb.msh.gz": gzip.compress(b"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n" + b"1 0 0 0\n" * 50_000_000),
    "bomb.off.gz": gzip.compress(bytes(400_000_000)),
    "rows.mtx": MTX + f"{MANY} {MANY} 1\n1 1 1\n",
    "entries.mtx": MTX + f"3 3 {MANY}\n1 1 1\n",
    "bomb.mtx.gz": gzip.compress((MTX + "3 3 3\n").encode() + b" " * 400_000_000),
    "cells.ubc": f"{MANY} 2 2\n0 0 0\n1\n1 1\n1 1\n",
    "repeat.ubc": f"{MANY} 2 2\n0 0 0\n{MANY}*1\n1 1\n1 1\n",
    "all.ubc": "60000 60000 60000\n0 0 0\n60000*1\n60000*1\n60000*1\n",
    "line.csv": "x,y,z,q\n" + "1," * 200_000 + "1\n",
    "atoms.pqr": "ATOM 1 CA ALA A 1 1 2 3 4 5\n" * 3 + " " * 300_000,
}


def command(path):
    program = {".csv": "particle-import", ".pqr": "particle-import", ".mtx": "spmv-bench", ".ubc": "gravity-model"}
    name = program.get(path.suffix if path.suffix != ".gz" else path.suffixes[-2], "mesh-import")
    words = [str(BUILD / "bin" / ("penstock-" + name)), "--threads", "1"]
    out = str(WORK / ("out.hdf" if name in ("mesh-import", "gravity-model") else "out.h5"))
    if name == "gravity-model":
        (WORK / "one.den").write_text("1\n")
        return words + [out, "--ubc-mesh", str(path), "--ubc-model", str(WORK / "one.den")]
    return words + ([str(path), "--device", "cpu", "--least-time", "0.0001"] if name == "spmv-bench" else [str(path), out])


def peak(words):
    """Exit code and largest resident set of a child and of its children, in bytes."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        os.execv(words[0], words)
    _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    base, worst, bad = {}, (0, ""), 0
    for name, text in FILES.items():
        path = WORK / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        words = command(path)
        if words[0] not in base:
            base[words[0]] = peak([words[0], "--version"])[1]
        code, most = peak(words)
        most -= base[words[0]]
        allowed = 10 * path.stat().st_size + (64 << 20)
        worst = max(worst, (most / allowed, name))
        if most > allowed or not 0 <= code <= 5:
            bad += 1
            print(f"FAILED: {name}, {path.stat().st_size} bytes: code {code}, {most / 1e6:.0f} MB of {allowed / 1e6:.0f}")
        path.unlink()
    print(f"{len(FILES)} files that announce much, {bad} took too much; the most was {worst[0]:.2f} of what is allowed ({worst[1]})")
    sys.exit(1 if bad else 0)


main()
