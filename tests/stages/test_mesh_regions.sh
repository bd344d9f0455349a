# Two regions of a mesh keep their tags, and their names where the format has any, from every format that is read; solids of
# an assembly that touch become regions that share a face, and reach dgtd; what is left out is said.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import mesh-partition dgtd-setup
command -v python3 > /dev/null || { echo "python3 is not installed"; exit 77; }
export PENSTOCK_BIN=$BUILD/bin PENSTOCK_LIBRARY=$BUILD/lib/libpenstock.so PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1

# figure NAME: a list or number of the JSON in ./out
figure() { sed -n "s/.*\"$1\": \(\[[^]]*\]\|[-0-9.e+]*\).*/\1/p" out; }
both() { # FILE: two regions of six tetrahedra, as numbers or in the order of their names
    [ "$(figure tetrahedra_of_tag)" = "[6, 6]" ] || { cat out err; fail "$1: regions $(figure tags) of $(figure tetrahedra_of_tag)"; }
    case $1 in
        *.inp) [ "$(figure tags)" = "[1, 2]" ] ;;
        *) [ "$(figure tags)" = "[5, 9]" ] ;;
    esac || fail "$1: tags $(figure tags)"
}
named() { # MESH NAMES
    [ "$(h5dump -a tag_names "$1" | tr -d '\n' | sed 's/.*(0): "//; s/".*//' | tr -s ' ')" = "$2" ] || fail "$1: names"
}

python3 "$ROOT/tests/support/two_regions.py" . > list || fail "no meshes"
formats=0
for file in $(cat list); do
    rm -f one.hdf
    case $file in
        *.npz | *.mat | *.med | *.xdmf)
            python3 -c "import json, sys, warnings; import penstock; warnings.simplefilter('error')
print(json.dumps(penstock.import_mesh(sys.argv[1], 'one.hdf')))" "$file" > out 2> err || { cat err; fail "$file through Python"; } ;;
        *) expect 0 "" penstock-mesh-import --json "$file" one.hdf ;;
    esac
    both "$file"
    formats=$((formats + 1))
    case $file in
        two.msh | two.npz | two.med) named one.hdf "5 left 9 right" ;;
        two.inp) named one.hdf "1 left 2 right" ;;
    esac
done
[ $formats -ge 13 ] || fail "only $formats files were read"
# what is left out is said; two arrays that could say regions, and none of a known name: none is taken
expect 0 "other cell data are left out: heat" penstock-mesh-import two_zlib.vtu
expect 0 "the cell data \"material\" are the tags" penstock-mesh-import two_5.vtk
sed 's/material 1/blue 1/; s/FieldData 1/FieldData 2/' two_5.vtk > more.vtk
printf 'green 1 12 int\n0 1 0 1 0 1 0 1 0 1 0 1\n' >> more.vtk
expect 0 "2 arrays of cell data could say regions" penstock-mesh-import --json more.vtk
[ "$(figure tags)" = "[0]" ] || fail "a region was guessed"
# broken files are refused with the place
sed 's/^CELL_TYPES 12/CELL_TYPES 11/' two_3.vtk > broken.vtk; expect 3 "" penstock-mesh-import broken.vtk
sed 's/^10 10/12 10/' two_3.vtk > hexahedron.vtk; expect 3 "is a hexahedron" penstock-mesh-import hexahedron.vtk
sed 's/vtkZLib/vtkLZ4/' two_zlib.vtu > lz4.vtu; expect 3 "vtkLZ4DataCompressor" penstock-mesh-import lz4.vtu
head -c 900 two_raw.vtu > short.vtu; expect 3 "short.vtu" penstock-mesh-import short.vtu
sed 's/C3D4,/C3D10,/' two.inp > high.inp; expect 3 'type "C3D10"' penstock-mesh-import high.inp
sed 's/^7, 8, 9,/7, 8, nine/' two.inp > set.inp; expect 3 "line 33" penstock-mesh-import set.inp
printf '*PART\n*PART\n' | cat two.inp - > parts.inp; expect 3 "several parts" penstock-mesh-import parts.inp
expect 3 "penstock.import_mesh" penstock-mesh-import list

