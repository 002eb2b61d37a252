"""Runs whose log somebody else has written to, and runs that somebody else made: nothing of it counts, its commands are
not started, and the tables say what is known."""
import json
import os
import pathlib
import shutil
import stat
import unittest

import h5py
import harness
import numpy
from harness import Case, environment, nkigrid

GRID = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')
UNSEALED = "not sealed by the key of this run"


def cells(run):
    """What the cells' table counts."""
    done = nkigrid("tables", run, "--table", "cells", "--format", "csv")
    return done.stdout


def forge(segment):
    """All episodes of a segment pass, in another attempt."""
    with h5py.File(segment, "r+") as file:
        for group in ("episodes", "turns", "attempts"):
            file[group]["attempt"][:] = file[group]["attempt"][:] + 1
        episodes = file["episodes"]
        for name in ("passed", "strict_passed", "best_passed", "best_strict_passed"):
            episodes[name][:] = 1
        for name, word in (("outcome", b"pass"), ("code", b""), ("group", b""), ("stage", b"")):
            episodes[name][:] = word
        episodes["line"][:] = 0


class ForgedLogs(Case):
    @classmethod
    def setUpClass(cls):
        """One run for all; each test works on a copy, as moved runs do."""
        super().setUpClass()
        cls.kept = pathlib.Path(harness.tempfile.mkdtemp(prefix="nkigrid-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.kept)
        (cls.kept / "grid.yaml").write_text(GRID)
        made = nkigrid("run", cls.kept / "grid.yaml", "-o", cls.kept / "run", "-q")
        assert made.returncode == 0, made.stderr

    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        shutil.copytree(self.kept / "run", self.run_folder)
        self.log = self.run_folder / "log"
        self.segment = next(self.log.glob("*.h5"))

    def without_key(self):
        (self.run_folder / "log_key").unlink()

    def test_a_copied_run_reads_as_it_did(self):
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 0)
        self.assertEqual(cells(self.run_folder), cells(self.kept / "run"))
        done = nkigrid("resume", self.run_folder, "--local", "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(cells(self.run_folder), cells(self.kept / "run"))

    def test_a_copied_segment_of_passes_is_not_counted(self):
        before = cells(self.run_folder)
        forged = self.log / "node9.h5"
        shutil.copy(self.segment, forged)
        forge(forged)  # behind a front that is true
        for verb in (("tables", self.run_folder), ("log", "check", self.run_folder)):
            done = nkigrid(*verb)
            self.assertEqual(done.returncode, 3)
            self.assertIn("not those that were sealed", done.stdout + done.stderr)
        self.assertEqual(nkigrid("seal", self.run_folder).returncode, 3)
        self.assertTrue((self.log / "damaged" / "node9.h5").exists())
        self.assertEqual(cells(self.run_folder), before)

    def test_a_segment_that_nobody_sealed_is_not_counted(self):
        before = cells(self.run_folder)
        forged = self.log / "node9.h5"
        bytes_ = self.segment.read_bytes()
        forged.write_bytes(bytes_[bytes_.index(b"\x89HDF") :])
        forge(forged)
        self.assertEqual(cells(self.run_folder), before)
        self.assertIn("not counted", nkigrid("tables", self.run_folder).stdout)
        self.assertIn(UNSEALED, nkigrid("log", "check", self.run_folder).stdout)
        self.assertIn(UNSEALED, nkigrid("seal", self.run_folder).stderr)
        self.assertTrue((self.log / "damaged" / "node9.h5").exists())
        self.assertEqual(cells(self.run_folder), before)

    def test_a_segment_changed_in_its_place_is_never_counted(self):
        forge(self.segment)
        done = nkigrid("tables", self.run_folder)
        self.assertTrue(done.returncode == 3 or "outstanding" in done.stdout + done.stderr, done.stdout)
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 3)

    def test_a_file_of_another_run_is_not_counted_whatever_it_says(self):
        other = self.folder / "other"
        self.assertEqual(nkigrid("run", self.write("grid.yaml", GRID), "-o", other, "-q").returncode, 0)
        before = cells(self.run_folder)
        foreign = self.log / "other.h5"
        shutil.copy(next((other / "log").glob("*.h5")), foreign)
        with h5py.File(self.segment, "r") as ours, h5py.File(foreign, "r+") as file:
            for name in ("run_id", "grid_hash"):
                file.attrs.modify(name, ours.attrs[name])
            file["attempts"].attrs.modify("run_id", ours.attrs["run_id"])
        self.assertEqual(cells(self.run_folder), before)
        self.assertEqual(nkigrid("log", "check", self.run_folder).returncode, 3)

    def test_without_its_key_a_log_is_unverified_and_every_table_says_so(self):
        self.without_key()
        before = cells(self.run_folder)
        self.assertEqual(before, cells(self.kept / "run"))
        for form in ("text", "markdown", "json"):
            self.assertIn("the log is unverified", nkigrid("tables", self.run_folder, "--format", form).stdout)
        self.assertIn("the log is unverified", nkigrid("tables", self.run_folder, "--format", "csv").stderr)
        episode = json.loads(nkigrid("export", self.run_folder).stdout.splitlines()[0])["episode"]
        for verb in (
            ("export", self.run_folder),
            ("show", self.run_folder, episode),
            ("show", self.run_folder, "--failed"),
        ):
            self.assertIn("the log is unverified", nkigrid(*verb).stderr, verb)
        self.assertIn("warning: the log is unverified", nkigrid("status", self.run_folder).stdout)
        (said,) = json.loads(nkigrid("status", self.run_folder, "--json").stdout)["log_warnings"]
        self.assertIn("the log is unverified", said)

    def test_nothing_is_written_while_the_key_is_lost(self):
        before = sorted((file.name, file.read_bytes()) for file in self.log.iterdir() if file.is_file())
        self.without_key()
        for words in (("seal",), ("resume", "--local"), ("run",)):
            done = nkigrid(words[0], self.run_folder, *words[1:])
            self.check_refused(done, 3, "log_key", "restore it")
        after = sorted((file.name, file.read_bytes()) for file in self.log.iterdir() if file.is_file())
        self.assertEqual(after, before)

    @unittest.skipIf(os.geteuid() == 0, "root may read every file")
    def test_who_may_not_read_the_runs_secrets_reads_it_unverified_and_writes_nothing(self):
        words = "the run's log_key cannot be read by this user"
        for name in ("log_key", "secret"):
            (self.run_folder / name).chmod(0)
        self.assertEqual(cells(self.run_folder), cells(self.kept / "run"))
        self.assertIn(words, nkigrid("tables", self.run_folder).stdout)
        checked = nkigrid("log", "check", self.run_folder)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertIn(words, checked.stderr)
        self.assertEqual(nkigrid("status", self.run_folder).returncode, 0)
        for verb in (("seal",), ("resume", "--local"), ("run",), ("audit",)):
            refused = nkigrid(verb[0], self.run_folder, *verb[1:])
            self.check_refused(refused, 3, "cannot be read by this user", "owner")

    def test_a_segment_with_a_damaged_front_is_told_as_ours_and_its_episodes_run_again(self):
        before = cells(self.run_folder)
        bytes_ = bytearray(self.segment.read_bytes())
        bytes_[60] ^= 1
        self.segment.write_bytes(bytes_)
        told = nkigrid("log", "check", self.run_folder)
        self.check_refused(told, 3, "what to do stands beside")
        self.assertIn("it says to be of this run: it is damaged", told.stdout)
        self.assertIn("not sealed by the run's key", nkigrid("tables", self.run_folder).stdout)
        self.check_refused(nkigrid("seal", self.run_folder), 3, "could not be saved", "runs those episodes again")
        self.assertEqual(nkigrid("resume", self.run_folder, "--local", "-q").returncode, 0)
        self.assertEqual(cells(self.run_folder), before)

    def test_an_audit_tells_another_reason_of_the_same_verdict(self):
        self.without_key()
        with h5py.File(self.segment, "r+") as file:
            lines = file["episodes/line"]
            failed = [row for row in range(len(lines)) if file["episodes/code"][row]]
            lines[failed[0]] = lines[failed[0]] + 1
        done = nkigrid("audit", self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["disagreements"], len(found["other_reasons"])), ([], 1))
        self.assertIn(" in line ", found["other_reasons"][0]["logged"])
        self.assertIn("for another reason", nkigrid("audit", self.run_folder).stdout)

    def test_a_smaller_audit_forgets_nothing_and_tells_its_size(self):
        self.without_key()
        with h5py.File(self.segment, "r+") as file:
            passed = file["episodes/passed"][:]
        forge(self.segment)
        self.assertLess(passed.sum(), len(passed))
        self.assertEqual(nkigrid("audit", self.run_folder).returncode, 3)
        nkigrid("audit", self.run_folder, "--sample", 1)
        self.assertIn("did not come again", nkigrid("tables", self.run_folder).stdout)

    def test_what_a_forged_turn_says_of_itself_steers_no_terminal(self):
        self.without_key()
        with h5py.File(self.segment, "r+") as file:
            episode = file["turns/episode"][0].decode()
            count = len(file["turns/flags"])
            del file["turns/flags"]
            flags = numpy.full(count, b"\x1b[2J", h5py.string_dtype("utf-8", 8))
            file["turns"].create_dataset("flags", data=flags, chunks=True)
        shown = nkigrid("show", self.run_folder, episode)
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("\\x1b[2J", shown.stdout)
        self.assertNotIn("\x1b", shown.stdout)

    def test_another_key_and_an_open_one_are_refused(self):
        key = self.run_folder / "log_key"
        kept = key.read_text()
        key.chmod(0o644)
        self.check_refused(nkigrid("tables", self.run_folder), 3, "log_key", "can be read by others")
        key.chmod(0o600)
        key.write_text(kept[::-1])
        self.check_refused(nkigrid("tables", self.run_folder), 3, "log_key", "not the one")

    def test_an_audit_repeats_the_verdicts_and_the_tables_know(self):
        self.assertIn("never audited", nkigrid("tables", self.run_folder).stdout)
        done = nkigrid("audit", self.run_folder, "--json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        found = json.loads(done.stdout)
        self.assertEqual((found["disagreements"], found["unchecked"]), ([], 0))
        self.assertGreater(found["checked"], 0)
        self.assertNotIn("never audited", nkigrid("tables", self.run_folder).stdout)
        sample = json.loads(nkigrid("audit", self.run_folder, "--json", "--sample", 2).stdout)
        self.assertEqual(sample["checked"], 2)
        self.assertIn("an audit checked 2 of ", nkigrid("tables", self.run_folder).stdout)

    def test_an_audit_finds_what_was_forged_where_nothing_was_sealed(self):
        self.without_key()
        shutil.copy(self.segment, self.log / "node9.h5")
        with h5py.File(self.log / "node9.h5", "r+") as file:
            for where in (file, file["attempts"]):
                where.attrs.modify("journal", b"node9")
            failed = sum(1 for passed in file["episodes/passed"][:] if not passed)
        forge(self.log / "node9.h5")
        self.assertGreater(failed, 0)
        done = nkigrid("audit", self.run_folder, "--json")
        self.assertEqual(done.returncode, 3, done.stderr)
        found = json.loads(done.stdout)
        self.assertGreater(len(found["disagreements"]) + found["unchecked"], 0)

    def test_transcripts_are_their_owners_unless_the_grid_says_otherwise(self):
        def modes(run):
            files = [run / "log", *run.glob("log/*.h5"), *run.glob("log/*.journal")]
            return {stat.S_IMODE(path.stat().st_mode) & 0o077 for path in files}

        self.assertEqual(modes(self.kept / "run"), {0})
        self.assertEqual(nkigrid("report", self.run_folder, "-q").returncode, 0)
        self.assertEqual(stat.S_IMODE((self.run_folder / "report").stat().st_mode) & 0o077, 0, "it holds transcripts")
        for secret in ("secret", "log_key"):
            self.assertEqual(stat.S_IMODE((self.run_folder / secret).stat().st_mode), 0o600)
        shared = self.folder / "shared"
        grid = self.write("shared.yaml", GRID + "share_transcripts: true\n")
        os.umask(0o027)
        self.addCleanup(os.umask, 0o022)
        self.assertEqual(nkigrid("run", grid, "-o", shared, "-q").returncode, 0)
        self.assertEqual(modes(shared), {0o050, 0o040})
        self.assertEqual(stat.S_IMODE((shared / "grid.yaml").stat().st_mode), 0o640)


COMMANDS = """\
name: commands
benchmark: nkigen-bench
tasks: [L1/001_add]
replicates: 1
models:
  far: {api: openai, endpoint: "http://127.0.0.1:9/v1", model: m, retry_limit: 1 s,
        key: {command: [/bin/sh, -c, "COMMAND"]}}
  near: {api: openai, endpoint: "http://127.0.0.1:9/v1", model: m, key: {env: NEAR_KEY}, retry_limit: 1 s}
modes: {ss: {kind: single-shot}}
prompts: {rank-aware: prompts/rank-aware.md}
cells:
  - {model: [far, near], mode: ss, prompt: rank-aware}
infra_retries: 1
"""
KEYED = """\
name: keyed
benchmark: nkigen-bench
tasks: [L1/001_add]
replicates: 1
models: {far: {MODEL, retry_limit: 1 s}}
modes: {ss: {kind: single-shot}}
prompts: {rank-aware: prompts/rank-aware.md}
cells: [{model: far, mode: ss, prompt: rank-aware}]
infra_retries: 1
"""
CANARY = "sk-canary-3371"


class Commands(Case):
    def freeze(self, command):
        """A run of this user's own, whose models nobody answers."""
        self.mine = environment(HOME=str(self.folder / "me"), NEAR_KEY=CANARY)
        self.stranger = environment(HOME=str(self.folder / "you"), NEAR_KEY=CANARY)
        self.mark, run = self.folder / "ran", self.folder / "run"
        grid = self.write("grid.yaml", COMMANDS.replace("COMMAND", command.format(mark=self.mark)))
        done = nkigrid("run", grid, "-o", run, "-q", env=self.mine)
        self.assertTrue(self.mark.exists(), done.stderr)
        return run

    def has_run(self, *verb, env):
        self.mark.unlink(missing_ok=True)
        done = nkigrid(*verb, env=env)
        return self.mark.exists(), done

    def test_a_strangers_key_command_runs_only_after_its_user_has_seen_it(self):
        run = self.freeze("echo x >> {mark}; echo sk-1")
        resume = ("resume", run, "--local", "-q")
        for verb in (resume, ("run", run, "-q")):
            ran, done = self.has_run(*verb, env=self.stranger)
            self.check_refused(done, 2, "was not frozen here by you", "/bin/sh -c", "--trust-commands")
            self.assertFalse(ran)
        self.assertEqual(self.has_run("check", run / "grid.yaml", env=self.stranger)[0], False)
        for verb in (("doctor", run / "grid.yaml"), ("run", run / "grid.yaml", "-o", self.folder / "new", "-q")):
            ran, done = self.has_run(*verb, env=self.stranger)
            self.check_refused(done, 2, "was not frozen here by you", "/bin/sh -c", "--trust-commands")
            self.assertFalse(ran, "the grid of a run is the run's")
        ran, done = self.has_run("audit", run, "-q", env=self.stranger)
        self.assertEqual((ran, done.returncode), (False, 0), "an audit asks no model, so that it need not be let")
        self.assertTrue(self.has_run(*resume, env=self.mine)[0])
        self.check_note_speaks_for_one_run(run)
        self.assertTrue(self.has_run(*resume, "--trust-commands", env=self.stranger)[0])
        self.assertTrue(self.has_run(*resume, env=self.stranger)[0], "the answer is kept")

    def check_note_speaks_for_one_run(self, run):
        """What a user has let one run do holds neither for another that takes its name, nor for other words."""
        grid, frozen = run / "grid.yaml", (run / "grid.yaml").read_text()
        for changed in (frozen.replace("x >> ", "y >> "), frozen + "\n"):
            self.assertNotEqual(changed, frozen)
            grid.write_text(changed)
            ran, done = self.has_run("resume", run, "--local", "-q", env=self.mine)
            self.assertEqual((ran, done.returncode), (False, 2), done.stderr)
        grid.write_text(frozen)
        secret = (run / "secret").read_bytes()
        (run / "secret").write_bytes(secret[::-1])
        self.assertFalse(self.has_run("resume", run, "--local", "-q", env=self.mine)[0])
        (run / "secret").write_bytes(secret)

    def test_a_strangers_run_sends_its_users_keys_only_after_he_has_seen_where_to(self):
        asked = {
            "key: {env: MINE}": "sends $MINE to http://127.0.0.1:1/v1",
            "key: {file: KEYFILE}": "KEYFILE to http://127.0.0.1:1/v1",
            "headers: {x-api-key: {env: MINE}}": "sends $MINE to http://127.0.0.1:1/v1",
            "headers: {x-api-key: {command: [cat, KEYFILE]}}": "starts cat KEYFILE, sends what it prints to",
        }
        for number, (source, words) in enumerate(asked.items()):
            with self.subTest(source):
                model = f'api: openai, endpoint: "http://127.0.0.1:1/v1", model: m, {source}'
                self.check_asks(number, model, words)
        with self.subTest("AWS"):
            model = 'api: bedrock, endpoint: "http://127.0.0.1:1", region: us-east-1, model: m'
            self.check_asks(
                "aws", model, "proves to http://127.0.0.1:1 that it has the AWS account of your environment"
            )

    def check_asks(self, number, model, words):
        key = self.write("KEYFILE", "sk-1\n")
        os.chmod(key, 0o600)
        text = KEYED.replace("MODEL", model.replace("KEYFILE", str(key)))
        run, keys = self.folder / f"run-{number}", {"MINE": "sk-2", "AWS_BEARER_TOKEN_BEDROCK": "sk-3"}
        mine = environment(HOME=str(self.folder / "me"), **keys)
        stranger = environment(HOME=str(self.folder / "you"), **keys)
        nkigrid("run", self.write("grid.yaml", text), "-o", run, "-q", env=mine)
        resume = ("resume", run, "--local", "-q")
        own = nkigrid(*resume, env=mine)
        self.assertNotIn("--trust-commands", own.stderr)
        self.check_refused(nkigrid(*resume, env=stranger), 2, words.replace("KEYFILE", str(key)), "--trust-commands")
        frozen = (run / "grid.yaml").read_text()
        (run / "grid.yaml").write_text(frozen.replace("127.0.0.1:1", "127.0.0.1:2"))
        self.check_refused(nkigrid(*resume, env=mine), 2, "127.0.0.1:2", "--trust-commands")
        self.assertNotIn("trust-commands", nkigrid("audit", run, "-q", env=stranger).stderr, "it sends nothing")

    def test_keys_have_left_the_environment_before_any_child_exists(self):
        self.freeze("cat /proc/$PPID/environ > {mark}; echo sk-1")
        self.assertNotIn(CANARY, self.mark.read_text())


if __name__ == "__main__":
    unittest.main()
