# A wheel of a few programs: it installs into an empty environment and runs there; it is closed, and one that is not is refused by the name
# of what is missing.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface verify help
needs_python numpy pip
for tool in patchelf readelf strip; do command -v $tool > /dev/null || { echo "$tool is not installed"; exit 77; }; done
export PYTHONDONTWRITEBYTECODE=1
build() { python3 "$ROOT/python/penstock_build.py" "$@"; }

mkdir -p small/bin
for program in mesh-surface verify help; do ln -s "$BUILD/bin/penstock-$program" small/bin; done
for part in lib plugin mpi; do ln -s "$BUILD/$part" small/$part; done
expect 0 "manylinux_" build wheel small 1.0.0 dist
wheel=$(echo dist/penstock-1.0.0-py3-none-manylinux_*.whl)
expect 0 "closed, for a C library of" build check "$wheel"

python3 -m pip --disable-pip-version-check install -q --no-deps --no-index --target there "$wheel" > log 2>&1 || { cat log; fail "pip"; }
# Nothing of this build or this system is told to it.
alone() { env -i PATH=/usr/bin:/bin PYTHONPATH="$PWD/there" PYTHONDONTWRITEBYTECODE=1 "$@"; }
expect 0 "" alone "$PYTHON" there/bin/penstock mesh-surface ball.hdf --divisions 4
expect 0 "good" alone "$PYTHON" there/bin/penstock verify ball.hdf
expect 0 "there/penstock/bin/../lib/libhdf5" alone ldd there/penstock/bin/penstock-verify
expect 0 "" alone "$PYTHON" -c 'import penstock; mesh = penstock.open("ball.hdf"); assert len(mesh.points) == 66, len(mesh.points)'

# Without one of its libraries; with a folder of this machine; told to be for an older C library.
python3 - "$wheel" <<'PYTHON' || fail "the copies"
import sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile("penstock-1.0.0-py3-none-manylinux_2_36_open.whl", "w") as out:
    for name in wheel.namelist():
        if "/lib/libhdf5" not in name:
            out.writestr(name, wheel.read(name))
PYTHON
expect 1 "needs libhdf5" build check penstock-1.0.0-py3-none-manylinux_2_36_open.whl
cp "$wheel" penstock-1.0.0-py3-none-manylinux_2_17_x.whl
expect 1 "the tag says 2.17" build check penstock-1.0.0-py3-none-manylinux_2_17_x.whl
