"""The reference worker: has torch ready, has each draw made by a child of its own, and keeps the results in a
node-local cache.

A task is code from anybody: it runs in a single-use child behind the walls of a kernel's, forked from this process,
which has imported torch and nothing of a task. The child holds no key, no cache, no descriptor but the pipe on which it
says that it is done; what it computes lies in memory that it shares with this process, in places that the index gives.
Only this process writes the cache, so a task can spoil its own reference and nobody else's.

Started by nkigrid with the request socket as descriptor 3. It answers at once; torch is imported when it is asked to,
or at the first request that needs it. Two files a trial, `<key>.in` (the kernel's arguments) and `<key>.out` (the
expected results), so that the one can be given to a run child without the other; docs/formats/reference_cache.md.

usage: reference_worker.py CACHE_FOLDER CACHE_LIMIT_BYTES SANDBOX_LIBRARY strict|relaxed
"""

import contextlib
import fcntl
import hashlib
import json
import math
import mmap
import os
import select
import struct
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from child_frame import read_frame, write_frame  # noqa: E402
from child_sandbox import ChildEnded, Gone, Recalled, Sandbox, readable_folders  # noqa: E402
from reference_task import TaskError, compute_trial  # noqa: E402

CONTROL = 3
MAGIC = b"NKIREF1\0"
ALIGNMENT = 64
MOST_WORDS = 4096  # bytes of a child's error
ADDRESS_SPACE_BYTES = 16 << 30  # of a child, torch included
CPU_SECONDS = 900  # of a child; nkigrid waits no longer either
LOCK_PAUSE_MS = 50  # between two tries to have what another process is about to make
ITEM_BYTES = {"float32": 4, "int32": 4, "bfloat16": 2, "uint8": 1}


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


# ------------------------------------------------------------------------------------------------------------ the cache


def pad(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def write_tensors(path, tensors):
    """Writes one cache file so that a reader, or another writer of the same key, sees a whole file or none.
    @param tensors [(dtype name, shape, bytes)]"""
    described, offset = [], 0
    for dtype, shape, data in tensors:
        described.append({"dtype": dtype, "shape": list(shape), "offset": offset, "bytes": len(data)})
        offset += pad(len(data))
    head = json.dumps({"tensors": described}, separators=(",", ":")).encode()
    start = pad(len(MAGIC) + 32 + 8 + len(head))
    frame = struct.pack("<Q", len(head)) + head
    frame += b"\0" * (start - len(MAGIC) - 32 - len(frame))
    digest = hashlib.sha256(frame)
    pieces = []
    for _, _, data in tensors:
        pieces += [data, b"\0" * (pad(len(data)) - len(data))]
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
        with contextlib.suppress(FileNotFoundError):  # another worker prunes, or has just made it whole
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


def lock_unless_recalled(handle):
    """Waits for a lock that another process holds while a task's code runs: as long as we are wanted.
    @raises Gone, Recalled"""
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN | select.POLLRDHUP)
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            for _, events in poll.poll(LOCK_PAUSE_MS):
                raise Recalled if events == select.POLLIN else Gone


@contextlib.contextmanager
def one_worker(path):
    """Holds a lock file: the workers of one node do not compute the same thing at the same time.

    Who waited finds the files made. @raises Gone, Recalled
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        lock_unless_recalled(handle)
        yield
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    finally:
        os.close(handle)


# -------------------------------------------------------------------------------------------------------------- a child


def bytes_of(spec):
    """Bytes of one tensor of the index. @raises TaskError for an element type that no kernel gets"""
    if spec["dtype"] not in ITEM_BYTES:
        raise TaskError(f"dtype {spec['dtype']} of {spec.get('name', 'an output')} is not one that a kernel gets")
    return ITEM_BYTES[spec["dtype"]] * math.prod(spec["shape"])


class SharedTensors:
    """Memory that a child fills and this process reads: the tensors of an index, one behind the other."""

    def __init__(self, specs):
        self.specs, self.ends = specs, [0]
        for spec in specs:
            self.ends.append(self.ends[-1] + bytes_of(spec))
        self.memory = mmap.mmap(-1, max(self.ends[-1], 1))

    def fill(self, tensors):
        for (_, _, data), start, end in zip(tensors, self.ends, self.ends[1:]):
            self.memory[start:end] = memoryview(data).cast("B")

    def take(self):
        """@returns [(dtype, shape, bytes)]; what a dead child left is this process's alone"""
        whole = memoryview(self.memory)
        places = zip(self.specs, self.ends, self.ends[1:])
        return [(spec["dtype"], spec["shape"], whole[start:end]) for spec, start, end in places]


def compute_in_child(workshop, request, item):
    """One draw. @returns (arguments, results), each [(dtype, shape, bytes)]. @raises TaskError, Gone, Recalled"""
    arguments, expected = SharedTensors(request["inputs"]), SharedTensors(request["outputs"])

    def draw():
        try:
            given, made = compute_trial(workshop.torch, request, item["trial"], int(item["seed"]))
            arguments.fill(given)
            expected.fill(made)
            return b"done"
        except TaskError as error:
            return f"error {error}".encode(errors="replace")
        except Exception as error:  # the task's own code: anything may come
            return f"error {type(error).__name__}: {error}".encode(errors="replace")

    # One request at a time: nothing can come on the socket but its end or a stop.
    words = workshop.walls.run(draw, ADDRESS_SPACE_BYTES, CPU_SECONDS, MOST_WORDS, owner=CONTROL)
    if words != b"done":
        raise TaskError(words.decode(errors="replace").removeprefix("error "))
    return arguments.take(), expected.take()


# ----------------------------------------------------------------------------------------------------------- the server


class Workshop:
    """Torch and the walls, made when the first draw is asked for: a run whose draws are in the cache needs neither."""

    def __init__(self, library, strict):
        self.library, self.strict = library, strict
        self.torch = self.walls = None

    def open(self):
        if self.torch is not None:
            return
        import torch

        # Makes and ends threads. Once the namespaces are left there can be none, and before that there must be no
        # other.
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True, warn_only=True)
        self.walls = Sandbox(self.library, self.strict, readable_folders())
        self.torch = torch


def serve_request(folder, workshop, request):
    """Computes those trials of one (task, stream) that are not there. A key made twice is replaced by equal bytes."""
    if "open" in request:
        workshop.open()
        return {"ok": True}
    for item in request["trials"]:
        path = os.path.join(folder, item["key"])
        with one_worker(path + ".lock"):
            if os.path.exists(path + ".out") and os.path.exists(path + ".in"):
                continue
            workshop.open()
            arguments, expected = compute_in_child(workshop, request, item)
            write_tensors(path + ".out", expected)
            write_tensors(path + ".in", arguments)
    return {"ok": True}


def main():
    folder, limit_bytes, library, level = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
    sys.path[:] = [p for p in sys.path if p.startswith("/usr/lib/python3")]
    workshop = Workshop(library, level == "strict")
    write_frame(CONTROL, {"ok": True, "torch": torch_version()})
    prune(folder, limit_bytes)
    while True:
        try:
            request, _ = read_frame(CONTROL)
        except EOFError:
            return
        if "stop" in request:
            continue  # it crossed our reply
        try:
            reply = serve_request(folder, workshop, request)
        except Gone:
            return
        except Recalled:
            read_frame(CONTROL)
            reply = {"ok": False, "stopped": True}
        except (TaskError, ChildEnded) as error:
            reply = {"ok": False, "of_task": True, "error": str(error)}
        except Exception as error:  # a full disk, a torch that does not load
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}"}
        write_frame(CONTROL, reply)


if __name__ == "__main__":
    main()
