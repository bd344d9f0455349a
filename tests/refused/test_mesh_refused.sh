# What penstock-mesh-import refuses: each file by its own message, with exit code 3 (2 for wrong
# options), and nothing left behind; what a repair mends is accepted once it is asked for.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import

# refused TEXT FILE [OPTIONS]: exit code 3, the text in the message, no output, no temporary file
refused() {
    expect 3 "$1" penstock-mesh-import "$2" out.hdf "${@:3}"
    [ ! -e out.hdf ] && [ -z "$(find . -name '*.tmp')" ] || fail "something was left by $2"
}
accepted() { expect 0 "" penstock-mesh-import --json "$1" out.hdf "${@:2}"; rm out.hdf; }
export TMPDIR=$PWD/tmp; mkdir tmp

tetra='0 0 0\n1 0 0\n0 1 0\n0 0 1\n'
off() { printf "OFF\n$1\n$2$3" > "$4"; } # counts, vertices, faces, file
good='3 0 2 1\n3 0 1 3\n3 1 2 3\n3 0 3 2\n'

# ---- no mesh at all ----
refused "missing.off: cannot be opened: No such file" missing.off
mkdir folder.msh; refused "is a folder" folder.msh
: > empty.msh; refused "empty.msh is empty" empty.msh
head -c 4096 /dev/urandom > garbage
for s in msh stl ply off obj vtk; do cp garbage garbage.$s; refused "garbage.$s" garbage.$s; done
cp garbage garbage.step; expect 3 "garbage.step" penstock-mesh-import garbage.step out.hdf --size 1
cp garbage garbage.xyz; refused 'the suffix ".xyz"' garbage.xyz
cp garbage garbage.msh.gz; refused "gzip" garbage.msh.gz
cp garbage garbage.msh.zst; refused "zstd data are broken" garbage.msh.zst
off '4 4 0' "$tetra" "$good" good.off; gzip -k good.off; zstd -q good.off
head -c 60 good.off.gz > cut.off.gz; refused "cut short" cut.off.gz
head -c 40 good.off.zst > cut.off.zst; refused "cut short" cut.off.zst

# ---- broken files ----
head -c 40 good.off > cut.off; refused "cut.off: " cut.off
off '4 4 0' '0 0 0\n1 0 0\n0 nan 0\n0 0 1\n' "$good" nan.off; refused "vertex 2 has a coordinate that is not a finite number" nan.off
off '4 4 0' '0 0 0\n1 0 0\n0 1e400 0\n0 0 1\n' "$good" inf.off; refused "not a finite number" inf.off
off '4 4 0' "$tetra" '3 0 2 4\n' range.off; refused "line 7: expected as many vertex indices" range.off
off '4 4 0' "$tetra" '2 0 2\n' two.off; refused "line 7: expected a face of 3" two.off
printf 'v 0 0 0\nv 1 0 0\nf 1 2 3\n' > range.obj; refused "line 3: the face refers to a vertex" range.obj
printf 'v 0 0\n' > short.obj; refused "line 1: expected three coordinates" short.obj
printf 'solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nendloop\nendfacet\n' > two.stl; refused "line 7: a facet with 2 vertices" two.stl
{ head -c 80 /dev/zero; printf '\2\0\0\0'; head -c 50 /dev/zero; } > cut.stl; refused "announces 2 facets" cut.stl
printf 'ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n' > cut.ply; refused "ends at vertex" cut.ply
msh() { printf '$MeshFormat\n%s\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n$Elements\n1\n%s\n$EndElements\n' "$1" "$2" > "$3"; }
msh '2.2 0 8' '1 2 2 0 1 1 2 9' node.msh; refused "refers to node 9, which is not in the file" node.msh
msh '2.2 0 8' '1 5 2 0 1 1 2 3 4 1 2 3 4' hexahedron.msh; refused "hexahedron" hexahedron.msh
msh '2.2 0 8' '1 11 2 0 1 1 2 3 4 1 2 3 4 1 2' order2.msh; refused "order 2" order2.msh
msh '2.2 0 8' '1 2 2 0 1 1 2' cut2.msh; refused "ends too early" cut2.msh
msh '3.0 0 8' '1 2 2 0 1 1 2 3' version3.msh; refused "version 3" version3.msh
msh '4.2 0 8' '1 2 2 0 1 1 2 3' future.msh; refused "version 4.2" future.msh
printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n$Elements\n0\n$EndElements\n' > twice.msh
refused "node 1 is given twice" twice.msh
unv() { # FACTOR: units of length to a metre
    printf '    -1\n   164\n         5mm                         2\n  %s  1.0D+00  1.0D+00\n  0.0D+00\n    -1\n    -1\n  2411\n' "$1"
    printf '%10d%10d%10d%10d\n  %s\n' 1 1 1 11 '0. 0. 0.' 2 1 1 11 '5. 0. 0.' 3 1 1 11 '0. 1. 0.'
    printf '    -1\n    -1\n  2412\n%10d%10d%10d%10d%10d%10d\n%10d%10d%10d\n    -1\n' 1 91 1 1 7 3 1 2 3
}
unv 1.0D+03 > units.unv; refused "states that 1000 of its units of length are a metre" units.unv --open; accepted units.unv --open --allow units
expect 0 "area                              2.5e-06 m2" penstock-mesh-import units.unv --open --unit mm
unv 1.0D+00 > units.unv; accepted units.unv --open
printf 'Point(1) = {0,0,0};\nMesh.ScalingFactor = .001;\n' > scaled.geo; refused "Mesh.ScalingFactor is 0.001" scaled.geo --size 1
printf 'Point(1) = {0,0,\nnonsense!\n' > broken.geo; refused "broken.geo" broken.geo --size 1

