# Files that users open with other programs are read by stock HDF5, which knows no plugin of ours; what
# only our programs read is not, and says why.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface mesh-box prism-field particle-import octree-build fmm verify
command -v h5dump > /dev/null || { echo "h5dump is not installed"; exit 77; }
export HDF5_PLUGIN_PATH=/nowhere

expect 0 "" penstock-mesh-surface hull.hdf --shape sphere --edge .1
expect 0 "" penstock-mesh-box box.hdf --size 1,1,1 --cells 8
echo "-1 1 -2 2 -3 3 1000" > prism.txt
awk 'BEGIN { for (i = 0; i < 3000; ++i) print i % 60, int(i / 60), 10 + i % 7 }' > stations.txt
expect 0 "" penstock-prism-field prism.txt stations.txt prism.h5 --field gradients
awk 'BEGIN { srand(3); for (i = 0; i < 3000; ++i) print rand(), rand(), rand(), rand() - .5 }' > particles.txt
expect 0 "" penstock-particle-import particles.txt particles.h5
expect 0 "" penstock-octree-build particles.h5 octree.h5
HDF5_PLUGIN_PATH=$BUILD/plugin expect 0 "" penstock-fmm octree.h5 fmm.h5
for file in hull.hdf box.hdf prism.h5 fmm.h5; do
    h5dump "$file" > dump 2>&1 || { tail -5 dump; fail "$file is not read without a plugin"; }
    grep -q "unable to print" dump && fail "$file: h5dump leaves something out"
    [ "$(wc -l < dump)" -gt 200 ] || fail "$file: h5dump shows too little"
    expect 0 good penstock-verify "$file"
done
h5dump octree.h5 > dump 2>&1 && fail "an octree is stored as what users open"
exit 0
