"""The Debian package that cpack makes of a build: what it needs, and what is in it."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from harness import BUILD, environment

TOOLS = [tool for tool in ("cpack", "dpkg-deb", "dpkg-shlibdeps") if shutil.which(tool) is None]


@unittest.skipIf(TOOLS, f"not on this machine: {', '.join(TOOLS)}")
class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-package-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        # Fast compression: the bytes are looked at once.
        done = subprocess.run(
            ["cpack", "-G", "DEB", "-B", cls.folder, "-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip"],
            cwd=BUILD,
            capture_output=True,
            text=True,
            timeout=250,
        )
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        (cls.package,) = cls.folder.glob("*.deb")

    def field(self, name):
        return subprocess.run(
            ["dpkg-deb", "--field", self.package, name], capture_output=True, text=True, check=True
        ).stdout

    def test_it_depends_on_what_is_linked_and_on_what_is_started(self):
        self.assertEqual(self.field("Package").strip(), "nkigrid")
        names = {word.split()[0].split("|")[0].strip() for word in self.field("Depends").split(",")}
        for wanted in (
            "libc6",
            "libseccomp2",
            "libcurl4",
            "libyaml-cpp0.7",
            "python3",
            "python3-numpy",
            "python3-torch",
        ):
            self.assertIn(wanted, names)
        self.assertTrue([name for name in names if name.startswith("libopenmpi")], names)

    def test_any_flavour_of_openblas_will_do(self):
        (openblas,) = [word.strip() for word in self.field("Depends").split(",") if "openblas" in word]
        flavours = ("libopenblas0", "libopenblas0-pthread", "libopenblas0-openmp", "libopenblas0-serial")
        self.assertEqual([word.strip() for word in openblas.split("|")], list(flavours))

    def test_it_holds_an_installed_tree(self):
        lines = subprocess.run(
            ["dpkg-deb", "--contents", self.package], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        paths = {line.split()[5] for line in lines}
        for wanted in (
            "bin/nkigrid",
            "libexec/nkigrid/nkigrid_run_server",
            "libexec/nkigrid/nkigrid_confine",
            "libexec/nkigrid/libnkigrid_sandbox.so",
            "libexec/nkigrid/reference_worker.py",
            "lib/nkigrid/nkigrid_slurm.so",
            "lib/nkigrid/nkigrid_mpi.so",
            "lib/nkigrid/nkigrid_http.so",
            "lib/nkigrid/nkisim/neuronxcc/_engine.so",
            "lib/nkigrid/nkisim/neuronxcc/nki/__init__.py",
            "share/nkigrid/configs/smoke.yaml",
            "share/nkigrid/configs/nkigen-bench/index.json",
            "share/doc/nkigrid/LICENSE",
        ):
            self.assertIn("./usr/" + wanted, paths)
        self.assertFalse([line for line in lines if "/usr/local" in line or str(BUILD) in line])

    def test_the_packed_program_checks_a_kernel(self):
        tree = self.folder / "tree"
        subprocess.run(["dpkg-deb", "--extract", self.package, tree], check=True, timeout=60)
        kernel = tree / "usr/share/nkigrid/configs/nkigen-bench/kernels/L1/001_add.py"
        done = subprocess.run(
            [tree / "usr/bin/nkigrid", "kernel", kernel, "--task", "L1/001_add", "--quiet"],
            capture_output=True,
            text=True,
            timeout=100,
            env=environment(),
            cwd=self.folder,
        )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
