#!/bin/bash
# The half-wave dipole as a thin wire of a thousandth of a wavelength in radius: half of it upright on metal, in boxes of shaken cells, at
# 299.792 MHz. Moments with the exact kernel of a tube (60 segments): 85.96 + 45.9 i ohm.
#
#   thin.sh FOLDER DEVICE CELLS..     cells across .6 m; the tube is two of them in radius, at most .15 m
set -eu
folder=$1 device=$2
shift 2
for cells in "$@"; do
    out=$folder/thin-$cells
    up=$(awk -v n="$cells" 'BEGIN { print int(.45 / (.6 / n) + .999) }')
    tube=$(awk -v n="$cells" 'BEGIN { t = 1.2 / n; print t < .15 ? t : .15 }')
    penstock-mesh-box -q "$out.hdf" --force --cells "$cells,$cells,$up" --size ".6,.6,$(awk -v n="$cells" -v u="$up" 'BEGIN { print u * .6 / n }')" \
        --corner=-.3,-.3,0 --shake .3 > "$out.txt"
    penstock-mesh-partition -q "$out.hdf" "$out.h5" --force >> "$out.txt"
    penstock-dgtd-setup -q "$out.h5" "$out-model.h5" --force --order 2 --material default:eps=1 --boundary 105:pec --boundary outer:absorbing \
        --pml auto:flux=centred:layers=8 --allow flat-layer --allow strong-layer \
        --wire "feed:path=0,0,0/0,0,.25:at=0,0,0:radius=.001:tube=$tube:segment=.0125:r=40:width=.8ns:frequency=285e6" >> "$out.txt"
    penstock-dgtd-march -q "$out-model.h5" "$out-run.h5" --force --device "$device" --time 60ns --until-decay 45dB >> "$out.txt"
    penstock-dgtd-ports -q "$out-run.ports.h5" "$out-z.h5" --force --frequencies 299.792e6 --quantity z --allow undecayed >> "$out.txt" 2>&1
    penstock-inspect --csv "$out-z.h5" | awk -F, -v n="$cells" 'NR > 1 { r = 2 * $2; x = -2 * $3
        printf "{\"cells\": %d, \"resistance\": %.6g, \"reactance\": %.6g, \"off\": %.4g}\n", n, r, x, sqrt((r - 85.96)^2 + (x - 45.9)^2) / 97.45 }'
done
