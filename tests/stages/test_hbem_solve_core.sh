# penstock-hbem-solve with matrices assembled in memory: bit for bit what it solves with matrices from files,
# for all problems, several wave numbers, both precisions; what is refused.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hmatrix-assemble cluster-build mesh-surface compare
export OMP_NUM_THREADS=2
# Leaves of 12, so that so small a sphere has far blocks; bits are the same whatever the accuracy.
expect 0 "" penstock-mesh-surface s.hdf --divisions 5
expect 0 "" penstock-cluster-build s.hdf c.h5 --leaf 12
expect 0 "" penstock-cluster-build s.hdf c0.h5 --test p0 --leaf 12
expect 0 "" penstock-cluster-build s.hdf c10.h5 --test p1 --trial p0 --leaf 12
how="--chunk-size 64K --force-coarse --device cpu --epsilon 1e-2 --rules 1e-2"
solve="penstock-hbem-solve s.hdf"
assemble() { expect 0 "" penstock-hmatrix-assemble "$1" "$2" --operator "$3" $how "${@:4}"; }
same() { # WHAT
    expect 0 "" penstock-compare core.hdf files.hdf --no-attributes
    rm core.hdf files.hdf
}

# ---- scattering ----
for k in 3 5; do
    for o in dlp hyps; do assemble c.h5 $o-$k.h5 $o --wavenumber $k --precision fp32 --skeleton; done
done
waves="--azimuths 0,90,3 --device cpu"
expect 0 "" $solve c.h5 core.hdf $waves --wavenumber 5 --wavenumber 3 --precision fp32 --skeleton $how
[ "$(figure wavenumbers)" = 2 ] && [ "$(figure unknowns)" = 102 ] || fail "two wave numbers"
within "$(figure assembly_time)" 1e-4 60 "seconds of assembling"
expect 0 "" $solve dlp-3.h5 hyps-3.h5 dlp-5.h5 hyps-5.h5 files.hdf $waves
same "two wave numbers, single"
for o in dlp hyps; do assemble c.h5 $o.h5 $o --wavenumber 3; done
expect 0 "" $solve c.h5 core.hdf $waves --wavenumber 3 $how
expect 0 "is up to date" $solve c.h5 core.hdf $waves --wavenumber 3 $how
expect 0 "" $solve dlp.h5 hyps.h5 files.hdf $waves
same "double"

# ---- Laplace ----
laplace() { # CLUSTERS.. : MATRICES.. : OPTIONS..
    local clusters=() matrices=()
    while [ "$1" != : ]; do clusters+=("$1"); shift; done
    shift
    while [ "$1" != : ]; do matrices+=("$1"); shift; done
    shift
    expect 0 "" $solve "${clusters[@]}" core.hdf "$@" $how
    expect 0 "" $solve "${matrices[@]}" files.hdf "$@" --device cpu
    same "$*"
}
for o in slp dlp adlp hyps; do assemble c.h5 $o-0.h5 $o; done
assemble c0.h5 slp-p0.h5 slp
assemble c10.h5 adlp-10.h5 adlp
dirichlet="--problem dirichlet --data point:0,0.1,0.2"
neumann="--problem neumann --data point:0,0.1,0.2"
laplace c.h5 : slp-0.h5 : $dirichlet --form indirect
laplace c0.h5 : slp-p0.h5 : $dirichlet --form indirect
laplace c.h5 : slp-0.h5 dlp-0.h5 : $dirichlet
laplace c.h5 : hyps-0.h5 adlp-0.h5 : $neumann
laplace c.h5 c10.h5 : hyps-0.h5 adlp-10.h5 : $neumann
laplace c.h5 : adlp-0.h5 : $neumann --form indirect

# ---- ranks share the leaves: other sums, the same solution ----
if command -v mpirun > run.log; then
    expect 0 "" mpirun -n 2 $solve c.h5 core.hdf $waves --wavenumber 3 $how
    expect 0 "" $solve dlp.h5 hyps.h5 files.hdf $waves
    penstock-compare core.hdf files.hdf --no-attributes > out 2> err
    awk 'NF == 1 { s = $1 } s == "/solutions/double" && $1 == "relative_l2" { n++; bad += !($2 < 1e-8) } END { exit bad || !n }' out ||
        fail "two ranks: $(cat out)"
    rm core.hdf files.hdf
fi

# ---- plans, and what is refused ----
expect 0 "matrices" $solve c.h5 no.hdf $waves --wavenumber 3 $how --plan
expect 2 "no --wavenumber" $solve c.h5 no.hdf $waves
expect 2 "not above 0" $solve c.h5 no.hdf $waves --wavenumber 0
expect 2 "go with clusters" $solve dlp.h5 hyps.h5 no.hdf $waves --wavenumber 3
expect 2 "go with clusters" $solve dlp.h5 hyps.h5 no.hdf $waves --precision fp32
expect 2 "is asked for twice" $solve c.h5 no.hdf $waves --wavenumber 3 --wavenumber 3 $how
expect 2 "--wavenumber goes with --problem hard" $solve c.h5 no.hdf $dirichlet --wavenumber 3
expect 2 "this problem takes one" $solve c.h5 c10.h5 no.hdf $waves --wavenumber 3
expect 3 "hyps.h5" $solve c.h5 hyps.h5 no.hdf $neumann $how
expect 3 "too coarse" $solve c.h5 no.hdf $waves --wavenumber 30
expect 3 "p1 and p1 are needed" $solve c0.h5 no.hdf $waves --wavenumber 3 $how
expect 4 "penstock-hmatrix-assemble" $solve c.h5 no.hdf $waves --wavenumber 3 $how --host-memory 1500K
expect 0 "" penstock-mesh-surface other.hdf --divisions 5 --radius 2
expect 3 "another mesh" penstock-hbem-solve other.hdf c.h5 no.hdf $waves --wavenumber 3 $how
expect 75 "stopped" $solve c.h5 no.hdf $waves --wavenumber 3 $how --stop-after 0.001
expect 0 "" $solve c.h5 no.hdf $waves --wavenumber 3 $how
rm no.hdf
[ -z "$(ls no.hdf* 2> ls.err)" ] || fail "something was left behind: $(ls no.hdf*)"
