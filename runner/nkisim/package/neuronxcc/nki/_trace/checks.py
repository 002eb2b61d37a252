"""Rules that several APIs share. Each message names the operands, the rule with its number and one fix."""

from . import context, dtypes, names
from .affine import Aff
from .conditions import Cond, always_holds
from .context import fail
from .limits import MAX_CONDITIONS, PMAX
from .nodes import Buffer
from .scope import check_alive, check_atom
from .shapes import broadcast_shapes
from .tables import function_name


def is_tensor(value):
    return hasattr(value, "memory") and hasattr(value, "buffer_")


def refuse_host_array(value, api, name):
    """Returns where the value is no array of numpy's."""
    if getattr(value, "shape", ()) and hasattr(value, "dtype"):
        fail(
            "BAD_SIGNATURE",
            f"{api}: {name} is an array of the host, {list(value.shape)} {value.dtype}",
            rule="tiles and numbers are computed with; an array is a constant of the program",
            fix="tile = nl.load(nl.shared_constant(array, dtype=nl.float32)), and use the tile",
            kind=TypeError,
        )


def _fail_order(api, name, value):
    """A function where a tile belongs: arguments in another order."""
    module, _, public = api.partition(".")
    known = public in names.REGISTRY.get(module, ())
    fail(
        "BAD_SIGNATURE",
        f"{api}: {name} must be a tensor, got the function {function_name(value)}",
        rule="arguments follow the documented signature",
        fix=names.signature_of(module, public) if known else "give operators by name, op=np.add",
        kind=TypeError,
    )


def require_tensor(value, api, name):
    if not is_tensor(value):
        if hasattr(value, "slots"):
            fail(
                "INDEXING",
                f"{api}: {name} is an index, not a tile",
                operands=[(name, value)],
                rule="compute calls take tiles",
                fix="make a tile of an index with nisa.iota(expr, dtype=nl.int32)",
            )
        refuse_host_array(value, api, name)
        if function_name(value) is not None and not isinstance(value, str):
            _fail_order(api, name, value)
        fail(
            "BAD_SIGNATURE",
            f"{api}: {name} must be a tensor, got {type(value).__name__}",
            operands=[(name, value)],
            rule="tensors come from parameters, nl.load, nl.ndarray or another nl/nisa call",
            fix=f"pass a tile loaded from HBM as {name}",
        )


def check_tile(tensor, api, name, memories=("sbuf", "psum"), operands=()):
    """`tensor` is what compute APIs accept: on chip, partition first, at most 128 partitions, rank >= 2. operands: all
    that a message shows."""
    if getattr(tensor, "plain", False):
        root = tensor.buffer_.root
        if root.region.open and root.all_reduce is None and root.memory in memories:
            return
    require_tensor(tensor, api, name)
    check_alive(tensor)
    buffer = tensor.buffer_
    if tensor.memory not in memories:
        if not buffer.on_chip:
            fix = f"load it first: tile = nl.load({buffer.name or 'x'}[...]), then pass the tile"
        else:
            fix = f"copy it to {memories[0]} first, e.g. nl.copy(x) or nisa.tensor_copy(x)"
        fail(
            "WRONG_MEMORY",
            f"{api}: expected {name} in {' or '.join(memories)}, got {tensor.memory}",
            operands=operands or [(name, tensor)],
            rule=f"{api} reads {name} from {' or '.join(memories)}",
            fix=fix,
            official="unsupported_memory",
        )
    check_partition_first(tensor, api, name)
    if tensor.dyn is not None:
        fail(
            "INDEXING",
            f"{api}: {name} is indexed by a tile",
            operands=[(name, tensor), ("index", tensor.dyn[1])],
            rule="indirect access on chip is a copy of its own",
            fix=f"copy first: t = nisa.tensor_copy_dynamic_src({buffer.name or 't'}[i_p, offset + i_f])",
            official="copy_dynamic_indirect_indices_not_natively_supported"
            if context.trace_or_fail(api).options.sdk < (2, 26)
            else "indirect_indices_are_not_supported_with_nki_api",
        )
    if buffer.root.all_reduce is not None:
        _fail_reduced(tensor, api, name)
    if tensor.shape[0] > PMAX:
        check_partition_axis(api, name, tensor)


