"""Poses a task to NKI: what a kernel would get and give, and how much work it is; or why it cannot be posed.

A task may be far too large for this machine, so it is first run on tensors without bytes (torch's fake tensors), which
tell shapes, types and work; only one that fits is run with numbers, for the domains of its inputs and where a fake run
is not to be had."""

import warnings

import fake_forms
import task_facts
import task_form
import task_work
import torch
import well_posed
from task_facts import Refused, bytes_of
from torch.utils._python_dispatch import TorchDispatchMode

DRAWS = 3  # of a task's inputs, to tell their domains
DEAR_DRAWS = 2  # where only numbers tell what a large task gives: shapes that hang on them differ
# Up to both the reference is run with numbers even where fake tensors told all; larger tasks are only drawn, once.
QUICK_BYTES, QUICK_FLOPS = 64 << 20, 2e9


class Acts(TorchDispatchMode):
    """What a forward pass does that no reference may."""

    def __init__(self):
        super().__init__()
        self.draws = self.trains = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.draws |= torch.Tag.nondeterministic_seeded in function.tags
        # args: input, weight, bias, running mean, running variance, training
        is_norm = function._schema.name in ("aten::native_batch_norm", "aten::cudnn_batch_norm")
        self.trains |= is_norm and args[3] is not None and bool(args[5])
        return function(*args, **(kwargs or {}))


class Look:
    """One run of a task: its model, what it was given, what it gave, how much work that was."""

    def __init__(self, source, name, make_model=task_form.make_model):
        torch.manual_seed(0)
        self.names = task_facts.load_names(source, name)
        self.model, given = make_model(self.names), self.names["get_inputs"]()
        if not isinstance(given, (list, tuple)):
            kind = "tensor" if task_form.is_tensor(given) else type(given).__name__
            raise Refused(f"get_inputs() gives no list (a {kind}); a list of forward()'s arguments is wanted")
        self.given, self.results, self.work = list(given), None, task_work.Counter()
        self.inputs = task_facts.inputs_of(self.model, self.given)

    def forward(self, gradients=False):
        """@raises Refused for what no reference may do"""
        self.work = task_work.Counter()
        self.model, self.given = task_form.in_float32(self.model, self.given)
        state = {**dict(self.model.named_parameters()), **dict(self.model.named_buffers())}
        before = {name: tensor._version for name, tensor in state.items()}
        with torch.set_grad_enabled(gradients), Acts() as acts, self.work:
            self.results = self.model(*self.given)
        if acts.draws:
            raise Refused("forward() draws random numbers")
        if acts.trains or any(tensor._version != before[name] for name, tensor in state.items()):
            raise Refused("training mode: forward() changes the model after eval()")
        self.outputs = task_facts.outputs_of(self.results)

    def demand_same(self, given):
        """@param given what forward() was given, as it was then @raises Refused when it now answers otherwise"""
        first = _arrays(task_form.tensors(self.results))
        self.given = given
        self.forward()
        if not well_posed.passes(_arrays(task_form.tensors(self.results)), first):
            raise Refused("forward() gives other results when it is run again: it draws numbers of its own, or counts")

    def entry(self):
        constants = task_facts.constants_of(self.names, self.model, self.given)
        return {"inputs": self.inputs, "outputs": self.outputs, "constants": constants}


def fake_look(source, name, most_bytes):
    """A look without bytes. @returns Look, its `results` None where fake tensors cannot say them: an operation without
    a fake form, or whose shape hangs on values; numbers will tell

    @raises Refused, or whatever the task's own code raises outside of forward()"""
    begun, failure = None, None
    for make_model, gradients in fake_forms.WAYS:
        with warnings.catch_warnings(), fake_forms.fake_mode() as mode:
            warnings.simplefilter("ignore")
            try:
                look = Look(source, name, lambda names: make_model(names, mode))
                _demand_size(bytes_of(look.inputs), most_bytes, " for inputs and weights alone")
                begun = begun or look
                look.forward(gradients)
            except Refused:
                raise
            except Exception as error:
                failure = failure or error
                continue
        _demand_size(bytes_of(look.inputs + look.outputs), most_bytes, "")
        return look
    if begun is None:
        raise failure
    begun.results = None
    return begun


