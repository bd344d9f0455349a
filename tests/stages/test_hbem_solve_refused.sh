# penstock-hbem-solve: what is refused: files that do not belong together, options, data.
. "$ROOT/tests/stages/lib.sh"
needs hbem-solve hmatrix-assemble cluster-build mesh-surface

clustered s.hdf c.h5 --divisions 5
for o in dlp hyps; do
    expect 0 "" penstock-hmatrix-assemble c.h5 $o.h5 --operator $o --wavenumber 3 --chunk-size 16K --force-coarse
done
solve="penstock-hbem-solve s.hdf dlp.h5 hyps.h5"

expect 0 "" penstock-mesh-surface other.hdf --divisions 5 --radius 2
expect 3 "another mesh" penstock-hbem-solve other.hdf dlp.h5 hyps.h5 no.hdf --direction 0,0,1
expect 2 "hyps at k = 3 is missing" penstock-hbem-solve s.hdf dlp.h5 no.hdf --direction 0,0,1
expect 2 "both the operator dlp" penstock-hbem-solve s.hdf dlp.h5 dlp.h5 hyps.h5 no.hdf --direction 0,0,1
expect 0 "" penstock-hmatrix-assemble c.h5 dlp4.h5 --operator dlp --wavenumber 4 --force-coarse
expect 2 "is missing" penstock-hbem-solve s.hdf dlp4.h5 hyps.h5 no.hdf --direction 0,0,1
expect 0 "" penstock-cluster-build s.hdf c16.h5 --leaf 16 --order morton
expect 0 "" penstock-hmatrix-assemble c16.h5 hyps16.h5 --operator hyps --wavenumber 3 --force-coarse
expect 3 "another order of the space p1" penstock-hbem-solve s.hdf dlp.h5 hyps16.h5 no.hdf --direction 0,0,1
expect 2 "needs no matrix of the operator dlp" $solve no.hdf --problem neumann --data value:1
expect 0 "" penstock-cluster-build s.hdf c0.h5 --test p0
expect 0 "" penstock-hmatrix-assemble c0.h5 dlp0.h5 --operator dlp --wavenumber 3 --force-coarse
expect 3 "p1 and p1 are needed" penstock-hbem-solve s.hdf dlp0.h5 hyps.h5 no.hdf --direction 0,0,1
expect 2 "no incident wave" $solve no.hdf
expect 2 "is no direction" $solve no.hdf --direction 0,0,0
expect 2 "is not X,Y,Z" $solve no.hdf --direction 0,1
expect 2 "is not X,Y,Z" $solve no.hdf --direction nan,0,1
printf '0 0 1\n1 x 0\n' > bad
expect 3 "bad, line 2" $solve no.hdf --directions bad
expect 2 "go with --problem hard" $solve no.hdf --direction 0,0,1 --problem dirichlet
expect 2 "--solver cg" $solve no.hdf --direction 0,0,1 --solver cg
expect 0 "" penstock-hmatrix-assemble c.h5 slp.h5 --operator slp
laplace="penstock-hbem-solve s.hdf slp.h5 no.hdf --problem dirichlet --form indirect"
expect 2 "no boundary data" $laplace
expect 2 "is none of" $laplace --data source:1
expect 2 "is not X,Y,Z" $laplace --data value:1 --data point:0,0,inf
expect 3 "k is 3" penstock-hbem-solve s.hdf dlp.h5 slp.h5 no.hdf --problem dirichlet --data value:1
expect 0 "" penstock-hmatrix-assemble c.h5 adlp.h5 --operator adlp
expect 3 "must vanish" penstock-hbem-solve s.hdf adlp.h5 no.hdf --problem neumann --side interior --form indirect --data value:1
command -v nvidia-smi > /dev/null || expect 1 "CUDA" $solve no.hdf --direction 0,0,1 --device cuda
head -c 3000 dlp.h5 > cut.h5
expect 3 "cut.h5" penstock-hbem-solve s.hdf cut.h5 hyps.h5 no.hdf --direction 0,0,1
mv dlp.part0002.h5 away.h5
expect 3 "chunk 2" $solve no.hdf --direction 0,0,1
