# How runs end early (specs/stage.md): exit code 75, an earlier output of something else set aside, what the same
# command does next; up to date means the bytes, too.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface

# ---- a program that keeps nothing ends at once; an output of other options becomes .previous ----
make="penstock-mesh-surface ball.hdf"
expect 0 "" $make --divisions 4
cp ball.hdf old.hdf
expect 75 "the same command begins again" $make --divisions 600 --stop-after 0.5
[ ! -e ball.hdf ] && cmp -s ball.hdf.previous old.hdf || fail "an output of other options is still there"
[ -z "$(ls | grep tmp)" ] || fail "something was left behind: $(ls)"
# the output of the same options stays
cp old.hdf ball.hdf
expect 75 "" $make --divisions 4 --force --stop-after 0.0001
cmp -s ball.hdf old.hdf || fail "an output of the same options went"
# nothing goes on after a stop
$make --divisions 600 --stop-after 0.5 -q && fail "a && b went on"

# ---- an output whose bytes have rotted is not up to date ----
expect 0 "" $make --divisions 30 --force
expect 0 "is up to date" $make --divisions 30
cp ball.hdf good.hdf
printf 'rotten' | dd of=ball.hdf bs=1 seek=$(($(stat -c %s ball.hdf) / 2)) conv=notrunc 2> /dev/null
expect 0 "is up to date" $make --divisions 30 --trust
expect 0 "it is made again" $make --divisions 30
expect 0 "" penstock-compare ball.hdf good.hdf --tolerance 0
expect 2 "give one of them" $make --divisions 30 --fresh --restart

# ---- an unfinished run of another option is refused by name, and thrown away with --fresh alone ----
if command -v penstock-hbem-solve > /dev/null; then
    clustered s.hdf c.h5 --divisions 10
    solve="penstock-hbem-solve s.hdf c.h5 o.hdf --direction 1,0,0 --wavenumber 2 --device cpu"
    expect 75 "the same command continues" $solve --stop-after 0.001 --checkpoint-every 1step
    for how in "" --force --restart; do
        expect 2 'had tolerance "1.0000000000000001e-05", now it is "0.0001"' $solve --tolerance 1e-4 $how
    done
    [ -n "$(ls o.hdf.batch*)" ] || fail "the unfinished run was thrown away"
    expect 0 "" $solve --tolerance 1e-4 --fresh
    [ -z "$(ls | grep o.hdf.batch)" ] || fail "checkpoints are left"
    # whoever reads what it says may go before it ends
    { $solve --fresh > out; echo $? > code; } 2>&1 | true
    is converged yes && [ "$(cat code)" -eq 0 ] || fail "messages that nobody reads ended it with $(cat code)"
fi
