"""neuronxcc.nki.isa: single instructions of NeuronCore-v2."""

from .._trace import names as _names
from .._trace.api import gather as _gather, nl_constants as _constants, random as _random  # noqa: F401
from .._trace.api import (
    nisa_common as _common,
    nisa_linear as _linear,
    nisa_scalar as _scalar,
    nisa_specials as _specials,
    nisa_vector as _vector,
)  # noqa: F401

_TABLE = _names.REGISTRY["nisa"]
for _name in ("engine", "reduce_cmd", "oob_mode", "dge_mode", "nc_version"):
    _TABLE.setdefault(_name, getattr(_common, _name))
_TABLE.setdefault("fp32", _constants.fp32)
_TABLE.setdefault("dma_engine", _common.dma_engine)
for _name in ("tensor", "vector", "scalar", "gpsimd", "sync", "unknown"):
    _TABLE.setdefault(f"{_name}_engine", _common.engine[_name])
_LATER = {name for (module, name) in _names.SINCE if module == "nisa"}
globals().update({name: value for name, value in _TABLE.items() if name not in _LATER})
__all__ = [name for name in _TABLE]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in _TABLE and _names.visible("nisa", name):
        return _TABLE[name]
    raise _names.unknown_name("nisa", name)


def __dir__():
    return sorted(_TABLE)
