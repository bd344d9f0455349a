# penstock-report: a page that needs nothing else, in which every file, what is wrong with it and every picture stand; and views,
# drawn in a real browser where there is one (chromium).
. "$ROOT/tests/stages/lib.sh"
needs report plot inspect verify mesh-surface mesh-box slice-assemble slice-block tdbem-march probe sphere-exact
command -v gnuplot >/dev/null || { echo "gnuplot is not installed"; exit 77; }
at() { sed -n "s/.*\"$1\": *\([-+0-9.e]*\).*/\1/p" out; }

# ---- a folder of a small run ----
mkdir -p run/below
{
    penstock-mesh-surface run/ball.hdf --divisions 3 &&
        penstock-slice-assemble run/ball.hdf run/slices.h5 --courant 2 --speed 340 &&
        penstock-slice-block run/slices.h5 run/blocks.h5 &&
        penstock-tdbem-march run/blocks.h5 run/ball.hdf run/run.h5 --steps 60 --emitter plane:dir=0,0,1:width=4e-3:delay=20e-3 &&
        penstock-probe run/run.h5 run/ball.hdf run/below/far.h5 --directions 12 --plane-normal 0,1,0 &&
        penstock-probe run/run.h5 run/ball.hdf run/points.h5 --surface all --snapshots run/p --every 20 &&
        penstock-sphere-exact run/ts.h5 --quantity hard-far --directions 36 --fmin 20 --fmax 400 --count 5 --speed 340 --emitter plane:dir=0,0,1:width=4e-3
} > made 2>&1 || { cat made; fail "no files to report on"; }
echo "notes" > run/notes.txt
expect 0 "" penstock report run --output page.html --json
[ "$(at bad) $(at undrawn) $(at others)" = "0 0 1" ] || { cat out; fail "counts"; }
[ "$(at files) $(at views)" = "9 3" ] || { cat out; fail "files and views"; } # ball, slices, blocks, run, log, far, points, p.series, ts
[ "$(at pictures)" -ge 8 ] || { cat out; fail "pictures"; }
[ "$(at bytes)" -eq "$(stat -c %s page.html)" ] && [ "$(at bytes)" -lt 5000000 ] || fail "size of the page"
for name in ball.hdf slices.h5 blocks.h5 run.h5 run.workers.h5 below/far.h5 points.h5 p.hdf.series ts.h5; do
    grep -q "<h2>run/$name</h2>" page.html || fail "no section of $name"
done
grep -q "p.000001.hdf</h2>" page.html && fail "a snapshot of a series has a section of its own"
grep -q "<li>run/notes.txt" page.html || fail "another file is not listed"
# Nothing is fetched: no address in what a browser loads.
grep -Eo '(src|href)=.?(https?:|//)|@import|url\(' page.html && fail "the page asks for something else"
expect 0 "chunks not read" sh -c 'penstock report run --quick -q --output quick.html && grep -o "chunks not read" quick.html'
expect 0 least_memory penstock report run --plan
ls "${TMPDIR:-/tmp}"/penstock-report.?????? 2>/dev/null && fail "pictures were left behind"

# ---- what is damaged or foreign is named in the page, and in the exit code ----
cp -r run damaged
"$BUILD/tests-programs/store_damage" damaged/run.h5 /densities 0 || fail "nothing was damaged"
head -c 3000 run/ts.h5 > damaged/ts.h5
head -c 5000 /dev/zero > damaged/zero.hdf
expect 3 "3 of 10 files cannot be believed" penstock report damaged --output damaged.html
grep -q "not to be believed: .*damaged/run.h5.*chunk 0 of /densities: its hash differs" damaged.html || { grep "believed" damaged.html; fail "no damaged chunk in the page"; }
grep -q 'not to be believed: damaged/ts.h5' damaged.html && grep -q 'not to be believed: damaged/zero.hdf' damaged.html || fail "a broken file is not named"
grep -q "<h2>damaged/ball.hdf</h2>" damaged.html || fail "what is sound is not in the page"
expect 0 "" penstock report damaged/ball.hdf damaged/slices.h5 --output some.html
expect 3 "notes.txt" penstock report run/notes.txt run/ball.hdf --output some.html
rm damaged/p.000002.hdf
expect 3 "p.000002.hdf" penstock report damaged/p.hdf.series --output some.html
mkdir empty
expect 2 "no file of Penstock" penstock report empty --output none.html
expect 2 "nowhere" penstock report nowhere --output none.html

# ---- views: regions of tetrahedra; more triangles than a page takes ----
penstock-mesh-box -q box.hdf --cells 3 >/dev/null && penstock-mesh-surface big.hdf --divisions 95 > /dev/null || fail "no meshes"
expect 0 "" penstock-plot view box.hdf --output box.html
expect 0 "" penstock-plot view big.hdf --output big.html
grep -q '"there": 72200, "merged": 0\.' big.html || fail "a view does not say that it is thinned"
expect 2 ".html" penstock-plot view box.hdf --output box.png
expect 3 "was not computed on the mesh" penstock-plot view big.hdf run/run.h5 --output none.html
expect 2 "fields are" penstock-plot view run/p.000000.hdf --field nothing --output none.html

needs_browser
drawn() { grep -o "data-$1=\"[0-9]*\"" dom | head -n "${2:-1}" | tail -n 1 | tr -cd '0-9\n'; }
dom "$PWD/box.html"
[ "$(drawn triangles)" = 108 ] || fail "triangles of a box: $(drawn triangles)"
within "$(drawn pixels)" 5000 1000000 "pixels of a box" # 6 sides of 3 x 3 squares
dom "$PWD/big.html"
within "$(drawn triangles)" 30000 60000 "triangles of a thinned view"
within "$(drawn pixels)" 50000 1000000 "pixels of it"
dom "$PWD/page.html#all"
[ "$(drawn nodes)" -ge 12 ] && [ "$(drawn edges)" -ge 12 ] || fail "the graph has $(drawn nodes) nodes, $(drawn edges) edges"
[ "$(drawn tables)" -ge 18 ] || fail "tables"
[ "$(grep -o 'data-triangles="72"' dom | wc -l)" -ge 3 ] || fail "not all views were drawn"
[ "$(grep -o 'data-colours="[0-9]*"' dom | tr -cd '0-9\n' | sort -n | tail -n 1)" -ge 40 ] || fail "a field has too few colours"
dom "$PWD/damaged.html"
[ "$(drawn nodes)" -ge 8 ] || fail "the page with damaged files has no graph"
