"""Each error class of the official manual: a kernel that meets it, with the class's link, code and exception kind."""

import unittest

import kernels
from failure_table import END, OUT, TILE, X

ALLOC = (
    "import neuronxcc.nki.compiler as ncc\n"
    + TILE
    + "h = nl.ndarray((128, 64), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))\n"
)
BLOCKS = TILE + "b = nl.zeros((2, nl.par_dim(128), 512), dtype=nl.float32)\n"
INDEX = "i = nl.load(n)\np, f = nl.mgrid[0:128, 0:4]\n"
XN = [("x", (128, 512), "float32"), ("n", (128, 4), "int32")]
COLUMN = TILE + "c = nl.max(t, axis=1)\n"

# class: (exception kind, code, body, parameters, sdk). The manual does not give every kind; where it is silent this is
# ours.
CLASSES = {
    "1d_arange_not_supported": ("SyntaxError", "INDEXING", OUT + "t = nl.load(x[nl.arange(128), 0])\n", X),
    "activation_bias_invalid_type": (
        "TypeError",
        "DTYPE",
        TILE + "t = nisa.activation(op=nl.exp, data=t, bias=1.0)\n",
        X,
    ),
    "activation_scale_invalid_type": (
        "TypeError",
        "DTYPE",
        COLUMN + "t = nisa.activation(op=nl.exp, data=t, scale=nl.copy(c, dtype=nl.float16))\n",
        X,
    ),
    "activation_scale_scalar_or_vector": (
        "ValueError",
        "SHAPE_BROADCAST",
        TILE + "t = nisa.activation(op=nl.exp, data=t, scale=t)\n",
        X,
    ),
    "ambiguous_tensor_truth_value": ("SyntaxError", "CONTROL_FLOW", TILE + "u = bool(t > 0)\n", X, "2.26"),
    "annotation_shape_mismatch": (
        "TypeError",
        "RANK_LAYOUT",
        OUT + "t: nt.tensor[128, 256] = nl.load(x[0:128, :])\n",
        X,
    ),
    "bias_tensor_must_be_specified_in_allocation_kernel": (
        "RuntimeError",
        "OUTPUT_CONTRACT",
        ALLOC + "t = nisa.activation(op=nl.exp, data=t)\n",
        X,
    ),
    "cannot_assign_to_index": ("TypeError", "INDEXING", OUT + "p = nl.arange(128)[:, None]\np[0, 0] = 3\n", X),
    "cannot_update_immutable_parameter": (
        "TypeError",
        "OUTPUT_CONTRACT",
        TILE + "nl.store(x[0:128, :], value=t)\nreturn x\n",
        X,
    ),
    "control_flow_condition_depending_on_arange": (
        "SyntaxError",
        "CONTROL_FLOW",
        TILE + "p = nl.arange(128)[:, None]\nif p > 3:\n    t = nl.exp(t)\n",
        X,
    ),
    "copy_dynamic_indirect_indices_not_natively_supported": (
        "NotImplementedError",
        "INDEXING",
        "t = nl.load(x)\n" + INDEX + "t[p, i] = 0.0\n",
        XN,
    ),
    "dynamic_control_flow_not_supported": ("SyntaxError", "CONTROL_FLOW", TILE + "if t > 0:\n    t = nl.exp(t)\n", X),
    "exceed_max_supported_dimension": (
        "ValueError",
        "RANK_LAYOUT",
        OUT + "u = nl.zeros((32, 4, 8), dtype=nl.float32)\nt = nl.transpose(u)\n",
        X,
    ),
    "failed_to_infer_tile_from_local_tensor": ("TypeError", "RANK_LAYOUT", BLOCKS + "t = nl.exp(b)\n", X),
    "hbm_tensor_with_init_value_not_supported": (
        "RuntimeError",
        "OUTPUT_CONTRACT",
        "h = nl.zeros((128, 4), dtype=nl.float32, buffer=nl.hbm)\n",
        X,
    ),
    "indirect_indices_are_not_supported_with_nki_api": (
        "SyntaxError",
        "INDEXING",
        "t = nl.load(x)\n" + INDEX + "t = nl.exp(t[p, i])\n",
        XN,
        "2.26",
    ),
    "indirect_indices_free_dim": ("NotImplementedError", "INDEXING", INDEX + "t = nl.load(x[p, i])\n", XN),
    "leading_dimension_of_tensor_must_be_partition": (
        "TypeError",
        "RANK_LAYOUT",
        OUT + "t = nl.load(x)\n",
        [("x", (256, 8, 16, 16), "float32")],
    ),
    "local_variable_used_out_of_scope": (
        "SyntaxError",
        "SCOPE_LOOP_DEP",
        OUT + "for i in nl.affine_range(2):\n    t = nl.load(x[i * 128:(i + 1) * 128, :])\n" + END,
        X,
    ),
    "nested_kernel_with_spmd_grid": (
        "RuntimeError",
        "CONTROL_FLOW",
        TILE + "inner = nki.jit(lambda: None)\ninner[2]()\n",
        X,
    ),
    "num_partition_exceed_arch_limit": ("ValueError", "PARTITION_LIMIT", OUT + "t = nl.load(x)\n", X),
    "num_partition_mismatch": (
        "ValueError",
        "SHAPE_BROADCAST",
        TILE + "t = nisa.tensor_tensor(t, nl.load(x[0:64, :]), op=np.add)\n",
        X,
    ),
    "shared_hbm_must_in_kernel_level": (
        "RuntimeError",
        "OUTPUT_CONTRACT",
        "for i in nl.affine_range(2):\n    h = nl.ndarray((128, 4), dtype=nl.float32, buffer=nl.shared_hbm)\n",
        X,
    ),
    "size_of_dimension_exceed_arch_limit": (
        "ValueError",
        "MATMUL_LIMIT",
        TILE + "t = nisa.nc_matmul(t[:, 0:256], t)\n",
        X,
    ),
    "store_dst_shape_smaller_than_other_shape": ("ValueError", "SHAPE_BROADCAST", TILE + "t[:, 0:256] = t * 2.0\n", X),
    "tensor_access_out_of_bound": (
        "IndexError",
        "OOB",
        OUT + "for i in nl.affine_range(3):\n    t = nl.load(x[nl.ds(i * 128, 128), :])\n",
        X,
    ),
    "tensor_creation_on_scratchpad_with_init_value_not_supported": (
        "RuntimeError",
        "OUTPUT_CONTRACT",
        "import neuronxcc.nki.compiler as ncc\n"
        "h = nl.zeros((128, 64), dtype=nl.float32, buffer=ncc.sbuf.mod_alloc(base_addr=0))\n",
        X,
    ),
    "tensor_output_not_written_to": (
        "RuntimeError",
        "OUTPUT_CONTRACT",
        OUT + "for i in nl.affine_range(0):\n    nl.store(out, value=nl.load(x[0:128, :]))\nreturn out\n",
        X,
    ),
    "transpose_on_tensor_engine_not_allowed_in_allocated_kernel": (
        "NotImplementedError",
        "UNSUPPORTED_OP",
        ALLOC + "t = nl.transpose(t[:, 0:128])\n",
        X,
    ),
    "unexpected_output_dependencies": (
        "SyntaxError",
        "SCOPE_LOOP_DEP",
        TILE + "for i in nl.affine_range(2):\n    nl.store(out, value=t)\nreturn out\n",
        X,
    ),
    "unsupported_expression_in_mask": ("SyntaxError", "INDEXING", TILE + "u = nl.exp(t, mask=t > 0)\n", X),
    "unsupported_memory": ("TypeError", "WRONG_MEMORY", OUT + "t = nl.exp(x[0:128, :])\n", X),
    "unsupported_mixing_basic_advanced_tensor_indexing": (
        "SyntaxError",
        "INDEXING",
        OUT + "t = nl.load(x[nl.arange(128)[:, None], :])\n",
        X,
    ),
    "while_loop_requires_unconditional_entry": (
        "SyntaxError",
        "CONTROL_FLOW",
        TILE + "for i in nl.affine_range(2):\n    while i < 1:\n        pass\n",
        X,
        "2.26",
    ),
}


class OfficialClasses(unittest.TestCase):
    def test_each_class_is_met(self):
        for name, (kind, code, body, params, *sdk) in CLASSES.items():
            with self.subTest(name):
                result = kernels.compile_body(body, params, sdk=sdk[0] if sdk else "2.24")
                self.assertFalse(result["ok"], name)
                self.assertIn(
                    "Info on how to fix: "
                    "https://awsdocs-neuron.readthedocs-hosted.com/en/latest/general/nki/api/nki.errors.html#err-"
                    f"{name.replace('_', '-')}",
                    result["message"] + "\n",
                )
                self.assertEqual(result["code"], code, result["message"])
                self.assertTrue(result["message"].startswith(kind + ": "), result["message"])

    def test_calls_outside_of_a_kernel(self):
        import neuronxcc.nki.language as nl

        with self.assertRaises(RuntimeError) as caught:
            nl.zeros((128, 4), dtype=nl.float32)
        self.assertIn("err-nki-api-outside-of-nki-kernel", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
