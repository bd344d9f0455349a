# penstock-gravity-invert: a block found again within the errors, bounds, reference, magnetics, states, refusals.
. "$ROOT/tests/stages/lib.sh"
. "$ROOT/tests/support/at.bash"
needs gravity-invert prism-field verify compare
invert() { penstock-gravity-invert "$@"; }

# A block of 300 kg/m3 under 100 stations, whose errors are drawn (Box-Muller, a fixed congruential sequence).
printf '10 10 6\n500000 4000000 0\n10*100\n10*100\n6*50\n' > mesh.msh
echo "500300 500600 4000400 4000700 -250 -100 300" > block.txt
awk 'BEGIN { for (i = 0; i < 10; ++i) for (j = 0; j < 10; ++j) print 500050 + 100 * i + 13 * ((i * j) % 3), 4000050 + 100 * j, 10 + (i * 7 + j) % 4 }' > s.txt
expect 0 "" penstock-prism-field block.txt s.txt f.h5 --table f.csv
awk -F, 'function u() { x = (x * 16807) % 2147483647; return x / 2147483647 } BEGIN { x = 4711; print 100 }
    FNR > 1 { print $1, $2, $3, -$7 + .01 * sqrt(-2 * log(u())) * cos(6.283185307 * u()), .01 }' f.csv > obs.txt
expect 0 "" invert obs.txt mesh.msh m.h5 --threads 1 --table m.csv --ubc m.mod
within "$(figure chi2 out)" 98.9 101.1 "chi2 of 100 stations"
within "$(figure mass out)" 36e8 45e8 "mass of the block, kg"
within "$(figure operator_error out)" 0 .1 "error of the sums over the errors"
expect 0 "" penstock-verify m.h5
# Its centre, along x and y, and that depth weights keep it off the surface.
awk 'NR == FNR { v[n++] = $1; next } END { for (j = 0; j < 10; ++j) for (i = 0; i < 10; ++i) for (k = 0; k < 6; ++k) { d = v[(j * 10 + i) * 6 + k]
        if (d > 60) { s += d; x += d * (i + .5); y += d * (j + .5); z += d * (k + .5) } } print x / s, y / s, z / s }' m.mod > centre
read -r x y z < centre
within "$x" 4.1 4.9 "centre along x, cells"; within "$y" 5.1 5.9 "centre along y"; within "$z" 2.4 4.6 "depth of the centre, cells"
awk -F, 'NR > 1 { r = ($4 - $6) / $5; s += r * r } END { print s }' m.csv > sum
within "$(cat sum)" 98.9 101.1 "chi2 of the table"
# prism-field reads the model, and says the same as the table.
expect 0 "" penstock-prism-field m.h5 s.txt again.h5 --table again.csv
paste -d, m.csv again.csv | awk -F, 'NR > 1 { e = $6 + $14; if (e < 0) e = -e; if (e > m) m = e } END { print m }' > off
within "$(cat off)" 0 1e-3 "computed values and prism-field's, mGal"

# Bounds; stopped again and again, on other threads, to the same bits; found up to date.
expect 0 "" invert obs.txt mesh.msh b.h5 --bounds 0,120 --threads 1
[ "$(figure at_bounds out)" -gt 100 ] || fail "hardly any value at a bound"
within "$(figure least_value out)" 0 0 "least value"; within "$(figure largest_value out)" 120 120 "largest value"
for t in 2 1 2; do partly invert obs.txt mesh.msh r.h5 --bounds 0,120 --threads $t --stop-after .3 --checkpoint-every 7steps; done
[ -e r.h5 ] || ls r.h5.state.* > /dev/null || fail "no state"
expect 0 "" invert obs.txt mesh.msh r.h5 --bounds 0,120
expect 0 "" penstock-compare b.h5 r.h5 --tolerance 0
ls r.h5.state* 2> /dev/null && fail "states are left"
expect 0 "up to date" invert obs.txt mesh.msh r.h5 --bounds 0,120
expect 0 "least_memory" invert obs.txt mesh.msh p.h5 --plan

expect 0 "" invert obs.txt mesh.msh half.h5 --bounds=-inf,100
within "$(figure largest_value out)" 100 100 "largest value below a bound alone"
# A regularisation that is too strong says so.
expect 0 "does not explain the values" invert obs.txt mesh.msh weak.h5 --regularisation 1e30

# A reference that fits is the result; one beta; the same by direct sums.
expect 0 "the reference fits" invert obs.txt mesh.msh q.h5 --reference m.mod --scale 1 --target 1.1
expect 0 "" invert obs.txt mesh.msh one.h5 --regularisation 1e-8
expect 0 "" invert obs.txt mesh.msh direct.h5 --regularisation 1e-8 --height 1
expect 0 "" penstock-compare one.h5 direct.h5 --tolerance 1e-3

