"""Bad input, dead endpoints, read-only and full disks: one clear error, the right exit code, nothing lost."""
import json
import os
import re
import subprocess
import unittest

import harness
from harness import Case, nkigrid


class BadInput(Case):
    def grid(self, **replace):
        text = harness.SMALL.read_text()
        for old, new in replace.values():
            self.assertIn(old, text)
            text = text.replace(old, new)
        return self.write("grid.yaml", text)

    def test_unknown_verb_and_option_suggest_the_near_one(self):
        self.check_refused(nkigrid("tabels"), 2, "tabels", "tables")
        self.check_refused(nkigrid("run", "--lnes", "3"), 2, "--lnes", "--lanes")

    def test_unknown_scheduler(self):
        env = harness.environment(NKIGRID_SCHEDULER="pbs")
        self.check_refused(nkigrid("submit", harness.SMALL, "-o", self.folder / "run", env=env), 2, "pbs", "slurm")
        self.assertFalse((self.folder / "run").exists())

    def test_broken_yaml_names_file_line_and_column(self):
        grid = self.write("grid.yaml", "name: x\nmodels: {a: [\n")
        self.check_refused(nkigrid("check", grid), 2, "grid.yaml:")
        self.check_refused(nkigrid("run", grid, "-o", self.folder / "run"), 2, "grid.yaml:")
        self.assertFalse((self.folder / "run").exists())

    def test_every_problem_at_once(self):
        grid = self.grid(
            a=("seed: 7", "sede: 7\nseed: 7"),
            b=("replicates: 2", "replicates: -2"),
            c=("mode: [ss, agent]", "mode: [ss, agnet]"),
        )
        done = nkigrid("check", grid, "--json")
        self.assertEqual(done.returncode, 2)
        problems = json.loads(done.stdout)["problems"]
        messages = " ".join(problem["message"] for problem in problems)
        for word in ("sede", "replicates", "agnet"):
            self.assertIn(word, messages)
        self.assertTrue(all(problem["line"] > 0 and problem["col"] > 0 for problem in problems))

    def test_missing_task(self):
        grid = self.grid(a=('"L2/00[1-2]_*"', '"L2/999_nothing"'))
        self.check_refused(nkigrid("check", grid), 2, "L2/999_nothing")
        self.check_refused(nkigrid("kernel", grid, "--task", "L9/1_x"), 2, "L9/1_x")

    def test_missing_files(self):
        self.check_refused(nkigrid("run", self.folder / "none.yaml", "-o", self.folder / "run"), 3, "none.yaml")
        self.check_refused(nkigrid("tables", self.folder / "none"), 2, "none")
        self.check_refused(nkigrid("show", self.folder / "none", "a.b.c/L1/1_x#1"), 2, "none")

    def test_another_seed_in_an_existing_run_is_refused(self):
        run = self.folder / "run"
        self.assertEqual(nkigrid("submit", harness.SMALL, "-o", run, "--dry-run").returncode, 0)
        grid = self.grid(a=("seed: 7", "seed: 8"))
        self.check_refused(nkigrid("run", grid, "-o", run), 2, "seed", "7", "8")

    def test_dead_endpoint_stops_with_4_and_loses_nothing(self):
        grid = self.grid(
            a=("{api: synthetic, profile: novice}", '{api: openai, endpoint: "http://127.0.0.1:9/v1", model: novice}')
        )
        run = self.folder / "run"
        done = nkigrid("run", grid, "-o", run, "--quiet")
        self.check_refused(done, 4, "http://127.0.0.1:9/v1")
        state = harness.status(run)
        scored = {cell["cell"]: cell["scored"] for cell in state["cells"]}
        self.assertEqual(
            scored,
            {
                "novice.ss.rank-aware": 0,
                "novice.agent.rank-aware": 0,
                "expert.ss.rank-aware": 12,
                "expert.agent.rank-aware": 12,
            },
        )
        self.assertIn("127.0.0.1:9", state["stopped_by"])

    def test_a_full_device_behind_stdout_is_an_io_error(self):
        for words in (["--help"], ["bench", "list"], ["check", harness.SMALL], ["check", harness.SMALL, "--json"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run(
                    [harness.NKIGRID, *map(str, words)],
                    stdout=full,
                    stderr=subprocess.PIPE,
                    text=True,
                    env=harness.environment(),
                )
            self.assertEqual(done.returncode, 3, words)
            self.assertIn("standard output", done.stderr)

    def test_every_usage_line_is_the_whole_command(self):
        verbs = re.findall(r"^  ([a-z]+) ", nkigrid("--help").stdout.split("Subcommands:")[1], re.M)
        self.assertGreater(len(verbs), 15)
        for words in [[verb] for verb in verbs] + [
            ["log", "check"],
            ["bench", "list"],
            ["bench", "show"],
            ["bench", "check"],
        ]:
            done = nkigrid(*words, "--help")
            self.assertEqual(done.returncode, 0, words)
            self.assertIn(f"Usage: nkigrid {' '.join(words)}", done.stdout)

    def test_the_progress_of_a_run_says_nothing_twice(self):
        run = self.folder / "run"
        for _ in range(2):  # the second finds everything done
            done = nkigrid("run", harness.SMALL, "-o", run)
            self.assertEqual(done.returncode, 0, done.stderr)
            lines = [
                line.split(" elapsed")[0].rsplit(",", 1)[0] for line in done.stderr.splitlines() if "episodes" in line
            ]
            self.assertIn("48/48 episodes", lines[-1])
            self.assertEqual(len(lines), len(set(lines)), lines)

    def test_doctor_misses_only_what_the_grid_uses(self):
        local = self.write("local.yaml", re.sub(r"slurm: .*\n", "", harness.SMALL.read_text()))
        said = {
            finding["what"]: finding for finding in json.loads(nkigrid("doctor", local, "--json").stdout)["findings"]
        }
        for what, why in (("neuron", "backend is sim"), ("mpi", "no slurm section"), ("slurm", "no slurm section")):
            self.assertEqual(
                (said[what]["ok"], said[what]["needed"], said[what]["word"]), (True, False, "-"), said[what]
            )
            self.assertIn("not needed here", said[what]["text"])
            self.assertIn(why, said[what]["text"])
        self.assertTrue(said["device"]["ok"] and said["device"]["needed"], said["device"])

    def fake_mpirun(self, name, script):
        """PATH with a mpirun of that script first."""
        folder = self.folder / name
        folder.mkdir()
        program = folder / "mpirun"
        program.write_text("#!/bin/sh\n" + script)
        program.chmod(0o755)
        return f"{folder}:{os.environ['PATH']}"

    def test_doctor_starts_a_rank_and_fails_where_no_element_would_begin(self):
        none = self.folder / "empty"
        none.mkdir()
        run_it = 'while [ "${1##*/}" != nkigrid ]; do shift; done; exec "$@"\n'
        hydra = "export PMI_SIZE=1 PMI_RANK=0 MPI_LOCALNRANKS=1\n" + run_it
        for path, code, words in (
            (os.environ["PATH"], 0, "starts ranks: Open MPI v"),
            (str(none), 4, "PATH"),
            (self.fake_mpirun("broken", "echo not really >&2; exit 3\n"), 4, "exited with status 3: not really"),
            (self.fake_mpirun("unrelated", run_it), 4, "no MPI launcher that nkigrid knows started this process"),
            (self.fake_mpirun("hydra", hydra), 4, "the launcher is MPICH or one of its kin's, and nkigrid was built"),
        ):
            env = harness.environment(SLURM_CONF=str(self.folder / "none"), PATH=path, **harness.MPI_ENVIRONMENT)
            done = nkigrid("doctor", harness.SMALL, "--json", env=env)
            mpi = next(found for found in json.loads(done.stdout)["findings"] if found["what"] == "mpi")
            self.assertIn(words, mpi["text"])
            self.assertEqual((mpi["ok"], mpi["needed"], done.returncode), (code == 0, True, code), done.stdout)

    def test_a_rank_of_another_mpis_launcher_ends_with_words_and_exit_code(self):
        run = self.folder / "run"
        env = harness.environment(PMI_SIZE="1", PMI_RANK="0", MPI_LOCALNRANKS="1")
        self.check_refused(
            nkigrid("run", harness.SMALL, "-o", run, env=env), 4, "the launcher is MPICH or one of its kin's"
        )
        self.assertFalse((run / "log").exists())

    def test_doctor_names_who_keeps_a_kernel_from_what(self):
        findings = json.loads(nkigrid("doctor", "--json").stdout)["findings"]
        text = next(finding["text"] for finding in findings if finding["what"] == "sandbox")
        for property in ("files: ", "network: ", "processes and signals: ", "limits: ", "metadata: "):
            self.assertRegex(text, f"{property}[A-Za-z]")
        self.assertNotIn("nobody", text)

    def test_doctor_without_a_grid_calls_optional_what_some_grids_use(self):
        done = nkigrid("doctor", env=harness.environment(SLURM_CONF=str(self.folder / "none")))
        self.assertEqual(done.returncode, 0, done.stdout)
        words = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines()}
        self.assertEqual((words["neuron"], words["slurm"]), ("optional", "optional"))
        self.assertNotIn("lacking", {words[what] for what in ("neuron", "mpi", "slurm")})

    def test_doctor_of_a_neuron_grid_needs_neuron(self):
        grid = self.grid(a=("seed: 7", "seed: 7\ndevice: {backend: neuron}"))
        done = nkigrid("doctor", grid, "--json", env=harness.environment(SLURM_CONF=str(self.folder / "none")))
        self.assertEqual(done.returncode, 4)
        said = {finding["what"]: finding for finding in json.loads(done.stdout)["findings"]}
        self.assertEqual((said["neuron"]["word"], said["slurm"]["word"]), ("FAILED", "lacking"))

    def test_a_negative_seed_is_refused(self):
        self.check_refused(nkigrid("kernel", harness.SMALL, "--task", "L1/001_add", "--seed", "-1"), 2, "--seed")

    def test_a_journal_of_nobody_is_named_with_what_to_do(self):
        run = self.folder / "run"
        self.assertEqual(nkigrid("submit", harness.SMALL, "-o", run, "--dry-run").returncode, 0)
        (run / "log" / "x.journal").write_bytes(b"no journal at all" * 100)
        for verb in (["status", run], ["resume", run, "--local", "--quiet"], ["log", "check", run]):
            self.check_refused(nkigrid(*verb), 3, "nkigrid seal")
        sealed = nkigrid("seal", run)
        self.assertEqual(sealed.returncode, 3, sealed.stderr)  # it may have been a journal: what it held is lost
        self.assertIn("x.journal", sealed.stderr)
        self.assertTrue((run / "log" / "damaged" / "x.journal").exists())
        self.assertEqual(nkigrid("log", "check", run).returncode, 0)

    def test_env_key_that_is_not_set(self):
        grid = self.grid(
            a=(
                "{api: synthetic, profile: novice}",
                '{api: openai, endpoint: "http://127.0.0.1:9/v1", model: novice, key: {env: NKIGRID_NO_SUCH_KEY}}',
            )
        )
        self.check_refused(nkigrid("run", grid, "-o", self.folder / "run", "--quiet"), 2, "NKIGRID_NO_SUCH_KEY")


@unittest.skipUnless(os.geteuid() == 0, "mounts need root")
class BadDisk(Case):
    def mount(self, size="64m"):
        folder = self.folder / "disk"
        folder.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "nkigrid-test", folder]).returncode != 0:
            self.skipTest("tmpfs cannot be mounted here")
        self.addCleanup(subprocess.run, ["umount", "-l", folder])
        return folder

    def test_read_only_run(self):
        disk = self.mount()
        run = disk / "run"
        self.assertEqual(nkigrid("submit", harness.SMALL, "-o", run, "--dry-run").returncode, 0)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        self.check_refused(nkigrid("run", run, "--quiet"), 3, str(run), "ead-only")
        self.check_refused(
            nkigrid("run", harness.SMALL, "-o", disk / "other", "--quiet"), 3, str(disk / "other"), "ead-only"
        )
        self.assertIn('"outstanding": 48', nkigrid("status", run, "--json").stdout)

    def test_full_disk_in_mid_run_keeps_what_was_acknowledged(self):
        disk = self.mount(size="16m")
        run = disk / "run"
        self.assertEqual(nkigrid("submit", harness.SMALL, "-o", run, "--dry-run").returncode, 0)
        free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
        with open(disk / "ballast", "wb") as ballast:
            ballast.write(b"x" * (free - 160 * 1024))
        done = nkigrid("run", run, "--quiet")
        self.check_refused(done, 3, "space")
        before = harness.status(run)
        self.assertIn("No space left", before["stopped_by"])
        self.assertLess(before["scored"], 48)
        os.unlink(disk / "ballast")
        after = nkigrid("resume", run, "--local", "--quiet")
        self.assertEqual(after.returncode, 0, after.stderr)
        self.assertEqual(sorted(harness.scored_rows(run).values()), [1] * 48)


if __name__ == "__main__":
    unittest.main()
