# The far field over time (dgtd-march --direction): of a pulsed dipole against its exact one, on a regular and a shaken mesh,
# from two surfaces; its transform against penstock-dgtd-far; restart, ranks, a state in a file; what is refused.
set -eu
. "$ROOT/tests/support/dgtd_march.bash"
# A current that is spread over a ball of radius R delays as its projection on a direction does, 35/(32 R) (1 - u^2/R^2)^3:
# lim r E = mu0 p''(tau)/(4 pi) sin(theta) theta^, averaged so. Files: tau and x, y, z of each direction, CSV.
exact() { # FILE TOLERANCE DIRECTION..: largest distance of any sample, of the largest field
    penstock-inspect --csv "$1" | awk -F, -v most="$2" -v directions="${*:3}" -v R=.2 -v w=1.2e-9 -v t0=5e-9 -v p=1e-12 '
        function second(t, u) { u = (t - t0) / w; return u * u > 60 ? 0 : p * (4 * u * u - 2) * exp(-u * u) / (w * w) }
        BEGIN { pi = 3.14159265358979; c = 299792458; n = split(directions, d, " "); N = 40 }
        NR > 1 {
            e = 0
            for (k = 0; k < N; ++k) { u = 2 * (k + .5) / N - 1; e += 35 / 32 * (1 - u * u) ^ 3 * second($1 + u * R / c) * 2 / N }
            e *= 1e-7
            if (e * e > big * big) big = e
            for (i = 1; i <= n; ++i) {
                split(d[i], a, ":"); T = a[1] * pi / 180; F = a[2] * pi / 180
                x = $(3 * i - 1) - e * sin(T) * cos(T) * cos(F); y = $(3 * i) - e * sin(T) * cos(T) * sin(F); z = $(3 * i + 1) + e * sin(T) * sin(T)
                off = sqrt(x * x + y * y + z * z); if (off > worst) worst = off
            }
        }
        END { if (big < 0) big = -big; print "off the exact field by", worst / big; exit !(NR > 100 && big > 0 && worst < most * big) }'
}
source=current:at=0,0,0:axis=0,0,1:radius=.2:moment=1e-12:shape=gaussian:width=1.2ns:delay=5ns
towards="--direction 90,0 --direction 45,30 --direction 0,0"
run() { dgtd $2.m.h5 $1.h5 --time 14ns --frequency 100e6,200e6 $towards "${@:3}"; } # NAME MODEL MORE..
mesh() { # NAME SHAKE
    penstock-mesh-box -q $1.hdf --cells 6,6,6 --size .72 --corner=-.36,-.36,-.36 --shake $2 \
        --region 2:box:-.24,-.24,-.24,.24,.24,.24 > /dev/null
    penstock-mesh-partition -q $1.hdf $1.p.h5 --parts 2 > /dev/null
    penstock-dgtd-setup -q $1.p.h5 $1.m.h5 --order 2 --material default:eps=1 --boundary outer:absorbing --source $source > /dev/null
}
mesh even 0
mesh ugly .3
run even even --around 2
exact even.far.h5 .01 90:0 45:30 0:0
run ugly ugly --around 2
exact ugly.far.h5 .01 90:0 45:30 0:0

# apart FILE FILE TOLERANCE: largest distance of the first direction's z at the times of the second, of the largest value.
apart() {
    penstock-inspect --csv "$1" > fine.csv
    penstock-inspect --csv "$2" | awk -F, -v most="$3" 'NR == FNR { if (FNR > 1) { t[++n] = $1; v[n] = $4; if ($4 > big) big = $4 } next }
        FNR > 1 { while (k < n && t[k + 1] <= $1) ++k; if (k < 1 || k >= n) next
            d = v[k] + (v[k + 1] - v[k]) * ($1 - t[k]) / (t[k + 1] - t[k]) - $4; if (d < 0) d = -d; if (d > off) off = d; ++m }
        END { print "apart by", off / big, "at", m, "times"; exit !(m > 30 && off < most * big) }' fine.csv -
}
# From the boundary of the mesh: the same but for the field's own error. Every fourth step: 32 samples a period of 200 MHz.
run whole even
apart even.far.h5 whole.far.h5 5e-3
run coarse even --around 2 --far-every 4
apart even.far.h5 coarse.far.h5 3e-3
# Its transform is the far field of the phasors, times the transform of the source, p'.
penstock-dgtd-far -q even.phasors.h5 even.hdf even.f.h5 $towards --around 2 > /dev/null
{ penstock-inspect --csv even.f.h5 | sed 1d; echo; penstock-inspect --csv even.far.h5 | sed 1d; } | awk -F, -v w=1.2e-9 -v t0=5e-9 -v p=1e-12 '
    NF == 0 { series = 1; next }
    !series { f[++n] = $1; for (k = 2; k <= NF; ++k) F[n, k - 1] = $k; next }
    {
        if (++m == 2) dt = $1 - last
        last = $1
        for (j = 1; j <= n; ++j) { W = 2 * 3.14159265358979 * f[j]; c = cos(W * $1); s = sin(W * $1)
            for (k = 2; k <= NF; ++k) { X[j, 2 * k - 3] += $k * c; X[j, 2 * k - 2] += $k * s } }
    }
    END {
        for (j = 1; j <= n; ++j) { W = 2 * 3.14159265358979 * f[j]; a = p * sqrt(3.14159265358979) * w * exp(-(W * w / 2) ^ 2) * W
            re = a * sin(W * t0); im = -a * cos(W * t0)
            for (k = 1; k <= 18; k += 2) { x = re * F[j, k] - im * F[j, k + 1] - dt * X[j, k]; y = re * F[j, k + 1] + im * F[j, k] - dt * X[j, k + 1]
                d = x * x + y * y; b = a * a * (F[j, k] ^ 2 + F[j, k + 1] ^ 2); if (d > off) off = d; if (b > big) big = b } }
        print "transform off by", sqrt(off / big); exit !(n == 2 && m > 100 && big > 0 && off < 25e-6 * big)
    }'

