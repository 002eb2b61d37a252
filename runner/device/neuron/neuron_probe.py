"""Prints, as one JSON object, which compiler an interpreter has and which folders it reads; nothing of it is imported
but its top package."""

import importlib.metadata
import importlib.util
import json
import os
import sys


def version_of(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [p for p in sys.path if os.path.abspath(p or ".") != here]
    package, error = None, None
    if importlib.util.find_spec("neuronxcc") is not None:
        try:
            import neuronxcc

            package = str(getattr(neuronxcc, "__version__", ""))
        except Exception as why:
            error = f"{type(why).__name__}: {why}"
    folders = [p for p in sys.path if os.path.isdir(p)] + [
        sys.prefix,
        sys.base_prefix,
        sys.exec_prefix,
        os.path.dirname(sys.executable),
    ]
    folders = sorted({f for p in folders for f in (os.path.abspath(p), os.path.realpath(p))} - {"/"})
    print(
        json.dumps(
            {
                "neuronx_cc": version_of("neuronx-cc"),
                "nki": version_of("nki"),
                "package": package,
                "error": error,
                "python": "%d.%d" % sys.version_info[:2],
                "folders": folders,
            }
        )
    )


if __name__ == "__main__":
    main()
