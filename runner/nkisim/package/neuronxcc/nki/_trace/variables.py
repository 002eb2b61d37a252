"""Names of variables, for the words of a run: what the statement that made a buffer assigns, what a loop counts in."""

import linecache
import re

from .nodes import Buffer

_ASSIGNED = re.compile(r"\s*([A-Za-z_]\w{0,63})\s*(?::[^=]*)?=(?!=)")
_COUNTED = re.compile(r"\s*for\s+([A-Za-z_]\w{0,63})\s+in\b")


def source_lines(trace):
    """Lines of the traced file. Lines of several files look alike: none is given then."""
    return linecache.getlines(next(iter(trace.files))) if len(trace.files) == 1 else []


def loop_name(trace, line):
    """What the `for` statement at this line counts with, or ""."""
    lines = source_lines(trace)
    found = _COUNTED.match(lines[line - 1]) if 0 < line <= len(lines) else None
    return found.group(1) if found else ""


class Names:
    """@param buffers: in the order in which they were made"""

    def __init__(self, trace, buffers):
        self._lines = source_lines(trace)
        self._of_buffer = {}
        for b, following in zip(buffers, [*buffers[1:], None]):
            value = following is None or following.line != b.line  # what a statement makes before it is a temporary
            if value and not b.name and b.kind not in (Buffer.PARAM, Buffer.CONSTANT):
                self._of_buffer[b] = self._match(_ASSIGNED, b.line)

    def _match(self, pattern, line):
        found = pattern.match(self._lines[line - 1]) if 0 < line <= len(self._lines) else None
        return found.group(1).encode() if found else b""

    def of_buffer(self, buffer):
        return buffer.name.encode() or self._of_buffer.get(buffer, b"")

    def of_loop(self, line):
        return self._match(_COUNTED, line)