# ---- more than is announced, cut off where a body ends, words that change what numbers mean: a part of the mesh would be lost ----
off '4 3 0' "$tetra" "$good" more.off; refused "more.off: line 10: there is more than the header announces" more.off --open
off '4 4 0' "$tetra" '3 0 2 1\n3 0 1 3.7\n' real.off; refused "line 8: expected as many vertex indices" real.off
off '4 4 0' '0 0 0\n1 0 0\n0 1 0\n0 0 1,5\n' "$good" comma.off; refused "line 6: expected three coordinates" comma.off
msh '2.2 0 8' $'1 2 2 0 1 1 2 3\n2 2 2 0 1 1 2 4' more.msh; refused "more in the section than it announces" more.msh --open
ply() { printf 'ply\nformat %s 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar uchar vertex_indices\nend_header\n' $1; }
{ ply ascii; printf '0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 2 1\n'; } > more.ply; refused "more than the header announces" more.ply --open
{ ply binary_little_endian; printf '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\77\0\0\0\0\0\0\0\0\0\0\0\0\0\0\200\77\0\0\0\0\3\0\1\2'; } > exact.ply; accepted exact.ply --open
{ cat exact.ply; printf '\3\1\0\2'; } > more.ply; refused "more than the header announces" more.ply --open
facets() { printf 'solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 %s\nendloop\nendfacet\n%b' "$@"; }
facets 0 '' > cut.stl; refused 'no "endsolid" at its end' cut.stl --open
facets 0,5 'endsolid x\n' > comma.stl; refused "line 6: expected three coordinates" comma.stl --open
facets 0 'endsolid x\n' | sed 's/solid x/solid vertex/' | tr a-z A-Z > upper.stl; accepted upper.stl --open
facets 0 'endsolid x\n' | tr '\n' ' ' | sed 's/solid x /solid x\n/; s/endsolid/\nendsolid/' > line.stl; accepted line.stl --open
{ facets 0 ''; facets 0 ''; facets 0 'endsolid x\n'; } | tr '\n' ' ' | sed 's/solid x/&   &/' > one.stl; refused "or all on one line" one.stl --open
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3.5\n' > real.obj; refused "line 4: expected vertex indices" real.obj --open
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nsurf 0 1 0 1 1 2 3\n' > free.obj; refused "line 5: a free-form surface" free.obj --open
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\ng a\nf 1 3 2\ng b\nf 1 2 4\ng a\nf 2 3 4\nf 1 4 3\n' > again.obj
expect 0 '"triangles_of_tag": [3, 1]' penstock-mesh-import --json again.obj
grid() { printf 'BEGIN BULK\n%b%bCTRIA3,1,1,1,2,3\nENDDATA\nrest\n' "$1" "$2" > nodes.bdf; } # of nodes 1, 2 and 3 (0, .05, 0)
third=$(printf 'GRID*   %16s%16s%16s%16s\\n*       %16s' 3 '' 0. 5.0D-2 0.)'\n'
first='grid           1              0.      0.      0.\n'
grid "$first" "GRID           2           1.0-1      0.      0.\n$third"; expect 0 'area                              0.0025 m2' penstock-mesh-import nodes.bdf --open
grid "$first" "GRID\t2\t\t1.0-1\t\t\n$third"; expect 0 'area                              0.0025 m2' penstock-mesh-import nodes.bdf --open
for node in 'GRID,2,7,1.,0.,0.\n' 'GRID           2       7      1.      0.      0.\n' 'GRID*                  2               7              1.              0.\n*                     0.\n'; do
    grid "$first" "$node$third"; refused "a node of another system of coordinates" nodes.bdf --open
