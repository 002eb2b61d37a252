"""Kernels traced and run by the engine, against numpy."""

import unittest

import numpy as np

import neuronxcc.nki as nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl
import neuronxcc.nki.typing as nt

from against_numpy import AgainstNumpy, draw, run


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


class Runs(AgainstNumpy):
    def test_ragged_softmax_with_masks(self):
        @nki.jit
        def kernel(x):
            rows, columns = x.shape
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            p, f = nl.arange(128)[:, None], nl.arange(columns)[None, :]
            for i in nl.affine_range((rows + 127) // 128):
                inside = i * 128 + p < rows
                t = nl.load(x[i * 128 + p, f], mask=inside)
                e = nl.exp(nl.subtract(t, nl.max(t, axis=1, keepdims=True, mask=inside), mask=inside))
                y = nl.divide(e, nl.sum(e, axis=1, mask=inside))
                nl.store(out[i * 128 + p, f], value=y, mask=inside)
            return out

        x = draw(300, 70)
        self.close(run(kernel, x), softmax(x))

    def test_a_reduction_over_programs_may_be_stored_more_than_once_and_in_parts(self):
        @nki.jit
        def kernel(x):
            whole = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            parts = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            i = nl.program_id(0)
            r = nl.all_reduce(nl.load(x[nl.ds(i * 64, 64), :]), np.add, program_axes=[i])
            nl.store(whole, r)
            nl.store(parts[0:32, :], r[0:32, :])
            nl.store(parts[32:64, :], r[32:64, :])
            return whole, parts

        x = draw(192, 32)
        for got in run(kernel[3], x):
            self.close(got, x.reshape(3, 64, 32).sum(axis=0))

    def test_tiled_matmul_accumulates_in_psum(self):
        @nki.jit
        def kernel(a, b):
            m, k = a.shape
            n = b.shape[1]
            out = nl.ndarray((m, n), dtype=nl.float32, buffer=nl.shared_hbm)
            for i in nl.affine_range(m // 128):
                for j in nl.affine_range(n // 512):
                    acc = nl.zeros((128, 512), dtype=nl.float32, buffer=nl.psum)
                    for s in nl.affine_range(k // 128):
                        lhs = nl.load_transpose2d(a[i * 128 : (i + 1) * 128, s * 128 : (s + 1) * 128])
                        rhs = nl.load(b[nl.ds(s * 128, 128), nl.ds(j * 512, 512)])
                        acc += nisa.nc_matmul(lhs, rhs)
                    nl.store(out[i * 128 : (i + 1) * 128, j * 512 : (j + 1) * 512], value=nl.copy(acc))
            return out

        a, b = draw(256, 384), draw(384, 1024)
        self.close(run(kernel, a, b), a @ b, 1e-4)

    def test_matmul_into_a_virgin_psum_tensor_and_zeros_inside_the_loop(self):
        def make(inside, fill):
            @nki.jit
            def kernel(a, b):
                out = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
                acc = (
                    nl.zeros((64, 32), dtype=nl.float32, buffer=nl.psum)
                    if fill
                    else nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.psum)
                )
                result = nl.ndarray((64, 32), dtype=nl.float32)
                for s in nl.sequential_range(3):
                    if inside:
                        acc = nl.zeros((64, 32), dtype=nl.float32, buffer=nl.psum)
                    acc += nl.matmul(nl.load(a[:, s * 16 : (s + 1) * 16]), nl.load(b[s * 16 : (s + 1) * 16, :]))
                    if inside:
                        result[...] = acc
                if not inside:
                    result[...] = acc
                nl.store(out, value=result)
                return out

            return kernel

        a, b = draw(64, 48), draw(48, 32)
        self.close(run(make(False, False), a, b), a @ b, 1e-4)
        self.close(run(make(False, True), a, b), a @ b, 1e-4)

        @nki.jit
        def lost(a, b):
            out = nl.ndarray((64, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            result = nl.ndarray((64, 32), dtype=nl.float32)
            for s in nl.sequential_range(3):
                acc = nl.zeros((64, 32), dtype=nl.float32, buffer=nl.psum)
                acc += nl.matmul(nl.load(a[:, s * 16 : (s + 1) * 16]), nl.load(b[s * 16 : (s + 1) * 16, :]))
                result[...] = acc
            nl.store(out, value=result)
            return out

        self.close(run(lost, a, b), a[:, 32:] @ b[32:], 1e-4)

    def test_transposes(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((3, 96, 128), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(out[0], value=nl.transpose(t))
            u = nisa.nc_transpose(t)
            nl.store(out[1], value=nisa.tensor_copy(u))
            nl.store(out[2], value=nl.load_transpose2d(x))
            return out

        x = draw(128, 96)
        self.close(run(kernel, x), np.stack([x.T] * 3), 0)

    def test_reductions(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((6, 64, 1), dtype=x.dtype, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(out[0], value=nl.sum(t, axis=[1, 2]))
            nl.store(out[1], value=nl.max(t, axis=(1, 2)))
            nl.store(out[2], value=nl.min(t, axis=(1, 2)))
            nl.store(out[3], value=nl.mean(t, axis=(1, 2)))
            nl.store(out[4], value=nl.var(t, axis=(1, 2)))
            nl.store(out[5], value=nisa.tensor_reduce(np.max, nl.abs(t), axis=[1, 2], negate=True))
            return out

        x = draw(64, 5, 7)
        flat = x.reshape(64, -1)
        want = np.stack([flat.sum(1), flat.max(1), flat.min(1), flat.mean(1), flat.var(1), -np.abs(flat).max(1)])[
            ..., None
        ]
        self.close(run(kernel, x), want)

    def test_a_reduction_over_a_middle_axis(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((64, 7), dtype=x.dtype, buffer=nl.shared_hbm)
            nl.store(out, value=nl.sum(nl.load(x), axis=1))
            return out

        x = draw(64, 5, 7)
        self.close(run(kernel, x), x.sum(1))

    def test_a_symbolic_if_runs_each_side_where_it_holds(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            for i in nl.affine_range(4):
                t = nl.load(x[i * 32 : (i + 1) * 32, :])
                if i == 0:
                    t[...] = nl.multiply(t, 10.0)
                elif i > 2:
                    t[...] = nl.add(t, 100.0)
                else:
                    t[...] = nl.negative(t)
                nl.store(out[i * 32 : (i + 1) * 32, :], value=t)
            return out

        x = draw(128, 16)
        want = np.concatenate([x[:32] * 10, -x[32:96], x[96:] + 100])
        self.close(run(kernel, x), want)

    def test_names_rebound_on_one_side_of_a_branch_are_as_before_on_the_other(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            for i in nl.affine_range(2):
                t, k = nl.load(x[i * 64 : (i + 1) * 64, :]), 2.0
                if i == 0:
                    t = nl.multiply(t, 0.5)
                    k = 3.0
                    nl.store(out[i * 64 : (i + 1) * 64, :], value=t + k)
                else:
                    nl.store(out[i * 64 : (i + 1) * 64, :], value=t + k)
            return out

        x = draw(128, 8)
        self.close(run(kernel, x), np.concatenate([x[:64] * 0.5 + 3, x[64:] + 2]))

    def test_a_flash_attention_with_a_causal_branch(self):
        @nki.jit
        def kernel(q, k, v):
            length, width = q.shape
            out = nl.ndarray((length, width), dtype=q.dtype, buffer=nl.shared_hbm)
            p, f = nl.mgrid[0:128, 0:128]
            for i in nl.affine_range(length // 128):
                queries = nl.load_transpose2d(q[nl.ds(i * 128, 128), :])
                top = nl.full((nl.par_dim(128), 1), -1e30, dtype=nl.float32)
                total = nl.zeros((nl.par_dim(128), 1), dtype=nl.float32)
                acc = nl.zeros((nl.par_dim(128), width), dtype=nl.float32)
                for j in nl.sequential_range(length // 128):
                    if (j <= i) & (i >= 0):
                        keys = nl.load_transpose2d(k[nl.ds(j * 128, 128), :])
                        scores = nisa.tensor_scalar(nisa.nc_matmul(queries, keys), np.multiply, 0.125)
                        scores = nisa.affine_select(
                            pred=(i * 128 + p >= j * 128 + f), on_true_tile=scores, on_false_value=-1e30
                        )
                        new = nl.maximum(top, nl.max(scores, axis=1))
                        e = nisa.activation(np.exp, scores, bias=nl.negative(new))
                        scale = nl.exp(top - new)
                        total[...] = total * scale + nl.sum(e, axis=1)
                        acc[...] = acc * scale.broadcast_to((128, width)) + nl.matmul(
                            nisa.nc_transpose(e), nl.load(v[nl.ds(j * 128, 128), :]), transpose_x=True
                        )
                        top[...] = new
                nl.store(out[nl.ds(i * 128, 128), :], value=acc / total)
            return out

        q, k, v = draw(256, 64), draw(256, 64), draw(256, 64)
        scores = np.where(np.tril(np.ones((256, 256), bool)), q @ k.T / 8, -np.inf)
        self.close(run(kernel, q, k, v), softmax(scores) @ v, 1e-4)

    def test_a_grid_of_programs(self):
        @nki.jit
        def kernel(x, y):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            i, j = nl.program_id(0), nl.program_id(1)
            p = i * 128 + nl.arange(128)[:, None]
            f = j * 64 + nl.arange(64)[None, :]
            nl.store(out[p, f], value=nl.load(x[p, f]) + nl.load(y[p, f]))
            return out

        x, y = draw(256, 192), draw(256, 192)
        self.close(run(kernel[2, 3], x, y), x + y, 0)

    def test_block_dimensions(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            tiles = nl.ndarray((3, nl.par_dim(128), 40), dtype=x.dtype, buffer=nl.sbuf)
            for i in nl.affine_range(3):
                tiles[i] = nl.load(x[i * 128 : (i + 1) * 128, :])
            for i in nl.affine_range(3):
                p, f = nl.mgrid[0:128, 0:40]
                nl.store(out[i * 128 + p, f], value=nl.exp(tiles[2 - i, p, f]))
            return out

        x = draw(384, 40)
        self.close(run(kernel, x), np.exp(x.reshape(3, 128, 40)[::-1].reshape(384, 40)))

    def test_loop_reduce_and_accumulation_of_values(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((2, 128, 8), dtype=x.dtype, buffer=nl.shared_hbm)
            total = nl.ndarray((128, 8), dtype=nl.float32)
            other = nl.zeros((128, 8), dtype=nl.float32)
            for i in nl.affine_range(5):
                t = nl.load(x[i])
                total[...] = nl.loop_reduce(nl.multiply(t, 2.0), op=np.add, loop_indices=[i])
                other += t
            nl.store(out[0], value=total)
            nl.store(out[1], value=other)
            return out

        x = draw(5, 128, 8)
        self.close(run(kernel, x), np.stack([2 * x.sum(0), x.sum(0)]))

    def test_state_carried_by_a_sequential_loop(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            state = nl.zeros((1, 16), dtype=nl.float32)
            for i in range(64):
                state[...] = state * 0.5 + nl.load(x[i : i + 1, :])
                nl.store(out[i : i + 1, :], value=state)
            return out

        x = draw(64, 16)
        want, state = [], np.zeros(16, np.float32)
        for row in x:
            state = state * np.float32(0.5) + row
            want.append(state)
        self.close(run(kernel, x), np.array(want))

    def test_isa_arithmetic(self):
        @nki.jit
        def kernel(x, y):
            out = nl.ndarray((8, 128, 32), dtype=nl.float32, buffer=nl.shared_hbm)
            a, b = nl.load(x), nl.load(y)
            column = nl.max(b, axis=1)
            nl.store(out[0], value=nisa.tensor_tensor(a, b, op=np.subtract))
            nl.store(
                out[1],
                value=nisa.tensor_scalar(
                    a, op0=np.subtract, operand0=column, reverse0=True, op1=np.multiply, operand1=3.0
                ),
            )
            nl.store(
                out[2], value=nisa.scalar_tensor_tensor(data=a, op0=np.multiply, operand0=2.0, op1=np.add, operand1=b)
            )
            nl.store(out[3], value=nisa.activation(op=nl.exp, data=a, bias=column, scale=-0.5))
            sums = nl.ndarray((128, 1), dtype=nl.float32)
            e = nisa.activation_reduce(op=nl.square, data=a, reduce_op=np.add, reduce_res=sums)
            nl.store(out[4], value=e / sums)
            nl.store(out[5], value=nisa.tensor_tensor_scan(a, b, initial=1.0, op0=np.multiply, op1=np.add))
            p, f = nl.arange(128)[:, None], nl.arange(32)[None, :]
            nl.store(out[6], value=nisa.affine_select(pred=(p >= 2 * f), on_true_tile=a, on_false_value=-7.0))
            nl.store(out[7], value=nl.where(nl.greater(a, b), a, b) + nisa.iota(p * 100 + f, dtype=nl.int32))
            return out

        a, b = draw(128, 32), draw(128, 32)
        column = b.max(1, keepdims=True)
        scan, r = [], np.ones(128, np.float32)
        for j in range(32):
            r = a[:, j] * r + b[:, j]
            scan.append(r)
        p, f = np.arange(128)[:, None], np.arange(32)[None, :]
        want = np.stack(
            [
                a - b,
                (column - a) * 3,
                a * 2 + b,
                np.exp(a * -0.5 + column),
                a * a / (a * a).sum(1, keepdims=True),
                np.stack(scan, 1),
                np.where(p >= 2 * f, a, -7),
                np.maximum(a, b) + p * 100 + f,
            ]
        )
        got = run(kernel, a, b)
        self.close(got, want.astype(np.float32), 1e-3)

    def test_statistics_and_the_max8_family(self):
        @nki.jit
        def kernel(x):
            out = nl.ndarray((128, 2), dtype=nl.float32, buffer=nl.shared_hbm)
            top = nl.ndarray((128, 8), dtype=nl.float32, buffer=nl.shared_hbm)
            where = nl.ndarray((128, 8), dtype=nl.uint32, buffer=nl.shared_hbm)
            t = nl.load(x)
            nl.store(out, value=nisa.bn_aggr(nisa.bn_stats(t)))
            best = nisa.max8(src=t)
            nl.store(top, value=best)
            nl.store(where, value=nisa.nc_find_index8(data=t, vals=best))
            return out, top, where

        x = draw(128, 100)
        stats, top, where = run(kernel, x)
        self.close(stats, np.stack([x.mean(1), x.var(1)], 1), 1e-4)
        order = np.argsort(-x, axis=1)[:, :8]
        self.close(top, np.take_along_axis(x, order, 1), 0)
        self.assertTrue(np.array_equal(where, order))

    def test_softmax_and_rms_norm(self):
        @nki.jit
        def kernel(x, w):
            out = nl.ndarray((2,) + x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
            t, scale = nl.load(x), nl.load(w)
            nl.store(out[0], value=nl.softmax(t, axis=1))
            nl.store(out[1], value=nl.rms_norm(t, scale, axis=1, n=x.shape[1], epsilon=1e-5))
            return out

        x, w = draw(96, 80), draw(1, 80)
        want = np.stack([softmax(x), x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5) * w])
        self.close(run(kernel, x, w), want)


if __name__ == "__main__":
    unittest.main()
