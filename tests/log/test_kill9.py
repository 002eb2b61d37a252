"""200 kill -9 at random moments of a writing run, each followed by a takeover: every acknowledged reply and turn is
there once. Counted by a reader of its own (journal_format.py, h5py), not by ours."""
import collections
import glob
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import unittest

import h5py

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from journal_format import turns_of_log  # noqa: E402

WRITER = os.environ["NKIGRID_WRITE_TURNS"]
LANES, ROWS = "4", "24"  # a segment holds few turns, so that a journal becomes several parts


class Log:
    """One log folder and all that was acknowledged into it."""

    def __init__(self, folder, draw):
        self.folder, self.draw, self.lives = folder, draw, 0
        self.acknowledged = collections.Counter()
        self.phases = collections.Counter()

    def start(self, *options):
        self.lives += 1
        return subprocess.Popen(
            [WRITER, self.folder, f"life{self.lives:03}", LANES, ROWS, *options], stdout=subprocess.PIPE
        )

    def note(self, line):
        words = line.split()
        if words[0] in (b"R", b"T"):
            self.acknowledged[(words[0].decode(), *map(int, words[1:]))] += 1
        return words[0].decode()

    def live_and_die(self):
        """Kills after a random word of the writer's: in a third of the cases one of the first, while it seals and takes
        over."""
        words = self.draw.choice((self.draw.randint(1, 3), self.draw.randint(2, 30), self.draw.randint(20, 120)))
        writer = self.start()
        last = "nothing"
        for _ in range(words):
            last = self.note(writer.stdout.readline())
        for _ in range(self.draw.randint(0, 3000)):  # and a moment more
            pass
        writer.send_signal(signal.SIGKILL)
        for line in writer.stdout:  # acknowledged before the signal came
            if line.endswith(b"\n"):
                last = self.note(line)
        writer.stdout.close()
        assert writer.wait() == -signal.SIGKILL, "the writer ended by itself"
        self.phases["play" if last in "RTE" else last] += 1

    def finish(self):
        writer = self.start("finish")
        last = [self.note(line) for line in writer.stdout][-1]
        writer.stdout.close()
        assert writer.wait() == 0 and last == "done"


class Kill9(unittest.TestCase):
    def check(self, log):
        found = turns_of_log(log.folder)
        lost = [what for what in log.acknowledged if found[what] == 0]
        twice = [what for what, times in found.items() if times > 1]
        self.assertEqual((lost, twice), ([], []))

    def check_texts(self, folder):
        rows = 0
        for path in glob.glob(folder + "/*.h5"):
            with h5py.File(path) as file:
                turns, text = file["turns"], file["text"][:].tobytes()
                for row in range(len(turns["turn"])):
                    replicate = int(turns["episode"][row].rsplit(b"#", 1)[1])
                    name = f"{replicate} {turns['attempt'][row]} {turns['turn'][row]};".encode()
                    for what, seq in ((b"reply", "reply_seq"), (b"kernel", "turn_seq")):
                        if turns[seq][row]:
                            at = int(turns[f"{what.decode()}_offset"][row])
                            size = int(turns[f"{what.decode()}_length"][row])
                            word = what + b" " + name
                            self.assertEqual(text[at : at + size], word * (size // len(word)))
                            rows += 1
        return rows

    def test_200_kills_lose_nothing_and_count_nothing_twice(self):
        kills, parts, phases = 0, 0, collections.Counter()
        for run in range(20):
            with tempfile.TemporaryDirectory() as folder:
                log = Log(folder, random.Random(run))
                for life in range(10):
                    log.live_and_die()
                    kills += 1
                    if life % 4 == 3:
                        self.check(log)
                log.finish()
                self.check(log)
                self.assertEqual(
                    [n for n in os.listdir(folder) if n.endswith(".journal")], [], "each attempt was taken over"
                )
                self.assertGreaterEqual(self.check_texts(folder), len(log.acknowledged))
                parts += len(glob.glob(folder + "/*.part*.h5"))
                phases += log.phases
        self.assertEqual(kills, 200)
        self.assertGreater(parts, 10, "journals became several segments")
        self.assertGreater(phases["seal"], 10, phases)
        self.assertGreater(phases["play"], 60, phases)


if __name__ == "__main__":
    unittest.main()
