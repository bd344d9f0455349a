"""What the programs are run with when their calls fail, when they are killed and when the power goes away.

Every case is two commands that write OUT: what an older OUT is made with, and the command that is attacked. {s} is the
folder of seeds.sh, {t} that of text_seeds.sh. `keeps` marks those that keep a state and continue; `ranks` runs both over
two ranks; an OUT of "-" is a program that writes no file.
"""
from dataclasses import dataclass

SETUP = "dgtd-setup -q {s}/box.h5 OUT --order 1 --material 1:eps=1 --boundary outer:absorbing "
SOURCE = "--source plane:dir=0,0,-1:pol=1,0,0:width=0.5ns:frequency="
MARCH = "tdbem-march -q {s}/slices.h5 {s}/s.hdf OUT --emitter plane:dir=0,0,1:width=5 --checkpoint-every 2steps "
DGTD = "dgtd-march -q {s}/model.h5 OUT --frequency 300e6 --probe .01,.02,.03 --allow part-periods --allow faint --checkpoint-every 2steps "
SCHWARZ = "schwarz-solve -q {s}/load.hdf OUT --slabs 3 --method sweeps --checkpoint-every 1steps "
HBEM = "hbem-solve -q {s}/small.hdf {s}/small.h5 OUT --problem dirichlet --checkpoint-every 2steps --data "
FMM = "fmm -q {s}/tree.h5 OUT --device cpu --checkpoint-every 1step "
SLICES = "slice-assemble -q {s}/small.hdf OUT --speed 1 --checkpoint-every 1step "
BLOCK = "slice-block -q {s}/slices.h5 OUT --checkpoint-every 1step "
OCTREE = "octree-build {s}/p.h5 OUT --group 40 --checkpoint-every 1step "
INVERT = "gravity-invert -q {s}/observed.txt {s}/mesh.msh OUT --checkpoint-every 2steps "
PORTS = "dgtd-ports -q {s}/ports.h5 OUT --allow undecayed --frequencies "
DATA = ("--dt .5 --speed 1 --density 1 --samples {t}/bell.samples:quantity=pressure:points={t}/bell.places "
        "--panels {t}/flow.panels:pressure={t}/flow.pressures:fluid={t}/flow.fluid")
HMATRIX = "hmatrix-assemble -q {s}/clusters.h5 OUT --chunk-size 4K "


@dataclass
class Case:
    name: str
    old: str
    new: str
    out: str = "out.h5"
    keeps: bool = False
    ranks: bool = False


