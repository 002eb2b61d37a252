"""What the tests on the lab cluster share: one cluster and one slow model a file, an undisturbed run to compare
with."""
import json
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
import harness
from cluster import Cluster
from harness import Case
from slow_model import SlowModel

# slurmstepd's words when slurmd took its batch script away before the start: seen once on a loaded machine. Slurm's own
# fault: the element never began, and `resume` makes the run whole as it would after any other lost element.
LOST_SCRIPT = "slurm_script: No such file or directory"
THREE_SHARDS = '{shards: 3, nodes: 1, ranks_per_node: 2, time: "00:10:00"}'


def ranks_of(run):
    """Pids of the nkigrid ranks that work on `run`, by their command lines (a rank's child that has not another one is
    no rank)."""
    found = {}
    for entry in os.listdir("/proc"):
        if not entry.isdigit():
            continue
        try:
            words = pathlib.Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
            parent = int(re.search(r"PPid:\s*(\d+)", pathlib.Path("/proc", entry, "status").read_text())[1])
        except OSError:
            continue
        if words[0] == harness.NKIGRID.encode() and words[1:3] == [b"run", str(run).encode()]:
            found[int(entry)] = parent
    return sorted(pid for pid, parent in found.items() if parent not in found)


def rows_of(run, *columns):
    """Rows of /episodes over all sealed segments, by stock h5py: tuples of the columns asked for."""
    import h5py

    rows = []
    for path in sorted(pathlib.Path(run, "log").glob("*.h5")):
        with h5py.File(path) as segment:
            values = [segment["episodes/" + column][:] for column in columns]
            rows += zip(
                *[[v.rstrip(b"\0").decode() if isinstance(v, bytes) else v.item() for v in column] for column in values]
            )
    return rows


class DisturbedCase(Case):
    """A run of the small grid over a slow wire, disturbed in some way, must end with the tables of an undisturbed
    one."""

    cluster_options = {}
    delay = 0.4

    @classmethod
    def setUpClass(cls):
        cls.cluster = cls.enterClassContext(Cluster(**cls.cluster_options))
        cls.model = cls.enterClassContext(SlowModel(delay=0))
        folder = cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nkigrid-test-"))
        grid = pathlib.Path(folder, "grid.yaml")
        cls.prepare(folder)
        grid.write_text(cls.make_grid(THREE_SHARDS))
        done = harness.nkigrid("run", grid, "-o", f"{folder}/run", "--quiet", "--lanes", "4")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.reference = cls.tables(f"{folder}/run")
        cls.reference_requests = cls.model.requests

    @classmethod
    def prepare(cls, folder):
        """What make_grid() needs besides the model."""

    @classmethod
    def make_grid(cls, slurm):
        return cls.model.grid(slurm)

    def setUp(self):
        super().setUp()
        self.model.delay = self.delay
        self.model.requests = 0
        self.run_folder = self.folder / "run"

    tables = staticmethod(harness.timeless_tables)

    def nkigrid(self, *args, **more):
        return harness.nkigrid(*args, env=self.cluster.environment(**more))

    def submit(self, slurm=THREE_SHARDS, run=None):
        run = run or self.run_folder
        done = self.nkigrid("submit", self.write("grid.yaml", self.make_grid(slurm)), "-o", run)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [int(n) for n in re.findall(r"submitted array (\d+)", done.stdout)]

    def wait_for_scored(self, count, run=None):
        harness.wait_until(
            lambda: harness.status(run or self.run_folder).get("scored", 0) >= count, what=f"{count} scored episodes"
        )

    def wait_for_queue(self, seconds=200):
        harness.wait_until(
            lambda: not self.cluster.squeue().strip(), seconds, "an empty queue\n" + self.cluster.squeue()
        )

    def job_state(self, job):
        """{"0": ["FAILED", "1:0"], ...} of an array's elements, while the controller remembers them."""
        shown = self.cluster.command("scontrol", "show", "job", "--oneliner", str(job)).stdout
        return {
            m[1]: [m[2], m[3]] for m in re.finditer(r"ArrayTaskId=(\d+) .*?JobState=(\S+) .*?ExitCode=(\S+)", shown)
        }

    def finish(self, run=None):
        """What is left runs here, fast."""
        self.model.delay = 0
        done = self.nkigrid("resume", run or self.run_folder, "--local", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr + self.logs(run))

    def check_undisturbed(self, run=None):
        """The tables are those of the undisturbed run, byte for byte; no episode counts twice; no attempt has two
        rows."""
        run = run or self.run_folder
        if LOST_SCRIPT in self.logs(run):
            self.finish(run)
        self.assertEqual(self.tables(run), self.reference, self.logs(run))
        self.assertEqual(harness.status(run)["outstanding"], 0)
        # A takeover's row for an owner that it took for dead is `killed`; the owner's own row of that attempt may still
        # come.
        attempts = [row[:2] for row in rows_of(run, "episode", "attempt", "outcome") if row[2] != "killed"]
        self.assertEqual(len(attempts), len(set(attempts)), "one attempt, two owners")

    def logs(self, run=None):
        return "\n".join(
            f"== {p.name}\n{p.read_text()[-2000:]}" for p in pathlib.Path(run or self.run_folder, "log").glob("*.out")
        )

    def counted_rows(self, run=None):
        rows = harness.scored_rows(run or self.run_folder)
        return set(rows.values())

    def status(self, run=None):
        return json.loads(self.nkigrid("status", run or self.run_folder, "--json").stdout)
