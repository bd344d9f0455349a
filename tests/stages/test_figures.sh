# What all programs print with --json, for plans and runs, keeps to the tables of figures: by the programs
# themselves (PENSTOCK_STRICT), by tests/check-figures, and by the JSON schemas that they make of the tables,
# where python3-jsonschema is installed.
. "$ROOT/tests/stages/lib.sh"
export PENSTOCK_STRICT=1
check=$ROOT/tests/check-figures
"$check" "$ROOT" || fail "the tables of the tree"

# check-figures finds what is wrong: what is printed but not in the table, as something else than it is
# there, what nothing prints, a unit of its own spelling.
mkdir -p tree/{formats,stage,kernels,runtime,preprocess/one,compute,postprocess}
cp "$ROOT/runtime/figures.c" tree/runtime/
table() { echo "$1" > tree/preprocess/one/figures.list; }
code() { printf '%s\n' "$1" > tree/preprocess/one/main.c; }
wrong() { # TEXT
    "$check" tree > said && fail "check-figures does not find: $1"
    grep -q -- "$1" said || { cat said; fail "check-figures does not say: $1"; }
}
table 'rows | 1 | rows'
code 'void f(void) { ps_report_int(r, "rows", 1); }'
"$check" tree || fail "a good tree"
code 'void f(void) { ps_report_int(r, "rows", 1); ps_report_real(r, "columns", 1); }'
wrong '"columns" is a number; .* it is nothing'
code 'void f(void) { ps_report_text(r, "rows", "many"); }'
wrong '"rows" is a text; .* it is number'
code 'void f(void) { }'
wrong 'rows: nothing prints it'
code 'void f(void) { ps_report_int(r, "rows", 1); }'
table 'rows | bytes | rows'
wrong 'the unit "bytes" is none'

# ---- runs and plans of all programs ----

# say NAME ARGUMENTS...: --plan and a run of the program, to NAME.plan.json and NAME.json
count=0
say() {
    local name=$1
    shift
    needs "$name"
    penstock-$name --figures > figures.txt || fail "$name --figures"
    grep -q "^peak_memory  *B  *[a-z]" figures.txt || fail "$name --figures: $(cat figures.txt)"
    penstock-$name --figures --json > "$name.schema.json" || fail "$name --figures --json"
    case $name in
        inspect | verify | compare | help | transmission-optimize | dgtd-sphere | dgtd-far | sphere-exact | plot | spectrum) ;;
        *) penstock-$name "$@" --plan --json -q > "$name.plan.json" 2> err || { cat err; fail "$name $* --plan"; } ;;
    esac
    penstock-$name "$@" --json -q > "$name.json" 2> err || { cat err; fail "$name $*"; }
    again "$name" "$@"
    count=$((count + 1))
}
# again NAME ARGUMENTS...: up to date, refused for its memory, stopped: what is printed then is kept as well; the run is completed.
again() {
    local name=$1 code
    shift
    penstock-$name "$@" --json -q > "$name.again.json" 2> err || { cat err; fail "$name $*, once more"; }
    [ -s "$name.plan.json" ] || return 0
    penstock-$name "$@" --plan --host-memory 1M --json -q > "$name.refused.json" 2> err
    code=$?
    [ $code -eq 4 ] || { cat err; fail "$name $* --host-memory 1M: $code"; }
    penstock-$name "$@" --force --stop-after 1ms --json -q > "$name.stopped.json" 2> err
    code=$?
    [ $code -eq 75 ] || [ $code -eq 0 ] || { cat err; fail "$name $* --stop-after 1ms: $code"; }
    penstock-$name "$@" --json -q > /dev/null 2> err || { cat err; fail "$name $*, completed"; }
}
# more NAME ARGUMENTS...: another run of it, also of another file
more() {
    local name=$1
    shift
    count=$((count + 1))
    penstock-$name "$@" --json -q > "$name.$count.json" 2> err || { cat err; fail "$name $*"; }
}

say mesh-surface sphere.hdf --divisions 3 --wavenumber 1
printf 'OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n' > tetra.off
say mesh-import tetra.off tetra.hdf
say mesh-box box.hdf --cells 3 --region 2:box:0,0,0,.5,1,1
say mesh-partition box.hdf parts.h5 --parts 2
say slice-assemble sphere.hdf slices.h5 --courant 2 --speed 1 --points 3
say slice-block slices.h5 warp.h5 --layout warp
more slice-block slices.h5 --table
say tdbem-march warp.h5 sphere.hdf run.h5 --steps 60 --emitter plane:dir=0,0,1:width=2:delay=20 --allow short-pulse --allow loud-start
say incident sphere.hdf loads.h5 --like slices.h5 --steps 60 --source plane:dir=0,0,1:width=2:delay=20 --allow short-pulse --allow loud-start
more tdbem-march warp.h5 sphere.hdf played.h5 --steps 60 --incident loads.h5
say probe run.h5 sphere.hdf far.h5 --directions 3
say spectrum far.h5 response.h5 --frequencies 0.05
say sphere-exact exact.h5 --like run.h5 --mesh sphere.hdf --quantity hard-surface
say compare run.h5 run.h5
more compare run.h5 run.h5 --norm space-time
say dgtd-setup parts.h5 model.h5 --order 1 --material default:eps=1 --material 2:eps=2,rho=1000,sigma=.1 --boundary outer:absorbing --allow absorbing-losses \
    --source current:at=.3,.5,.5:axis=0,0,1:radius=.2:moment=1e-12:shape=ramp:width=20ns:frequency=100e6 --allow cut
