"""The tracer server: compiles kernels in single-use children that hold nothing worth stealing.

Started by nkigrid with the control socket as descriptor 3; docs/formats/child_protocol.md tells what is said on it. The
server imports the tracer once and forks; a child enters the sandbox before it sees a byte of kernel source, takes one
request, answers it and is gone. The server never holds a source, an input or a seed.

usage: tracer_server.py NKISIM_FOLDER SANDBOX_LIBRARY strict|relaxed POOL CPU_SECONDS
"""

import array
import gc
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


def child_main(channel, note, sandbox, readable, cpu_seconds, compile_source, prepare):
    """Everything a child does: sandbox, one request, one reply."""
    try:
        sandbox.enter([channel.fileno()], ADDRESS_SPACE_BYTES, cpu_seconds)
    except OSError as error:
        leave_note(note, str(error))
        os._exit(3)
    sys.addaudithook(make_audit_hook(readable, note, sandbox.deny))
    if not select.select([channel], [], [], 0)[0]:
        prepare()  # nobody waits for this child yet: its pages become its own now, not while somebody does
    _, ancillary, _, _ = channel.recvmsg(16, socket.CMSG_SPACE(4))
    if not ancillary:
        os._exit(0)
    work = array.array("i", ancillary[0][2])[0]
    write_frame(work, *answer(compile_source, *read_frame(work)))
    os._exit(0)


# ----------------------------------------------------------------------------------------------------------- the server


class Child:
    def __init__(self, pid, channel, note):
        self.pid, self.channel, self.note = pid, channel, note
        self.pidfd = os.pidfd_open(pid)
        self.status = None  # the socket of its job
        self.cancelled = False

    def reap_and_report(self):
        _, wait_status = os.waitpid(self.pid, 0)
        if self.status is not None:
            signaled = os.WIFSIGNALED(wait_status)
            how = KILLED if self.cancelled else SIGNALED if signaled else EXITED
            value = os.WTERMSIG(wait_status) if signaled else os.WEXITSTATUS(wait_status)
            note = bytes(self.note[:NOTE_BYTES]).split(b"\0")[0]
            try:
                self.status.send(struct.pack("<ii", how, value) + note, socket.MSG_NOSIGNAL)
            except OSError:
                pass  # nobody asks any more
            self.status.close()
        elif self.note[:1] != b"\0":
            raise SystemExit(
                "a tracer child cannot start: " + self.note[:NOTE_BYTES].split(b"\0")[0].decode(errors="replace")
            )
        os.close(self.pidfd)
        self.channel.close()
        self.note.close()


class Server:
    def __init__(self, control, pool, make_child_main):
        self.control, self.pool, self.make_child_main = control, pool, make_child_main
        self.idle, self.active = [], []

    def fork(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        note = mmap.mmap(-1, mmap.PAGESIZE)
        pid = os.fork()
        if pid == 0:
            try:
                self.make_child_main(theirs, note)
            except BaseException:  # also SystemExit and MemoryError: nothing of the server may run on in a child
                os._exit(1)
            os._exit(1)
        theirs.close()
        note.madvise(mmap.MADV_DONTFORK)  # later children must not see it
        return Child(pid, ours, note)

    def hand_out(self, status, work):
        child = self.idle.pop(0) if self.idle else self.fork()
        child.status = status
        self.active.append(child)
        try:
            child.channel.sendmsg(
                [b"W"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", work))], socket.MSG_NOSIGNAL
            )
        except OSError:
            pass  # it died while idle: its end is about to be reported
        os.close(work)

    def take_request(self):
        """@returns False when nkigrid is gone"""
        data, ancillary, _, _ = self.control.recvmsg(4096, socket.CMSG_SPACE(8 * 4), socket.MSG_CMSG_CLOEXEC)
        if not data:
            return False
        fds = array.array("i")
        for _, _, part in ancillary:
            fds.frombytes(part[: len(part) - len(part) % fds.itemsize])
        if len(fds) == 2:
            self.hand_out(socket.socket(fileno=fds[0]), fds[1])
        return True

    def step(self, block):
        """Handles what is ready. @returns False when it is over; None when nothing was ready"""
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        by_pidfd = {child.pidfd: child for child in self.idle + self.active}
        by_status = {child.status.fileno(): child for child in self.active if not child.cancelled}
        for fd in (*by_pidfd, *by_status):
            poll.register(fd, select.POLLIN)
        ready = poll.poll(None if block else 0)
        for fd, _ in ready:
            if fd in by_pidfd:
                child = by_pidfd[fd]
                (self.active if child in self.active else self.idle).remove(child)
                child.reap_and_report()
        for fd, _ in ready:
            child = by_status.get(fd)
            if child in self.active:
                child.cancelled = True
                os.kill(child.pid, signal.SIGKILL)
        if any(fd == self.control.fileno() for fd, _ in ready) and not self.take_request():
            return False
        return True if ready else None

    def run(self):
        while True:
            # New children are made when nobody waits: a fork beside a child at work makes each of that one's first
            # writes to a page wait. While all work, one is made ahead.
            more = len(self.idle) < self.pool and not (self.idle and self.active)
            result = self.step(block=not more)
            if result is False:
                break
            if result is None and more:
                self.idle.append(self.fork())
        for child in self.idle + self.active:
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)


def main():
    nkisim, library, level, pool, cpu_seconds = sys.argv[1:6]
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

    def run_child(channel, note):
        child_main(channel, note, sandbox, readable, int(cpu_seconds), _harness.compile_source, _harness.touch)

    server = Server(control, int(pool), run_child)
    control.send(_harness.version().encode() if hasattr(_harness, "version") else b"unknown")
    server.run()


if __name__ == "__main__":
    main()
