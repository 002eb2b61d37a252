"""The backend of the stand-in compiler: makes a toy NEFF (magic, length, JSON, the simulator's program), or fails as it
is told by the kernel's directives or by the file `control/compiler` beside the interpreter.

exit STATUS WORDS: says WORDS on stderr and exits; hang: starts a grandchild in a session of its own and waits; empty:
writes no byte."""

import json
import os
import struct
import subprocess
import sys
import time


def obey(words):
    verb, _, rest = words.partition(" ")
    if verb == "exit":
        status, _, text = rest.partition(" ")
        print(
            f"2025-07-05T12:00:01Z 4711 ERROR: {text} in /opt/vendor/backend.cc:88 (pid 4711, at 0x7f00aa)",
            file=sys.stderr,
        )
        sys.exit(int(status))
    if verb == "hang":
        # The argument is how a test finds it.
        subprocess.Popen(["/usr/bin/setsid", "sleep", rest or "300"])
        time.sleep(300)


def main():
    folder, output = sys.argv[4], sys.argv[sys.argv.index("--output") + 1]
    with open(os.path.join(folder, "about.json")) as file:
        about = json.load(file)
    orders = about.pop("cc")
    control = os.path.join(os.environ["FAKE_NEURON"], "control", "compiler")
    if os.path.exists(control):
        with open(control) as file:
            orders += file.read().splitlines()
    for words in orders:
        obey(words)
    about["flags"] = os.environ.get("NEURON_CC_FLAGS")
    about["environment"] = sorted(os.environ)
    with open(os.path.join(folder, "program"), "rb") as file:
        program = file.read()
    head = json.dumps(about).encode()
    with open(output, "wb") as file:
        if "empty" not in orders:
            file.write(b"FAKENEFF" + struct.pack("<I", len(head)) + head + program)


if __name__ == "__main__":
    main()
