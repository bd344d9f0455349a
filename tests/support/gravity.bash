# What the stage tests of gravity share. Sourced, after lib.sh; the work folder is the current one.

# assembled MODEL LOAD OPTIONS..: by gravity-assemble, whose figures stay in ./out; without FFTW the test is skipped.
assembled() {
    penstock-gravity-assemble "$@" > out 2> err && return
    grep -q "need FFTW" err && { echo "built without FFTW"; exit 77; }
    cat err
    fail "gravity-assemble"
}
values() { h5dump -d /VTKHDF/PointData/potential -b LE -o raw "$1" > /dev/null && md5sum < raw; }
same() { [ "$(values "$1")" = "$(values "$2")" ] || fail "the potentials of $1 and $2 differ"; }
