"""The unit tests of nki-samples that need no device, run without pytest."""

import itertools
import pathlib
import sys
import types

from case import Case, load

TITLE = "unit tests of nki-samples"
CHECKOUT = "nki-samples"
TRN2_ONLY = ("test_double_row_matmul",)  # a mode of the tensor engine that trn1 lacks


class _Mark:
    """What the tests ask of pytest.mark: which of them run in simulation, and on which parameters."""

    @staticmethod
    def simulation(test):
        test.simulated = True
        return test

    @staticmethod
    def parametrize(names, values):
        def keep(test):
            test.parameters = getattr(test, "parameters", []) + [([n.strip() for n in names.split(",")], values)]
            return test

        return keep

    def __getattr__(self, _name):
        return lambda *_args, **_kwargs: lambda test: test


def _install():
    stand_in = types.ModuleType("pytest")
    stand_in.mark = _Mark()
    stand_in.fixture = lambda f=None, **_: f if f else lambda g: g
    stand_in.raises = lambda *a, **k: (_ for _ in ()).throw(NotImplementedError("pytest.raises"))
    sys.modules.setdefault("pytest", stand_in)


def _rows(test):
    for row in itertools.product(*[[(names, v) for v in values] for names, values in getattr(test, "parameters", [])]):
        arguments = {}
        for names, values in row:
            arguments.update(zip(names, values if len(names) > 1 else [values]))
        yield arguments


def cases(root):
    _install()
    found = []
    for path in sorted(pathlib.Path(root).glob("test/unit/test_*.py")):
        if path.stem in TRN2_ONLY:
            continue
        try:
            module = load(path, pathlib.Path(root, "src"))
        except Exception as error:
            found.append(Case(path.stem, lambda e=error: (_ for _ in ()).throw(e)))
            continue
        for owner in [v for v in vars(module).values() if isinstance(v, type) and v.__name__.startswith("Test")]:
            for name, test in vars(owner).items():
                if getattr(test, "simulated", False):
                    for k, row in enumerate(_rows(test)):
                        run = lambda o=owner, n=name, r=row: getattr(o(), n)(simulation_only=True, **r)  # noqa: E731
                        found.append(Case(f"{path.stem}.{name}[{k}]", run))
    return found
