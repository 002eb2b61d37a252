"""The tracer server: compiles kernels in single-use children that hold nothing worth stealing.

Started by nkigrid with the control socket as descriptor 3; docs/formats/child_protocol.md tells what is said on it. The
server imports the tracer once and forks; a child enters the sandbox before it sees a byte of kernel source, takes one
request, answers it and is gone. The server never holds a source, an input or a seed.

usage: tracer_server.py NKISIM_FOLDER SANDBOX_LIBRARY strict|relaxed CPU_SECONDS
"""

import array
import collections
import functools
import gc
import json
import mmap
import os
import re
import select
import signal
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # where it is installed or linked
from child_frame import read_frame, write_frame  # noqa: E402
from child_sandbox import Sandbox, readable_folders  # noqa: E402

CONTROL = 3
NOTE_BYTES = 512
ADDRESS_SPACE_BYTES = 3 << 29
MOST_MESSAGE_CHARACTERS = 60_000
EXITED, SIGNALED, KILLED = 0, 1, 2
REHEARSAL = b"""
from neuronxcc import nki
import neuronxcc.nki.language as nl


@nki.jit
def kernel(x):
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    nl.store(out, value=nl.multiply(nl.load(x), 2.0))
    return out
"""
TAKEN = b"T"
# What follows a compile is a check of what it made: while there is a child to take, the next is made after that.
QUIET_MS = 10


# --------------------------------------------------------------------------------------------- what a kernel may not do

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
EVENTS = {
    "subprocess.Popen": "starting a program",
    "os.exec": "starting a program",
    "os.system": "starting a program",
    "os.posix_spawn": "starting a program",
    "os.spawn": "starting a program",
    "os.remove": "removing a file",
    "os.rename": "renaming a file",
    "os.mkdir": "making a folder",
    "os.rmdir": "removing a folder",
    "os.link": "making a link",
    "os.symlink": "making a link",
    "os.truncate": "writing a file",
    "os.chmod": "changing a file",
    "os.chown": "changing a file",
    "os.utime": "changing a file",
    "os.setxattr": "changing a file",
}


def leave_note(note, what):
    """Leaves words in the page that the server reads when the child has ended."""
    # A model sees these words: no process number in them.
    text = re.sub(r"/proc/\d+", "/proc/PID", what).encode(errors="replace")[: NOTE_BYTES - 1]
    note[: len(text) + 1] = text + b"\0"


def is_name_of_no_file(path):
    """True for what code is compiled as: the submission, `<string>` of an exec.

    No such file exists, but Python itself looks for it when a SyntaxError wants its line.
    """
    return path == "kernel.py" or (isinstance(path, str) and path.startswith("<") and path.endswith(">"))


def make_audit_hook(readable, note, deny):
    """Names denied acts.

    Refusing them is the work of the filter and the file rules; a kernel that gets around this hook gets around the name
    only. Reading outside is refused without a signal, so here is where it becomes evidence.
    """
    inside = tuple(folder.rstrip("/") + "/" for folder in readable)
    own = os.getpid()
    realpath, fsdecode = os.path.realpath, os.fsdecode

    def tell(what):
        leave_note(note, what)
        deny()

    def is_outside(path):
        return not (realpath(fsdecode(path)) + "/").startswith(inside)

    def hook(event, arguments):
        if event == "open":
            path, mode, flags = arguments
            if not isinstance(path, (str, bytes)):
                return
            if (isinstance(flags, int) and flags & WRITING) or (isinstance(mode, str) and set(mode) & set("wax+")):
                tell(f"opening {path!r} for writing")
            elif is_outside(path) and not is_name_of_no_file(path):
                tell(f"opening {path!r} for reading")
        elif event in ("os.listdir", "os.scandir"):
            path = arguments[0]
            if isinstance(path, (str, bytes)) and is_outside(path):
                tell(f"listing {path!r}")
        elif event.startswith("socket."):
            tell("using a socket")
        elif event in ("os.kill", "os.killpg"):
            if event == "os.killpg" or arguments[0] != own:
                tell("sending a signal to another process")
        elif event in EVENTS:
            tell(EVENTS[event])

    return hook


