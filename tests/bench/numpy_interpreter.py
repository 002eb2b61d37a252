"""A plain numpy interpreter of the two benchmark kernels, the way such interpreters run NKI: tile by tile, indices as
arange grids, no masks. It is the peer that the engine is measured against; nothing else uses it."""
import numpy as np


def add(x, y, out, tile_rows=128, tile_columns=512):
    """out = x + y, one program instance a (tile_rows, tile_columns) tile: 16 x 8 instances for 2048 x 4096."""
    for i in range(x.shape[0] // tile_rows):
        for j in range(x.shape[1] // tile_columns):
            rows = i * tile_rows + np.arange(tile_rows)[:, None]
            columns = j * tile_columns + np.arange(tile_columns)[None, :]
            out[rows, columns] = x[rows, columns] + y[rows, columns]


def matmul(lhs_t, rhs, out):
    """out = lhs_t.T @ rhs in tiles of 128 x 128 (stationary) and 128 x 512 (moving)."""
    k, m = lhs_t.shape
    n = rhs.shape[1]
    for i in range(m // 128):
        for j in range(n // 512):
            total = np.zeros((128, 512), np.float32)
            for kk in range(k // 128):
                contraction = kk * 128 + np.arange(128)[:, None]
                total += (
                    lhs_t[contraction, i * 128 + np.arange(128)[None, :]].T
                    @ rhs[contraction, j * 512 + np.arange(512)[None, :]]
                )
            out[i * 128 + np.arange(128)[:, None], j * 512 + np.arange(512)[None, :]] = total
