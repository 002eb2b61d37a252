"""What the black-box tests share: the real binary, runs in temporary folders, the log read by stock h5py."""
import collections
import glob
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
NKIGRID = str(BUILD / "nkigrid")
SMALL = SOURCE / "tests/data/cli/small.yaml"
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl": "tcp,self",
}
INFRASTRUCTURE = {b"api_error", b"verifier_error", b"device_error", b"killed"}


def environment(**more):
    names = ("PATH", "HOME", "LANG", "TMPDIR", "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "OPENBLAS_NUM_THREADS")
    env = {name: os.environ[name] for name in names if name in os.environ}
    env.update(more)
    return env


def processes_below(pid):
    """A process and all that came of it and lives."""
    found = [pid]
    for parent in found:
        try:
            for task in pathlib.Path(f"/proc/{parent}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:
            pass  # it, or that thread, has ended
    return found


def nkigrid(*args, timeout=280, env=None, prefix=()):
    """Runs the program to its end: returncode, stdout, stderr."""
    return subprocess.run(
        [*prefix, NKIGRID, *map(str, args)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
    )


def mpirun(ranks):
    return ["mpirun", "--oversubscribe", "-n", str(ranks)]


def start(*args, prefix=(), env=None):
    return subprocess.Popen(
        [*prefix, NKIGRID, *map(str, args)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=env or environment(),
        stdin=subprocess.DEVNULL,
    )


def timeless_tables(run):
    """Everything that `tables` prints without a time in it, as json and csv."""
    names = ("cells", "levels", "pairs", "categories", "errors", "rules")
    return [
        nkigrid("tables", run, "--table", name, "--format", form).stdout for name in names for form in ("json", "csv")
    ]


def tables_json(run):
    done = nkigrid("tables", run, "--format", "json")
    return done.stdout


def wait_until(condition, seconds=120, what="the condition"):
    """Polls; the deadline only bounds a failure."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come true in {seconds} s")


def status(run):
    done = nkigrid("status", run, "--json")
    return json.loads(done.stdout) if done.stdout else {}


def scored_rows(run):
    """episode -> number of rows with a scored outcome, over all sealed segments, by stock h5py."""
    import h5py

    rows = collections.Counter()
    for path in glob.glob(str(pathlib.Path(run) / "log" / "*.h5")):
        with h5py.File(path, "r") as segment:
            for episode, outcome in zip(segment["episodes/episode"][:], segment["episodes/outcome"][:]):
                if outcome.rstrip(b"\0") not in INFRASTRUCTURE:
                    rows[episode.rstrip(b"\0").decode()] += 1
    return rows


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def check_refused(self, done, code, *words):
        """One clear error: the exit code, the words, nothing that looks like a crash."""
        self.assertEqual(done.returncode, code, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        self.assertNotIn("HDF5-DIAG", done.stderr)
