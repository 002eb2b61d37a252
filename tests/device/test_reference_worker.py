"""The reference worker against hostile tasks: each runs in a child of its own and spoils its own answer at most."""

import contextlib
import fcntl
import json
import os
import select
import socket
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

LIBEXEC = Path(os.environ["NKIGRID_BUILD_DIR"]) / "libexec"
sys.path.insert(0, str(LIBEXEC))
import child_sandbox  # noqa: E402

CANARY = "canary-3f9a1c"
SLEEPS = ("35", "230")  # nanosleep and clock_nanosleep of x86-64
HONEST = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.exp(x)
def get_init_inputs(): return []
def get_inputs(): return [torch.randn(4, 8)]
"""
SPEC = {"shape": [4, 8], "dtype": "float32", "domain": "real", "bound": 0}


class Worker:
    """A worker of its own, with a key in its environment that no task may see."""

    def __init__(self, folder, program=(str(LIBEXEC / "reference_worker.py"),)):
        self.folder = folder
        self.control, theirs = socket.socketpair()
        self.control.settimeout(120)
        arguments = [str(folder), str(1 << 30), str(LIBEXEC / "libnkigrid_sandbox.so"), "strict"]
        self.process = subprocess.Popen(
            ["/usr/bin/python3", "-s", "-B", *program, *arguments],
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CANARY_KEY": CANARY},
            preexec_fn=lambda: os.dup2(theirs.fileno(), 3),
            pass_fds=[3],
            stdin=subprocess.DEVNULL,
        )
        theirs.close()
        assert self.read()["ok"]

    def read_exactly(self, size):
        data = b""
        while len(data) < size:
            part = self.control.recv(size - len(data))
            assert part, "the worker is gone"
            data += part
        return data

    def read(self):
        head, body = struct.unpack("<II", self.read_exactly(8))
        return json.loads(self.read_exactly(head + body)[:head])

    def send(self, source, key, seed=5):
        head = {"task": "t", "source": source, "trials": [{"trial": 0, "key": key, "seed": str(seed)}]}
        head |= {"inputs": [SPEC | {"name": "x", "role": "input"}], "outputs": [SPEC]}
        self.say(head)

    def say(self, head):
        text = json.dumps(head).encode()
        self.control.sendall(struct.pack("<II", len(text), 0) + text)

    def ask_for(self, head):
        self.say(head)
        return self.read()

    def ask(self, source, key, seed=5):
        self.send(source, key, seed)
        return self.read()

    def tensor(self, key, suffix):
        """The 32 values of one cache file, by the format's page alone."""
        data = (self.folder / (key + suffix)).read_bytes()
        start = -(-(48 + struct.unpack("<Q", data[40:48])[0]) // 64) * 64
        return struct.unpack("<32f", data[start : start + 128])

    def close(self):
        self.control.close()
        self.process.wait(timeout=60)


class ReferenceWorker(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.worker = Worker(Path(self.folder.name))
        self.addCleanup(self.worker.close)

    def refused(self, act, words):
        """A task that does `act` when it is loaded has no reference, in words; the next task is not touched."""
        reply = self.worker.ask(f"{act}\n{HONEST}", "hostile")
        self.assertFalse(reply["ok"], act)
        self.assertIn(words, reply["error"])
        self.assertEqual([], list(self.worker.folder.glob("hostile*[!k]")))
        self.assertEqual({"ok": True}, self.worker.ask(HONEST, f"after{abs(hash(act))}"))

    def test_an_honest_task_gives_what_torch_gives(self):
        self.assertEqual({"ok": True}, self.worker.ask(HONEST, "honest"))
        # The draws by another process, which is the definition: manual_seed, then the task.
        code = "import torch; torch.manual_seed(5); x = torch.randn(4, 8)"
        code += "; print(x.flatten().tolist(), torch.exp(x).flatten().tolist())"
        x, want = subprocess.check_output(["/usr/bin/python3", "-c", code], text=True).strip()[1:-1].split("] [")
        self.assertEqual([float(v) for v in x.split(",")], list(self.worker.tensor("honest", ".in")))
        self.assertEqual([float(v) for v in want.split(",")], list(self.worker.tensor("honest", ".out")))

    def test_no_task_reads_a_key_or_a_file(self):
        self.refused("open('/proc/%d/environ' % __import__('os').getppid(), 'rb').read()", "Error")
        self.refused("raise SystemError(open('/proc/self/environ', 'rb').read())", "PermissionError")
        self.refused("raise SystemError(open('/etc/passwd').read())", "PermissionError")
        self.refused(f"raise SystemError(open({str(self.worker.folder)!r} + '/x'))", "Error")
        for file in self.worker.folder.iterdir():
            self.assertNotIn(CANARY.encode(), file.read_bytes())

    def test_no_task_writes_or_runs_or_connects_or_signals(self):
        outside = Path(self.folder.name) / "written"
        forbidden = "an act that no reference may do"
        self.refused(f"open({str(outside)!r}, 'w')", forbidden)
        self.refused("import os; os.execv('/bin/true', ['true'])", forbidden)
        self.refused("import subprocess; subprocess.run(['/bin/true'])", "Error")
        self.refused("import socket; socket.socket()", forbidden)
        self.refused("import os; os.kill(1, 9)", forbidden)
        self.refused("import fcntl, os; fcntl.fcntl(0, 8, 1)", forbidden)
        self.refused(f"import os; os.unlink({str(self.worker.folder)!r})", forbidden)
        self.assertFalse(outside.exists())

    def test_no_task_changes_what_another_computes(self):
        patch = "import torch; torch.exp = torch.zeros_like; torch.randn = lambda *s: torch.full(s, 3.0)"
        self.assertEqual({"ok": True}, self.worker.ask(patch + HONEST, "patched"))
        self.assertEqual({"ok": True}, self.worker.ask(HONEST, "other"))
        self.assertEqual({0.0}, set(self.worker.tensor("patched", ".out")))
        self.assertEqual(32, len(set(self.worker.tensor("other", ".out"))))

    def test_a_child_that_ends_without_a_word_is_told(self):
        self.refused("import os; os._exit(0)", "ended without a result")
        self.refused("import os; os.kill(os.getpid(), 11)", "ended without a result")
        # Whatever it says in place of its word, on whatever descriptor it finds.
        flood = "import os\nfor fd in range(3, 64):\n    try:\n        os.write(fd, b'x' * 100000)\n"
        flood += "    except OSError: pass\n"
        self.refused(flood, "xxxx")

    def test_a_task_that_sleeps_is_ended_though_its_run_goes_on(self):
        """The time is shortened; the rule is the same."""
        script = "import sys, runpy; sys.path.insert(0, sys.argv[1]); import child_sandbox\n"
        script += "child_sandbox.IDLE_SECONDS = 0.5; sys.argv[:2] = ['worker']\n"
        script += f"runpy.run_path({str(LIBEXEC / 'reference_worker.py')!r}, run_name='__main__')\n"
        self.worker.close()
        self.worker = Worker(Path(self.folder.name), ["-c", script, str(LIBEXEC)])
        self.addCleanup(self.worker.close)
        for act in ("import time; time.sleep(3600)", "import os; os.kill(os.getpid(), 19)"):
            reply = self.worker.ask(act + HONEST, "sleeper")
            self.assertTrue(reply["of_task"])
            self.assertIn("slept for 0.5 s", reply["error"])
        self.assertEqual({"ok": True}, self.worker.ask(HONEST, "after"))

    def test_a_draw_is_stopped_when_it_is_told_so_and_its_worker_goes_on(self):
        self.assertEqual({"ok": True}, self.worker.ask_for({"open": True}))
        self.worker.send("while True: pass" + HONEST, "endless")
        self.worker.say({"stop": True})
        self.assertEqual({"ok": False, "stopped": True}, self.worker.read())
        self.worker.say({"stop": True})  # it crossed the reply: nothing answers it
        self.assertEqual({"ok": True}, self.worker.ask(HONEST, "after"))

    def test_a_worker_that_waits_for_another_process_is_stopped_and_ends_as_well(self):
        with open(self.worker.folder / "taken.lock", "w", encoding="utf-8") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.worker.send(HONEST, "taken")
            self.worker.say({"stop": True})
            self.assertEqual({"ok": False, "stopped": True}, self.worker.read())
            self.worker.send(HONEST, "taken")
            self.worker.close()

    def sleeper(self):
        """A pidfd of the worker's child that sleeps in a task. Beside it stands the keeper of their namespace; a child
        that the worker makes before it has one is gone again."""
        children = Path(f"/proc/{self.worker.process.pid}/task/{self.worker.process.pid}/children")
        while True:
            self.assertIsNone(self.worker.process.poll())
            pids = [int(pid) for pid in children.read_text().split()]
            for pid in pids:
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    handle = os.pidfd_open(pid)
                    if Path(f"/proc/{pid}/syscall").read_text().split()[0] in SLEEPS:
                        return handle
                    os.close(handle)

    def test_a_sleeping_task_ends_with_the_run(self):
        for end in (self.worker.control.close, lambda: self.worker.process.kill()):
            self.worker.send("import time; time.sleep(3600)" + HONEST, "sleeper")
            sleeper = self.sleeper()
            end()
            self.assertTrue(select.select([sleeper], [], [], 60)[0], "the child outlives its run")
            self.worker.process.wait(timeout=60)
            os.close(sleeper)
            self.worker = Worker(Path(self.folder.name))
            self.addCleanup(self.worker.close)


class WhoSleeps(unittest.TestCase):
    """The rule alone, with seconds and states that are made up."""

    def looks(self, *seen):
        """@param seen (how often, seconds between, state, awake seconds of these) @returns when it is ended, or None"""
        sleep, now, awake = child_sandbox._Sleep(0.0), 0.0, 0.0
        for times, passed, state, worked in seen:
            for _ in range(times):
                now, awake = now + passed, awake + worked
                try:
                    sleep.look(now, state, awake)
                except child_sandbox.ChildEnded as error:
                    self.words = str(error)
                    return now
        return None

    def test_who_sleeps_is_ended_soon(self):
        self.assertEqual(11, self.looks((100, 1, "S", 0)))
        self.assertEqual("its code slept for 10 s; no reference waits for anything", self.words)
        self.assertEqual(11, self.looks((100, 1, "T", 0)), "it stopped itself")
        self.assertEqual(11, self.looks((100, 1, "S", 0.01)), "some of a processor, now and then")
        self.assertEqual(21, self.looks((10, 1, "R", 1), (100, 1, "S", 0)))

    def test_who_sleeps_now_and_then_is_ended_in_the_end(self):
        self.assertEqual(121, self.looks((200, 1, "S", 0.5)))
        self.assertEqual("its code slept for 60 s in all; no reference waits for anything", self.words)

    def test_who_computes_or_waits_for_the_machine_is_not(self):
        self.assertIsNone(self.looks((900, 1, "R", 1)))
        self.assertIsNone(self.looks((900, 1, "R", 0)), "it waits for a processor, as an old kernel does not count it")
        self.assertIsNone(self.looks((900, 1, "S", 1)), "it has waited for a processor, and sleeps at this moment")
        self.assertIsNone(self.looks((900, 1, "D", 0)), "a disk")
        self.assertIsNone(self.looks((1, 86400, "S", 0), (8, 1, "S", 0)), "a job that was suspended")

    def test_a_process_is_seen_as_it_is(self):
        with subprocess.Popen(["sleep", "1000"]) as asleep:
            while (facts := child_sandbox._facts_of(asleep.pid))[0] == "R":
                pass
            self.assertLess(facts[1], 60)
            asleep.kill()
        state, awake = child_sandbox._facts_of(os.getpid())
        self.assertEqual("R", state)
        self.assertGreater(awake, 0)
        self.assertIsNone(child_sandbox._facts_of(asleep.pid))


if __name__ == "__main__":
    unittest.main(argv=sys.argv, verbosity=1)
