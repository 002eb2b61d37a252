"""What strangers write into tasks: each is posed as it is meant, or refused in words that say why."""

import json
import pathlib
import sys
import tempfile
import unittest

import torch
from known_kernels import LIBEXEC
from trees import program

sys.path.insert(0, str(LIBEXEC))
import pose_tasks  # noqa: E402
import reference_task  # noqa: E402

MOST = 1 << 30
torch.set_num_threads(1)


def task(forward, init="pass", takes="", x="x", draws="torch.randn(20, 40)", given="[]", head=""):
    """The text of one. @param takes what __init__ takes @param x what forward() takes @param head module level"""
    return f"""
{head}
import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, {takes}):
        super().__init__()
        {init}

    def forward(self, {x}):
        return {forward}


def get_inputs():
    return [{draws}]


def get_init_inputs():
    return {given}
"""


CONFIG = """from __future__ import annotations
from dataclasses import dataclass, field


@dataclass
class Config:
    width: int = 40
    layers: list[int] = field(default_factory=lambda: [30, 20])
"""
CLOSURE = (
    task("x * 2") + "\n\ndef make(shape):\n    return lambda: [torch.rand(*shape)]\n\n\nget_inputs = make((20, 40))"
)
SCRIPT = "import torch\n\n\n@torch.jit.script\ndef act(x):\n    return torch.tanh(x) * x"
COMPILED = "import torch\n\n\n@torch.compile\ndef act(x):\n    return x * x"
NAMED = "from collections import namedtuple\n\nTop = namedtuple('Top', 'values indices')"
COUNTS = "setattr(self, 'n', getattr(self, 'n', 0) + 1) or x * self.n"
LINEAR = "self.layer = nn.Linear(40, 30)"
BUFFERS = "self.register_buffer('m', torch.ones(40).bool()); self.register_buffer('s', torch.ones(40))"
X = ("x", [20, 40], "float32")

