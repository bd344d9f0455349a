#!/usr/bin/env python3
"""Writes elevation models byte by byte, without the libraries that read them:
elevation.py KIND FILE [NAME=VALUE ...]; KIND: nc (classic NetCDF), tif (GeoTIFF), asc.

Heights are those of height(i, j) below, i from the west, j from the south."""
import math
import struct
import sys

kind, path = sys.argv[1:3]
o = dict(nx=6, ny=5, x0=500000.0, y0=4000000.0, step=100.0, down=0, geographic=0, type="float", scale=1.0, offset=0.0,
         gap="", fill="", units="m", point=0, spike="", base=500.0, rise=1.0, uneven=0.0, epsg=32633, nodata="", node=-1,
         vertical=0, band=1, shape="hills", role="", item="scale:0.1", keys="", mask=0, name="z", of_z="", of_x="", x="x", y="y", metres=1.0,
         wrap=0.0)
for word in sys.argv[3:]:
    name, value = word.split("=", 1)
    o[name] = value if isinstance(o[name], str) else type(o[name])(float(value))
nx, ny, step = o["nx"], o["ny"], o["step"]


def height(i, j):
    if [i, j] == [int(v) for v in o["gap"].split(",") if v]:
        return None
    if [i, j] == [int(v) for v in o["spike"].split(",") if v]:
        return o["base"] + 2000
    if o["shape"] == "cliff":  # a step of 900 m, and a flat sea before it
        return -30.0 if i < nx / 3 else 0.0 if i < nx / 2 else 900.0 + j
    if o["shape"] == "flat":
        return o["base"]
    return o["base"] + o["rise"] * (10 * i + j) + (0 if nx < 20 else 300 * math.sin(i / 9) * math.cos(j / 7))


def padded(data):
    return data + b"\0" * (-len(data) % 4)


codes = {"short": (3, "h"), "int": (4, "i"), "float": (5, "f"), "double": (6, "d")}


def name_of(text):
    return struct.pack(">i", len(text)) + padded(text.encode())


def attribute(name, value, kind="double"):
    if isinstance(value, str):
        return name_of(name) + struct.pack(">ii", 2, len(value)) + padded(value.encode())
    value = value if isinstance(value, list) else [value]
    code, letter = codes[kind]
    return name_of(name) + struct.pack(">ii", code, len(value)) + padded(struct.pack(">%d%s" % (len(value), letter), *value))


def given(text):
    """NAME:VALUE,..., numbers where they are numbers."""
    def number(value):
        try:
            return float(value)
        except ValueError:
            return value
    return [attribute(n, number(v)) for n, v in (word.split(":") for word in text.split(",") if word)]


def listed(tag, items):
    return struct.pack(">ii", tag if items else 0, len(items)) + b"".join(items)


def raw(i, j):
    h = height(i, j)
    if h is None:
        flag = o["fill"] or o["nodata"] or "nan"
        return float(flag) if o["type"] in ("float", "double") else int(flag)
    r = (h / o["metres"] - o["offset"]) / o["scale"]
    return r if o["type"] in ("float", "double") else int(round(r))


def write_nc():
    letter = codes[o["type"]][1]
    x = [o["x0"] + step * i for i in range(nx)]
    y = [o["y0"] + step * j for j in range(ny)]
    x[1] += o["uneven"]
    x = [v - 360 if o["wrap"] and v > o["wrap"] else v for v in x]
    rows = [j for j in range(ny)]
    if o["down"]:
        rows.reverse()
    geographic = o["geographic"]
    names = ("lon", "lat") if geographic else (o["x"], o["y"])
    units = ("degrees_east", "degrees_north") if geographic else ("m", "m")
    general = [attribute("Conventions", "CF-1.7")]
    if o["node"] >= 0:
        general.append(attribute("node_offset", int(o["node"]), "int"))
    extent = lambda v: [attribute("actual_range", [min(v) - step / 2 * (o["node"] == 1), max(v) + step / 2 * (o["node"] == 1)])]
    z = given(o["of_z"])
    if o["units"]:
        z.append(attribute("units", o["units"]))
    if o["scale"] != 1 or o["offset"] != 0:
        z += [attribute("scale_factor", o["scale"]), attribute("add_offset", o["offset"])]
    if o["fill"]:
        fill = float(o["fill"])
        z.append(attribute("_FillValue", fill if o["type"] in ("float", "double") else int(fill), o["type"]))
    values = [raw(i, j) for j in rows for i in range(nx)]
    ys = [y[j] for j in rows]
    bodies = [struct.pack(">%dd" % nx, *x), struct.pack(">%dd" % ny, *ys), padded(struct.pack(">%d%s" % (nx * ny, letter), *values))]
    specs = [(names[0], [0], [attribute("units", units[0])] * bool(o["units"]) + extent(x) + given(o["of_x"]), 6),
             (names[1], [1], [attribute("units", units[1])] * bool(o["units"]) + extent(y), 6), (o["name"], [1, 0], z, codes[o["type"]][0])]

    def header(offsets):
        variables = [name_of(n) + struct.pack(">i%di" % len(d), len(d), *d) + listed(12, a) +
                     struct.pack(">iii", t, len(b), at) for (n, d, a, t), b, at in zip(specs, bodies, offsets)]
        return (b"CDF\x01" + struct.pack(">i", 0) + listed(10, [name_of(names[0]) + struct.pack(">i", nx), name_of(names[1]) + struct.pack(">i", ny)]) +
                listed(12, general) + listed(11, variables))

    at, offsets = len(header([0, 0, 0])), []
    for b in bodies:
        offsets.append(at)
        at += len(b)
    return header(offsets) + b"".join(bodies)


