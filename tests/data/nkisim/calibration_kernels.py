"""The 14 kernels whose Trn1 latencies AccelOpt published, written afresh in the shapes of its table. Their blocking follows what was
measured, because it decides the traffic: 1024-wide blocks, operands transposed on the tensor engine, scores of attention kept whole on
chip (and so spilled), intermediates stored and loaded again where that kernel did so. They are traced and estimated, not run."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl

P, F, W = 128, 512, 1024


def on_chip(*shape):
    """A block tensor: its partition dimension is the last but one."""
    return nl.ndarray((*shape[:-2], nl.par_dim(shape[-2]), shape[-1]), dtype=nl.float32, buffer=nl.sbuf)


def psum():
    return nl.zeros((P, F), dtype=nl.float32, buffer=nl.psum)


def output(*shape):
    return nl.ndarray(shape, dtype=nl.float32, buffer=nl.shared_hbm)


def transposed(tile):
    return nl.copy(nisa.nc_transpose(tile))


@nki.jit
def matmul(x, w):
    """[4096, 5120] by [5120, 12288]; a 20 MB slab of w stays on chip."""
    out = nl.ndarray((4096, 12288), dtype=nl.float32, buffer=nl.shared_hbm)
    for n in nl.affine_range(12):
        right = on_chip(40, P, W)
        for k in nl.affine_range(40):
            right[k] = nl.load(w[nl.ds(k * P, P), nl.ds(n * W, W)])
        for m in nl.affine_range(32):
            left, block = on_chip(40, P, P), on_chip(P, W)
            for kb in nl.affine_range(5):
                rows = nl.load(x[nl.ds(m * P, P), nl.ds(kb * W, W)])
                for k in nl.affine_range(8):
                    left[kb * 8 + k] = transposed(rows[:, nl.ds(k * P, P)])
            for h in nl.affine_range(2):
                acc = psum()
                for k in nl.affine_range(40):
                    acc += nisa.nc_matmul(left[k], right[k, :, nl.ds(h * F, F)])
                block[:, nl.ds(h * F, F)] = nl.copy(acc)
            nl.store(out[nl.ds(m * P, P), nl.ds(n * W, W)], value=block)
    return out


@nki.jit
def lora(x, w, a, b):
    """x w + (x a) b with rank 128; (x a) b is kept for all columns while x w is summed in four parts, results turned before the store."""
    out = nl.ndarray((4096, 12288), dtype=nl.float32, buffer=nl.shared_hbm)
    low = on_chip(8, P, F)
    side = on_chip(12, 8, 8, P, F)
    for m in nl.affine_range(8):
        acc = psum()
        for k in nl.affine_range(40):
            left = on_chip(P, F)
            for r in nl.affine_range(4):
                left[:, nl.ds(r * P, P)] = transposed(nl.load(x[nl.ds(m * F + r * P, P), nl.ds(k * P, P)]))
            acc += nisa.nc_matmul(nl.load(a[nl.ds(k * P, P), 0:P]), left)
        low[m] = nl.copy(acc)
    for n in nl.affine_range(12):
        right = nl.load(b[0:P, nl.ds(n * W, W)])
        for m in nl.affine_range(8):
            for c in nl.affine_range(8):
                side[n, c, m] = nl.copy(nisa.nc_matmul(right[:, nl.ds(c * P, P)], low[m]))
    for n in nl.affine_range(12):
        total = nl.zeros((8, 8, nl.par_dim(P), F), dtype=nl.float32, buffer=nl.sbuf)
        for kq in nl.sequential_range(4):
            part = on_chip(10, P, W)
            for k in nl.affine_range(10):
                part[k] = nl.load(w[nl.ds(kq * 1280 + k * P, P), nl.ds(n * W, W)])
            for m in nl.affine_range(8):
                left = on_chip(10, P, F)
                for r in nl.affine_range(4):
                    for half in nl.affine_range(2):
                        rows = nl.load(x[nl.ds(m * F + r * P, P), nl.ds(kq * 1280 + half * 640, 640)])
                        for k in nl.affine_range(5):
                            left[half * 5 + k, :, nl.ds(r * P, P)] = transposed(rows[:, nl.ds(k * P, P)])
                for c in nl.affine_range(8):
                    acc = psum()
                    for k in nl.affine_range(10):
                        acc += nisa.nc_matmul(part[k, :, nl.ds(c * P, P)], left[k])
                    total[c, m] += acc
        for m in nl.affine_range(8):
            for c in nl.affine_range(8):
                result = nl.add(total[c, m], side[n, c, m])
                for r in nl.affine_range(4):
                    nl.store(out[nl.ds(m * F + r * P, P), nl.ds(n * W + c * P, P)], value=transposed(result[:, nl.ds(r * P, P)]))
    return out


@nki.jit
def gqa_full(q, k, v):
    """16 query heads on 8 key heads, 4096 tokens, 128 wide; the scores of all heads exist at once: 1 GiB."""
    out = nl.ndarray((16, 4096, 128), dtype=nl.float32, buffer=nl.shared_hbm)
    queries, keys, scores = on_chip(16, 32, P, P), on_chip(8, 8, P, F), on_chip(16, 32, 8, P, F)
    top = on_chip(16, 32, P, 1)
    for h in nl.affine_range(16):
        for t in nl.affine_range(32):
            queries[h, t] = transposed(nl.load(q[h, nl.ds(t * P, P), 0:P]))
    for h in nl.affine_range(8):
        for t in nl.affine_range(8):
            for r in nl.affine_range(4):
                keys[h, t, :, nl.ds(r * P, P)] = transposed(nl.load(k[h, nl.ds(t * F + r * P, P), 0:P]))
    for h in nl.affine_range(8):
        for g in nl.affine_range(2):
            for t in nl.affine_range(32):
                tops = on_chip(P, 8)
                for s in nl.affine_range(8):
                    product = nisa.nc_matmul(queries[2 * h + g, t], keys[h, s])
                    scores[2 * h + g, t, s] = nisa.tensor_scalar(product, nl.multiply, 0.08838835)
                    tops[:, s] = nisa.tensor_reduce(nl.max, scores[2 * h + g, t, s], axis=[1])
                top[2 * h + g, t] = nisa.tensor_reduce(nl.max, tops, axis=[1], negate=True, keepdims=True)
    for h in nl.affine_range(8):
        values = on_chip(32, P, P)
        for s in nl.affine_range(32):
            values[s] = nl.load(v[h, nl.ds(s * P, P), 0:P])
        for g in nl.affine_range(2):
            for t in nl.affine_range(32):
                weights, sums = on_chip(8, P, F), on_chip(P, 8)
                for s in nl.affine_range(8):
                    weights[s] = nisa.activation(nl.exp, scores[2 * h + g, t, s], bias=top[2 * h + g, t])
                    sums[:, s] = nisa.tensor_reduce(nl.add, weights[s], axis=[1])
                scale = nisa.reciprocal(nisa.tensor_reduce(nl.add, sums, axis=[1], keepdims=True))
                acc = nl.zeros((P, P), dtype=nl.float32, buffer=nl.psum)
                for s in nl.affine_range(8):
                    scaled = nisa.tensor_scalar(weights[s], nl.multiply, scale)
                    for r in nl.affine_range(4):
                        acc += nisa.nc_matmul(transposed(scaled[:, nl.ds(r * P, P)]), values[s * 4 + r])
                nl.store(out[2 * h + g, nl.ds(t * P, P), 0:P], value=nl.copy(acc))
    return out


@nki.jit
def bmm_softmax(a, b):
    """16 times softmax([4096, 64] by [64, 4096]); the 64 MiB of one batch's scores are written once and read once."""
    out = nl.ndarray((16, 4096, 4096), dtype=nl.float32, buffer=nl.shared_hbm)
    for e in nl.affine_range(16):
        scores, tops = on_chip(32, 8, P, F), on_chip(32, P, 8)
        for n in nl.affine_range(4):
            right = nl.load(b[e, 0:64, nl.ds(n * W, W)])
            for m in nl.affine_range(32):
                left = transposed(nl.load(a[e, nl.ds(m * P, P), 0:64]))
                for h in nl.affine_range(2):
                    scores[m, n * 2 + h] = nl.copy(nisa.nc_matmul(left, right[:, nl.ds(h * F, F)]))
                    tops[m, :, n * 2 + h] = nisa.tensor_reduce(nl.max, scores[m, n * 2 + h], axis=[1])
        for m in nl.affine_range(32):
            top = nisa.tensor_reduce(nl.max, tops[m], axis=[1], negate=True, keepdims=True)
            weights, sums = on_chip(8, P, F), on_chip(P, 8)
            for s in nl.affine_range(8):
                weights[s] = nisa.activation(nl.exp, scores[m, s], bias=top)
                sums[:, s] = nisa.tensor_reduce(nl.add, weights[s], axis=[1])
            scale = nisa.reciprocal(nisa.tensor_reduce(nl.add, sums, axis=[1], keepdims=True))
            for n in nl.affine_range(4):
                block = on_chip(P, W)
                for h in nl.affine_range(2):
                    block[:, nl.ds(h * F, F)] = nisa.tensor_scalar(weights[n * 2 + h], nl.multiply, scale)
                nl.store(out[e, nl.ds(m * P, P), nl.ds(n * W, W)], value=block)
    return out


