# Dipoles, second derivatives, Stokeslets and Helmholtz's kernel: imported by name, against sums of every pair, through the far
# field, in periodic boxes (Hasimoto 1959); refusals.
. "$ROOT/tests/stages/lib.sh"
needs particle-import octree-build fmm compare
command -v h5dump > /dev/null && command -v python3 > /dev/null || { echo "h5dump or python3 is not there"; exit 77; }
fmm="penstock-fmm --device cpu"
tree() { # NAME MOMENTS OPTIONS...: of NAME.csv
    penstock-particle-import "$1.csv" "$1.p.h5" --moments "$2" > import 2>&1 || { cat import; fail "$1"; }
    penstock-octree-build "$1.p.h5" "$1.h5" "${@:3}" > built 2>&1 || { cat built; fail "$1: tree"; }
}

# ---- 40 particles, all pairs: columns by name, in any order and with others between ----
python3 - <<'EOF2'
import random
random.seed(5)
names = {"dip": "py,px,mass,x,z,y,pz", "both": "q0,px0,py0,pz0,x,y,z,px1,py1,pz1,q1", "forces": "x,y,z,fx,fy,fz",
         "waves": "x,y,z,im,re"}
for name, columns in names.items():
    with open(name + ".csv", "w") as f:
        print(columns, file=f)
        for i in range(40):
            print(",".join("%.17g" % random.uniform(-1, 1) for c in columns.split(",")), file=f)
EOF2
tree dip dipoles --height 1
tree both charges-and-dipoles --height 1
tree forces forces --height 1
tree waves complex --height 1
expect 0 "" $fmm dip.h5 dip.r.h5 --order 2 --hessian
expect 0 "" $fmm both.h5 both.r.h5 --order 2 --kernel yukawa --parameter .7
expect 0 "" $fmm forces.h5 forces.r.h5 --order 2 --kernel stokeslet
expect 0 "" $fmm waves.h5 waves.r.h5 --order 2 --kernel helmholtz --parameter 1.7
for d in dip:potential0 dip:gradient0 dip:hessian0 both:potential1 both:gradient1 forces:velocity0 forces:velocity_gradient0 \
    waves:potential0 waves:gradient0; do
    h5dump -d "/${d#*:}" -b LE -o "${d%:*}.${d#*:}" "${d%:*}.r.h5" > dumped || fail "$d"
done
python3 - <<'EOF2' || fail "sums of every pair"
import array, cmath, math
def table(name):
    lines = open(name + ".csv").read().split("\n")
    head = lines[0].split(",")
    rows = [[float(v) for v in l.split(",")] for l in lines[1:] if l]
    return lambda i, *which: [rows[i][head.index(w)] for w in which]
def got(name, each):
    v = array.array("d", open(name, "rb").read())
    assert len(v) == 40 * each, (name, len(v))
    return [v[each * i:each * i + each] for i in range(40)]
def compare(what, found, wanted):
    error = math.sqrt(sum(abs(a - b) ** 2 for f, w in zip(found, wanted) for a, b in zip(f, w)))
    norm = math.sqrt(sum(abs(b) ** 2 for w in wanted for b in w))
    print(what, "%.1e" % (error / norm))
    assert error < 1e-13 * norm, what
def pairs(at):
    for i in range(40):
        for j in range(40):
            if i != j:
                r = [a - b for a, b in zip(at(i, "x", "y", "z"), at(j, "x", "y", "z"))]
                yield i, j, r, math.sqrt(sum(a * a for a in r))
dot = lambda a, b: sum(x * y for x, y in zip(a, b))
# p . grad_y (1/R) = p . r / R^3
at = table("dip")
phi, g, h = [[0] for i in range(40)], [[0] * 3 for i in range(40)], [[0] * 6 for i in range(40)]
for i, j, r, R in pairs(at):
    p = at(j, "px", "py", "pz")
    s = dot(p, r)
    phi[i][0] += s / R ** 3
    for d in range(3): g[i][d] += p[d] / R ** 3 - 3 * s * r[d] / R ** 5
    for k, (d, e) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
        h[i][k] += -3 * (p[d] * r[e] + p[e] * r[d] + (s if d == e else 0)) / R ** 5 + 15 * s * r[d] * r[e] / R ** 7