done
grid 'GRDSET,,4\n' "$first"; refused "line 3: a node of another system" nodes.bdf --open
grid "$first" "INCLUDE 'more.bdf'\n"; refused "line 3: other files are not read" nodes.bdf --open
grid "$first" 'GRID,2,,one,0.,0.\n'; refused "line 3: expected three coordinates" nodes.bdf --open
inp() { printf '*NODE%s\n1,0,0,0\n2,1,0,0\n3,0,1,0\n*ELEMENT, TYPE=S3\n1,1,2,3\n%b' "$@" > words.inp; }
inp ', SYSTEM=C' ''; refused "cylindrical or spherical" words.inp --open
inp ', INPUT=nodes.inp' ''; refused "other files are not read" words.inp --open
for word in SYSTEM NCOPY NGEN NFILL NMAP ELGEN ELCOPY; do inp '' "*$word\n1,2,3\n"; refused "line 7: *$word is not read" words.inp --open; done
inp ', SYSTEM=R' ''; accepted words.inp --open
vtk() { printf '# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\nPOINTS 4 float\n0 0 0 1 0 0 0 1 0 0 0 1\nPOLYGONS 4 16\n3 0 2 1 3 0 1 3 3 1 2 3 3 0 3 2\nCELL_DATA 4\nSCALARS tag int\nLOOKUP_TABLE default\n%s\n' "$1" > signs.vtk; }
vtk '-1 2 -3 1'; refused 'have both -1 and 1' signs.vtk; vtk '-1 2 -3 -2'; refused 'have both -2 and 2' signs.vtk
vtk '-1 -2 4 3'; expect 0 '"tags": [1, 2, 3, 4]' penstock-mesh-import --json signs.vtk

# ---- sizes that are no numbers, and places where the file's precision moves the corners ----
away() { awk -v d="$1" -v s="$2" 'NR > 2 && NR < 7 { for (i = 1; i < 4; ++i) $i = sprintf("%.17g", s * $i + d) } 1' good.off > away.off; }
away 0 1e100; refused "areas and volumes are no numbers" away.off;
away 0 1e-70; refused "areas and volumes are no numbers" away.off
away 1e12 1; accepted away.off; away 1e15 1; refused "rounded to 0.11 m" away.off; accepted away.off --allow rounded

# ---- what Gmsh's library passes over: cells of higher order among others, continuations without a mark, nodes given twice, systems ----
points='0 0 0\n1 0 0\n0 1 0\n0 0 1\n.5 0 0\n.5 .5 0\n0 .5 0\n0 0 .5\n.5 0 .5\n0 .5 .5\n1 1 1\n'
bulk() { printf "$points" | awk '{ printf "GRID,%d,,%g,%g,%g\n", NR, $1, $2, $3 }'; printf "$1"; } # further cards
linear='CTETRA,1,1,2,3,4,11\n' quadratic='CTETRA,2,1,1,2,3,4,5,6\n,7,8,9,10\n'
bulk "$quadratic" > free.bdf; refused "free.bdf: line 12: an element of higher order" free.bdf
bulk "$linear$quadratic" > mixed.bdf; refused "mixed.bdf: line 13: an element of higher order" mixed.bdf
bulk "${linear}CTRIA6,2,1,1,2,3,5,6,7\n" > six.bdf; refused "line 13: an element of higher order" six.bdf
bulk "${linear}CSHEAR,2,1,1,2,11,3\n" > shear.bdf; refused "line 13: an element of a type that is not read" shear.bdf
bulk "GRID,11,,1.,1.,2.\n$linear" > again.bdf; refused "node 11 is given twice, in two places" again.bdf
bulk "GRID,11,,1.,1.,1. \$ the same\n$linear" > same.bdf; accepted same.bdf
bulk 'CTETRA*                1               1               2               3*\n*                      4              11\n' > wide.bdf; accepted wide.bdf
mesh4() { printf '$MeshFormat\n4 0 8\n$EndMeshFormat\n$Entities\n0 0 0 1\n1 0 0 0 1 1 1 0 0\n$EndEntities\n$Nodes\n1 11\n1 3 0 11\n'
    printf "$points" | awk '{ print NR, $0 }'; printf '$EndNodes\n$Elements\n2 2\n1 3 4 1\n1 2 3 4 11\n1 3 11 1\n2 1 2 3 4 5 6 7 8 9 10\n$EndElements\n'; }
