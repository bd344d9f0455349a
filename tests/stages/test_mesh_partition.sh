# penstock-mesh-box and -mesh-partition: bricks of known counts, parts of known cuts, layers, the same
# file whatever the threads, meshes that do not conform or fall into pieces.
. "$ROOT/tests/stages/lib.sh"
needs mesh-box mesh-partition mesh-import verify
box=penstock-mesh-box
cut=penstock-mesh-partition


# ---- bricks ----
expect 0 "" $box brick.hdf --cells 5,3,7 --size 0.5,0.3,0.7 --corner -1,2,3 --shake 0.3
is tetrahedra 630; is vertices 192; is boundary_triangles 284 # 2 2 (15 + 35 + 21)
for threads in 1 3; do
    expect 0 "" $box again.hdf --cells 5,3,7 --size 0.5,0.3,0.7 --corner -1,2,3 --shake 0.3 --threads $threads --force
    same_content brick.hdf again.hdf
done
expect 0 "up to date" $box again.hdf --cells 5,3,7 --size 0.5,0.3,0.7 --corner -1,2,3 --shake 0.3
# All volumes positive (loading checks), all faces meet, every outer face is tagged, one piece.
expect 0 "" $cut brick.hdf brick.h5
is elements 630; is components 1; is outer_faces 284; is tagged_faces 284; is parts 1
penstock-verify brick.hdf brick.h5 > /dev/null || fail "files do not verify"
h5dump -y -d /mesh/source brick.h5 | sed -n '/DATA {/,/}/p' | grep -o '[0-9]\+' | sort -n | uniq | wc -l > count
[ "$(cat count)" -eq 630 ] || fail "the rows of the mesh are not each named once"

# ---- parts of a cube of 8^3 cells: planes of 8^2 cells with two faces each ----
expect 0 "" $box cube.hdf --cells 8 --region 2:box:0,0,0,0.5,1,1
for method in boxes hilbert; do
    expect 0 "" $cut cube.hdf cube.h5 --parts 8 --method $method --force
    is elements_max 384; is imbalance 1; is cut_faces 384; is cut_faces_max 96; is halo_elements_max 96
    is neighbours_max 3; is pieces_max 1
done
expect 0 "" $cut cube.hdf two.h5 --parts 2 --method boxes; is cut_faces 128; is neighbours_max 1
# Elements of the lower half count threefold: a part of two lies in it.
expect 0 "" $cut cube.hdf two.h5 --parts 2 --method boxes --weight 2:3 --force
is elements_min 1024; is elements_max 2048; within "$(figure imbalance)" 1 1.01 imbalance
if penstock-mesh-partition --help | grep -q scotch && expect 0 "" $cut cube.hdf cube.h5 --parts 8 --method auto --force &&
    [ "$(figure method)" = scotch ]; then
    within "$(figure cut_faces)" 300 500 "cut of scotch"
    within "$(figure imbalance)" 1 1.02 "imbalance of scotch"
    expect 0 "" $cut cube.hdf other.h5 --parts 8 --method scotch --threads 1; expect 0 "" $cut cube.hdf other2.h5 --parts 8 --method scotch --threads 3
    same_content other.h5 other2.h5
fi
expect 0 "" mpirun -n 2 $cut cube.hdf mpi.h5 --parts 8 --method boxes
expect 0 "" $cut cube.hdf cube.h5 --parts 8 --method boxes --force; same_content cube.h5 mpi.h5

# ---- layers: 3 n of 2 n^2 elements; within parts, layers of each ----
expect 0 "" $cut cube.hdf layers.h5 --order layers
is layer_count 24; is layer_largest 128
expect 0 "" $cut cube.hdf layers.h5 --order layers --parts 2 --method boxes --force
within "$(figure layer_count)" 24 60 "layers of two parts"
expect 0 "" $cut cube.hdf layers2.h5 --order layers --parts 2 --method boxes --threads 1; same_content layers.h5 layers2.h5
penstock-verify layers.h5 > /dev/null || fail "layers do not verify"

# ---- up to date, plan, too little memory ----
expect 0 "up to date" $cut cube.hdf layers2.h5 --order layers --parts 2 --method boxes
expect 0 "memory" $cut cube.hdf none.h5 --plan
expect 4 "host-memory" $cut cube.hdf none.h5 --host-memory 8M
expect 2 "tetrahedra" $cut brick.hdf none.h5 --parts 631
expect 2 "no element of" $cut cube.hdf none.h5 --weight 7:2
expect 2 "TAG:WEIGHT" $cut cube.hdf none.h5 --weight 1:x
expect 2 "OUTPUT is missing" $cut cube.hdf
expect 3 "penstock-volume-mesh" $cut cube.h5 none.h5
expect 3 "missing.hdf" $cut missing.hdf none.h5
expect 2 "--cells" $box none.hdf --cells 0
expect 2 "--cells" $box none.hdf --cells 1.5
expect 2 "--cells" $box none.hdf --cells 2,3
expect 2 "the format holds" $box none.hdf --cells 2000
expect 2 "--size" $box none.hdf --size 1,0,1
expect 2 "shake" $box none.hdf --shake 0.4
expect 2 "ball four" $box none.hdf --region 2:ball:1,2,3

# ---- meshes that are wrong, by hand ----
low='0 0 0\n1 0 0\n0 1 0\n0 0 -1\n'
# a smaller face inside a larger one
hand_mesh "$low"'0.2 0.2 0\n0.4 0.2 0\n0.2 0.4 0\n0.2 0.2 1\n' '4 2 1 1 1 2 3 4\n4 2 1 1 5 6 7 8\n'
expect 3 "does not conform" $cut hand.hdf none.h5
# the two diagonals of a square on either side
hand_mesh '0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 0.5 1\n0.5 0.5 -1\n' '4 2 1 1 1 2 3 5\n4 2 1 1 1 3 4 5\n4 2 1 1 1 2 4 6\n4 2 1 1 2 3 4 6\n'
expect 3 "does not conform" $cut hand.hdf none.h5
# two that touch along an edge
hand_mesh "$low"'-1 0 0\n0 0 1\n' '4 2 1 1 1 2 3 4\n4 2 1 1 1 3 5 6\n'
expect 3 "falls into 2 pieces" $cut hand.hdf none.h5
grep -q "tetrahedron [01] of hand.hdf belongs to another one than tetrahedron [01]" err || { cat err; fail "the piece is not named"; }
expect 0 "" $cut hand.hdf pieces.h5 --allow-pieces; is components 2
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary file is left"