say dgtd-march model.h5 dgtd.h5 --periods 3 --frequency 100e6 --transform-periods 1 --probe .5,.4,.3 --allow part-periods
"$BUILD/tests-programs/phasors_sample" sphere 3 4 mesh.hdf phasors.h5 || fail "sample"
say dgtd-sar phasors.h5 mesh.hdf sar.hdf --grid .005 --at .001,.002,.003
say dgtd-far phasors.h5 mesh.hdf dgtd-far.h5 --directions 4
penstock-mesh-box -q line.hdf --cells 2 > /dev/null && penstock-mesh-partition -q line.hdf line.h5 > /dev/null || fail "line"
more dgtd-setup line.h5 line.model.h5 --order 1 --material default:eps=1 --boundary 105:pec --boundary 106:pec --boundary outer:pmc \
    --port end:faces=101:r=377:width=20ns
more dgtd-march line.model.h5 line.run.h5 --time 400ns --device cpu
say dgtd-ports line.run.ports.h5 line.s.h5 --frequencies 10e6
say dgtd-sphere mie.h5 --radius .02 --eps 4 --quantity far --like dgtd-far.h5
say particle-import --generate ellipsoid --count 3000 particles.h5
say octree-build particles.h5 tree.h5
say fmm tree.h5 potentials.h5 --order 3 --check 20 --trace tasks.h5
more fmm tree.h5 accurate.h5 --accuracy 1e-2 --host-memory 200M
say gravity-model prism.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 17,17,9
say gravity-assemble prism.hdf load.hdf
say schwarz-solve load.hdf potential.hdf --slabs 2
say gravity-anomaly potential.hdf map.h5 --model prism.hdf --profile 0,0,5e3,0,0,3
say transmission-optimize conditions.h5 --range 0.02,4 --kind oo2
say cluster-build sphere.hdf clusters.h5
say hmatrix-assemble clusters.h5 slp.h5 --epsilon 1e-3
say hbem-solve sphere.hdf clusters.h5 solution.hdf --wavenumber 1 --direction 1,0,0
say hbem-field solution.hdf field.h5 --directions 4
echo "-1 1 -2 2 -3 3 1" > prisms.txt
echo "4 1 -2" > stations.txt
say prism-field prisms.txt stations.txt prisms.h5 --field gradients --gravity 1e-9
printf 'ncols 2\nnrows 2\nxllcorner 7\nyllcorner 45\ncellsize .01\n30 40\n10 -20\n' > model.asc
say terrain-import model.asc terrain.h5 --coordinates geographic --stations above:1m
printf '4 4 2\n0 0 0\n4*100\n4*100\n2*100\n' > cells.msh
awk 'BEGIN { print 16; for (i = 0; i < 16; ++i) print 50 + 100 * (i % 4), 50 + 100 * int(i / 4), 5, .3 / (1 + (i % 4 - 1) ^ 2 + (int(i / 4) - 1) ^ 2), .02 }' > observed.txt
say gravity-invert observed.txt cells.msh inverted.h5 --regularisation 1e-9
say spmv-bench --gravi 0 --least-time 1e-4 --limit 3 --device cpu
say verify run.h5 slp.h5
for file in slices.h5 warp.h5 run.h5 model.h5 slp.h5 clusters.h5 tree.h5 tasks.h5 run.workers.h5; do
    [ -e $file ] || continue
    more inspect $file --histogram
done
say inspect run.h5
if command -v gnuplot > /dev/null; then say report run.h5 sphere.hdf --output page.html; else penstock-report --figures --json > report.schema.json; fi
say help
penstock-plot --figures --json > plot.schema.json
[ "$(ls ./*.schema.json | wc -l)" -eq "$(grep -vc '^ *\(#\|$\)' "$ROOT/programs.list")" ] ||
    fail "figures of $(ls ./*.schema.json | wc -l) programs"

# One name for the whole time and for memory, and one way to spell units.
for program in tdbem-march dgtd-march fmm schwarz-solve hbem-solve; do
    for figure in time peak_memory; do
        grep -q "^{[^{]*\"$figure\": [0-9]" $program.json || fail "$program does not tell its $figure: $(cat $program.json)"
    done
    grep -q "^{[^{]*\"memory\": [0-9]" $program.plan.json || fail "$program --plan does not tell memory: $(cat $program.plan.json)"
done

# The schemas are schemas, and what was printed keeps to them; what does not is found.
python3 - <<'PYTHON'
import glob
import json
import sys
for name in glob.glob("*.json"):
    def once(pairs):
        names = [n for n, _ in pairs]
        assert len(names) == len(set(names)), f"{name}: a name stands twice: {names}"
        return dict(pairs)
    text = open(name).read()
    if text.strip():
        json.loads(text, object_pairs_hook=once)
try:
    import jsonschema
except ImportError:
    print("python3-jsonschema is not installed: the schemas are not compared with what was printed")
    sys.exit(0)
checked = 0
for schema_name in glob.glob("*.schema.json"):
    program = schema_name.split(".")[0]
    schema = json.load(open(schema_name))
    validator = jsonschema.validators.validator_for(schema)
    validator.check_schema(schema)
    for name in glob.glob(program + ".*json"):
        text = open(name).read()
        if name == schema_name or not text.strip():
            continue
        faults = [f"{'/'.join(map(str, f.path))}: {f.message}" for f in validator(schema).iter_errors(json.loads(text))]
        assert not faults, f"{name}: {faults[:5]}"
        checked += 1
    assert list(validator(schema).iter_errors({"time": "long"})), f"{schema_name} takes text for a time"
    assert list(validator(schema).iter_errors({"unheard-of": 1})) or program in ("inspect", "verify", "help", "compare"), schema_name
assert checked > 50, checked
print(checked, "reports keep to their schemas")
PYTHON
[ $? -eq 0 ] || fail "a report does not keep to its schema"
echo passed
