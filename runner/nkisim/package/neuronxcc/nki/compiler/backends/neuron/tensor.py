"""The type of a tile."""

from ...._trace.tensor import Tensor as local_tile  # noqa: F401
