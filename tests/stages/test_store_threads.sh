# Eight threads write thousands of chunks, whose bytes go to the file outside HDF5: other programs
# read what was written, and a writer killed on the way leaves no file.
. "$ROOT/tests/stages/lib.sh"
needs inspect verify
write=$BUILD/tests-programs/store_threads
chunks=2000
expect 0 "" "$write" run.h5 $chunks
expect 0 good penstock-verify run.h5
expect 0 "" penstock-inspect run.h5 --dataset /ramp --json
grep -Eq '"maximum": *1023999' out || { cat out; fail "inspect: another last value"; }

# Killed while it writes, over a good file: that file stays.
cp run.h5 kept.h5
for moment in write:3 write:900 write:2000 fsync:1 rename:1; do
    killed_at $moment "$write" kept.h5 $chunks
    cmp -s run.h5 kept.h5 || fail "killed at $moment: the old file went"
done
expect 0 "" "$write" kept.h5 40 # and removes what the killed ones left
[ -z "$(find . -name '*.tmp')" ] || fail "a temporary of a dead writer stays"
expect 0 good penstock-verify kept.h5

# ---- other readers, through the plugin and the ordinary filters ----
export HDF5_PLUGIN_PATH=$BUILD/plugin
if command -v h5dump >/dev/null; then
    h5dump -d /ramp -s 511998 -c 4 run.h5 >dump || fail "h5dump"
    grep -q '511998, 511999, 512000, 512001' dump || { cat dump; fail "h5dump: other values"; }
fi
python_has h5py || { echo "h5py is not here: not tried"; exit 0; }
python3 - <<'END' || fail "h5py"
import h5py
import numpy as np

def noise(places):
    place = np.atleast_1d(np.asarray(places, dtype=np.uint64))
    place = ((place ^ place >> 16) * 0x85EBCA6B) & 0xFFFFFFFF
    place = ((place ^ place >> 13) * 0xC2B2AE35) & 0xFFFFFFFF
    return place ^ place >> 16

f = h5py.File("run.h5", "r")
table, stored, room = f["/chunks/noise"][:], f["/noise"], 24576
assert len(table) == 2000 and stored.shape == (2000, room)
small = np.count_nonzero(table["stored_bytes"] < 65536)
assert 500 < small < 1800, small # both ways of writing were taken
i = np.arange(room)
for c in range(2000):
    count = 1 + int(noise(c)[0]) % room
    expected = np.where(i < count, noise(c * room + np.arange(room)), 0)
    assert table["count"][c] == count and np.array_equal(stored[c], expected), c
    if c % 64 == 0:
        assert f["/ramp"].attrs["chunk%d" % c] == count
assert np.array_equal(f["/ramp"][:], np.arange(2000 * 512))
END
