"""Rules that several APIs share. Each message names the operands, the rule with its number and one fix."""

from . import context
from .affine import Atom
from .nodes import Buffer

PMAX = 128
fail = context.fail


def is_tensor(value):
    return hasattr(value, "memory") and hasattr(value, "buffer_")


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
        fail(
            "BAD_SIGNATURE",
            f"{api}: {name} must be a tensor, got {type(value).__name__}",
            operands=[(name, value)],
            rule="tensors come from parameters, nl.load, nl.ndarray or another nl/nisa call",
            fix=f"pass a tile loaded from HBM as {name}",
        )


def check_alive(tensor, api=""):
    """The scope rule: storage and loop variables may be used only inside the region that made them."""
    buffer = tensor.buffer_
    if not buffer.root.region.open:
        node = buffer.root.region.node
        what = f"tile '{buffer.name}'" if buffer.name else "a tile"
        if buffer.root.region.kind == "loop":
            _fail_if_collected(tensor)
        fail(
            "SCOPE_LOOP_DEP",
            f"{what} made at line {buffer.line} inside a {'loop' if buffer.root.region.kind == 'loop' else 'branch'}"
            f"{f' (line {node.line})' if node else ''} is referenced outside of its parent scope",
            operands=[("tile", tensor)],
            rule="a tensor lives in the loop or branch that creates it",
            fix="allocate it before the loop (nl.ndarray or nl.zeros) and assign with t[...] = value inside",
            official="local_variable_used_out_of_scope",
        )
    for aff in tensor.dims:
        for atom in aff.terms:
            check_atom(atom)


def _fail_if_collected(tensor):
    """A list of tiles that a symbolic loop fills holds one, whatever the trip count."""
    region, name = tensor.buffer_.root.region, context.holder(tensor.buffer_.root)
    if name:
        fail(
            "CONTROL_FLOW",
            f"'{name}' holds the tiles of one trip, not of {region.node.trips}: the body of the loop at line {region.node.line} is traced once",
            operands=[("tile", tensor)],
            rule="Python lists and dicts do not grow with the trips of a symbolic loop, and a tile lives in the loop that makes it",
            fix="use nl.static_range for a list of tiles, or one tensor with a leading block index: nl.ndarray((n, nl.par_dim(128), f), ...)",
            official="local_variable_used_out_of_scope",
        )


def check_atom(atom):
    if atom.kind == Atom.LOOP and not atom.region.open:
        fail(
            "SCOPE_LOOP_DEP",
            f"the variable of the loop at line {atom.region.node.line} is used after the loop",
            rule="a loop variable exists inside its loop only",
            fix="compute the index from constants",
            official="local_variable_used_out_of_scope",
        )
    if atom.operand is not None:
        for inner in atom.operand.terms:
            check_atom(inner)


def check_tile(tensor, api, name, memories=("sbuf", "psum"), operands=()):
    """`tensor` is what compute APIs accept: on chip, partition first, at most 128 partitions, rank >= 2. operands: all that a message shows."""
    if getattr(tensor, "plain", False):
        root = tensor.buffer_.root
        if root.region.open and root.all_reduce is None and root.memory in memories:
            return
    require_tensor(tensor, api, name)
    check_alive(tensor, api)
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
        from .api.spmd import check_not_reduced

        check_not_reduced(tensor, api, name)
    if tensor.shape[0] > PMAX:
        fail_partitions(api, name, tensor, tensor.shape[0])


def check_partition_first(tensor, api, name):
    buffer = tensor.buffer_
    if len(tensor.shape) < 2:
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
            f"{api}: Failed to infer tile from tensor '{buffer.name}', its partition axis is not the first one",
            operands=[(name, tensor)],
            rule="block dimensions are indexed away before a tile is used; axis 0 is the partition axis",
            fix=f"index the leading block dimensions: {buffer.name or 't'}[i] gives a tile of {list(buffer.shape[buffer.pdim:])}",
            official="failed_to_infer_tile_from_local_tensor",
        )


