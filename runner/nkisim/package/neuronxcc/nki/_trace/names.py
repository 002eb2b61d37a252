"""Help for names: what exists, what is documented but not here yet, what models invent; the nearest signatures."""

import difflib
import functools
import inspect
import re

from . import context, dtypes, errors
from .inventions import INVENTED, MATMUL, TILE_ATTRIBUTES

# module ("nl", "nisa", ...) -> {name: function or value}
REGISTRY = {"nl": {}, "nisa": {}}

# Documented names of SDK 2.24-2.26 that this version does not have.
NOT_YET = {
    "nl": [],
    "nisa": "range_select select_reduce sequence_bounds".split(),
}
# name -> first SDK that has it
SINCE = {
    ("nl", "gelu_apprx_sigmoid"): (2, 26),
    ("nl", "gather_flattened"): (2, 25),
    ("nisa", "select_reduce"): (2, 26),
    ("nisa", "sequence_bounds"): (2, 26),
    ("nt", "mutable_tensor"): (2, 26),
    ("nl.tile_size", "total_available_sbuf_size"): (2, 26),
}
TRN2_ONLY = ("range_select", "select_reduce", "sequence_bounds")

_PLAIN = {name.replace("_", ""): hint for name, hint in INVENTED.items()}  # layernorm, LeakyReLU
_NO_NEIGHBOUR = {
    "nl": "build it of nl's elementwise functions, nl.where, the reductions over axis 1 and nl.matmul",
    "nisa": "build it of nisa.tensor_tensor, tensor_scalar, activation, tensor_reduce and nc_matmul",
}
_MODULES = {"nl": "neuronxcc.nki.language", "nisa": "neuronxcc.nki.isa"}


def signature_of(module, name):
    value = REGISTRY[module].get(name)
    if not callable(value):
        return f"{module}.{name}"
    try:
        text = str(inspect.signature(value))
    except (TypeError, ValueError):
        text = "(...)"
    text = re.sub(r"<(\w+)\.(\w+): \d+>", r"nisa.\1.\2", text)  # a value of an enum, as it is written
    return f"{module}.{name}{text}".replace(", **kwargs", "").replace("<class '", "").replace("'>", "")


def _named_in(hint):
    """Signatures of the names that a hint uses, in its order."""
    out = []
    for module, name in re.findall(r"\b(nl|nisa)\.(\w+)", hint):
        text = signature_of(module, name)
        if name in REGISTRY[module] and visible(module, name) and text not in out:
            out.append(text)
    return out


def nearest(module, name, count=4, cutoff=0.5):
    """The nearest existing names with their signatures, this module's first."""
    out = []
    for other in (module, "nisa" if module == "nl" else "nl"):
        if name in REGISTRY[other] and other != module:
            out.append(signature_of(other, name))
    table = [n for n in REGISTRY[module] if visible(module, n)]
    close = difflib.get_close_matches(name, table, n=count, cutoff=cutoff)
    close += [n for n in table if name in n or (len(n) > 3 and n in name)][:count]
    for n in close:
        text = signature_of(module, n)
        if text not in out:
            out.append(text)
    return out[: count + 1]


def _target():
    options = context.current().options if context.current() is not None else module_options
    return "trn1" if options is None else options.target


def visible(module, name):
    trace = context.current()
    options = trace.options if trace is not None else module_options
    if options is None:
        return True
    if options.strict_paper_names and (module, name) == ("nl", "matmul"):
        return False
    return SINCE.get((module, name), (0, 0)) <= options.sdk


def unknown_name(module, name):
    """The error for an attribute of nl or nisa that is not there."""
    if name in NOT_YET[module] and name not in REGISTRY[module]:
        if name in TRN2_ONLY and _target() == "trn1":
            return context.build_error(
                "UNSUPPORTED_OP",
                f"{module}.{name} does not exist on trn1",
                rule="it is an instruction of NeuronCore-v3",
                fix="use masks, nl.where or nisa.affine_select",
                kind=NotImplementedError,
            )
        return context.build_error(
            "UNSUPPORTED_OP",
            f"{module}.{name} is not in this version of the simulator",
            rule="documented, but not implemented here",
            fix="use other calls: " + "; ".join(nearest(module, name)),
            kind=NotImplementedError,
        )
    if name in REGISTRY[module] and (module, name) in SINCE:
        since, near = "{}.{}".format(*SINCE[(module, name)]), nearest(module, name)
        error = context.build_error(
            "UNKNOWN_API",
            f"module '{_MODULES[module]}' has no attribute '{name}'",
            rule=f"{module}.{name} exists since SDK {since}",
            fix="; or use: ".join([f"compile for sdk {since}"] + ["; ".join(near)] * bool(near)),
        )
        _remember(error)
        return error
    hint = INVENTED.get(name) or _PLAIN.get(name.lower().replace("_", ""))
    if hint == MATMUL and not visible("nl", "matmul"):
        hint = "nisa.nc_matmul(stationary, moving), at most K 128, M 128, N 512 a call"
    near = _named_in(hint) if hint else nearest(module, name, cutoff=0.6)
    parts = [f"write {hint}"] if hint else []
    if near:
        parts.append("existing names: " + "; ".join(near[:4]))
    elif not parts:
        parts.append(_NO_NEIGHBOUR[module])
    error = context.build_error(
        "UNKNOWN_API",
        f"module '{_MODULES[module]}' has no attribute '{name}'",
        rule="only documented names exist",
        fix=" | ".join(parts),
    )
    _remember(error)
    return error


