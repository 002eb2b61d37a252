"""Makes one HTML file of runs: tables, figures, every episode with its transcript. A reader fetches nothing.

Usage: build.py NKIGRID OUT [--timelines] [--label NAME]... RUN...    a label a run: what tables call it

Everything comes out of `nkigrid export`, `tables` and `figures`; the page is page/page.html with the style and
scripts beside it. Data lie in it as gzip in base64, a block a hundred episodes: docs/formats/report.md.
"""
import argparse
import base64
import collections
import gzip
import hashlib
import html
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import timelines

HERE = pathlib.Path(__file__).resolve().parent / "page"
SCRIPTS = ("base.js", "tables.js", "episodes.js", "episode.js", "main.js")  # in the order in which they stand
IN_BLOCK = 100  # episodes
UNWRITABLE = 3  # exit code, as nkigrid's own
MOST = 200_000  # characters of a text that are kept: a reader of more wants the log
EPISODE = ("outcome", "code", "group", "line", "turns", "passed", "strict_passed", "best_passed", "ended_by", "seconds")
DETAIL = EPISODE + ("attempt", "stage", "max_abs_err", "rel_l2", "estimate_us", "trials", "trials_passed", "tokens_in",
                    "tokens_out", "cost_usd", "synthetic", "message", "hints", "worst")  # fmt: skip
TURN = ("turn", "event", "flags", "compile_ok", "verify_ok", "stage", "code", "line", "max_abs_err", "estimate_us",
        "tokens_in", "tokens_out", "llm_s")  # fmt: skip