found = got("dip.hessian0", 6)
compare("dipoles", got("dip.potential0", 1), phi)
compare("their gradient", got("dip.gradient0", 3), g)
compare("their second derivatives", found, h)
for f in found: assert abs(f[0] + f[3] + f[5]) < 1e-12 * math.sqrt(dot(f, f)), "a trace"
# the second side of charges and dipoles: exp(-bR)/R
at, b = table("both"), .7
phi, force = [[0] for i in range(40)], [0] * 3
for i, j, r, R in pairs(at):
    phi[i][0] += math.exp(-b * R) / R * (at(j, "q1")[0] + (1 + b * R) / R ** 2 * dot(at(j, "px1", "py1", "pz1"), r))
compare("Yukawa", got("both.potential1", 1), phi)
# Stokeslets; forces that act back do the same work
at = table("forces")
u = [[0] * 3 for i in range(40)]
for i, j, r, R in pairs(at):
    f = at(j, "fx", "fy", "fz")
    for d in range(3): u[i][d] += f[d] / R + dot(r, f) * r[d] / R ** 3
compare("Stokeslets", got("forces.velocity0", 3), u)
for f in got("forces.velocity_gradient0", 9): assert abs(f[0] + f[4] + f[8]) < 1e-12 * math.sqrt(dot(f, f)), "divergence"
at, k = table("waves"), 1.7
phi, g = [[0] for i in range(40)], [[0] * 3 for i in range(40)]
for i, j, r, R in pairs(at):
    w = complex(*at(j, "re", "im")) * cmath.exp(1j * k * R) / R
    phi[i][0] += w
    for d in range(3): g[i][d] += w * (1j * k / R - 1 / R ** 2) * r[d]
compare("Helmholtz", [[complex(*v)] for v in got("waves.potential0", 2)], phi)
compare("its gradient", [[complex(v[d], v[3 + d]) for d in range(3)] for v in got("waves.gradient0", 6)], g)
EOF2

