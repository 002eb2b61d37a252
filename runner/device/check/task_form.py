"""The form of a task, KernelBench's: what Model, get_inputs() and get_init_inputs() may give, and how tensors of it are
told apart. Everything that runs a task goes through here, so that none reads it otherwise."""

import inspect
import linecache
import sys
import types


def load(source, name):
    """Runs a task's text as a module that knows its own source, as a file that is imported would: dataclasses look
    their module up, torch.jit.script reads its functions' text. @returns the module"""
    module = types.ModuleType("nkigrid_task")
    module.__file__ = name
    sys.modules[module.__name__] = module
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    exec(compile(source, name, "exec"), module.__dict__)
    return module


def init_arguments(model_class, given):
    """What get_init_inputs() gives as (arguments, keywords): a list, a dict of keywords, a list whose last dict holds
    the keywords, or a pair of both. The first form that Model takes is meant."""
    if isinstance(given, dict):
        return [], given
    given = list(given)
    forms = [(given, {})]
    if given and isinstance(given[-1], dict):
        forms.append((given[:-1], given[-1]))
    if len(given) == 2 and isinstance(given[0], (list, tuple)) and isinstance(given[1], dict):
        forms.append((list(given[0]), given[1]))
    for arguments, keywords in forms:
        try:
            inspect.signature(model_class).bind(*arguments, **keywords)
        except TypeError:
            continue
        return arguments, keywords
    return forms[0]  # Model itself says what it misses


def make_model(names):
    """@param names what the task file defines @returns Model(...), for inference"""
    arguments, keywords = init_arguments(names["Model"], names["get_init_inputs"]())
    return names["Model"](*arguments, **keywords).eval()


def leaves(name, value):
    """Yields (name, tensor or other value) of an argument or a result: a tensor in a tuple, list or dict is named after
    both. What holds no tensor is one value."""
    if not _holds_tensor(value):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(f"{name}_{key}", item)
    elif isinstance(value, (tuple, list)):
        for place, item in enumerate(value):
            yield from leaves(f"{name}_{place}", item)
    else:
        yield name, value


def tensors(value):
    """The tensors of a value, in order."""
    return [leaf for _, leaf in leaves("", value) if is_tensor(leaf)]


def map_tensors(act, value):
    """The same value with act(tensor) for each tensor, in the order of leaves()."""
    if is_tensor(value):
        return act(value)
    if isinstance(value, dict):
        return {key: map_tensors(act, item) for key, item in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*[map_tensors(act, item) for item in value])
    if isinstance(value, (tuple, list)):
        return type(value)(map_tensors(act, item) for item in value)
    return value


def in_float32(model, given):
    """Both with float16 and float64 as float32, as which a kernel gets them: so the reference runs them, too, and torch
    lacks many operations of float16 on a CPU."""
    import torch

    others = (torch.float16, torch.float64)
    if any(weight.dtype in others for _, weight, _ in weights_of(model)):
        model = model.float()
    return model, map_tensors(lambda value: value.float() if value.dtype in others else value, given)


def is_tensor(value):
    import torch  # not at the top: the reference worker starts without it

    return isinstance(value, torch.Tensor)


def _holds_tensor(value):
    if isinstance(value, dict):
        return any(_holds_tensor(item) for item in value.values())
    if isinstance(value, (tuple, list)):
        return any(_holds_tensor(item) for item in value)
    return is_tensor(value)


def weights_of(model):
    """What a kernel gets of a model: parameters, then floating buffers, with their names."""
    named = [(name, tensor, "parameter") for name, tensor in model.named_parameters()]
    return named + [(name, t, "buffer") for name, t in model.named_buffers() if t.is_floating_point()]