def call(nkigrid, *words, codes=(0,)):
    done = subprocess.run([nkigrid, *map(str, words)], capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(done.stderr.strip())
    return done.stdout


def stream(nkigrid, *words):
    """Lines of a long export, one at a time, in bytes: of a long one a wide character would make four times as much."""
    with subprocess.Popen([nkigrid, *map(str, words)], stdout=subprocess.PIPE) as child:
        yield from child.stdout
    if child.returncode:
        raise SystemExit(f"nkigrid {words[0]} ended with {child.returncode}")


def packed(value):
    """JSON as gzip in base64; the same value gives the same bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode("utf-8", "replace"), 6, mtime=0)).decode()


def cut(text):
    """Head and tail of what is too long to be read."""
    if text is None or len(text) <= MOST:
        return text
    half = MOST // 2
    return f"{text[:half]}\n... [{len(text) - 2 * half} characters left out] ...\n{text[-half:]}"


class Texts:
    """Texts of a block, each once: prompts and kernels repeat from turn to turn."""

    def __init__(self):
        self.places, self.list = {}, []

    def add(self, text):
        if not text:
            return None
        if text not in self.places:
            self.places[text] = len(self.list)
            self.list.append(text)
        return self.places[text]


def heard(said):
    """A message, cut."""
    calls = [{"name": call["name"], "arguments": cut(call["arguments"])} for call in said.get("tool_calls") or []]
    return {"role": said["role"], "text": cut(said["content"]), "calls": calls}


def read(text, reads):
    """What a text of the log says; one that the harness did not write is shown as it stands."""
    try:
        return reads(json.loads(text))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {"role": "text", "text": cut(text), "calls": []}


def lines(text):
    """Messages, a line of JSON each: no other end of a line is one of JSON."""
    return [read(line, heard) for line in (text or "").split("\n") if line]


def kept(row):
    """What is kept of a turn's row: its texts are cut at once, so that a long one is held no longer than its line."""
    row["said"] = read(
        row.pop("reply"), lambda reply: heard(reply["message"]) | {"thought": cut(reply.get("reasoning"))}
    )
    row["asked"], row["answers"] = lines(row.pop("request")), lines(row.pop("tool_output"))
    row["kernel"] = cut(row["kernel"])
    return row


def message(texts, said):
    told = {"role": said["role"], "text": texts.add(said["text"])}
    if said["calls"]:
        told["calls"] = [{"name": c["name"], "arguments": texts.add(c["arguments"])} for c in said["calls"]]
    return told


def turn_of(texts, row, first):
    """A turn as the page shows it: what was asked (of the first alone), said and answered."""
    turn = {key: row[key] for key in TURN if row.get(key) not in (None, "", 0)}
    turn["said"] = message(texts, row["said"])
    if row["said"].get("thought"):
        turn["thought"] = texts.add(row["said"]["thought"])
    turn["answers"] = [message(texts, said) for said in row["answers"]]
    turn["kernel"] = texts.add(row["kernel"])
    if first:
        turn["asked"] = [message(texts, said) for said in row["asked"]]
    return turn


class Page:
    """The data of the page: an index of all episodes, and blocks of transcripts on the disk until they are packed."""

    def __init__(self, folder, cells):
        """cells: names of tables, which keep a cell of another key apart as cell@label"""
        self.folder, self.episodes, self.cells = folder, [], cells
        self.merged = {}  # (cell, task, key) -> the cell that tables count it in
        self.places = collections.defaultdict(dict)
        self.folders = {}  # a run's label -> its folder

    def read(self, nkigrid, run, label):
        self.folders[label] = run
        for line in stream(nkigrid, "export", run):
            row = json.loads(line)
            row["run"] = label
            apart = f"{row['cell']}@{label}"
            own = (row["cell"], row["task"], row["key"])
            row["cell"] = self.merged.setdefault(own, apart if apart in self.cells else row["cell"])
            self.places[label][row["episode"]] = len(self.episodes)
            self.episodes.append(row)
        files = {}
        for line in stream(nkigrid, "export", run, "--turns", "--texts"):
            row = kept(json.loads(line))
            place = self.places[label][row["episode"]]
            block = place // IN_BLOCK
            if block not in files:
                files[block] = open(self.folder / f"{block}.jsonl", "a", encoding="utf-8")
            files[block].write(f"{place}\t{json.dumps(row)}\n")
        for file in files.values():
            file.close()

    def pack(self, times):
        """Yields (number, packed transcripts) of each block of episodes. times: Timelines, or None"""
        for block in range(-(-len(self.episodes) // IN_BLOCK)):
            turns = collections.defaultdict(list)
            path = self.folder / f"{block}.jsonl"
            if path.exists():
                with open(path, encoding="utf-8") as file:
                    for line in file:
                        place, row = line.split("\t", 1)
                        turns[int(place)].append(json.loads(row))
            texts, told = Texts(), []
            for place in range(block * IN_BLOCK, min((block + 1) * IN_BLOCK, len(self.episodes))):
                episode = self.episodes[place]
                rows = sorted((row for row in turns[place] if row["counted"]), key=lambda row: row["turn"])
                detail = {key: cut(v) if isinstance(v := episode[key], str) else v for key in DETAIL}
                detail["turns_told"] = [turn_of(texts, row, i == 0) for i, row in enumerate(rows)]
                final = next((row["kernel"] for row in reversed(rows) if row["kernel"]), None)
                if times and episode["passed"] and final:
                    detail["timeline"] = times.of(self.folders[episode["run"]], episode["task"], final)
                told.append(detail)
            yield block, packed({"texts": texts.list, "episodes": told})

    def index(self):
        """Columns of all episodes; words once, numbered."""
        columns = {}
        for key in ("run", "cell", "task", "level", "category", "outcome", "group", "code"):
            words = list(dict.fromkeys(str(row[key] or "") for row in self.episodes))
            if key == "outcome":
                words = [word or "outstanding" for word in words]
            places = {word: i for i, word in enumerate(words)}
            columns[key] = {
                "words": words,
                "rows": [places[str(row[key] or ("outstanding" if key == "outcome" else ""))] for row in self.episodes],
            }
        for key in ("replicate", "turns", "passed", "line"):
            columns[key] = [row[key] or 0 for row in self.episodes]
        return columns


def figures(nkigrid, runs, folder):
    """SVG files as data; none, and a word of it, where they cannot be drawn."""
    done = subprocess.run([nkigrid, "figures", "-q", "-o", folder, *runs], capture_output=True, text=True)
    if done.returncode not in (0, 1):
        print("without figures: " + done.stderr.strip().split("\n")[0].removeprefix("nkigrid: "))
        return []
    order = ("levels", "turns", "pairs", "ablation", "errors", "transitions", "cost", "estimates", "power")
    found = [folder / f"{name}-wide.svg" for name in order if (folder / f"{name}-wide.svg").exists()]
    return [
        {"name": path.stem.removesuffix("-wide"), "svg": base64.b64encode(path.read_bytes()).decode()} for path in found
    ]


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def write(out, title, data, blocks):
    """The page as it is made, block after block, and in its place only when it is whole."""
    style, script = (HERE / "page.css").read_text(), "".join((HERE / name).read_text() for name in SCRIPTS)
    policy = (
        f"default-src 'none'; img-src data:; style-src {digest(style)}; script-src {digest(script)}; base-uri 'none'"
    )
    head, tail = (HERE / "page.html").read_text().split("@BLOCKS@")
    title = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in title)
    head = head.replace("@POLICY@", policy).replace("@TITLE@", html.escape(title))
    head = head.replace("@STYLE@", style).replace("@DATA@", data)
    beside = out.with_name(f".{out.name}.part")
    beside.unlink(missing_ok=True)  # of a build that died, or a link that somebody put there
    try:
        with open(beside, "x", encoding="utf-8") as file:
            file.write(head)
            for number, block in blocks:
                file.write(f'<script type="application/x-nkigrid" id="block-{number}">{block}</script>\n')
            file.write(tail.replace("@SCRIPT@", script))
        os.replace(beside, out)
    finally:
        beside.unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("nkigrid")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--timelines", action="store_true")
    parser.add_argument("--label", action="append", required=True)
    parser.add_argument("runs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nkigrid-report-") as box:
        box = pathlib.Path(box)
        tables = json.loads(call(options.nkigrid, "tables", *options.runs, "--json", "--table", "all", codes=(0, 1)))
        page = Page(box, {cell["cell"] for cell in tables["cells"]})
        for run, label in zip(options.runs, options.label, strict=True):
            page.read(options.nkigrid, run, label)
        synthetic = any(row["synthetic"] for row in page.episodes)
        shown = {"tables": tables, "index": page.index(), "in_block": IN_BLOCK, "synthetic": synthetic}
        shown["figures"] = figures(options.nkigrid, options.runs, box / "figures")
        times = timelines.Timelines(options.nkigrid, box) if options.timelines else None
        try:
            write(options.out, tables["run"], packed(shown), page.pack(times))
        except OSError as error:
            print(f"cannot write '{options.out}': {error.strerror}", file=sys.stderr)
            sys.exit(UNWRITABLE)


if __name__ == "__main__":
    main()
