# penstock-hbem-solve on bodies with edges, where normal derivatives jump: given ones, and those that are solved for, are
# in p0 without being asked, potentials in p1, and harmonic functions come out with order 2 (specs/hbem_solve.md).
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hmatrix-assemble cluster-build mesh-surface mesh-import
export OMP_NUM_THREADS=2

# A cube cut N x N a face; the same, half as wide at one end as at the other: angles of 76 and 104 degrees.
body() { # NAME NARROW N
    awk -v a=1 -v n="$3" -f "$ROOT/tests/support/box.awk" |
        awk -v a="$2" 'NF == 3 && NR > 2 { $2 = ($2 - .5) * (a + (1 - a) * $1) } { print }' > "$1.off"
    clustered "$1.hdf" "$1.p1.h5" "$1.off"
}
# The relative error of u or t in L2 beside the harmonic function, by 3 points a triangle; u up to a
# constant unless a fifth word is there.
error() { # FILE u|t linear|point X,Y,Z
    /usr/bin/python3 - "$@" <<'P'
import h5py, numpy as np, sys
f = h5py.File(sys.argv[1]); what, kind = sys.argv[2:4]; v = np.array([float(s) for s in sys.argv[4].split(",")])
p = f["/VTKHDF/Points"][:][f["/VTKHDF/Connectivity"][:].reshape(-1, 3)]
a = f["/solutions/" + ("double" if what == "u" else "single")][0, 0]
n = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]); j = np.linalg.norm(n, axis=1); n /= j[:, None]
hats = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4]]) / 6
x = np.einsum("ql,tlc->tqc", hats, p); r = np.linalg.norm(x - v, axis=2)
if what == "u": b = x @ v if kind == "linear" else 1 / (4 * np.pi * r)
else: b = (n @ v)[:, None] + 0 * r if kind == "linear" else -np.einsum("tqc,tc->tq", x - v, n) / (4 * np.pi * r**3)
c = f["/VTKHDF/Connectivity"][:].reshape(-1, 3)
a = a[:, None] + 0 * r if len(a) == len(c) else np.einsum("ql,tl->tq", hats, a[c])
w = j[:, None] + 0 * r
d = a - b
if what == "u" and len(sys.argv) < 6: d -= (w * d).sum() / w.sum()
print(np.sqrt((w * d * d).sum() / (w * b * b).sum()))
P
}
solve() { expect 0 "" penstock-hbem-solve "$1.hdf" "$1.p1.h5" u.hdf --device cpu --force --tolerance 1e-7 "${@:2}"; }
order() { awk -v a="$1" -v b="$2" 'BEGIN { print log(a / b) / log(2) }'; }

