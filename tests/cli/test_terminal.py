"""What somebody at a terminal meets: words that lead on, pages as wide as the window, Ctrl-C, lists, JSON of verbs."""
import fcntl
import http.server
import json
import os
import pty
import re
import shutil
import signal
import socket
import struct
import subprocess
import termios
import threading
import unittest

import harness
from harness import Case, nkigrid


def at_terminal(columns, *words, folder=None, until=None):
    """Runs the program on a terminal of so many columns. @returns (code, what it wrote); `until(text, process)` may act
    on what was written so far."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [harness.NKIGRID, *map(str, words)],
        stdin=subprocess.DEVNULL,
        stdout=slave,
        stderr=slave,
        env=harness.environment(TERM="xterm", PAGER=""),
        cwd=folder,
    )
    os.close(slave)
    text = b""
    while True:
        try:
            got = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not got:
            break
        text += got
        if until is not None:
            until(text.decode(errors="replace"), process)
    os.close(master)
    return process.wait(timeout=60), text.decode(errors="replace")


class Words(Case):
    def test_a_slip_at_any_depth_is_led_to_its_word_and_page(self):
        for words, said in (
            (["tabel"], ["unknown verb 'tabel' (did you mean 'tables'?)", "`nkigrid --help`"]),
            (["log", "chek"], ["unknown verb 'chek' of `nkigrid log` (did you mean 'check'?)", "`nkigrid log --help`"]),
            (["bench", "lst"], ["'lst' of `nkigrid bench` (did you mean 'list'?)", "`nkigrid bench --help`"]),
            (["--verison"], ["unknown option '--verison' (did you mean '--version'?)", "`nkigrid --help`"]),
            (
                ["log", "check", "--jsn", "x"],
                ["'--jsn' of `nkigrid log check`", "'--json'", "`nkigrid log check --help`"],
            ),
            (["status"], ["`nkigrid status` wants RUN (a frozen run)", "`nkigrid status --help`"]),
            (["log"], ["`nkigrid log` wants a verb (check)", "`nkigrid log --help`"]),
            (["kernel", "x.py"], ["wants --task ID", "`nkigrid kernel --help`"]),
            (["plan", "g", "--shards", "x"], ["--shards", "'x' (a whole number from 0 to 1000000 is wanted)"]),
            (["plan", "g", "--difference", "x"], ["--difference", "'x' (a number is wanted)"]),
            (["bench", "overlap", "a", "--near", "nan"], ["--near", "'nan' (a number is wanted)"]),
            (["bench", "list", "--rank", "x"], ["--rank", "'x' (a whole number from 1 to 32 is wanted)"]),
            (["run", "g", "--lanes", "-1"], ["--lanes", "'-1' (a whole number from 0 to 4096 is wanted)"]),
        ):
            with self.subTest(words):
                self.check_refused(nkigrid(*words), 2, *said)

    def test_no_page_is_wider_than_its_window_or_speaks_of_types(self):
        verbs = re.findall(r"^  ([a-z]+) ", nkigrid("--help").stdout.split("Subcommands:")[1], re.M)
        for words in [[]] + [[verb] for verb in verbs] + [["log", "check"], ["bench", "list"]]:
            for columns in (60, 80, 100):
                code, page = at_terminal(columns, *words, "--help")
                self.assertEqual(code, 0)
                for line in page.splitlines():
                    self.assertLessEqual(len(line), columns, f"{words}: {line}")
            self.assertNotRegex(page, r"\b(UINT|INT|TEXT|FLOAT|POSITIVE|NONNEGATIVE)\b")

    def test_every_page_is_in_help_all(self):
        page = nkigrid("--help-all").stdout
        for word in ("--elements-at-once", "--shuffle-loops", "--help-all", "completion"):
            self.assertIn(word, page)


class Completion(Case):
    def complete(self, *words):
        script = (
            f"source <({harness.NKIGRID} completion bash)\n"
            f"COMP_WORDS=(nkigrid {' '.join(repr(word) for word in words)}); COMP_CWORD={len(words)}\n"
            '_nkigrid; printf "%s\\n" "${COMPREPLY[@]}"\n'
        )
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=harness.environment())
        self.assertEqual(done.stderr, "")
        return done.stdout.split()

    def test_bash_completes_verbs_and_options(self):
        self.assertIn("status", self.complete("st"))
        self.assertIn("check", self.complete("log", ""))
        self.assertEqual(self.complete("log", "check", "--js"), ["--json"])
        self.assertIn("--table", self.complete("tables", "RUN", "--t"))
        self.assertEqual(self.complete("fig"), ["figures"])
        self.assertEqual(self.complete("show", "RU"), [])  # files are bash's to complete

    def complete_in_zsh(self, *lines):
        """What zsh's own completion offers behind each line: one interactive zsh, whose Tab writes its matches down."""
        functions = self.folder / "functions"
        functions.mkdir()
        (functions / "_nkigrid").write_text(nkigrid("completion", "zsh").stdout)
        found = self.folder / "found"
        setup = f"""
            fpath=({functions} $fpath)
            autoload -Uz compinit && compinit -u -D
            compadd() {{ local -a hits; builtin compadd -O hits "$@"; print -rl -- $hits >> {found}; }}
            look() {{ zle complete-word; print -r -- END >> {found}; zle kill-whole-line; }}
            zle -N look && bindkey '^I' look
            print READY >> {found}
        """
        (self.folder / ".zshrc").write_text(setup)
        process, end = pty.fork()
        if process == 0:
            os.execvpe("zsh", ["zsh", "-i"], harness.environment(ZDOTDIR=str(self.folder), TERM="xterm"))
        self.addCleanup(os.close, end)
        self.addCleanup(os.waitpid, process, 0)
        self.addCleanup(os.kill, process, signal.SIGKILL)
        offers = []
        harness.wait_until(lambda: found.exists() and "READY" in found.read_text(), what="zsh's first prompt")
        for line in lines:
            found.write_text("")
            os.write(end, f"nkigrid {line}\t".encode())
            harness.wait_until(lambda: "END\n" in found.read_text(), what=f"what follows '{line}'")
            offers.append(set(found.read_text().split()) - {"END"})
        return offers

    def test_zsh_completes_verbs_and_options(self):
        verbs, below, options, tables = self.complete_in_zsh("st", "log ", "log check --js", "tables RUN --t")
        self.assertIn("status", verbs)
        self.assertIn("check", below)
        self.assertIn("--json", options)
        self.assertIn("--table", tables)

    def test_an_unknown_shell_is_refused(self):
        self.check_refused(nkigrid("completion", "bsh"), 2, "bsh", "did you mean 'bash'")