def _fake_look_or_none(source, name, most_bytes):
    try:
        return fake_look(source, name, most_bytes)
    except Refused:
        raise
    except Exception:  # a fault of the task's, or of fake tensors: a run with numbers will say it in its own words
        return None


def _demand_size(size, most_bytes, what):
    if size > most_bytes:
        raise Refused(f"too large ({size / 2**20:.0f} MiB{what}; max_task_bytes is {most_bytes / 2**20:.0f} MiB)")


def pose(source, name, category, most_bytes):
    """@param category where the task's comments name none
    @returns (index entry without id, {"title", "tags", "rank", "flops", "hbm_bytes", "roofline_us"})
    @raises Refused; whatever the task's own code raises"""
    noted, domains = task_facts.notes_of(source)
    look = _fake_look_or_none(source, name, most_bytes)
    entry = look.entry() if look is not None and look.results is not None else None
    quick = entry is None or _is_quick(entry, look.work)
    if domains is None or quick:
        draws = DRAWS if quick and (domains is None or entry is None) else 1
        numbers, drawn, imitated = _real_looks(source, name, most_bytes, draws, runs=quick, infer=domains is None)
        entry = entry or numbers.entry()
        # Work is counted with numbers where they ran, unless torch took a path whose products nothing counts.
        look = max((l for l in (numbers, look) if l and l.results is not None), key=lambda l: l.work.products)
        inferred = drawn if domains is None else {}
    else:
        inferred, imitated = {}, set()
    unknown = set(domains or {}) - {item["name"] for item in entry["inputs"]}
    if unknown:
        raise Refused(f"a domain is given for '{min(unknown)}', which is no input")
    for item in entry["inputs"]:
        item["domain"], item["bound"] = (domains or inferred).get(item["name"], ("real", 0))
    work = task_work.work_of(entry, look.work)
    title = " ".join((look.names["Model"].__doc__ or name).split("\n\n")[0].split())
    entry = {"category": noted or category, **entry}
    tags = sorted(tags_of(entry) + [f"passes-{kind}" for kind in imitated])
    return entry, {"title": title, "tags": tags, "rank": len(entry["inputs"][0]["shape"]), **work}


def _is_quick(entry, work):
    return _is_small(entry["inputs"] + entry["outputs"], work)


def _is_small(tensors, work):
    return bytes_of(tensors) <= QUICK_BYTES and work.flops() <= QUICK_FLOPS


def tags_of(entry):
    """What people choose tasks by. Ragged: some axis needs several tiles of 128, and these do not fill it evenly."""
    tensors = entry["inputs"] + entry["outputs"]
    tags = {f"rank-{len(entry['inputs'][0]['shape'])}"}
    tags |= {"ragged"} if any(n > 128 and n % 128 for t in tensors for n in t["shape"]) else set()
    tags |= {"bfloat16"} if any(t["dtype"] == "bfloat16" for t in tensors) else set()
    tags |= {"integer"} if any(t["dtype"] in ("int32", "uint8") for t in tensors) else set()
    tags |= {"several-outputs"} if len(entry["outputs"]) > 1 else set()
    tags |= {"weights"} if any(i["role"] != "input" for i in entry["inputs"]) else set()
    return sorted(tags)


