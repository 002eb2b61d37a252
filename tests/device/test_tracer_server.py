"""The tracer server's judgement of how its children end."""

import os
import pathlib
import select
import socket
import struct
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "runner/device/shared"), str(ROOT / "runner/device/sim")]
import tracer_server  # noqa: E402

NOTE = b"reading a secret"


def dies_at_its_request(work, note):
    """A child that leaves words when a byte comes, and ends."""
    if not os.read(work, 1):
        return
    tracer_server.leave_note(note, NOTE.decode())
    os._exit(5)


class Ends(unittest.TestCase):
    def setUp(self):
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.status, status = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.work, work = socket.socketpair()
        self.server = tracer_server.Server(theirs, dies_at_its_request)
        for end in (self.control, self.status, self.work, theirs):
            self.addCleanup(end.close)
        socket.send_fds(self.control, [b"O"], [status.fileno(), work.fileno()])
        for given in (status, work):
            given.close()
        self.assertTrue(self.server.step(None))
        self.child = self.server.fork()
        self.server.idle.append(self.child)
        self.addCleanup(self.reap)

    def reap(self):
        self.work.shutdown(socket.SHUT_WR)
        self.child.status.close()
        try:
            os.waitpid(self.child.pid, 0)
        except ChildProcessError:
            pass  # the server has

    def let_it_die(self):
        self.work.send(b"x")
        ended = select.poll()
        ended.register(self.child.pidfd, select.POLLIN)
        ended.poll()

    def test_a_job_that_was_told_of_is_known_however_late_it_is_read(self):
        self.control.send(tracer_server.TAKEN)
        self.let_it_die()
        self.assertTrue(self.server.step(None))
        how, value = struct.unpack_from("<ii", told := self.status.recv(4096))
        self.assertEqual((how, value, told[8:]), (tracer_server.EXITED, 5, NOTE))

    def test_words_of_a_child_without_a_job_say_that_none_can_start(self):
        self.let_it_die()
        with self.assertRaisesRegex(SystemExit, "cannot start: reading a secret"):
            self.server.step(None)

    def test_nobody_to_serve_is_the_end(self):
        control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.addCleanup(theirs.close)
        control.close()
        self.assertIs(tracer_server.Server(theirs, dies_at_its_request).step(None), False)


if __name__ == "__main__":
    unittest.main()
