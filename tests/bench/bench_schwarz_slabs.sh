#!/bin/bash
# Interface iterations to 1e-6 at the paper's full size, 264 x 264 x 286 nodes (19,933,056), f = 1 and zeros
# on the boundary, by penstock-schwarz-solve: kinds of transmission, optimised for the grid, numbers of
# slabs and accelerations; a table on stderr. The floor of a record is the paper's count (table 12: 41,
# 45, 92 at 32, 64, 128 subdomains), 0 where it has none; 0 iterations: more than LIMIT. SIZE=small takes
# 66 x 66 x 72 nodes. GMRES starts again after 60 steps.
set -eu
nodes=264,264,286 slabs="2 4 8 16 32 64 128"
[ "${SIZE:-}" != small ] || { nodes=66,66,72 slabs="2 4 8 16 32"; }
LIMIT=${LIMIT:-120}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
penstock-gravity-model "$folder/box.hdf" -q --body ball:0,0,7e3,3e3,100 --nodes $nodes > /dev/null
penstock-gravity-assemble "$folder/box.hdf" "$folder/load.hdf" -q --source one --boundary zero > /dev/null
paper() { case $1 in 32) echo 41 ;; 64) echo 45 ;; 128) echo 92 ;; *) echo 0 ;; esac; }
count() { # SLABS KIND OPTIONS...
    local n=$1 kind=$2
    shift 2
    if penstock-schwarz-solve "$folder/load.hdf" -q --slabs $n --kind $kind --limit $LIMIT --gmres-restart 60 "$@" \
        > "$folder/out" 2> "$folder/err"; then
        awk '$1 == "iterations" { print $2 }' "$folder/out"
    else
        grep -q "more --limit" "$folder/err" || { cat "$folder/err" >&2; exit 1; }
        echo 0
    fi
}
record() { # SLABS KIND NAME COUNT
    local floor=$(paper $1)
    awk -v s="$1" -v k="$2" -v w="$3" -v c="$4" -v f="$floor" -v n="${nodes//,/ x }" -v r="$(penstock-schwarz-solve --version | sed 's/.*(\(.*\)).*/\1/')" 'BEGIN {
        printf "{\"case\": \"gravity-19m9-interface\", \"quantity\": \"%s, %s\", \"value\": %d, \"unit\": \"iterations\", \"floor\": %d, \"fraction\": %.3f, \"size\": \"%s nodes, %d slabs\", \"device\": \"cpu\", \"revision\": \"%s\"}\n",
            k, w, c, f, (c > 0 ? f / c : 0), n, s, r }'
}
printf '%-5s %-14s %12s %8s %8s %18s %14s\n' slabs kind "fixed point" GMRES sweeps "fixed, coarse 0.5" "GMRES, coarse" >&2
for n in $slabs; do
    for kind in oo0 oo0-two-sided oo2 oo2-two-sided; do
        line=
        for way in "fixed-point" gmres sweeps "fixed-point --coarse 0.5" "gmres --coarse 0.5"; do
            c=$(count $n $kind --method $way)
            record $n $kind "${way/ --/, }" $c
            line="$line $c"
        done
        printf '%-5s %-14s %12s %8s %8s %18s %14s\n' $n $kind $line >&2
    done
done
