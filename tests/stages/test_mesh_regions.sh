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
expect 0 "" penstock-mesh-import --json two.brep --kind volume --size .4
[ "$(figure tags)" = "[1, 2]" ] || fail "solids of BREP: tags $(figure tags)"
expect 3 "choose a larger --size" penstock-mesh-import named.step --kind volume --size 1e-5
echo "$formats files"
exit 0
