"""Every array of files is known to other programs by its dimensions: opens_anywhere.py FILE...

Each dataset is a dimension scale or has one at each dimension, of its length; each group with arrays opens in xarray
without help, with the dimensions that the file names; and two arrays of one dimension stand beside each other."""
import sys

import h5py
import numpy as np

BARE = b"This is a netCDF dimension but not a netCDF variable."


def is_scale(dataset):
    return dataset.attrs.get("CLASS", b"") == b"DIMENSION_SCALE"


def check_dataset(file, name, dataset):
    """The names of its dimensions."""
    if is_scale(dataset):
        assert dataset.ndim == 1 and len(dataset.attrs["REFERENCE_LIST"]), name
        if dataset.attrs["NAME"].startswith(BARE):
            assert dataset.id.get_storage_size() == 0 and int(dataset.attrs["NAME"][len(BARE):]) == len(dataset), name
        return [name]
    said = dataset.attrs["dimensions"].decode().split(" ")
    scales = [d[0] for d in dataset.dims]
    assert [s.name for s in scales] == said, f"{name}: {said}"
    assert dataset.shape == tuple(len(s) for s in scales), name
    for d, s in enumerate(scales):
        assert any(file[ref].name == name and at == d for ref, at in s.attrs["REFERENCE_LIST"]), f"{s.name} does not know {name}"
    return said


def check_file(path):
    groups = {}
    with h5py.File(path) as file:
        def visit(name, thing):
            if isinstance(thing, h5py.Dataset) and name.split("/")[0] not in ("chunks", "manifest"):
                group, _, last = ("/" + name).rpartition("/")
                groups.setdefault(group or "/", {})[last] = check_dataset(file, "/" + name, thing), thing.shape
        file.visititems(visit)
        assert any(not is_scale(file[g][n]) for g in groups for n in groups[g]), f"{path}: no arrays"
        bare = {n for g in groups for n in groups[g] if is_scale(file[g][n]) and file[g][n].attrs["NAME"].startswith(BARE)}
    return groups, bare


def check_xarray(path, groups, bare):
    import xarray
    for group, arrays in groups.items():
        data = xarray.open_dataset(path, group=group, engine="h5netcdf", decode_times=False)
        for name, (dimensions, shape) in arrays.items():
            if name in bare:
                continue
            assert list(data[name].dims) == [d.rpartition("/")[2] for d in dimensions], f"{path} {group}: {data[name].dims}"
            assert data[name].shape == shape, f"{path} {group} {name}"
            data[name].values
        data.close()


opens = True
try:
    import h5netcdf  # noqa: F401
    import xarray  # noqa: F401
except ImportError:
    opens = False
for path in sys.argv[1:]:
    groups, bare = check_file(path)
    if opens:
        check_xarray(path, groups, bare)
    print(path, sum(map(len, groups.values())), "arrays")