def _fail_reduced(tensor, api, name):
    fail(
        "UNSUPPORTED_OP",
        f"{api}: {name} is the result of nl.all_reduce",
        operands=[(name, tensor)],
        rule="programs run one after another here: a reduction over them is complete when the last one ends, so it can "
        "only be stored",
        fix="nl.store(out[...], value=nl.all_reduce(...)) and go on in another kernel",
    )


def check_axes(tensor):
    """A tensor on chip that was made with one axis may be made, not used."""
    if tensor.ndim < 2 and tensor.buffer_.on_chip:
        (n,) = tensor.shape
        fail(
            "RANK_LAYOUT",
            f"Insufficient rank, shape {list(tensor.shape)} in {tensor.memory}, made at line {tensor.buffer_.line}",
            rule="on-chip tensors have rank >= 2",
            fix=f"({n}, 1) for one value a partition, or (1, {n}) for one row",
        )


def check_partition_first(tensor, api, name):
    buffer = tensor.buffer_
    if len(tensor.shape) < 2:
        check_axes(tensor)
        fail(
            "RANK_LAYOUT",
            f"{api}: Insufficient rank, {name} has {len(tensor.shape)}",
            operands=[(name, tensor)],
            rule="a tile has a partition axis and at least one free axis",
            fix="give it shape (p, 1) or (1, f)",
        )
    if buffer.kind not in (Buffer.SBUF, Buffer.PSUM):
        return
    wrong = [k for k in range(1, len(tensor.shape)) if tensor.shape[k] > 1 and tensor.dims[buffer.pdim].slots[k]]
    leading = tensor.shape[0] > 1 and any(a.slots[0] for d, a in enumerate(tensor.dims) if d < buffer.pdim)
    if wrong or leading:
        fail(
            "RANK_LAYOUT",
            f"{api}: Failed to infer tile from tensor '{buffer.name or name}', its partition axis is not the first one",
            operands=[(name, tensor)],
            rule="block dimensions are indexed away before a tile is used; axis 0 is the partition axis",
            fix=f"index the leading block dimensions: {buffer.name or 't'}[i] gives a tile of "
            f"{list(buffer.shape[buffer.pdim:])}",
            official="failed_to_infer_tile_from_local_tensor",
        )


