"""Tracing one call of a kernel into a program."""

from . import context, errors, mutable, peephole, runtime, scope
from .builder import Options, Trace
from .capacity import check_bytes, check_cost
from .dtypes import bfloat16, float32
from .encode import encode
from .nodes import Alloc, Buffer
from .residence import check_residence
from .tensor import Tensor

TRACER = "nkigrid-nkisim 1"


class Program:
    """What a trace gives. outputs: (shape, dtype name) in order; written_params: argument positions of legacy
    outputs."""

    def __init__(self, data, entry, outputs, returns_tuple, warnings, written_params=(), none_at=(), inputs=()):
        self.data, self.entry, self.outputs, self.returns_tuple = data, entry, outputs, returns_tuple
        self.warnings, self.written_params, self.none_at = warnings, written_params, none_at
        self.inputs = inputs  # positions of the array arguments that the program reads
        self.file = "kernel.py"  # the kernel's, as messages name it


def call_inline(func, args, kwargs):
    trace = context.current()
    trace.files.add(func.__code__.co_filename)
    trace.depth += 1
    try:
        return runtime.traced(func)(*args, **kwargs)
    finally:
        trace.depth -= 1


def trace_call(func, args, kwargs, arrays, options=None, grid=(), file_label=None):
    """Records func(*args, **kwargs).

    @param arrays {position (int) or name (str) of an array argument: (name, shape, dtype)}
    @returns Program. @raises the trace's first error, with its warnings in `.warnings`."""
    options = options or Options()
    code = getattr(func, "__code__", None)
    if code is None or func.__name__ == "<lambda>":
        raise errors.make_error(
            "NO_KERNEL",
            f"{func!r} is not a plain function",
            rule="a kernel is a `def` function",
            fix="write def kernel(...):",
        )
    trace = Trace(options, grid, [code.co_filename], file_label or code.co_filename.rsplit("/", 1)[-1])
    context.push(trace)
    try:
        args, kwargs, params = _bind_arrays(trace, func, args, kwargs, arrays)
        trace.depth = 1
        try:
            result = runtime.traced(func)(*args, **kwargs)
        except BaseException as error:
            first = trace.error or error
            first.warnings = trace.warnings
            if first is error:
                raise
            raise first from None
        if trace.error is not None:
            raise trace.error
        if trace.region is not trace.top:
            trace.close_region(trace.top)
        program = _finish(trace, func, result, params)
        program.file = trace.file_label
        return program
    except BaseException as error:
        error.warnings = trace.warnings
        error.unknown = trace.unknown
        raise
    finally:
        context.pop()


def _bind_arrays(trace, func, args, kwargs, arrays):
    params, writable = [], mutable.names_of(func)

    def tensor(key):
        name, shape, dtype = arrays[key]
        buffer = trace.add_buffer(Buffer.PARAM, dtype, name, tuple(shape), 0, "hbm", alloc=False)
        buffer.filled = True
        params.append(buffer)
        trace.params.append(buffer)
        whole = Tensor.whole(buffer)
        return mutable.copy_in(trace, whole) if writable and mutable.parameter_name(func, key) in writable else whole

    def replace(key, value):
        if key in arrays:
            return tensor(key)
        if isinstance(value, (tuple, list)) and any(f"{key}.{k}" in arrays for k in range(len(value))):
            return type(value)(replace(f"{key}.{k}", v) for k, v in enumerate(value))
        return value

    new_args = [replace(k, v) for k, v in enumerate(args)]
    return new_args, {k: replace(k, v) for k, v in kwargs.items()}, params


def _finish(trace, func, result, params):
    label, last = func.__name__, _last_line(func)
    is_tuple = isinstance(result, (tuple, list))
    if isinstance(result, list) and not trace.options.legacy_outputs:
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns a list",
            line=last,
            operands=[("returned", f"a list of {len(result)}")],
            rule="a kernel returns one tensor created with buffer=nl.shared_hbm, or a tuple of them",
            fix="return out, or return (out_a, out_b)",
        )
    items = list(result) if is_tuple else [result]
    none_at = tuple(k for k, v in enumerate(items) if v is None) if is_tuple else ()
    items = [v for v in items if v is not None]
    read = {}  # legacy outputs that are inputs too
    legacy = [k for k, b in enumerate(params) if b.written]
    outputs = [_output(trace, label, item, last) for item in items]
    if not outputs and legacy and trace.options.legacy_outputs:
        for k in legacy:
            params[k].kind = Buffer.OUTPUT
            read[k] = mutable.start_from_argument(trace, params[k])
        outputs = [params[k] for k in legacy]
    if not outputs:
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns nothing",
            line=last,
            rule="results are returned in tensors created with buffer=nl.shared_hbm",
            fix="out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm); nl.store(out[...], value=tile); return "
            "out",
            official="tensor_output_not_written_to",
        )
    mutable.check_returned(trace, outputs)
    _become_outputs(trace, label, outputs)
    chosen = [(k, b if b.kind == Buffer.PARAM else read.get(k)) for k, b in enumerate(params)]
    data = _bytes_of(trace, label, outputs, is_tuple, [b for _, b in chosen if b is not None])
    shapes = [(b.shape, b.dtype.name) for b in outputs]
    return Program(
        data,
        label,
        shapes,
        is_tuple,
        trace.warnings,
        tuple(legacy) if not items else (),
        none_at,
        tuple(k for k, b in chosen if b is not None),
    )


