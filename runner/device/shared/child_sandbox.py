"""The walls of a Python server's children: libnkigrid_sandbox.so by ctypes (docs/decisions/sandbox.md)."""

import contextlib
import ctypes
import os
import random
import select
import signal
import time

PART_BYTES = 4096  # of one read of a child's words
IDLE_SECONDS = 10  # that a child may sleep in one stretch: it would use up no processor time


class Gone(Exception):
    """Whoever waited for a child's answer has left."""


class Recalled(Exception):
    """Whoever waited for a child's answer says something: it is not wanted now."""


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
        its other end closes, or says something, which is left to be read @returns the words @raises ChildEnded, also
        for one that sleeps; Gone, Recalled"""
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


def _awake_seconds(pid, fields):
    """Time that a child has had a processor or waited for one. @source kernel: scheduler/sched-stats, schedstat; where
    it is not there, proc(5), stat: utime and stime"""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/schedstat", encoding="utf-8") as file:
        ran, waited, times = (int(word) for word in file.read().split())
        if times:
            return (ran + waited) / 1e9
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _facts_of(pid):
    """@returns (its state as proc(5) has it, its awake seconds); nothing where /proc hides processes (hidepid)"""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return None
    return fields[0], _awake_seconds(pid, fields)


class _Sleep:
    """How long a child has slept, by what it is seen to do now and then. Knows no clock and no process."""

    ASLEEP = "StT"  # waits for a time or an event, or was stopped; not for a disk (D) or a processor (R)

    def __init__(self, now):
        self.looked, self.awake, self.stretch, self.whole = now, 0.0, 0.0, 0.0

    def pause(self):
        """Seconds to the next look: a child that foretold it could be awake just then."""
        return IDLE_SECONDS * random.uniform(0.05, 0.15)

    def look(self, now, state, awake):
        """@param now [s] @param awake [s] that it had a processor or waited for one, in all
        @raises ChildEnded for one that has slept for too long"""
        passed, worked = now - self.looked, awake - self.awake
        self.looked, self.awake = now, awake
        if worked >= 0.1 * passed:
            self.stretch = 0.0
        if state in self.ASLEEP:
            # A look that comes late saw nothing of what lies between: we were stopped ourselves, or had no processor.
            slept = min(max(0.0, passed - worked), 0.2 * IDLE_SECONDS)
            self.stretch += slept
            self.whole += slept
        for slept, most, words in ((self.stretch, 1, ""), (self.whole, 6, " in all")):
            if slept > most * IDLE_SECONDS:
                limit = most * IDLE_SECONDS
                raise ChildEnded(f"its code slept for {limit} s{words}; no reference waits for anything")


def _words_of(pipe, most_bytes, owner, pid):
    """What comes out of a pipe until its end. @raises Gone, Recalled, ChildEnded"""
    words = b""
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    if owner is not None:
        poll.register(owner, select.POLLIN | select.POLLRDHUP)
    sleep = _Sleep(time.monotonic())
    while True:
        ready = dict(poll.poll(sleep.pause() * 1000))
        if owner in ready:
            raise Recalled if ready[owner] == select.POLLIN else Gone
        if not ready:
            if facts := _facts_of(pid):
                sleep.look(time.monotonic(), *facts)
            continue
        part = os.read(pipe, PART_BYTES)
        if not part:
            return words
        words += part[: most_bytes - len(words)]