def _real_looks(source, name, most_bytes, draws, runs, infer):
    """Draws with numbers. @param runs forward() with each, too @param infer looks at domains
    @returns (the last Look; its results are None when forward() was not needed, {input: (domain, bound)}, the kinds
    of answers without work that pass, where forward() was run)"""
    seen, outputs, imitated = {}, None, _Imitated()
    highs = _recorded_highs()
    for draw in range(draws):
        with highs:
            look = Look(source, name)
        _demand_size(bytes_of(look.inputs), most_bytes, " for inputs and weights alone")
        torch.manual_seed(draw)
        with highs:
            look.given = list(look.names["get_inputs"]())
        if infer:
            _see(look, highs, seen)
        if not runs:
            continue
        arguments = _arrays(well_posed.tensors_of(look.model, look.given))
        again = task_form.map_tensors(torch.clone, look.given)  # forward() may write into what it gets
        look.forward()
        _demand_size(bytes_of(look.inputs + look.outputs), most_bytes, "")
        if outputs not in (None, look.outputs):
            raise Refused("dynamic shapes: what forward() gives has other shapes for other inputs")
        outputs = look.outputs
        if not all(t.isfinite().all() for t in task_form.tensors(look.results)):
            raise Refused("its reference is not finite")
        if draw == 0 and _is_small(look.inputs + look.outputs, look.work):
            look.demand_same(again)
        imitated.see(arguments, _arrays(task_form.tensors(look.results)))
        if draw + 1 == DEAR_DRAWS and not _is_small(look.inputs + look.outputs, look.work):
            break
    return look, {name: _domain_of(*values) for name, values in seen.items()}, imitated.kinds()


def _arrays(tensors):
    """Copies, as numpy takes them, which has no bfloat16: forward() may write into its arguments."""
    tensors = [tensor.detach().reshape(tensor.shape or (1,)) for tensor in tensors]
    return [(t.float() if t.is_floating_point() else t).clone().numpy() for t in tensors]


class _Imitated:
    """Which answers without work pass by the paper's rule in every draw: such a task tells nothing of a kernel."""

    def __init__(self):
        self.tried, self.failed, self.before = set(), set(), None

    def see(self, arguments, results):
        for kind, what, answers in well_posed.imitations(results, arguments, self.before):
            self.tried.add((kind, what))
            if (kind, what) not in self.failed and not well_posed.passes(answers, results):
                self.failed.add((kind, what))
        self.before = results

    def kinds(self):
        return {kind for kind, _ in self.tried - self.failed}


class _recorded_highs:
    """Within it torch.randint's upper bounds are kept: an index that was drawn so may take any value below."""

    def __init__(self):
        self.of = {}

    def __enter__(self):
        self.original = torch.randint

        def randint(*args, **kwargs):
            result = self.original(*args, **kwargs)
            numbers = [a for a in args if isinstance(a, int)]
            high = kwargs.get("high", numbers[1] if len(numbers) > 1 else numbers[0] if numbers else 0)
            self.of[result.storage().data_ptr()] = (int(high), result)  # held, so that its place is not given away
            return result

        torch.randint = randint

    def __exit__(self, *_):
        torch.randint = self.original


def _see(look, highs, seen):
    """Widens what is known of each input's values: [low, high, bound of its draw, elements, is whole, is bool]."""
    for item, tensor in zip(look.inputs, task_form.tensors(look.given)):
        low, high = float(tensor.min()), float(tensor.max())
        bound = highs.of.get(tensor.storage().data_ptr(), (0, None))[0]
        old = seen.get(item["name"], (low, high, 0))
        whole = not tensor.is_floating_point()
        seen[item["name"]] = (min(low, old[0]), max(high, old[1]), max(bound, old[2]), tensor.numel(), whole,
                              tensor.dtype == torch.bool)  # fmt: skip


def _domain_of(low, high, bound, elements, whole, is_bool):
    """The domain that a task's own draws keep to. Whole numbers from 0 are taken for indices: their bound is what they
    were drawn below, else the next one above those seen, twice that where few were seen."""
    if is_bool:
        return ("index", 2)
    if whole:
        most = int(high) + 1
        guess = most if elements >= 20 * most else 2 * most
        return ("index", bound if bound >= most else guess) if low >= 0 else ("real", 0)
    if low >= 0 and high <= 1:
        return ("probability", 0)
    if low > 0:
        return ("positive", 0)
    return ("unit", 0) if -1 <= low < -0.9 and 0.9 < high <= 1 else ("real", 0)
