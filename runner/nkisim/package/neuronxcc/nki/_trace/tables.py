"""Numbers of the program form: functions, instructions, engines (runner/nkisim/program/program.hpp), and names that mean a function."""

_FN_NAMES = """add subtract multiply divide power maximum minimum mod fmod bitwise_and bitwise_or bitwise_xor shift_left shift_right
equal not_equal greater greater_equal less less_equal logical_and logical_or logical_xor
copy abs negative sign trunc floor ceil exp log sqrt rsqrt reciprocal square sin cos tan tanh arctan sigmoid relu gelu gelu_dx
gelu_apprx_tanh silu silu_dx erf erf_dx softplus mish invert logical_not select gelu_apprx_sigmoid""".split()
FN = {name: number for number, name in enumerate(_FN_NAMES)}
FN_NAMES = _FN_NAMES

INSTR_NAMES = """part_of_former load store load_transpose dma_copy dma_transpose tensor_copy memset iota affine_select select
tensor_tensor tensor_scalar tensor_scalar_reduce scalar_tensor_tensor activation activation_reduce reciprocal
tensor_reduce partition_reduce partition_broadcast matmul transpose scan bn_stats bn_aggr max8 find_index8
match_replace8 stream_shuffle local_gather random copy_predicated print""".split()
INSTR = {name: number for number, name in enumerate(INSTR_NAMES)}

ENGINE = {"unknown": 0, "tensor": 1, "scalar": 2, "gpsimd": 3, "vector": 5, "dma": 6}
ENGINE_NAMES = {v: k for k, v in ENGINE.items()}
SPECIAL = {
    name: n
    for n, name in enumerate(
        "bn_stats bn_aggr max8 find_index8 match_replace8 stream_shuffle local_gather random print".split()
    )
}
WORK_F32, WORK_I32, WORK_RAW = 0, 1, 2

# Names of numpy ufuncs, nl functions and strings that mean one of FN.
ALIASES = {
    "amax": "maximum",
    "max": "maximum",
    "amin": "minimum",
    "min": "minimum",
    "sum": "add",
    "prod": "multiply",
    "true_divide": "divide",
    "absolute": "abs",
    "left_shift": "shift_left",
    "right_shift": "shift_right",
    "sub": "subtract",
    "mul": "multiply",
    "bitwise_not": "invert",
    "remainder": "mod",
    "float_power": "power",
    "all": "logical_and",
    "any": "logical_or",
    "identity": "copy",
    "arctan": "arctan",
    "conjugate": "copy",
}

ARITHMETIC = ("add", "subtract", "multiply", "divide", "power", "maximum", "minimum", "mod", "fmod")
BITVEC = ("bitwise_and", "bitwise_or", "bitwise_xor", "shift_left", "shift_right")
COMPARISONS = ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
LOGICAL = ("logical_and", "logical_or", "logical_xor")
BINARY = ARITHMETIC + BITVEC + COMPARISONS + LOGICAL
UNARY = tuple(n for n in _FN_NAMES if n not in BINARY and n not in ("select", "copy"))
REDUCTIONS = ("add", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor") + LOGICAL
ACTIVATIONS = (
    "copy",
    "square",
    "sigmoid",
    "relu",
    "gelu",
    "gelu_dx",
    "gelu_apprx_tanh",
    "gelu_apprx_sigmoid",
    "silu",
    "silu_dx",
    "tanh",
    "softplus",
    "mish",
    "erf",
    "erf_dx",
    "exp",
    "log",
    "sin",
    "arctan",
    "sqrt",
    "rsqrt",
    "reciprocal",
    "sign",
    "abs",
)
# int32 results that the engines compute exactly
EXACT_INTEGER = (
    ("add", "subtract", "multiply", "maximum", "minimum", "abs", "negative", "invert", "copy")
    + BITVEC
    + COMPARISONS
    + LOGICAL
)


def function_name(op):
    """The FN name that `op` (numpy ufunc, nl function, string) means, or None."""
    name = op if isinstance(op, str) else getattr(op, "__name__", None)
    if not isinstance(name, str):
        return None
    name = ALIASES.get(name, name)
    return name if name in FN else None
