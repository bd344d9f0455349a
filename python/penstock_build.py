#!/usr/bin/env python3
"""Wheel and sdist of Penstock (specs/library.md), and the hooks of PEP 517 by which pip builds them.

    penstock_build.py wheel BUILD VERSION FOLDER       programs and library of BUILD, with the libraries they need
    penstock_build.py sdist VERSION FOLDER             what git tracks
    penstock_build.py check WHEEL                      whether a wheel can run where only what its tag promises is there
"""
import base64
import hashlib
import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Of the system that the wheel is installed on: the C library (the tag says how new) and the driver of a device. MPI is the system's,
# too: the adapters for it name no library, which the programs look for (specs/ranks.md).
SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt|libresolv|libutil|ld-linux[^/]*|libcuda)\.so")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def metadata(version):
    return (f"Metadata-Version: 2.1\nName: penstock\nVersion: {version}\n"
            "Summary: out-of-core field solvers: sound, Maxwell, gravity, boundary elements, fast sums\n"
            "Requires-Python: >=3.9\nRequires-Dist: numpy\nProvides-Extra: all\n"
            "Requires-Dist: scipy; extra == 'all'\nRequires-Dist: xarray; extra == 'all'\n\n"
            + (ROOT / "README.md").read_text())


def needed(files):
    """The shared libraries that these files load, by name; Gmsh's, too, which mesh-import loads where a file wants it."""
    later = {name.decode() for file in files for name in re.findall(rb"libgmsh\.so\.[.\d]*\d", file.read_bytes())}
    found = {}
    for line in output("env", "LD_PRELOAD=" + " ".join(later), "ldd", *map(str, files)).splitlines():
        part = line.split()
        if "not found" in line:
            raise SystemExit(f"a library is missing: {line.strip()}")
        if len(part) > 2 and part[1] == "=>" and part[2].startswith("/") and not SYSTEM.match(part[0]):
            found[part[0]] = part[2]
    return found


def glibc(files):
    """The newest version of the C library that a file asks for: (2, 36)."""
    versions = re.findall(r"GLIBC_(\d+)\.(\d+)", output("readelf", "-VW", *map(str, files)))
    return max(((int(a), int(b)) for a, b in versions), default=(0, 0))


def faults(package, version):
    """Why the files of a wheel would not run on another Linux: libraries that are neither in it nor of every system, folders of this
    machine in which they are looked for, a C library newer than `version`, as (2, 36). A list of texts."""
    found = []
    files = sorted(p for folder in ("bin", "lib", "plugin", "mpi") for p in (package / folder).iterdir() if p.suffix not in (".c", ".h"))
    inside = {p.name for p in files if p.parent.name == "lib"}
    for file in files:
        name = f"{file.parent.name}/{file.name}"
        dynamic = output("readelf", "-dW", str(file))
        for library in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if library not in inside and not SYSTEM.match(library):
                found.append(f"{name} needs {library}, which is not in the wheel")
        for path in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", dynamic):
            found += [f"{name} looks for libraries in {p}" for p in path.split(":") if not p.startswith("$ORIGIN")]
        newest = glibc([file])
        if newest > version:
            found.append(f"{name} needs version {newest[0]}.{newest[1]} of the C library, the tag says {version[0]}.{version[1]}")
    return found


def check(wheel):
    """Whether a wheel is closed; with what its tag promises."""
    tagged = re.search(r"manylinux_(\d+)_(\d+)_", Path(wheel).name)
    if not tagged:
        raise SystemExit(f"{wheel}: no manylinux_X_Y in its name")
    with tempfile.TemporaryDirectory() as temporary:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(temporary)
        found = faults(Path(temporary) / "penstock", tuple(map(int, tagged.groups())))
    if found:
        raise SystemExit("\n".join([f"{wheel} would not run elsewhere:", *found]))
    return f"{wheel}: closed, for a C library of {'.'.join(tagged.groups())} or newer"


def licences(libraries, folder):
    """What the packages of the libraries say of their licences, where dpkg knows."""
    if not shutil.which("dpkg"):
        return
    paths = sorted({str(Path(p).resolve()) for p in libraries} | set(libraries))
    known = subprocess.run(["dpkg", "-S", *paths, *(p[4:] if p.startswith("/usr/") else "/usr" + p for p in paths)],
                           capture_output=True, text=True).stdout
    folder.mkdir(parents=True)
    for package in sorted({line.split(":")[0] for line in known.splitlines()}):
        text = Path("/usr/share/doc") / package / "copyright"
        if text.exists():
            shutil.copy(text, folder / package)


