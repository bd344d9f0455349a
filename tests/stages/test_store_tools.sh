# Who reads our files: penstock-inspect, penstock-verify, h5dump and h5py through the plugin.
. "$ROOT/tests/stages/lib.sh"
needs inspect verify
"$BUILD/tests-programs/store_sample" run.h5 || fail "no sample was written"

# value KEY: of the JSON in ./out, first place.
value() { grep -o "\"$1\": *[^,}]*" out | head -n 1 | sed 's/.*: *//'; }

# ---- inspect: figures known beforehand ----
expect 0 "" penstock-inspect run.h5 --dataset /a/values --json
[ "$(value values)" = 1900 ] && [ "$(value chunks)" = 7 ] && [ "$(value maximum)" = 1899 ] &&
    [ "$(value zeros)" = 1 ] || { cat out; fail "inspect: wrong figures"; }
within "$(value mean)" 949.4999 949.5001 mean
within "$(value norm)" 47796.742 47796.744 norm # sqrt(1899 * 1900 * 3799 / 6)
within "$(value compression)" 2 8 compression
expect 0 "nnz_min_max_sum" penstock-inspect run.h5 --histogram
grep -Eq 'nnz_min_max_sum +\[10, 12, 54\]' out || { cat out; fail "inspect: extra columns"; }
grep -Eq 'chunks_of_size' out && grep -Eq 'parts +2' out && grep -Eq 'dt +0.25' out && grep -q 'a=1 b=2' out ||
    { cat out; fail "inspect: something is not told"; }
expect 0 "" penstock-inspect run.part0001.h5 --json --histogram
if command -v python3 >/dev/null; then python3 -m json.tool <out >/dev/null || fail "inspect: no valid JSON"; fi
expect 2 "has no dataset /b" penstock-inspect run.h5 --dataset /b
expect 2 "" penstock-inspect
expect 3 "cannot be opened" penstock-inspect absent.h5

# ---- verify: good, damaged, lost, and what is no file of ours ----
expect 0 good penstock-verify run.h5 run.part0000.h5
for reader in "verify run.h5" "compare run.h5 run.h5" "plot trace run.h5 --output no.svg"; do
    expect 0 least_memory penstock-$reader --plan
    grep -q "good\|verdict" out && fail "$reader --plan does more than plan"
done
[ ! -e no.svg ] || fail "a plan drew its picture"
expect 0 '"good": true' penstock-verify run.h5 --quick --json
kept=run.part0001.h5.kept
cp run.part0001.h5 "$kept"
"$BUILD/tests-programs/store_damage" run.part0001.h5 /tiles 2 || fail "nothing was damaged"
expect 3 "chunk 2 of /tiles: its hash differs" penstock-verify run.h5
expect 3 "1 of 2 files did not pass" penstock-verify run.part0000.h5 run.part0001.h5
head -c 3000 "$kept" >run.part0001.h5
expect 3 "run.part0001.h5: cannot be opened, it is damaged or truncated" penstock-verify run.h5
rm run.part0001.h5
expect 3 "part 1: " penstock-verify run.h5
mv "$kept" run.part0001.h5
echo "solid" >text.h5
expect 3 "text.h5: is not an HDF5 file" penstock-verify text.h5

# ---- other readers, through the plugin and the ordinary filters ----
export HDF5_PLUGIN_PATH=$BUILD/plugin
if command -v h5dump >/dev/null; then
    (cd / && h5dump -d /a/values -s 998 -c 4 "$OLDPWD/run.h5") >dump || fail "h5dump"
    grep -q '998, 999, 1000, 1001' dump || { cat dump; fail "h5dump: other values"; }
    if HDF5_PLUGIN_PATH=/nowhere h5dump -d /a/values run.part0000.h5 >dump 2>&1; then
        fail "h5dump read without the plugin"
    fi
fi
python_has h5py || { echo "h5py is not here: not tried"; exit 0; }
python3 - <<'END' || fail "h5py"
import h5py
f = h5py.File("run.h5", "r")
assert list(f["/a/values"][995:1005]) == list(range(995, 1005))
assert f["/a/values"].attrs["units"] == b"m" and f.attrs["dt"] == 0.25
assert f["/tiles"][3, 19] == 3 and f["/tiles"][3, 20] == 0
table = f["/chunks/tiles"][:]
assert list(table["nnz"]) == [10, 11, 10, 11, 12] and list(table["count"]) == [20] * 5
assert [r["file"] for r in f["/manifest"][:]] == [b"run.part0000.h5", b"run.part0001.h5"]
END
