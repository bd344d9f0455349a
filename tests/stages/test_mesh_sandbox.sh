# Gmsh runs confined: scripts that run programs or write files are refused, under whatever name, and only
# --allow geo-commands lets them; spellings of suffixes that Gmsh does not know are no way round.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import
export TMPDIR=$PWD/tmp; mkdir tmp
echo "SystemCall \"touch $PWD/run\"; Point(1) = {0,0,0};" > evil.geo
for name in part.Step part.BREP part.Stp part.IGES part.Vtk part.Nas part.MESH; do cp evil.geo $name; done
expect 3 "was about to start a program" penstock-mesh-import evil.geo
for name in part.Step part.BREP part.Stp part.IGES; do expect 3 "$name" penstock-mesh-import $name --size 1; done
for name in part.Vtk part.Nas part.MESH; do expect 3 "$name" penstock-mesh-import $name; done
cp evil.geo evil.GEO
expect 3 "in lower case" penstock-mesh-import evil.GEO
echo 'SetFactory("OpenCASCADE"); Sphere(1) = {0, 0, 0, 1}; Printf("x") > "written";' > writes.geo
expect 3 "write a file" penstock-mesh-import writes.geo --size .5
[ ! -e run ] && [ ! -e written ] || fail "a script got out"
expect 0 "about to" penstock-mesh-import writes.geo --size .5 --allow geo-commands
echo 'SetFactory("OpenCASCADE"); Sphere(1) = {0, 0, 0, 1};' > plain.geo
expect 0 "" penstock-mesh-import plain.geo --size .5
[ -z "$(ls tmp)" ] || fail "links stay behind"

# ---- the library is loaded for the formats that want it, and missed by name ----
name=$(grep -aom 1 'libgmsh\.so\.[0-9.]*[0-9]' "$(command -v penstock-mesh-import)")
mkdir none && : > "none/$name"
printf 'OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n' > own.off
expect 0 "" env LD_LIBRARY_PATH="$PWD/none" penstock-mesh-import own.off
expect 1 "plain.geo: it is read through Gmsh's library, which cannot be loaded" \
    env LD_LIBRARY_PATH="$PWD/none" penstock-mesh-import plain.geo --size .5
[[ $(env LD_LIBRARY_PATH="$PWD/none" penstock-mesh-import plain.geo --size .5 2>&1) = *"Debian: libgmsh${name#*.so.}"* ]] ||
    fail "the package is not named"

# ---- what a header announces is not believed ----
printf 'ply\nformat binary_little_endian 1.0\nelement vertex 2000000000\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n' > big.ply
expect 3 "cannot hold" penstock-mesh-import big.ply
head -c 300000000 /dev/zero | gzip > bomb.stl.gz
expect 3 "expand to more than" penstock-mesh-import bomb.stl.gz
[ -z "$(ls tmp)" ] || fail "what was expanded stays behind"
