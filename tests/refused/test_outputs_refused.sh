# Outputs that cannot be: a file that is also read, a folder, a folder that is not there, a disk that is full
# while a picture is drawn; and devices that are none. Told at once, nothing lost, nothing left behind.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface cluster-build slice-assemble tdbem-march probe gravity-model gravity-assemble schwarz-solve compare

expect 0 "" penstock-mesh-surface s.hdf --divisions 2
expect 0 "" penstock-slice-assemble s.hdf m.h5 --formulation sound-hard --courant 2 --speed 340
march="--steps 20 --emitter plane:dir=1,0,0:width=2e-3"
expect 0 "" penstock-tdbem-march m.h5 s.hdf run.h5 $march
mkdir folder
sha256sum *.h* > before
ls > listed

# ---- an output that is read: by its name, by a link, by an option ----
ln -s s.hdf link.hdf
for way in "slice-assemble s.hdf s.hdf --formulation sound-hard --courant 2 --speed 340" \
    "cluster-build s.hdf link.hdf" "cluster-build ./s.hdf s.hdf --force" \
    "tdbem-march m.h5 s.hdf m.h5 $march" "tdbem-march m.h5 s.hdf s.hdf $march --force" \
    "probe run.h5 s.hdf run.h5 --directions 4" "sphere-exact run.h5 --like run.h5 --angles 0"; do
    # shellcheck disable=SC2086
    expect 2 "is read; the output needs another name" penstock-$way
done
rm link.hdf
expect 0 "" penstock-compare run.h5 run.h5 # what only reads may read a file twice
expect 0 "" penstock-gravity-model g.hdf --preset chx-1 --nodes 9,9,5
expect 0 "" penstock-gravity-assemble g.hdf load.hdf
expect 0 "" penstock-schwarz-solve load.hdf u.hdf
expect 2 "g.hdf: is read" penstock-gravity-anomaly u.hdf g.hdf --model g.hdf
rm g.hdf load.hdf u.hdf

# ---- no place for a file: before the march, not after it ----
expect 2 "folder: is a folder; name a file" penstock-tdbem-march m.h5 s.hdf folder $march
expect 2 "no/run.h5: cannot be written, folder no: No such file" penstock-tdbem-march m.h5 s.hdf no/run.h5 $march
expect 2 "s.hdf is no folder" penstock-tdbem-march m.h5 s.hdf s.hdf/run.h5 $march

# ---- devices ----
expect 2 'device: "tpu" is no device' penstock-mesh-surface t.hdf --divisions 2 --device tpu
expect 2 'device: "cuda:x" is no device' penstock-compare run.h5 run.h5 --device cuda:x

# ---- a picture that the disk cannot hold; a limit stands in for it ----
if command -v penstock-plot > /dev/null && command -v gnuplot > /dev/null; then
    (ulimit -f 4; expect 4 "is the disk full" penstock-plot lengths m.h5 --output p.png) || exit 1
fi

rm -f out err
sha256sum --quiet -c before || fail "a file changed"
[ "$(ls | grep -v '^before$\|^listed$')" = "$(grep -v '^before$\|^listed$\|^out$\|^err$' listed)" ] || { ls; fail "something was left behind"; }
