"""How large the arrays of files that are compressed by HDF5's own shuffle and deflate would be by shuffle and Zstandard, level 1, in the
same chunks, as all files were before: a line for each file with its kind, both sizes in bytes and their ratio. The plugin of Penstock
must be where HDF5_PLUGIN_PATH says. `--most RATIO`: ends with 1 if a file of 10 kB or more is above it.

    against_zstd.py [--most RATIO] FILE...
"""
import sys

import h5py

ZSTD = 32015


def sizes(path):
    """Kind of the file; stored bytes of its chunked arrays as they are and by zstd."""
    before = after = 0
    with h5py.File(path, "r") as file, h5py.File("against_zstd", "w", driver="core", backing_store=False) as other:
        kind = file.attrs.get("format", "")

        def add(name, one):
            nonlocal before, after
            if not isinstance(one, h5py.Dataset) or not one.chunks or one.dtype.hasobject or not one.compression:
                return
            if one.compression != "gzip":
                raise SystemExit(f"{path}: {name} is not deflated")
            copy = other.create_dataset(f"x{len(other)}", one.shape, one.dtype, chunks=one.chunks, shuffle=True, compression=ZSTD, compression_opts=(1,))
            copy[...] = one[...]
            before += one.id.get_storage_size()
            after += copy.id.get_storage_size()

        file.visititems(add)
    return kind.decode() if isinstance(kind, bytes) else kind, before, after


def main(arguments):
    most = float("inf")
    if arguments[:1] == ["--most"]:
        most, arguments = float(arguments[1]), arguments[2:]
    worse = False
    for path in arguments:
        kind, deflated, zstd = sizes(path)
        if zstd:
            print(f"{path:40} {kind:24} {deflated:10} {zstd:10} {deflated / zstd:6.3f}")
            worse |= zstd >= 10000 and deflated > most * zstd
    return worse


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
