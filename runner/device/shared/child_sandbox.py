"""The walls of a Python server's children: libnkigrid_sandbox.so by ctypes (docs/decisions/sandbox.md)."""

import ctypes
import os


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
