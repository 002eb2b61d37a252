"""The tensor that a kernel sees: a view of a buffer, with operators."""

from . import checks, context, dtypes
from .affine import Aff, broadcast_shapes
from .nodes import Buffer

fail = context.fail


_IDENTITY, _REPEATED = (
    {},
    {},
)  # shape -> dims; (shape, larger shape) -> dims: shared, so that equal views are the same object


def identity_dims(shape):
    """Dims of a whole-buffer view: dimension k is slot k. One object a shape."""
    found = _IDENTITY.get(shape)
    if found is None:
        rank = len(shape)
        found = _IDENTITY[shape] = tuple(
            Aff(0, {}, tuple(1 if j == k and n > 1 else 0 for j in range(rank)), shape) for k, n in enumerate(shape)
        )
    return found


def repeated_dims(shape, larger):
    """Dims of a whole-buffer view over a space that it broadcasts to. One object a pair of shapes."""
    found = _REPEATED.get((shape, larger))
    if found is None:
        pad = len(larger) - len(shape)
        found = _REPEATED[shape, larger] = tuple(repeat(a, shape, larger, pad) for a in identity_dims(shape))
    return found


class Tensor:
    """A view: one Aff a buffer dimension over the axes of `shape`.

    `dyn` is (dimension, index tile, skip out of bounds) for indirect access. `mask` and `reduction` describe how the value was
    computed, so that `t[...] = value` can write through. `plain`: a whole on-chip tile, partition axis first, within 128 partitions.
    """

    __slots__ = ("buffer_", "dims", "shape", "dyn", "mask", "reduction", "plain")
    __hash__ = object.__hash__

    def __init__(self, buffer, dims, shape, dyn=None):
        self.buffer_, self.dims, self.shape, self.dyn = buffer, tuple(dims), tuple(shape), dyn
        self.mask = self.reduction = None
        self.plain = False

    @classmethod
    def whole(cls, buffer):
        shape = buffer.shape
        out = cls(buffer, identity_dims(shape), shape)
        out.plain = buffer.on_chip and buffer.pdim == 0 and len(shape) > 1 and shape[0] <= checks.PMAX
        return out

    # -- facts
    @property
    def dtype(self):
        return self.buffer_.dtype

    @property
    def ndim(self):
        return len(self.shape)

    @property
    def memory(self):
        return self.buffer_.memory

    @property
    def buffer(self):
        return self.buffer_.memory

    @property
    def name(self):
        return self.buffer_.name

    @property
    def size(self):
        n = 1
        for d in self.shape:
            n *= d
        return n

    @property
    def itemsize(self):
        return self.dtype.size

    @property
    def is_whole(self):
        whole = identity_dims(self.buffer_.shape)
        return (
            self.dyn is None
            and self.shape == self.buffer_.shape
            and (self.dims is whole or all(a.same(b) for a, b in zip(self.dims, whole)))
        )

    def same_place(self, other):
        return (
            self.buffer_ is other.buffer_
            and self.shape == other.shape
            and self.dyn is None
            and other.dyn is None
            and all(a.same(b) for a, b in zip(self.dims, other.dims))
        )

    def __repr__(self):
        return f"{self.buffer_.name or 'tensor'} {list(self.shape)} {self.dtype} in {self.memory}"

    # -- indexing
    def __getitem__(self, key):
        from .indexing import index_tensor

        return index_tensor(self, key)

    def __setitem__(self, key, value):
        from .assign import assign

        assign(self[key], value)

    # -- views
    def broadcast_to(self, shape, *more):
        shape = _shape_argument(shape, more)
        if broadcast_shapes(self.shape, shape) != shape:
            fail(
                "SHAPE_BROADCAST",
                f"broadcast_to: {list(self.shape)} does not broadcast to {list(shape)}",
                operands=[("tile", self)],
                rule="axes are equal or 1",
                fix="give a shape whose axes match the tile's",
            )
        pad = len(shape) - len(self.shape)
        out = Tensor(self.buffer_, [repeat(a, self.shape, shape, pad) for a in self.dims], shape, self.dyn)
        return out

    def expand_dims(self, axis):
        if isinstance(axis, (tuple, list)):
            out, rank = self, self.ndim + len(axis)
            for k in sorted(a + rank if a < 0 else a for a in axis):
                out = out.expand_dims(k)
            return out
        rank = self.ndim + 1
        axis = axis + rank if axis < 0 else axis
        if self.buffer_.on_chip and axis == 0:
            fail(
                "RANK_LAYOUT",
                "expand_dims: axis 0 is the partition axis",
                operands=[("tile", self)],
                rule="axis 0 is the partition axis",
                fix="expand a free axis",
            )
        shape = self.shape[:axis] + (1,) + self.shape[axis:]
        dims = [Aff(a.c, a.terms, a.slots[:axis] + (0,) + a.slots[axis:], shape) for a in self.dims]
        return Tensor(self.buffer_, dims, shape, self.dyn)

    def reshape(self, *sizes, shape=None):
        shape = sizes if shape is None else (shape,)
        shape = _shape_argument(shape[0] if len(shape) == 1 else shape, ())
        return _alias(self, shape, self.dtype, "reshape")

    def view(self, dtype):
        target = need_dtype(dtype, "view")
        if self.is_whole and self.shape and self.shape[-1] * self.dtype.size % target.size == 0:
            return _alias(self, self.shape[:-1] + (self.shape[-1] * self.dtype.size // target.size,), target, "view")
        fail(
            "RANK_LAYOUT",
            f"view: {self.dtype} of shape {list(self.shape)} does not view as {target}",
            operands=[("tensor", self)],
            rule="a dtype view keeps the bytes of a whole tensor",
            fix="view the whole tensor, with a last axis whose bytes divide",
        )

    def astype(self, dtype, **_):
        from .api.nl_memory import cast

        return cast(self, need_dtype(dtype, "astype"))

    # -- operators
    def _binary(self, name, other, swap=False):
        from .api.nl_elementwise import operator_call

        return operator_call(name, other, self) if swap else operator_call(name, self, other)

    def _unary(self, name):
        from .api.nl_elementwise import unary_call

        return unary_call(name, self)

    def _update(self, name, other):
        from .assign import update

        return update(self, name, other)

    def __iter__(self):
        fail(
            "CONTROL_FLOW",
            "a tensor is iterated over",
            operands=[("tensor", self)],
            rule="a kernel is traced once, without data",
            fix="loop with nl.affine_range over the first axis and index the tensor",
            kind=TypeError,
        )

    def __bool__(self):
        fail(
            "CONTROL_FLOW",
            "the truth value of a tensor is asked for",
            operands=[("tensor", self)],
            rule="a kernel is traced without data: values cannot steer Python",
            fix="select values with nl.where(condition, x, y)",
            official="dynamic_control_flow_not_supported"
            if context.current() is None or context.current().options.sdk < (2, 26)
            else "ambiguous_tensor_truth_value",
        )

    def __index__(self):
        fail(
            "CONTROL_FLOW",
            "a tensor is used as a Python integer",
            operands=[("tensor", self)],
            rule="a kernel is traced without data",
            fix="use compile-time integers, or indirect indexing of the partition axis in nl.load and nl.store",
            kind=TypeError,
        )

    __int__ = __float__ = __index__

    def __len__(self):
        return self.shape[0] if self.shape else 0

    def __contains__(self, _):
        return self.__bool__()

    def __array__(self, *_, **__):
        fail(
            "UNKNOWN_API",
            "numpy is called on a tile",
            operands=[("tile", self)],
            rule="inside a kernel data exists on the device only",
            fix="use the nl function of the same name, e.g. nl.exp(tile)",
            kind=TypeError,
        )

    def __array_ufunc__(self, ufunc, method, *inputs, **_):
        name = _UFUNC_OPERATORS.get(ufunc.__name__)
        tensors = sum(isinstance(x, Tensor) for x in inputs)
        if method == "__call__" and name and len(inputs) == 2 and tensors == 1:
            left, right = inputs
            return left._binary(name, right) if isinstance(left, Tensor) else right._binary(name, left, swap=True)
        fail(
            "UNKNOWN_API",
            f"numpy.{ufunc.__name__} is called on a tile",
            operands=[("tile", self)],
            rule="inside a kernel data exists on the device only; numpy functions serve as op= names",
            fix=_instead_of_numpy(ufunc.__name__),
            kind=TypeError,
        )

    def __getattr__(self, attribute):
        if attribute.startswith("__"):
            raise AttributeError(attribute)
        from .names import unknown_tile_attribute

        raise unknown_tile_attribute(self, attribute)


def _instead_of_numpy(name):
    from .names import INVENTED, REGISTRY, signature_of

    name = {"true_divide": "divide", "absolute": "abs", "power": "power", "matmul": "matmul"}.get(name, name)
    if name in REGISTRY["nl"]:
        return f"call {signature_of('nl', name)}, or pass np.{name} as op= of a nisa instruction"
    return (
        f"write {INVENTED[name]}"
        if name in INVENTED
        else "spell it with nl functions, or pass it as op= of a nisa instruction"
    )


def _no_operator(sign, fix):
    def refuse(self, _other):
        fail(
            "UNKNOWN_API",
            f"operator {sign} on a tile",
            operands=[("tile", self)],
            rule="tiles have + - * / ** % & | ^ << >> and comparisons",
            fix=fix,
            kind=TypeError,
        )

    return refuse


_UFUNC_OPERATORS = {
    n: n
    for n in (
        "add",
        "subtract",
        "multiply",
        "power",
        "equal",
        "not_equal",
        "greater",
        "greater_equal",
        "less",
        "less_equal",
        "bitwise_and",
        "bitwise_or",
        "bitwise_xor",
        "maximum",
        "minimum",
    )
}
_UFUNC_OPERATORS.update({"divide": "divide", "true_divide": "divide"})


def _install_operators():
    table = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "pow": "power",
        "mod": "mod",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "lshift": "shift_left",
        "rshift": "shift_right",
    }
    for dunder, name in table.items():
        setattr(Tensor, f"__{dunder}__", lambda self, other, name=name: self._binary(name, other))
        setattr(Tensor, f"__r{dunder}__", lambda self, other, name=name: self._binary(name, other, swap=True))
    for dunder in ("add", "sub", "mul", "truediv"):
        setattr(Tensor, f"__i{dunder}__", lambda self, other, name=table[dunder]: self._update(name, other))
    for dunder, name in {
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "eq": "equal",
        "ne": "not_equal",
    }.items():
        setattr(Tensor, f"__{dunder}__", lambda self, other, name=name: self._compare(name, other))
    Tensor._compare = (
        lambda self, name, other: name == "not_equal"
        if other is None and name in ("equal", "not_equal")
        else (self._binary(name, other))
    )
    for dunder, name in {"neg": "negative", "abs": "abs", "invert": "invert"}.items():
        setattr(Tensor, f"__{dunder}__", lambda self, name=name: self._unary(name))
    Tensor.__pos__ = lambda self: self
    Tensor.__matmul__ = Tensor.__rmatmul__ = _no_operator("@", "nl.matmul(x, y) or nisa.nc_matmul(stationary, moving)")
    Tensor.__floordiv__ = Tensor.__rfloordiv__ = _no_operator("//", "nl.floor(nl.divide(x, y))")
    Tensor.__hash__ = object.__hash__


_install_operators()


def repeat(aff, old_shape, new_shape, pad):
    """`aff` over a larger shape: axes of size 1 that grow get no slot."""
    slots = [0] * pad
    for n, d, m in zip(old_shape, aff.slots, new_shape[pad:]):
        slots.append(d if n == m else 0)
    return Aff(aff.c, aff.terms, tuple(slots), tuple(new_shape))


def need_dtype(what, api):
    found = dtypes.lookup(what)
    if found is None:
        fail(
            "DTYPE",
            f"{api}: dtype {dtypes.describe(what)} is not supported",
            rule=f"NeuronCore-v2 has {dtypes.SUPPORTED}",
            fix="use nl.float32 or nl.int32",
        )
    return found


def _shape_argument(shape, more):
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,) + tuple(more)
    out = []
    for n in shape:
        value = checks_int(n)
        if value is None or value <= 0:
            fail(
                "RANK_LAYOUT",
                f"a shape has {n!r}",
                rule="shapes are positive compile-time integers",
                fix="use integers from x.shape",
                kind=TypeError,
            )
        out.append(value)
    return tuple(out)


