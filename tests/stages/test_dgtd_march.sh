# The cavity of the numerics guide (section 6) through the program: errors of fields, orders of
# convergence, conserved energy; plane wave and damped cavity; a step too large is noticed.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"

# error ORDER SIDE EXPECTED: sup of the L2 error over a unit of time, at .9 of the limit
error() {
    cube cavity.h5 order=$1 side=$2 dt=1
    penstock-dgtd-march cavity.h5 cavity.$1.$2.h5 --time $metre --dt-scale .9 --mode-error 1 \
        --precision fp64 --json -q > out.json
    awk -v a="$(figure out.json mode_error)" -v b="$3" 'BEGIN { exit !(a > 0 && (a / b - 1) ^ 2 < 2e-4 ^ 2) }' ||
        { echo "P$1, n = $2: error $(figure out.json mode_error), expected $3"; exit 1; }
}
error 1 2 3.7305e-1
error 1 4 1.7728e-1
error 2 2 1.2002e-1
error 2 4 2.4454e-2
error 3 2 2.6830e-2
error 3 4 2.5125e-3
error 4 1 7.7976e-2
error 4 2 6.2461e-3
# single precision has the same error to what its digits are
cube cavity.h5 order=3 side=2 dt=1
penstock-dgtd-march cavity.h5 single.h5 --time $metre --dt-scale .9 --mode-error 1 --json -q > out.json
awk -v a="$(figure out.json mode_error)" 'BEGIN { exit !((a / 2.6830e-2 - 1) ^ 2 < 3e-4 ^ 2) }'

# the energy W of a shaken cube of metal stays; E' M E alone does not
for order in 1 2 3 4; do
    cube metal.h5 order=$order side=3 shake=.3 dt=.55
    dgtd metal.h5 metal.$order.h5 --steps 700 --energy-every 7 --precision fp64
    h5dump -d /trace/real -y -m %.17g -o numbers.txt metal.$order.h5 > /dev/null
    tr ',' '\n' < numbers.txt | awk '
        NF == 0 { next }
        n++ % 3 == 0 { if (!first) first = $1; d = $1 / first - 1; d = d < 0 ? -d : d; if (d > worst) worst = d }
        n % 3 == 2 { if ($1 > most) most = $1; if (!least || $1 < least) least = $1 }
        END { print "drift", worst, "of", n / 3, "samples"; exit !(n == 300 && worst < 1e-13 && most > 1.5 * least) }'
done

# the balance with losses and sources of all kinds: what the energy gained since the first step is what was
# supplied less what was conducted away and lost; to rounding of the largest of them
for model in "order=2 kind=absorbing sigma=1 source=current" "order=1 kind=absorbing source=wave eps=2" \
             "order=3 side=3 kind=absorbing absorbing=paper dt=.5 source=wave sigma=.3" "order=2 sigma=1.5 source=mode"; do
    cube lossy.h5 side=4 shake=.3 dt=.55 $model
    dgtd lossy.h5 lossy.out.h5 --steps 300 --energy-every 1 --balance --precision fp64 --force
    h5dump -d /trace/real -y -m %.17g -o numbers.txt lossy.out.h5 > /dev/null
    tr ',' '\n' < numbers.txt | awk -v model="$model" '
        NF == 0 { next }
        { k = n++ % 7; d = $1 < 0 ? -$1 : $1 }
        k == 0 || k == 3 || k == 4 || k == 5 { if (d > most) most = d; if (k > 0 && d > flow[k]) flow[k] = d }
        k == 6 { if (d > worst) worst = d }
        END { print "imbalance", worst / most, "conducted", flow[3], "lost", flow[4], "supplied", flow[5]
              exit !(n == 2100 && worst < 1e-13 * most && flow[3] + flow[4] > .1 * most) }'
done
dgtd lossy.h5 file.out.h5 --steps 300 --energy-every 1 --balance --precision fp64 --state file
identical lossy.out.h5 file.out.h5
partly dgtd lossy.h5 stopped.out.h5 --steps 300 --energy-every 1 --balance --precision fp64 --stop-after 1e-3
[ ! -e stopped.out.log ] ||
    dgtd lossy.h5 stopped.out.h5 --steps 300 --energy-every 1 --balance --precision fp64 --restart
identical lossy.out.h5 stopped.out.h5

# a step beyond the limit is noticed, and nothing is left behind
cube cavity.h5 order=2 side=4 dt=1
fails 1 "the march is unstable" penstock-dgtd-march cavity.h5 wild.h5 --steps 4000 --dt-scale 1.03
[ -z "$(ls wild.* 2> /dev/null)" ] || { echo "left behind: $(ls wild.*)"; exit 1; }
dgtd cavity.h5 tame.h5 --steps 4000 --dt-scale .97
