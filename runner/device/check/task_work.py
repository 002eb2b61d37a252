"""How much work a task is: FLOPs of its reference, bytes through HBM, and the roofline time that follows from them."""
import task_facts
import torch
from torch.utils._python_dispatch import TorchDispatchMode

# One NeuronCore-v2, as documented: 16 DMA engines of 27.2 GB/s; the tensor engine at 2.8 GHz on 128 x 128 lanes, a
# quarter of that in float32.
HBM_BYTES_PER_SECOND = 16 * 27.2e9
MATMUL_FLOPS_PER_SECOND = {"bfloat16": 92e12, "float32": 23e12}
# What moves or makes values without computing any.
MOVES = {
    "view",
    "_unsafe_view",
    "reshape",
    "t",
    "transpose",
    "permute",
    "expand",
    "slice",
    "select",
    "unsqueeze",
    "squeeze",
    "clone",
    "copy_",
    "_to_copy",
    "cat",
    "stack",
    "split",
    "as_strided",
    "detach",
    "alias",
    "index_select",
    "embedding",
    "gather",
    "zeros",
    "zeros_like",
    "ones",
    "ones_like",
    "full",
    "full_like",
    "arange",
    "eye",
    "empty",
    "new_zeros",
    "constant_pad_nd",
    "repeat",
    "roll",
    "lift_fresh",
    "fill_",
    "zero_",
    "contiguous",
    "diagonal",
    "scalar_tensor",
    "empty_like",
    "upsample_nearest2d",
    "pixel_shuffle",
    "new_empty",
    "resize_",
    "unfold",
    "unbind",
    "diag",
}


class Counter(TorchDispatchMode):
    """Counts what a forward pass computes: 2 a multiply-add of products and convolutions, 1 an element of the largest
    tensor that any other operation reads or writes."""

    def __init__(self):
        super().__init__()
        self.products = self.others = 0

    def flops(self):
        """All of it."""
        return self.products + self.others

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        name = function._schema.name.split("::")[1]
        if name in ("mm", "bmm"):
            self.products += 2 * result.numel() * args[0].shape[-1]
        elif name in ("addmm", "baddbmm"):
            self.products += 2 * result.numel() * args[1].shape[-1]
        elif name == "mv":
            self.products += 2 * args[0].numel()
        elif name == "convolution":
            kept = args[0] if args[6] else result  # args[6]: transposed
            self.products += 2 * kept.numel() * args[1][0].numel()
        elif name not in MOVES:
            results = result if isinstance(result, (tuple, list)) else [result]
            sizes = [t.numel() for t in [*args, *results] if isinstance(t, torch.Tensor)]
            self.others += max(sizes, default=0)
        return result


def work_of(entry, counter):
    """@param entry inputs and outputs of the index @param counter what a forward pass was counted with
    @returns {"flops", "hbm_bytes", "roofline_us"}"""
    moved = task_facts.bytes_of(entry["inputs"] + entry["outputs"])
    kind = "bfloat16" if any(i["dtype"] == "bfloat16" for i in entry["inputs"]) else "float32"
    seconds = max(moved / HBM_BYTES_PER_SECOND, counter.products / MATMUL_FLOPS_PER_SECOND[kind])
    return {
        "flops": counter.flops(),
        "hbm_bytes": moved,
        "roofline_us": float(f"{seconds * 1e6:.3g}"),
    }
