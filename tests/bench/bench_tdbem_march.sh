#!/bin/bash
# The whole chain on the aircraft of cases/ (rigid, h/D = 2, 3 points, f32): assembly, and the
# march at n_g = 8 in core and out of core at a tenth of the data. The floors come from the march's own
# report: the summation against the read bandwidth and FMA peak that bench_tdbem_slice_product measures
# here (first loading included), out of core the slowest of reading, computing and busy cores. Records on stdout, talk on stderr.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
figure() { grep -o "\"$2\": *[-0-9.e+]*" "$1" | head -n 1 | sed 's/.*: *//'; }
revision=$(penstock-tdbem-march --version)
revision=$(echo "$revision" | sed 's/.*(\(.*\))/\1/')
record() { # case quantity value unit floor fraction size
    printf '{"case": "%s", "quantity": "%s", "value": %.4g, "unit": "%s", "floor": %.4g, "fraction": %.3f, "size": "%s", "device": "cpu", "revision": "%s"}\n' \
        "$1" "$2" "$3" "$4" "$5" "$6" "$7" "$revision"
}
calc() { awk "BEGIN { print $* }"; }

penstock-mesh-import "$ROOT/cases/tdbem-aircraft/aircraft.geo" mesh.hdf --size ${SIZE:-0.5} --orient --order hilbert -q > /dev/null
penstock-slice-assemble mesh.hdf slices.h5 --formulation sound-hard --courant 2 --speed 340 --points 3 --json -q > assemble.json
pair=$(calc "1e6 * $(figure assemble.json per_triangle_pair)")
size="$(figure assemble.json unknowns) vertices, 3 points, h/D = 2"
record tdbem-assemble "time per pair of triangles, of a core" "$pair" us 2 "$(calc 2/$pair)" "$size"

"$BUILD/bench/bench_tdbem_slice_product" --ceilings > ceilings.json 2> /dev/null
ceiling() { grep "\"$1\"" ceilings.json | grep "$2" | grep -o '"value": *[0-9.e+]*' | sed 's/.*: *//'; }
bandwidth=$(ceiling ceiling read_bandwidth) peak=$(ceiling f32 fma_peak)
for layout in slices warp; do
    matrix=slices.h5
    if [ $layout != slices ]; then
        penstock-slice-block slices.h5 $layout.h5 --layout $layout -q > /dev/null
        matrix=$layout.h5
    fi
    run="$matrix mesh.hdf out.h5 --steps 240 --group 8 --emitter plane:dir=1,0,0:shape=ricker:width=0.006 --json -q --force"
    penstock-tdbem-march $run > core.json
    size="$layout, $(figure core.json unknowns) unknowns, n_g = 8"
    rate=$(calc "$(figure core.json data_swept) / 1e9")
    record tdbem-march-core "stored data summed" "$rate" GB/s "$bandwidth" "$(calc $rate/$bandwidth)" "$size"
    flops=$(calc "$(figure core.json rate) / 1e9")
    record tdbem-march-core "flops of row-vectors" "$flops" GFlop/s "$peak" "$(calc $flops/$peak)" "$size"
    penstock-tdbem-march $run --plan > plan.json
    budget=$(calc "int($(figure plan.json least_memory) + $(figure plan.json tiles) / 10)")
    rm -f out.h5
    sync; echo 3 2>/dev/null > /proc/sys/vm/drop_caches || true
    penstock-tdbem-march $run --host-memory "$budget" > out.json
    record tdbem-march-out-of-core "max(read, compute, busy cores) over the summation's time" \
        "$(figure out.json fraction_of_ceiling)" 1 0.85 "$(figure out.json fraction_of_ceiling)" \
        "$size, $(figure out.json resident_chunks) of $(figure out.json chunks) tiles resident"
    rm -f out.h5
done
