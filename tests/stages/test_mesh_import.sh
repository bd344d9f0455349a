# penstock-mesh-import over generated geometry, own small files and, where they are, the real
# meshes of ../shared/data: counts, areas and volumes as its README states them.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import

# figure NAME: a number from the JSON in ./out
figure() { sed -n "s/.*\"$1\": \([-0-9.e+]*\|true\|false\)[,}].*/\1/p" out; }
import() { expect 0 "" penstock-mesh-import --json "$@"; }
# content FILE: the content hash of a written file

# ---- geometry through Gmsh: a sphere and a box, surface and volume; .geo and STEP ----
geometry sphere 'Sphere(1) = {0, 0, 0, 0.5};
Physical Surface("skin", 7) = {1};'
import sphere.geo sphere.hdf --size 0.1 --order hilbert
is closed true; is oriented true; is parts 1; is euler_characteristic 2
near area 3.05 3.1416; near volume 0.50 0.5236; near edge_mean 0.07 0.13
grep -q '"tags": \[7\]' out || fail "the physical group is lost"
sum=$(content sphere.hdf); import sphere.geo again.hdf --size 0.1 --order hilbert
[ "$(content again.hdf)" = "$sum" ] || fail "two imports differ"
import sphere.geo morton.hdf --size 0.1 --order morton; near area 3.05 3.1416
[ "$(content morton.hdf)" != "$sum" ] || fail "the order makes no difference"
# the unit scales; so does --scale, and both sizes are metres
import sphere.geo mm.hdf --size 0.0001 --unit mm; near area 3.05e-6 3.1416e-6; near edge_mean 7e-5 13e-5
import sphere.geo half.hdf --size 0.05 --scale 0.5; near area 0.76 0.7854
geometry ball 'Sphere(1) = {0, 0, 0, 0.5};
Physical Volume("inside", 3) = {1};'
import ball.geo ball.hdf --size 0.2
grep -q '"kind": "volume"' out || fail "a physical volume should give a volume mesh"
near volume 0.47 0.5236; near volume_min 1e-9 1
# STEP states its unit (Gmsh writes millimetres) and comes out in metres
printf 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 2, 3};\nMesh 2;\nSave "box.step";\n' > box.geo
import box.geo --size 0.5 --allow geo-commands
grep -q 'SI_UNIT(.MILLI.,.METRE.)' box.step || fail "no STEP file in millimetres was made"
import box.step box.hdf --size 0.5
near area 21.99999 22.00001; near volume 5.99999 6.00001; is closed true; near edge_mean .4 .55
sed 's/SI_UNIT(.MILLI.,.METRE.)/SI_UNIT($,.METRE.)/' box.step > metres.step
import metres.step --size 500; near area 21.99999e6 22.00001e6
expect 2 "--unit" penstock-mesh-import box.step no.hdf --size 0.5 --unit mm
expect 2 "--size" penstock-mesh-import box.step no.hdf

# ---- own small files: a tetrahedron in each format gives the same mesh ----
printf 'OFF # comment\n4 4 6\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1 255 0 0\n3 0 1 3\n3 1 2 3\n3 0 3 2\n' > t.off
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1/1/1 3/2/2 2/3/3\nf -4//1 -3//1 -1//1\nf 2/1 3/1 4/1\nf 1 4 3\n' > t.obj
printf 'ply\nformat ascii 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n0 0 0 9\n1 0 0 9\n0 1 0 9\n0 0 1 9\n3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n' > t.ply
head='ply\nformat binary_%s_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 4\nproperty list uchar int vertex_index\nend_header\n'
{ printf "$head" little; printf '%b' '\0\0\0\0\0\0\0\0\0\0\0\0' '\0\0\x80\x3f\0\0\0\0\0\0\0\0' '\0\0\0\0\0\0\x80\x3f\0\0\0\0' '\0\0\0\0\0\0\0\0\0\0\x80\x3f'
  for f in '0 2 1' '0 1 3' '1 2 3' '0 3 2'; do printf '\3'; for v in $f; do printf "\\x$v\0\0\0"; done; done; } > t_le.ply
{ printf "$head" big; printf '%b' '\0\0\0\0\0\0\0\0\0\0\0\0' '\x3f\x80\0\0\0\0\0\0\0\0\0\0' '\0\0\0\0\x3f\x80\0\0\0\0\0\0' '\0\0\0\0\0\0\0\0\x3f\x80\0\0'
  for f in '0 2 1' '0 1 3' '1 2 3' '0 3 2'; do printf '\3'; for v in $f; do printf "\0\0\0\\x$v"; done; done; } > t_be.ply
printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\nhello\n$EndComments\n$Nodes\n4\n40 0 0 1\n10 0 0 0\n30 0 1 0\n20 1 0 0\n$EndNodes\n$Elements\n6\n5 15 2 0 1 10\n9 2 2 0 1 10 40 30\n6 2 2 0 1 10 30 20\n7 2 2 0 1 10 20 40\n8 2 2 0 1 20 30 40\n4 1 0 10 20\n$EndElements\n' > t.msh
import t.off off.hdf; near area 2.366 2.3661; near volume 0.16666 0.16667
for f in t.obj t.ply t_le.ply t_be.ply t.msh; do
    import "$f" one.hdf; is vertices 4; is triangles 4
    [ "$(content one.hdf)" = "$(content off.hdf)" ] || fail "$f gives another mesh than t.off"
