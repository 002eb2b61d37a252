"""The shipped example of a site's own device, through a whole run: its tables are the simulator's."""
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from harness import BUILD, SOURCE, environment, nkigrid  # noqa: E402

EXAMPLE = SOURCE / "configs/command-example/grid.yaml"
TABLES = ("cells", "levels", "errors", "turns")


class CommandGrid(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-command-grid-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def tables_of(self, grid, name):
        done = nkigrid(
            "run",
            grid,
            "-o",
            self.folder / name,
            "--lanes",
            2,
            env=environment(NKIGRID_DEVICE_NKISIM=str(BUILD / "nkisim")),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        tables = {}
        for table in TABLES:
            printed = nkigrid("tables", self.folder / name, "--table", table, "--format", "csv")
            self.assertEqual(printed.returncode, 0, printed.stderr)
            tables[table] = printed.stdout
        return tables

    def test_the_tables_equal_the_simulators(self):
        text = EXAMPLE.read_text()
        begin, end = text.index("device:\n"), text.index("models:\n")
        same = self.folder / "same.yaml"
        same.write_text(text[:begin] + "device: {backend: sim}\n" + text[end:])
        command, simulator = self.tables_of(EXAMPLE, "command"), self.tables_of(same, "sim")
        for table in TABLES:
            self.assertEqual(command[table], simulator[table], table)
        self.assertIn("expert", command["cells"])

    def test_a_device_that_fails_at_the_start_is_what_stopped_the_run(self):
        text = EXAMPLE.read_text()
        begin, end = text.index("device:\n"), text.index("models:\n")
        broken = self.folder / "broken.yaml"
        broken.write_text(
            text[:begin]
            + "device: {backend: command, name: broken, compile: ['false'], verify: ['false']}\n"
            + text[end:]
        )
        done = nkigrid("run", broken, "-o", self.folder / "run", "--quiet")
        self.assertEqual(done.returncode, 4, done.stderr)
        status = json.loads(nkigrid("status", self.folder / "run", "--json").stdout)
        self.assertIn("canary", status["stopped_by"])
        self.assertIn(status["stopped_by"], done.stderr.splitlines()[-1])

    def test_the_log_names_the_sites_compiler(self):
        import h5py

        self.tables_of(EXAMPLE, "command")
        self.assertEqual(nkigrid("seal", self.folder / "command").returncode, 0)
        segments = list((self.folder / "command/log").glob("*.h5"))
        self.assertTrue(segments)
        for segment in segments:
            with h5py.File(segment) as file:
                self.assertEqual(
                    file.attrs["backend"].decode()
                    if isinstance(file.attrs["backend"], bytes)
                    else str(file.attrs["backend"]),
                    "command",
                )
                compiler = file.attrs["compiler"]
                self.assertEqual(
                    compiler.decode() if isinstance(compiler, bytes) else str(compiler),
                    "nkisim through site_device.py 1",
                )

    def test_one_kernel_by_hand_on_the_device_of_a_grid(self):
        kernel = SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py"
        done = nkigrid(
            "kernel",
            kernel,
            "--task",
            "L1/001_add",
            "--device-grid",
            EXAMPLE,
            "--json",
            env=environment(NKIGRID_DEVICE_NKISIM=str(BUILD / "nkisim")),
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["outcome"], "pass")
        self.assertGreater(json.loads(done.stdout)["estimate_us"], 0)

    def test_a_backend_without_its_programs_is_a_configuration_error(self):
        kernel = SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py"
        done = nkigrid("kernel", kernel, "--task", "L1/001_add", "--backend", "command")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--device-grid", done.stderr)

    def test_a_missing_program_is_one_clear_error(self):
        grid = self.folder / "missing.yaml"
        grid.write_text(
            EXAMPLE.read_text()
            .replace("[/usr/bin/python3, ./site_device.py, compile]", "[no-such-compiler]")
            .replace("./site_device.py", str(SOURCE / "configs/command-example/site_device.py"))
        )
        done = nkigrid("run", grid, "-o", self.folder / "run")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("cannot start no-such-compiler: No such file or directory", done.stderr)


if __name__ == "__main__":
    unittest.main()
