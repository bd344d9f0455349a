"""penstock demo [FOLDER] [--size METRES]: the demonstration, by the programs of this package alone, in some minutes.

A pulse of sound passes a rigid airliner: geometry, mesh, march, far field, pictures; a soft sphere against the exact series; every
chunk of every file verified. `make demo` of the sources does more (cases/tdbem-aircraft)."""
import argparse
import os
import shutil
import time
import warnings
from pathlib import Path

from ._library import HERE
from .programs import run

PULSE = "shape=ricker:width=0.006:delay=0.075"
WAVE = "plane:dir=0.925416578,0.336824089,-0.173648178:" + PULSE


def geometry(name):
    """Beside this module in a wheel, among the cases in the sources."""
    folders = HERE / "demo", HERE.parent.parent / "cases" / "tdbem-aircraft"
    return next((f / name for f in folders if (f / name).exists()), folders[0] / name)


class Table:
    """Figures with their bounds; all of them hold, or not."""

    def __init__(self):
        self.rows, self.good = [], True

    def check(self, what, value, low, high, bound):
        good = low <= value <= high
        self.good = self.good and good
        self.rows.append(f"{what:62} {value:<14.6g} {bound:14} {'good' if good else 'NOT GOOD'}")


def step(what, *command, **options):
    print(f"  {what}", flush=True)
    return run(*command, **options)


def aircraft(table, size, steps):
    mesh = step("mesh: geometry to triangles, checked", "mesh-import", geometry("aircraft.geo"), "aircraft.hdf", size=size, orient=True,
                order="hilbert")
    table.check("mesh: closed, outward; quality of the worst triangle", mesh["quality_min"], 0.05, 1, ">= 0.05")
    step("interaction matrices of the rigid body", "slice-assemble", "aircraft.hdf", "slices.h5", formulation="sound-hard", courant=2.0, speed=340.0)
    step("blocks", "slice-block", "slices.h5", "blocks.h5")
    step(f"march: {steps} steps", "tdbem-march", "blocks.h5", "aircraft.hdf", "run.h5", emitter=WAVE, steps=steps)
    step("far field", "probe", "run.h5", "aircraft.hdf", "far.h5", directions=360, plane_normal=(0, 0, 1))
    spectrum = step("target strength", "spectrum", "far.h5", "strength.h5", target_strength=True, fmin=10.0, fmax=55.0, count=181)
    table.check("far field: what is left of it at the end, of its peak", spectrum["truncation"], 0, 0.01, "<= 0.01")
    step("pressure on the skin", "probe", "run.h5", "aircraft.hdf", "pressure.h5", surface="all", snapshots="pressure", every=4)


def sphere(table):
    area = step("a soft sphere", "mesh-import", geometry("sphere.geo"), "sphere.hdf", size=0.2, orient=True, order="hilbert")["area"]
    run("slice-assemble", "sphere.hdf", "sphere-slices.h5", formulation="sound-soft-s", courant=4.0, speed=340.0)
    run("tdbem-march", "sphere-slices.h5", "sphere.hdf", "sphere-run.h5", emitter="plane:dir=0,0,1:width=1.5e-3:delay=16e-3", time=0.036)
    run("probe", "sphere-run.h5", "sphere.hdf", "sphere-far.h5", direction=[(theta, 0) for theta in (0, 45, 90, 135, 180)])
    run("sphere-exact", "sphere-exact.h5", quantity="soft-far", like="sphere-far.h5", radius=(area / 12.566370614) ** 0.5)
    off = step("and its exact series", "compare", "sphere-far.h5", "sphere-exact.h5", no_attributes=True, norm="space-time",
               tolerance=1.0, **{"from": 0.004})
    table.check("soft sphere: far field and exact series differ by", off["space_time"]["relative_l2"], 0, 0.01, "<= 0.01")


def pictures():
    """Where there is a gnuplot; the page of the report needs nothing."""
    made = []
    if shutil.which("gnuplot"):
        title = "A pulse passes a rigid airliner: pressure on its skin"
        step("pictures", "plot", "surface", "aircraft.hdf", "run.h5", times="0.115", title=title, output="surface.png")
        run("plot", "polar", "strength.h5", frequencies=(20, 35, 50), title="Target strength in the horizontal plane", output="polar.png")
        made = ["surface.png", "polar.png"]
    files = ["aircraft.hdf", "slices.h5", "run.h5", "far.h5", "strength.h5", "sphere-far.h5", "sphere-exact.h5"]
    step("a page of all of it", "report", *files, output="report.html")
    return [*made, "report.html"]


def demonstrate(folder, size=0.65, steps=520):
    """Runs it in `folder`, which is made; True if all figures are within their bounds."""
    start, table, before = time.time(), Table(), os.getcwd()
    Path(folder).mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    try:
        aircraft(table, size, steps)
        sphere(table)
        made = pictures()
        checked = [str(p) for p in sorted(Path(".").glob("*.h5")) + sorted(Path(".").glob("*.hdf"))]
        step("every chunk of every file", "verify", *checked)
        print(f"\n{'Verified':62} {'figure':14} bound", *table.rows, f"{len(checked)} files: every chunk's hash and statistics good", sep="\n")
        print("\nPictures:", *(f"  {Path(p).resolve()}" for p in made), sep="\n")
        if len(made) == 1:
            print("(gnuplot is not installed: penstock-plot draws through it)")
        print(f"For ParaView: {Path('pressure.hdf.series').resolve()}\nDone in {time.time() - start:.0f} s.")
    finally:
        os.chdir(before)
    return table.good


def main(arguments):
    parser = argparse.ArgumentParser(prog="penstock demo", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default="penstock-demo", help="where its files go (%(default)s)")
    parser.add_argument("--size", type=float, default=0.65, help="edges of the aircraft's triangles in metres (%(default)s)")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")  # of the pulse, which is shorter than the mesh resolves
    return 0 if demonstrate(options.folder, options.size) else 1
