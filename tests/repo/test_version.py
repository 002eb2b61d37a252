"""The version names the commit that was built, and is written only where it changed: cmake/version.cmake."""
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"])


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()


class Version(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = pathlib.Path(folder.name)
        self.output = self.tree / "version.cpp"
        (self.tree / ".gitignore").write_text("version.cpp\n")

    def git(self, *words):
        return run("git", "-c", "user.name=a", "-c", "user.email=a@b", *words, cwd=self.tree)

    def made(self):
        """The version in the source that a build of the tree would compile."""
        script = SOURCE / "cmake/version.cmake"
        run("cmake", f"-DSOURCE={self.tree}", "-DVERSION=1.2.3", f"-DOUTPUT={self.output}", "-P", str(script))
        return re.search(r'kVersion = "(.*)"', self.output.read_text())[1]

    def test_a_tree_without_git_has_a_plain_version(self):
        self.assertEqual(self.made(), "1.2.3")

    def test_a_commit_is_named_and_changes_on_top_of_it_are_told(self):
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        self.assertEqual(self.made(), f"1.2.3+{commit}")
        written = self.output.stat().st_mtime_ns
        self.made()
        self.assertEqual(self.output.stat().st_mtime_ns, written, "the same again is not written again")
        (self.tree / ".gitignore").write_text("version.cpp\nmore\n")
        self.assertEqual(self.made(), f"1.2.3+{commit}-dirty")

    def test_an_archive_knows_its_commit(self):
        (self.tree / "cmake").mkdir()
        for name in (".gitattributes", "cmake/archived_commit.txt"):
            (self.tree / name).write_bytes((SOURCE / name).read_bytes())
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "first")
        commit = self.git("rev-parse", "--short=12", "HEAD")
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=self.tree, check=True, capture_output=True).stdout
        with tempfile.TemporaryDirectory() as unpacked:
            subprocess.run(["tar", "-x", "-C", unpacked], input=archive, check=True)
            self.tree = pathlib.Path(unpacked)
            self.assertEqual(self.made(), f"1.2.3+{commit}")

    def test_the_program_says_it(self):
        said = run(str(BUILD / "nkigrid"), "--version")
        self.assertRegex(said, r"^nkigrid \d+\.\d+\.\d+(\+[0-9a-f]{12}(-dirty)?)?$")


if __name__ == "__main__":
    unittest.main()
