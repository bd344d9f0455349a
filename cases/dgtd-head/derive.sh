#!/bin/bash
# Figures of a report of penstock-dgtd-sar (--json) that a case judges, as one JSON object.
#
#   derive.sh REPORT
set -eu
first() { grep -o "\"$1\": *[-+0-9.eE]*" "$2" | head -n 1 | sed 's/.*: *//'; }
of_average() { grep -o "\"average_$1g\": {[^}]*}" "$2"; }
largest() { of_average "$1" "$2" | sed 's/.*"largest": *\([-+0-9.eE]*\).*/\1/'; }
x=$(of_average 10 "$1" | sed 's/.*"place": *\[\([-+0-9.eE]*\).*/\1/')
awk -v accepted="$(first accepted "$1")" -v absorbed="$(first absorbed "$1")" \
    -v voxels="$(first voxel_power "$1")" -v one="$(largest 1 "$1")" -v ten="$(largest 10 "$1")" -v x="$x" 'BEGIN {
    off = voxels / absorbed - 1
    printf "{\"accepted\": %.9g, \"absorbed_part\": %.6g, \"voxels_off\": %.6g, \"ten_over_one\": %.6g, \"x\": %.6g}\n",
        accepted, absorbed / accepted, off < 0 ? -off : off, ten / one, x }'
