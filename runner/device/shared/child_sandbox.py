"""The walls of a Python server's children: libnkigrid_sandbox.so by ctypes (docs/decisions/sandbox.md)."""

import contextlib
import ctypes
import os
import select
import signal
import time

PART_BYTES = 4096  # of one read of a child's words
IDLE_SECONDS = 120  # that a child may sleep in all: it would use up no processor time


class Gone(Exception):
    """Whoever waited for a child's answer has left."""


class ChildEnded(Exception):
    """A child ended without a word: why, in words."""


def readable_folders(*packages):
    """What a child may read: the interpreter's library, Debian's packages and the folders given."""
    folders = [
        os.path.dirname(os.__file__),
        "/usr/lib/python3",
        "/usr/lib/" + os.uname().machine + "-linux-gnu",
        *packages,
    ]
    return sorted({os.path.realpath(folder) for folder in folders})


class Sandbox:
    """Made once in a server, while it has one thread: the server leaves the machine's namespaces, its children will
    not know them."""

    def __init__(self, library, strict, readable):
        """@raises SystemExit in words where `strict` cannot be had"""
        self._lib = ctypes.CDLL(library)
        self._lib.nkigrid_sandbox_prepare.restype = ctypes.c_void_p
        self._error = ctypes.create_string_buffer(1024)
        folders = (ctypes.c_char_p * len(readable))(*[folder.encode() for folder in readable])
        self._handle = self._lib.nkigrid_sandbox_prepare(folders, len(readable), int(strict), self._error, 1024)
        if not self._handle:
            raise SystemExit(self._error.value.decode(errors="replace"))
        self.deny = self._lib.nkigrid_sandbox_deny

    def enter(self, keep, address_space_bytes, cpu_seconds):
        """In a child, before it touches anything hostile. @param keep the descriptors that stay open @raises OSError"""
        kept = (ctypes.c_int * len(keep))(*keep)
        failed = self._lib.nkigrid_sandbox_enter(
            ctypes.c_void_p(self._handle),
            kept,
            len(keep),
            ctypes.c_uint64(address_space_bytes),
            ctypes.c_uint64(cpu_seconds),
            self._error,
            1024,
        )
        if failed:
            raise OSError(self._error.value.decode(errors="replace"))

    def run(self, act, address_space_bytes, cpu_seconds, most_bytes, owner=None):
        """Runs `act` in a single-use child behind the walls. @param act gives the child's words (bytes), the only thing
        that comes back @param most_bytes the rest of its words is dropped @param owner a socket: the child ends when
        its other end closes @returns the words @raises ChildEnded, also for one that sleeps; Gone"""
        ours, theirs = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                self.enter([theirs], address_space_bytes, cpu_seconds)
                os.write(theirs, act()[:most_bytes])
            finally:
                os._exit(0)
        os.close(theirs)
        try:
            words = _words_of(ours, most_bytes, owner, pid)
        finally:
            os.close(ours)
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)  # what goes on after its word is not waited for
            _, status, used = os.wait4(pid, 0)
        if words:
            return words
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGSYS:
            raise ChildEnded(
                "its code was stopped at an act that no reference may do (files, programs, network, other processes)"
            )
        if os.WIFSIGNALED(status) and used.ru_utime + used.ru_stime > 0.5 * cpu_seconds > 0:  # counted in ticks
            raise ChildEnded(f"needs more than {cpu_seconds} s of a processor")
        raise ChildEnded("its code ended without a result")


def _awake_seconds(pid):
    """Time that a child has had a processor or waited for one. @source kernel: scheduler/sched-stats, schedstat"""
    with open(f"/proc/{pid}/schedstat", encoding="utf-8") as file:
        ran, waited = file.read().split()[:2]
    return (int(ran) + int(waited)) / 1e9


class _Sleep:
    """How long a child has slept. What we did not see (we were stopped ourselves) does not count."""

    def __init__(self, pid):
        self.pid, self.slice = pid, IDLE_SECONDS / 10
        self.looked, self.awake, self.asleep = time.monotonic(), 0.0, 0.0

    def look(self):
        """@raises ChildEnded for one that has slept for too long"""
        now, awake = time.monotonic(), _awake_seconds(self.pid)
        if now - self.looked < self.slice + 10:
            self.asleep += max(0.0, now - self.looked - (awake - self.awake))
        self.looked, self.awake = now, awake
        if self.asleep > IDLE_SECONDS:
            raise ChildEnded(f"its code slept for {IDLE_SECONDS} s; no reference waits for anything")


def _words_of(pipe, most_bytes, owner, pid):
    """What comes out of a pipe until its end. @raises Gone, ChildEnded"""
    words = b""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if owner is not None:
        poll.register(owner, select.POLLRDHUP)
    sleep = _Sleep(pid)
    while True:
        ready = dict(poll.poll(sleep.slice * 1000))
        sleep.look()
        if owner in ready:
            raise Gone
        if not ready:
            continue
        part = os.read(pipe, PART_BYTES)
        if not part:
            return words
        words += part[: most_bytes - len(words)]
