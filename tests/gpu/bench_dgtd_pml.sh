#!/bin/bash
# What a matched layer costs on a device: elements a second of P2 and P3, fp32, without a layer and with one
# of four rows of cells about a box (half of the elements), of as many elements. Environment: programs on
# PATH; CELLS: of the box (33: 413,526 elements), STEPS: 400, DEVICE: cuda.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cells=${CELLS:-33}
penstock-mesh-box -q small.hdf --cells $cells > said.txt
penstock-mesh-box -q large.hdf --cells $((cells + 8)) > said.txt
for size in small large; do penstock-mesh-partition -q $size.hdf $size.h5 > said.txt; done
setup() { penstock-dgtd-setup -q "$@" --material default:eps=1 --boundary outer:absorbing --source \
    current:at=.5,.5,.5:axis=0,0,1:radius=.2:moment=1e-12:width=.2ns > said.txt 2>&1; }
for order in 2 3; do
    setup large.h5 without$order.h5 --order $order
    setup small.h5 with$order.h5 --order $order --pml auto:layers=4:reflection=1e-4
    for model in without with without with; do
        penstock-dgtd-march $model$order.h5 out.h5 --steps ${STEPS:-400} --device ${DEVICE:-cuda} --force --json -q > out.json
        echo "P$order $model: $(grep -oE '"(elements|stepping|elements_a_second)": [0-9.e+]*' out.json | tr '\n' ' ')"
    done
done
