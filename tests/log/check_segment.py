"""Reads a segment made by segment_test.cpp (crowded()) with stock h5py and checks it against the contract's page.

usage: check_segment.py SEGMENT [--columns-only]
"""
import json
import math
import sys

import h5py
import numpy as np

ATTRIBUTES = (
    "format version grid_hash run_id nkigrid_version sdk backend compiler host journal part seq_first seq_last"
).split()
EPISODES = (
    "episode key cell task level category replicate attempt inherited_turns superseded outcome ended_by nudged passed "
    "strict_passed best_passed best_strict_passed stage code group line max_abs_err rel_l2 turns started seconds "
    "tokens_in tokens_out tokens_cached cost_usd api_retries estimate_us node rank trials trials_passed "
    "findings_offset findings_length"
).split()
TEXTS = ("request", "reply", "kernel", "tool_output")
TURNS = (
    "episode attempt turn event nudged flags tool_calls compile_ok verify_ok stage code group line llm_s wait_s "
    "compile_s verify_s tokens_in tokens_out api_retries max_abs_err rel_l2 estimate_us"
).split()
TURNS += [f"{text}_{part}" for text in TEXTS for part in ("offset", "length")]
WORDS = set("episode key cell task level category outcome ended_by stage code group node event flags".split())
FLAGS = set(
    "passed strict_passed best_passed best_strict_passed compile_ok verify_ok nudged superseded answered".split()
)
REALS = set("max_abs_err rel_l2 started seconds cost_usd estimate_us llm_s wait_s compile_s verify_s".split())


def check_columns(file):
    for name in ATTRIBUTES:
        assert name in file.attrs, f"attribute {name} is missing"
    assert bytes(file.attrs["format"]) == b"nkigrid-log"
    for group, names in (("episodes", EPISODES), ("turns", TURNS)):
        missing = [name for name in names if name not in file[group]]
        assert not missing, f"/{group} lacks {missing}"
    assert file["text"].dtype == np.uint8 and file["text"].ndim == 1 and file["text"].chunks


def check_dataset(name, item):
    if not isinstance(item, h5py.Dataset):
        return
    column = name.rsplit("/", 1)[-1]
    assert item.ndim == 1 and item.compression == "gzip" and item.shuffle, name
    assert h5py.check_vlen_dtype(item.dtype) is None and item.dtype.kind != "O", f"{name} is of variable length"
    if column in WORDS:
        assert item.dtype.kind == "S", (name, item.dtype)
    if column in FLAGS:
        assert item.dtype == np.int8, (name, item.dtype)
    if column in REALS:
        assert item.dtype == np.float64, (name, item.dtype)


def check_lengths(file):
    for group in file.values():
        if isinstance(group, h5py.Group):
            assert len({len(column) for column in group.values()}) == 1, group.name


def text_of(file, row, name, group="turns"):
    at, size = (int(file[f"{group}/{name}_{part}"][row]) for part in ("offset", "length"))
    return file["text"][at : at + size].tobytes()


def check_values(file):
    episodes, turns = file["episodes"], file["turns"]
    assert list(episodes["episode"]) == [b"novice.ss.naive/L1/012_gelu#1", b"novice.ss.naive/L1/012_gelu#2"]
    assert list(episodes["cell"]) == [b"novice.ss.naive"] * 2 and list(episodes["task"]) == [b"L1/012_gelu"] * 2
    assert list(episodes["replicate"]) == [1, 2] and list(episodes["key"]) == [b"0123456789abcdef"] * 2
    assert list(episodes["outcome"]) == [b"mismatch"] * 2 and list(episodes["ended_by"]) == [b"turns"] * 2
    assert list(episodes["code"]) == [b"NON_FINITE_UNINIT"] * 2 and list(episodes["group"]) == [b"NON_FINITE"] * 2
    assert list(episodes["tokens_in"]) == [5_000_000_000] * 2 and list(episodes["best_strict_passed"]) == [1, 1]
    assert math.isnan(episodes["max_abs_err"][0]) and episodes["rel_l2"][0] == 0.125
    assert episodes["started"][0] == 1_750_000_000.25
    assert list(episodes["trials"]) == [5, 5] and list(episodes["trials_passed"]) == [3, 3]
    findings = json.loads(text_of(file, 1, "findings", "episodes"))
    assert findings == {"message": "it does not match", "hints": ["never written"]}

    assert list(turns["turn"]) == [3, 3, 7, 1] and list(turns["answered"]) == [1, 1, 1, 0]
    assert list(turns["event"]) == [b"bad_tool_args", b"bad_tool_args", b"ok", b""]
    assert list(turns["compile_ok"]) == [1, 1, -1, -1] and list(turns["line"])[:2] == [17, 17]
    assert list(turns["tokens_in"])[:2] == [1000, 1000] and turns["llm_s"][0] == 1.5
    assert math.isnan(turns["max_abs_err"][3]), "nothing was measured in a turn that never came"
    assert text_of(file, 3, "reply") == b"the reply nobody answered"
    assert text_of(file, 0, "reply").startswith(b"reply NUL:\0 half a character:\xc3 ")
    assert len(text_of(file, 1, "kernel")) == len(b"kernel ") + 200_000
    assert text_of(file, 2, "tool_output") == b""

    assert int(file.attrs["part"]) == int(file["attempts"].attrs["part"]) == 1
    assert bytes(file["attempts"].attrs["run_id"]) == bytes(file.attrs["run_id"])
    assert int(file.attrs["seq_first"]) == 1 and int(file.attrs["seq_last"]) == 12
    assert bytes(file.attrs["journal"]) == b"a" and bytes(file.attrs["grid_hash"]) == b"made-grid-hash"
    attempts = file["attempts"]
    assert list(attempts["attempt"]) == [1, 1, 1, 1, 2] and int(attempts["inherited_turns"][4]) == 4
    rows = turns["attempt_row"][:]
    for name in ("episode", "key", "attempt"):
        assert list(attempts[name][:][rows]) == list(turns[name]), name
    assert list(file["carried"]) == []


def main():
    with h5py.File(sys.argv[1], "r") as file:
        check_columns(file)
        file.visititems(check_dataset)
        check_lengths(file)
        if "--columns-only" not in sys.argv:
            check_values(file)


if __name__ == "__main__":
    main()
