"""Two gathers, two layers with features on partitions, and one product that needs no turn."""
from neuronxcc import nki
import neuronxcc.nki.isa as nisa
import neuronxcc.nki.language as nl


@nki.jit
def kernel(user, item, users, items, user_w, user_b, item_w, item_b):
    rows, hidden, width = user.shape[0], user_w.shape[0], users.shape[1]
    out = nl.ndarray((rows, rows), dtype=nl.float32, buffer=nl.shared_hbm)
    i_p, i_f = nl.arange(rows)[:, None], nl.arange(width)[None, :]
    towers = []
    for numbers, table, weight, bias in ((user, users, user_w, user_b), (item, items, item_w, item_b)):
        chosen = nl.load(numbers.reshape((rows, 1)))
        vectors = nl.load(table[chosen[i_p, 0], i_f])
        mapped = nisa.nc_matmul(nl.load_transpose2d(weight), nl.copy(nisa.nc_transpose(vectors)))
        towers.append(nisa.activation(op=nl.relu, data=mapped, bias=nl.load(bias[nl.ds(0, hidden)])))
    nl.store(out, value=nl.multiply(nisa.nc_matmul(towers[0], towers[1]), 0.1))
    return out
