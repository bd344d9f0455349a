# penstock-plot: every kind gives a picture, the numbers in its script are those of the files, and
# what cannot be drawn is refused by name and leaves nothing behind.
. "$ROOT/tests/stages/lib.sh"
needs plot sphere-exact inspect
command -v gnuplot >/dev/null || { echo "gnuplot is not installed"; exit 77; }

# is_png FILE WIDTH HEIGHT, from the header.
is_png() {
    [ "$(od -An -tx1 -N8 "$1" | tr -d ' ')" = 89504e470d0a1a0a ] || fail "$1 is no PNG"
    local size
    size=$(od -An -tu1 -j16 -N8 "$1" | awk '{ print $3 * 256 + $4, $7 * 256 + $8 }')
    [ "$size" = "$2 $3" ] || fail "$1 is $size pixels, not $2 $3"
}
# block FILE NAME: the lines of a data block of a script.
block() { sed -n "/^\\\$$2 << END\$/,/^END\$/p" "$1" | sed '1d;$d'; }

pulse=plane:dir=0,0,1:width=1e-3:delay=12e-3
hard() { expect 0 "" penstock-sphere-exact "$@" --speed 340 --emitter $pulse; }
hard far.h5 --quantity hard-far --angles 0,90,180 --dt 1e-4 --steps 250
hard spectrum.h5 --quantity hard-far --directions 36 --fmin 20 --fmax 400 --count 20
hard plane.h5 --quantity hard-field --plane='-3,1.1,-2;6,0,0;0,0,4;31x21' --dt 1e-3 --steps 30

# ---- trace: the largest value of the picture is that of the exact solution ----
expect 0 "written" penstock-plot trace far.h5 far.h5 --difference --output trace.png --script trace.gp \
    --labels one,other --title "it's 100 %"
is_png trace.png 1100 620
[ "$(block trace.gp C0 | wc -l)" -eq 250 ] || fail "a curve does not have 250 points"
# Forward peak of a rigid unit sphere for this pulse, Pa m, from the Mie series by other means.
within "$(block trace.gp C0 | awk '$2 > m { m = $2 } END { print m }')" 1.0 1.2 "forward peak"
within "$(block trace.gp D0 | awk 'NF { d = $2 < 0 ? -$2 : $2; if (d > m) m = d } END { print m + 0 }')" \
    0 0 "difference of a file to itself"
expect 0 "written" penstock-plot trace far.h5 --channels 2 --x-range 0,0.01 --output part.png --script part.gp
[ "$(block part.gp C0 | wc -l)" -eq 100 ] || fail "--x-range does not show 100 samples"

# ---- spectrum and polar: levels of the low-frequency limit ----
expect 0 "written" penstock-plot spectrum spectrum.h5 --channels 0,18 --log --output spectrum.svg --script s.gp
expect 0 "written" penstock-plot spectrum spectrum.h5 --channels 0,18 --output spectrum.pdf
head -c 5 spectrum.pdf | grep -q '%PDF-' || fail "spectrum.pdf is none"
grep -q '<svg' spectrum.svg && grep -q '<path' spectrum.svg || fail "spectrum.svg is no drawing"
# Rayleigh: |f| = k^2 R^3 |1/3 - cos/2|; 20 Hz is kR = 0.37, forward (-1/6), backward (5/6).
within "$(block s.gp C1 | awk 'NR == 1 { print $2 }')" -20.5 -18.0 "backscattering at 20 Hz, dB"
expect 0 "written" penstock-plot polar spectrum.h5 --frequencies 20,400 --output polar.png --script p.gp
is_png polar.png 980 760
[ "$(block p.gp C0 | wc -l)" -eq 37 ] || fail "the polar curve is not closed"
within "$(block p.gp C0 | awk 'NR == 1 || NR == 37 { s += $2 * (NR == 1 ? 1 : -1) } END { print s }')" \
    -1e-9 1e-9 "first and last level of the closed curve"

# ---- plane ----
expect 0 "written" penstock-plot plane plane.h5 --times 0.012,0.016 --range 0.5 --output plane.png --script f.gp
[ "$(block f.gp F0 | wc -l) $(block f.gp F0 | awk 'NR == 1 { print NF }')" = "31 21" ] || fail "plane's shape"
grep -q "cbrange \[-500:500\]" f.gp || fail "--range 0.5 is not +-500 mPa"
grep -q "≥" f.gp && fail "the bar says that values lie beyond it, which none does"
expect 0 "written" penstock-plot plane plane.h5 --times 12ms,16ms --range 1e-3 --output plane.png --script f.gp
grep -q "set cbtics (.*'≥ 1' 1)" f.gp && grep -q "cblabel 'scattered pressure (mPa); values from" f.gp || fail "the bar does not say that values lie beyond it"

