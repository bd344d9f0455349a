# check-callers passes on the repository, and finds a function that nothing but tests calls.
. "$ROOT/tests/stages/lib.sh"
"$ROOT/tests/check-callers" || fail "functions that only tests call"
mkdir -p tree/runtime
printf 'int ps_used(int a);\nint ps_idle(int a);\n' > tree/runtime/a.h
printf 'int ps_used(int a)\n{\n    return a;\n}\nint ps_idle(int a)\n{\n    return a;\n}\n' > tree/runtime/a.c
printf 'int main(void)\n{\n    return ps_used(1);\n}\n' > tree/runtime/b.c
expect 1 "nothing but tests calls ps_idle" "$ROOT/tests/check-callers" tree
grep -q ps_used out && fail "a function that is called is told"
echo passed
