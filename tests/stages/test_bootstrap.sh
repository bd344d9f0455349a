# bootstrap: asks apt for exactly what is missing, and says what it cannot do. apt-get, dpkg-query
# and the rest are stand-ins here, so nothing is installed.
set -eu
. "$ROOT/tests/stages/lib.sh"
stub() { printf '#!/bin/sh\n%s\n' "$2" > "stubs/$1"; chmod +x "stubs/$1"; }
mkdir stubs
for tool in sh sed tr cat dirname env make nproc; do ln -s "$(command -v $tool)" stubs/$tool; done
stub id 'echo 0'
stub dpkg-query 'case $* in *gcc|*libzstd-dev) printf not-installed; exit 1 ;; *) printf installed ;; esac'
stub apt-get 'echo "$DEBIAN_FRONTEND: $*" >> apt.log; exit ${APT_EXIT:-0}'
sed -i "s|apt.log|$PWD/&|" stubs/apt-get
run() { env PATH="$PWD/stubs" "$@" "$ROOT/bootstrap" $command > said 2>&1; }

command=deps
run || fail "deps failed: $(cat said)"
grep -q '^noninteractive: .*update$' apt.log || fail "no update: $(cat apt.log)"
grep -q '^noninteractive: .*-y --no-install-recommends .*install gcc libzstd-dev$' apt.log ||
    fail "other packages: $(cat apt.log)"
[ "$(wc -l < apt.log)" -eq 2 ] || fail "too many calls: $(cat apt.log)"

rc=0; run APT_EXIT=100 || rc=$?
[ $rc -eq 1 ] && grep -q 'apt-get update failed: is there a network' said || fail "rc $rc: $(cat said)"

stub id 'echo 1000'
rc=0; run || rc=$?
[ $rc -eq 1 ] && grep -q 'needs root, and there is no sudo.*apt-get' said || fail "rc $rc: $(cat said)"
stub sudo 'echo "sudo $*" >> sudo.log; exec "$@"'
sed -i "s|sudo.log|$PWD/&|" stubs/sudo
run || fail "with sudo: $(cat said)"
grep -q '^sudo env DEBIAN_FRONTEND=noninteractive apt-get .*install gcc libzstd-dev$' sudo.log ||
    fail "sudo: $(cat sudo.log)"

rm apt.log
stub dpkg-query 'printf installed'
run || fail "nothing missing: $(cat said)"
[ ! -e apt.log ] || fail "apt-get was called for nothing: $(cat apt.log)"
rm stubs/dpkg-query
run && grep -q 'no Debian here' said || fail "elsewhere: $(cat said)"

command=frobnicate
rc=0; run || rc=$?
[ $rc -eq 2 ] && grep -q 'bootstrap check' said || fail "a wrong word: rc $rc: $(cat said)"
command=
run && grep -q 'bootstrap demo' said || fail "help: $(cat said)"

# What tests alone need is installed for check, and not waited for: make runs without it.
stub dpkg-query 'case $* in *chromium) printf not-installed; exit 1 ;; *) printf installed ;; esac'
printf '#!/bin/sh\necho "make $*" >> %s/make.log\n' "$PWD" > stubs/make-stub; chmod +x stubs/make-stub; ln -sf make-stub stubs/make
command=check
run APT_EXIT=100 || fail "check does not go on without chromium: $(cat said)"
grep -q 'some tests will be skipped' said && grep -q 'check' make.log || fail "check without chromium: $(cat said)"
command=deps
rm -f apt.log; run || fail "deps with chromium missing"
[ ! -e apt.log ] || fail "deps installs what tests alone need: $(cat apt.log)"

# Every line of the lists is "package # why".
for list in "$ROOT"/debian-packages*.txt; do
    ! grep -vE '^(#.*|[a-z0-9.+-]+ +# .+)$' "$list" || fail "an odd line in $list"
done

# What library/needed finds for the demonstration is all that its programs need of the library: no name that another object of the
# library defines is left open.
cd "$ROOT"
list=$OLDPWD/needed
programs=$(grep -oh 'penstock-[a-z-]*' cases/tdbem-aircraft/Makefile | sort -u | sed 's/penstock-//')
sources=$(for program in $programs; do
    path=$(awk -F ' *[|] *' -v name="$program" '$1 == name { print $3 }' programs.list)
    find "$path" "$path.c" -name '*.c' 2> /dev/null || true
done)
objects_of() { # for each source the objects that are made of it
    while read -r path; do
        case $path in
            kernels/*_cpu.c) ls "$BUILD/${path%.c}".*.o ;;
            *.cu) echo "$BUILD/$path.o" ;;
            *) echo "$BUILD/${path%.c}.o" ;;
        esac
    done
}
library=$(find runtime formats kernels stage -name '*.c' ! -name h5zstd_plugin.c ! -name mpi_adapter.c)
[ -z "$(find "$BUILD/kernels" -name "*_cuda.cu.o" -print -quit)" ] || library="$library $(find runtime kernels -name "*_cuda.cu")"
# shellcheck disable=SC2086
{
    printf '%s\n' $library | library/needed $sources > "$list"
    objects_of < "$list" > "$list.objects"
    printf '%s\n' $library | objects_of | grep -vxFf "$list.objects" > "$list.left"
    names() { xargs nm "$@" 2> /dev/null | awk 'NF > 1 { print $NF }' | sort -u; }
    { cat "$list.objects"; printf '%s\n' $sources | objects_of; } | names -u > "$list.wants"
    names -g --defined-only < "$list.objects" > "$list.has"
    names -g --defined-only < "$list.left" > "$list.elsewhere"
}
open=$(comm -12 "$list.wants" "$list.elsewhere" | comm -23 - "$list.has")
[ -z "$open" ] || fail "library/needed leaves out what the demonstration's programs need: $open"
[ "$(wc -l < "$list.left")" -gt "$(($(wc -l < "$list.objects") / 2))" ] || fail "library/needed leaves out little: $(wc -l < "$list.left") objects"
