# penstock-fmm --periodic: Madelung constants, known sums along one, two and three axes, an own Ewald sum, refusals.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm
command -v h5dump > /dev/null && command -v python3 > /dev/null || { echo "h5dump or python3 is not there"; exit 77; }
fmm="penstock-fmm --device cpu"
tree() { # NAME OPTIONS...: of NAME.txt
    penstock-particle-import "$1.txt" "$1.p.h5" > import 2>&1 || { cat import; fail "$1"; }
    penstock-octree-build "$1.p.h5" "$1.h5" "${@:2}" > built 2>&1 || { cat built; fail "$1: tree"; }
}
energy_is() { # WANTED RELATIVE
    h5dump -m %.17g -a energy result.h5 > energy
    awk -v w="$1" -v t="$2" '$1 == "(0):" { d = $2 - w; if (d < 0) d = -d; if (w < 0) w = -w; good = d <= t * w }
        END { exit !good }' energy || { cat energy; fail "energy, wanted $1 to $2"; }
}
# ---- Madelung: NaCl of 8 ions, CsCl; energies are those of the cell ----
for i in 0 1 2 3 4 5 6 7; do
    x=$((i & 1)) y=$((i >> 1 & 1)) z=$((i >> 2))
    echo "$((2 * x)) $((2 * y)) $((2 * z)) $((1 - 2 * ((x + y + z) % 2)))"
done > nacl.txt
printf '.1 .2 .3 1\n.6 .7 .8 -1\n' > cscl.txt
tree nacl --height 1
tree cscl --height 1
expect 0 "" $fmm nacl.h5 result.h5 --order 3 --periodic xyz --period 4
energy_is "$(python3 -c 'print(-8 * 1.747564594633182 / 4)')" 2e-13
expect 0 "" $fmm cscl.h5 result.h5 --order 3 --periodic xyz --period 1 --force
energy_is "$(python3 -c 'print(-1.762674773070991 / .75 ** .5)')" 2e-13
# In a crystal gradients are 0: no order has digits of them, which is told at once.
awk 'BEGIN { for (i = 0; i < 512; ++i) { x = i % 8; y = int(i / 8) % 8; z = int(i / 64); print x, y, z, 1 - 2 * ((x + y + z) % 2) } }' > salt.txt
penstock-particle-import salt.txt salt.p.h5 > import 2>&1 || { cat import; fail "salt"; }
expect 5 "--no-gradient leaves them out" $fmm salt.p.h5 salt.h5 --periodic xyz --period 8
expect 0 "" $fmm salt.p.h5 salt.h5 --periodic xyz --period 8 --no-gradient
h5dump -y -d /potential0 salt.h5 | grep -oE '[-]?1\.[0-9]+' | awk '{ v = ($1 < 0 ? -$1 : $1) - 1.747564594633; s += v * v; ++n } END { print n, sqrt(s / n) }' > salt
within "$(cut -d' ' -f1 salt)" 512 512 "potentials of a crystal"
within "$(cut -d' ' -f2 salt)" 0 5e-4 "error of a crystal's potentials"
# ---- two charges, lattices of one, two and three axes ----
printf '.1 .2 .3 1\n.6 .45 .85 -1\n' > two.txt
tree two --height 1
for case in "xyz -2.150945702597" "xy -.382077322035" "z -1.322812544852"; do
    set -- $case
    expect 0 "" $fmm two.h5 result.h5 --order 3 --periodic "$1" --period 1 --force
    energy_is "$2" 1e-11
done
# ---- random charges against an Ewald sum of another split, through the far field ----
python3 - > many.txt 2> ewald <<'EOF'
import math, random, sys
random.seed(3)
n, a = 120, 2.6
q = [1 - 2 * (i % 2) for i in range(n)]
x = [[random.random() * (.1 if i < 70 else 1) for d in range(3)] for i in range(n)]
for i in range(n): print("%.17g %.17g %.17g %d" % (*x[i], q[i]))
e = -a / math.sqrt(math.pi) * sum(c * c for c in q)
near = [(u, v, w) for u in range(-2, 3) for v in range(-2, 3) for w in range(-2, 3)]
for i in range(n):
    for j in range(n):
        for s in near:
            r = math.dist([x[i][d] + s[d] for d in range(3)], x[j])
            if 0 < r < 2.3: e += .5 * q[i] * q[j] * math.erfc(a * r) / r
