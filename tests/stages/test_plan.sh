# What solvers hold: never more than --host-memory, or a refusal that says the least; --plan tells it within 10 %
# and 8 MB (code that is loaded only later, heaps of threads), never too little; which threads hold memory at the same moment
# differs from run to run, so the largest of up to four counts. Budgets: all that the plan wants, its least, the
# middle of both (once for a program), and too little. A clean input and an ugly one each. Every program that writes a file tells with
# --plan memory, disk, and time or what that would need.
. "$ROOT/tests/stages/lib.sh"
needs mesh-surface slice-assemble tdbem-march mesh-box mesh-partition dgtd-setup dgtd-march particle-import octree-build \
    fmm gravity-model gravity-assemble schwarz-solve cluster-build hmatrix-assemble hbem-solve

made penstock-mesh-surface ball.hdf --divisions 12
made penstock-mesh-surface flat.hdf --shape box --size 1,1,.05 --divisions 17
made penstock-mesh-surface small.hdf --divisions 8
made penstock-slice-assemble ball.hdf ball.h5 --courant 2 --speed 1 --points 3
made penstock-slice-assemble flat.hdf flat.h5 --courant 2 --speed 1 --points 3
made penstock-slice-assemble small.hdf hard.h5 --formulation sound-hard --courant 1 --speed 1 --points 3
made penstock-slice-assemble small.hdf lining.h5 --formulation sound-hard --courant 1 --speed 1 --points 3 --lining all
made penstock-mesh-box box.hdf --cells 20
made penstock-mesh-partition box.hdf box.h5 --order layers
made penstock-mesh-box long.hdf --cells 100,9,9 --size 10,1,.5 --shake .25
made penstock-mesh-partition long.hdf long.h5 --order layers
for mesh in box long; do
    made penstock-dgtd-setup $mesh.h5 $mesh.model.h5 --order 2 --material default:eps=1 --boundary outer:pec --source mode:n=1,1,0:amplitude=0,0,1
done
made penstock-dgtd-setup box.h5 wire.model.h5 --order 2 --material default:eps=1 --boundary outer:absorbing \
    --wire feed:path=.5,.5,.35/.5,.5,.65:at=.5,.5,.5:radius=.001:tube=.08:r=36:width=.8ns:frequency=285e6
made penstock-dgtd-setup long.h5 ports.model.h5 --order 2 --material default:eps=2 --boundary 103:pmc --boundary 104:pmc --boundary 105:pec \
    --boundary 106:pec --boundary 101:pmc --boundary 102:pmc --port one:faces=101:r=50:width=3ns:frequency=100e6 --port two:faces=102:r=50
made penstock-particle-import --generate cube --count 200000 even.h5
made penstock-particle-import --generate plummer --count 100000 rim.h5
made penstock-particle-import --generate plummer --count 140000 spill.h5 # a chunk of results, and a little of another
made penstock-particle-import --generate cube --count 100000 --moments charges-and-dipoles moments.h5
made penstock-octree-build moments.h5 moments.tree.h5
made penstock-octree-build even.h5 even.tree.h5 --group 400
made penstock-octree-build rim.h5 rim.tree.h5 --group 400
made penstock-gravity-model cube.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 97,65,65
made penstock-gravity-model rod.hdf --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 401,33,17
made penstock-gravity-assemble cube.hdf cube.load.hdf
made penstock-gravity-assemble rod.hdf rod.load.hdf
made penstock-cluster-build ball.hdf ball.clusters.h5
made penstock-cluster-build flat.hdf flat.clusters.h5
made penstock-cluster-build small.hdf small.clusters.h5
made penstock-hmatrix-assemble ball.clusters.h5 ball.slp.h5 --mode dense --chunk-size 4M

made penstock-schwarz-solve cube.load.hdf cube.load.hdf.u
made penstock-tdbem-march ball.h5 ball.hdf ball.march.h5 --steps 40 --emitter plane:dir=0,0,1:width=.5:delay=1 --allow short-pulse --allow loud-start
made penstock-probe ball.march.h5 ball.hdf ball.trace.h5 --at 0,0,3
made penstock-hmatrix-assemble small.clusters.h5 small.slp.h5 --mode dense
made penstock-hbem-solve small.hdf small.slp.h5 small.solution.h5 --problem dirichlet --form indirect --data point:0,0,0.2
# Two threads write, one of them a chunk that is zeros but for 8,928 rows: measured 47.8 to 51.3 MB in all with 21.9 of them.
[ "$(nproc)" -lt 2 ] || within "$(OMP_NUM_THREADS=2 penstock-fmm spill.h5 --accuracy 1e-3 --tree uniform --plan -q | awk '$1 == "writing" { print $2 }')" \
    20e6 23e6 "bytes of writing of fmm spill.h5"
