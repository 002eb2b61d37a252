"""The type of an index."""

from ...._trace.affine import Aff as TileIndex  # noqa: F401
