"""The simulator: its engine against a numpy interpreter and plain sgemm, and the time of a trace."""
import ctypes
import os
import statistics
import time

import numpy as np
from neuronxcc.nki import _harness
from neuronxcc.nki._trace import engine

import kernels
import numpy_interpreter
from harness import figure, median_seconds, report


def traced(source, params):
    result = _harness.compile_source(source, None, params, None, {})
    if not result["ok"]:
        raise SystemExit(result["message"])
    return result["program"]


def engine_call(program, inputs, outputs):
    """A closure that runs the program on fixed arrays: fresh outputs are not part of either side."""
    lib = engine.library()
    in_pointers, in_sizes = engine._pointers(inputs)
    out_pointers, out_sizes = engine._pointers(outputs)
    text = ctypes.create_string_buffer(1 << 16)

    def call():
        code = lib.nkisim_run(
            program,
            len(program),
            in_pointers,
            in_sizes,
            len(inputs),
            out_pointers,
            out_sizes,
            len(outputs),
            engine.POISON_NAN_BITS,
            engine.POISON_INT_BYTE,
            text,
            len(text),
        )
        if code:
            raise SystemExit(text.value.decode())

    return call


def add():
    rng = np.random.default_rng(1)
    x, y = (rng.standard_normal((2048, 4096), dtype=np.float32) for _ in range(2))
    ours, theirs = np.empty_like(x), np.empty_like(x)
    run = engine_call(traced(kernels.ADD, [("x", x.shape, "float32"), ("y", y.shape, "float32")]), [x, y], [ours])
    seconds = median_seconds(run)
    peer = median_seconds(lambda: numpy_interpreter.add(x, y, theirs))
    assert np.array_equal(ours, theirs)
    report("add 2048x4096, grid 16x8", seconds, peer, "numpy interpreter", "<= 0.125")


def matmul():
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((2048, 2048), dtype=np.float32) for _ in range(2))
    out = np.empty((2048, 2048), np.float32)
    run = engine_call(traced(kernels.MATMUL, [("a", a.shape, "float32"), ("b", b.shape, "float32")]), [a, b], [out])
    seconds = median_seconds(run, 5)
    want = np.empty_like(out)
    peer = median_seconds(lambda: np.matmul(a.T, b, out=want), 5)
    assert np.linalg.norm(out - want) < 1e-5 * np.linalg.norm(want)
    report("tiled matmul 2048^3 fp32", seconds, peer, "sgemm", "<= 1.5")


def trace():
    """From request to program in a pre-forked, pre-warmed child: the child waits on a pipe, as the tracer server's
    do."""
    _harness.warm_up()
    source = kernels.hundred_lines().encode()

    def once():
        to_child, from_child = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            _harness.touch()  # as the server's children do before they take work: their pages are their own by then
            os.write(from_child[1], b"r")
            text = os.read(to_child[0], 1 << 20).decode()
            result = _harness.compile_source(text, None, [("x", (512, 512), "float32")], None, {})
            os.write(from_child[1], result["program"] if result["ok"] else result["message"].encode())
            os._exit(0)
        os.read(from_child[0], 1)
        start = time.perf_counter()
        os.write(to_child[1], source)
        answer = os.read(from_child[0], 1 << 20)
        seconds = time.perf_counter() - start
        os.waitpid(pid, 0)
        for fd in (*to_child, *from_child):
            os.close(fd)
        if not answer.startswith(b"NKIPROG"):
            raise SystemExit(answer.decode())
        return seconds

    seconds = statistics.median(once() for _ in range(15))
    figure(f"trace of a {len(kernels.hundred_lines().splitlines())}-line kernel", f"{seconds * 1e3:.2f} ms", "<= 10 ms")


def bench():
    add()
    matmul()
    trace()