echo "-1 1 -2 2 -3 3 1" > prisms.txt
echo "4 1 -2" > stations.txt
awk 'BEGIN { printf "ncols 300\nnrows 300\nxllcorner 5e5\nyllcorner 4e6\ncellsize 10\n"
    for (j = 0; j < 300; ++j) { for (i = 0; i < 300; ++i) printf "%g ", 50 + i % 7 + j % 5; print "" } }' > model.asc

python3 - <<'PYTHON' || exit 1
import json
import os
import resource
import subprocess
import sys
import tempfile

MORE = 8 << 20  # what libraries and the heaps of threads take more or less, whatever the input is


def used():
    """Seconds of processors of what was run."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command):
    """Exit code, peak of resident memory, what was printed and said."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
            (os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, err.fileno(), 2)])
        _, status, usage = os.wait4(pid, 0)
        out.seek(0), err.seek(0)
        return os.waitstatus_to_exitcode(status), usage.ru_maxrss * 1024, out.read().decode(), err.read().decode()


wave = "--steps 40 --emitter plane:dir=0,0,1:width=.5:delay=1 --allow short-pulse --allow loud-start"
commands = [
    "slice-assemble ball.hdf {} --courant 2 --speed 1 --points 3",
    "slice-assemble flat.hdf {} --courant 2 --speed 1 --points 3",
    f"tdbem-march ball.h5 ball.hdf {{}} {wave}",
    f"tdbem-march flat.h5 flat.hdf {{}} {wave}",
    f"tdbem-march ball.hdf {{}} --courant 2 --speed 1 --points 3 {wave}",
    f"tdbem-march flat.hdf {{}} --courant 2 --speed 1 --points 3 {wave}",
    "dgtd-march box.model.h5 {} --steps 6",
    "dgtd-march long.model.h5 {} --steps 6 --frequency 1e8 --allow part-periods",
    "fmm even.tree.h5 {} --order 3",
    "fmm rim.tree.h5 {} --accuracy 1e-3 --tree uniform",
    "fmm rim.tree.h5 {} --accuracy 1e-3 --tree adaptive",
    "fmm spill.h5 {} --order 3",
    f"tdbem-march hard.h5 small.hdf {{}} {wave} --lining lining.h5 --admittance all:b0=.1:pole=.5,.6",
    "dgtd-march wire.model.h5 {} --steps 6",
    "dgtd-march ports.model.h5 {} --steps 6",
    "fmm moments.tree.h5 {} --accuracy 1e-3",
    "octree-build even.h5 {} --group 400",
    "octree-build even.h5 {} --height 5 --targets rim.h5",
    "schwarz-solve cube.load.hdf {}",
    "schwarz-solve rod.load.hdf {} --slabs 16 --method sweeps --tolerance 1e-3",
    "schwarz-solve rod.load.hdf {} --slabs 16 --method gmres",
    "hmatrix-assemble ball.clusters.h5 {} --mode dense --chunk-size 4M",
    "hmatrix-assemble flat.clusters.h5 {} --tolerance 1e-3",
    "hbem-solve ball.hdf ball.slp.h5 {} --problem dirichlet --form indirect --data point:0,0,0.2",
    "hbem-solve small.hdf small.clusters.h5 {} --wavenumber 1 --direction 1,0,0 --rules 1e-2",
    "hbem-solve small.hdf small.clusters.h5 {} --wavenumber 1 --direction 0,0,-1 --rules 1e-2 --mirror z=-2:rigid",
]
faults = []
seen = set()


def attempt(words, budget):
    code, peak, _, said = run(words + ["--host-memory", str(budget), "--force", "-q"])
    if code == 0 and peak > budget:
        faults.append(f"{' '.join(words)}: {peak / 1e6:.1f} MB held, {budget / 1e6:.1f} allowed")
    if code != 0:
        faults.append(f"{' '.join(words)} --host-memory {budget}: {code}: {said}")
    return code, peak, said