for shape in cube:1 wedge:.5; do
    name=${shape%:*}
    for n in 3 6; do body $name$n "${shape#*:}" $n; done
    # ---- Neumann: what p0 holds exactly, and order 2 ----
    solve ${name}3 --problem neumann --side interior --data linear:.3,.2,1
    grep -q "sharper than 20 degrees.* p0" err || fail "$name: it does not say that the data are p0"
    [ "$(figure data_space) $(figure unknown_space)" = "p0 p1" ] || fail "$name: $(figure data_space) $(figure unknown_space)"
    within "$(error u.hdf u linear .3,.2,1)" 0 1e-4 "$name: a linear potential inside"
    for where in interior:2,1.4,1.2 exterior:.6,.1,.4; do
        with= # outside also with the constant
        [ ${where%:*} = interior ] || with=constant
        for n in 3 6; do
            solve $name$n --problem neumann --side ${where%:*} --data point:${where#*:}
            [ $n = 6 ] || coarse=$(error u.hdf u point ${where#*:} $with)
        done
        fine=$(error u.hdf u point ${where#*:} $with)
        within "$(order "$coarse" "$fine")" 1.7 3 "$name, ${where%:*}: order of u ($coarse $fine)"
    done
    # ---- Dirichlet: the derivative that is solved for ----
    solve ${name}3 --problem dirichlet --side interior --data linear:.3,.2,1
    [ "$(figure data_space) $(figure unknown_space)" = "p1 p0" ] || fail "$name: $(figure data_space) $(figure unknown_space)"
    within "$(error u.hdf t linear .3,.2,1)" 0 1e-2 "$name: the derivative of a linear potential"
done

# ---- two bodies: each has a constant of its own ----
awk 'NR == 2 { v = $1; print 2 * $1, 2 * $2, 0; next } NR < 2 { print; next } NF == 3 { p[++k] = $0; next } { f[++m] = $0 }
    END { for (i = 1; i <= k; ++i) print p[i]
        for (i = 1; i <= k; ++i) { split(p[i], q, " "); print q[1] + 1.7, q[2] + .3, q[3] * .5 }
        for (i = 1; i <= m; ++i) print f[i]
        for (i = 1; i <= m; ++i) { split(f[i], q, " "); print 3, q[2] + v, q[3] + v, q[4] + v } }' cube6.off > two6.off
clustered two6.hdf two6.p1.h5 two6.off
solve two6 --problem neumann --side exterior --data point:.5,.4,.4 --allow close-source
within "$(error u.hdf u point .5,.4,.4 constant)" 0 .07 "two bodies, with their constants"
expect 2 "for --side interior" penstock-hbem-solve two6.hdf two6.p1.h5 v.hdf --problem neumann --side exterior --data value:1 --mean 2

# Inside, the flux leaves both open, and that is said.
solve two6 --problem neumann --side interior --data linear:.3,.2,1 --mean 2
grep -q "that of 2 bodies" err && [ "$(figure open_constants)" = 2 ] || fail "two bodies inside: $(figure open_constants), $(cat err)"

# ---- a body with a hole, off its middle: one constant, and a flux from wall to wall ----
awk 'NR == 2 { v = $1; print 2 * $1, 2 * $2, 0; next } NR < 2 { print; next } NF == 3 { p[++k] = $0; next } { f[++m] = $0 }
    END { for (i = 1; i <= k; ++i) { split(p[i], q, " "); print 3 * q[1], 3 * q[2], 3 * q[3] }
        for (i = 1; i <= k; ++i) { split(p[i], q, " "); print q[1] + 1.7, q[2] + .2, q[3] + .6 }
        for (i = 1; i <= m; ++i) print f[i]
        for (i = 1; i <= m; ++i) { split(f[i], q, " "); print 3, q[2] + v, q[4] + v, q[3] + v } }' cube6.off > hole.off
clustered hole.hdf hole.p1.h5 hole.off
solve hole --problem neumann --side interior --data linear:.3,.2,1
[ "$(figure open_constants)" = 1 ] || fail "a body with a hole: $(figure open_constants) constants"
within "$(error u.hdf u linear .3,.2,1)" 0 1e-4 "a linear potential around a hole"
solve hole --problem neumann --side interior --data point:2.3,.3,1
within "$(error u.hdf u point 2.3,.3,1)" 0 .05 "a flux from a hole to the outside"

# ---- clusters of p0 alone: the potential is p1 all the same ----
expect 0 "" penstock-cluster-build cube3.hdf p0.h5 --test p0
expect 0 "" penstock-hbem-solve cube3.hdf p0.h5 u.hdf --device cpu --force --problem dirichlet --side interior --data linear:.3,.2,1
within "$(error u.hdf t linear .3,.2,1)" 0 1e-3 "the derivative on clusters of p0"

# ---- matrices in files, clusters of one's own choice: refused where they cannot hold the data ----
for o in slp dlp adlp hyps; do expect 0 "" penstock-hmatrix-assemble cube3.p1.h5 $o.h5 --operator $o --device cpu; done
neumann="--problem neumann --side interior --data linear:.3,.2,1 --device cpu --force"
expect 3 "--test p1 --trial p0" penstock-hbem-solve cube3.hdf hyps.h5 adlp.h5 no.hdf $neumann
expect 3 "(--allow spaces" penstock-hbem-solve cube3.hdf cube3.p1.h5 cube3.p1.h5 no.hdf $neumann
expect 0 "jumps" penstock-hbem-solve cube3.hdf hyps.h5 adlp.h5 u.hdf $neumann --allow spaces
within "$(error u.hdf u linear .3,.2,1)" 2e-3 1 "data of p1, which were insisted on"
expect 0 "beside them it is wrong" penstock-hbem-solve cube3.hdf slp.h5 dlp.h5 u.hdf --problem dirichlet --side interior \
    --data linear:0,0,1 --device cpu
expect 0 "" penstock-hmatrix-assemble p0.h5 slp0.h5 --operator slp --device cpu
expect 0 "" penstock-hmatrix-assemble p0.h5 dlp0.h5 --operator dlp --device cpu
expect 3 "--test p0 --trial p1" penstock-hbem-solve cube3.hdf slp0.h5 dlp0.h5 no.hdf --problem dirichlet --side interior \
    --data linear:0,0,1 --device cpu

# ---- a smooth body keeps p1, and so do data that are continuous by themselves ----
clustered ball.hdf ball.p1.h5 --divisions 4
solve ball --problem neumann --data point:0,0,.3
[ "$(figure data_space) $(figure sharp_edges)" = "p1 0" ] || fail "a sphere: $(figure data_space) $(figure sharp_edges)"
solve cube3 --problem neumann --data value:1
[ "$(figure data_space)" = p1 ] || fail "a constant: $(figure data_space)"
