"""Where tensors and loop variables may be used, and where a loop's body may write."""

from . import context
from .affine import Atom
from .context import fail


def check_alive(tensor):
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
            f"'{name}' holds the tiles of one trip, not of {region.node.trips}: the body of the loop at line "
            f"{region.node.line} is traced once",
            operands=[("tile", tensor)],
            rule="Python lists and dicts do not grow with the trips of a symbolic loop, and a tile lives in the loop "
            "that makes it",
            fix="use nl.static_range for a list of tiles, or one tensor with a leading block index: nl.ndarray((n, "
            "nl.par_dim(128), f), ...)",
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


def _check_programs(trace, access, mask, api):
    """Programs of the grid are parallel as trips of affine_range are: each stores to its own place, or one of them
    alone stores, by a branch or a mask on its id. Where all write equal values nothing is wrong, so it is advice."""
    conditions = [e for region in trace.enclosing(None) if region.kind == "branch" for _, e in region.conditions]
    conditions += [e for _, e in mask]
    for axis, programs in enumerate(trace.grid):
        atom = trace.pid_atoms.get(axis)
        if programs <= 1 or (atom is not None and any(e.mentions(atom) for e in (*access.dims, *conditions))):
            continue
        buffer = access.buffer
        context.beyond_documents(  # a unit test of the vendor's samples launches resize_nearest so: all write the same
            "SCOPE_LOOP_DEP",
            f"{api}: Unexpected output dependencies: all {programs} programs along axis {axis} of the grid write the "
            "same place",
            "kernel instances in the spmd grid can be executed in parallel: each writes a different memory location",
            operands=[("destination", f"{list(buffer.shape)} {buffer.dtype} in {buffer.memory}")],
            fix=f"index the destination by nl.program_id({axis}), e.g. out[nl.ds(nl.program_id({axis}) * 128, 128), :]",
            official="unexpected_output_dependencies",
        )


def check_affine_output(access, accumulates, api, mask=()):
    """A write to an outer tensor inside affine_range must be indexed by the loop's variable, unless it accumulates; so
    must one to a shared tensor by the programs of a grid."""
    if accumulates:
        return
    trace = context.current()
    owner = access.buffer.root.region
    if trace.grid and access.buffer.memory == "shared_hbm" and access.dyn is None:
        _check_programs(trace, access, mask, api)
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
        f"{api}: every trip writes the same place: {names} changes once, the body of the loop at line {line} is traced "
        "once",
        operands=[("destination", f"{list(buffer.shape)} {buffer.dtype} in {buffer.memory}")],
        rule="a Python number does not count the trips of a symbolic loop; its variable does",
        fix="compute the index from the loop variable, or use nl.static_range",
        official="unexpected_output_dependencies",
    )


def _pinned(trace, atom, region):
    """A branch on the loop's variable chooses the trips that write."""
    return any(
        e.mentions(atom)
        for inner in trace.enclosing(region)
        if inner.kind == "branch" and not inner.counts_trips
        for _, e in inner.conditions
    )