done
gzip -k t.off; zstd -q t.obj; for f in t.off.gz t.obj.zst; do
    import $f one.hdf; [ "$(content one.hdf)" = "$(content off.hdf)" ] || fail "$f differs from t.off"; done
# polygons become fans; text STL (equal corners are one vertex)
printf 'OFF\n8 6 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n1 0 1\n1 1 1\n0 1 1\n4 0 3 2 1\n4 4 5 6 7\n4 0 1 5 4\n4 1 2 6 5\n4 2 3 7 6\n4 3 0 4 7\n' > cube.off
import cube.off cube.hdf; is triangles 12; is split_polygons 6; near area 5.999999 6.000001; near volume .9999999 1.0000001
awk 'BEGIN { print "solid t"; x[0]="0 0 0"; x[1]="1 0 0"; x[2]="0 1 0"; x[3]="-0 0 1"; n=split("0 2 1 0 1 3 1 2 3 0 3 2", f, " ")
  for (i = 1; i <= n; ++i) { if (i % 3 == 1) print "facet normal 0 0 0\n outer loop"; print "  vertex " x[f[i]]; if (i % 3 == 0) print " endloop\nendfacet" } print "endsolid t" }' > t.stl
import t.stl stl.hdf; is vertices 4; is triangles 4; is closed true

# ---- units, checks without output ----
import t.off --unit ft; near volume 0.00471 0.00473
import t.off --unit in; near area 0.001526 0.001527
[ ! -e t.hdf ] || fail "a check must not write"
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary file is left"

# ---- real meshes ----
D=$SHARED/data
[ -d "$D/airplane" ] || { echo "generated files pass; $D is absent: real meshes are left out"; exit 77; }
expect 3 "--orient" penstock-mesh-import "$D/airplane/cessna210_orig.msh.gz" cessna.hdf --unit ft
grep -q "normals that point inwards: 23536 triangles" err || fail "the Cessna is not diagnosed"
[ ! -e cessna.hdf ] || fail "a refused mesh was written"
import "$D/airplane/cessna210_orig.msh.gz" cessna.hdf --unit ft --orient
is vertices 11770; is triangles 23536; is euler_characteristic 2; is turned 23536; is closed true
near area 65.35 65.45; near volume 8.815 8.825; near quality_min 3.5e-5 4.5e-5; near quality_1_percent .0075 .0085
import "$D/airplane/cessna210_outward_metres.msh.gz" cessna.hdf; near area 65.35 65.45; is turned 0
import "$D/airplane/a319_21k_metres.msh.gz" a319.hdf --order hilbert
is vertices 21222; is triangles 42440; near area 652.5 653.5; near edge_min .0036 .0037
near edge_mean .1835 .1845; near edge_max .333 .334; near quality_mean .97 .973
import "$D/submarine/suboff_bare_hull_14k.msh.gz" suboff.hdf
is vertices 14364; is triangles 28724; near area 5.9850 5.9860; near quality_min .51 .52
import "$D/head/colin27_nested4_repaired.off.gz" nested.hdf --unit mm
is vertices 40968; is triangles 81920; is parts 4; is nested_parts 3; is closed true; is euler_characteristic 8
import "$D/head/head_colin27_4tissue_air.msh.zst" head.hdf --unit mm --order morton
is vertices 128982; is tetrahedra 792991; near edge_min 2.335e-4 2.345e-4; near edge_max .0342 .0344
grep -qF '"tetrahedra_of_tag": [69950, 226299, 189751, 198616, 108375]' out || fail "tissue counts"
near quality_min .0215 .0225; near quality_1_percent .2575 .2595
# One mesh in four flavours of MSH. The binary 2.2 one numbers its nodes otherwise and has lost
# its physical groups: along the curve its nodes and tetrahedra are the same again.
R=$D/meshes/rcs_pec_1m
import ${R}_v22_ascii.msh.gz rcs.hdf --order hilbert; is vertices 2993; is tetrahedra 15886
for f in derived_msh41a derived_msh41b; do
    import ${R}_$f.msh.gz one.hdf --order hilbert
    [ "$(content one.hdf)" = "$(content rcs.hdf)" ] || fail "$f differs"
done
import ${R}_derived_msh22b.msh.gz one.hdf --order hilbert
for d in Points Connectivity; do
    h5diff rcs.hdf one.hdf /VTKHDF/$d > log || { cat log; fail "$d of the binary 2.2 file differs"; }
done
import "$D/meshes/ball_642_v22_binary.msh" ball.hdf; is vertices 642; is triangles 1280; near volume 4.1526 4.1528
import "$D/meshes/unit_sphere_642.stl" ball.hdf; is vertices 642; is triangles 1280; near volume 4.1527 4.1528
expect 3 "--orient" penstock-mesh-import "$D/meshes/sphere_456_v22_ascii_inward.msh" sphere.hdf
import "$D/meshes/sphere_456_v22_ascii_inward.msh" sphere.hdf --orient
is vertices 456; is triangles 908; is unused_vertices 1; near volume 4.134 4.135
import "$D/meshes/bunny_3485.off.gz" bunny.hdf; is vertices 3485; is triangles 6966; is closed true