m = range(-6, 7)
for k in [(u, v, w) for u in m for v in m for w in m if 0 < u * u + v * v + w * w < 45]:
    p = [2 * math.pi * sum(k[d] * y[d] for d in range(3)) for y in x]
    c, s = sum(b * math.cos(t) for b, t in zip(q, p)), sum(b * math.sin(t) for b, t in zip(q, p))
    kk = 4 * math.pi ** 2 * sum(b * b for b in k)
    e += 2 * math.pi / kk * math.exp(-kk / 4 / a / a) * (c * c + s * s)
print("%.15g" % e, file=sys.stderr)
EOF
tree many --height 2
expect 0 "" $fmm many.h5 result.h5 --order 3 --periodic xyz --period 1 --check 120 --force
[ "$(figure m2l_pairs)" -gt 0 ] || fail "no far field"
within "$(figure error_potential)" 0 2e-2 "potential"
energy_is "$(cat ewald)" 2e-3
# ---- refused ----
printf '.1 .2 .3 1\n.6 .45 .85 1\n' > charged.txt
tree charged --height 1
expect 3 "diverges" $fmm charged.h5 none.h5 --order 3 --periodic xyz --period 1
expect 3 "net charge of 2" $fmm charged.h5 none.h5 --order 3 --periodic xy --period 1
expect 0 "net charge of 2" $fmm charged.h5 result.h5 --order 3 --periodic xy --period 1 --allow charged --force
expect 0 "" $fmm charged.h5 result.h5 --order 3 --periodic xyz --period 1 --background --force
# at one place but for periods: by rounding, on both faces, a target at the image of a source; not those given twice
printf '.1 .2 .3 1\n1.1 .2 .3 -1\n' > again.txt
printf '0 .2 .3 1\n1 .2 .3 -1\n' > faces.txt
printf '5.6 5.45 100000.85 0\n' > image.txt
printf '.1 .2 .3 1\n1.1 .2 .3000000001 -1\n' > close.txt
for name in again faces close; do tree $name --height 1; done
expect 3 "at one place but for whole periods of 1" $fmm again.h5 none.h5 --order 3 --periodic xyz --period 1
expect 3 "at one place but for whole periods of 1" $fmm faces.h5 none.h5 --order 3 --periodic x --period 1
expect 0 "" $fmm again.h5 result.h5 --order 3 --periodic xyz --period 1.5 --force
expect 0 "" $fmm close.h5 result.h5 --order 3 --periodic xyz --period 1 --force
penstock-particle-import image.txt image.p.h5 > import 2>&1 || fail "image.txt"
expect 0 "" penstock-octree-build two.p.h5 aimed.h5 --height 1 --targets image.p.h5
expect 3 "a target and a source" $fmm aimed.h5 none.h5 --order 3 --periodic xyz --period 1
expect 2 "needs --period" $fmm two.h5 none.h5 --order 3 --periodic xyz
expect 2 "each once" $fmm two.h5 none.h5 --order 3 --periodic xx --period 1
expect 2 "kernel inverse" $fmm two.h5 none.h5 --order 3 --periodic x --period 1 --kernel yukawa
expect 2 "tree uniform" $fmm two.h5 none.h5 --order 3 --periodic x --period 1 --tree uniform
# where the box is to a coordinate what rounding leaves of it
printf '1e13 .2 .3 1\n10000000000000.5 .45 .85 -1\n' > lost.txt
tree lost --height 1
expect 3 "where in the box a particle lies is lost" $fmm lost.h5 none.h5 --order 3 --periodic xyz --period 1
expect 0 "" $fmm lost.h5 result.h5 --order 3 --periodic xyz --period 1e3 --force
expect 3 "apart along z" $fmm two.h5 none.h5 --order 3 --periodic xy --period .5
echo "periodic boxes: Madelung constants, known sums, Ewald; refusals"