# ---- a STEP assembly of two solids that touch ----
printf 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\nBox(2) = {1, 0, 0, 1, 1, 1};\nMesh 2;\nSave "two.step";\nSave "two.brep";\n' > two.geo
penstock-mesh-import two.geo --size 1 --allow geo-commands > /dev/null 2>&1
[ -s two.step ] && [ -s two.brep ] || fail "no STEP file of two solids was made"
sed "s/Open CASCADE STEP translator [0-9.]* 1\.1'/core'/; s/Open CASCADE STEP translator [0-9.]* 1\.2'/shell'/" two.step > named.step
expect 0 "will give about" penstock-mesh-import --json named.step named.hdf --kind volume --size .4
[ "$(figure tags)" = "[1, 2]" ] || fail "solids: tags $(figure tags)"
[ "$(figure triangle_tags)" = "[3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]" ] || fail "11 faces: tags $(figure triangle_tags)"
within "$(figure volume)" 1.99999 2.00001 "the volume of both"
named named.hdf "1 core 2 shell"
expect 0 "" penstock-mesh-partition named.hdf parts.h5 --parts 1
expect 0 "" penstock-dgtd-setup parts.h5 model.h5 --boundary outer:absorbing --material core:eps=4 --material shell:eps=1
# Faces by name, six a solid: 2 and 7 are one; 8 and 9 have one name; 10 has a solid's name; 11 has none.
rename() { # FILE NAMES: gives the faces of FILE these names in turn
    awk -v names="$2" 'BEGIN { n = split(names, name, " ") }
        /= ADVANCED_FACE\(/ { ++k; sub(/ADVANCED_FACE\(\x27\x27/, "ADVANCED_FACE(\x27" (name[k] == "-" ? "" : name[k]) "\x27") } 1' "$1"
}
places() { # MESH NAME=PLANE:AREA...
    python_has h5py numpy || return 0
    python3 "$ROOT/tests/support/face_places.py" "$@" || fail "names of the faces of $1"
}
rename named.step "west joint south north floor roof joint east east core NONE it\x27\x27s" > faces.step
grep -q "ADVANCED_FACE('it''s'" faces.step || fail "no names were given"
expect 0 "" penstock-mesh-import --json faces.step faces.hdf --kind volume --size .4
places faces.hdf west=x0:1 joint=x1:1 south=y0:1 north=y1:1 floor=z0:1 roof=z1:1 east=x2/y0:2 core.face=y1:1 "it's=z1:1"
expect 0 "" penstock-mesh-partition faces.hdf faces-parts.h5 --parts 1
expect 0 "" penstock-dgtd-setup faces-parts.h5 faces-model.h5 --boundary east:pec --boundary outer:absorbing --material core:eps=4 --material shell:eps=1
# A part that is placed, turned by 90 degrees about z and 5 m up: its faces go with it, its colour is not in the way.
sed "s/^#20 = CARTESIAN_POINT('',(0.,0.,0.))/#20 = CARTESIAN_POINT('',(0.,0.,5000.))/; s/^#22 = DIRECTION('',(1.,0.,-0.))/#22 = DIRECTION('',(0.,1.,0.))/" named.step > placed.step
cmp -s named.step placed.step && fail "no part was placed"
rename placed.step "west east south north floor roof near far left right below above" > moved.step
expect 0 "" penstock-mesh-import --json moved.step moved.hdf --kind volume --size .4
all="west=x0:1 east=x1:1 south=y0:1 north=y1:1 floor=z0:1 roof=z1:1"
places moved.hdf $all near=y1:1 far=y2:1 left=x0:1 right=x-1:1 below=z5:1 above=z6:1
solid=$(sed -n 's/^#\([0-9]*\) = MANIFOLD_SOLID_BREP.*/\1/p' moved.step | head -1)
context=$(sed -n 's/^#\([0-9]*\) = ( GEOMETRIC_REPRESENTATION_CONTEXT.*/\1/p' moved.step | head -1)
awk -v solid="$solid" -v context="$context" '/^ENDSEC;/ && ++k == 2 { printf "#9001=COLOUR_RGB(\x27\x27,.9,.1,.1);\n#9002=FILL_AREA_STYLE_COLOUR(\x27\x27,#9001);\n#9003=FILL_AREA_STYLE(\x27\x27,(#9002));\n#9004=SURFACE_STYLE_FILL_AREA(#9003);\n#9005=SURFACE_SIDE_STYLE(\x27\x27,(#9004));\n#9006=SURFACE_STYLE_USAGE(.BOTH.,#9005);\n#9007=PRESENTATION_STYLE_ASSIGNMENT((#9006));\n#9008=STYLED_ITEM(\x27\x27,(#9007),#%d);\n#9009=MECHANICAL_DESIGN_GEOMETRIC_PRESENTATION_REPRESENTATION(\x27\x27,(#9008),#%d);\n", solid, context } 1' moved.step > red.step
expect 0 "" penstock-mesh-import --json red.step red.hdf --kind volume --size .4
places red.hdf $all near=y1:1 far=y2:1 left=x0:1 right=x-1:1 below=z5:1 above=z6:1
# Two solids that share half of a side: the pieces keep their names; what both have, has one of theirs.
printf 'SetFactory("OpenCASCADE");\nBox(1) = {0, 0, 0, 1, 1, 1};\nBox(2) = {1, .5, 0, 1, 1, 1};\nMesh 2;\nSave "half.step";\n' > half.geo
penstock-mesh-import half.geo --size 1 --allow geo-commands > /dev/null 2>&1
rename half.step "west joint south north floor roof joint far front back below above" > cut.step
expect 0 "" penstock-mesh-import --json cut.step cut.hdf --kind volume --size .4
places cut.hdf west=x0:1 joint=x1:1.5 south=y0:1 north=y1:1 floor=z0:1 roof=z1:1 far=x2:1 front=y.5:1 back=y1.5:1 below=z0:1 above=z1:1
# One solid as a surface, two faces of which lie in one box.
geometry lid 'Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Point(3) = {1, 1, 0}; Point(4) = {0, 1, 0};
Point(5) = {0, 0, 1}; Point(6) = {1, 0, 1}; Point(7) = {1, 1, 1}; Point(8) = {0, 1, 1};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1}; Line(5) = {5, 6}; Line(6) = {6, 7}; Line(7) = {7, 8};
Line(8) = {8, 5}; Line(9) = {1, 5}; Line(10) = {2, 6}; Line(11) = {3, 7}; Line(12) = {4, 8}; Line(13) = {5, 7};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1}; Curve Loop(2) = {1, 10, -5, -9}; Plane Surface(2) = {2};
Curve Loop(3) = {2, 11, -6, -10}; Plane Surface(3) = {3}; Curve Loop(4) = {3, 12, -7, -11}; Plane Surface(4) = {4};
Curve Loop(5) = {4, 9, -8, -12}; Plane Surface(5) = {5}; Curve Loop(6) = {5, 6, -13}; Plane Surface(6) = {6};
Curve Loop(7) = {13, 7, 8}; Plane Surface(7) = {7}; Surface Loop(1) = {1 : 7}; Volume(1) = {1};
Mesh 2;
Save "lid.step";'
penstock-mesh-import lid.geo --size 1 --allow geo-commands > /dev/null 2>&1
rename lid.step "floor south east north west right left" > lids.step
expect 0 "" penstock-mesh-import --json lids.step lids.hdf --size .4
places lids.hdf floor=z0:1 south=y0:1 east=x1:1 north=y1:1 west=x0:1 right=z1:.5 left=z1:.5
expect 0 "" penstock-mesh-import --json two.brep --kind volume --size .4
[ "$(figure tags)" = "[1, 2]" ] || fail "solids of BREP: tags $(figure tags)"
expect 3 "choose a larger --size" penstock-mesh-import named.step --kind volume --size 1e-5
echo "$formats files"
