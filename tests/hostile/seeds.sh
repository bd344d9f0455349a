# seeds FOLDER: small valid files of the formats, by the programs. Sourced; what a program cannot make
# for want of a library (CHOLMOD, say) is left out and said; any other seed that cannot be made is a failure.
seeds() {
    mkdir -p "$1" && cd "$1" || exit 1
    local tool=$BUILD/tests-programs
    made() { "$@" > seed.log 2>&1 || fail "no seed: $*: $(tail -n 1 seed.log)"; }
    may() { "$@" > seed.log 2>&1 || echo "no seed: $*: $(tail -n 1 seed.log)"; }
    printf '%s\n' "-1 1 -2 2 -3 3 1" "2 3 -1 1 -3 1 2" > prisms.txt
    printf '%s\n' "4 1 -2" "5 .5 4" "6 2 7" > stations.txt
    printf '%s\n' "1 1 1 .01 .001" "2 2 1 .02 .001" "3 1 2 .01 .001" > observed.txt
    printf '4 3 2\n0 0 0\n4*1\n3*1\n2*.5\n' > mesh.msh
    printf 'ncols 2\nnrows 2\nxllcorner 500000\nyllcorner 4000000\ncellsize 100\n30 40\n10 -20\n' > model.asc
    made penstock-terrain-import model.asc terrain.h5 --stations above:1m
    made penstock-prism-field prisms.txt stations.txt field.h5
    made penstock-gravity-invert observed.txt mesh.msh model_of_prisms.h5
    made penstock-mesh-surface s.hdf --divisions 3
    made penstock-mesh-box -q box.hdf --cells 4 --size .12 --corner -.06
    made penstock-mesh-partition -q box.hdf box.h5 --parts 4
    made penstock-dgtd-setup -q box.h5 model.h5 --order 1 --material 1:eps=1 --boundary outer:absorbing \
        --source plane:dir=0,0,-1:pol=1,0,0:width=0.5ns:frequency=300e6
    made penstock-mesh-box -q line.hdf --cells 4,2,2 --size .4,.2,.2
    made penstock-mesh-partition -q line.hdf line.h5 --parts 1
    made penstock-dgtd-setup -q line.h5 line.m.h5 --order 1 --material default:eps=2,debye=1/1ns --boundary 101:pmc \
        --boundary 102:pmc --boundary 103:pmc --boundary 104:pmc --boundary 105:pec --boundary 106:pec \
        --port one:faces=101:r=50:width=3ns:frequency=100e6
    made penstock-dgtd-march -q line.m.h5 line.h5.run.h5 --steps 60
    mv line.h5.run.ports.h5 ports.h5; rm line.h5.run.h5
    made penstock-dgtd-march -q model.h5 run.h5 --steps 60 --direction 90,0 --direction 45,30
    made penstock-dgtd-setup -q line.h5 tensor.h5 --order 1 --material default:eps=2/2/1.5 --boundary outer:pec --local-steps auto \
        --source current:at=.1,.1,.1:axis=0,0,1:radius=.05:moment=1e-12:shape=gaussian:width=.8ns
    made penstock-dgtd-setup -q box.h5 wire.h5 --order 2 --material default:eps=2 --boundary outer:absorbing \
        --pml auto:layers=1:reflection=.01 --wire feed:path=0,0,-.02/0,0,.03:at=0,0,0:radius=.001:tube=.02:r=36:width=.8ns:frequency=285e6
    made penstock-particle-import --generate ellipsoid --count 600 --right-hand-sides 2 p.h5
    made penstock-particle-import --generate cube --count 50 --moments charges-and-dipoles moments.h5
    made penstock-octree-build p.h5 tree.h5 --height 3 --box 0,0,0,1 --group 40
    made penstock-fmm tree.h5 fmm.h5 --device cpu --order 3 --trace tasks.h5
    # over the adaptive tree, which particles themselves get
    made penstock-fmm p.h5 adaptive.h5 --device cpu --order 3
    made penstock-fmm moments.h5 adaptive_fields.h5 --device cpu --order 3
    made penstock-octree-build moments.h5 places.h5 --height 3 --group 10
    made penstock-fmm places.h5 fields.h5 --device cpu --order 3
    made penstock-mesh-surface small.hdf --divisions 2
    made penstock-cluster-build small.hdf small.h5 --leaf 8
    made penstock-slice-assemble -q s.hdf slices.h5 --courant 2 --speed 1
    made penstock-slice-block -q slices.h5 blocks.h5
    made penstock-tdbem-march slices.h5 s.hdf history.h5 --steps 10 --emitter plane:dir=0,0,1:width=5
    made penstock-incident s.hdf sound.h5 --like slices.h5 --steps 6 --source plane:dir=0,0,1:width=5
    made penstock-mesh-surface ball.hdf --divisions 1
    made penstock-incident ball.hdf moves.h5 --dt .5 --speed 1 --steps 9 --density 1 --formulation sound-hard \
        --velocity all:width=9:delay=30
    # a wall that gives way; a mirror and two tags of conditions
    local sound="-q --formulation sound-hard --speed 1 --courant 1"
    made penstock-slice-assemble ball.hdf hard.h5 $sound
    made penstock-slice-assemble ball.hdf lining.h5 $sound --lining all
    made penstock-tdbem-march hard.h5 ball.hdf lined.h5 --steps 6 --emitter plane:dir=0,0,1:width=5 --lining lining.h5 \
        --admittance all:b0=.1:pole=.5,.6
    made penstock-slice-assemble ball.hdf mirrored.h5 $sound --mirror 0,0,-1.5:0,0,1:rigid
    made penstock-tdbem-march mirrored.h5 ball.hdf twice.h5 --steps 6 --emitter plane:dir=0,0,-1:width=5
    # a flow that the body turns
    made penstock-incident ball.hdf flow.h5 --like hard.h5 --steps 6 --source monopole:at=0,0,3:width=5 --flow .12,0,.09 --around
    made penstock-tdbem-march hard.h5 ball.hdf turned.h5 --steps 6 --incident flow.h5
    penstock-tdbem-march hard.h5 ball.hdf part.h5 --steps 200000 --emitter plane:dir=0,0,1:width=5 --checkpoint-every 5steps \
        --stop-after .3 > seed.log 2>&1
    [ $? -eq 75 ] && mv "$(printf '%s\n' part.0*.h5 | tail -n 1)" checkpoint.h5 || fail "no seed of a checkpoint"
    rm -f part.*
    made penstock-probe lined.h5 ball.hdf heard.h5 --at 0,0,1.2
    made penstock-probe history.h5 s.hdf trace.h5 --direction 0,0
    made penstock-cluster-build s.hdf clusters.h5 --leaf 16
    made penstock-hmatrix-assemble clusters.h5 matrix.h5 --epsilon 1e-3
    made penstock-hbem-solve s.hdf clusters.h5 laplace.hdf --problem dirichlet --data point:2,0,0
    made penstock-hbem-solve s.hdf clusters.h5 scattered.hdf --wavenumber 1 --direction 0,0,-1 --density 1 --speed 1 --boundary others:impedance:2 \
        --mirror z=-5:soft
    made penstock-gravity-model density.hdf --preset chx-1 --nodes 17,15,11
    may penstock-gravity-assemble density.hdf load.hdf --subdomains sub.h5 --parts 3
    may penstock-schwarz-solve load.hdf potential.hdf
    may penstock-gravity-anomaly potential.hdf map.h5
    made penstock-transmission-optimize transmission.h5 --nodes 21,21,21 --length 1,1,1
    made "$tool/store_sample" sample.h5
    made "$tool/phasors_sample" wave 1 3 phasors.hdf phasors.h5
    made "$tool/phasors_sample" sphere 3 4 sphere.hdf sphere.h5
    made "$tool/task_trace_sample" tasks9.h5 5
    made "$tool/worker_log_sample" workers.h5 6
    cd - > /dev/null
}