POSED = {  # name: (text, {input: (shape, dtype)} of the first inputs, outputs)
    "keywords_in_init": (
        task("self.layer(x) + self.eps", f"self.eps = eps; {LINEAR}", "*, eps, bias=True", given="[{'eps': 1e-3}]"),
        [X],
        [([20, 30], "float32")],
    ),
    "nested_lists": (
        task(
            "self.s(x)",
            "self.s = nn.Sequential(*[nn.Linear(*p) for p in spec[0]])",
            "spec",
            given="[[[[40, 8], [8, 4]]]]",
        ),
        [X, ("s_0_weight", [8, 40], "float32")],
        [([20, 4], "float32")],
    ),
    "a_tensor_of_the_module": (
        task("x * T", head="import torch\nT = torch.arange(40).float() / 40"),
        [X],
        [([20, 40], "float32")],
    ),
    "named_outputs": (task("Top(*x.topk(8, dim=1))", head=NAMED), [X], [([20, 8], "float32"), ([20, 8], "int32")]),
    "tuple_of_inputs": (
        task("pair[0] @ pair[1].t() * k", x="pair, k", draws="(torch.randn(20, 4), torch.randn(9, 4)), 2"),
        [("pair_0", [20, 4], "float32"), ("pair_1", [9, 4], "float32")],
        [([20, 9], "float32")],
    ),
    "dict_of_inputs": (
        task("b['a'] * b['s'].sum()", x="b", draws="{'a': torch.randn(20, 40), 's': torch.randn(7)}"),
        [("b_a", [20, 40], "float32"), ("b_s", [7], "float32")],
        [([20, 40], "float32")],
    ),
    "strided_inputs": (task("x.flip(0)", draws="torch.randn(40, 40).t()[::2]"), [X], [([20, 40], "float32")]),
    "expanded_indices": (
        task("self.e(x).sum(1)", "self.e = nn.Embedding(50, 16)", draws="torch.randint(0, 50, (9, 1)).expand(9, 5)"),
        [("x", [9, 5], "int32"), ("e_weight", [50, 16], "float32")],
        [([9, 16], "float32")],
    ),
    "bool_mask": (
        task("x.masked_fill(m, -1e9).softmax(-1)", x="x, m", draws="torch.randn(20, 40), torch.rand(20, 40) > 0.7"),
        [X, ("m", [20, 40], "uint8")],
        [([20, 40], "float32")],
    ),
    "other_names_for_torch": (
        task("FF.gelu(x) / root(2)", head="import torch.nn.functional as FF\nfrom math import sqrt as root"),
        [X],
        [([20, 40], "float32")],
    ),
    "dataclass_config": (
        task(
            "self.layer(x)",
            "self.layer = nn.Linear(config.width, config.layers[0])",
            "config",
            given="[Config()]",
            head=CONFIG,
        ),
        [X],
        [([20, 30], "float32")],
    ),
    "inputs_of_a_closure": (CLOSURE, [X], [([20, 40], "float32")]),
    "half": (
        task("self.layer(x)", f"{LINEAR}.half()", draws="torch.randn(20, 40).half()"),
        [X],
        [([20, 30], "float32")],
    ),
    "double": (
        task("self.layer(x)", LINEAR, head="import torch\ntorch.set_default_dtype(torch.float64)"),
        [X],
        [([20, 30], "float32")],
    ),
    "complex_within": (task("torch.fft.rfft(x).abs()"), [X], [([20, 21], "float32")]),
    "dropout_and_batch_norm_of_inference": (
        task("self.n(self.d(x))", "self.d = nn.Dropout(0.3); self.n = nn.BatchNorm1d(40)"),
        [X, ("n_weight", [40], "float32")],
        [([20, 40], "float32")],
    ),
    "buffers_of_all_types": (
        task("x * self.m * self.s", BUFFERS),
        [X, ("s", [40], "float32")],
        [([20, 40], "float32")],
    ),
    "list_of_parameters": (
        task("x * self.w[0] + self.w[1]", "self.w = nn.ParameterList([torch.randn(40) for _ in 'ab'])"),
        [X, ("w_0", [40], "float32"), ("w_1", [40], "float32")],
        [([20, 40], "float32")],
    ),
    "names_that_are_no_python": (
        task(
            "self.s(x)",
            "self.s = nn.Identity(); self.add_module('0', nn.Linear(40, 30)); "
            "self.register_parameter('in', nn.Parameter(torch.ones(3)))",
        ),
        [X, ("in_2", [3], "float32"), ("_0_weight", [30, 40], "float32")],
        [([20, 40], "float32")],
    ),
    "einsum": (
        task("torch.einsum('bij,bjk->bik', x, y)", x="x, y", draws="torch.randn(3, 5, 7), torch.randn(3, 7, 2)"),
        [("x", [3, 5, 7], "float32"), ("y", [3, 7, 2], "float32")],
        [([3, 5, 2], "float32")],
    ),
    "deep_copies": (
        task("self.b(self.a(x))", "self.a = nn.Linear(40, 40); self.b = copy.deepcopy(self.a)", head="import copy"),
        [X, ("a_weight", [40, 40], "float32")],
        [([20, 40], "float32")],
    ),
    "scripted_function": (task("act(x)", head=SCRIPT), [X], [([20, 40], "float32")]),
    "device_if_there_is_one": (
        task("x * 2", draws="torch.randn(20, 40, device='cuda' if torch.cuda.is_available() else 'cpu')"),
        [X],
        [([20, 40], "float32")],
    ),
    "seeds_set_at_import": (
        task(
            "x * self.w",
            "self.w = nn.Parameter(torch.randn(40))",
            head="import random\nimport torch\nrandom.seed(1)\ntorch.manual_seed(2)",
        ),
        [X, ("w", [40], "float32")],
        [([20, 40], "float32")],
    ),
    "results_that_are_no_tensors": (task("(x * 2, None, 3.5)"), [X], [([20, 40], "float32")]),
    "gradients_within": (task("torch.autograd.functional.jvp(torch.sin, x, x)[1]"), [X], [([20, 40], "float32")]),
    "writes_into_its_input": (task("x.mul_(2)"), [X], [([20, 40], "float32")]),
}