def _become_outputs(trace, label, outputs):
    for b in outputs:
        if not b.root.written:
            _fail_end(
                "OUTPUT_CONTRACT",
                f"output tensor{f' {b.name!r}' if b.name else ''} {list(b.shape)} of kernel '{label}' was never "
                "written to",
                operands=[("output", Tensor.whole(b))],
                rule="every returned tensor is stored to (a loop of zero trips stores nothing)",
                fix="nl.store(out[...], value=tile) before `return out`",
                official="tensor_output_not_written_to",
                line=b.line,
            )
        b.kind = b.root.kind = Buffer.OUTPUT
    for b in trace.buffers:
        b.kind = b.root.kind


def _bytes_of(trace, label, outputs, is_tuple, params):
    """What is recorded, with results written in place, within what a reader takes."""
    _drop_output_allocs(trace)
    if trace.options.bf16_as_fp32:
        _widen(trace)
    uses = peephole.forward(trace, {b.root for b in outputs})
    peephole.drop_dead(trace.body, uses)
    check_cost(trace)
    check_residence(trace)
    data = encode(trace, label, outputs, is_tuple, params, TRACER, uses.buffers)
    check_bytes(data, trace.buffers)
    return data


def _widen(trace):
    """Tiles and results of bfloat16 keep float32 values, as in the vendor's own simulator."""
    for b in trace.buffers:
        if b.dtype is bfloat16 and b.kind not in (Buffer.PARAM, Buffer.CONSTANT):
            b.dtype = float32


def _fail_end(code, problem, **details):
    details.setdefault("line", 0)
    context.fail(code, problem, **details)


def _last_line(func):
    """The line of the function's last statement, as a rule its `return`."""
    return max((line for _, _, line in func.__code__.co_lines() if line), default=0)


def _output(trace, label, item, last):
    if not isinstance(item, Tensor):
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns {type(item).__name__}",
            line=last,
            rule="a kernel returns HBM tensors",
            fix="return the tensor created with buffer=nl.shared_hbm",
        )
    scope.check_alive(item)
    buffer = item.buffer_
    if buffer.on_chip:
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns a tile in {item.memory}",
            line=last,
            operands=[("returned", item)],
            rule="a kernel returns HBM tensors",
            fix="nl.store(out[...], value=tile) into an nl.shared_hbm tensor, then `return out`",
        )
    if not (
        trace.options.legacy_outputs
        or _plain_hbm_output(item)
        or buffer.root.shared
        or buffer.root in trace.mutable
        or buffer.root.kind != Buffer.HBM
    ):
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns{f' {buffer.name!r},' if buffer.name else ''} a tensor in private HBM",
            operands=[("returned", item)],
            rule="a returned tensor is created with buffer=nl.shared_hbm, at the top level of the kernel",
            line=buffer.root.line,
            fix=f"out = nl.ndarray({buffer.root.shape}, dtype=nl.{buffer.root.dtype}, buffer=nl.shared_hbm)",
        )
    if buffer.root.kind in (Buffer.PARAM, Buffer.CONSTANT):
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns its own {'parameter' if buffer.root.kind == Buffer.PARAM else 'constant'} "
            f"'{buffer.name}'",
            line=last,
            operands=[("returned", item)],
            rule="a returned tensor is created by the kernel and written",
            fix="create an nl.shared_hbm tensor and store to it",
            official="tensor_output_not_written_to",
        )
    if not item.is_whole:
        _fail_end(
            "OUTPUT_CONTRACT",
            f"kernel '{label}' returns a part of '{buffer.name}'",
            line=last,
            operands=[("returned", item)],
            rule="a kernel returns whole tensors",
            fix="return the tensor itself",
        )
    return buffer


def _plain_hbm_output(item):
    """nl.hbm where documents want nl.shared_hbm: graded kernels of a course return it (Trn1, Trn2)."""
    root = item.buffer_.root
    if root.memory != "hbm" or root.kind != Buffer.HBM or root.region is not context.current().top:
        return False
    context.beyond_documents(
        "OUTPUT_CONTRACT",
        f"the returned tensor{f' {root.name!r}' if root.name else ''} of line {root.line} is in nl.hbm, private HBM",
        "a returned tensor is created with buffer=nl.shared_hbm, at the top level of the kernel",
        operands=[("returned", item)],
        line=root.line,
        fix=f"out = nl.ndarray({root.shape}, dtype=nl.{root.dtype}, buffer=nl.shared_hbm)",
    )
    return True


def _drop_output_allocs(trace):
    trace.body[:] = [n for n in trace.body if not (isinstance(n, Alloc) and n.buffer.kind == Buffer.OUTPUT)]
