#!/usr/bin/env python3
"""SAR averaged over a mass, once more and independently of kernels/dgtd/mass_average: after IEC/IEEE 62704-1, 6.2.2, as
public descriptions of it have it (specs/dgtd_sar.md names them), voxel by voxel, shell by shell, with no tables of sums.

sar_62704.py RUN: makes bodies of two tissues with air in them, averages over each and compares with what the program RUN
(tests/programs/mass_average_run.c) makes of the same voxels: status of every voxel, and values to 1e-5."""
import math
import random
import subprocess
import sys

AIR, VALID, USED, UNUSED, NONE = 0, 1, 2, 3, 4
MOST_AIR, ENTIRELY, NEAR_SMALLEST = .1, .999, 1.05


class Body:
    def __init__(self, size, step, mass, voxels):
        """voxels: {(i, j, k): (density, power density)}; all others are air."""
        self.size, self.step, self.mass, self.voxels = size, step, mass, voxels
        volume = step ** 3
        self.held = {v: (rho * volume, p * volume) for v, (rho, p) in voxels.items()}
        densest = max(m for m, _ in self.held.values())
        self.core = max(0, math.floor(((mass / densest) ** (1 / 3) - 1) / 2))

    def weigh(self, low, high):
        """Mass, power, tissue's part of the volume in a box, voxel by voxel; and how much of each voxel is in it."""
        spans = []
        for a, b in zip(low, high):
            spans.append([(n, min(n + 1, b) - max(n, a)) for n in range(math.floor(a), math.ceil(b)) if min(n + 1, b) > max(n, a)])
        mass = power = tissue = 0
        parts = []
        for i, x in spans[0]:
            for j, y in spans[1]:
                for k, z in spans[2]:
                    if (i, j, k) in self.held:
                        m, p = self.held[i, j, k]
                        w = x * y * z
                        mass, power, tissue = mass + w * m, power + w * p, tissue + w
                        parts.append(((i, j, k), w))
        return mass, power, tissue, parts

    def shell_is_bare(self, v, d):
        """A face of the shell d about v holds air alone."""
        for axis in range(3):
            for side in (-d, d):
                others = [a for a in range(3) if a != axis]
                found = False
                for s in range(-d, d + 1):
                    for t in range(-d, d + 1):
                        w = list(v)
                        w[axis] += side
                        w[others[0]] += s
                        w[others[1]] += t
                        if tuple(w) in self.held:
                            found = True
                if not found:
                    return True
        return False

    def bounds(self, v, side, axis, sign):
        low = [c + .5 - side / 2 for c in v]
        high = [c + .5 + side / 2 for c in v]
        if sign > 0:
            low[axis], high[axis] = v[axis], v[axis] + side
        if sign < 0:
            low[axis], high[axis] = v[axis] + 1 - side, v[axis] + 1
        return low, high

    def grow(self, v, axis=0, sign=0):
        """Side in voxels of the cube that holds the mass; None if there is not enough."""
        step = 2 if sign == 0 else 1
        below, above = 0, 1
        while self.weigh(*self.bounds(v, above, axis, sign))[0] < self.mass:
            below, above = above, above + step
            if above > 4 * max(self.size):
                return None
        root = self.mass ** (1 / 3)  # of the mass: nearly linear in the side
        ends = [self.weigh(*self.bounds(v, x, axis, sign))[0] ** (1 / 3) - root for x in (below, above)]
        for _ in range(60):
            middle = below + (above - below) * min(max(-ends[0] / (ends[1] - ends[0]), 1e-9), 1)
            off = self.weigh(*self.bounds(v, middle, axis, sign))[0] ** (1 / 3) - root
            if abs(off) < 1e-11 * root:
                return middle
            if off < 0:
                below, ends = middle, [off, ends[1] / 2]
            else:
                above, ends = middle, [ends[0] / 2, off]
        return above

    def centred(self, v):
        """Value and fully included voxels of the cube about a voxel; None if it is not valid."""
        side = self.grow(v)
        if side is None:
            return None
        last = math.ceil((side - 1) / 2 - 1e-6)
        for d in range(self.core + 1 if self.core else 0, last + 1):
            if self.shell_is_bare(v, d):
                return None
        mass, power, tissue, parts = self.weigh(*self.bounds(v, side, 0, 0))
        if 1 - tissue / side ** 3 > MOST_AIR:
            return None
        return power / mass, [w for w, part in parts if part > ENTIRELY]

    def at_face(self, v):
        found = []
        for axis in range(3):
            for sign in (-1, 1):
                side = self.grow(v, axis, sign)
                if side is not None:
                    mass, power, _, _ = self.weigh(*self.bounds(v, side, axis, sign))
                    found.append((side ** 3, power / mass))
        if not found:
            return None
        least = min(volume for volume, _ in found)
        return max(value for volume, value in found if volume <= NEAR_SMALLEST * least)

    def average(self):
        status = dict.fromkeys(self.held, UNUSED)
        value = {}
        for v in self.held:
            cube = self.centred(v)
            if cube is None:
                continue
            value[v] = cube[0] if status[v] != USED else value[v]
            own = cube[0]
            status[v], value[v] = VALID, own
            for w in cube[1]:
                if w != v and status[w] in (UNUSED, USED):
                    value[w] = max(value.get(w, 0), own) if status[w] == USED else own
                    status[w] = USED
        for v in self.held:
            if status[v] == UNUSED:
                found = self.at_face(v)
                if found is None:
                    status[v] = NONE
                else:
                    value[v] = found
        return status, value