for command in commands:
    start = used()
    words = ["penstock-" + command.split()[0]] + [w.format("out.hdf") if w == "{}" else w for w in command.split()[1:]]
    code, _, text, said = run(words + ["--plan", "--json", "-q"])
    if code:
        faults.append(f"{command} --plan: {said}")
        continue
    plan = json.loads(text)
    wanted, least = plan["memory"], plan["least_memory"]
    lines = sum(v for k, v in plan["ledger"].items())
    if "disk" not in plan or not ("time" in plan or "time_needs" in plan):
        faults.append(f"{command} --plan: no disk or time")
    if least > wanted:
        faults.append(f"{command} --plan: {least} at least, but {wanted} in all")
    if lines < wanted * 0.9:
        faults.append(f"{command} --plan: the lines do not make up the sum")
    peak = 0
    for _ in range(4):
        peak = max(peak, attempt(words, wanted + wanted // 20 + MORE)[1])
        if wanted <= 1.1 * peak + MORE:
            break
    if not peak <= wanted <= 1.1 * peak + MORE:
        faults.append(f"{command}: the plan is {wanted / 1e6:.1f} MB, {peak / 1e6:.1f} were held")
    held = [peak / 1e6]
    middle = max((wanted + least) // 2, least) if words[0] not in seen else least  # once for a program
    seen.add(words[0])
    for budget in sorted({middle, least}, reverse=True):  # one where the plan has no choice
        code, peak, _ = attempt(words, budget)
        held.append(peak / 1e6 if code == 0 else 0)
    code, _, _, said = run(words + ["--host-memory", str(int(least * 0.6)), "--force", "-q"])
    if code != 4 or "at least" not in said:
        faults.append(f"{command} with too little: {code}: {said}")
    print(f"{wanted / 1e6:7.1f} {least / 1e6:7.1f}  held", *(f"{h:7.1f}" for h in held), f"MB  {used() - start:4.1f} s ", command[:70], flush=True)
# Programs that are no solvers: what is held is within the plan, which is not far above; too little is refused.
others = """
mesh-surface {} --divisions 60
mesh-box {} --cells 30
mesh-partition box.hdf {} --order layers
slice-block ball.h5 {} --layout warp
dgtd-setup box.h5 {} --order 2 --material default:eps=1 --boundary outer:pec --source mode:n=1,1,0:amplitude=0,0,1
particle-import --generate cube --count 500000 {}
gravity-model {} --unit km --body brick:-5,5,-5,5,2,6,-300 --nodes 129,97,65
gravity-assemble cube.hdf {}
transmission-optimize {} --nodes 33,33,33 --length 1,1,1
cluster-build ball.hdf {}
prism-field prisms.txt stations.txt {}
terrain-import model.asc {} --stations above:1m
incident ball.hdf {} --like ball.h5 --steps 40 --source plane:dir=0,0,1:width=.5:delay=1 --allow short-pulse --allow loud-start
gravity-anomaly cube.load.hdf.u {}
sphere-exact {} --radius 1 --speed 1 --quantity soft-far --angles 0,90 --emitter plane:dir=0,0,1:width=2:delay=20 --dt .1 --steps 100
dgtd-sphere {} --radius 1 --eps 4 --frequencies 1e8 --at 0,0,3
probe ball.march.h5 ball.hdf {} --at 0,0,3
spectrum ball.trace.h5 {} --frequencies .01,.02
hbem-field small.solution.h5 {} --at 0,0,3
"""
for command in others.split("\n")[1:-1]:
    name = command.split()[0]
    words = ["penstock-" + name] + [w.format("out.hdf") for w in command.split()[1:]]
    code, _, text, said = run(words + ["--plan", "--json", "-q"])
    plan = json.loads(text) if code == 0 else {}
    if not {"memory", "least_memory", "disk", "ledger"} <= set(plan) or not {"time", "time_needs"} & set(plan):
        faults.append(f"{command} --plan: {code}: no memory, disk or time: {text} {said}")
        continue
    code, peak, _, said = run(words + ["--force", "-q"])
    wanted = plan["memory"]
    if code or not peak <= wanted + (1 << 20) or not wanted <= 1.1 * peak + 2 * MORE:
        faults.append(f"{command}: {code}: the plan is {wanted / 1e6:.1f} MB, {peak / 1e6:.1f} were held: {said}")
    for plan in (["--plan"],) if name == "probe" else (["--plan"], []):
        code, _, _, said = run(words + ["--host-memory", "8M", "--force", "-q"] + plan)
        if code != 4 or not ("at least" in said or "are needed" in said):
            faults.append(f"{command} with too little: {code}: {said}")
    print(f"{wanted / 1e6:7.1f}  held {peak / 1e6:7.1f} MB ", command[:70], flush=True)
for fault in faults:
    print("FAILED:", fault)
sys.exit(1 if faults else 0)
PYTHON
exit 0
