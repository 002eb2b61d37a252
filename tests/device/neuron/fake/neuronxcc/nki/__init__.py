"""neuronxcc.nki of the stand-in: the simulator's names from the next folder on the path, `baremetal` as the vendor's
has it."""
import os
import sys

_simulator = next(
    folder
    for folder in (os.path.join(p, "neuronxcc", "nki") for p in sys.path)
    if os.path.isdir(os.path.join(folder, "_trace"))
)
__path__.append(_simulator)
with open(os.path.join(_simulator, "__init__.py")) as _file:
    exec(compile(_file.read(), _file.name, "exec"), globals())

from ._baremetal import baremetal  # noqa: E402