def fail_partitions(api, name, tensor, count):
    n = -(-count // PMAX)
    fail(
        "PARTITION_LIMIT",
        f"{api}: number of partitions {count} exceeds architecture limit of {PMAX}",
        operands=[(name, tensor)],
        rule=f"axis 0 of a tile is the partition axis, at most nl.tile_size.pmax = {PMAX}",
        fix=f"loop over {n} tiles: for i in nl.affine_range({n}): ... x[i * 128 + nl.arange(128)[:, None], ...]"
        + ("" if count % PMAX == 0 else f" with mask=(i * 128 + nl.arange(128)[:, None] < {count})"),
        official="num_partition_exceed_arch_limit",
    )


def check_partition_bytes(api, shape, pdim, dtype, memory, sbuf_bytes, psum_bytes):
    """One tile must fit into a partition; declared totals of block tensors never matter."""
    size = dtype.size
    for n in shape[pdim + 1 :]:
        size *= n
    limit = psum_bytes if memory == "psum" else sbuf_bytes
    if size > limit:
        fail(
            "CAPACITY",
            f"{api}: a tile of {list(shape[pdim:])} {dtype} needs {size} bytes per partition",
            rule=f"{memory} has {limit} usable bytes per partition ({limit // 1024} KiB)",
            fix="split the free axes into smaller tiles"
            + (" (512 float32 elements are one PSUM bank)" if memory == "psum" else "")
            + (
                "; an output is created with buffer=nl.shared_hbm"
                if api in ("nl.ndarray", "nl.zeros", "nl.full")
                else ""
            ),
        )


def check_same_shape(api, operands, fix):
    """All operands have the same partition and free sizes (nisa instructions do not broadcast)."""
    shapes = {tuple(t.shape) for _, t in operands}
    if len(shapes) > 1:
        partitions = {t.shape[0] for _, t in operands}
        official = "num_partition_mismatch" if len(partitions) > 1 else ""
        what = "partition counts" if len(partitions) > 1 else "shapes"
        fail(
            "SHAPE_BROADCAST",
            f"{api}: {what} differ",
            operands=operands,
            rule="nisa instructions take operands of equal shape, no broadcast",
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
            fix="out = nl.ndarray(shape, dtype=x.dtype, buffer=nl.shared_hbm) at the top of the kernel, store to it, `return out`",
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


def check_affine_output(access, accumulates, api):
    """A write to an outer tensor inside affine_range must be indexed by the loop's variable, unless it accumulates."""
    if accumulates:
        return
    trace = context.current()
    owner = access.buffer.root.region
    for region in trace.enclosing(owner):
        if region.kind != "loop" or region.node.sequential or region.node.trips <= 1:
            continue
        atom = region.node.atom
        if access.dyn is not None or any(a.mentions(atom) for a in access.dims) or _pinned(trace, atom, region):
            continue
        buffer = access.buffer
        name = f"'{buffer.name}'" if buffer.name else "the destination"
        if region.counters:
            _fail_counted(access, region, api)
        fail(
            "SCOPE_LOOP_DEP",
            f"{api}: Unexpected output dependencies, missing indices in {name}: the variable of the "
            f"affine_range loop at line {region.node.line}",
            operands=[("destination", f"{list(buffer.shape)} {buffer.dtype} in {buffer.memory}")],
            rule="iterations of affine_range are independent: each writes its own place, or accumulates with +=",
            fix=f"index {name} by that loop variable, accumulate with `+=`, or loop with nl.sequential_range",
            official="unexpected_output_dependencies",
        )


def _fail_counted(access, region, api):
    """The place that each trip writes is meant to come from a Python counter."""
    names = " and ".join(f"'{n}'" for n in region.counters)
    buffer, line = access.buffer, region.node.line
    fail(
        "CONTROL_FLOW",
        f"{api}: every trip writes the same place: {names} changes once, the body of the loop at line {line} is traced once",
        operands=[("destination", f"{list(buffer.shape)} {buffer.dtype} in {buffer.memory}")],
        rule="a Python number does not count the trips of a symbolic loop; its variable does",
        fix="compute the index from the loop variable, or use nl.static_range",
        official="unexpected_output_dependencies",
    )


def _pinned(trace, atom, region):
    """A branch on the loop's variable chooses the trips that write."""
    return any(
        e.mentions(atom) for inner in trace.enclosing(region) if inner.kind == "branch" for _, e in inner.conditions
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
            from .affine import Aff

            return ((0, Aff(-1, {}, (0,) * len(shape), shape)),)
        fail(
            "INDEXING",
            f"{api}: mask is {type(mask).__name__}",
            rule="a mask compares indices: (i_p < n) & (i_f < m)",
            fix="build the mask from nl.arange, loop variables and program ids",
        )
    from .affine import broadcast_shapes

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
