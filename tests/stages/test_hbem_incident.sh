# penstock-hbem-solve --incident, velocity:file and velocity@NAME: a plane wave sampled into a file gives what the wave does;
# complex velocities; several vibrations as right-hand sides; files of other meshes and shapes are refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hbem-field cluster-build mesh-surface

clustered s5.hdf c5.h5 --divisions 5
"$BUILD/tests-programs/field_sample" s5.hdf wave.hdf 1.5 || fail field_sample
rough="--force-coarse --radius 1 --rules 1e-3 --epsilon 1e-3"
solve() { # OUTPUT OPTIONS...
    local output=$1
    shift
    expect 0 "" penstock-hbem-solve s5.hdf c5.h5 "$output.hdf" $rough "$@"
    expect 0 "" penstock-hbem-field "$output.hdf" "$output.h5" --incidence all --direction 0,0 --direction 50,30 --direction 143.13,180
}
compare() { # PYTHON with the far fields of a.h5 as an array [incidence][direction]
    /usr/bin/python3 - "$@" <<'P' || fail "$1"
import sys
from hbem_trace import close, values
v = values("a.h5").reshape(-1, 3)
exec(sys.argv[1])
P
}

# ---- a wave, and its samples: of a rigid, a soft and a lined sphere ----
for kind in rigid soft impedance:2,-1; do
    solve a --wavenumber 1.5 --direction .6,0,.8 --boundary others:$kind --incident wave.hdf:p:gradient --incident wave.hdf:p:slope
    compare "close('gradient', v[1], v[0], .02); close('slope', v[2], v[0], .02)"
done
expect 2 "known on the surface alone" penstock-hbem-field a.hdf no.h5 --incidence 0 --at 2,0,0 --quantity total
expect 2 "are of plane waves" penstock-hbem-field a.hdf no.h5 --monostatic
expect 0 "" penstock-hbem-field a.hdf one.h5 --incidence 1 --direction 0,0
penstock-inspect one.h5 | grep -q "value_units  *Pa m$" || fail "units"

# ---- velocities: complex ones, several as right-hand sides, which add up ----
medium="--density 1 --speed 1"
solve a --wavenumber 1.5 $medium --boundary others:velocity:1 --boundary others:velocity@turned:file:wave.hdf:velocity \
    --boundary others:velocity@both:1 --boundary others:velocity@both:file:wave.hdf:velocity
compare "assert len(v) == 3; close('turned', v[1], -1j * v[0], 1e-4); close('both', v[2], v[0] + v[1], 1e-4)"

# ---- refused ----
refused() { expect "$1" "$2" penstock-hbem-solve s5.hdf c5.h5 no.hdf --wavenumber 1.5 --force-coarse "${@:3}"; } # CODE TEXT OPTIONS...
expect 0 "" penstock-mesh-surface other.hdf --divisions 5 --radius 1.1
"$BUILD/tests-programs/field_sample" other.hdf other-wave.hdf 1.5 || fail field_sample
refused 3 "is of another mesh" --incident other-wave.hdf:p:slope
refused 3 "is of another mesh" $medium --boundary others:velocity:file:other-wave.hdf:velocity
refused 3 "has no field \"q\"" --incident wave.hdf:p:q
refused 3 "3 numbers a place" --incident wave.hdf:three:slope
refused 3 "6 numbers a place" --incident wave.hdf:gradient:slope
refused 2 "2 names of fields are expected" --incident wave.hdf
refused 2 "the data are of one wave number" --wavenumber 2 --incident wave.hdf:p:slope
refused 2 "at most 64 names" $medium --boundary others:velocity@a-name-that-is-longer-than-they-are:1
# Without a hash, numbers and places of vertices and triangles are compared.
expect 0 "" penstock-mesh-surface s3.hdf --divisions 3
refused 3 "other numbers of vertices" --incident s3.hdf:p:slope
refused 3 "its vertices lie elsewhere" --incident other.hdf:p:slope
refused 3 "has no field \"p\"" --incident s5.hdf:p:slope
