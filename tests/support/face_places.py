"""Where the named faces of a mesh are: face_places.py MESH NAME=x0:AREA...

All triangles of the tag of NAME lie in the plane x = 0 (m), y, z alike, or in one of several, "x2/y0", and have AREA m^2
together; every tag of a boundary triangle that has a name is among them."""
import sys

import h5py
import numpy as np

with h5py.File(sys.argv[1]) as file:
    points = file["VTKHDF/Points"][...]
    if "boundary" in file:
        corners, tags = file["boundary/triangles"][...], file["boundary/tag"][...]
    else:
        corners, tags = file["VTKHDF/Connectivity"][...].reshape(-1, 3), file["VTKHDF/CellData/tag"][...]
    names = dict(line.split(" ", 1) for line in file.attrs["tag_names"].decode().splitlines())
places = points[corners]
areas = np.linalg.norm(np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0]), axis=1) / 2
expected = dict(text.split("=") for text in sys.argv[2:])
found = {names[str(tag)] for tag in set(tags.tolist()) if str(tag) in names}
assert found == set(expected), f"{sorted(found)} but {sorted(expected)}"
for name, text in expected.items():
    planes, area = text.split(":")
    mine = tags == next(int(tag) for tag, n in names.items() if n == name)
    lies = [np.abs(places[mine][:, :, "xyz".index(p[0])] - float(p[1:])).max(axis=1) < 1e-6 for p in planes.split("/")]
    assert np.logical_or.reduce(lies).all() and all(one.any() for one in lies), f"{name} is not in {planes}: {places[mine].mean(1)}"
    assert abs(areas[mine].sum() - float(area)) < 1e-6, f"{name}: {areas[mine].sum()} m^2"
