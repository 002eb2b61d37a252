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
from harness import figure, interleaved, report


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


def against(name, source, inputs, peer, peer_name, target, repeats=9, tolerance=1e-5):
    """Kernel and peer (it writes into the array that it gets) by turns in one process: what else the machine does
    falls on both."""
    params = [(f"a{k}", x.shape, "float32") for k, x in enumerate(inputs)]
    ours, theirs = np.empty_like(inputs[0]), np.empty_like(inputs[0])
    run = engine_call(traced(source, params), inputs, [ours])
    seconds, peer_seconds = interleaved(run, lambda: peer(*inputs, theirs), repeats)
    assert np.linalg.norm(ours - theirs) <= tolerance * np.linalg.norm(theirs), name
    report(name, seconds, peer_seconds, peer_name, target)


def normal(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, dtype=np.float32) for shape in shapes]


def add():
    inputs = normal(1, (2048, 4096), (2048, 4096))
    what = "add 2048x4096, grid 16x8"
    against(what, kernels.ADD, inputs, numpy_interpreter.add, "numpy interpreter", "<= 0.125")
    against(what, kernels.ADD, inputs, lambda x, y, out: np.add(x, y, out=out), "numpy, whole array", "<= 1.5")


def matmul():
    inputs = normal(2, (2048, 2048), (2048, 2048))
    against(
        "tiled matmul 2048^3 fp32",
        kernels.MATMUL,
        inputs,
        lambda a, b, out: np.matmul(a.T, b, out=out),
        "sgemm",
        "<= 1.3",
        5,
    )


def rows():
    """Each peer is the formula as one writes it in numpy, on the whole array."""
    inputs = normal(3, (2048, 4096), (1, 4096))
    for name in ("softmax", "layernorm", "rmsnorm", "gelu"):
        source, peer = getattr(kernels, name.upper()), getattr(numpy_interpreter, name)
        against(f"{name} of rows, 2048x4096", source, inputs, peer, "numpy", "<= 1", 5)


def attention():
    inputs = normal(4, *[(16, 256, 64)] * 3)
    against("attention, 16 heads of 256x64", kernels.ATTENTION, inputs, numpy_interpreter.attention, "numpy", "<= 3")


def trace():
    """From request to program in a pre-forked, pre-warmed child, as the tracer server's are: its CPU time, page faults
    included."""
    _harness.warm_up()
    source = kernels.hundred_lines()

    def once():
        from_child = os.pipe()
        pid = os.fork()
        if pid == 0:
            _harness.touch()  # as the server's children do before they take work: their pages are their own by then
            start = time.process_time()
            result = _harness.compile_source(source, None, [("x", (512, 512), "float32")], None, {})
            seconds = time.process_time() - start
            os.write(from_child[1], repr(seconds).encode() if result["ok"] else result["message"].encode())
            os._exit(0)
        answer = os.read(from_child[0], 1 << 16)
        os.waitpid(pid, 0)
        for fd in from_child:
            os.close(fd)
        return float(answer)

    seconds = statistics.median(once() for _ in range(15))
    figure(f"trace of a {len(source.splitlines())}-line kernel, CPU", f"{seconds * 1e3:.2f} ms", "<= 7 ms")


def bench():
    add()
    matmul()
    rows()
    attention()
    trace()
