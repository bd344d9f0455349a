#!/bin/bash
# Exact sphere traces -> spectra -> comparison: two ways to each number, wrong options, broken
# files, and exit codes.
. "$ROOT/tests/stages/lib.sh"
needs sphere-exact compare spectrum
exact=penstock-sphere-exact compare=penstock-compare spectrum=penstock-spectrum
pulse=plane:dir=0,0,1:width=0.5:delay=3
common="--speed 1 --emitter $pulse --angles 0,45,180"

# A pulse's response, transformed, is the Mie series at that frequency.
for quantity in soft-density soft-far hard-surface hard-far; do
    $exact time.h5 --quantity $quantity $common --start -6 --dt .05 --steps 900 || fail $quantity
    $exact mie.h5 --quantity $quantity $common --frequencies 0.1,0.2,0.3183098861837907 || fail mie
    $spectrum time.h5 response.h5 --divide --frequencies 0.1,0.2,0.3183098861837907 > /dev/null || fail spectrum
    $compare response.h5 mie.h5 --no-attributes --tolerance 1e-11 > /dev/null || fail "spectrum of $quantity"
    rm -f time.h5 mie.h5 response.h5
done

# The FFT's bins equal direct sums; target strength is 20 log10 |F|.
$exact far.h5 --quantity soft-far $common --start -6 --dt .05 --steps 800 || fail far
$spectrum far.h5 bins.h5 --divide --fmax 0.8 > /dev/null || fail bins
$spectrum far.h5 sums.h5 --divide --fmax 0.8 --count 33 > /dev/null || fail sums
$compare bins.h5 sums.h5 --norm space-time --tolerance 1e-12 > /dev/null || fail "FFT against sums"
$spectrum far.h5 ts.h5 --target-strength --frequencies 0.3183098861837907 > /dev/null || fail ts
ts=$(h5dump -d /trace/real ts.h5 | awk -F'[:,]' '/\(0,0\)/ { print $3 }')
awk -v ts="$ts" 'BEGIN { f = 10 * log(1.3313709618^2 + 1.4995437322^2) / log(10)
                         exit !(ts - f < 1e-5 && f - ts < 1e-5) }' || fail "target strength $ts"
$spectrum far.h5 ts.h5 --target-strength --frequencies 0.3183098861837907 2> err.txt
grep -q 'up to date' err.txt || fail "a second run does not see that nothing is to be done"

# The window does not matter once everything has decayed; another pulse does.
$exact wide.h5 --quantity soft-far $common --start -6 --dt .05 --steps 800 --window 160 || fail wide
$compare far.h5 wide.h5 --tolerance 1e-11 > /dev/null || fail "window"
expect 1 '/trace/real differs' $compare far.h5 wide.h5 --tolerance 0
$exact other.h5 --quantity soft-far --speed 1 --emitter plane:dir=0,0,1:width=0.4:delay=3 \
    --angles 0,45,180 --start -6 --dt .05 --steps 800 || fail other
expect 1 differs $compare far.h5 other.h5 --tolerance 1e-3
expect 1 'relative L2 in space and time' $compare far.h5 other.h5 --norm space-time --tolerance 1e-3
$compare far.h5 other.h5 --exclude '/trace/real' > /dev/null || fail "--exclude"
$compare far.h5 far.h5 --tolerance 0 > /dev/null || fail "a file equals itself"

# Resampling, windows, channels.
$exact fine.h5 --quantity soft-far $common --start -6 --dt .0125 --steps 3200 || fail fine
$exact shifted.h5 --quantity soft-far $common --start -5.98 --dt .05 --steps 790 || fail shifted
expect 3 'find no partner' $compare shifted.h5 fine.h5 --norm space-time
$compare shifted.h5 fine.h5 --norm space-time --resample --tolerance 1e-3 > /dev/null || fail resample
expect 1 'space and time' $compare shifted.h5 fine.h5 --norm space-time --resample --tolerance 1e-7
[ "$($compare far.h5 other.h5 --norm space-time --tolerance 9 --from 2 --to 2.5 --json |
    grep -o '"samples": [0-9]*')" = '"samples": 11' ] || fail "--from, --to"

# Refusals.
expect 2 'emitter is missing' $exact x.h5 --quantity soft-far --speed 1 --angles 0 --dt .1 --steps 9
expect 2 'uniform' $exact x.h5 --quantity uniform-density $common --dt .1 --steps 9
expect 2 'step never decays' $exact x.h5 --speed 1 --angles 0 --dt .1 --steps 9 \
    --emitter plane:dir=0,0,1:shape=step:width=1:delay=5
expect 2 'raise --window' $exact x.h5 $common --dt 1 --steps 900
expect 2 'inside the sphere' $exact x.h5 --quantity hard-field --speed 1 --emitter $pulse --at .1,0,0 --dt .1 --steps 9
expect 2 'three numbers' $exact x.h5 --quantity hard-field --speed 1 --emitter $pulse --at 1,0 --dt .1 --steps 9
expect 2 'widen' $exact x.h5 --speed 1 --emitter plane:dir=0,0,1:width=1e-4:delay=1 --angles 0 --dt .1 --steps 9
expect 2 'half the' $spectrum far.h5 x.h5 --frequencies 11
$exact near.h5 --quantity soft-field --speed 1 --emitter $pulse --at 2,0,0 --dt .05 --steps 400 || fail near
expect 2 'far field' $spectrum near.h5 x.h5 --target-strength
expect 3 'spectrum already' $spectrum bins.h5 x.h5
expect 2 'no such dataset' $compare far.h5 wide.h5 --dataset /nothing
expect 3 'not-there.h5' $compare far.h5 not-there.h5
head -c 3000 far.h5 > cut.h5
expect 3 'cut.h5' $compare far.h5 cut.h5
expect 3 'cut.h5' $spectrum cut.h5 x.h5
ls x.h5* 2> /dev/null && fail "something was left behind"
echo "traces, spectra and comparisons agree"