# -------------------------------------------------------------------------------------------------------------- a child


def answer(compile_source, request, source):
    """Runs one request. @returns (head, body) of the reply"""
    result = compile_source(
        source.decode(),
        request["entry"],
        [(p["name"], tuple(p["shape"]), p["dtype"]) for p in request["params"]],
        [(tuple(o["shape"]), o["dtype"]) for o in request["outputs"]],
        request["options"],
    )
    program = result.pop("program", b"") if result.get("ok") else b""
    reply = {
        "ok": bool(result.get("ok")),
        "entry": str(result.get("entry") or ""),
        "code": str(result.get("code") or ""),
        "stage": str(result.get("stage") or ""),
        "line": int(result.get("line") or 0),
        "message": str(result.get("message") or "")[:MOST_MESSAGE_CHARACTERS],
        "warnings": [str(w)[:1000] for w in list(result.get("warnings") or [])[:50]],
    }
    return reply, bytes(program)


def rehearse(compile_source, touch):
    """What a request takes, but for its stream, so that the pages that it writes are the child's own by then."""
    touch()
    request = {"entry": None, "params": [{"name": "x", "shape": [128, 512], "dtype": "float32"}], "outputs": []}
    request = json.loads(json.dumps({**request, "options": {"sdk": "2.24", "target": "trn1", "strict": ""}}))
    json.dumps(answer(compile_source, request, REHEARSAL)[0])


def child_main(work, note, sandbox, readable, cpu_seconds, compile_source, prepare):
    """Everything a child does: sandbox, one request, one reply. @param work the stream to nkigrid, a descriptor"""
    work = os.dup2(work, CONTROL, inheritable=False)  # in place of the server's own
    try:
        sandbox.enter([work], ADDRESS_SPACE_BYTES, cpu_seconds)
    except OSError as error:
        leave_note(note, str(error))
        os._exit(3)
    sys.addaudithook(make_audit_hook(readable, note, sandbox.deny))
    if not select.select([work], [], [], 0)[0]:
        prepare()  # nobody waits for this child yet: its pages become its own now, not while somebody does
    try:
        request = read_frame(work)
    except EOFError:
        os._exit(0)  # it was not needed
    write_frame(work, *answer(compile_source, *request))
    os.read(work, 1)  # to end takes a processor for a while: not before the one who waits has its answer and hangs up
    os._exit(0)


# ----------------------------------------------------------------------------------------------------------- the server


class Child:
    def __init__(self, pid, status, note):
        self.pid, self.status, self.note = pid, status, note  # status: the socket that hears of its end
        self.pidfd = os.pidfd_open(pid)
        self.cancelled = self.ended = False

    def reap_and_report(self, had_a_job):
        _, wait_status = os.waitpid(self.pid, 0)
        note = bytes(self.note[:NOTE_BYTES]).split(b"\0")[0]
        if note and not had_a_job:
            raise SystemExit("a tracer child cannot start: " + note.decode(errors="replace"))
        signaled = os.WIFSIGNALED(wait_status)
        how = KILLED if self.cancelled else SIGNALED if signaled else EXITED
        value = os.WTERMSIG(wait_status) if signaled else os.WEXITSTATUS(wait_status)
        try:
            self.status.send(struct.pack("<ii", how, value) + note, socket.MSG_NOSIGNAL)
        except OSError:
            pass  # nobody asks any more
        self.status.close()
        os.close(self.pidfd)
        self.note.close()
        self.ended = True


