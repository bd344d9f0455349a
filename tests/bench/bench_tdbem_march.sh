#!/bin/bash
# The whole chain on a sphere of 5120 triangles (sound-soft, h/D = 4, 3 points, f32): assembly, and the
# march at n_g = 8 in core and out of core at a tenth of the data. The floors come from the march's own
# report: the summation against reading its tiles once at the bandwidth that bench_tdbem_slice_product
# measured in this run (BANDWIDTH, GB/s; else measured here), out of core the slower of reading and
# computing. Records on stdout, talk on stderr.
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

awk -f "$ROOT/cases/tdbem-sphere/icosphere.awk" -v levels=${LEVEL:-4} -v area=12.566370614359172 > sphere.off
penstock-mesh-import sphere.off sphere.hdf --order hilbert -q > /dev/null
penstock-slice-assemble sphere.hdf slices.h5 --courant 4 --speed 1 --points 3 --json -q > assemble.json
pair=$(figure assemble.json per_triangle_pair)
size="$(figure assemble.json unknowns) triangles, 3 points, h/D = 4"
record tdbem-assemble "time per pair of triangles, of a core" "$pair" us 2 "$(calc 2/$pair)" "$size"

bandwidth=${BANDWIDTH:-}
if [ -z "$bandwidth" ]; then
    "$BUILD/bench/bench_tdbem_slice_product" --ceilings > ceilings.json 2> /dev/null
    bandwidth=$(grep bandwidth ceilings.json | head -n 1 | grep -o '"value": *[0-9.e+]*' | sed 's/.*: *//')
fi
for layout in slices warp; do
    matrix=slices.h5
    if [ $layout != slices ]; then
        penstock-slice-block slices.h5 $layout.h5 --layout $layout -q > /dev/null
        matrix=$layout.h5
    fi
    run="$matrix sphere.hdf out.h5 --steps 160 --group 8 --emitter plane:dir=0,0,1:width=0.5 --json -q --force"
    penstock-tdbem-march $run > core.json
    size="$layout, $(figure core.json unknowns) unknowns, n_g = 8"
    rate=$(figure core.json data_swept)
    record tdbem-march-core "stored data summed" "$rate" GB/s "$bandwidth" "$(calc $rate/$bandwidth)" "$size"
    penstock-tdbem-march $run --plan > plan.json
    budget=$(calc "int($(figure plan.json least) + $(figure plan.json tiles) / 10)")
    rm -f out.h5
    sync; echo 3 2>/dev/null > /proc/sys/vm/drop_caches || true
    penstock-tdbem-march $run --host-memory "$budget" > out.json
    record tdbem-march-out-of-core "max(read, compute) over the summation's time" \
        "$(figure out.json fraction_of_ceiling)" 1 0.85 "$(figure out.json fraction_of_ceiling)" \
        "$size, $(figure out.json resident_chunks) of $(figure out.json chunks) tiles resident"
    rm -f out.h5
done
