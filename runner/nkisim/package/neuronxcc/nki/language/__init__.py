"""neuronxcc.nki.language: tensors, elementwise functions, reductions, loops and grids."""

# What these files register is all that stands in _TABLE; their order is the order of names in advice.
from .._trace import checks as _checks, dtypes as _dtypes, names as _names
from .._trace.api import nl_elementwise as _elementwise, nl_create as _create  # noqa: F401
from .._trace.api import nl_memory as _memory, nl_constants as _constants, nl_linear as _linear  # noqa: F401
from .._trace.api import nl_reduce as _reduce  # noqa: F401
from .._trace.api import gather as _gather, nl_index as _index, random as _random, spmd as _spmd  # noqa: F401
from .._trace.api import operators as _operators  # noqa: F401
from . import constants  # noqa: F401

_TABLE = _names.REGISTRY["nl"]
_VALUES = dict(
    sbuf=_create.sbuf,
    psum=_create.psum,
    hbm=_create.hbm,
    private_hbm=_create.private_hbm,
    shared_hbm=_create.shared_hbm,
    par_dim=_create.par_dim,
    mgrid=_index.mgrid,
    tile_size=_index.tile_size,
    fp32=_constants.fp32,
)
for (
    _name
) in "bfloat16 bool_ float8_e4m3 float8_e5m2 float16 float32 int8 int16 int32 tfloat32 uint8 uint16 uint32".split():
    _VALUES[_name] = getattr(_dtypes, _name)


class finfo:
    """Limits of a float type."""

    _TABLE = {
        "float32": (3.4028234663852886e38, 2.0**-126, 2.0**-23),
        "tfloat32": (3.4011621342146535e38, 2.0**-126, 2.0**-10),
        "bfloat16": (3.3895313892515355e38, 2.0**-126, 2.0**-7),
        "float16": (65504.0, 2.0**-14, 2.0**-10),
        "float8_e4m3": (240.0, 2.0**-6, 2.0**-3),
        "float8_e5m2": (57344.0, 2.0**-14, 2.0**-2),
    }

    def __init__(self, dtype):
        self.dtype = _checks.need_dtype(dtype, "nl.finfo")
        if self.dtype.name not in self._TABLE:
            raise TypeError(f"{self.dtype} is not a float type")
        self.max, self.tiny, self.eps = self._TABLE[self.dtype.name]
        self.min = -self.max
        self.smallest_normal = self.tiny


_VALUES["finfo"] = finfo
for _name, _value in _VALUES.items():
    _TABLE.setdefault(_name, _value)
_LATER = {name for (module, name) in _names.SINCE if module == "nl"} | {"matmul"}
globals().update({name: value for name, value in _TABLE.items() if name not in _LATER})
__all__ = [name for name in _TABLE]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _TABLE and _names.visible("nl", name):
        return _TABLE[name]
    raise _names.unknown_name("nl", name)


def __dir__():
    return sorted(_TABLE)