# ---- stages and workers ----
echo '{"steps": 10, "time": 5, "seconds": {"summation": 3, "wait": 2, "solve": 1, "checkpoints": 7}, "x": [1, {"y": null}]}' > report.json
expect 0 "written" penstock-plot stages report.json --output stages.png --script stages.gp
[ "$(block stages.gp T)" = '"report\n5 s" 60 20 20' ] || fail "shares are not 60, 20 and 20 %"
"$BUILD/tests-programs/worker_log_sample" run.workers.h5 60
expect 0 "written" penstock-plot workers run.workers.h5 --output workers.png --script w.gp
is_png workers.png 1000 860
# 10,000 items over four at the start; shares of time that sum up to 100 % and end up equal
[ "$(block w.gp W1 | awk 'NR == 1 { print $1, $4, $5 } END { print NR }' | tr '\n' ';')" = "0.5 2500 5000;120;" ] || fail "intervals of the workers"
within "$(block w.gp W3 | awk 'NR == 120 { print $3 }')" 99.999 100.001 "the sum of the shares"
within "$(block w.gp W1 | awk 'NR == 1 { a = $3 - $2 } NR == 120 { b = $3 - $2 } END { print b - a }')" 10 16 "the share of a GPU has grown"
within "$(block w.gp T | awk 'NR > 80 { r = $2 / $3; if (r > m) m = r } END { print m }')" 1 1.06 "the slowest over the mean, balanced"
expect 0 "written" penstock-plot workers run.workers.h5 --x-range 11,20 --output part.png --script w.gp
[ "$(block w.gp W0 | awk 'NR == 1 { print $1 } END { print NR, $1 }' | tr '\n' ' ')" = "10.5 20 20.5 " ] || fail "--x-range of iterations"
"$BUILD/tests-programs/worker_log_sample" long.workers.h5 2500 # more than are shown one by one
expect 0 "written" penstock-plot workers long.workers.h5 --output long.png --script w.gp
[ "$(block w.gp W0 | awk 'END { print NR, $1 }')" = "1668 2500.5" ] || fail "bins of a long log"
expect 0 "written" penstock-plot stages run.workers.h5 report.json --output stages.png --script stages.gp
block stages.gp T | grep -q '^"run\\n' || fail "the label of a worker log"
within "$(block stages.gp T | awk 'NR == 1 { print $3 + $4 + $5 + $6 + $7 }')" 99.9 100.1 "shares of the stages of a log"
expect 0 "gpu 2" penstock-inspect run.workers.h5
within "$(awk '$1 == "balance" { print $2 }' out)" 60 100 "balance in inspect, %"

# ---- what cannot be drawn ----
refused() { # CODE TEXT ARGUMENTS...
    expect "$1" "$2" penstock-plot "${@:3}" --output refused.png
    [ ! -e refused.png ] && [ -z "$(find . -name 'refused.png.*')" ] || fail "a picture was left by: ${*:3}"
}
refused 2 'did you mean "trace"' tracee far.h5
refused 2 "is a trace over frequency" trace spectrum.h5
refused 2 "is a trace over time" spectrum far.h5
refused 2 "are no plane" plane far.h5
refused 2 "needs two traces" trace far.h5 --difference
refused 2 "--channels: 3 is not" trace far.h5 --channels 0,3
expect 0 "written" penstock-plot polar spectrum.h5 spectrum.h5 --frequencies 20,400 --labels one,other --output polar2.png --script p2.gp
[ "$(grep -c "with lines.*Hz, o" p2.gp)" -eq 4 ] || fail "two files in a polar diagram: $(grep 'with lines' p2.gp)"
refused 2 "--frequencies: 500 Hz is outside" polar spectrum.h5 --frequencies 500
refused 2 "a mesh and a history" surface far.h5 far.h5 far.h5
refused 3 "a field (penstock-field) or a surface with values is needed" surface far.h5
refused 3 "missing.h5" trace missing.h5
refused 3 "far.h5" slice far.h5
echo 'a,b' > text.csv
refused 3 'text.csv: not valid JSON' stages text.csv
refused 3 'no object "seconds"' stages <(echo '{"a": 1}')
refused 3 "far.h5" workers far.h5
refused 3 "far.h5" stages far.h5
refused 2 "60 iterations; there is none" workers run.workers.h5 --x-range 70,80
expect 2 "does not end in .png, .svg or .pdf" penstock-plot trace far.h5 --output far.jpg
expect 2 "--output FILE.png, .svg, .pdf or .html is missing" penstock-plot trace far.h5
expect 2 "No such file" penstock-plot trace far.h5 --output nowhere/far.png
mkdir alone
cp "$(command -v penstock-plot)" alone/
expect 1 "apt-get install gnuplot-nox" env PATH=/nowhere alone/penstock-plot trace far.h5 --output refused.png
[ -z "$(find . -name '*.tmp')" ] || fail "temporary files are left: $(find . -name '*.tmp')"
echo passed

