# make install into an empty place: everything works from there, and uninstall leaves nothing.
. "$ROOT/tests/stages/lib.sh"
[ "$(cd "$ROOT" && readlink -f "$(make -s print-build 2>/dev/null)")" = "$(readlink -f "$BUILD")" ] ||
    { echo "this build was made with other options than make's defaults"; exit 77; }

there=$PWD/root
make -s -C "$ROOT" install DESTDIR="$there" PREFIX=/usr >log 2>&1 || { cat log; fail "make install"; }
cd "$there/usr" || fail "nothing was installed"
for program in "$BUILD"/bin/penstock-*; do
    name=$(basename "$program")
    [ -x "bin/$name" ] || fail "bin/$name is missing"
    [ -s "share/man/man1/$name.1" ] || fail "the manual page of $name is missing"
done
[ "$(readlink bin/penstock)" = penstock-help ] || fail "bin/penstock"
[ -s lib/penstock/plugin/libh5zstd.so ] || fail "the HDF5 plugin is missing"
[ -s lib/penstock/mpi/mpi_adapter.c ] && [ -s lib/penstock/mpi/mpi_adapter.h ] || fail "the source of the adapters of MPI is missing"
[ "$(cd lib/penstock/mpi && echo *.so)" = "$(cd "$BUILD/mpi" 2> /dev/null && echo *.so)" ] || fail "adapters of MPI: $(ls lib/penstock/mpi)"
expect 1 "/bin/../lib/penstock/mpi/mpi_adapter.c -o" env PENSTOCK_MPI=./none.so PMI_SIZE=2 PMI_RANK=0 bin/penstock-inspect --version
rm out err
[ -s share/doc/penstock/LICENSE ] || fail "the licence is missing"
bash -n share/bash-completion/completions/penstock || fail "the completion is no bash"

# The installed programs find each other without PATH.
PATH=/usr/bin:/bin bin/penstock help plot | grep -q '^usage: penstock-plot' || fail "penstock help plot"
PATH=/usr/bin:/bin bin/penstock help | grep -q "not installed" && bin/penstock help |
    grep "not installed" | while read -r name _; do
        [ -e "$BUILD/bin/penstock-$name" ] && fail "$name was built but is said not to be installed"
    done

# A program of a user, by pkg-config; the library needs no MPI.
export PKG_CONFIG_PATH=$PWD/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$there LD_LIBRARY_PATH=$PWD/lib
if command -v pkg-config >/dev/null; then
    [ "$(pkg-config --modversion penstock)" = "$(bin/penstock-inspect --version | awk '{ print $2 }')" ] || fail "penstock.pc"
    ${CC:-gcc} -std=c11 -Wall -Werror "$ROOT/tests/library/read_file.c" $(pkg-config --cflags --libs penstock) -o "$there/read_file" ||
        fail "a program with the installed library"
    bin/penstock-mesh-surface --divisions 8 "$there/mesh.hdf" -q || fail "a mesh"
    read -r format rows slabs table chunks <<< "$("$there/read_file" "$there/mesh.hdf" /VTKHDF/Points)"
    [ "$format" = penstock-surface-mesh ] && [ "$chunks" -gt 5 ] && [ "$rows" -gt 100 ] || fail "read_file: $format $rows $chunks"
    awk -v a="$slabs" -v b="$table" 'BEGIN { exit !(a == b || (a - b < 1e-9 && b - a < 1e-9)) }' || fail "sums $slabs and $table"
    head -c 5000 "$there/mesh.hdf" > "$there/cut.hdf"
    "$there/read_file" "$there/cut.hdf" /VTKHDF/Points 2>&1 | grep -q cut.hdf || fail "a file that is cut is not named"
    rm "$there"/read_file "$there"/*.hdf
fi
unset PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR LD_LIBRARY_PATH
readelf -d lib/libpenstock.so | grep -q 'SONAME.*libpenstock.so.1]' || fail "SONAME"
readelf -d lib/libpenstock.so | grep -q 'NEEDED.*mpi' && fail "the library needs MPI"

make -s -C "$ROOT" uninstall DESTDIR="$there" PREFIX=/usr >log 2>&1 || { cat log; fail "make uninstall"; }
left=$(find "$there" ! -type d ! -name log)
[ -z "$left" ] || fail "uninstall left $left"
[ ! -e "$there/usr/lib/penstock" ] && [ ! -e "$there/usr/share/doc/penstock" ] || fail "folders are left"
echo passed
