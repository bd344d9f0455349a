#!/usr/bin/env python3
"""The direct solutions of bench_schwarz by PyTorch: dense sine products along all three axes through
cuBLAS, in fp64, as a user would write them. JSON records on stdout; without PyTorch or a GPU it says so."""
import json
import math
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("bench_schwarz_library: no PyTorch here: skipped")
if not torch.cuda.is_available():
    sys.exit("bench_schwarz_library: no CUDA device here: skipped")
SIDES = (250.0, 250.0, 15.0)


def axis(nodes, side):
    """Sines of the open nodes of a line, stiffness and mass of its modes."""
    n, h = nodes - 2, side / (nodes - 1)
    j = torch.arange(1, n + 1, dtype=torch.float64, device="cuda")
    sines = math.sqrt(2 / (n + 1)) * torch.sin(math.pi / (n + 1) * ((j[:, None] * j[None, :]) % (2 * (n + 1))))
    c = torch.cos(math.pi * j / (n + 1))
    return sines, (2 - 2 * c) / h, h * (4 + 2 * c) / 6


def solver(nodes):
    (sx, kx, mx), (sy, ky, my), (sz, kz, mz) = (axis(n, s) for n, s in zip(nodes, SIDES))
    inverse = 1 / (kx[:, None, None] * my[:, None] * mz + mx[:, None, None] * (ky[:, None] * mz + my[:, None] * kz))
    shape = inverse.shape

    def transform(u):
        u = torch.matmul(sx, u.reshape(shape[0], -1)).view(shape)
        u = torch.matmul(sy, u)
        return torch.matmul(u.view(-1, shape[2]), sz).view(shape)

    return shape, lambda b: transform(transform(b).mul_(inverse))


def seconds(call, rounds=7, count=3):
    call()
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        times.append(1e-3 * begin.elapsed_time(end) / count)
    return statistics.median(times)


for case, nodes in (("best-1587808", (116, 116, 118)), ("gravity-19m9-best", (264, 264, 286)),
                    ("gravity-75m-best", (412, 412, 446))):
    shape, solve = solver(nodes)
    b = torch.ones(shape, dtype=torch.float64, device="cuda")
    print(json.dumps({"case": case, "quantity": "direct solution by PyTorch, dense sine products, fp64",
                      "value": round(1e6 * seconds(lambda: solve(b)), 2), "unit": "us",
                      "size": "%d unknowns" % math.prod(nodes), "device": torch.cuda.get_device_name(),
                      "revision": "PyTorch " + torch.__version__}), flush=True)
    del solve, b
    torch.cuda.empty_cache()
