"""A second reader of docs/formats/journal.md, written from that page alone. Prints one line a record; refuses anything
that does not fit.

usage: read_journal.py JOURNAL
"""
import struct
import sys
import zlib

BLOCK, HEAD = 32768, 24
KINDS = ("header", "begin", "reply", "turn", "end")


def fragments(data):
    assert data[:8] == b"NKIGJRNL", "magic"
    major, minor, crc = struct.unpack_from("<HHI", data, 8)
    assert (major, minor) in ((1, 0), (1, 1), (1, 2)) and crc == zlib.crc32(data[:12])
    at = 16
    while at < len(data):
        room = BLOCK - at % BLOCK
        if room <= HEAD:
            assert not any(data[at : at + room]), "padding"
            at += room
            continue
        head_crc, data_crc, sequence, length, kind, zero, index = struct.unpack_from("<IIQIBBH", data, at)
        assert head_crc == zlib.crc32(data[at + 4 : at + HEAD]) and zero == 0 and 1 <= length <= room - HEAD
        part = data[at + HEAD : at + HEAD + length]
        assert len(part) == length and data_crc == zlib.crc32(part)
        yield sequence, kind, index, part
        at += HEAD + length


def records(data):
    parts, expected = [], 0
    for sequence, kind, index, part in fragments(data):
        assert sequence == expected and index == len(parts)
        assert kind == {True: {True: 1, False: 2}, False: {True: 4, False: 3}}[not parts][kind in (1, 4)]
        parts.append(part)
        if kind in (1, 4):
            yield sequence, b"".join(parts)
            parts, expected = [], expected + 1
    assert not parts


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(payload):
    at = 1
    while at < len(payload):
        number, wire = payload[at] >> 2, payload[at] & 3
        at += 1
        if wire == 0:
            value, at = varint(payload, at)
        elif wire == 1:
            (value,), at = struct.unpack_from("<d", payload, at), at + 8
        else:
            assert wire == 2
            size, at = varint(payload, at)
            value, at = payload[at : at + size], at + size
        yield number, value


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    for sequence, payload in records(data):
        found = dict(fields(payload))
        if payload[0] == 0:
            print(sequence, "header", found[10].decode())
            continue
        size = sum(len(v) for v in found.values() if isinstance(v, bytes))
        print(
            sequence,
            KINDS[payload[0]],
            found[1].decode(),
            found[2].decode(),
            found[3],
            found[4].decode(),
            found[5],
            size,
        )


if __name__ == "__main__":
    main()
