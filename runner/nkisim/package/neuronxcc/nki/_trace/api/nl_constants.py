"""nl: compile-time constants, whose bytes are part of the program."""

import types

from .. import context, dtypes, host
from ..affine import Aff, as_int
from ..checks import need_dtype
from ..constants import array_bytes, identity_bytes
from ..context import fail
from ..names import api
from ..nodes import Buffer
from ..tensor import Tensor

fp32 = types.SimpleNamespace(min=-3.4028234663852886e38)  # nl.fp32 and nisa.fp32


def _constant(array_bytes, shape, dtype, name):
    trace = context.current()
    buffer = Buffer(Buffer.CONSTANT, dtype, name, shape, 0, "hbm", context.kernel_line(), trace.top)
    buffer.data, buffer.written, buffer.filled = array_bytes, True, True
    trace.buffers.append(buffer)
    return Tensor.whole(buffer)


@api("nl")
def shared_constant(constant, dtype=None):
    name = "nl.shared_constant"
    shape = getattr(constant, "shape", None)
    if shape is None or isinstance(constant, (Tensor, Aff)):
        fail(
            "BAD_SIGNATURE",
            f"{name}: constant is {type(constant).__name__}",
            rule="a numpy array",
            fix="nl.shared_constant(np.eye(128), dtype=nl.float32)",
        )
    plain_bytes = getattr(constant.dtype, "kind", "") == "V"
    target = need_dtype(host.type_of(constant) if dtype is None or plain_bytes else dtype, name)
    return _constant(array_bytes(constant, target), tuple(int(n) for n in shape), target, "constant")


@api("nl")
def shared_identity_matrix(n, dtype=dtypes.uint8):
    target = need_dtype(dtype, "nl.shared_identity_matrix")
    n = as_int(n)
    if n is None or not 0 < n <= 4096:
        fail(
            "BAD_SIGNATURE",
            "nl.shared_identity_matrix: n is not a positive integer",
            rule="n is a compile-time integer",
            fix="n=128",
        )
    return _constant(identity_bytes(n, target), (n, n), target, "identity")
