"""Benchmarks and runs that somebody else made: links, pipes and devices in them are refused at once, in words; nothing
outside is shown or written."""
import json
import os
import select
import shutil
import stat
import unittest

import harness
from harness import Case, nkigrid

SECRET = "canary-8842"


class HostileFiles(Case):
    def setUp(self):
        super().setUp()
        self.secret = self.write("secret", SECRET)
        self.secret.chmod(0o600)

    def refuse(self, path, *verbs):
        """Each verb ends with exit code 3, names the file, and says nothing of what it points at."""
        for verb in verbs:
            done = nkigrid(*verb, timeout=60)
            self.check_refused(done, 3, path.name)
            self.assertNotIn(SECRET, done.stdout + done.stderr)

    def replaced_by_each(self, path):
        """The file as a link to a secret, to an endless device, to itself; as a pipe without a writer, as a socket."""
        for make in (
            lambda: path.symlink_to(self.secret),
            lambda: path.symlink_to("/dev/zero"),
            lambda: path.symlink_to(path.name),
            lambda: os.mkfifo(path),
            lambda: os.mknod(path, stat.S_IFSOCK | 0o600),
        ):
            path.unlink()
            make()
            yield

    def test_a_benchmark(self):
        tree = self.folder / "tree"
        shutil.copytree(harness.SOURCE / "configs" / "nkigen-bench", tree)
        verbs = [("bench", "list", "--benchmark", tree), ("bench", "show", "L1/001_add", "--benchmark", tree)]
        for name in ("tasks/L1/001_add.py", "index.json"):
            path = tree / name
            kept = path.read_bytes()
            for _ in self.replaced_by_each(path):
                self.refuse(path, *verbs)
            path.unlink()
            path.write_bytes(kept)
        (tree / "tasks").rename(self.folder / "elsewhere")
        (tree / "tasks").symlink_to(self.folder / "elsewhere")
        self.refuse(tree / "tasks", *verbs)

    def test_a_run(self):
        run = self.folder / "run"
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        verbs = [("tables", run), ("status", run), ("resume", run, "--local")]
        for name in ("plan/plan.json", "inputs/benchmark/index.json", "inputs/benchmark/tasks/L1/001_add.py"):
            path = run / name
            kept = path.read_bytes()
            for _ in self.replaced_by_each(path):
                self.refuse(path, *verbs)
            path.unlink()
            path.write_bytes(kept)
        (run / "jobs.json").write_text("{}")
        for name in ("log_key", "secret", "jobs.json"):
            path = run / name
            kept = path.read_bytes()
            for _ in self.replaced_by_each(path):
                self.refuse(path, {"log_key": ("tables", run), "jobs.json": ("status", run)}.get(name, verbs[2]))
            path.unlink()
            path.write_bytes(kept)
            path.chmod(0o600)
        (run / "jobs.json").unlink()
        self.assertEqual(nkigrid("tables", run).returncode, 0)
        kept = (run / "grid.yaml").read_bytes()
        for _ in self.replaced_by_each(run / "grid.yaml"):
            for verb in verbs:
                done = nkigrid(*verb, timeout=60)
                self.assertIn(done.returncode, (2, 3), done.stderr)
                self.assertIn("grid.yaml", done.stderr)
                self.assertNotIn(SECRET, done.stdout + done.stderr)
        (run / "grid.yaml").unlink()
        (run / "grid.yaml").write_bytes(kept)

    def test_what_a_run_writes_stays_in_it(self):
        run = self.folder / "run"
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        lock, outside = run / "log" / "locks" / "shard-0", self.folder / "outside"
        lock.unlink()
        lock.symlink_to(outside)
        self.refuse(lock, ("resume", run, "--local"))
        self.assertFalse(outside.exists())
        lock.unlink()
        os.mkfifo(lock)
        self.refuse(lock, ("resume", run, "--local"))
        (run / "log/narrowed").mkdir(exist_ok=True)
        for name in ("log", "inputs", "plan", "log/narrowed", "inputs/prompts"):
            (run / name).rename(self.folder / "moved")
            (run / name).symlink_to(self.folder / "moved")
            self.refuse(run / name, ("tables", run), ("resume", run, "--local"))
            (run / name).unlink()
            (self.folder / "moved").rename(run / name)

    def test_no_verb_writes_through_a_link_in_a_run(self):
        run, outside = self.folder / "run", self.folder / "outside"
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        outside.mkdir()
        stray = run / "log" / "cron.journal"
        stray.write_bytes(b"no journal")  # `seal` sets it aside
        for name, verb in (
            ("log/damaged", ("seal", run)),
            ("log/endpoints", ("log", "check", run)),
            ("tables", ("tables", run, "--write")),
            ("figures", ("figures", run)),
            ("report", ("report", run)),
        ):
            shutil.rmtree(run / name, ignore_errors=True)
            (run / name).symlink_to(outside)
            self.refuse(run / name, verb)
            self.assertEqual(list(outside.iterdir()), [], name)
            (run / name).unlink()
            stray.unlink(missing_ok=True)

    def test_no_file_is_written_through_a_link_beside_it_and_no_lock_is_waited_for(self):
        run, victim = self.folder / "run", self.folder / "victim"
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        victim.write_text("mine")
        for name, form in (("rows.jsonl", "sft-openai"), ("expert.ss.rank-aware.eval", "inspect")):
            (self.folder / f".{name}.part").symlink_to(victim)
            out = self.folder if form == "inspect" else self.folder / name
            done = nkigrid("export", run, "--format", form, "-o", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertFalse((self.folder / name).is_symlink())
        self.assertEqual(victim.read_text(), "mine")
        servers = run / "log" / "servers"
        servers.mkdir()
        os.mkfifo(servers / "all.a.0.lock")
        note = {"version": 1, "state": "up", "address": "h", "job": "1", "starts": 1, "since": 1, "text": "t"}
        (servers / "all.a.0.json").write_text(json.dumps(note))
        self.assertEqual(nkigrid("status", run, timeout=60).returncode, 0)

    def test_brackets_are_refused_before_they_are_built(self):
        """Thirty megabytes of them took two gigabytes: here there is half of one."""
        run, tree = self.folder / "run", self.folder / "tree"
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        shutil.copytree(harness.SOURCE / "configs" / "nkigen-bench", tree)
        for path, size, code, verb in (
            (tree / "index.json", 15_000_000, 2, ("bench", "list", "--benchmark", tree)),
            (tree / "index.json", 30_000_000, 3, ("bench", "list", "--benchmark", tree)),
            (run / "plan/plan.json", 30_000_000, 3, ("tables", run)),
            (run / "jobs.json", 15_000_000, 3, ("status", run)),
            (run / "audit.json", 30_000_000, 0, ("tables", run)),
        ):
            kept = path.read_bytes() if path.exists() else None
            path.write_bytes(b"[" * size)
            done = nkigrid(*verb, prefix=("prlimit", "--data=500000000"))
            self.assertEqual(done.returncode, code, (path, done.stderr[:500]))
            path.unlink() if kept is None else path.write_bytes(kept)

    def test_what_a_grid_names_is_a_regular_file_of_some_size(self):
        text = harness.SMALL.read_text()
        grid, large = self.folder / "grid.yaml", self.folder / "large.yaml"
        with open(large, "wb") as file:
            file.truncate(2 << 30)
        linked, pipe = self.folder / "linked.yaml", self.folder / "pipe.yaml"
        linked.symlink_to(self.secret)
        os.mkfifo(pipe)
        listed = self.write("listed.yaml", "- a\n")
        for line, words in (
            (f"prices: {linked}", "symbolic link"),
            (f"prices: {pipe}", "is a pipe, socket or device"),
            ("prices: /dev/zero", "is a pipe, socket or device"),
            (f"prices: {large}", "larger than 16 MiB"),
            (f"include: {pipe}", "no regular file"),
            (f"include: {linked}", "no regular file"),
            (f"include: {listed}", "a map of a grid's keys is wanted"),
        ):
            grid.write_text(f"{line}\n{text}")
            done = nkigrid("plan", grid, prefix=("prlimit", "--data=500000000"))
            self.check_refused(done, 2, words)
            self.assertNotIn(SECRET, done.stdout + done.stderr)
        done = nkigrid("plan", large, prefix=("prlimit", "--data=500000000"))
        self.check_refused(done, 3, "larger than 64 MiB")

    def test_a_run_or_a_profile_that_is_a_pipe_is_told(self):
        for folder in (self.folder / "old", self.folder / "profiles"):
            folder.mkdir()
        os.mkfifo(self.folder / "old/grid.yaml")
        os.mkfifo(self.folder / "profiles/pipe.yaml")
        for api, words in (("replay, run: old", "no run there"), ("synthetic, profile: pipe", "is a pipe")):
            text = harness.SMALL.read_text().replace("models:", f"models:\n  odd: {{api: {api}}}", 1)
            done = nkigrid("check", self.write("grid.yaml", text), timeout=60)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_what_is_killed_leaves_no_folder_and_no_process(self):
        run = self.folder / "run"
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        for verb in ("report", "figures"):
            scratch = self.folder / f"scratch-{verb}"
            scratch.mkdir()
            # Its keeper, who waits for the program, the program.
            started = harness.start(verb, run, env=harness.environment(TMPDIR=str(scratch)))
            harness.wait_until(lambda: len(harness.processes_below(started.pid)) > 3)
            self.assertTrue(any(scratch.iterdir()))
            below = [os.pidfd_open(pid) for pid in harness.processes_below(started.pid)[1:]]
            started.kill()
            started.communicate()
            for pidfd in below:
                self.assertTrue(select.select([pidfd], [], [], 60)[0], "a process outlives the verb")
                os.close(pidfd)
            harness.wait_until(lambda: not any(scratch.iterdir()), 60)

    def test_a_figure_replaces_a_link(self):
        run, victim = self.folder / "run", self.write("victim", "mine")
        grid = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
        self.assertEqual(nkigrid("run", self.write("grid.yaml", grid), "-o", run, "-q").returncode, 0)
        (run / "figures").mkdir()
        (run / "figures" / "levels.svg").symlink_to(victim)
        self.assertEqual(nkigrid("figures", run, "--figure", "levels").returncode, 0)
        self.assertEqual(victim.read_text(), "mine")
        self.assertFalse((run / "figures" / "levels.svg").is_symlink())


if __name__ == "__main__":
    unittest.main()
