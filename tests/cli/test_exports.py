"""Exports of conversations through the real binary: .eval logs and trajectories against their schemas and by readers of
our own, training sets through chat templates; everything against rows that another path takes out of the log."""
import collections
import json
import pathlib
import shutil
import struct
import tempfile
import unittest
import zipfile

import jinja2
import jsonschema
from harness import SMALL, SOURCE, nkigrid

DATA = SOURCE / "tests/data/exports"


def rows(run, *options):
    done = nkigrid("export", run, *options)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def parsed(text):
    """Arguments of a call, once more where they came wrapped in a string; None for what is no JSON."""
    try:
        value = json.loads(text)
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return None


def is_broken(turn):
    """A turn with a call whose arguments no tool understands: cut replies leave such, too."""
    calls = json.loads(turn["reply"])["message"].get("tool_calls", [])
    return turn["event"] == "bad_tool_args" or any(not isinstance(parsed(c["arguments"]), dict) for c in calls)


class Exports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-exports-"))
        cls.addClassCleanup(shutil.rmtree, cls.box, ignore_errors=True)
        cls.run_folder = cls.box / "run"
        done = nkigrid("run", SMALL, "-o", cls.run_folder, "-q")
        assert done.returncode == 0, done.stderr
        cls.episodes = {row["episode"]: row for row in rows(cls.run_folder)}
        cls.turns = collections.defaultdict(list)
        for row in rows(cls.run_folder, "--turns", "--texts"):
            if row["counted"]:
                cls.turns[row["episode"]].append(row)
        for turns in cls.turns.values():
            turns.sort(key=lambda row: row["turn"])

    def conversation(self, episode, broken=True):
        """What was said, rebuilt from the log's texts: (role, content, [(name, arguments)]); arguments that are no
        JSON are None. broken: with turns that have a call of bad arguments."""
        said = [(m["role"], m["content"], []) for m in lines(self.turns[episode][0]["request"])]
        for turn in self.turns[episode]:
            if is_broken(turn) and not broken:
                continue
            message = json.loads(turn["reply"])["message"]
            calls = [(call["name"], parsed(call["arguments"])) for call in message.get("tool_calls", [])]
            said.append(("assistant", message["content"], calls))
            said += [(m["role"], m["content"], []) for m in lines(turn["tool_output"])]
        return said

    def passes_by_cell(self):
        counts = collections.Counter()
        for row in self.episodes.values():
            counts[row["cell"]] += row["passed"]
        return counts

    # training sets

    def test_a_training_set_says_what_was_said(self):
        taught = rows(self.run_folder, "--format", "sft-trl", "-q")
        self.assertGreater(len(taught), 10)
        for row in taught:
            said = self.conversation(row["episode"], broken=False)
            while said[-1][0] != "assistant":
                said.pop()
            found = [
                (
                    m["role"],
                    m["content"],
                    [(c["function"]["name"], c["function"]["arguments"]) for c in m.get("tool_calls", [])],
                )
                for m in row["messages"]
            ]
            self.assertEqual(found, said)

    def test_a_turn_that_failed_does_not_train(self):
        for row in rows(self.run_folder, "--format", "sft-trl", "-q"):
            trains = [m["train"] for m in row["messages"] if m["role"] == "assistant"]
            self.assertTrue(any(trains))
            last = max(turn["turn"] for turn in self.turns[row["episode"]] if turn["kernel"])
            turns = [turn for turn in self.turns[row["episode"]] if not is_broken(turn)]
            for train, turn in zip(trains, turns, strict=True):
                failed = turn["event"] != "ok" or turn["compile_ok"] == 0 or turn["verify_ok"] == 0
                wrong = turn["turn"] == last and row["outcome"] != "pass"
                self.assertEqual(train, not failed and not wrong)

    def test_every_row_has_one_schema_and_no_null(self):
        for form, keys in (
            ("sft-openai", {"messages", "tools"}),
            ("sft-trl", {"messages", "tools", "episode", "task", "level", "category", "outcome"}),
            ("sft-sharegpt", {"conversations", "tools", "episode", "task", "level", "category", "outcome"}),
        ):
            found = rows(self.run_folder, "--format", form, "--cell", "*.agent.*", "-q")
            for row in found:
                self.assertEqual(set(row), keys)
                self.assertNotIn(None, [m.get("content", m.get("value")) for m in next(iter(row.values()))])

    def test_weights_are_of_assistants_alone_and_arguments_are_text(self):
        for row in rows(self.run_folder, "--format", "sft-openai", "-q"):
            for message in row["messages"]:
                self.assertEqual("weight" in message, message["role"] == "assistant")
                for call in message.get("tool_calls", []):
                    self.assertIsInstance(json.loads(call["function"]["arguments"]), dict)
            self.assertEqual(row["messages"][-1]["role"], "assistant")

    def test_chat_templates_render_all_of_it(self):
        def refuse(why):
            raise AssertionError(why)

        world = jinja2.Environment(trim_blocks=False, lstrip_blocks=False)
        world.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
        world.globals["raise_exception"] = refuse
        taught = rows(self.run_folder, "--format", "sft-trl", "-q")
        for name in ("chatml", "headers", "inst"):
            template = world.from_string((DATA / f"templates/{name}.jinja").read_text())
            # One family of templates has no place for two calls in a message.
            single = [row for row in taught if all(len(m.get("tool_calls", [])) < 2 for m in row["messages"])]
            self.assertGreater(len(single), 5)
            for row in single if name == "headers" else taught:
                tools = json.loads(row["tools"]) if row["tools"] else None
                text = template.render(messages=row["messages"], tools=tools)
                at = 0
                for message in row["messages"]:
                    words = [message["content"]]
                    if message["role"] == "tool" and name == "inst":
                        words = [json.dumps(message["content"], ensure_ascii=False)]
                    for call in message.get("tool_calls", []):
                        words.append(json.dumps(call["function"]["arguments"], ensure_ascii=False))
                    for word in words:
                        at = text.find(word, at)
                        self.assertGreaterEqual(at, 0, f"{name}: {row['episode']} lost {word[:80]}")

    def test_speakers_of_sharegpt_take_turns_and_calls_stand_in_tags(self):
        for row in rows(self.run_folder, "--format", "sft-sharegpt", "-q"):
            speakers = [said["from"] for said in row["conversations"]]
            self.assertEqual(speakers[:2], ["system", "human"])
            for speaker, following in zip(speakers[1:], speakers[2:]):
                self.assertEqual(following == "gpt", speaker != "gpt")
            for said in row["conversations"]:
                for part in said["value"].split("<tool_call>\n")[1:]:
                    self.assertIn("arguments", json.loads(part.split("\n</tool_call>")[0]))

    def test_passed_best_turn_hold_out_and_dedup(self):
        passed = {name for name, row in self.episodes.items() if row["passed"]}
        taught = rows(self.run_folder, "--format", "sft-trl", "--passed", "-q")
        self.assertEqual({row["episode"] for row in taught}, passed)
        for row in rows(self.run_folder, "--format", "sft-trl", "--best-turn", "-q"):
            self.assertTrue(row["messages"][-1]["train"])
            said = len([m for m in row["messages"] if m["role"] == "assistant"])
            turns = [turn for turn in self.turns[row["episode"]] if not is_broken(turn)]
            verified = [i for i, turn in enumerate(turns, 1) if turn["verify_ok"] == 1]
            if verified:
                self.assertEqual(said, verified[0])
        done = nkigrid("export", self.run_folder, "--format", "sft-openai", "--hold-out", "L1/*", "--passed")
        self.assertIn("held out: 32 episodes of 4 tasks (L1/001_add, ", done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), sum(self.episodes[name]["level"] == "L2" for name in passed))
        all_rows = nkigrid("export", self.run_folder, "--format", "sft-openai", "-q").stdout.splitlines()
        once = nkigrid("export", self.run_folder, "--format", "sft-openai", "--dedup", "-q").stdout.splitlines()
        self.assertEqual(once, list(dict.fromkeys(all_rows)))

    def test_rows_are_of_the_episodes_that_are_chosen(self):
        wanted = {name for name, row in self.episodes.items() if row["level"] == "L1" and row["outcome"] == "pass"}
        self.assertTrue(0 < len(wanted) < len(self.episodes))
        for form in ([], ["--attempts"], ["--turns"]):
            found = rows(self.run_folder, *form, "--level", "L1", "--outcome", "pass")
            self.assertEqual({row["episode"] for row in found}, wanted, form)

    def test_what_fits_nothing_is_refused_with_what_there_is(self):
        for options, says in (
            (["--format", "sft-openai", "--hold-out", "L9/*"], "no task 'L9/*' in this run"),
            (["--format", "inspect"], "add -o FOLDER"),
            (["--format", "jsonl", "--dedup"], "are of --format sft-openai"),
            (["--format", "sft-trl", "--outcome", "mismach"], "did you mean 'mismatch'"),
            (["--cell", "nosuch.*"], "no cell 'nosuch.*' in this run"),
            (["--format", "parquet"], "Debian 12 has no Arrow"),
            (["--format", "sft"], "unknown export format 'sft'"),
        ):
            done = nkigrid("export", self.run_folder, *options)
            self.assertEqual((done.returncode, done.stdout), (2, ""), options)
            self.assertIn(says, done.stderr)

    # .eval logs

    def eval_logs(self):
        folder = self.box / "eval"
        if not folder.exists():
            done = nkigrid("export", self.run_folder, "--format", "inspect", "-o", folder, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
        return sorted(folder.glob("*.eval"))

    def sizes_stand_before_the_bytes(self, path, log):
        """inspect's viewer reads them there: APPNOTE 4.3.7, and no bit 3 of the flags."""
        data = path.read_bytes()
        for entry in log.infolist():
            flags = struct.unpack_from("<H", data, entry.header_offset + 6)[0]
            sizes = struct.unpack_from("<III", data, entry.header_offset + 14)
            self.assertEqual((flags & 8, sizes), (0, (entry.CRC, entry.compress_size, entry.file_size)), entry.filename)

    def test_eval_logs_are_what_the_schema_says(self):
        schema = json.loads((DATA / "inspect-schema.json").read_text())

        def check(value, name):
            jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", **schema}).validate(value)

        logs = self.eval_logs()
        self.assertEqual(len(logs), 4)
        for path in logs:
            with zipfile.ZipFile(path) as log:
                self.assertIsNone(log.testzip())
                self.sizes_stand_before_the_bytes(path, log)
                check(json.loads(log.read("header.json")), "EvalLog")
                start = json.loads(log.read("_journal/start.json"))
                check(start["eval"], "EvalSpec")
                check(start["plan"], "EvalPlan")
                for summary in json.loads(log.read("summaries.json")):
                    check(summary, "EvalSampleSummary")
                for name in log.namelist():
                    if name.startswith("samples/"):
                        sample = json.loads(log.read(name))
                        check(sample, "EvalSample")
                        self.assertEqual(name, f"samples/{sample['id']}_epoch_{sample['epoch']}.json")

    def test_eval_logs_tell_the_rates_and_the_words_of_the_run(self):
        cells = json.loads(nkigrid("tables", self.run_folder, "--json").stdout)["cells"]
        for path, passed in zip(self.eval_logs(), (self.passes_by_cell()[p.stem] for p in self.eval_logs())):
            with zipfile.ZipFile(path) as log:
                header = json.loads(log.read("header.json"))
                samples = [json.loads(log.read(n)) for n in log.namelist() if n.startswith("samples/")]
            cell = next(cell for cell in cells if cell["cell"] == path.stem)
            accuracy = header["results"]["scores"][0]["metrics"]["accuracy"]["value"]
            self.assertAlmostEqual(accuracy, cell["rate"], places=6)
            self.assertEqual(sum(s["scores"]["nkigrid"]["value"] == "C" for s in samples), passed)
            self.assertEqual(header["status"], "success")
            for sample in samples:
                said = [(m["role"], m["content"]) for m in sample["messages"]]
                rebuilt = self.conversation(sample["metadata"]["episode"])
                self.assertEqual(said, [(role, content) for role, content, _ in rebuilt])

    def test_the_same_run_gives_the_same_bytes(self):
        again = self.box / "again"
        nkigrid("export", self.run_folder, "--format", "inspect", "-o", again, "-q")
        for path in self.eval_logs():
            self.assertEqual(path.read_bytes(), (again / path.name).read_bytes())

    # trajectories

    def test_trajectories_are_what_the_schema_and_its_words_say(self):
        folder = self.box / "atif"
        done = nkigrid("export", self.run_folder, "--format", "atif", "-o", folder)
        self.assertIn("48 trajectories of 48 episodes", done.stderr)
        schema = jsonschema.Draft202012Validator(json.loads((DATA / "atif-1.7.schema.json").read_text()))
        passes = collections.Counter()
        for path in folder.rglob("*.json"):
            trajectory = json.loads(path.read_text())
            schema.validate(trajectory)
            steps = trajectory["steps"]
            self.assertEqual([step["step_id"] for step in steps], list(range(1, len(steps) + 1)))
            for step in steps:
                known = [call["tool_call_id"] for call in step.get("tool_calls", [])]
                self.assertEqual(len(known), len(set(known)))
                for result in step.get("observation", {}).get("results", []):
                    self.assertIn(result["source_call_id"], known)
                if step["source"] != "agent":
                    self.assertFalse({"model_name", "reasoning_content", "tool_calls", "metrics"} & set(step))
            turns = self.turns[trajectory["trajectory_id"]]
            metrics = trajectory["final_metrics"]
            self.assertEqual(metrics["total_prompt_tokens"], sum(turn["tokens_in"] for turn in turns))
            self.assertEqual(sum(step["source"] == "agent" for step in steps), len(turns))
            passes[path.parent.name] += trajectory["extra"]["verdict"]["passed"]
        self.assertEqual(passes, self.passes_by_cell())


if __name__ == "__main__":
    unittest.main()
