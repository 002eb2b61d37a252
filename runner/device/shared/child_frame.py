"""Frames on a child's stream (docs/formats/child_protocol.md). The standard library alone: any Python may load this
file by its path."""

import json
import os
import struct


def read_exactly(fd, size):
    """@raises EOFError where the other end closes first"""
    parts = []
    while size:
        part = os.read(fd, size)
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def read_frame(fd):
    """@returns (head as JSON holds it, body)"""
    head_bytes, body_bytes = struct.unpack("<II", read_exactly(fd, 8))
    return json.loads(read_exactly(fd, head_bytes)), read_exactly(fd, body_bytes)


def write_frame(fd, head, body=b""):
    head = json.dumps(head).encode()
    for piece in (struct.pack("<II", len(head), len(body)) + head, body):
        view = memoryview(piece)
        while view:
            view = view[os.write(fd, view) :]
