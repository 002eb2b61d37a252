"""What `cmake --install` puts under a prefix works there alone, and where the prefix was moved to."""
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, environment

TASK = "L1/001_add"


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        first = cls.folder / "first"
        done = subprocess.run(
            ["cmake", "--install", BUILD, "--prefix", first], capture_output=True, text=True, timeout=120
        )
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.prefix = cls.folder / "moved"
        first.rename(cls.prefix)
        cls.configs = cls.prefix / "share/nkigrid/configs"

    def nkigrid(self, *words, **more):
        return subprocess.run(
            [self.prefix / "bin/nkigrid", *map(str, words)],
            capture_output=True,
            text=True,
            timeout=200,
            env=environment(**more),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
        )

    def test_a_known_kernel_passes(self):
        done = self.nkigrid("kernel", self.configs / f"nkigen-bench/kernels/{TASK}.py", "--task", TASK, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["outcome"], "pass")

    def test_it_reads_its_own_configs(self):
        kernel = self.folder / "kernel.py"
        kernel.write_text("")
        done = self.nkigrid("kernel", kernel, "--task", TASK, "--benchmark", "no-such-benchmark")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(str(self.configs), done.stderr)

    def test_the_smoke_grid_runs(self):
        done = self.nkigrid("run", self.configs / "smoke.yaml", "-o", self.folder / "run", "--lanes", 2)
        self.assertEqual(done.returncode, 0, done.stderr)
        tables = self.nkigrid("tables", self.folder / "run", "--json")
        self.assertEqual(tables.returncode, 0, tables.stderr)
        self.assertEqual(json.loads(tables.stdout)["outstanding"], 0)

    def test_a_shipped_grid_is_known_by_its_name(self):
        done = self.nkigrid("check", "demo.yaml")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("demo: "), done.stdout)

    def test_a_quick_verb_loads_no_library_that_it_does_not_use(self):
        program = self.prefix / "bin/nkigrid"
        loaded = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for heavy in ("libmpi", "libcurl", "libopen-rte", "libldap", "libkrb5", "libslurm", "libopenblas"):
            self.assertNotIn(heavy, loaded)

    def test_the_simulator_is_a_package(self):
        script = (
            "import numpy, neuronxcc, neuronxcc.nki as nki, neuronxcc.nki.language as nl\n"
            "@nki.jit\n"
            "def kernel(x):\n"
            "    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)\n"
            "    nl.store(out, nl.load(x) * 2.0)\n"
            "    return out\n"
            "x = numpy.ones((4, 8), dtype=numpy.float32)\n"
            "print(neuronxcc.__file__, nki.simulate_kernel(kernel, x).sum())\n"
        )
        file = self.folder / "use.py"
        file.write_text(script)
        package = self.prefix / "lib/nkigrid/nkisim"
        done = subprocess.run(
            ["/usr/bin/python3", "-B", file],
            capture_output=True,
            text=True,
            env=environment(PYTHONPATH=str(package)),
            cwd=self.folder,
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.split(), [str(package / "neuronxcc/__init__.py"), "64.0"])

    def test_the_target_of_the_demo_makes_all_that_is_installed(self):
        built = set()
        for script in pathlib.Path(BUILD).rglob("cmake_install.cmake"):
            built |= set(re.findall(rf'FILES "{re.escape(str(BUILD))}/([^"]+)"', script.read_text()))
        self.assertIn("nkigrid", built)
        done = subprocess.run(
            ["ninja", "-C", BUILD, "-t", "commands", "nkigrid_program"], capture_output=True, text=True, check=True
        )
        # The Python package is a folder that one step makes; everything else is a file with a command.
        self.assertIn("assemble.py", done.stdout)
        made = {name.removeprefix(f"{BUILD}/") for name in re.findall(r" -o (\S+)", done.stdout)}
        self.assertLessEqual(built - {"nkisim/neuronxcc"}, made)

    def test_nothing_installed_looks_into_the_build(self):
        for path in sorted(self.prefix.rglob("*")):
            self.assertFalse(path.is_symlink(), path)
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                dynamic = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
                self.assertNotIn("RUNPATH", dynamic, path)
                self.assertNotIn("RPATH", dynamic, path)


if __name__ == "__main__":
    unittest.main()
