# penstock-prism-field against harmonica (Fatiando a Terra), where Python has it: random prisms of sides from 5 to 500 m in
# coordinates as of UTM, stations on corners, edges and faces, inside and anywhere; gradients beside; magnetics.
. "$ROOT/tests/stages/lib.sh"
needs prism-field
needs_python numpy harmonica
prisms=${PRISMS:-2000} stations=${STATIONS:-400} # 20000 and 5000: a minute, most of it harmonica's
python3 - "$prisms" "$stations" << 'END' || fail "making prisms"
import numpy as np, sys
n, m = int(sys.argv[1]), int(sys.argv[2])
r = np.random.default_rng(3)
low = r.random((n, 3)) * [20000, 30000, 4000] + [5e5, 4.2e6, -3000]
side = 10 ** (r.random((n, 3)) * 2 + .7)
p = np.empty((n, 9))
p[:, 0:6:2], p[:, 1:6:2], p[:, 6:] = low, low + side, r.normal(size=(n, 3)) * 300
s = np.empty((m, 3))
for i in range(m):
    k = r.integers(n)
    corner = np.where(r.integers(0, 2, 3), p[k, 1:6:2], p[k, 0:6:2])
    inside, one = p[k, 0:6:2] + r.random(3) * side[k], np.arange(3) == r.integers(3)
    anywhere = low.min(0) - 500 + r.random(3) * (np.ptp(low, axis=0) + 1000)
    s[i] = [corner, np.where(one, inside, corner), np.where(one, corner, inside), inside, anywhere][i % 5]
np.savetxt("p.txt", p[:, :7], fmt="%.17g")
np.savetxt("m.txt", p, fmt="%.17g")
np.savetxt("s.txt", s, fmt="%.17g")
END
allow="--allow overlapping --allow stations-inside"
expect 0 "" penstock-prism-field p.txt s.txt f.h5 $allow --height 5 --accuracy 1e-6 --table f.csv --gravity 6.6743e-11
expect 0 "" penstock-prism-field p.txt s.txt g.h5 $allow --height 5 --order 8 --table g.csv --field gradients
expect 3 "which magnetisation" penstock-prism-field m.txt s.txt b.h5 $allow --field magnetic
python3 - > worst << 'END' || fail "harmonica"
import numpy as np, harmonica as hm
p = np.loadtxt("p.txt")
t, g = (np.genfromtxt(f, delimiter=",", names=True) for f in ("f.csv", "g.csv"))
some = np.unique(np.linspace(0, len(t) - 1, 400).astype(int))
c = tuple(t[k][some] for k in "xyz")
def off(field, ours, sign=1):
    h = sign * hm.prism_gravity(c, p[:, :6], p[:, 6], field=field)
    good = np.isfinite(h) & np.isfinite(ours[some])
    assert good.sum() > .3 * len(some)
    return abs(h - ours[some])[good].max() / np.sqrt(np.mean(h[good] ** 2))
print(max(off("potential", t["potential_m2_s2"]), off("g_e", t["g_x_mGal"]), off("g_n", t["g_y_mGal"]), off("g_z", t["g_z_mGal"], -1)))
print(max(off("g_ee", g["xx_E"]), off("g_nn", g["yy_E"]), off("g_zz", g["zz_E"]), off("g_en", g["xy_E"]), off("g_ez", g["xz_E"], -1), off("g_nz", g["yz_E"], -1)))
END
within "$(sed -n 1p worst)" 0 1e-6 "V and g against harmonica, largest difference of the rms"
within "$(sed -n 2p worst)" 0 1e-4 "gradients against harmonica, likewise"

# Magnetics: prisms apart from each other, stations above and between them.
python3 - << 'END' || fail "making magnets"
import numpy as np
r = np.random.default_rng(8)
g = np.indices((8, 8, 8)).reshape(3, -1).T * 100.
np.savetxt("m.txt", np.c_[g[:, 0], g[:, 0] + 70, g[:, 1], g[:, 1] + 60, g[:, 2] - 800, g[:, 2] - 720, r.normal(size=(512, 3))], fmt="%.17g")
s = np.c_[r.random((200, 2)) * 800, r.random(200) * 30 + 1]
s[:60] = g[r.integers(0, 512, 60)] + [85, 80, -710]
np.savetxt("s.txt", s, fmt="%.17g")
END
expect 0 "" penstock-prism-field m.txt s.txt b.h5 --field magnetic --height 4 --accuracy 1e-5 --table b.csv
python3 - > worst << 'END' || fail "harmonica"
import numpy as np, harmonica as hm
p, t = np.loadtxt("m.txt"), np.genfromtxt("b.csv", delimiter=",", names=True)
h = np.array(hm.prism_magnetic((t["x"], t["y"], t["z"]), p[:, :6], tuple(p[:, 6:].T), field="b"))
b = np.array([t["B_x_nT"], t["B_y_nT"], t["B_z_nT"]])
print(np.linalg.norm(b - h) / np.linalg.norm(h))
END
within "$(cat worst)" 0 1e-5 "B against harmonica, relative L2"