def star(n):
    """Two tissues, a shell of air within, cones on a cube, thin necks: after the idea of the standard's SAR Star."""
    voxels = {}
    c = n / 2
    for i in range(n):
        for j in range(n):
            for k in range(n):
                x = sorted(abs(a + .5 - c) / n for a in (i, j, k))
                inside = x[2] < .2 and not .04 < x[2] < .09
                radius = math.hypot(x[0], x[1])
                inside |= .2 <= x[2] < .23 and radius < .07
                inside |= .23 <= x[2] < .47 and radius < .2 * (.47 - x[2]) / .24
                if inside:
                    core = x[2] < .17 or (radius < .05 and x[2] < .36)
                    power = 1000 * math.exp(-(i + .3 * j) / n * 3)
                    voxels[i, j, k] = (2000 if core else 1100, power)
    return voxels


def crumbs(n, seed):
    """A ball with holes and random densities, and some voxels beside it."""
    random.seed(seed)
    voxels = {}
    for i in range(n):
        for j in range(n):
            for k in range(n):
                r = math.dist((i + .5, j + .5, k + .5), (n / 2, n / 2.1, n / 1.9))
                if (r < .4 * n and random.random() > .04) or random.random() < .01:
                    voxels[i, j, k] = (random.uniform(600, 1900), random.uniform(0, 1000))
    return voxels


def brick(n):
    return {(i, j, k): (1000, 1000 * math.exp(-k / 3)) for i in range(1, n) for j in range(1, n - 2) for k in range(2, n)}


def compare(run, name, body):
    lines = ["%d %d %d %.17g %.17g" % (*body.size, body.step, body.mass)]
    order = [(i, j, k) for k in range(body.size[2]) for j in range(body.size[1]) for i in range(body.size[0])]
    lines += ["%.9g %.9g" % body.voxels.get(v, (0, 0)) for v in order]
    out = subprocess.run([run], input="\n".join(lines), capture_output=True, text=True, check=True).stdout.split("\n")
    status, value = body.average()
    count, wrong, worst = {}, 0, 0
    for v, line in zip(order, out):
        words = line.split()
        expected = status.get(v, AIR)
        count[expected] = count.get(expected, 0) + 1
        wrong += int(words[0]) != expected
        if v in value:
            worst = max(worst, abs(float(words[1]) / value[v] - 1) if value[v] else abs(float(words[1])))
    print("%-10s air, valid, used, unused, none: %s; %d of another status, values differ by up to %.1e" %
          (name, [count.get(s, 0) for s in range(5)], wrong, worst))
    return wrong == 0 and worst < 1e-5


def main():
    run = sys.argv[1]
    bodies = [("brick 1", Body((7, 7, 7), 1e-3, 2.7e-5, brick(7))),
              ("brick 2", Body((7, 7, 7), 1e-3, 2e-5, brick(7))),
              ("crumbs", Body((9, 9, 9), 2e-3, 3e-4, crumbs(9, 1))),
              ("star", Body((12, 12, 12), 1e-3, 4e-6, star(12)))]
    good = [compare(run, name, body) for name, body in bodies]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