REFUSED = {  # name: (text, how the reason begins)
    "complex": (task("torch.fft.rfft(x)"), "complex numbers (output 0 is complex64)"),
    "shapes_that_hang_on_values": (task("x[x > 0]"), "dynamic shapes: what forward() gives has other shapes"),
    "dropout_that_is_on": (task("nn.functional.dropout(x, 0.5)"), "forward() draws random numbers"),
    "random_of_python": (task("x * random.random()", head="import random"), "forward() gives other results when it is"),
    "counts_its_calls": (task(COUNTS), "forward() gives other results when it is run again"),
    "trains": (task("self.train() and self.n(x)", "self.n = nn.BatchNorm1d(40)"), "training mode: forward() changes"),
    "compiled_function": (task("act(x)", head=COMPILED), "needs a newer torch than"),
    "device_of_a_gpu": (task("x * 2", draws="torch.randn(20, 40, device='cuda')"), "asks for a GPU, and references"),
    "moved_to_a_gpu": (task("self.layer(x.cuda())", f"{LINEAR}.cuda()"), "asks for a GPU, and references"),
    "sparse": (
        task("torch.sparse.mm(x, x)", draws="torch.eye(20).to_sparse()"),
        "'x' is sparse_coo, which no kernel gets",
    ),
    "int8": (task("x.int()", draws="torch.ones(20, dtype=torch.int8)"), "'x' is int8, which no kernel gets"),
    "lazy_weights": (task("self.l(x)", "self.l = nn.LazyLinear(30)"), "the shapes of its weights are told by a first"),
    "arrays_of_numpy": (
        task("torch.as_tensor(x)", draws="np.ones(9)", head="import numpy as np"),
        "'x' is an array of numpy",
    ),
    "no_tensor": (task("torch.ones(3)", draws="1"), "neither get_inputs() nor Model has a tensor"),
    "no_element": (task("x[:, 40:]"), "output 0 has no element (shape [20, 0])"),
    "a_dict_for_a_list": (
        task("x").replace("[torch.randn(20, 40)]", "{'x': torch.randn(20, 40)}"),
        "get_inputs() gives no list (a dict)",
    ),
    "a_tensor_for_a_list": (
        task("x").replace("[torch.randn(20, 40)]", "torch.randn(20, 40)"),
        "get_inputs() gives no list (a tensor)",
    ),
    "no_model": (task("x").replace("Model", "Net"), "it has no Model"),
    "no_python": (task("x +"), "SyntaxError: invalid syntax"),
    "another_package": (
        task("x", head="import a_package_that_nobody_has"),
        "needs the package 'a_package_that_nobody_has'",
    ),
}


def answer(name, text):
    defaults = torch.get_default_dtype()
    try:
        return pose_tasks.answer({"id": name, "source": text, "category": "other"}, MOST, False)
    finally:
        torch.set_default_dtype(defaults)


class OddTasks(unittest.TestCase):
    def test_what_can_be_posed_is_posed_as_it_is_meant(self):
        for name, (text, inputs, outputs) in POSED.items():
            with self.subTest(name):
                told = answer(name, text)
                self.assertNotIn("refused", told)
                found = [(i["name"], i["shape"], i["dtype"]) for i in told["entry"]["inputs"]]
                self.assertEqual(found[: len(inputs)], inputs)
                self.assertEqual([(o["shape"], o["dtype"]) for o in told["entry"]["outputs"]], outputs)

    def test_the_reference_worker_takes_what_is_posed(self):
        for name in ("half", "scripted_function", "dataclass_config", "dict_of_inputs", "names_that_are_no_python"):
            with self.subTest(name):
                text, _, outputs = POSED[name]
                entry = answer(name, text)["entry"]
                request = {"task": name, "source": text, "inputs": entry["inputs"], "outputs": entry["outputs"]}
                expected = reference_task.compute_trial(torch, request, 0, 5)[1]
                self.assertEqual([(shape, dtype) for dtype, shape, _ in expected], outputs)

    def test_what_cannot_is_refused_in_words(self):
        for name, (text, why) in REFUSED.items():
            with self.subTest(name):
                told = answer(name, text).get("refused", "it was posed")
                self.assertEqual(told[: len(why)], why)

    def test_behind_the_walls_files_are_out_of_reach(self):
        with tempfile.TemporaryDirectory() as scratch:
            tree, out = pathlib.Path(scratch) / "tree", pathlib.Path(scratch) / "own"
            (tree / "level1").mkdir(parents=True)
            (tree / "level1" / "1_reads.py").write_text(task("x", head="open('/etc/passwd')"))
            (tree / "level1" / ("2_" + "long_name_" * 5 + ".py")).write_text(task("x * 3"))
            told = json.loads(program("bench", "import", tree, "-o", out, "--json")[0])
            self.assertTrue(told["refused"][0]["why"].startswith("reaches for what no reference may"), told)
            (tree / "level1" / "1_reads.py").write_text(task("x * 2"))
            program("bench", "import", tree, "-o", f"{out}2")
            lines = program("bench", "list", "--benchmark", f"{out}2")[0].splitlines()
        self.assertEqual(len({line.index("kernelbench") for line in lines}), 1, lines)  # columns stay columns


if __name__ == "__main__":
    unittest.main()
