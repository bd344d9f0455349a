# g_z of penstock-gravity-anomaly on a rough model against harmonica (Fatiando a Terra), where Python has it: at nodes of the top, at
# corners and on edges of cells, inside of them, above the box.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/gravity.bash"
needs gravity-model gravity-assemble schwarz-solve gravity-anomaly
needs_python numpy harmonica
cells="-v nx=12 -v ny=14 -v nz=10 -v x0=355000 -v y0=5999000 -v z0=-3000 -v hx=250 -v hy=300 -v hz=40 -v seed=11"
awk $cells -f "$ROOT/tests/support/rough_model.awk" > a.txt
awk 'BEGIN { srand(5); for (i = 0; i < 40; ++i) printf "%.17g %.17g %.17g\n", 355000 + 3000 * rand(), 5999000 + 4200 * rand(), 3000 - 400 * rand()
    for (i = 0; i < 13; i += 4) for (j = 0; j < 15; j += 3) for (k = 0; k < 11; k += 5) printf "%d %d %d\n%d %d %d\n", 355000 + 250 * i, 5999000 + 300 * j, 3000 - 40 * k, 355000 + 250 * (i < 12 ? i : 11) + 125, 5999000 + 300 * j, 3000 - 40 * k
    print 356000, 6000000, 5000 }' > s.txt
expect 0 "" penstock-gravity-model a.hdf --bricks a.txt --box=355000,358000,5999000,6003200,-3000,-2600 --nodes 13,15,11
assembled a.hdf l.hdf
expect 0 "" penstock-schwarz-solve l.hdf p.hdf
expect 0 "" penstock-gravity-anomaly p.hdf m.h5 --stations s.txt --table t.csv --allow stations-outside
python3 - > relative << 'END' || fail "harmonica"
import numpy as np, harmonica as hm
p, t = np.loadtxt("a.txt"), np.genfromtxt("t.csv", delimiter=",", names=True)
prisms = np.c_[p[:, :4], -p[:, 5], -p[:, 4]]
g = hm.prism_gravity((t["x"], t["y"], -t["z"]), prisms, p[:, 6], field="g_z")
print(np.linalg.norm(g - t["g_z"]) / np.linalg.norm(g))
END
within "$(cat relative)" 0 1e-8 "against harmonica, relative L2" # the table has nine digits