# half of the ball is outside of the surface
penstock-mesh-box -q half.hdf --cells 4 --size .72 --corner=-.36,-.36,-.36 --region 2:box:-.36,-.36,-.36,0,.36,.36 > /dev/null
penstock-mesh-partition -q half.hdf half.p.h5 > /dev/null
penstock-dgtd-setup -q half.p.h5 half.m.h5 --order 1 --material default:eps=1 --boundary outer:absorbing --source $source > /dev/null 2>&1
fails 2 "a source is cut" penstock-dgtd-march -q half.m.h5 bad.h5 --time 14ns --direction 90,0 --around 2
dgtd half.m.h5 half.h5 --time 14ns --frequency 200e6
for quantity in far directivity; do
    fails 2 "a source is cut" penstock-dgtd-far -q half.phasors.h5 half.hdf bad.h5 --direction 90,0 --around 2 --quantity $quantity
done
penstock-dgtd-far -q half.phasors.h5 half.hdf half.far.h5 --direction 90,0 > /dev/null 2>&1

# frequencies that the pulse does not have, or no longer
fails 3 "rounding of something large" penstock-dgtd-march -q half.m.h5 bad.h5 --time 14ns --frequency 200e6,2.5e9
fails 3 "100 % of the medium of tag 1 have fewer than two nodes a wavelength" penstock-dgtd-march -q half.m.h5 bad.h5 --time 14ns \
    --frequency 200e6,2.5e9 --allow faint
[ ! -e bad.h5 ] || { echo "a march at a frequency that the mesh does not resolve was written"; exit 1; }
fails 3 "shape=ramp" penstock-dgtd-march -q half.m.h5 bad.h5 --time 20ns --frequency 200e6 --transform-periods 1

# bits: stopped and continued, a state in a file; ranks
short() { local name=$1; shift; dgtd even.m.h5 $name.h5 --time 7ns $towards --around 2 "$@"; }
short all
partly short part --stop-after 1e-3
short part
identical part.far.h5 all.far.h5
short file --state file
identical file.far.h5 all.far.h5
mpirun -n 2 penstock-dgtd-march -q even.m.h5 ranks.h5 --time 7ns $towards --around 2 > /dev/null
close_to ranks.far.h5 all.far.h5 1e-5

# what is refused
no() { fails $1 "$2" penstock-dgtd-march -q "${@:3}"; }
no 2 "give its --direction" even.m.h5 bad.h5 --time 7ns --around 2
no 2 "no element is of" even.m.h5 bad.h5 --time 7ns --direction 90,0 --around 9
no 2 "less than light takes" even.m.h5 bad.h5 --time 1ns --direction 90,0
setup() { penstock-dgtd-setup -q --force even.p.h5 other.m.h5 --order 1 --boundary outer:absorbing --source $source "$@" > /dev/null 2>&1; }
setup --material default:eps=1 --boundary 105:pec
no 2 "is not closed" other.m.h5 bad.h5 --time 7ns --direction 90,0
no 3 "faces of metal" other.m.h5 bad.h5 --time 7ns --direction 90,0 --around 2
setup --material 1:eps=2 --material 2:eps=1
no 2 "several media" other.m.h5 bad.h5 --time 7ns --direction 90,0 --around 1
setup --material 1:eps=1:sigma=.1 --material 2:eps=1 --allow absorbing-losses
no 2 "conducts" other.m.h5 bad.h5 --time 7ns --direction 90,0
[ ! -e bad.h5 ]
