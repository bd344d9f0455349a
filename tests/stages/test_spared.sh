# Files that are no run's own are neither replaced nor removed: inputs that an option names, files of others with the names
# of checkpoints, and what the program prints into a file.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface particle-import octree-build fmm slice-assemble tdbem-march

{
    penstock-mesh-surface ball.hdf --divisions 1
    penstock-slice-assemble ball.hdf slices.h5 --courant 1 --speed 1 --formulation sound-hard
    penstock-slice-assemble ball.hdf lining.h5 --courant 1 --speed 1 --formulation sound-hard --lining all
    penstock-particle-import --generate cube --count 600 p.h5
    penstock-octree-build p.h5 tree.h5 --height 3
} > made 2>&1 || { cat made; fail "no inputs"; }

# refused CODE TEXT COMMAND...: and every file here is what it was, and no other
refused() {
    sums > a.sums
    expect "$@"
    sums > b.sums
    cmp -s a.sums b.sums || { diff a.sums b.sums; fail "files changed: ${*:3}"; }
}
sums() { find . -maxdepth 1 -type f ! -name out ! -name err ! -name '[ab].sums' -exec sha1sum {} + | sort; }
march="penstock-tdbem-march -q slices.h5 ball.hdf"
wave="--steps 40 --emitter plane:dir=0,0,1:width=5"

# ---- an output that is read, under whatever name, or is another output ----
ln -s p.h5 same.h5; mkdir sub
refused 2 "is read; the output needs another name" penstock-octree-build p.h5 same.h5
refused 2 "is read; the output needs another name" penstock-octree-build ball.hdf p.h5 --targets sub/../p.h5
refused 2 "is read; the output needs another name" penstock-fmm tree.h5 o.h5 --device cpu --order 3 --trace tree.h5
refused 2 "is read; the output needs another name" penstock-fmm tree.h5 p.h5 --device cpu --order 3 --charges p.h5
refused 2 "two outputs have this name" penstock-fmm tree.h5 o.h5 --device cpu --order 3 --trace sub/../o.h5
refused 2 "is read; the output needs another name" $march lining.h5 $wave --lining lining.h5 --admittance all:b0=.1
refused 2 "is read; the output needs another name" penstock-tdbem-march ball.hdf ball.hdf $wave --courant 1 --speed 1
if command -v penstock-schwarz-solve > /dev/null; then
    {
        penstock-gravity-model density.hdf --preset chx-1 --nodes 9,9,9
        penstock-gravity-assemble density.hdf load.hdf --subdomains sub.h5 --parts 3
        penstock-transmission-optimize transmission.h5 --nodes 9,9,9 --length 1,1,1
    } > made 2>&1 || { cat made; fail "no load"; }
    refused 2 "is read; the output needs another name" penstock-schwarz-solve load.hdf sub.h5 --subdomains sub.h5
    refused 2 "is read; the output needs another name" penstock-schwarz-solve load.hdf transmission.h5 --slabs 2 --transmission transmission.h5
    refused 2 "is read; the output needs another name" penstock-gravity-assemble density.hdf o.hdf --subdomains density.hdf --parts 3
    refused 2 "two outputs have this name" penstock-gravity-assemble density.hdf o.hdf --subdomains o.hdf --parts 3
fi

# ---- what the program prints goes where its log would be ----
$march o.h5 $wave > o.log 2>&1 && fail "the march took the file of its own messages for its log"
grep -q "o.log: takes what this program prints" o.log || { cat o.log; fail "and does not say so"; }
penstock-mesh-surface - > /dev/null 2>&1; rm -f ./-
penstock-octree-build p.h5 o.h5 --height 3 > o.h5 2> err && fail "an output over what is printed"
grep -q "o.h5: takes what this program prints" err || { cat err; fail "and does not say so"; }
rm o.h5 o.log

# ---- files with the names of checkpoints, the mesh among them ----
expect 0 "" $march whole.h5 $wave
cp ball.hdf o.000007.h5; echo "a text" > o.000003.h5; cp p.h5 o.000002.h5; echo mine > o.000001.h5.x.tmp
sha1sum o.0* > sums
expect 0 "" penstock-tdbem-march -q slices.h5 o.000007.h5 o.h5 $wave --checkpoint-every 8steps
sha1sum -c --quiet sums || fail "files of others with the names of checkpoints"
[ "$(ls o.0* | wc -l)" -eq 4 ] || fail "left behind: $(ls o.0*)"
rm o.h5
expect 75 "" penstock-tdbem-march slices.h5 o.000007.h5 o.h5 $wave --steps 400000 --stop-after .01 --checkpoint-every 8steps
sha1sum -c --quiet sums || fail "files of others with the names of checkpoints, of a run that was stopped"
expect 75 "continuing after step" penstock-tdbem-march slices.h5 o.000007.h5 o.h5 $wave --steps 400000 --stop-after .01 --checkpoint-every 8steps
expect 0 "" penstock-tdbem-march slices.h5 o.000007.h5 o.h5 $wave --fresh
same o.h5 whole.h5
sha1sum -c --quiet sums || fail "files of others with the names of checkpoints, with --fresh"