# ---- rates of sums over particles: reports of two heights, two orders, with a GPU or without; what has no bound ----
report() { # NAME ORDER HEIGHT GPUS FLOP MAKESPAN LP LPBEST
    local gpus=; [ "$4" = 0 ] || gpus="\"gpus\": $4, "
    echo "{\"order\": $2, \"height\": $3, \"flop\": $5, \"schedule\": {\"workers\": 2, $gpus\"makespan\": $6, \"lp\": $7, \"lp_best_rates\": $8}}" > "$1.json"
}
report a 3 5 0 4e9 2 1 .5
report b 5 5 0 9e9 3 2 1
report c 3 6 0 2e9 .5 .4 .2
report d 3 5 1 4e9 .25 .2 .1
expect 0 written penstock-plot rates a.json b.json c.json d.json --output rates.png --script rates.gp
grep -A1 '^\$D0_0' rates.gp | grep -q '^3 2 4 8 "h = 5"$' || fail "rate, LP and LP~ of the first run"
grep -A1 '^\$D1_0' rates.gp | grep -q '^3 4 5 10 "h = 6"$' || fail "a panel for another height"
grep -A1 '^\$D0_1' rates.gp | grep -q '^3 16 20 40 "h = 5"$' || fail "with a GPU"
grep -A2 '^\$D2_0' rates.gp | tr '\n' ' ' | grep -q '3 0.5 0.4 0.2 "h = 6" 5 3 2 1 "h = 5"' || fail "the fastest heights"
echo '{"order": 3, "height": 5, "time": 2}' > none.json
expect 3 "no bound of a schedule" penstock-plot rates a.json none.json --output no.png
expect 3 "" penstock-plot rates far.h5 --output no.png

# ---- flop per word of M2L: 4 r a / (2 r + 4 a); what tells no rank ----
echo '{"order": 7, "rank": 25, "height": 5}' > l7.json
echo '{"order": 3, "rank": 5}' > l3.json
expect 0 written penstock-plot intensity l7.json l3.json --output intensity.png --script intensity.gp
grep -q '^1 1.42857 1.85185$' intensity.gp && grep -q '^24 4.5283 16.4384$' intensity.gp || fail "flop per word"
grep -q "title 'l = 7, rank 25'" intensity.gp || fail "the second curve is of the higher order"
expect 3 "tells no order and rank" penstock-plot intensity a.json --output no.png

# ---- sparsity: a line of 40 unknowns, whole and from its 31st row on; what is no square matrix ----
awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric"; print 40, 40, 79
    for (i = 1; i <= 40; ++i) { print i, i, 2; if (i > 1) print i, i - 1, -1 } }' | gzip > line.mtx.gz
expect 0 written penstock-plot sparsity line.mtx.gz --output line.png --script line.gp
is_png line.png 900 860
block line.gp S | awk '{ for (j = 1; j <= 40; ++j) if ($j != (j - NR < -1 || j - NR > 1 ? "NaN" : 1)) bad = 1 }
    END { exit bad || NR != 40 }' || fail "the pattern of three diagonals"
grep -q "40 rows, 118 entries (7.38 %), bandwidth 1'" line.gp && grep -q "longest row 3, mean 2.950, deviation 0.218" line.gp ||
    fail "figures of a line"
expect 0 written penstock-plot sparsity line.mtx.gz --first-row 30 --rows 20 --output line.svg --script line.gp
[ "$(block line.gp S | grep -o '\<1\>' | wc -l)" = 28 ] || fail "ten rows of a line"
expect 2 "--first-row 40: line.mtx.gz has 40 rows" penstock-plot sparsity line.mtx.gz --first-row 40 --output no.png
printf '%%%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 1\n2 2 -1\n' > wide.mtx
expect 3 "a square matrix" penstock-plot sparsity wide.mtx --output no.png
expect 3 "far.h5" penstock-plot sparsity far.h5 --output no.png
