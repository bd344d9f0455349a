# penstock-transmission-optimize: the paper's table 11, closed forms, what trilinear elements see; pictures;
# refusals. Numbers: numerics guide of schwarz, sections 4 and 6.
. "$ROOT/tests/stages/lib.sh"
needs transmission-optimize plot compare
optimize=penstock-transmission-optimize

# figure KIND NAME: of the section of a kind
figure() { awk -v k="$1" -v n="$2" 'NF == 1 { s = $1 } s == k && $1 == n { print $2; exit }' out; }
near() { within "$(figure "$1" "$2")" "$(awk -v v="$3" -v t="$4" 'BEGIN { print v * (1 - t) }')" \
    "$(awk -v v="$3" -v t="$4" 'BEGIN { print v * (1 + t) }')" "$1 $2"; }

# ---- table 11 of Magoules, Cheik Ahamed, Putanowicz (2015), as the fitted range explains it ----
expect 0 "" $optimize table.h5 --range 0.017386,4.415 --overlap 0.02462 --map 40
near oo0 factor .683471 1e-4; near oo0-two-sided factor .446394 1e-4
near oo2 factor .213874 1e-4; near oo2-two-sided factor .109863 1e-4
near oo0 p1 .1837 1e-3; near oo2 p1 .0471 2e-3; near oo2 q1 .7062 1e-3
near oo0-two-sided p1 1.2209 1e-3; near oo0-two-sided p2 .0470 2e-3
p2=$(figure oo2-two-sided p2) q2=$(figure oo2-two-sided q2)
expect 0 "up to date" $optimize table.h5 --range 0.017386,4.415 --overlap 0.02462 --map 40
# another seed, the same factor
expect 0 "" $optimize seed.h5 --range 0.017386,4.415 --overlap 0.02462 --seed 7
near oo2-two-sided factor .109863 1e-4

# ---- closed forms, without overlap ----
expect 0 "" $optimize closed.h5 --range 0.01745329252,3.14159265359 --method closed
near oo0 factor .741785 2e-6; near oo0-two-sided factor .444013 2e-6
near oo2 factor .197147 2e-4; near oo2-two-sided factor .099551 2e-4

# ---- a grid: what its elements see ----
expect 0 "" $optimize grid.h5 --nodes 264,264,286 --length 250,250,15
near oo2 factor .0380 2e-3; near oo2 p1 .2940 1e-3; near oo2 q1 .4079 1e-3
near oo2-two-sided factor .0190 3e-3
expect 0 "" $optimize small.h5 --nodes 33,17,9 --kind oo2
within "$(awk -v v="$(figure oo2 factor)" 'BEGIN { print sqrt(v) }')" .0199 .0203 "factor of an exchange at 33 x 17 x 9"

# ---- pictures ----
expect 0 written penstock-plot convergence table.h5 closed.h5 --output curves.png
expect 0 written penstock-plot isolines table.h5 --output map.svg --script map.gp
expect 2 "holds no map" penstock-plot isolines closed.h5 --output no.png
expect 0 "" penstock-verify table.h5
[ -s curves.png ] && [ -s map.svg ] && [ ! -e no.png ] || fail "pictures"

# the four maps of figure 7, as drawn: every 41st value by eqs 4 and 5, and how near the optimum the least one lies
awk -v p2="$p2" -v q2="$q2" '
    function rate(k, p1, q1, p2, q2,  a, b, r) {
        a = p1 + q1 * k * k; b = p2 + q2 * k * k
        r = (k - a) * (k - b) / ((k + a) * (k + b)) * exp(-2 * k * .02462)
        return r < 0 ? -r : r
    }
    function largest(p1, q1, p2, q2,  i, r, most) {
        for (i = 0; i < 500; ++i) {
            r = rate(.017386 * (4.415 / .017386) ^ (i / 499), p1, q1, p2, q2)
            if (r > most) most = r
        }
        return most
    }
    /^\$M[0-3] << END/ { map = substr($1, 3, 1); values[map] = 0; least[map] = 9; next }
    /^END/ { map = "" }
    map != "" && NF == 3 {
        if ($3 < least[map]) least[map] = $3
        if (values[map]++ % 41) next
        want = map == 0 ? rate($2, $1, 0, $1, 0) : map == 1 ? largest($1, 0, $2, 0) : \
            map == 2 ? largest($1, $2, $1, $2) : largest($1, $2, p2, q2)
        if ($3 - want > 2e-5 || want - $3 > 2e-5) { print "map " map " at " $1, $2 ": " $3 " for " want; exit 1 }
    }
    END { for (m = 0; m < 4; ++m) print values[m], least[m] }' map.gp > maps || fail "$(cat maps)"
[ "$(awk '$1 == 1600' maps | wc -l)" = 4 ] || fail "four maps of 40 x 40"
for row in 2:.446394 3:.213874 4:.109863; do # the grid of a map is a tenth of a decade
    within "$(awk -v n="${row%:*}" 'NR == n { print $2 }' maps)" "$(awk -v v="${row#*:}" 'BEGIN { print v * .99999 }')" \
        "$(awk -v v="${row#*:}" 'BEGIN { print v * 1.2 }')" "least of map $row"
done
expect 0 "" $optimize one.h5 --range 0.017386,4.415 --kind oo0 --map 9
expect 0 written penstock-plot isolines one.h5 --output one.svg --script one.gp
[ "$(grep -c '^splot \$M' one.gp)" = 1 ] && grep -q '^splot \$M0' one.gp || fail "the panel of a file with one map"

# ---- refusals ----
expect 2 "--range KMIN,KMAX" $optimize no.h5
expect 2 "FROM < TO" $optimize no.h5 --range 3,1
expect 2 "--nodes" $optimize no.h5 --nodes 3,2,9
expect 2 "needs --hx" $optimize no.h5 --range 1,2 --symbol discrete
expect 2 "closed forms" $optimize no.h5 --range 1,2 --method closed --overlap 1
head -c 3000 table.h5 > cut.h5
expect 3 "cut.h5" penstock-plot convergence cut.h5 --output no.png
