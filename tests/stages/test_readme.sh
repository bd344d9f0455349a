# Every command of the README runs as it stands, its Python too; the examples of every --help are accepted by the program.
. "$ROOT/tests/stages/lib.sh"
needs mesh-import slice-assemble slice-block tdbem-march probe spectrum plot verify report gravity-model schwarz-solve gravity-anomaly
command -v gnuplot >/dev/null || { echo "gnuplot is not installed"; exit 77; }

# ---- the README, in a folder beside its cases/ ----
mkdir readme && cd readme && ln -s "$ROOT/cases" cases
sed -n 's/^    \(penstock .*\)/\1/p' "$ROOT/README.md" > run.sh
[ "$(wc -l < run.sh)" -ge 14 ] || fail "the README has only $(wc -l < run.sh) commands"
bash -e run.sh > log 2>&1 || { tail -n 5 log; fail "a command of the README"; }
for made in polar.png report.html map.png; do [ -s "$made" ] || fail "the README's commands made no $made"; done
for verb in $(sed -n 's|^ *\./bootstrap \([a-z]*\).*|\1|p' "$ROOT/README.md"); do
    "$ROOT/bootstrap" help | grep -q "bootstrap $verb " || fail "./bootstrap $verb is not what bootstrap knows"
done
for target in $(grep -o '`make [a-z-]*' "$ROOT/README.md" | cut -d ' ' -f 2); do
    grep -qE "^([a-z-]+ )*$target( [a-z-]+)*:" "$ROOT/Makefile" || fail "make $target is no target"
done
if python3 -c 'import numpy' 2> /dev/null; then
    sed -n '/^      import penstock/,/^$/s/^ *//p' "$ROOT/README.md" > run.py
    PENSTOCK_BIN=$BUILD/bin PENSTOCK_LIBRARY=$BUILD/lib/libpenstock.so PYTHONPATH=$ROOT/python PYTHONDONTWRITEBYTECODE=1 \
        python3 run.py > log 2>&1 || { tail -n 5 log; fail "the README's Python"; }
fi
cd ..

# ---- --help: each example with --plan, without its files: options and values are taken, a missing file is the only complaint ----
mkdir examples && cd examples
count=0
for program in "$BUILD"/bin/penstock-*; do
    "$program" --help | sed -n '/^examples:/,$s/^  //p' | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta' > lines
    while read -r line; do
        line=$(sed 's/^mpirun -n [0-9]* //; s/ > .*//' <<< "$line")
        case $line in penstock-help* | "penstock help"*) plan= ;; *) plan=--plan ;; esac
        eval "set -- $line"
        timeout 60 "$@" $plan > log 2>&1
        code=$?
        case $code in
            0 | 4) ;; # 4: this machine has too little for it
            *) grep -qE "No such file|cannot be opened|there is no CUDA device" log || { tail -n 3 log; fail "an example of $(basename "$program") ends with $code: $line"; } ;;
        esac
        count=$((count + 1))
    done < lines
done
[ $count -ge 90 ] || fail "only $count examples"
[ -z "$(ls | grep -v -e '^lines$' -e '^log$')" ] || fail "a plan wrote $(ls)"
echo "$count examples"
