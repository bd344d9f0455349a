# Every command of the tutorials (docs/tutorials) runs as it stands, in an empty folder a page; what a page checks must hold.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble tdbem-march cluster-build hbem-solve particle-import fmm gravity-model schwarz-solve dgtd-march report
command -v gnuplot >/dev/null || { echo "gnuplot is not installed"; exit 77; }
for page in "$ROOT"/docs/tutorials/*.md; do
    name=$(basename "$page" .md)
    mkdir "$name"
    sed -n '/^```sh$/,/^```$/p' "$page" | grep -v '^```' > "$name/run.sh"
    [ "$(grep -c '^penstock' "$name/run.sh")" -ge 3 ] || fail "$name has no commands"
    (cd "$name" && bash -e run.sh > log 2>&1) || { tail -n 5 "$name/log"; fail "the tutorial $name"; }
done
exit 0