def check_partition_axis(api, name, tensor, count=None):
    """Axis 0 of a tile; count: the partitions that it gets, where that is another axis of `tensor`."""
    count = tensor.shape[0] if count is None else count
    if count <= PMAX:
        return
    n = -(-count // PMAX)
    check_partition_count(
        api,
        count,
        operands=[(name, tensor)],
        rule=f"axis 0 of a tile is the partition axis, at most nl.tile_size.pmax = {PMAX}",
        fix=f"loop over {n} tiles: for i in nl.affine_range({n}): ... x[i * 128 + nl.arange(128)[:, None], ...]"
        + ("" if count % PMAX == 0 else f" with mask=(i * 128 + nl.arange(128)[:, None] < {count})"),
    )


def check_vector(api, name, tensor):
    """A 1-D tensor that becomes a tile: its axis is axis 0, though it was meant as a row more often than not."""
    count = tensor.shape[0]
    whose = tensor.buffer_.name or name
    row = f"{whose}.reshape((1, {count}))" if tensor.is_whole else f"{whose}[i:i+1, ...] (a slice keeps the axis)"
    check_partition_count(
        api,
        count,
        operands=[(name, tensor)],
        rule=f"the axis of a 1-D tensor is the partition axis, at most nl.tile_size.pmax = {PMAX}; along the free axis "
        "of one partition it is a row",
        fix=f"row = {api}({row}), and row.broadcast_to(({PMAX}, {count})) where it meets a tile of {PMAX} rows",
    )


def check_partition_count(api, count, rule, fix, operands=()):
    if count > PMAX:
        fail(
            "PARTITION_LIMIT",
            f"{api}: number of partitions {count} exceeds architecture limit of {PMAX}",
            operands=operands,
            rule=rule,
            fix=fix,
            official="num_partition_exceed_arch_limit",
        )


def check_same_shape(api, operands, fix, rule="the operands have one shape"):
    """All operands have the same partition and free sizes."""
    shapes = {tuple(t.shape) for _, t in operands}
    if len(shapes) > 1:
        partitions = {t.shape[0] for _, t in operands}
        official = "num_partition_mismatch" if len(partitions) > 1 else ""
        what = "partition counts" if len(partitions) > 1 else "shapes"
        fail(
            "SHAPE_BROADCAST",
            f"{api}: {what} differ",
            operands=operands,
            rule=rule,
            fix=fix,
            official=official,
        )


def check_mutable(tensor, api):
    """Stores may not go to parameters or constants."""
    buffer = tensor.buffer_.root
    trace = context.current()
    if buffer.kind == Buffer.PARAM and not trace.options.legacy_outputs:
        fail(
            "OUTPUT_CONTRACT",
            f"{api}: Cannot update immutable parameter '{buffer.name}'",
            operands=[("destination", tensor)],
            rule="kernel parameters are read-only; results go to a tensor that the kernel returns",
            fix="out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm) at the top of the kernel, store to it, "
            "`return out`",
            official="cannot_update_immutable_parameter",
        )
    if buffer.kind == Buffer.CONSTANT:
        fail(
            "OUTPUT_CONTRACT",
            f"{api}: a shared constant is written",
            operands=[("destination", tensor)],
            rule="constants are read-only",
            fix="load it into a tile and write the tile",
        )


def check_mask(mask, shape, api):
    """A mask is a Cond over the operation's space, or None; returns its items over that space."""
    if mask is None or mask is True:
        return ()
    if not hasattr(mask, "items") or callable(getattr(mask, "items")):
        if is_tensor(mask):
            fail(
                "INDEXING",
                f"{api}: the mask is a tensor value",
                operands=[("mask", mask)],
                rule="a mask is a compile-time condition on indices",
                fix="use nl.where(condition, x, y) for conditions on values",
                official="unsupported_expression_in_mask",
            )
        if mask is False:
            return ((Cond.NOT_NEGATIVE, Aff(-1, {}, (0,) * len(shape), shape)),)
        fail(
            "INDEXING",
            f"{api}: mask is {type(mask).__name__}",
            rule="a mask compares indices: (i_p < n) & (i_f < m)",
            fix="build the mask from nl.arange, loop variables and program ids",
        )
    if len(mask.items) > MAX_CONDITIONS:
        fail(
            "CAPACITY",
            f"{api}: a mask of {len(mask.items)} conditions",
            rule=f"a mask joins at most {MAX_CONDITIONS} conditions",
            fix="keep the conditions that can be false",
        )
    for _, e in mask.items:
        for atom in e.terms:
            check_atom(atom)
        if broadcast_shapes(e.shape, shape) != tuple(shape):
            fail(
                "INDEXING",
                f"{api}: a mask of shape {list(e.shape)} does not fit the index space {list(shape)}",
                rule="a mask broadcasts to the shape of the indexed operand",
                fix="build the mask from the same index grids as the access",
            )
    return tuple((kind, e.spread(tuple(shape))) for kind, e in mask.items)


def whole_rows_mask(mask, shape, api, operands):
    """The conditions of an instruction that takes all of its tile: what is proved true is left out, what hangs on loop
    variables alone says whether it runs. @raises UNSUPPORTED_OP for a condition on elements that may be false"""
    items = tuple((kind, e) for kind, e in check_mask(mask, shape, api) if not always_holds(kind, e))
    for _, e in items:
        if e.has_slots:
            rows, columns = e.slots[0] != 0, any(e.slots[1:])
            part = "data[0:n, 0:m]" if rows and columns else "data[0:n, :]" if rows else "data[:, 0:n]"
            fail(
                "UNSUPPORTED_OP",
                f"{api}: a condition of its mask may be false for some elements: {e}",
                operands=operands,
                rule=f"{api} takes every element of its tile: a mask that is always true, or on loop variables alone, "
                "is legal",
                fix=f"give it the elements that count, e.g. {part}: whole tiles in the loop, the rest in a call after "
                "it",
            )
    return items


def dtype_or(default, dtype, api):
    """The dtype that an API is asked for, `default` where it is not."""
    return default if dtype is None else need_dtype(dtype, api)


def need_dtype(what, api):
    """The DType that `what` names. @raises DTYPE"""
    found = dtypes.lookup(what)
    if found is None:
        fail(
            "DTYPE",
            f"{api}: dtype {dtypes.describe(what)} is not supported",
            rule=f"NeuronCore-v2 has {dtypes.SUPPORTED}",
            fix="numpy has no bfloat16 and float8: make the array np.float32 and give dtype= to the call that takes it"
            if getattr(what, "kind", "") == "V"
            else f"sizes stand in one tuple, the dtype after it: {api}((128, {what}), dtype=nl.float32)"
            if type(what) is int
            else "use nl.float32 or nl.int32",
        )
    return found