def _remember(error):
    """For the harness: the unknown name that a later failure may be about."""
    trace = context.current()
    if trace is not None:
        trace.unknown.append(error)
    last_unknown[:] = [error]


module_options = None  # the harness's, while it runs the file's module level
last_unknown = []  # outside a trace (module level of the kernel's file)


def unknown_tile_attribute(tensor, name):
    methods = ("shape", "dtype", "ndim", "reshape", "astype", "broadcast_to", "expand_dims", "view")
    if name in REGISTRY["nl"] and callable(REGISTRY["nl"][name]):
        fix = f"call {signature_of('nl', name)}"
    elif name in INVENTED:
        fix = f"write {INVENTED[name]}"
    elif name in TILE_ATTRIBUTES:
        fix = TILE_ATTRIBUTES[name]
    else:
        fix = "tensors have " + ", ".join(methods)
    error = context.build_error(
        "UNKNOWN_API",
        f"a tensor has no attribute '{name}'",
        operands=[("tensor", tensor)],
        rule="tensors have few methods: " + ", ".join(methods),
        fix=fix,
    )
    trace = context.current()
    if trace is not None:
        trace.unknown.append(error)
    return error


_TWINS = {"fabs": "abs", "absolute": "abs", "pow": "power", "amax": "max", "amin": "min"}
_REDUCED = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min"}  # np.add.reduce


def instead_of(call):
    """What to write for a function of Python, math or numpy that is called on a tile; "" when nothing is known."""
    owner, _, name = call.rpartition(".")
    if name == "reduce":
        name = _REDUCED.get(owner.rpartition(".")[2], name)
    name = _TWINS.get(name, name)
    converted = None if call == "bool" else dtypes.lookup(name)  # bool(tile) asks for its truth
    if dtype := {"float": dtypes.float32, "int": dtypes.int32}.get(call, converted):
        return f"tile.astype(nl.{dtype}) for a tile of another type; its numbers cannot steer Python"
    if name in ("max", "min") and call == name:
        return f"nl.{name}(x, axis=1) along an axis, nl.{name}imum(x, y) of two values"
    if name in ("any", "all") and call == name:
        return "nl.all(x, axis=1), or nl.max(x, axis=1) of a tile of conditions for any; values cannot steer Python"
    if name in REGISTRY["nl"] and callable(REGISTRY["nl"][name]) and visible("nl", name):
        return signature_of("nl", name)
    return INVENTED.get(name) or INVENTED.get(_TWINS.get(name, ""), "")


def api(module, name=None, host=False):
    """Registers a public function: checks that a kernel is traced, names signature mistakes, keeps the first error.

    host: legal outside of kernels, too."""

    def wrap(function):
        public = name or function.__name__
        label = f"{module}.{public}"
        code = function.__code__
        arguments = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        unnamed = "name" not in arguments

        @functools.wraps(function)
        def call(*args, **kwargs):
            trace = context.current() if host else context.trace_or_fail(label)
            if trace is not None and trace.error is not None:
                raise trace.error
            if unnamed and "name" in kwargs and isinstance(kwargs["name"], str):
                del kwargs["name"]  # every function takes one, for the profiler
            try:
                return function(*args, **kwargs)
            except TypeError as error:
                inner = error.__traceback__.tb_next
                if isinstance(error, errors.NkiError) or (
                    inner is not None
                    and inner.tb_frame.f_code.co_name != "_check_keywords"
                    and (inner.tb_next is None or inner.tb_next.tb_frame.f_code.co_name != "_check_keywords")
                ):
                    raise
                raise _bad_signature(module, public, function, args, kwargs, error) from None

        call.__name__ = public
        REGISTRY[module][public] = call
        return call

    return wrap


def _bad_signature(module, name, function, args, kwargs, error):
    text = str(error).replace(function.__name__ + "()", f"{module}.{name}()")
    known = inspect.signature(function).parameters
    if module == "nisa" and (("dst" in kwargs and "dst" not in known) or (name == "nc_matmul" and len(args) == 3)):
        return context.build_error(
            "WRONG_API_ERA",
            f"{text}: a destination-first call",
            rule="in neuronxcc.nki (SDK 2.24) instructions return their result; dst= belongs to the later `nki` "
            "package",
            fix=f"result = {signature_of(module, name)}",
            kind=TypeError,
        )
    operands = [(k, v) for k, v in (*zip(known, args), *kwargs.items()) if k in known and hasattr(v, "memory")]
    operands += [("argument " + k, v) for k, v in kwargs.items() if k not in known][:3]
    return context.build_error(
        "BAD_SIGNATURE",
        text,
        operands=operands,
        rule="arguments follow the documented signature",
        fix=signature_of(module, name),
    )
