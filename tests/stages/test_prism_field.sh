# penstock-prism-field: a slab, a sphere of shells made of prisms far away, splitting, refusals, accuracy, the file.
. "$ROOT/tests/stages/lib.sh"
needs prism-field verify compare
field() { penstock-prism-field "$@"; }

# The values of 40 digits of ../shared/numerics/potentials.md, section 4, at a point outside and on a face (z up as given).
echo "-1 1 -2 2 -3 3 1" > one.txt
printf '4 1 -2\n1 .5 .25\n1 2 .5\n' > s.txt
expect 0 "lie on edges" field one.txt s.txt one.h5 --field gradients --gravity 1e-9 --table one.csv
awk -F, 'function near(a, b) { if (a - b > 1e-9 * (b < 0 ? -b : b) || b - a > 1e-9 * (b < 0 ? -b : b)) { print NR, a, b; exit 1 } }
    NR == 2 { near($4, 9.9563941874e-9); near($5, -1.8109263823e-4); near($7, .63930081978e-4); near($8, .60071545378); near($13, -.058528303491) }
    NR == 3 { near($5, -8.2184463958e-4); near($8, 3.8291574308) }
    NR == 4 { near($6, -5.8130125869e-4); near($10, -.94094706197); if ($8 != "nan" && $8 != "-nan") exit 1 }' one.csv || fail "values"
expect 0 "" penstock-verify one.h5

# Terrain of columns, stations one metre above ground: the bound, and what it is of.
awk 'BEGIN { for (i = 0; i < 50; ++i) for (j = 0; j < 50; ++j) { h = 600 + 300 * sin(i / 9) * cos(j / 7) + 40 * sin(1.7 * i * j)
        print 5e5 + 100 * i, 5e5 + 100 * i + 100, 4e6 + 100 * j, 4e6 + 100 * j + 100, 0, h, 2670 > "t.txt"
        if ((i + j) % 2) print 5e5 + 100 * i + 100 * ((i * j) % 3) / 2, 4e6 + 100 * j + 37, 1200 > "u.txt"
        else print 5e5 + 100 * i + 30, 4e6 + 100 * j + 37, h + 1 > "u.txt" } }'
expect 0 "" field t.txt u.txt d.h5 --height 1 --table d.csv
expect 0 "reached_attraction" field t.txt u.txt f.h5 --height 5 --accuracy 1e-4 --table f.csv --threads 1
awk -F, 'NR == FNR { d[FNR] = $7; next } FNR > 1 { e = $7 - d[FNR]; if (e < 0) e = -e; if (e > m) m = e } END { print m }' d.csv f.csv > largest
within "$(cat largest)" 0 .05 "largest difference, mGal, of 100"
expect 0 "" field t.txt u.txt g.h5 --height 5 --accuracy 1e-4 --threads 2
expect 0 "" penstock-compare f.h5 g.h5 --tolerance 0
expect 0 "up to date" field t.txt u.txt f.h5 --height 5 --accuracy 1e-4

# What is not reached at the highest order is refused with what was, and nothing is written; a low order is raised first.
expect 5 "an accuracy of 1e-08 is not reached: at order 4 errors are up to" field t.txt u.txt no.h5 --height 5 --accuracy 1e-8 --order-most 4
# Densities of both signs cancel: the order that does for one sign does not do.
awk '{ $7 *= (NR * 7919) % 2 ? 1 : -1.0001; print }' t.txt > signed.txt
expect 0 "once more with order" field signed.txt u.txt signed.h5 --height 5 --accuracy 0.0111

# A prism and its eight parts.
awk 'BEGIN { for (c = 0; c < 8; ++c) { split(c % 2 ? ".3 1" : "-1 .3", x); split(int(c / 2) % 2 ? "-.7 2" : "-2 -.7", y); split(c > 3 ? "2 3" : "-3 2", z)
        print x[1], x[2], y[1], y[2], z[1], z[2], 1 } }' > parts.txt
printf '4 1 -2\n1 .5 .25\n1 2 3\n-9 40 7\n' > s.txt
expect 0 "" field one.txt s.txt a.h5 --gravity 1e-9
expect 0 "" field parts.txt s.txt b.h5 --gravity 1e-9
expect 0 "" penstock-compare a.h5 b.h5 --tolerance 1e-11

# Magnetics: B of a cube far away is that of a dipole, m = 8 A m2 along z: 2e-7 m / r^3 on the axis; inside mu0 m is in it.
echo "-1 1 -1 1 -1 1 0 0 1" > m.txt
printf '0 0 200\n0 0 0\n' > s.txt
expect 2 "an empty name is no file" field m.txt s.txt none.h5 --table ""
expect 3 "stations lie inside" field m.txt s.txt m.h5 --field magnetic
expect 0 "" field m.txt s.txt m.h5 --field magnetic --allow stations-inside --table m.csv
awk -F, 'NR == 2 { if ($6 / (2e2 * 8 / 200 ^ 3) > 1.00001 || $6 / (2e2 * 8 / 200 ^ 3) < .99999) { print; exit 1 } }
    NR == 3 { b = 1256.6370614 * 2 / 3; if ($6 / b > 1.000001 || $6 / b < .999999) { print; exit 1 } }' m.csv || fail "B"

# What is refused: headers, too, that call columns otherwise than they are read.
{ echo "west east south north top bottom density"; echo "-1 1 -1 1 -1 1 5"; } > bad.txt; echo "9 9 9" > s.txt
expect 3 'calls column 5 "top", where z0 is expected' field bad.txt s.txt x.h5
{ echo "west,east,south,north,bottom,top,density"; echo "-1,1,-1,1,-1,1,5"; } > good.txt
{ echo "# x y depth"; echo "9 9 9"; } > bad.txt
expect 3 'calls column 3 "depth", where z is expected' field good.txt bad.txt x.h5
expect 0 "" field good.txt s.txt good.h5
prisms() { # PRISMS TEXT
    printf "$1\n" > bad.txt
    expect 3 "$2" field bad.txt s.txt x.h5
}
prisms "1 -1 0 1 0 1 5" "turned inside out: x from 1 to -1"
prisms '0 1 0 1 0 1 5\n.5 2 0 1 0 1 5' "prisms 1 and 2 share volume"
prisms '0 100 0 100 0 100 5\n7 8 7 8 7 8 5\n200 201 0 1 0 1 5' "share volume" # one within another, of other levels
expect 0 "share volume" field bad.txt s.txt x.h5 --allow overlapping --allow stations-inside
prisms '0 1 0 1 0 nan 5' "number 6 is nan"
prisms '0 1 0 1 0 5' "6 numbers; x0 x1 y0 y1 z0 z1 density are expected"
prisms '0 0 0 1 0 1 5' "no prism has a volume"
printf '10.1 10.2 45.1 45.2 0 2000 5\n' > bad.txt; echo "10.15 45.3 3000" > s.txt
expect 3 "are x and y in degrees" field bad.txt s.txt x.h5
