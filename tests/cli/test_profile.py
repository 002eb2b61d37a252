#!/usr/bin/python3
"""`kernel --profile`: where the estimated time goes, in words, as JSON, and as a trace that trace viewers open."""
import json
import pathlib
import tempfile
import unittest

import harness

KERNEL = harness.SOURCE / "configs/nkigen-bench/kernels/L1/001_add.py"


class Profile(unittest.TestCase):
    def profile(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder, "trace.json")
            command = ["kernel", KERNEL, "--task", "L1/001_add", "--profile", trace, *options]
            done = harness.nkigrid(*command)
            return done, json.loads(trace.read_text()) if trace.exists() else None

    def test_words_say_what_binds_and_that_it_is_no_measurement(self):
        done, _ = self.profile()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("an estimate of one NeuronCore of Trn1, no measurement", done.stdout)
        self.assertIn("bound by", done.stdout)
        self.assertIn("the timeline waits for operands and leaves out spills", done.stdout, "why it ends elsewhere")
        for lane in ("dma", "tensor", "scalar", "vector", "gpsimd", "hbm", "sbuf", "psum"):
            self.assertRegex(done.stdout, rf"(?m)^  {lane} ")

    def test_json_has_the_counters_of_the_task(self):
        done, _ = self.profile("--json")
        answer = json.loads(done.stdout)
        profile = answer["profile"]
        self.assertEqual(profile["estimate_us"], answer["estimate_us"])
        self.assertIn(profile["bound"], profile["engines"])
        self.assertGreater(profile["hbm_read_bytes"], profile["hbm_write_bytes"])  # two tensors in, one out
        self.assertGreater(profile["hbm_write_bytes"], 0)
        self.assertLessEqual(profile["roofline_us"], profile["estimate_us"])

    def test_the_estimate_is_made_of_the_busy_times(self):
        """docs/decisions/estimate.md: M + 0.3 (S - M) + 2 us; GpSimd takes turns with the vector engine."""
        done, _ = self.profile("--json")
        profile = json.loads(done.stdout)["profile"]
        busy = {name: lane["busy_us"] for name, lane in profile["engines"].items()}
        busy["vector"] += busy.pop("gpsimd")
        most = max(busy.values())
        self.assertAlmostEqual(profile["estimate_us"], most + 0.3 * (sum(busy.values()) - most) + 2, places=6)
        self.assertEqual(profile["bound"], max(busy, key=busy.get))

    def test_the_trace_is_complete_events_on_named_lanes(self):
        _, trace = self.profile("-q")
        self.assertIn("not measured", trace["otherData"]["note"])
        names = {e["tid"]: e["args"]["name"] for e in trace["traceEvents"] if e["name"] == "thread_name"}
        self.assertEqual(set(names.values()), {"dma", "tensor", "scalar", "vector", "gpsimd"})
        work = [e for e in trace["traceEvents"] if e["ph"] == "X"]
        self.assertTrue(work)
        for event in work:
            self.assertGreaterEqual(event["ts"], 0)
            self.assertGreater(event["dur"], 0)
            self.assertIn(event["tid"], names)
            self.assertGreater(event["args"]["line"], 0)
        self.assertLessEqual({"load", "store"}, {e["name"] for e in work})
        for lane in names:
            ends = [0, *(e["ts"] + e["dur"] for e in work if e["tid"] == lane)]
            begins = [e["ts"] for e in work if e["tid"] == lane]
            for end, begin in zip(sorted(ends), sorted(begins)):
                self.assertLess(end, begin + 1e-6, "a viewer would nest what overlaps")

    def test_other_backends_are_refused(self):
        done, trace = self.profile("--backend", "neuron")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("only the sim backend's programs can be looked into", done.stderr)
        self.assertIsNone(trace)


if __name__ == "__main__":
    unittest.main()
