#!/bin/bash
# The table of what a case verified, a row a check.
#
#   verdict.sh TABLE "what is claimed" "bound" FIGURE command...
#
# Runs the command, which prints one JSON object (--json). The claim holds if the exit code is 0
# and, for a bound such as "<= 0.01", ">= 90" or "== 27", if the figure called FIGURE in the answer keeps it.
# FIGURE "-": there is none; text=WORDS: these words stand in its place. The row is appended to
# TABLE and printed; a claim that does not hold ends with exit code 1.
set -u
table=$1 claim=$2 bound=$3 figure=$4
shift 4
said=$(mktemp)
trap 'rm -f "$said"' EXIT
answer=$("$@" 2>"$said")
code=$?
case $figure in
    -) value= ;;
    text=*) value=${figure#text=} ;;
    *) value=$(printf '%s' "$answer" | grep -o "\"$figure\": *[^,}]*" | head -n 1 | sed 's/.*: *//; s/"//g') ;;
esac
keeps() { # VALUE "<= X", ">= X" or "== X"
    awk -v v="$1" -v bound="$2" 'BEGIN { split(bound, b, " ");
        exit !(v ~ /^[-+0-9.eE]+$/ && (b[1] == "==" ? v + 0 == b[2] + 0 : b[1] == "<=" ? v + 0 <= b[2] + 0 : v + 0 >= b[2] + 0)) }'
}
verdict=passed
[ $code -eq 0 ] || verdict=FAILED
case $bound in "<= "* | ">= "* | "== "*) keeps "$value" "$bound" || verdict=FAILED ;; esac
case $value in *[0-9].[0-9]*) value=$(printf '%.3g' "$value") ;; esac
printf '%-62s %-14s %-14s %s\n' "$claim" "$value" "$bound" "$verdict" | tee -a "$table"
[ $verdict = passed ] && exit 0
echo "  command: $* (exit code $code)" >&2
sed 's/^/  /' "$said" >&2
exit 1
