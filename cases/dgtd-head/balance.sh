#!/bin/bash
# Parts of the power that the port accepts, as one JSON object.
#
#   balance.sh SAR_REPORT FAR_REPORT WATT
set -eu
first() { grep -o "\"$1\": *[-+0-9.eE]*" "$2" | head -n 1 | sed 's/.*: *//'; }
awk -v absorbed="$(first absorbed "$1")" -v radiated="$(first efficiency "$2")" -v watt="$3" 'BEGIN {
    off = absorbed / watt + radiated - 1
    printf "{\"absorbed\": %.6g, \"radiated\": %.6g, \"off\": %.6g}\n", absorbed / watt, radiated, off < 0 ? -off : off }'
