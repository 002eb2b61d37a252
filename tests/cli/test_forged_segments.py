"""Segments that somebody else has made: all that they show lies in them, and no more memory is used than they hold."""
import os
import pathlib
import unittest
import zlib

import h5py
import harness
import numpy
from harness import Case, nkigrid

GRID = harness.SMALL.read_text().replace('"L1/00[1-4]_*", "L2/00[1-2]_*"', '"L1/001_*"')


class ForgedSegments(Case):
    def setUp(self):
        super().setUp()
        self.run_folder = self.folder / "run"
        made = nkigrid("run", self.write("grid.yaml", GRID), "-o", self.run_folder, "-q")
        self.assertEqual(made.returncode, 0, made.stderr)
        (self.run_folder / "log_key").unlink()
        self.segment = next((self.run_folder / "log").glob("*.h5"))
        sealed = self.segment.read_bytes()
        self.segment.write_bytes(sealed[sealed.index(b"\x89HDF") :])

    def test_a_segment_holds_what_it_shows(self):
        """HDF5 has many ways to keep a dataset's bytes in another file; none of them is followed."""
        canary = b"canary-5521-outside "
        with h5py.File(self.segment) as file:
            size = len(file["text"])
        outside, other, pipe = self.folder / "outside", self.folder / "other.h5", self.folder / "pipe"
        outside.write_bytes((canary * (size // len(canary) + 1))[:size])
        with h5py.File(other, "w") as file:
            file["text"] = numpy.frombuffer(outside.read_bytes(), dtype=numpy.uint8)
            file.create_group("turns")
        os.mkfifo(pipe)

        def external_storage(file):
            space, made = h5py.h5s.create_simple((size,)), h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            made.set_external(bytes(outside), 0, size)
            h5py.h5d.create(file.id, b"text", h5py.h5t.NATIVE_UINT8, space, made)

        def virtual(file):
            layout = h5py.VirtualLayout(shape=(size,), dtype="u1")
            layout[:] = h5py.VirtualSource(other, "text", shape=(size,))
            file.create_virtual_dataset("text", layout)

        def linked(name, target):
            def make(file):
                file[name] = target

            return make

        def one_chunk(file):
            file.create_dataset("text", (size,), "u1", chunks=(100_000_000,), maxshape=(None,), compression="gzip")

        for name, make in (
            ("text", external_storage),
            ("text", virtual),
            ("text", linked("text", h5py.ExternalLink(other, "/text"))),
            ("text", linked("text", h5py.ExternalLink(pipe, "/text"))),
            ("text", linked("text", h5py.SoftLink("/turns/turn"))),
            ("turns", linked("turns", h5py.ExternalLink(other, "/turns"))),
            ("turns", linked("turns", h5py.ExternalLink("/dev/zero", "/turns"))),
            ("text", one_chunk),
        ):
            for done in self.reads_of_segment_with(name, make):
                self.assertNotIn("canary-5521", done.stdout + done.stderr)

    def test_a_chunk_unpacks_to_its_size_and_is_there(self):
        """HDF5 takes what unpacks to more, reads on behind what is shorter, and fills in what nobody wrote."""
        with h5py.File(self.segment) as file:
            size = len(file["text"])
        word, long_word = h5py.h5t.NATIVE_UINT64, h5py.h5t.C_S1.copy()
        long_word.set_size(15_000)
        byte = h5py.h5t.NATIVE_UINT8
        for words, name, kind, rows, chunk, filters_off in (
            ("has 1 bytes in its chunk", "text", byte, size, b"x", 0b11),
            ("does not unpack to 262144 bytes", "text", byte, size, zlib.compress(bytes(1000)), 0),
            ("does not unpack to 262144 bytes", "text", byte, size, zlib.compress(bytes(500_000)), 0),
            ("which unpacks to 262144", "text", byte, size, bytes(300_000), 0),
            ("lacks its chunk", "text", byte, 1 << 40, b"", 0),
            ("claims 60000000 rows", "carried", word, 60_000_000, b"", 0),
            ("chunks of 262144 values of 15000 bytes", "episodes/node", long_word, 1, zlib.compress(bytes(99)), 0),
        ):
            with self.subTest(words):

                def make(file):
                    space = h5py.h5s.create_simple((rows,), (h5py.h5s.UNLIMITED,))
                    made = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
                    made.set_chunk((262_144,))
                    made.set_shuffle()
                    made.set_deflate(9)
                    dataset = h5py.h5d.create(file.id, name.encode(), kind, space, made)
                    if chunk:
                        dataset.write_direct_chunk((0,), chunk, filters_off)

                for done in self.reads_of_segment_with(name, make):
                    self.assertIn(words, done.stdout + done.stderr)

    def reads_of_segment_with(self, name, make):
        """What verbs say that read all of it, each with exit code 3."""
        kept = self.segment.read_bytes()
        with h5py.File(self.segment, "r+") as file:
            del file[name]
            make(file)
        verbs = ("log", "check"), ("export", "--turns", "--texts")
        for verb in verbs if not name.startswith("episodes") else (*verbs[:1], ("export",)):
            done = nkigrid(*verb, self.run_folder, timeout=60)
            self.check_refused(done, 3)
            yield done
        self.segment.write_bytes(kept)


if __name__ == "__main__":
    unittest.main()