CASES = [
    Case("mesh-import", "mesh-import -q {t}/cube.off OUT", "mesh-import -q {t}/cube.off OUT --scale 2", "out.hdf"),
    Case("mesh-surface", "mesh-surface OUT --divisions 1", "mesh-surface OUT --divisions 2", "out.hdf"),
    Case("mesh-box", "mesh-box -q OUT --cells 2", "mesh-box -q OUT --cells 3", "out.hdf"),
    Case("mesh-partition", "mesh-partition -q {s}/box.hdf OUT --parts 2", "mesh-partition -q {s}/box.hdf OUT --parts 3"),
    Case("slice-assemble", SLICES + "--courant 3", SLICES + "--courant 2", keeps=True),
    Case("incident", "incident -q {s}/s.hdf OUT --like {s}/slices.h5 --steps 4 --source plane:dir=0,0,1:width=5", "incident -q {s}/s.hdf OUT --like {s}/slices.h5 --steps 9 --source monopole:at=0,0,5:width=5"),
    Case("incident, data", "incident -q {t}/ball.hdf OUT --steps 9 " + DATA, "incident -q {t}/ball.hdf OUT --steps 12 " + DATA),
    Case("slice-block", BLOCK + "--values f16", BLOCK + "--layout full", keeps=True),
    Case("dgtd-setup", SETUP + SOURCE + "200e6", SETUP + SOURCE + "300e6"),
    Case("particle-import", "particle-import --generate cube --count 99 OUT", "particle-import {t}/table.txt OUT"),
    Case("octree-build", OCTREE + "--height 3", OCTREE + "--height 4 --targets {s}/p.h5", keeps=True),
    Case("gravity-model", "gravity-model OUT --preset chx-1 --nodes 7,7,7", "gravity-model OUT --preset chx-1 --nodes 9,9,9", "out.hdf"),
    Case("gravity-assemble", "gravity-assemble -q {s}/density.hdf OUT --source one --boundary zero", "gravity-assemble -q {s}/density.hdf OUT", "out.hdf"),
    Case("transmission-optimize", "transmission-optimize OUT --nodes 11,11,11 --length 1,1,1", "transmission-optimize OUT --nodes 21,21,21 --length 1,1,1"),
    Case("cluster-build", "cluster-build -q {s}/s.hdf OUT --leaf 20", "cluster-build -q {s}/s.hdf OUT --leaf 16"),
    Case("hmatrix-assemble", HMATRIX + "--epsilon 1e-2", HMATRIX + "--epsilon 1e-4", keeps=True),
    Case("tdbem-march", MARCH + "--steps 4", MARCH + "--steps 12", keeps=True),
    Case("dgtd-march", DGTD + "--steps 6", DGTD + "--steps 10", keeps=True),
    Case("dgtd-march, ports", "dgtd-march -q {s}/line.m.h5 OUT --steps 6", "dgtd-march -q {s}/line.m.h5 OUT --steps 10 --checkpoint-every 2steps", keeps=True),
    Case("dgtd-march, state in a file", DGTD + "--state file --steps 6", DGTD + "--state file --steps 10", keeps=True),
    Case("fmm", FMM + "--order 3", FMM + "--order 4", keeps=True),
    Case("schwarz-solve", SCHWARZ + "--tolerance 1e-2", SCHWARZ + "--tolerance 1e-3", "out.hdf", keeps=True),
    Case("hbem-solve", HBEM + "point:3,0,0", HBEM + "point:2,0,0", "out.hdf", keeps=True),
    Case("spmv-bench", "", "spmv-bench {t}/s.mtx --device cpu --least-time 0.0001", "-"),
    Case("gravity-invert", INVERT + "--regularisation 1e-9", INVERT + "--regularisation 1e-8 --bounds 0,9", keeps=True),
    Case("terrain-import", "terrain-import -q {s}/model.asc OUT", "terrain-import -q {s}/model.asc OUT --stations above:1m"),
    Case("prism-field", "prism-field -q {s}/prisms.txt {s}/stations.txt OUT --field gradients", "prism-field -q {s}/prisms.txt {s}/stations.txt OUT"),
    Case("probe", "probe -q {s}/history.h5 {s}/s.hdf OUT --direction 90,0", "probe -q {s}/history.h5 {s}/s.hdf OUT --direction 0,0"),
    Case("spectrum", "spectrum -q {s}/trace.h5 OUT --frequencies 0.05", "spectrum -q {s}/trace.h5 OUT --frequencies 0.1"),
    Case("sphere-exact", "sphere-exact -q OUT --quantity soft-far --like {s}/trace.h5", "sphere-exact -q OUT --quantity hard-far --like {s}/trace.h5"),
    Case("dgtd-sar", "dgtd-sar -q {s}/phasors.h5 {s}/phasors.hdf OUT --grid 0", "dgtd-sar -q {s}/phasors.h5 {s}/phasors.hdf OUT --grid 6e-3 --masses 1", "out.hdf"),
    Case("dgtd-far", "dgtd-far -q {s}/sphere.h5 {s}/sphere.hdf OUT --directions 12", "dgtd-far -q {s}/sphere.h5 {s}/sphere.hdf OUT --directions 36"),
    Case("dgtd-ports", PORTS + "100MHz", PORTS + "100MHz,150MHz --quantity z"),
    Case("dgtd-sphere", "dgtd-sphere -q OUT --radius .02 --pec --frequencies 1e9 --quantity far --directions 12", "dgtd-sphere -q OUT --radius .02 --pec --frequencies 3e9 --quantity far --directions 12"),
    Case("gravity-anomaly", "gravity-anomaly -q {s}/potential.hdf OUT --profile 0,0,20e3,0,0,3", "gravity-anomaly -q {s}/potential.hdf OUT"),
    Case("hbem-field", "hbem-field -q {s}/laplace.hdf OUT --at 3,0,0", "hbem-field -q {s}/laplace.hdf OUT --at 0,0,4"),
    Case("inspect", "", "inspect {s}/slices.h5", "-"),
    Case("verify", "", "verify {s}/slices.h5", "-"),
    Case("compare", "", "compare {s}/trace.h5 {s}/trace.h5", "-"),
    Case("plot", "plot lengths {s}/slices.h5 --output OUT", "plot trace {s}/trace.h5 --output OUT", "out.svg"),
    Case("plot, a page", "", "plot view {s}/s.hdf {s}/history.h5 --output OUT", "out.html"),
    Case("report", "report {s}/trace.h5 --output OUT", "report {s}/trace.h5 {s}/s.hdf --output OUT", "out.html"),
    Case("help", "", "help", "-"),
    Case("slice-assemble, 2 ranks", SLICES + "--courant 3", SLICES + "--courant 2", keeps=True, ranks=True),
    Case("hmatrix-assemble, 2 ranks", HMATRIX + "--epsilon 1e-2", HMATRIX + "--epsilon 1e-4", keeps=True, ranks=True),
    Case("dgtd-march, 2 ranks", DGTD + "--steps 6", DGTD + "--steps 10", keeps=True, ranks=True),
    Case("schwarz-solve, 2 ranks", SCHWARZ + "--tolerance 1e-2", SCHWARZ + "--tolerance 1e-3", "out.hdf", keeps=True, ranks=True),
]
