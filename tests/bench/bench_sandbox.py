"""What the walls cost a child, in processor time, over the bare fork of the same server: the tracer's interpreter with
the package imported, children of both kinds by turns."""
import os
import statistics
import sys

from harness import BUILD, figure

CHILDREN = 300
ADDRESS_SPACE_BYTES, CPU_SECONDS = 4 << 30, 60


def child_seconds(act):
    """Processor time of one child, its end and what of its fork is counted to it included."""
    pid = os.fork()
    if pid == 0:
        try:
            act()
        finally:
            os._exit(0)
    _, status, usage = os.wait4(pid, 0)
    assert status == 0, status
    return usage.ru_utime + usage.ru_stime


def measure():
    """In a process of its own: to prepare the walls is to leave the machine's namespaces."""
    sys.path.insert(0, str(BUILD / "libexec"))
    from child_sandbox import Sandbox, readable_folders
    from neuronxcc.nki import _harness

    _harness.touch()
    sandbox = Sandbox(str(BUILD / "libexec/libnkigrid_sandbox.so"), True, readable_folders(str(BUILD / "nkisim")))
    walls = lambda: sandbox.enter([], ADDRESS_SPACE_BYTES, CPU_SECONDS)  # noqa: E731
    bare, walled = [], []
    for _ in range(CHILDREN):
        bare.append(child_seconds(lambda: None))
        walled.append(child_seconds(walls))
    return statistics.median(bare), statistics.median(walled)


def bench():
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.write(theirs, repr(measure()).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    words = os.read(ours, 4096).decode()
    os.waitpid(pid, 0)
    bare, walled = map(float, words.strip("()").split(","))
    figure(
        "walls of a child, processor time over the bare fork",
        f"{(walled - bare) * 1e3:.2f} ms ({walled * 1e3:.2f} and {bare * 1e3:.2f})",
        "at most 3 ms",
    )
