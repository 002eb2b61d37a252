"""neuronxcc.nki.language.constants"""

from .._trace.checks import need_dtype as _need_dtype


def sizeinbytes(dtype):
    """Bytes of an element."""
    return _need_dtype(dtype, "nl.constants.sizeinbytes").size