# ---- through the far field: bounds that are kept, on a cube and in a cluster ----
make() { # NAME KIND MOMENTS OPTIONS...
    penstock-particle-import --generate "$2" --count 1500 --charges signed --moments "$3" "$1.p.h5" "${@:4}" > made 2>&1 || fail "$1"
    penstock-octree-build "$1.p.h5" "$1.h5" > built 2>&1 || fail "$1: tree"
}
make cd cube dipoles
make pb plummer charges-and-dipoles
make ff cube forces --right-hand-sides 2
make cw cube complex
kept() { # ACCURACY NAME OPTIONS...
    expect 0 "" $fmm "$2.h5" "$2.r.h5" --accuracy "$1" --check 100 --force "${@:3}"
    within "$(figure reached_potential)" 1e-9 "$1" "$2"
    within "$(figure error_potential | tr -d "[,")" 1e-12 "$1" "$2, checked"
}
kept 1e-2 cd
kept 3e-3 pb --hessian
within "$(figure reached_hessian)" 1e-12 3e-3 "second derivatives"
kept 1e-2 ff --kernel stokeslet --no-gradient
kept 1e-2 cw --kernel helmholtz --parameter 6
# Second derivatives at targets of their own: r-derivatives of other kernels, too.
penstock-particle-import --generate plummer --count 700 --seed 9 at.h5 > made 2>&1 || fail targets
penstock-octree-build pb.p.h5 apart.h5 --targets at.h5 > built 2>&1 || { cat built; fail "a tree of two sets"; }
kept 3e-3 apart --hessian --kernel yukawa --parameter .5
within "$(figure error_hessian | tr -d "[,")" 1e-12 3e-3 "second derivatives elsewhere"
# Forces of charges and dipoles on each other, q g + H p, sum to nothing; what forces f do at places of forces g, these do at f's.
for d in pb.p:q0 pb.p:q1 pb.p:q2 pb.p:q3 pb.r:gradient0 pb.r:hessian0 ff.p:q0 ff.p:q1 ff.p:q2 ff.p:q3 ff.p:q4 ff.p:q5 ff.r:velocity0 \
    ff.r:velocity1; do
    h5dump -d "/${d#*:}" -b LE -o "${d%:*}.${d#*:}" "${d%:*}.h5" > dumped || fail "$d"
done
python3 - <<'EOF2' || fail "balance of forces, or reciprocity"
import array
get = lambda name: array.array("d", open(name, "rb").read())
q, p, g, h = get("pb.p.q0"), [get("pb.p.q%d" % d) for d in (1, 2, 3)], get("pb.r.gradient0"), get("pb.r.hessian0")
at, total, size = ((0, 1, 2), (1, 3, 4), (2, 4, 5)), [0] * 3, 0
for i in range(1500):
    force = [q[i] * g[3 * i + d] + sum(h[6 * i + at[d][e]] * p[e][i] for e in range(3)) for d in range(3)]
    for d in range(3): total[d] += force[d]
    size += sum(f * f for f in force) ** .5
print("force %.1e of all" % (max(map(abs, total)) / size))
assert max(map(abs, total)) < 1e-8 * size
c, u = [get("ff.p.q%d" % k) for k in range(6)], [get("ff.r.velocity0"), get("ff.r.velocity1")]
work = [[c[3 * (1 - s) + d][i] * u[s][3 * i + d] for i in range(1500) for d in range(3)] for s in range(2)]
size = sum(map(abs, work[0])) / 4500 ** .5
print("reciprocity %.1e" % (abs(sum(work[0]) - sum(work[1])) / size))
assert abs(sum(work[0]) - sum(work[1])) < 1e-9 * size
EOF2
expect 0 "" penstock-compare cw.r.h5 cw.r.h5
expect 0 "" penstock-inspect pb.r.h5
grep -q hessian0 out || fail "inspect does not tell of second derivatives"

alike() { # NAME OPTIONS...: a device and the cores to 1e-6, a device twice to the bit
    local name=$1 d
    shift
    for d in cpu cuda; do expect 0 "" $fmm "$name.h5" "$d.r.h5" "$@" --device $d --force; done
    expect 0 "" penstock-compare cuda.r.h5 cpu.r.h5 --tolerance 1e-6 --no-attributes
    expect 0 "" $fmm "$name.h5" again.r.h5 "$@" --device cuda --force
    expect 0 "" penstock-compare cuda.r.h5 again.r.h5 --tolerance 0 --no-attributes
}
# ---- a device: within the bounds, too, and the cores' results but for the trees' other leaves ----
if nvidia-smi -L > /dev/null 2>&1; then
    cores=$fmm fmm="penstock-fmm --device cuda"
    kept 1e-2 cd
    kept 3e-3 pb --hessian
    within "$(figure reached_hessian)" 1e-12 3e-3 "second derivatives"
    kept 1e-2 ff --kernel stokeslet
    kept 1e-2 cw --kernel helmholtz --parameter 6 --hessian
    fmm=$cores
    alike cd --order 10 --hessian
    alike pb --order 10 --hessian --kernel yukawa --parameter .7
    alike ff --order 10 --kernel stokeslet
    alike cw --order 10 --kernel helmholtz --parameter 6
fi

# ---- periodic: Hasimoto's drag; a dipole is two charges that are close ----
printf 'x,y,z,fx,fy,fz\n.3,.4,.2,1,2,-3\n' > one.csv
tree one forces --height 1
expect 0 "" $fmm one.h5 one.r.h5 --kernel stokeslet --no-gradient --periodic xyz --period 2 --order 7 --epsilon 1e-9
h5dump -d /velocity0 -b LE -o drag one.r.h5 > dumped || fail "drag"
python3 - <<'EOF2' || fail "Hasimoto's drag"
import array
for u, f in zip(array.array("d", open("drag", "rb").read()), (1, 2, -3)): assert abs(u / f / (-4 / 3 * 2.837297479480620 / 2) - 1) < 1e-4, u
EOF2
python3 - <<'EOF2'
import random
random.seed(2)
e = 1e-3
with open("dd.csv", "w") as d, open("cc.csv", "w") as c, open("tt.csv", "w") as t:
    print("x,y,z,px,py,pz", file=d), print("x,y,z,q", file=c), print("x,y,z,q", file=t)
    for i in range(6):
        x, p = [random.random() for k in range(3)], [random.uniform(-1, 1) for k in range(3)]
        print(",".join("%.17g" % v for v in x + p), file=d)
        for s in (-1, 1): print(",".join("%.17g" % v for v in [a + s * e * b for a, b in zip(x, p)] + [s / 2 / e]), file=c)
    for i in range(40): print(",".join("%.17g" % random.random() for k in range(3)), ",1", sep="", file=t)
EOF2
penstock-particle-import tt.csv tt.h5 > import 2>&1 || fail targets
for f in dd:dipoles cc:charges; do
    tree ${f%:*} ${f#*:} --height 1 --targets tt.h5
    expect 0 "" $fmm ${f%:*}.h5 ${f%:*}.r.h5 --periodic xyz --period 1.5 --order 6 --epsilon 1e-8
done
expect 0 "" penstock-compare dd.r.h5 cc.r.h5 --tolerance 1e-2
if nvidia-smi -L > /dev/null 2>&1; then # the cores' results, by the same tree but for the size of its leaves
    alike dd --order 9 --periodic xyz --period 1.5
    alike cd --order 9 --periodic xy --period 2
    alike pb --order 9 --periodic xyz --period 90 --background
    alike ff --order 9 --periodic xyz --period 1.1 --kernel stokeslet --no-gradient
fi

# ---- refused ----
echo 1 2 3 4 5 6 > bare.txt
expect 2 "--kernel stokeslet sums forces" $fmm cd.h5 no.h5 --kernel stokeslet
expect 2 "which --kernel helmholtz sums" $fmm cw.h5 no.h5
expect 2 "low frequencies" $fmm cw.h5 no.h5 --kernel helmholtz --parameter 300
expect 2 "low frequencies" $fmm cw.h5 no.h5 --kernel helmholtz --parameter 30 --order 3
expect 2 "not known of --kernel user" $fmm cd.h5 no.h5 --kernel user
expect 2 "--precision fp64" $fmm cd.h5 no.h5 --precision mixed
expect 2 "without --tree uniform" $fmm cd.h5 no.h5 --tree uniform
expect 2 "without --no-gradient" $fmm cd.h5 no.h5 --hessian --no-gradient
expect 2 "of velocities" $fmm ff.h5 no.h5 --kernel stokeslet --hessian
expect 2 "along all three axes" $fmm ff.h5 no.h5 --kernel stokeslet --no-gradient --periodic xy --period 1
expect 2 "with --no-gradient" $fmm ff.h5 no.h5 --kernel stokeslet --periodic xyz --period 1
expect 3 "no columns fx, fy, fz" penstock-particle-import dip.csv no.h5 --moments forces
expect 3 "without a header" penstock-particle-import bare.txt no.h5 --moments forces
expect 3 "--moments dipoles" penstock-particle-import dip.p.h5 no.h5
expect 3 "has 3 a side" penstock-particle-import cc.csv no.h5 --moments dipoles --columns x,y,z,q
expect 0 "" penstock-particle-import dip.p.h5 again.h5 --moments dipoles
