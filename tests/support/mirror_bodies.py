"""mirror_bodies.py OUT LEVEL HEIGHT PX,PY,PZ NX,NY,NZ: a sphere of radius 1, of 8 * 4^LEVEL triangles, HEIGHT before the plane:
OUT.off, and OUT.both.off with its mirror image, corners the other way round. HEIGHT 0: OUT.off is the half before the plane,
which ends at a line of edges, and OUT.both.off the whole sphere."""
import sys


def add(a, b, s=1.0):
    return tuple(x + s * y for x, y in zip(a, b))


def unit(a):
    length = sum(x * x for x in a) ** .5
    return tuple(x / length for x in a)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def sphere(level):
    points = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    faces = [(0, 1, 2), (1, 3, 2), (3, 4, 2), (4, 0, 2), (1, 0, 5), (3, 1, 5), (4, 3, 5), (0, 4, 5)]
    for _ in range(level):
        middle, finer = {}, []

        def half(a, b):
            key = min(a, b), max(a, b)
            if key not in middle:
                middle[key] = len(points)
                points.append(unit(add(points[key[0]], points[key[1]])))
            return middle[key]
        for a, b, c in faces:
            ab, bc, ca = half(a, b), half(b, c), half(c, a)
            finer += [(a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca)]
        faces = finer
    return points, faces


def write(path, points, faces):
    with open(path, "w") as f:
        f.write(f"OFF\n{len(points)} {len(faces)} 0\n")
        f.writelines("%.17g %.17g %.17g\n" % p for p in points)
        f.writelines("3 %d %d %d\n" % t for t in faces)


out, level, height = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
place, normal = (tuple(float(x) for x in a.split(",")) for a in sys.argv[4:6])
normal = unit(normal)
first = unit(add((1, 0, 0), normal, -normal[0]))
second = (normal[1] * first[2] - normal[2] * first[1], normal[2] * first[0] - normal[0] * first[2],
          normal[0] * first[1] - normal[1] * first[0])
local, faces = sphere(level)
if height == 0:
    faces = [t for t in faces if all(local[v][2] > -1e-9 for v in t)]
    used = sorted({v for t in faces for v in t})
    faces = [tuple(used.index(v) for v in t) for t in faces]
    local = [local[v] for v in used]
points = [add(add(add(add(place, first, x), second, y), normal, z), normal, height) for x, y, z in local]
images, both = [], list(points)
for p in points:
    above = dot(normal, add(p, place, -1))
    images.append(points.index(p) if abs(above) < 1e-9 else len(both))
    if images[-1] == len(both):
        both.append(add(p, normal, -2 * above))
write(out + ".off", points, faces)
write(out + ".both.off", both, faces + [(images[c], images[b], images[a]) for a, b, c in faces])
