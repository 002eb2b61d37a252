"""`server:` in a model: its server is started before the grid, waited for, started once more when it dies, and ended
with the run, however that ends."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import socket
import unittest

from harness import MPI_ENVIRONMENT, environment, mpirun, nkigrid, scored_rows, start, status, wait_until
from served import CANARY, ServerCase


class Lives(ServerCase):
    def test_it_is_there_before_the_first_request_and_gone_after_the_last(self):
        grid = self.grid("--load", "0.5", "--child")
        done = self.run_grid("run", grid, "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the server of model 'one' answers at http://127.0.0.1:", done.stderr)
        state = status(self.run_folder)
        self.assertEqual(state["outstanding"], 0)
        self.assertEqual(len(self.requests()), state["episodes"], "a request an episode, none was made in vain")
        self.assertEqual(len(self.starts()), 1)
        self.check_none_left()
        self.assertEqual(self.note()["state"], "ended")
        again = self.run_grid("run", grid, "-o", self.run_folder, "--quiet")
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertEqual(len(self.starts()), 1, "nothing was outstanding: nothing is started")

    def test_no_key_reaches_it_but_in_a_request(self):
        done = self.run_grid("run", self.grid(), "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(CANARY, json.dumps(self.starts()))
        for path in self.run_folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(CANARY.encode(), path.read_bytes(), path)

    def test_a_server_without_health_is_asked_for_its_models(self):
        done = self.run_grid("run", self.grid("--no-health", "--load", "0.3"), "-o", self.run_folder, "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_models_may_share_one(self):
        more = "  two: {api: openai, model: n, server: one, concurrency: 3}"
        done = self.run_grid("run", self.grid(more=more, models="one, two"), "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.starts()), 1)
        self.assertEqual(len(self.requests()), status(self.run_folder)["episodes"])

    def test_replicas_share_the_load_and_the_concurrency(self):
        grid = self.grid("--delay", "0.1", replicas=3, env={"STUB_REPLICA": "{replica}"})
        done = self.run_grid("run", grid, "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(s["environment"]["STUB_REPLICA"] for s in self.starts()), ["0", "1", "2"])
        by_port = {}
        for port, begin, end in self.requests():
            by_port.setdefault(port, []).append((begin, end))
        self.assertEqual(len(by_port), 3)
        for port, requests in by_port.items():
            self.assertGreaterEqual(len(requests), len(self.requests()) // 5, by_port)
        edges = [(begin, 1) for _, begin, _ in self.requests()] + [(end, -1) for _, _, end in self.requests()]
        in_flight = most = 0
        for _, step in sorted(edges):
            in_flight += step
            most = max(most, in_flight)
        self.assertLessEqual(most, 6)
        self.check_none_left()

    def test_ranks_of_one_run_find_it(self):
        grid = self.grid()
        env = environment(STUB_KEY=CANARY, **MPI_ENVIRONMENT)
        done = nkigrid("run", grid, "-o", self.run_folder, prefix=mpirun(2), env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.starts()), 1)
        launchers = [n for n in self.starts()[0]["environment"] if n.startswith(("OMPI_", "PMIX_"))]
        self.assertEqual(launchers, [], "a server that finds these takes itself for a rank")
        self.check_none_left()


class Dies(ServerCase):
    def dies(self, starts, after):
        (self.stub_folder / "deaths").write_text(str(starts))
        (self.stub_folder / "after").write_text(str(after))

    def test_it_is_started_once_more(self):
        self.dies(1, 5)
        done = self.run_grid("run", self.grid("--child"), "-o", self.run_folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("exited with status 3 and is started once more", done.stderr)
        self.assertIn("the accelerator is gone", done.stderr)
        self.assertEqual(len(self.starts()), 2)
        self.assertEqual(status(self.run_folder)["reasons"], {})
        self.check_none_left()

    def test_when_it_dies_again_its_episodes_wait_and_none_is_blamed(self):
        self.dies(2, 3)
        grid = self.grid()
        done = self.run_grid("run", grid, "-o", self.run_folder, "--quiet")
        self.check_refused(done, 4, "died twice", "the accelerator is gone")
        state = status(self.run_folder)
        self.assertGreater(state["outstanding"], 0)
        self.assertNotIn("api_error", state["reasons"])
        self.assertNotIn("parked", state["reasons"])
        self.assertIn("died twice", state["stopped_by"])
        done = self.run_grid("resume", self.run_folder, "--local")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(scored_rows(self.run_folder).values()), {1})
        self.check_none_left()

    def test_one_that_never_answers_is_told_with_the_end_of_its_log(self):
        grid = self.grid("--load", "1000", "--child", start_timeout="1 s")
        done = self.run_grid("run", grid, "-o", self.run_folder)
        self.check_refused(
            done, 4, "the server of model 'one' gave no answer", "start_timeout (1 s", "ends: ", "loading"
        )
        self.assertIn("gave no answer", status(self.run_folder)["stopped_by"])
        self.assertEqual(self.note()["state"], "failed")
        self.check_none_left()

    def test_one_that_cannot_begin_is_told_at_once(self):
        done = self.run_grid("run", self.grid("--crash"), "-o", self.run_folder)
        self.check_refused(done, 4, "exited with status 1 before it answered", "ValueError: no such model")
        self.assertEqual(len(self.starts()), 1, "what it lacks it would lack again")
        done = self.run_grid("run", self.grid(command=["no-such-server", "{port}"]), "-o", self.folder / "other")
        self.check_refused(done, 4, "there is no program 'no-such-server' on PATH")

    def test_a_port_that_is_taken_is_nobodys_server(self):
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            done = self.run_grid("run", self.grid(port=port), "-o", self.run_folder)
        self.check_refused(done, 4, f"found its port {port} taken by another program", "leave `port` out")
        self.assertEqual(self.starts(), [])


class Ends(ServerCase):
    def start_and_wait(self, grid, condition, what):
        process = start("run", grid, "-o", self.run_folder, env=environment(STUB_KEY=CANARY))
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.kill)
        wait_until(condition, what=what)
        return process

    def requests_begun(self):
        return (self.stub_folder / "requests").exists()

    def test_it_does_not_outlive_a_run_that_is_killed(self):
        grid = self.grid("--delay", "0.5", "--child")
        process = self.start_and_wait(grid, self.requests_begun, "a request")
        process.kill()
        process.wait()
        self.check_none_left()
        done = self.run_grid("resume", self.run_folder, "--local")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(scored_rows(self.run_folder).values()), {1})
        self.check_none_left()

    def test_it_does_not_outlive_its_keeper(self):
        grid = self.grid("--delay", "0.5")
        process = self.start_and_wait(grid, self.requests_begun, "a request")
        (server,) = self.starts()
        keeper = int(pathlib.Path(f"/proc/{server['pid']}/stat").read_text().rsplit(")", 1)[1].split()[1])
        os.kill(keeper, signal.SIGKILL)
        self.check_none_left()
        process.send_signal(signal.SIGTERM)
        process.communicate()

    def test_a_stop_while_it_loads_ends_both(self):
        grid = self.grid("--load", "1000", "--child")
        process = self.start_and_wait(grid, lambda: self.starts(), "a start")
        process.send_signal(signal.SIGTERM)
        _, words = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, words)
        self.check_none_left()

    def keepers(self):
        """Processes that keep a server of this run."""
        words = [
            path.read_bytes().split(b"\0") for path in pathlib.Path("/proc").glob("[0-9]*/cmdline") if path.exists()
        ]
        return [w for w in words if b"tend" in w and str(self.run_folder).encode() in w]

    def test_a_stop_while_an_earlier_keeper_ends_is_no_fault(self):
        process = self.start_and_wait(self.grid("--delay", "0.5"), self.requests_begun, "a request")
        process.kill()
        process.wait()
        self.check_none_left()
        with open(self.run_folder / "log/servers/all.one.0.lock") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = start("resume", self.run_folder, "--local", env=environment(STUB_KEY=CANARY))
            self.addCleanup(process.stderr.close)
            self.addCleanup(process.kill)
            wait_until(self.keepers, what="a keeper that waits")
            process.send_signal(signal.SIGTERM)
            _, words = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, words)
        self.assertNotIn("did not begin", words)
        self.assertEqual(self.keepers(), [], "it ends those that it has started")
        self.assertEqual(len(self.starts()), 1)

    def test_it_ends_at_the_budget(self):
        grid = self.grid()
        grid.write_text(grid.read_text().replace("lanes: 8", "lanes: 1") + "budget: {tokens: 30}\n")
        done = self.run_grid("run", grid, "-o", self.run_folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("budget", done.stderr)
        self.check_none_left()


class Words(ServerCase):
    def test_check_says_what_is_wrong(self):
        grid = self.grid()
        good = grid.read_text()
        for old, new, words in (
            ('"{port}"', '"8000"', "has no word {port}"),
            ("model: m,", 'model: m, endpoint: "http://h/v1",', "say both where the model is"),
            ('"command"', '"comand"', "did you mean 'command'"),
            ('"--folder"', '"--api-key", "x"', "holds a key or an option that takes one"),
            ('"--folder"', '"sk-proj-0123456789abcdef0123456789"', "holds a key or an option that takes one"),
        ):
            grid.write_text(good.replace(old, new))
            done = nkigrid("check", grid)
            self.check_refused(done, 2, words)
            self.assertNotIn("sk-proj", done.stderr)
        grid.write_text(good.replace("retry_limit: 20 s, ", "").replace("server: {", "server: two, method: {"))
        self.check_refused(nkigrid("check", grid), 2, "models.one.server is 'two'")
        grid.write_text(good)
        self.assertEqual(nkigrid("check", grid).returncode, 0)

    def test_doctor_looks_for_its_program(self):
        for command, ok in ((["/usr/bin/python3", "{port}"], True), (["no-such-server", "{port}"], False)):
            done = nkigrid("doctor", self.grid(command=command), "--json", env=environment(STUB_KEY=CANARY))
            found = {finding["what"]: finding for finding in json.loads(done.stdout)["findings"]}
            self.assertEqual(found["server one"]["ok"], ok, found)
            self.assertNotIn("model one", found, "it is not there before the run is")

    def test_strangers_runs_start_nothing_unasked(self):
        done = self.run_grid("run", self.grid(), "-o", self.run_folder, HOME=str(self.folder / "me"))
        self.assertEqual(done.returncode, 0, done.stderr)
        before = len(self.starts())
        shutil.rmtree(self.run_folder / "log/servers")
        for args in (["resume", self.run_folder, "--local"], ["tend", self.run_folder, "one"]):
            done = self.run_grid(*args, HOME=str(self.folder / "stranger"))
            self.check_refused(done, 2, "stub_server.py", "--trust-commands")
        self.assertEqual(len(self.starts()), before)

    def test_the_frozen_grid_reads_back(self):
        grid = self.grid(env={"A_B": "c d"}, health="/ready", slurm={"partition": "gpu", "gres": "gpu:1", "cpus": 4})
        done = nkigrid("submit", grid, "-o", self.run_folder, "--dry-run", env=environment(STUB_KEY=CANARY))
        self.check_refused(done, 2, "cannot be submitted")
        grid.write_text(grid.read_text().replace("key: {env: STUB_KEY}, ", ""))
        done = nkigrid("submit", grid, "-o", self.run_folder, "--dry-run")
        self.assertEqual(done.returncode, 0, done.stderr)
        frozen = (self.run_folder / "grid.yaml").read_text()
        self.assertEqual(nkigrid("check", self.run_folder).returncode, 0)
        self.assertIn("gpu:1", frozen)


if __name__ == "__main__":
    unittest.main()
