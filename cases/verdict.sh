#!/bin/bash
# The table of what a case verified, a row a check.
#
#   verdict.sh TABLE "what is claimed" "bound" FIGURE command...
#
# Runs the command (it must print one JSON object, as --json does); exit code 0 means that the
# claim holds. The figure called FIGURE in its answer goes to the table; FIGURE "-": none; a
# FIGURE of the form text=WORDS stands for itself. The row is appended to TABLE and printed; a
# failed check ends with exit code 1.
set -u
table=$1 claim=$2 bound=$3 figure=$4
shift 4
answer=$("$@" 2>verdict.err)
code=$?
case $figure in
    -) value= ;;
    text=*) value=${figure#text=} ;;
    *) value=$(printf '%s' "$answer" | grep -o "\"$figure\": *[^,}]*" | head -n 1 | sed 's/.*: *//; s/"//g') ;;
esac
case $value in *[0-9].[0-9]*) value=$(printf '%.3g' "$value") ;; esac
verdict=passed
[ $code -eq 0 ] || verdict=FAILED
row=$(printf '%-66s %-14s %-12s %s' "$claim" "$value" "$bound" "$verdict")
echo "$row" >> "$table"
echo "$row"
if [ $code -ne 0 ]; then
    echo "  command: $*" >&2
    sed 's/^/  /' verdict.err >&2
    rm -f verdict.err
    exit 1
fi
rm -f verdict.err