mesh4 > mixed.msh; refused "1 elements are not of the order of others of their kind" mixed.msh
medit() { printf "MeshVersionFormatted 2\nDimension 3\nVertices\n11\n$(printf "$points" | sed 's/$/ 0\\n/' | tr -d '\n')Tetrahedra\n1\n2 3 4 11 1\n$1\n1\n1 2 3 4 5 6 1\nEnd\n"; }
medit Prisms > prisms.mesh; refused "Prisms are not read" prisms.mesh
system() { # KIND SHIFT: systems of coordinates before the mesh
    printf '    -1\n  2420\n         1\npart\n%10d%10d%10d\nCS\n' 1 $1 0; printf '  %s\n' '1.D0 0.D0 0.D0' '0. 1. 0.' '0. 0. 1.' "$2 0. 0."; printf '    -1\n'; }
{ system 0 0.; unv 1.0D+00; } > axes.unv; accepted axes.unv --open
{ system 0 3.; unv 1.0D+00; } > moved.unv; refused "a node of another system of coordinates" moved.unv --open
{ system 1 0.; unv 1.0D+00; } > round.unv; refused "a node of another system of coordinates" round.unv --open
unv 1.0D+00 | sed 's/^         3         1         1        11/         3         2         1        11/' > two.unv; refused "a node of another system of coordinates" two.unv --open
unv 1.0D+00 | sed 's/^         3         1         1        11/         2         1         1        11/' > twice.unv; refused "node 2 is given twice, in two places" twice.unv --open
unv 3.9D+01 > user.unv; refused "states that 39 of its units" user.unv --open --unit cm; accepted user.unv --open --scale .02564102564

# ---- digits that run out far from the origin ----
digits() { awk -v f="$1" 'BEGIN { n = 24; print "OFF\n" 2 * n + 2, 4 * n, 0; for (i = 0; i < 2 * n; ++i) printf f " " f " " f "\n", 4649776 + cos(i * 6.2831853 / n) * (i < n ? 1 : .7), 500000 + sin(i * 6.2831853 / n), i < n ? .1 : 1.2
    printf f " 500000 -.3\n" f " 500000 2\n", 4649776, 4649776; for (i = 0; i < n; ++i) { j = (i + 1) % n; print 3, i, j, n + j; print 3, i, n + j, n + i; print 3, 2 * n, j, i; print 3, 2 * n + 1, n + i, n + j } }'; }
digits %.8g > few.off; refused "its numbers of few digits are rounded to 0.05 m" few.off; accepted few.off --allow rounded
digits %.3f > even.off; accepted even.off

# ---- bodies of tetrahedra that overlap, touch with meshes of their own, or lie in one another; a node that hangs ----
tets() { # POINTS TETS: both with \n
    printf '$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n' "$(printf "$1" | wc -l)"; printf "$1" | awk '{ print NR, $0 }'
    printf '$EndNodes\n$Elements\n%d\n' "$(printf "$2" | wc -l)"; printf "$2" | awk '{ print NR, 4, 2, 1, 1, $0 }'; printf '$EndElements\n'; }
