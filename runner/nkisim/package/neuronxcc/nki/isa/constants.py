"""neuronxcc.nki.isa.constants: the enums of isa."""

from . import dge_mode, engine, nc_version, oob_mode, reduce_cmd  # noqa: F401
