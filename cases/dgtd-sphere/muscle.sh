#!/bin/bash
# How far a power of the muscle's run is from Mie's series, as one JSON object.
#
#   muscle.sh OUT absorbed|scattered N: at the N-th frequency, permittivity and conductivity by the tissue's formula
set -eu
out=$1 what=$2 n=$3
of_medium() { awk -v name="$1_at_$n" '$1 == "medium_1" { inside = 1 } $1 == "medium_2" { exit } inside && $1 == name { print $2 }' "$out/muscle-model.txt"; }
hertz=$(awk -v name="frequency_$n" '$1 == name { print $2; exit }' "$out/muscle-model.txt")
exact() {
    penstock-dgtd-sphere -q --radius 0.1 --frequencies "$hertz" --eps "$(of_medium cole_eps)" --sigma "$(of_medium cole_sigma)" --json |
        grep -oE "\"$1\": *[-+0-9.e]+" | sed 's/.*: *//'
}
# Power over that of the wave of 1 V/m, 1/(2 Z0), is a cross-section.
if [ "$what" = absorbed ]; then
    got=$(penstock-dgtd-sar -q "$out/muscle.phasors.h5" "$out/muscle.hdf" "$out/muscle-sar.hdf" --frequency "$hertz" --grid 0 --force --json |
        grep -oE '"absorption_cross_section": *[-+0-9.e]+' | sed 's/.*: *//')
    want=$(exact absorption_cross_section)
else
    [ -e "$out/muscle-far.json" ] || penstock-dgtd-far -q "$out/muscle.phasors.h5" "$out/muscle.hdf" "$out/muscle-far.h5" \
        --around ball --directions 4 --quantity directivity --force --json > "$out/muscle-far.json"
    got=$(grep -oE '"radiated_power": *[-+0-9.e]+' "$out/muscle-far.json" | sed "s/.*: *//; $n!d" |
        awk '{ print 2 * 376.730313668 * $1 }')
    want=$(awk -v q="$(exact q_scattering)" 'BEGIN { print 3.14159265358979 * .01 * q }')
fi
awk -v a="$got" -v b="$want" 'BEGIN { d = a / b - 1; printf "{\"off\": %.4g, \"signed\": %.4g}\n", d < 0 ? -d : d, d }'
