# Out of core: with room for a tenth of the tiles the peak memory stays within the budget,
# and the densities are those of a run in core, bit for bit.
set -eu
. "$ROOT/tests/support/march.bash"
sphere 3
penstock-slice-assemble sphere3.h5 s.h5 --courant 8 --speed 1 --points 3 --precision fp64 \
    --tile-rows 256 --tile-slices 64 -q > /dev/null
run="--steps 64 $plane"
penstock-tdbem-march s.h5 sphere3.h5 out.h5 $run --plan --json > plan.json
least=$(figure plan.json least_memory) data=$(figure plan.json tiles)
budget=$((least + data / 10))
echo "tiles $data bytes, least memory $least, budget $budget"
below $((100 * 1000 * 1000)) "$data"
penstock-tdbem-march s.h5 sphere3.h5 out.h5 $run --host-memory $budget --json > out.json
penstock-tdbem-march s.h5 sphere3.h5 core.h5 $run --json > core.json
identical out.h5 core.h5
peak=$(figure out.json peak_memory)
echo "peak out of core $peak ($((100 * peak / budget)) % of the budget), in core $(figure core.json peak_memory)"
below "$peak" $budget
below "$data" "$(figure core.json peak_memory)"
below "$(figure out.json resident_chunks)" $(($(figure out.json chunks) / 5))
below "$(figure core.json chunks)" "$(figure core.json resident_chunks)"
fails 4 "cannot do" penstock-tdbem-march s.h5 sphere3.h5 no.h5 $run --host-memory $((least / 2))
