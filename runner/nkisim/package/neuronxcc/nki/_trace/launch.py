"""Running a kernel on numpy arrays through the engine's shared library (drop-in use; no boundary of trust)."""

import os

from . import dtypes, host
from .builder import Options
from .errors import make_error
from .jit import trace_call


def _array(value):
    return (
        hasattr(value, "__array_interface__")
        and hasattr(value, "dtype")
        and hasattr(value, "shape")
        and value.shape != ()
    )


def describe(args, kwargs):
    """(arrays for trace_call, the numpy arrays in parameter order)."""
    arrays, values = {}, []

    def add(key, name, value):
        if isinstance(value, (tuple, list)):
            for k, v in enumerate(value):
                add(f"{key}.{k}", f"{name}_{k}", v)
        elif _array(value):
            dtype = dtypes.lookup(host.type_of(value))
            if dtype is None:
                raise make_error(
                    "DTYPE",
                    f"argument {name} has dtype {value.dtype}",
                    rule=f"NeuronCore-v2 has {dtypes.SUPPORTED}",
                    fix="numpy has no bfloat16 and float8, its arrays of them are plain bytes: "
                    "nl.static_cast(x, nl.bfloat16) "
                    "gives an array that knows its type"
                    if value.dtype.kind == "V"
                    else "cast the array, e.g. x.astype(np.float32)",
                )
            arrays[key] = (name, tuple(int(n) for n in value.shape), dtype)
            values.append(value)

    for k, v in enumerate(args):
        add(k, f"arg{k}", v)
    for k, v in kwargs.items():
        add(k, k, v)
    return arrays, values


def _stored(array):
    """As the engine keeps it."""
    named = getattr(array, "nki_dtype", None)
    return array if named is None else host.codes(array, named.name)


def launch(kernel, args, kwargs):
    """Traces for the SDK that NKISIM_SDK names (default 2.24) and runs; NKISIM_BF16_AS_FP32=1: no rounding to
    bfloat16."""
    options = Options(
        sdk=os.environ.get("NKISIM_SDK", "2.24"),
        target="trn2" if kernel.options.get("platform_target") == "trn2" else "trn1",
        legacy_outputs=True,
        bf16_as_fp32=os.environ.get("NKISIM_BF16_AS_FP32") == "1",
    )
    arrays, values = describe(args, kwargs)
    program = trace_call(kernel.func, args, kwargs, arrays, options, kernel.grid)
    from . import engine  # ctypes and json: a child that only traces never pays for them

    inputs = [_stored(values[k]) for k in program.inputs]
    results = engine.run(program, inputs)
    kernel.benchmark_result = engine.Latency(program)
    if program.written_params:
        for k, result in zip(program.written_params, results):
            values[k][...] = result
        return None
    for k in program.none_at:
        results.insert(k, None)
    return tuple(results) if program.returns_tuple else results[0]