class Server:
    """Orders become children, the oldest first; nkigrid takes them in that order and tells of it when it has."""

    def __init__(self, control, make_child_main):
        self.control, self.make_child_main = control, make_child_main
        self.orders = collections.deque()  # (status, work) of children to be made
        self.idle, self.active = collections.deque(), []

    def fork(self):
        status, work = self.orders.popleft()
        note = mmap.mmap(-1, mmap.PAGESIZE)
        pid = os.fork()
        if pid == 0:
            try:
                self.make_child_main(work, note)
            except BaseException:  # also SystemExit and MemoryError: nothing of the server may run on in a child
                os._exit(1)
            os._exit(1)
        os.close(work)
        note.madvise(mmap.MADV_DONTFORK)  # later children must not see it
        return Child(pid, status, note)

    def give_the_oldest(self):
        child = self.idle.popleft() if self.idle else self.fork()
        if not child.ended:  # one that died waiting is not used, and was told of
            self.active.append(child)

    def take_requests(self):
        """All that nkigrid has sent. @returns False when it is gone"""
        flags = socket.MSG_CMSG_CLOEXEC | socket.MSG_DONTWAIT
        while True:
            try:
                data, ancillary, _, _ = self.control.recvmsg(4096, socket.CMSG_SPACE(8 * 4), flags)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.take(data, ancillary)

    def take(self, data, ancillary):
        fds = array.array("i")
        for _, _, part in ancillary:
            fds.frombytes(part[: len(part) - len(part) % fds.itemsize])
        if len(fds) == 2:
            self.orders.append((socket.socket(fileno=fds[0]), fds[1]))
        if data == TAKEN and (self.idle or self.orders):
            self.give_the_oldest()

    def step(self, most_ms):
        """Handles what is ready, or becomes it within the time (None: any). @returns False when it is over; None when
        nothing was ready"""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        living = [child for child in (*self.idle, *self.active) if not child.ended]
        by_pidfd = {child.pidfd: child for child in living}
        by_status = {child.status.fileno(): child for child in living if not child.cancelled}
        for fd in (*by_pidfd, *by_status):
            poll.register(fd, select.POLLIN)
        ready = poll.poll(most_ms)
        # Of a child that took a job nkigrid has told before: its end is judged by what is known then.
        if ready and not self.take_requests():
            return False
        for fd, _ in ready:
            if fd in by_pidfd:
                child = by_pidfd[fd]
                had_a_job = child in self.active
                if had_a_job:
                    self.active.remove(child)
                child.reap_and_report(had_a_job)
        for fd, _ in ready:
            child = by_status.get(fd)
            if child is not None and not child.ended:
                child.cancelled = True
                os.kill(child.pid, signal.SIGKILL)
        return True if ready else None

    def run(self):
        while True:
            # New children are made when nobody waits: a fork beside a child at work makes each of that one's first
            # writes to a page wait. While all work, one is made ahead.
            more = self.orders and not (self.idle and self.active)
            result = self.step((QUIET_MS if self.idle else 0) if more else None)
            if result is False:
                break
            if result is None and more:
                self.idle.append(self.fork())
        for child in (*self.idle, *self.active):
            if not child.ended:
                os.kill(child.pid, signal.SIGKILL)
                os.waitpid(child.pid, 0)


def main():
    nkisim, library, level, cpu_seconds = sys.argv[1:5]
    control = socket.socket(fileno=CONTROL)
    # Only its own folders: neither the working directory nor the folder of this file.
    sys.path[:] = [nkisim] + [p for p in sys.path if p.startswith("/usr/lib/python3")]
    os.chdir("/")
    import neuronxcc
    from neuronxcc.nki import _harness

    _harness.warm_up()
    readable = readable_folders(nkisim, os.path.dirname(neuronxcc.__file__))
    sandbox = Sandbox(library, level == "strict", readable)
    gc.collect()
    gc.freeze()
    gc.disable()

    def run_child(work, note):
        prepare = functools.partial(rehearse, _harness.compile_source, _harness.touch)
        child_main(work, note, sandbox, readable, int(cpu_seconds), _harness.compile_source, prepare)

    server = Server(control, run_child)
    control.send(_harness.version().encode() if hasattr(_harness, "version") else b"unknown")
    server.run()


if __name__ == "__main__":
    main()
