# The rule of IEC/IEEE 62704-1 (valid, used and unused voxels) against an independent implementation in Python: status of
# every voxel, and every value.
. "$ROOT/tests/stages/lib.sh"
command -v python3 > /dev/null || { echo "no python3"; exit 77; }
expect 0 "0 of another status" python3 "$ROOT/tests/support/sar_62704.py" "$BUILD/tests-programs/mass_average_run"
cat out
[ "$(grep -c ' 0 of another status' out)" -eq 4 ] || fail "not four bodies"