two() { tets "$tetra$(printf "$tetra" | awk -v s=$1 -v d=$2 '{ printf "%g %g %g\\n", d + s * $1, d + s * $2, d + s * $3 }')" '1 2 3 4\n5 6 7 8\n'; }
two 1 .1 > over.msh; refused "3 pairs of triangles cut through or overlap" over.msh; accepted over.msh --allow-intersections
two .2 .1 > in.msh; refused "1 parts lie inside of others, which fill the same space: the part of element 2" in.msh; accepted in.msh --allow-intersections
two .2 .5 > apart.msh; accepted apart.msh
hang="${tetra}0 0 -1\n.5 0 0\n"
tets "$hang" '1 2 3 4\n1 3 6 5\n6 3 2 5\n' > hang.msh; refused "outer faces of tetrahedra lie on others" hang.msh; accepted hang.msh --allow-intersections
tets "$hang" '1 6 3 4\n6 2 3 4\n1 3 6 5\n6 3 2 5\n' > fit.msh; accepted fit.msh

# ---- faults of the mesh, and their repairs ----
off '4 4 0' "$tetra" '3 0 2 1\n3 0 3 1\n3 1 2 3\n3 0 3 2\n' turned.off
refused "1 triangles are turned against the others of their part: face 1 (vertices 0 3 1)" turned.off; accepted turned.off --orient
off '4 4 0' "$tetra" '3 0 1 2\n3 0 3 1\n3 1 3 2\n3 0 2 3\n' inward.off
refused "normals that point inwards" inward.off; accepted inward.off --orient
off '4 3 0' "$tetra" '3 0 2 1\n3 0 1 3\n3 1 2 3\n' open.off
refused "3 edges have a triangle on one side only" open.off; accepted open.off --open
grep -q '"closed": false' out && grep -q '"open_loops": 1' out || fail "an open surface is not recorded"
off '5 4 0' "$tetra"'0 0 1\n' '3 0 2 1\n3 0 1 3\n3 1 2 4\n3 0 3 2\n' seam.off
refused "1 vertices coincide with others" seam.off; accepted seam.off --weld 0
grep -q '"welded_vertices": 1' out || fail "welding is not recorded"
off '5 4 0' "$tetra"'0 0 1.001\n' '3 0 2 1\n3 0 1 3\n3 1 2 4\n3 0 3 2\n' gap.off
refused "--weld" gap.off; refused "on one side only" gap.off --weld 0.0005; accepted gap.off --weld 0.002
off '4 5 0' "$tetra" "$good"'3 1 0 2\n' double.off
refused "1 cells are given again" double.off; accepted double.off --drop-duplicates
off '4 5 0' "$tetra" "$good"'3 0 1 1\n' repeated.off
refused "1 cells repeat a vertex" repeated.off; accepted repeated.off --drop-degenerate
off '5 6 0' "$tetra"'0.5 0 0\n' '3 0 2 1\n3 0 4 3\n3 4 1 3\n3 1 2 3\n3 0 3 2\n3 0 1 4\n' flat.off
refused "triangles have no area" flat.off
off '5 6 0' "$tetra"'1 1 1\n' "$good"'3 0 1 4\n3 0 4 1\n' fin.off; refused "three or more triangles" fin.off
off '7 8 0' "$tetra"'-1 0 0\n0 -1 0\n0 0 -1\n' "$good"'3 0 4 5\n3 0 6 4\n3 4 6 5\n3 0 5 6\n' touch.off
refused "1 vertices join sheets" touch.off
off '5 5 0' '0 0 0\n1 0 0\n2 0 1\n1 1 2\n0 1 1\n' '3 0 1 2\n3 1 3 2\n3 2 3 4\n3 3 0 4\n3 4 0 1\n' moebius.off
refused "Moebius" moebius.off --open --orient
off '8 8 0' "$tetra"'0.2 0.2 0.2\n1.2 0.2 0.2\n0.2 1.2 0.2\n0.2 0.2 1.2\n' "$good"'3 4 6 5\n3 4 5 7\n3 5 6 7\n3 4 7 6\n' cut_through.off
refused "3 pairs of triangles cut through or overlap one another: face 2" cut_through.off; accepted cut_through.off --allow-intersections
off '8 8 0' "$tetra"'0.1 0.1 0\n1.1 0.1 0\n0.1 1.1 0\n0.1 0.1 -1\n' "$good"'3 4 5 6\n3 4 7 5\n3 5 7 6\n3 4 6 7\n' overlap.off
refused "1 pairs of triangles cut through or overlap one another: face 0" overlap.off; accepted overlap.off --allow-intersections
# Octahedra that mirror one another cut along edges alone; apart they are well, and one inside of the other is a cavity.
octahedra() { # DX SCALE: of the second one
    printf 'OFF\n12 16 0\n1 0 0\n-1 0 0\n0 1 0\n0 -1 0\n0 0 1\n0 0 -1\n'
    for v in "1 0 0" "-1 0 0" "0 1 0" "0 -1 0" "0 0 1" "0 0 -1"; do awk -v d="$1" -v s="$2" '{ print d + s * $1, s * $2, s * $3 }' <<< "$v"; done
    for o in 0 6; do for f in "0 2 4" "2 1 4" "1 3 4" "3 0 4" "2 0 5" "1 2 5" "3 1 5" "0 3 5"; do awk -v o=$o '{ print 3, o + $1, o + $2, o + $3 }' <<< "$f"; done; done
}
octahedra 1 1 > reach.off; octahedra 2.5 1 > apart.off; octahedra 0 .5 > within.off
refused "2 closed parts reach into one another" reach.off; accepted reach.off --allow-intersections
accepted apart.off; accepted within.off
msh '2.2 0 8' '1 4 2 0 1 1 3 2 4' negative.msh; refused "negative volumes" negative.msh; accepted negative.msh --orient
msh '2.2 0 8' '1 15 2 0 1 1' points.msh; refused "no triangles" points.msh; refused "no tetrahedra" points.msh --kind volume

