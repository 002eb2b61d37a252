"""One draw of a task: inputs, weights and what the reference makes of them. Runs the task's own code, which is
anybody's."""

import task_form


class TaskError(Exception):
    """The task and its index do not fit together: the benchmark's fault."""


def as_kernel_sees(torch, tensor, spec):
    """A tensor in the dtype of the kernel's argument, C-contiguous, rank 0 posed as (1,)."""
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16, "int32": torch.int32, "uint8": torch.uint8}.get(
        spec["dtype"]
    )
    if dtype is None:
        raise TaskError(f"dtype {spec['dtype']} of {spec.get('name', 'an output')} is not one that a kernel gets")
    value = tensor.detach().to(dtype).contiguous()
    value = value.reshape(1) if value.dim() == 0 else value
    if list(value.shape) != list(spec["shape"]):
        raise TaskError(
            f"{spec.get('name', 'an output')} has shape {list(value.shape)}, the index says {list(spec['shape'])}"
        )
    return value


def as_bytes(torch, value):
    """numpy knows no bfloat16: its bits travel as int16."""
    return (value.view(torch.int16) if value.dtype == torch.bfloat16 else value).numpy()


def check_domain(torch, value, spec):
    domain, low, high = spec.get("domain", "real"), float(value.min()), float(value.max())
    bad = {
        "positive": low <= 0,
        "unit": low < -1 or high > 1,
        "probability": low < 0 or high > 1,
        "index": low < 0 or high >= int(spec.get("bound", 0)),
    }.get(domain, False)
    if bad:
        raise TaskError(f"{spec['name']} holds {low} .. {high}, outside its domain {domain}")


def shifted(torch, value, spec, trial):
    """From trial 3 on `real` inputs are moved and stretched, so that no kernel can live off one distribution."""
    if trial < 3 or spec.get("domain", "real") != "real" or not value.is_floating_point():
        return value
    return value * 1.5 + 0.25 if trial % 2 else value * 0.5 - 0.5


def rounded(torch, value, spec):
    """The value that the kernel gets, in the dtype that the reference computes in."""
    return value.to(torch.bfloat16).to(torch.float32) if spec["dtype"] == "bfloat16" else value


def compute_trial(torch, request, trial, seed):
    """One draw. @returns (arguments, results), each [(dtype, shape, bytes)]"""
    specs, output_specs = request["inputs"], request["outputs"]
    with torch.no_grad():
        torch.manual_seed(seed)
        names = task_form.load(request["source"], request["task"] + ".py").__dict__
        model, given = task_form.make_model(names).float(), list(names["get_inputs"]())
        input_specs = [s for s in specs if s["role"] == "input"]
        if len(task_form.tensors(given)) != len(input_specs):
            raise TaskError(
                f"get_inputs() gives {len(task_form.tensors(given))} tensors, the index lists {len(input_specs)}"
            )
        arguments, ahead = [], iter(input_specs)

        def as_given(value):
            spec = next(ahead)
            check_domain(torch, value, spec)
            value = shifted(torch, value, spec, trial)
            value = rounded(torch, value.float() if value.is_floating_point() else value, spec)
            arguments.append(as_kernel_sees(torch, value, spec))
            return value

        given = task_form.map_tensors(as_given, given)
        weights = [weight for _, weight, _ in task_form.weights_of(model)]
        weight_specs = [s for s in specs if s["role"] != "input"]
        if len(weights) != len(weight_specs):
            raise TaskError(
                f"Model has {len(weights)} parameters and floating buffers, the index lists {len(weight_specs)}"
            )
        for weight, spec in zip(weights, weight_specs):
            weight.copy_(rounded(torch, weight, spec))
            arguments.append(as_kernel_sees(torch, weight, spec))
        arguments = [(s["dtype"], s["shape"], as_bytes(torch, a).copy()) for s, a in zip(specs, arguments)]
        results = task_form.tensors(model(*given))
    if len(results) != len(output_specs):
        raise TaskError(f"forward() gives {len(results)} tensors, the index lists {len(output_specs)}")
    expected = [
        (s["dtype"], s["shape"], as_bytes(torch, as_kernel_sees(torch, r, s))) for s, r in zip(output_specs, results)
    ]
    return arguments, expected
