"""Compiles one kernel to a NEFF with the vendor's compiler and no device; single use, started by the neuron backend
inside walls.

Descriptor 3 is a stream of frames (docs/formats/child_protocol.md): this says first how the import of the compiler
went, then takes one request and answers it as a tracer child does, with the NEFF for a program. It never holds inputs,
references, seeds or keys.

usage: neuron_compile.py ENTRY_RULES_FILE SCRATCH_FOLDER FLAGS
"""

import importlib.util
import os
import sys
import time
import types
import warnings

WORK = 3


def load(name, path):
    """A module by its file, whatever else has its name."""
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def import_compiler():
    """The package neuronxcc.nki. @raises SystemExit with the reason when it is not the vendor's"""
    import neuronxcc

    version = str(getattr(neuronxcc, "__version__", ""))
    if version.endswith("+nkisim"):
        raise SystemExit(f"the package neuronxcc of {sys.executable} is nkigrid's own simulator ({version})")
    import neuronxcc.nki
    import neuronxcc.nki.isa
    import neuronxcc.nki.language

    return neuronxcc.nki, version


class Kernels:
    """nki.jit, remembering what it decorated: the raw functions are what is compiled."""

    def __init__(self, nki):
        self.real = nki.jit
        self.seen = []  # (what nki.jit gave, the raw function, mode); kept alive, so that identity means something
        nki.jit = self.jit

    def jit(self, func=None, mode="auto", **options):
        if func is None:
            return lambda f: self.jit(f, mode, **options)
        raw = getattr(func, "func", func)
        kernel = self.real(func, mode=mode, **options)
        self.seen.append((kernel, raw, mode))
        return kernel

    def of(self, namespace):
        """{name: (raw function, mode)} of a file's decorated names."""
        found = {}
        for name, value in list(namespace.items()):
            for kernel, raw, mode in self.seen:
                if kernel is value:
                    found[name] = (raw, mode)
        return found


def run_file(path, text, rules):
    """Executes the kernel's file as a module: the tracer reads its source by the file's name."""
    import builtins

    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    module = types.ModuleType("kernel")
    module.__file__ = path
    table = dict(vars(builtins))
    table["__import__"] = rules.importer(builtins.__import__)
    module.__dict__["__builtins__"] = table
    sys.modules["kernel"] = module
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)
    return module.__dict__


def sample(params, nki):
    """Arrays of the task's shapes and dtypes; only those are looked at."""
    import numpy as np

    def dtype(name):
        if name != "bfloat16":
            return np.dtype(name)
        try:
            import ml_dtypes

            return np.dtype(ml_dtypes.bfloat16)
        except ImportError:
            return np.dtype(nki.language.bfloat16)

    return [np.zeros(tuple(p["shape"]), dtype=dtype(p["dtype"])) for p in params]


def lines_of(error, path):
    """Lines of the kernel's file on an exception's way, outermost first; and whether its last step was there."""
    lines, inside, cursor = [], False, error.__traceback__
    while cursor is not None:
        inside = cursor.tb_frame.f_code.co_filename == path
        if inside:
            lines.append(cursor.tb_lineno)
        cursor = cursor.tb_next
    return lines, inside