# ---- an older file survives; a folder that is not there; wrong options ----
penstock-mesh-import good.off old.hdf > log || fail "good.off"
sum=$(cksum < old.hdf)
expect 3 "inwards" penstock-mesh-import inward.off old.hdf
[ "$(cksum < old.hdf)" = "$sum" ] || fail "a refused import harmed the older file"
penstock-mesh-import good.off nowhere/x.hdf > log 2>&1 && fail "wrote into a folder that is not there"
expect 2 "--unit" penstock-mesh-import good.off x.hdf --unit furlong
expect 2 "--order" penstock-mesh-import good.off x.hdf --order spiral
expect 2 "--weld" penstock-mesh-import good.off x.hdf --weld much
expect 2 "--size" penstock-mesh-import good.off x.hdf --size 1
[ ! -e x.hdf ] || fail "wrong options wrote a file"

# ---- the files that other people made ----
R=$SHARED/data/refused
if [ -d "$R" ]; then
    refused "boundary triangles look inwards among others" "$R/cube_surface_mixed_orientation_tets_ok.msh.gz"
    accepted "$R/cube_surface_mixed_orientation_tets_ok.msh.gz" --orient
    refused "3070 triangles are turned against the others" "$R/cube_surface_mixed_orientation_tets_ok.msh.gz" --kind surface
    accepted "$R/cube_surface_mixed_orientation_tets_ok.msh.gz" --kind surface --orient
    refused "fold the surface back onto itself" "$R/cube_with_fold.ply"
    refused "no triangles" "$R/empty.stl"
    refused "12 cells are given again" "$R/every_face_twice_opposite.obj"
    refused "edges belong to three or more triangles" "$R/every_face_twice_opposite.obj" --drop-duplicates
    refused "9 cells are given again" "$R/f16_nonmanifold_duptris.vtk.gz"
    refused "edges belong to three or more triangles" "$R/f16_nonmanifold_duptris.vtk.gz" --drop-duplicates --drop-degenerate --open --orient
    refused "MSH file of version 1" "$R/gmsh_v1_format.msh.gz"
    refused "line 9: a face needs at least three vertices" "$R/notenoughindices.obj"
    refused "300 edges have a triangle on one side only" "$R/soup.stl"
    refused "pairs of triangles cut through or overlap one another" "$R/soup.stl" --open
    accepted "$R/soup.stl" --open --allow-intersections
    refused "128 vertices coincide" "$R/two_boxes_dup_nodes_open.ply"
    refused "154 pairs of triangles cut through or overlap" "$R/two_boxes_dup_nodes_open.ply" --weld 1e-6
    accepted "$R/two_boxes_dup_nodes_open.ply" --weld 1e-6 --allow-intersections
fi
[ -z "$(ls tmp)" ] || fail "temporary files are left: $(ls tmp)"
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary output is left"
[ -d "$R" ] || { echo "own files pass; $R is absent"; exit 77; }