@nki.jit
def transpose_matmul(lhs, rhs):
    """[2048, 4096]^T by [2048, 10944]; the last block of columns is ragged: products, copies and stores are masked."""
    out = nl.ndarray((4096, 10944), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p, i_w, i_f = nl.arange(P)[:, None], nl.arange(W)[None, :], nl.arange(F)[None, :]
    for m in nl.affine_range(4):
        left = on_chip(16, P, W)
        for k in nl.affine_range(16):
            left[k] = nl.load(lhs[nl.ds(k * P, P), nl.ds(m * W, W)])
        for n in nl.affine_range(11):
            right = on_chip(16, P, W)
            for k in nl.affine_range(16):
                right[k, i_p, i_w] = nl.load(rhs[k * P + i_p, n * W + i_w], mask=n * W + i_w < 10944)
            for r in nl.affine_range(8):
                block = on_chip(P, W)
                for h in nl.affine_range(2):
                    acc = psum()
                    for k in nl.affine_range(16):
                        acc += nisa.nc_matmul(left[k, :, nl.ds(r * P, P)], right[k, :, nl.ds(h * F, F)], mask=n * W + h * F + i_f < 10944)
                    block[i_p, h * F + i_f] = nl.copy(acc[i_p, i_f], mask=n * W + h * F + i_f < 10944)
                nl.store(out[m * W + r * P + i_p, n * W + i_w], value=block[i_p, i_w], mask=n * W + i_w < 10944)
    return out


@nki.jit
def bmm(a, b):
    """16 times [4096, 64] by [64, 4096]."""
    out = nl.ndarray((16, 4096, 4096), dtype=nl.float32, buffer=nl.shared_hbm)
    for e in nl.affine_range(16):
        for n in nl.affine_range(4):
            right = nl.load(b[e, 0:64, nl.ds(n * W, W)])
            for m in nl.affine_range(32):
                left, block = transposed(nl.load(a[e, nl.ds(m * P, P), 0:64])), on_chip(P, W)
                for h in nl.affine_range(2):
                    block[:, nl.ds(h * F, F)] = nl.copy(nisa.nc_matmul(left, right[:, nl.ds(h * F, F)]))
                nl.store(out[e, nl.ds(m * P, P), nl.ds(n * W, W)], value=block)
    return out


@nki.jit
def rope(x, cos, sin):
    """[128, 262144]: halves of 64 partitions; both operands of a tensor_tensor begin at one partition, so the odd half is copied."""
    out = nl.ndarray((128, 262144), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(512):
        tile, result = nl.load(x[0:P, nl.ds(t * F, F)]), on_chip(P, F)
        c, s = nl.load(cos[0:64, nl.ds(t * F, F)]), nl.load(sin[0:64, nl.ds(t * F, F)])
        even, odd = tile[0:64, :], nl.copy(tile[64:128, :])
        even_cos, odd_cos = nisa.tensor_tensor(even, c, nl.multiply), nisa.tensor_tensor(odd, c, nl.multiply)
        even_sin, odd_sin = nisa.tensor_tensor(even, s, nl.multiply), nisa.tensor_tensor(odd, s, nl.multiply)
        result[0:64, :] = nisa.tensor_tensor(even_cos, odd_sin, nl.subtract)
        result[64:128, :] = nisa.tensor_tensor(odd_cos, even_sin, nl.add)
        nl.store(out[0:P, nl.ds(t * F, F)], value=result)
    return out


def projected(x, weight, n, m, right):
    """512 rows of x, turned, for all 8 steps of the contraction."""
    left = on_chip(8, P, F)
    for r in nl.affine_range(4):
        rows = nl.load(x[nl.ds(m * F + r * P, P), 0:W])
        for k in nl.affine_range(8):
            left[k, :, nl.ds(r * P, P)] = transposed(rows[:, nl.ds(k * P, P)])
    return left


@nki.jit
def swiglu(x, gate, up, down):
    """4096 rows, 1024 -> 3072 -> 1024; the gated rows go through HBM."""
    out = nl.ndarray((4096, 1024), dtype=nl.float32, buffer=nl.shared_hbm)
    middle = nl.ndarray((24, 8, P, F), dtype=nl.float32, buffer=nl.hbm)
    gates = on_chip(24, 8, P, F)
    for n in nl.affine_range(3):
        right = on_chip(8, P, W)
        for k in nl.affine_range(8):
            right[k] = nl.load(gate[nl.ds(k * P, P), nl.ds(n * W, W)])
        for m in nl.affine_range(8):
            left = projected(x, gate, n, m, right)
            for c in nl.affine_range(8):
                acc = psum()
                for k in nl.affine_range(8):
                    acc += nisa.nc_matmul(right[k, :, nl.ds(c * P, P)], left[k])
                gates[n * 8 + c, m] = nl.copy(acc)
    for n in nl.affine_range(3):
        right = on_chip(8, P, W)
        for k in nl.affine_range(8):
            right[k] = nl.load(up[nl.ds(k * P, P), nl.ds(n * W, W)])
        for m in nl.affine_range(8):
            left = projected(x, up, n, m, right)
            for c in nl.affine_range(8):
                acc = psum()
                for k in nl.affine_range(8):
                    acc += nisa.nc_matmul(right[k, :, nl.ds(c * P, P)], left[k])
                negative = nisa.activation(nl.exp, gates[n * 8 + c, m], scale=-1.0)
                share = nisa.reciprocal(nisa.tensor_scalar(negative, nl.add, 1.0))
                nl.store(middle[n * 8 + c, m], value=nl.multiply(nl.multiply(gates[n * 8 + c, m], share), acc))
    lower = on_chip(24, P, W)
    for k in nl.affine_range(24):
        lower[k] = nl.load(down[nl.ds(k * P, P), 0:W])
    for m in nl.affine_range(8):
        gated = on_chip(24, P, F)
        for k in nl.affine_range(24):
            gated[k] = nl.load(middle[k, m])
        for r in nl.affine_range(4):
            block = on_chip(P, W)
            for h in nl.affine_range(2):
                acc = psum()
                for k in nl.affine_range(24):
                    acc += nisa.nc_matmul(gated[k, :, nl.ds(r * P, P)], lower[k, :, nl.ds(h * F, F)])
                block[:, nl.ds(h * F, F)] = nl.copy(acc)
            nl.store(out[nl.ds(m * F + r * P, P), 0:W], value=block)
    return out


@nki.jit
def mamba(delta, u, a, b, c):
    """256 channels, 7168 steps, 16 states: states outermost, so that delta and u are loaded 16 times."""
    out = nl.ndarray((256, 7168), dtype=nl.float32, buffer=nl.shared_hbm)
    total = nl.zeros((2, nl.par_dim(P), 7168), dtype=nl.float32, buffer=nl.sbuf)
    for s in nl.affine_range(16):
        for t in nl.affine_range(2):
            step, value = nl.load(delta[nl.ds(t * P, P), 0:7168]), nl.load(u[nl.ds(t * P, P), 0:7168])
            decay = nisa.activation(nl.exp, step, scale=nl.load(a[nl.ds(t * P, P), s]))
            into = nl.load(b[nl.ds(s, 1), 0:7168]).broadcast_to((P, 7168))
            drive = nisa.tensor_tensor(nisa.tensor_tensor(step, value, nl.multiply), into, nl.multiply)
            state = nisa.tensor_tensor_scan(decay, drive, initial=0, op0=nl.multiply, op1=nl.add)
            read = nl.load(c[nl.ds(s, 1), 0:7168]).broadcast_to((P, 7168))
            total[t] += nisa.tensor_tensor(state, read, nl.multiply)
    for t in nl.affine_range(2):
        nl.store(out[nl.ds(t * P, P), 0:7168], value=total[t])
    return out


def normalised(tile, weight, width):
    mean = nl.add(nl.sum(nl.square(tile), axis=[1], keepdims=True) / width, 1e-5)
    return nl.multiply(nl.multiply(tile, nl.rsqrt(mean)), weight.broadcast_to((P, width)))


@nki.jit
def matmul_add_rmsnorm(x, w, z, g):
    """rmsnorm([4096, 2048] by [2048, 2048] + z); the compiler kept w on chip, so it is loaded once."""
    out = nl.ndarray((4096, 2048), dtype=nl.float32, buffer=nl.shared_hbm)
    weight, right = nl.load(g), on_chip(16, P, 2048)
    for k in nl.affine_range(16):
        right[k] = nl.load(w[nl.ds(k * P, P), 0:2048])
    for m in nl.affine_range(32):
        rows, left, product = nl.load(x[nl.ds(m * P, P), 0:2048]), on_chip(16, P, P), on_chip(P, 2048)
        for k in nl.affine_range(16):
            left[k] = transposed(rows[:, nl.ds(k * P, P)])
        for n in nl.affine_range(4):
            acc = psum()
            for k in nl.affine_range(16):
                acc += nisa.nc_matmul(left[k], right[k, :, nl.ds(n * F, F)])
            product[:, nl.ds(n * F, F)] = nl.copy(acc)
        summed = nl.add(product, nl.load(z[nl.ds(m * P, P), 0:2048]))
        nl.store(out[nl.ds(m * P, P), 0:2048], value=normalised(summed, weight, 2048))
    return out


@nki.jit
def adamw(theta, grad, m, v):
    """One step on [10944, 2048]; the last tile of rows is ragged."""
    out = nl.ndarray((10944, 2048), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p, i_w = nl.arange(P)[:, None], nl.arange(W)[None, :]
    for t in nl.affine_range(86):
        for n in nl.affine_range(2):
            inside = t * P + i_p < 10944
            value, slope, first, second = [nl.load(s[t * P + i_p, n * W + i_w], mask=inside) for s in (theta, grad, m, v)]
            result = on_chip(P, W)
            for h in nl.affine_range(2):
                part = nl.ds(h * F, F)
                decayed = nl.subtract(value[:, part], nisa.tensor_scalar(value[:, part], nl.multiply, 1e-5))
                moment = nl.add(nisa.tensor_scalar(first[:, part], nl.multiply, 0.9), nisa.tensor_scalar(slope[:, part], nl.multiply, 0.1))
                step = nisa.tensor_scalar(moment, nl.multiply, 0.01)
                square = nl.multiply(nisa.tensor_scalar(slope[:, part], nl.multiply, 0.001), slope[:, part])
                energy = nl.add(nisa.tensor_scalar(second[:, part], nl.multiply, 0.999), square)
                root = nisa.tensor_scalar(nisa.activation(nl.sqrt, energy, scale=1000.0), nl.add, 1e-8)
                result[:, part] = nl.subtract(decayed, nl.multiply(step, nisa.reciprocal(root)))
            nl.store(out[t * P + i_p, n * W + i_w], value=result[i_p, i_w], mask=inside)
    return out


@nki.jit
def silu(x):
    """[4096, 7168] as exp, add, reciprocal, multiply."""
    out = nl.ndarray((4096, 7168), dtype=nl.float32, buffer=nl.shared_hbm)
    for t in nl.affine_range(32):
        for n in nl.affine_range(7):
            tile, result = nl.load(x[nl.ds(t * P, P), nl.ds(n * W, W)]), on_chip(P, W)
            for h in nl.affine_range(2):
                part = nl.ds(h * F, F)
                share = nisa.reciprocal(nisa.tensor_scalar(nisa.activation(nl.exp, tile[:, part], scale=-1.0), nl.add, 1.0))
                result[:, part] = nl.multiply(tile[:, part], share)
            nl.store(out[nl.ds(t * P, P), nl.ds(n * W, W)], value=result)
    return out


@nki.jit
def add_rmsnorm_matmul(x, w, z, g):
    """rmsnorm(x + z) by w, 4096 x 1024 x 2048; the compiler kept w on chip, so it is loaded once."""
    out = nl.ndarray((4096, 2048), dtype=nl.float32, buffer=nl.shared_hbm)
    weight, right = nl.load(g), on_chip(8, P, 2048)
    for k in nl.affine_range(8):
        right[k] = nl.load(w[nl.ds(k * P, P), 0:2048])
    for m in nl.affine_range(32):
        summed = nl.add(nl.load(x[nl.ds(m * P, P), 0:W]), nl.load(z[nl.ds(m * P, P), 0:W]))
        rows, left = normalised(summed, weight, W), on_chip(8, P, P)
        for k in nl.affine_range(8):
            left[k] = transposed(rows[:, nl.ds(k * P, P)])
        for n in nl.affine_range(4):
            acc = psum()
            for k in nl.affine_range(8):
                acc += nisa.nc_matmul(left[k], right[k, :, nl.ds(n * F, F)])
            nl.store(out[nl.ds(m * P, P), nl.ds(n * F, F)], value=nl.copy(acc))
    return out


@nki.jit
def rmsnorm_matmul(x, w):
    """rmsnorm(x) by w, 4096 x 1024 x 2048, in four passes of 1024 rows; rows are loaded twice."""
    out = nl.ndarray((4096, 2048), dtype=nl.float32, buffer=nl.shared_hbm)
    for mb in nl.affine_range(4):
        left = on_chip(8, 8, P, P)
        for m in nl.affine_range(8):
            rows, sums = nl.load(x[nl.ds(mb * W + m * P, P), 0:W]), on_chip(P, 2)
            for h in nl.affine_range(2):
                square = nisa.activation(nl.square, rows[:, nl.ds(h * F, F)])
                sums[:, h] = nisa.tensor_reduce(nl.add, nisa.tensor_scalar(square, nl.multiply, 1 / W), axis=[1])
            scale = nisa.activation(nl.rsqrt, nisa.tensor_reduce(nl.add, sums, axis=[1], keepdims=True))
            again = nl.load(x[nl.ds(mb * W + m * P, P), 0:W])
            for h in nl.affine_range(2):
                scaled = nisa.tensor_scalar(again[:, nl.ds(h * F, F)], nl.multiply, scale)
                for k in nl.affine_range(4):
                    left[m, h * 4 + k] = transposed(scaled[:, nl.ds(k * P, P)])
        for n in nl.affine_range(2):
            right = on_chip(8, P, W)
            for k in nl.affine_range(8):
                right[k] = nl.load(w[nl.ds(k * P, P), nl.ds(n * W, W)])
            for m in nl.affine_range(8):
                block = on_chip(P, W)
                for h in nl.affine_range(2):
                    acc = psum()
                    for k in nl.affine_range(8):
                        acc += nisa.nc_matmul(left[m, k], right[k, :, nl.ds(h * F, F)])
                    block[:, nl.ds(h * F, F)] = nl.copy(acc)
                nl.store(out[nl.ds(mb * W + m * P, P), nl.ds(n * W, W)], value=block)
    return out