class Compile:
    """One request."""

    def __init__(self, nki, rules, diagnose, scratch, flags):
        self.nki, self.rules, self.diagnose, self.flags = nki, rules, diagnose, flags
        self.path, self.neff = os.path.join(scratch, "kernel.py"), os.path.join(scratch, "kernel.neff")
        self.log = os.path.join(scratch, "log")

    def get_ready(self, request):
        """Arrays of the task's shapes. @raises what the machinery is to blame for: no kernel has run yet"""
        self.samples = sample(request["params"], self.nki)

    def answer(self, request, source):
        """(head, NEFF) of the reply."""
        found = []
        try:
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                entry, error = self.compile(request, source)
        except BaseException as error:  # a hostile file may raise anything, SystemExit included
            reply, neff = self.refusal(error), b""
        else:
            neff = self.read_neff()
            reply = (
                {"ok": True, "entry": entry}
                if neff
                else self.refusal(error or RuntimeError("the compiler came to its end and wrote no NEFF"))
            )
        reply["warnings"] = [self.diagnose.clean(str(w.message), 1000) for w in found[:50]]
        defaults = {"ok": False, "entry": "", "code": "", "stage": "", "line": 0, "message": "", "doubt": ""}
        return {**defaults, **reply}, neff

    def compile(self, request, source):
        """@returns (entry, what the call raised or None): a raise after the NEFF is written is the missing device's"""
        try:
            text, tree = self.rules.parse(source)
        except SyntaxError as error:
            error.is_of_the_file = True  # others are the tracer's
            raise
        kernels = Kernels(self.nki)
        namespace = run_file(self.path, text, self.rules)
        raw = self.rules.find_entry(tree, kernels.of(namespace), request["entry"])
        grid = self.rules.grid_of(namespace)
        params = request["params"]
        self.rules.check_arguments(raw, [(p["name"], tuple(p["shape"]), p["dtype"]) for p in params])
        options = {"save_neff_name": self.neff}
        if self.flags:
            options["additional_compile_opt"] = self.flags
        compiled = self.nki.baremetal(**options)(raw)
        try:
            (compiled[grid] if grid else compiled)(*self.samples)
        except BaseException as error:
            return raw.__name__, error
        return raw.__name__, None

    def read_neff(self):
        try:
            with open(self.neff, "rb") as file:
                return file.read()
        except OSError:
            return b""

    def refusal(self, error):
        if isinstance(error, self.rules.Refusal):
            return {
                "code": error.code,
                "stage": error.stage,
                "line": error.line,
                "message": self.diagnose.clean(str(error)),
            }
        if getattr(error, "is_of_the_file", False):
            return self.syntax(error)
        lines, inside = lines_of(error, self.path)
        line = lines[-1] if lines else 0
        words = f"{type(error).__name__}: {self.diagnose.words_of(error)}"
        status = self.diagnose.exit_status(words)
        if status is None and not (isinstance(error, RuntimeError) and "NEFF" in words):
            code, stage = self.diagnose.of_trace(error, inside)
            text = self.diagnose.clean(words)
            line = line or self.diagnose.line_in(text)
            if line and self.diagnose.line_in(text) != line:
                text += f" (kernel.py:{line})"
            return {"code": code, "stage": stage, "line": line, "message": text}
        return self.backend(words, status)

    def syntax(self, error):
        text = f'  File "kernel.py", line {error.lineno or 0}\n' + (
            f"    {error.text.rstrip()}\n" if error.text else ""
        )
        return {
            "code": "PY_SYNTAX",
            "stage": "parse",
            "line": error.lineno or 0,
            "message": self.diagnose.clean(f"{text}{type(error).__name__}: {error.msg}"),
        }

    def backend(self, words, status):
        sys.stdout.flush()
        sys.stderr.flush()
        with open(self.log, errors="replace") as file:
            log = file.read()[-200_000:]
        code, name = self.diagnose.of_log(log)
        first = (
            "the compiler's backend wrote no NEFF"
            if status is None
            else f"the compiler's backend ended with exit status {status}"
        )
        message = f"{first}{f' [{name}]' if name else ''}\n{self.diagnose.tail_of_log(log) or words}"
        return {"code": code, "stage": "backend", "line": 0, "message": self.diagnose.clean(message), "doubt": first}


def main():
    rules_file, scratch, flags = sys.argv[1:4]
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]  # nothing of ours on the path
    os.chdir(os.path.join(scratch, "work"))
    frame = load("nkigrid_child_frame", os.path.join(here, "child_frame.py"))
    rules = load("nkigrid_entry_rules", rules_file)
    diagnose = load("nkigrid_neuron_diagnose", os.path.join(here, "neuron_diagnose.py"))
    start = time.monotonic()
    try:
        nki, version = import_compiler()
    except BaseException as error:
        frame.write_frame(
            WORK,
            {"imported": False, "why": diagnose.clean(f"{type(error).__name__}: {diagnose.words_of(error)}", 2000)},
        )
        return
    frame.write_frame(WORK, {"imported": True, "seconds": time.monotonic() - start, "version": version})
    try:
        request, source = frame.read_frame(WORK)
    except EOFError:
        return
    work = Compile(nki, rules, diagnose, scratch, flags)
    try:
        work.get_ready(request)
    except Exception as error:
        frame.write_frame(
            WORK, {"ready": False, "why": diagnose.clean(f"{type(error).__name__}: {diagnose.words_of(error)}", 2000)}
        )
        return
    frame.write_frame(WORK, {"ready": True})  # from here on the kernel may write to the stream
    frame.write_frame(WORK, *work.answer(request, source))
    os._exit(0)  # nothing that the kernel left at exit runs


if __name__ == "__main__":
    main()