def checks_int(n):
    from .affine import as_int

    return as_int(n)


def _alias(tensor, shape, dtype, api):
    """A reshape or dtype view of a whole buffer."""
    checks.check_alive(tensor, api)
    if not tensor.is_whole:
        fail(
            "RANK_LAYOUT",
            f"{api} of an indexed tensor is not implemented",
            operands=[("tensor", tensor)],
            rule=f"{api} takes a whole tensor, before it is indexed",
            fix=f"{api} first, then index",
            kind=NotImplementedError,
        )
    old = tensor.buffer_
    if -1 not in shape and _product(shape) * dtype.size != _product(tensor.shape) * old.dtype.size:
        fail(
            "SHAPE_BROADCAST",
            f"{api}: {list(tensor.shape)} has {_product(tensor.shape)} elements, {list(shape)} has {_product(shape)}",
            operands=[("tensor", tensor)],
            rule="a reshape keeps the number of elements",
            fix="give a shape of the same size",
        )
    if old.on_chip and (old.pdim != 0 or shape[0] != old.shape[0]):
        fail(
            "RANK_LAYOUT",
            f"{api}: the partition axis of an on-chip tile would change from {list(old.shape)} to {list(shape)}",
            operands=[("tensor", tensor)],
            rule="reshape of a tile keeps axis 0 (partitions)",
            fix="reshape the HBM tensor before loading",
        )
    trace = context.current()
    line = context.kernel_line()
    buffer = Buffer(old.kind, dtype, old.name, shape, 0, old.memory, line, old.region)
    buffer.stand_for(old)
    buffer.from_transpose = old.from_transpose
    trace.keep_buffer(buffer)
    return Tensor.whole(buffer)


def whole_2d(tensor, api):
    """The tile as (partitions, free elements): an alias of a whole tile, else of a copy."""
    shape = (tensor.shape[0], _product(tensor.shape[1:]))
    if not tensor.is_whole or tensor.buffer_.pdim:
        from .emit import emit_map, new_tile

        tensor = emit_map(new_tile(tensor.shape, tensor.dtype, api=api), [tensor], [], "tensor_copy", api=api)
    return tensor if tensor.ndim == 2 else _alias(tensor, shape, tensor.dtype, api)


def _product(shape):
    n = 1
    for d in shape:
        n *= d
    return n