def mask_image(at):
    """Of the same size, one byte a cell: what GDAL writes as an internal mask."""
    tags = [(254, 4, 4), (256, 4, nx), (257, 4, ny), (258, 3, 8), (259, 3, 1), (262, 3, 4), (273, 4, 0), (277, 3, 1), (278, 4, ny), (279, 4, nx * ny)]
    data = at + 2 + 12 * len(tags) + 4
    entries = b"".join(struct.pack("<HHII", t, kind_, 1, data if t == 273 else v) for t, kind_, v in tags)
    return struct.pack("<H", len(tags)) + entries + struct.pack("<I", 0) + b"\xff" * (nx * ny)


def write_tif():
    form = {"short": ("h", 16, 2), "int": ("i", 32, 2), "float": ("f", 32, 3), "double": ("d", 64, 3)}[o["type"]]
    data = struct.pack("<%d%s" % (nx * ny, form[0]), *[raw(i, j) for j in reversed(range(ny)) for i in range(nx)])
    point = o["point"]
    west, north = o["x0"] - (0 if point else step / 2), o["y0"] + step * (ny - 1) + (0 if point else step / 2)
    model = 2 if o["geographic"] else 1
    keys = [(1024, model), (1025, 2 if point else 1), (2048, 4326) if model == 2 else (3072, o["epsg"])]
    if o["vertical"]:
        keys.append((4099, o["vertical"]))
    keys = [k for k in keys if str(k[0]) not in o["keys"]] + [tuple(int(n) for n in w.split(":")) for w in o["keys"].split(",") if w]
    keys.sort()
    geo = [1, 1, 0, len(keys)] + [n for k, v in keys for n in (k, 0, 1, v)]
    tags = [(256, 4, [nx]), (257, 4, [ny]), (258, 3, [form[1]]), (259, 3, [1]), (262, 3, [1]), (273, 4, None), (277, 3, [o["band"]]),
            (278, 4, [ny]), (279, 4, [len(data)]), (339, 3, [form[2]]), (33550, 12, [step, step, 0.0]),
            (33922, 12, [0.0, 0.0, 0.0, west, north, 0.0]), (34735, 3, geo)]
    if o["role"]:
        value = o["item"].split(":")
        item = '<GDALMetadata><Item name="%s" sample="0" role="%s">%s</Item></GDALMetadata>' % (value[0].upper(), o["role"], value[1])
        tags.append((42112, 2, item.encode() + b"\0"))
    if o["nodata"]:
        tags.append((42113, 2, o["nodata"].encode() + b"\0"))
    letters = {3: "H", 4: "I", 12: "d"}
    at = 8 + 2 + 12 * len(tags) + 4
    entries, extra = b"", b""
    place = at
    for tag, kind_, value in tags:
        size = 0 if value is None else len(value) if kind_ == 2 else struct.calcsize("<%d%s" % (len(value), letters[kind_]))
        place += size if size > 4 else 0
    for tag, kind_, value in tags:
        if value is None:
            value = [place]
        packed = value if kind_ == 2 else struct.pack("<%d%s" % (len(value), letters[kind_]), *value)
        entries += struct.pack("<HHI", tag, kind_, len(value))
        if len(packed) > 4:
            entries += struct.pack("<I", at + len(extra))
            extra += packed
        else:
            entries += packed.ljust(4, b"\0")
    after = at + len(extra) + len(data) if o["mask"] else 0
    image = struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<H", len(tags)) + entries + struct.pack("<I", after) + extra + data
    return image + (mask_image(after) if o["mask"] else b"")


def write_asc():
    head = "ncols %d\nnrows %d\nxllcenter %.10g\nyllcenter %.10g\ncellsize %.10g\n" % (nx, ny, o["x0"], o["y0"], step)
    if o["fill"]:
        head += "NODATA_value %s\n" % o["fill"]
    return (head + "\n".join(" ".join("%.9g" % raw(i, j) for i in range(nx)) for j in reversed(range(ny))) + "\n").encode()


open(path, "wb").write({"nc": write_nc, "tif": write_tif, "asc": write_asc}[kind]())