# Magnetics: a magnetised block, scalars along the field.
printf '%s\n' "500300 500600 4000400 4000700 -250 -100 .16 1.0 -1.7" > mag.txt # about I 59, D 9
expect 0 "" penstock-prism-field mag.txt s.txt mag.h5 --field magnetic --table mag.csv
awk -F, 'BEGIN { r = atan2(0, -1) / 180; I = 59.2 * r; D = 9.09 * r } NR > 1 { print $1, $2, $3, $4 * cos(I) * sin(D) + $5 * cos(I) * cos(D) - $6 * sin(I) }' mag.csv > tfa.txt
expect 2 "--inclination and --declination" invert tfa.txt mesh.msh no.h5 --error 2 --field magnetic
expect 0 "" invert tfa.txt mesh.msh t.h5 --error 2 --field magnetic --inclination 59.2 --declination 9.09 --bounds 0,5
within "$(figure largest_value out)" 1 3.2 "largest magnetisation, A/m"

# What is refused.
changed() { # AWK CODE TEXT OPTIONS..: values changed so
    awk "$1" obs.txt > bad.txt
    expect "$2" "$3" invert bad.txt mesh.msh no.h5 "${@:4}"
}
on_mesh() { # MESH TEXT
    printf "$1" > bad.msh
    expect 3 "$2" invert obs.txt bad.msh no.h5
}
changed '{ if (NR == 5) $5 = 0; print }' 3 "the error of station 4 is 0"
changed '{ if (NR == 5) $4 = "nan"; print }' 3 "number 4 is nan"
{ echo "x,y,z,error,g"; awk -v OFS=, 'NR > 1 { print $1, $2, $3, $5, $4 }' obs.txt; } > bad.txt
expect 3 'calls column 4 "error", where value is expected' invert bad.txt mesh.msh no.h5
head -50 obs.txt > bad.txt
expect 3 "announces 100 rows, there are 49" invert bad.txt mesh.msh no.h5
awk 'NR > 1 { print $1, $2, $3, $4 }' obs.txt > four.txt
expect 2 "has no errors: give --error" invert four.txt mesh.msh no.h5
expect 2 "has errors of its own" invert obs.txt mesh.msh no.h5 --error 1
changed '{ if (NR > 1) $3 = -20; print }' 3 "100 of 100 stations lie inside of cells"
changed '{ if (NR > 1) { $1 = 18.2 + NR / 1e4; $2 = 45.1 } print }' 3 "100 of 100 stations lie beside the mesh"
changed '{ if (NR > 1) $4 += 978000; print }' 3 "anomalies in mGal are expected"
changed '{ if (NR > 1) $4 = -$4; print }' 5 "fits so well" --bounds 0,120 # no positive density explains it
expect 2 "is not LOW,HIGH" invert obs.txt mesh.msh no.h5 --bounds 5,1
expect 2 "is not LOW,HIGH" invert obs.txt mesh.msh no.h5 --bounds inf
expect 2 "are of magnetics" invert obs.txt mesh.msh no.h5 --inclination 60
expect 2 "one value a cell, not vectors" invert obs.txt mesh.msh no.h5 --field vector --inclination 60 --declination 0 --ubc x.mod
expect 2 "would weigh infinitely" invert obs.txt mesh.msh no.h5 --depth-offset 0
printf '600*1\n' > active.mod # active cells of 0 and 1: their zeros are no air
expect 3 "no cell is air there" invert obs.txt mesh.msh no.h5 --active active.mod
on_mesh '10 10 6\n500000 4000000 0\n10*1e-9\n10*100\n6*50\n' "is lost in the rounding"
on_mesh '10 10 6\n500000 4000000 0\n10*1e300\n10*100\n6*50\n' "places within 1e+09 m"
on_mesh '10 10 6\n500000 4000000 0\n10*100\n10*100\n6*-50\n' "width 1 along z is -50"
# noise of 100 mGal is fitted by what no ground has
printf '4 4 3\n0 0 0\n4*100\n4*100\n3*50\n' > small.msh
for x in 50 150 250 350; do for y in 50 150 250 350; do echo "$x $y 5 $(((x + y) / 100 % 2 * 200 - 100)) .05"; done; done > noise.txt
expect 3 "nothing has more than 25000" invert noise.txt small.msh no.h5
expect 0 "warning" invert noise.txt small.msh y.h5 --allow density
# a run that is under way holds its output: another does not throw its states away
at rename:2 STOP penstock-gravity-invert noise.txt small.msh z.h5 --allow density --checkpoint-every 1steps > first 2>&1 &
stopped() { first=$(ps -o pid= --ppid "$1") && [ "$(ps -o stat= -p $first | cut -c1)" = T ]; }
for i in $(seq 300); do stopped $! && break; sleep .1; done
(for how in "" --fresh "--regularisation 1e-9"; do
    expect 1 "is writing it; wait for that run" penstock-gravity-invert noise.txt small.msh z.h5 --allow density $how
done)
refused=$?
kill -CONT $first
wait $! && [ $refused -eq 0 ] || { cat first; fail "two runs of one output"; }
same y.h5 z.h5
