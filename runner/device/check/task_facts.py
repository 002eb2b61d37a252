"""What a task says of itself to a kernel: inputs, outputs, constants, and the notes in its comments. Torch's word, not
the index's."""

import inspect
import keyword
import re

import numpy as np
import task_form
import torch
from torch.nn.parameter import UninitializedTensorMixin

# What a kernel sees of each torch type. What is not here no kernel gets.
KERNEL_DTYPES = {
    torch.float64: "float32",
    torch.float32: "float32",
    torch.float16: "float32",
    torch.bfloat16: "bfloat16",
    torch.int64: "int32",
    torch.int32: "int32",
    torch.bool: "uint8",
    torch.uint8: "uint8",
}
OUTPUT_DTYPES = {"float32", "int32", "uint8"}
BLIND = {"blind=bfloat16"}  # what the paper's tolerance cannot see of a task, said by who wrote it
DOMAINS = {"real", "positive", "unit", "probability", "index"}
ITEM_BYTES = {"float32": 4, "int32": 4, "bfloat16": 2, "uint8": 1}


class Refused(Exception):
    """The task cannot be posed to NKI: why, in words."""


def load_names(source, name):
    """What the task file defines. Runs it."""
    names = task_form.load(source, name).__dict__
    for wanted in ("Model", "get_inputs", "get_init_inputs"):
        if wanted not in names:
            raise Refused(f"it has no {wanted}")
    return names


def notes_of(source):
    """The `# nkigrid:` comments. @returns (category or None, {input: (domain, bound)} or None where there is no note)

    @raises Refused for one that cannot be read"""
    category, domains = None, {}
    notes = re.findall(r"^# nkigrid: *(.*?) *$", source, re.M)
    for note in notes:
        if match := re.fullmatch(r"category=([\w-]+)", note):
            category = match[1]
        elif note in BLIND:
            continue
        elif (match := re.fullmatch(r"domain (\w+)=(\w+)(?: (\d+))?", note)) and match[2] in DOMAINS:
            if (match[2] == "index") != bool(match[3]):
                raise Refused(f"domain of '{match[1]}': index needs a bound, the others have none")
            domains[match[1]] = (match[2], int(match[3] or 0))
        else:
            raise Refused(f"the comment '# nkigrid: {note}' cannot be read")
    return category, domains if notes else None


def is_blind(source, what):
    """Whether the task's comments say that the tolerance cannot see `what`."""
    return re.search(rf"^# nkigrid: *blind={what} *$", source, re.M) is not None


def kernel_dtype(tensor, what):
    if tensor.layout != torch.strided:
        raise Refused(f"{what} is {str(tensor.layout)[6:]}, which no kernel gets")
    if tensor.dtype.is_complex:
        raise Refused(f"complex numbers ({what} is {str(tensor.dtype)[6:]})")
    if tensor.dtype not in KERNEL_DTYPES:
        raise Refused(f"{what} is {str(tensor.dtype)[6:]}, which no kernel gets")
    return KERNEL_DTYPES[tensor.dtype]


def shape_of(tensor, what):
    """Rank 0 is posed as [1]."""
    if tensor.numel() == 0:
        raise Refused(f"{what} has no element (shape {list(tensor.shape)})")
    return list(tensor.shape) or [1]


def argument_names(function, count):
    """The names of `count` positional arguments: those after *args are numbered."""
    names = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind == parameter.VAR_POSITIONAL:
            return names + [f"{parameter.name}_{i}" for i in range(count - len(names))]
        names.append(parameter.name)
    return names[:count] + [f"input_{i}" for i in range(len(names), count)]


def inputs_of(model, given):
    """@returns [{"name", "shape", "dtype", "role"}], the kernel's positional arguments"""
    named = zip(argument_names(model.forward, len(given)), given)
    leaves = [leaf for name, value in named for leaf in task_form.leaves(name, value)]
    for name, value in leaves:
        if isinstance(value, np.ndarray):
            raise Refused(f"'{name}' is an array of numpy; get_inputs() is to give tensors")
    found = [(name, value, "input") for name, value in leaves if task_form.is_tensor(value)]
    inputs, taken = [], set()
    for name, tensor, role in found + _weights_of(model):
        name = re.sub(r"\W|^(?=\d)", "_", name)
        while name in taken or keyword.iskeyword(name):
            name += "_2"
        taken.add(name)
        what = f"'{name}'"
        inputs.append(
            {"name": name, "shape": shape_of(tensor, what), "dtype": kernel_dtype(tensor, what), "role": role}
        )
    if not inputs:
        raise Refused("neither get_inputs() nor Model has a tensor")
    return inputs


def _weights_of(model):
    if any(isinstance(weight, UninitializedTensorMixin) for weight in [*model.parameters(), *model.buffers()]):
        raise Refused("the shapes of its weights are told by a first forward() (a lazy module)")
    return task_form.weights_of(model)


def outputs_of(results):
    """@returns [{"shape", "dtype"}] of what forward() gave"""
    found = task_form.tensors(results)
    if not found:
        raise Refused("forward() gives no tensor")
    outputs = []
    for place, tensor in enumerate(found):
        dtype = kernel_dtype(tensor, f"output {place}")
        outputs.append(
            {"shape": shape_of(tensor, f"output {place}"), "dtype": "float32" if dtype == "bfloat16" else dtype}
        )
    return outputs


def constants_of(names, model, given):
    """@returns [{"name", "value"}] of what is no tensor: init arguments, then other arguments of forward()"""
    arguments, keywords = task_form.init_arguments(names["Model"], names["get_init_inputs"]())
    found = list(zip(argument_names(names["Model"], len(arguments)), arguments)) + list(keywords.items())
    for name, value in zip(argument_names(model.forward, len(given)), given):
        found += [(n, v) for n, v in task_form.leaves(name, value) if not task_form.is_tensor(v)]
    return [{"name": n, "value": re.sub(r" at 0x[0-9a-f]+", "", repr(v))} for n, v in found]


def facts_of(names):
    """All of it, by running the reference once. @returns (inputs, outputs, constants)"""
    torch.manual_seed(0)
    model, given = task_form.make_model(names), list(names["get_inputs"]())
    inputs, constants = inputs_of(model, given), constants_of(names, model, given)  # in the task's own types
    model, given = task_form.in_float32(model, given)
    with torch.no_grad():
        results = model(*given)
    return inputs, outputs_of(results), constants


def bytes_of(tensors):
    """Of tensors as the index lists them."""
    total = 0
    for tensor in tensors:
        size = ITEM_BYTES[tensor["dtype"]]
        for length in tensor["shape"]:
            size *= length
        total += size
    return total