class Run(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        import pathlib
        import tempfile

        cls.shared = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.shared, ignore_errors=True)
        cls.run_folder = cls.shared / "run"
        cls.first = nkigrid("run", harness.SMALL, "-o", cls.run_folder, "--json")

    def test_run_and_resume_say_in_json_what_they_came_to(self):
        said = json.loads(self.first.stdout)
        self.assertEqual((said["version"], said["episodes"], said["scored"], said["outstanding"]), (1, 48, 48, 0))
        self.assertEqual((said["exit_code"], said["stopped_by"]), (0, ""))
        again = nkigrid("resume", self.run_folder, "--local", "--json")
        self.assertEqual(json.loads(again.stdout)["scored"], 48)
        self.assertIn("nothing was left to do (48 of 48 were scored before)", again.stderr)

    def test_resume_and_cancel_of_a_finished_local_run_need_no_cluster(self):
        env = harness.environment(SLURM_CONF=str(self.folder / "none"))
        done = nkigrid("resume", self.run_folder, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing to submit: 48 of 48 episodes are scored", done.stdout)
        self.assertEqual(json.loads(nkigrid("resume", self.run_folder, "--json", env=env).stdout)["submitted"], False)
        done = nkigrid("cancel", self.run_folder, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("was never submitted", done.stdout)
        self.assertEqual(json.loads(nkigrid("cancel", self.run_folder, "--json", env=env).stdout)["cancelled"], [])

    def test_a_dry_run_names_its_scripts_in_json(self):
        run = self.folder / "dry"
        done = nkigrid("submit", harness.SMALL, "-o", run, "--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertFalse(said["submitted"])
        self.assertTrue(said["scripts"])
        self.assertTrue(all(os.path.isfile(script) for script in said["scripts"]))

    def test_show_lists_what_failed_and_what_a_cell_and_a_task_hold(self):
        status = harness.status(self.run_folder)
        failed = 48 - sum(cell["passed"] for cell in status["cells"])
        done = nkigrid("show", self.run_folder, "--failed", "--json")
        episodes = json.loads(done.stdout)["episodes"]
        self.assertEqual(len(episodes), failed)
        self.assertFalse(any(episode["passed"] for episode in episodes))
        self.assertTrue(all(episode["message"] for episode in episodes if episode["code"]), episodes)
        cell = episodes[0]["episode"].split("/")[0]
        self.assertEqual(len(json.loads(nkigrid("show", self.run_folder, cell, "--json").stdout)["episodes"]), 12)
        task = nkigrid("show", self.run_folder, cell + "/L1/001_add")
        self.assertEqual(len(task.stdout.splitlines()), 2)
        self.assertIn("prints one", task.stderr)
        wrong = nkigrid("show", self.run_folder, cell + "/L1/001_ad")
        self.check_refused(wrong, 2, "did you mean", cell + "/L1/001_add")
        for columns in (60, 80, 100):
            _, text = at_terminal(columns, "show", self.run_folder, "--failed", "-q")
            self.assertTrue(text)
            for line in text.splitlines():
                if "/" not in line.split(" ")[0]:  # a name is never cut
                    self.assertLessEqual(len(line), columns, line)

    def test_the_wire_of_a_model_without_an_endpoint_is_told_to_be_empty(self):
        episode = json.loads(nkigrid("show", self.run_folder, "--failed", "--json").stdout)["episodes"][0]["episode"]
        done = nkigrid("show", self.run_folder, episode, "--wire")
        self.assertEqual(json.loads(done.stdout.splitlines()[0]), {"turn": 1, "request": "", "response": ""})
        self.assertIn("no bytes of a server are logged here", done.stderr)
        self.assertEqual(nkigrid("show", self.run_folder, episode, "--wire", "-q").stderr, "")

    def test_tables_are_as_wide_as_their_window_and_so_is_what_an_empty_one_says(self):
        for columns in (60, 80, 100):
            code, text = at_terminal(columns, "tables", self.run_folder, "--table", "all")
            self.assertEqual(code, 0, text)
            self.assertIn("methods: nothing to show: no model has a `method`;", text.replace("\r\n", " "))
            for line in text.splitlines():
                self.assertLessEqual(len(line), columns, line)

    def test_ctrl_c_says_at_once_what_it_does_and_a_second_one_ends_it(self):
        """Before a server that never answers: the notice, the clock that goes on, and what the second Ctrl-C leaves."""
        server = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.addCleanup(server.close)
        remote = f'{{api: openai, endpoint: "http://127.0.0.1:{server.getsockname()[1]}/v1", model: m}}'
        text = harness.SMALL.read_text().replace("{api: synthetic, profile: novice}", remote)
        grid = self.write("grid.yaml", text.replace("{api: synthetic, profile: expert}", remote))
        run, sent = self.folder / "run", []

        def interrupt(text, process):
            if (not sent and re.search(r" [1-9]\d* running", text)) or (len(sent) == 1 and " draining, " in text):
                sent.append(text)
                process.send_signal(signal.SIGINT)

        code, text = at_terminal(60, "run", grid, "-o", run, until=interrupt)
        self.assertEqual(code, 130, text)
        self.assertRegex(text, r"nkigrid: draining \d+ episodes?, each to the end of its turn; Ctrl-C again: stop now")
        self.assertRegex(text.split("stop now\r\n")[1], r"\r0/48 episodes, 0 passed, \d+ draining, .*ETA -")
        self.assertIn("stopped now: turns in flight are lost; every reply and turn that was logged stays", text)
        self.assertIn(f"`nkigrid resume {run} --local` goes on from there", text)
        for line in re.split(r"[\r\n]+", text):
            if "ETA" in line:
                self.assertLess(len(line.replace("\x1b[K", "")), 60, line)
        self.assertIn(f"`nkigrid resume {run} --local` continues it", nkigrid("status", run).stdout)

    def test_doctor_asks_a_server_for_its_models_and_for_a_token(self):
        server = subprocess.Popen(
            [harness.NKIGRID, "serve", "--port", "0"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=harness.environment(),
        )
        self.addCleanup(lambda: (server.terminate(), server.wait(), server.stdout.close()))
        port = re.search(r":(\d+)", server.stdout.readline())[1]
        text = re.sub(r"slurm: .*\n", "", harness.SMALL.read_text())
        for model, expected, words in (("novice", 0, "serves 'novice'"), ("novic", 4, "did you mean 'novice'")):
            remote = f'{{api: openai, endpoint: "http://127.0.0.1:{port}/v1", model: {model}}}'
            grid = self.write("grid.yaml", text.replace("{api: synthetic, profile: novice}", remote))
            done = nkigrid("doctor", grid, "--probe", "--json")
            self.assertEqual(done.returncode, expected, done.stdout)
            findings = [f for f in json.loads(done.stdout)["findings"] if f["what"] == "model novice"]
            self.assertIn(words, findings[0]["text"])
            self.assertEqual(len(findings), 2 if expected == 0 else 1)
            if expected == 0:
                self.assertRegex(findings[1]["text"], r"gave \d+ tokens? for \d+")

    def test_doctor_says_a_context_and_refuses_a_max_tokens_that_fills_it(self):
        class Listing(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps({"data": [{"id": "m", "max_model_len": 32768}]}).encode())

            def log_message(self, *_):
                pass

        with http.server.HTTPServer(("127.0.0.1", 0), Listing) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            self.addCleanup(server.shutdown)
            text = re.sub(r"slurm: .*\n", "", harness.SMALL.read_text())
            for most, expected, words in ((4096, 0, "with a context of 32768 tokens"), (32768, 4, "lower max_tokens")):
                address = f"http://127.0.0.1:{server.server_address[1]}/v1"
                remote = f'{{api: openai, endpoint: "{address}", model: m, max_tokens: {most}}}'
                grid = self.write("grid.yaml", text.replace("{api: synthetic, profile: novice}", remote))
                done = nkigrid("doctor", grid, "--json")
                self.assertEqual(done.returncode, expected, done.stdout)
                found = [f["text"] for f in json.loads(done.stdout)["findings"] if f["what"] == "model novice"]
                self.assertIn(words, found[0])


if __name__ == "__main__":
    unittest.main()