def gather(build, version, root):
    """The tree of the wheel below root; returns its tag."""
    package, info = root / "penstock", root / f"penstock-{version}.dist-info"
    shutil.copytree(ROOT / "python" / "penstock", package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("bin", "lib", "plugin", "mpi", "demo"):
        (package / folder).mkdir()
    for name in ("aircraft.geo", "sphere.geo"):
        shutil.copy(ROOT / "cases" / "tdbem-aircraft" / name, package / "demo")
    programs = sorted(p for p in (build / "bin").iterdir() if p.name.startswith("penstock-"))
    for program in programs:
        shutil.copy(program, package / "bin")
    shutil.copy(build / "lib" / "libpenstock.so.1", package / "lib")
    shutil.copy(build / "plugin" / "libh5zstd.so", package / "plugin")
    for adapter in sorted((build / "mpi").glob("*.so")):
        shutil.copy(adapter, package / "mpi")
        for library in re.findall(r"NEEDED.*\[(libmpi[^]]*)\]", output("readelf", "-d", str(adapter))):
            subprocess.run(["patchelf", "--remove-needed", library, package / "mpi" / adapter.name], check=True)
    libraries = needed([*programs, build / "lib" / "libpenstock.so.1"])
    for name, path in libraries.items():
        shutil.copy(path, package / "lib" / name)
    files = [p for folder in ("bin", "lib", "plugin", "mpi") for p in sorted((package / folder).iterdir())]
    for file in files:
        file.chmod(0o755)
        subprocess.run(["strip", "--strip-unneeded", file], check=True)
        # A DT_RPATH, unlike a DT_RUNPATH, is also that of what the libraries load.
        rpath = "$ORIGIN" if file.parent.name == "lib" else "$ORIGIN/../lib"
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", rpath, file], check=True)
    for source in ("mpi_adapter.c", "mpi_adapter.h"):
        shutil.copy(ROOT / "runtime" / source, package / "mpi")
    info.mkdir()
    licences(list(libraries.values()), info / "licenses")
    shutil.copy(ROOT / "LICENSE", info / "LICENSE")
    machine = output("uname", "-m").strip()
    tag = f"py3-none-manylinux_{'_'.join(map(str, glibc(files)))}_{machine}"
    (info / "METADATA").write_text(metadata(version))
    (info / "WHEEL").write_text(f"Wheel-Version: 1.0\nGenerator: penstock\nRoot-Is-Purelib: false\nTag: {tag}\n")
    names = ["penstock", *(p.name for p in programs)]
    (info / "entry_points.txt").write_text("[console_scripts]\n"
                                           + "".join(f"{n} = penstock.programs:main\n" for n in names))
    return tag


def write_wheel(build, version, folder):
    if not shutil.which("patchelf"):
        raise SystemExit("a wheel needs patchelf, which sets where its libraries are found (Debian: patchelf)")
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(temporary)
        tag = gather(Path(build).resolve(), version, root)
        name, record = f"penstock-{version}-{tag}.whl", []
        Path(folder).mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
            for path in sorted(p for p in root.rglob("*") if p.is_file()):
                content, relative = path.read_bytes(), path.relative_to(root).as_posix()
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                record.append(f"{relative},sha256={digest},{len(content)}")
                wheel.write(path, relative)
            record_name = f"penstock-{version}.dist-info/RECORD"
            wheel.writestr(record_name, "\n".join([*record, f"{record_name},,"]) + "\n")
    check(Path(folder) / name)
    return name


def write_sdist(version, folder):
    name = f"penstock-{version}.tar.gz"
    Path(folder).mkdir(parents=True, exist_ok=True)
    with tarfile.open(Path(folder) / name, "w:gz") as archive:
        for path in output("git", "-C", str(ROOT), "ls-files", "-z").split("\0"):
            if path and (ROOT / path).exists():
                archive.add(ROOT / path, f"penstock-{version}/{path}", recursive=False)
        text = metadata(version).encode()
        about = tarfile.TarInfo(f"penstock-{version}/PKG-INFO")
        about.size = len(text)
        archive.addfile(about, io.BytesIO(text))
    return name


# ---- PEP 517: pip makes what `make wheel` makes ----


def _make(target, folder):
    before = set(Path(folder).glob("*"))
    subprocess.run(["make", "-C", str(ROOT), target, f"DIST={Path(folder).resolve()}"], check=True, stdout=sys.stderr)
    return (set(Path(folder).glob("*")) - before).pop().name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _make("wheel", wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    return _make("sdist", sdist_directory)


if __name__ == "__main__":
    print({"wheel": write_wheel, "sdist": write_sdist, "check": check}[sys.argv[1]](*sys.argv[2:]))
