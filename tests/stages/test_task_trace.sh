# Task traces by the programs: figures, picture and check of the simulated runs of fmm guide 6.
. "$ROOT/tests/stages/lib.sh"
needs plot inspect verify
sample=$BUILD/tests-programs/task_trace_sample

# ---- inspect and verify: LP 9.81 s, makespan 11.4 s; the bound of the best rates is no higher ----
"$sample" run.h5 3 || fail "no sample was written"
expect 0 "makespan_over_lp" penstock-inspect run.h5
within "$(awk '$1 == "lp" { print $2 }' out)" 9.80 9.82 "LP"
within "$(awk '$1 == "makespan" { print $2 }' out)" 11.35 11.45 "makespan"
grep -q 'P2P  *CPU 0 tasks, 0 s; GPU 132 tasks, 31.31 s, 66 GF/s' out || { cat out; fail "the P2P"; }
[ "$(grep -c 'pu_[0-9]' out)" = 12 ] || fail "not a line for each worker"
expect 0 good penstock-verify run.h5
"$sample" overlap.h5 5 overlap
"$sample" early.h5 5 early
expect 3 "at once" penstock-verify overlap.h5
expect 3 "for which it waits" penstock-verify early.h5
expect 0 good penstock-verify --quick early.h5

# ---- the picture: a box for each task, or columns of many ----
block() { sed -n "/^\\\$$2 << END\$/,/^END\$/p" "$1" | sed '1d;$d'; }
command -v gnuplot >/dev/null || { echo "gnuplot is not installed"; exit 77; }
expect 0 "written" penstock-plot gantt run.h5 --output run.png --script run.gp
[ "$(block run.gp K4 | wc -l)" = 132 ] || fail "not 132 boxes of P2P"
within "$(block run.gp K4 | awk '{ s += $2 - $1 } END { print s }')" 31.30 31.33 "seconds of P2P"
[ "$(block run.gp I | wc -l)" = 12 ] || fail "not 12 lanes"
expect 0 "written" penstock-plot gantt run.h5 --x-range 10,12 --output part.svg --script part.gp
within "$(block part.gp K4 | wc -l)" 3 9 "boxes of P2P after 10 s"
"$sample" many.h5 0
expect 0 "written" penstock-plot gantt many.h5 --output many.png --script many.gp
[ "$(wc -c < many.gp)" -lt 200000 ] || fail "the script of 60,000 tasks is long"
expect 3 "run.gp" penstock-plot gantt run.gp --output refused.png
[ ! -e refused.png ] || fail "a picture was left"
echo passed
