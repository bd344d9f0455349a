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
expect 0 written penstock-plot isolines table.h5 --output map.svg
expect 2 "holds no map" penstock-plot isolines closed.h5 --output no.png
expect 0 "" penstock-verify table.h5
[ -s curves.png ] && [ -s map.svg ] && [ ! -e no.png ] || fail "pictures"

# ---- refusals ----
expect 2 "--range KMIN,KMAX" $optimize no.h5
expect 2 "FROM < TO" $optimize no.h5 --range 3,1
expect 2 "--nodes" $optimize no.h5 --nodes 3,2,9
expect 2 "needs --hx" $optimize no.h5 --range 1,2 --symbol discrete
expect 2 "closed forms" $optimize no.h5 --range 1,2 --method closed --overlap 1
head -c 3000 table.h5 > cut.h5
expect 3 "cut.h5" penstock-plot convergence cut.h5 --output no.png
[ ! -e no.h5 ] || fail "something was left behind"
