"""The reference worker: draws inputs and computes what they should give, with torch, into a node-local cache.

Trusted. Started by nkigrid with the request socket as descriptor 3. It answers at once; torch is imported at the first
request that needs it. Two files a trial, `<key>.in` (the kernel's arguments) and `<key>.out` (the expected results), so
that the one can be given to a run child without the other; docs/formats/reference_cache.md.

usage: reference_worker.py CACHE_FOLDER CACHE_LIMIT_BYTES
"""

import contextlib
import fcntl
import hashlib
import json
import os
import socket
import struct
import sys
import tempfile
import types

CONTROL = 3
MAGIC = b"NKIREF1\0"
ALIGNMENT = 64


def torch_version():
    """The version of the torch that would be imported, without the seconds that importing takes."""
    import importlib.util

    found = importlib.util.find_spec("torch")
    if found is None:
        return ""
    scope = {"Optional": None}
    with open(os.path.join(os.path.dirname(found.origin), "version.py"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("__version__"):
                exec(line, scope)
    return str(scope.get("__version__", "unknown"))


# ----------------------------------------------------------------------------------------------------------------------
# the cache


def pad(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def write_tensors(path, tensors):
    """Writes one cache file so that a reader, or another writer of the same key, sees a whole file or none.
    @param tensors [(dtype name, shape, contiguous numpy array of bytes)]"""
    described, offset = [], 0
    for dtype, shape, data in tensors:
        described.append({"dtype": dtype, "shape": list(shape), "offset": offset, "bytes": data.nbytes})
        offset += pad(data.nbytes)
    head = json.dumps({"tensors": described}, separators=(",", ":")).encode()
    start = pad(len(MAGIC) + 32 + 8 + len(head))
    frame = struct.pack("<Q", len(head)) + head
    frame += b"\0" * (start - len(MAGIC) - 32 - len(frame))
    digest = hashlib.sha256(frame)
    pieces = []
    for _, _, data in tensors:
        pieces += [memoryview(data), b"\0" * (pad(data.nbytes) - data.nbytes)]
    for piece in pieces:
        digest.update(piece)
    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path), suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in (MAGIC, digest.digest(), frame, *pieces):
                file.write(piece)
        os.rename(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def prune(folder, limit_bytes):
    """Removes the oldest files until the folder is under its limit, and what writers that died left behind."""
    entries = []
    for entry in os.scandir(folder):
        facts = entry.stat(follow_symlinks=False)
        entries.append((facts.st_mtime, facts.st_size, entry.path))
    total = sum(size for _, size, _ in entries)
    newest = max((mtime for mtime, _, _ in entries), default=0)
    for mtime, size, path in sorted(entries):
        abandoned = path.endswith((".part", ".lock")) and mtime < newest - 3600
        if total <= limit_bytes and not abandoned:
            continue
        try:
            os.unlink(path)
        except FileNotFoundError:
            pass  # another worker prunes too
        total -= size


# ----------------------------------------------------------------------------------------------------------------- the
# reference


class TaskError(Exception):
    """The task and its index do not fit together: the benchmark's fault."""


def as_kernel_sees(torch, tensor, spec):
    """A tensor in the dtype of the kernel's argument, C-contiguous, rank 0 posed as (1,)."""
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int32": torch.int32, "uint8": torch.uint8}.get(
        spec["dtype"]
    )
    if dtype is None:
        raise TaskError(f"dtype {spec['dtype']} of {spec.get('name', 'an output')} is not one that a kernel gets")
    value = tensor.detach().to(dtype).contiguous()
    value = value.reshape(1) if value.dim() == 0 else value
    if list(value.shape) != list(spec["shape"]):
        raise TaskError(
            f"{spec.get('name', 'an output')} has shape {list(value.shape)}, the index says {list(spec['shape'])}"
        )
    return value


def as_bytes(torch, value):
    """numpy knows no bfloat16: its bits travel as int16."""
    return (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy()


def check_domain(torch, value, spec):
    domain, low, high = spec.get("domain", "real"), float(value.min()), float(value.max())
    bad = {
        "positive": low <= 0,
        "unit": low < -1 or high > 1,
        "probability": low < 0 or high > 1,
        "index": low < 0 or high >= int(spec.get("bound", 0)),
    }.get(domain, False)
    if bad:
        raise TaskError(f"{spec['name']} holds {low} .. {high}, outside its domain {domain}")


def shifted(torch, value, spec, trial):
    """From trial 3 on `real` inputs are moved and stretched, so that no kernel can live off one distribution."""
    if trial < 3 or spec.get("domain", "real") != "real" or not value.is_floating_point():
        return value
    return value * 1.5 + 0.25 if trial % 2 else value * 0.5 - 0.5


def load_task(source, name):
    module = types.ModuleType("nkigrid_task")
    module.__file__ = name
    exec(compile(source, name, "exec"), module.__dict__)
    return module


def rounded(torch, value, spec):
    """The value that the kernel gets, in the dtype that the reference computes in."""
    return value.to(torch.bfloat16).to(torch.float32) if spec["dtype"] == "bfloat16" else value


def compute_trial(torch, request, trial, seed):
    """One draw. @returns (arguments, results), each [(dtype, shape, bytes)]"""
    specs, output_specs = request["inputs"], request["outputs"]
    with torch.no_grad():
        torch.manual_seed(seed)
        module = load_task(request["source"], request["task"] + ".py")
        model = module.Model(*module.get_init_inputs()).float().eval()
        given = list(module.get_inputs())
        input_specs = [s for s in specs if s["role"] == "input"]
        tensors = [i for i, value in enumerate(given) if isinstance(value, torch.Tensor)]
        if len(tensors) != len(input_specs):
            raise TaskError(f"get_inputs() gives {len(tensors)} tensors, the index lists {len(input_specs)}")
        arguments = []
        for place, spec in zip(tensors, input_specs):
            check_domain(torch, given[place], spec)
            value = shifted(torch, given[place], spec, trial)
            given[place] = rounded(torch, value.float() if value.is_floating_point() else value, spec)
            arguments.append(as_kernel_sees(torch, given[place], spec))
        weights = list(model.parameters()) + [b for b in model.buffers() if b.is_floating_point()]
        weight_specs = [s for s in specs if s["role"] != "input"]
        if len(weights) != len(weight_specs):
            raise TaskError(
                f"Model has {len(weights)} parameters and floating buffers, the index lists {len(weight_specs)}"
            )
        for weight, spec in zip(weights, weight_specs):
            weight.copy_(rounded(torch, weight, spec))
            arguments.append(as_kernel_sees(torch, weight, spec))
        arguments = [(s["dtype"], s["shape"], as_bytes(torch, a).copy()) for s, a in zip(specs, arguments)]
        results = model(*given)
    results = list(results) if isinstance(results, (tuple, list)) else [results]
    if len(results) != len(output_specs):
        raise TaskError(f"forward() gives {len(results)} tensors, the index lists {len(output_specs)}")
    expected = [
        (s["dtype"], s["shape"], as_bytes(torch, as_kernel_sees(torch, r, s))) for s, r in zip(output_specs, results)
    ]
    return arguments, expected


_torch = None


def import_torch():
    global _torch
    if _torch is None:
        import torch

        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True, warn_only=True)
        _torch = torch
    return _torch


@contextlib.contextmanager
def one_worker(path):
    """Holds a lock file: the workers of one node do not compute the same thing at the same time. Who waited finds the
    files made."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    finally:
        os.close(handle)


def serve_request(folder, request):
    """Computes those trials of one (task, stream) that are not there. A key made twice is replaced by equal bytes."""
    for item in request["trials"]:
        path = os.path.join(folder, item["key"])
        with one_worker(path + ".lock"):
            if os.path.exists(path + ".out") and os.path.exists(path + ".in"):
                continue
            arguments, expected = compute_trial(import_torch(), request, item["trial"], int(item["seed"]))
            write_tensors(path + ".out", expected)
            write_tensors(path + ".in", arguments)
    return {"ok": True}


# --------------------------------------------------------------------------------------------------------------------
# the socket


def read_exactly(stream, size):
    data = stream.read(size)
    if data is None or len(data) < size:
        raise EOFError
    return data


def main():
    folder, limit_bytes = sys.argv[1], int(sys.argv[2])
    sys.path[:] = [p for p in sys.path if p.startswith("/usr/lib/python3")]
    control = socket.socket(fileno=CONTROL)
    stream = control.makefile("rwb")

    def send(reply):
        head = json.dumps(reply).encode()
        stream.write(struct.pack("<II", len(head), 0) + head)
        stream.flush()

    send({"ok": True, "torch": torch_version()})
    prune(folder, limit_bytes)
    while True:
        try:
            head_bytes, body_bytes = struct.unpack("<II", read_exactly(stream, 8))
            request = json.loads(read_exactly(stream, head_bytes))
            read_exactly(stream, body_bytes)
        except EOFError:
            return
        try:
            send(serve_request(folder, request))
        except TaskError as error:
            send({"ok": False, "error": str(error)})
        except Exception as error:  # the task's own code: anything may come
            send({"ok": False, "error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
