"""A second reader of docs/formats/journal.md and of the rule by which segments cover a journal
(docs/formats/segment.md), written from these pages alone, for journals whose writer was killed: what the end of the
file cuts is dropped."""
import collections
import glob
import os
import struct
import zlib

from read_journal import BLOCK, HEAD, KINDS, fields

Record = collections.namedtuple("Record", "sequence kind fields")


def fragments(data):
    at = 16
    while at < len(data):
        room = BLOCK - at % BLOCK
        if room <= HEAD:
            at += room
            continue
        if len(data) - at < HEAD:
            return
        head_crc, data_crc, sequence, length, kind, _, index = struct.unpack_from("<IIQIBBH", data, at)
        if not any(data[at:]):
            return  # a file that was extended before its data came
        assert head_crc == zlib.crc32(data[at + 4 : at + HEAD]) and 1 <= length <= room - HEAD, f"damage at {at}"
        part = data[at + HEAD : at + HEAD + length]
        if len(part) < length:
            return
        assert data_crc == zlib.crc32(part), f"damage at {at}"
        yield sequence, kind, index, part
        at += HEAD + length


def journal_records(path):
    with open(path, "rb") as file:
        data = file.read()
    major, minor, crc = struct.unpack_from("<HHI", data, 8)
    assert data[:8] == b"NKIGJRNL" and (major, crc) == (1, zlib.crc32(data[:12])) and minor in (1, 2), path
    parts, expected = [], 0
    for sequence, kind, index, part in fragments(data):
        assert sequence == expected and index == len(parts), path
        parts.append(part)
        if kind in (1, 4):
            payload = b"".join(parts)
            parts, expected = [], expected + 1
            yield Record(sequence, KINDS[payload[0]], dict(fields(payload)))


def segment_parts(folder, stem):
    number = 1
    while os.path.exists(path := os.path.join(folder, stem + (".h5" if number == 1 else f".part{number}.h5"))):
        yield path
        number += 1


def turns_of_log(folder):
    """Counts every (R or T, episode, attempt, turn) of a log folder, in segments and journals, each record once. The
    episode is its replicate."""
    import h5py

    found = collections.Counter()
    stems = {
        os.path.basename(p).rsplit(".", 1)[0].split(".part")[0]
        for p in glob.glob(folder + "/*.journal") + glob.glob(folder + "/*.h5")
    }
    for stem in sorted(stems):
        first = last = 0
        carried = set()
        for path in segment_parts(folder, stem):
            with h5py.File(path, "r") as file:
                turns = file["turns"]
                episodes = [int(e.rsplit(b"#", 1)[1]) for e in turns["episode"][:]]
                for letter, column in (("R", "reply_seq"), ("T", "turn_seq")):
                    for episode, attempt, turn, seq in zip(
                        episodes, turns["attempt"][:], turns["turn"][:], turns[column][:]
                    ):
                        if seq:
                            found[letter, episode, int(attempt), int(turn)] += 1
                if int(file.attrs["seq_last"]):
                    first, last = first or int(file.attrs["seq_first"]), int(file.attrs["seq_last"])
                    carried = set(map(int, file["carried"][:]))
        journal = os.path.join(folder, stem + ".journal")
        if os.path.exists(journal):
            for record in journal_records(journal):
                covered = first <= record.sequence <= last and record.sequence not in carried
                if record.kind in ("reply", "turn") and not covered:
                    found[record.kind[0].upper(), record.fields[3], record.fields[5], record.fields[10]] += 1
    return found
