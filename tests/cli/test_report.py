"""The report in a real Chromium, from file://: lists and permalinks against the export, hostile text, many episodes."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unicodedata
import unittest
from urllib.parse import quote

from browser import Browser
from harness import BUILD, SMALL, SOURCE, environment, nkigrid

BUILDER = BUILD / "libexec/report/build.py"
HOSTILE = (
    "<script>document.body.dataset.owned = 1</script><img src=x onerror=alert(1)> \u202egnirts\u0000\u001b[31m"
    "\u00ad\u061c\u180e\u200b\u2028\u2029\u0085\u206a\ufeff\ufff9\U000e0041"
)


LONG_REPLY = json.dumps({"message": {"role": "assistant", "content": "x" * 8_000_000}, "finish": "stop"})
TIGHT = "\ncheck: {atol: 1.0e-6, rtol: 1.0e-6}\n"


def made_nkigrid(folder, episodes, turns):
    """A program that answers as nkigrid would for a run of our making."""
    (folder / "episodes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in episodes))
    with open(folder / "turns.jsonl", "w") as file:
        file.writelines(json.dumps(row) + "\n" for row in turns)
    (folder / "tables.json").write_text(json.dumps({"run": HOSTILE, "cells": [], "warnings": [HOSTILE]}))
    program = folder / "made"
    program.write_text(
        f'#!/bin/sh\ncase "$1 $3" in "export --turns") cat {folder}/turns.jsonl;; '
        f'"export "*) cat {folder}/episodes.jsonl;; '
        f"tables*) cat {folder}/tables.json;; *) exit 2;; esac\n"
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


def home_with(folder, text):
    """The environment of a reader whose Python starts with this text."""
    env = environment(HOME=str(folder))
    words = ["/usr/bin/python3", "-m", "site", "--user-site"]
    site = pathlib.Path(subprocess.run(words, capture_output=True, text=True, env=env).stdout.strip())
    site.mkdir(parents=True)
    (site / "usercustomize.py").write_text(text)
    return env


WITHOUT_MATPLOTLIB = """
import sys

class Absent:
    def find_spec(self, name, *_):
        if name == "matplotlib":
            raise ModuleNotFoundError("No module named 'matplotlib'")

sys.meta_path.insert(0, Absent())
"""


def made_episode(i, **more):
    row = {
        "episode": f"m.ss.p/L1/{i:05}#1",
        "key": "k",
        "cell": "m.ss.p",
        "task": f"L1/{i:05}",
        "level": "L1",
        "category": "c",
        "replicate": 1,
        "outcome": "mismatch",
        "code": "NUMERIC_MISMATCH",
        "group": "NUMERIC",
        "stage": "verify",
        "ended_by": "turns",
    }
    numbers = ("line", "turns", "passed", "strict_passed", "best_passed", "inherited_turns", "trials", "trials_passed")
    numbers += ("tokens_in", "tokens_out", "cost_usd", "seconds")
    absent = dict.fromkeys(("max_abs_err", "rel_l2", "estimate_us"))
    words = {"message": "", "hints": "", "worst": "", "attempt": 1, "synthetic": 0}
    return row | dict.fromkeys(numbers, 0) | absent | words | more


def made_turn(episode, text):
    message = {"role": "assistant", "content": text}
    line = json.dumps({"role": "system", "content": text}, ensure_ascii=False) + "\n"  # as the log has it
    return {
        "episode": episode,
        "attempt": 1,
        "counted": 1,
        "turn": 1,
        "event": "ok",
        "request": line,
        "reply": json.dumps({"message": message, "finish": "stop"}),
        "tool_output": line,
        "kernel": text,
        "line": 1,
    }


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-report-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.box, ignore_errors=True)
        cls.browser = cls.enterClassContext(Browser(cls.box / "profile"))
        cls.run_folder = cls.box / "run"
        done = nkigrid("run", SMALL, "-o", cls.run_folder, "-q")
        assert done.returncode == 0, done.stderr
        done = nkigrid("report", cls.run_folder, "-q")
        assert done.returncode == 0, done.stderr
        cls.page = cls.run_folder / "report/index.html"
        cls.episodes = [json.loads(line) for line in nkigrid("export", cls.run_folder).stdout.splitlines()]

    def build(self, name, episodes, turns):
        folder = self.box / name
        folder.mkdir(exist_ok=True)
        program = made_nkigrid(folder, episodes, turns)
        out = folder / "page.html"
        subprocess.run(
            ["/usr/bin/python3", "-B", BUILDER, "--label=run", program, out, folder], check=True, timeout=240
        )
        return out

    def words(self, page, place=""):
        self.browser.open(page, place)
        return self.browser.words()

    def test_the_first_page_has_the_rates_of_tables(self):
        words = self.words(self.page)
        for cell in json.loads(nkigrid("tables", self.run_folder, "--json").stdout)["cells"]:
            self.assertIn(cell["cell"], words)
            self.assertIn(f"{cell['passed']}/{cell['episodes']}", words)
            self.assertIn(f"{100 * cell['interval']['low']:.1f}, {100 * cell['interval']['high']:.1f}", words)

    def listed(self):
        return self.browser.value("[...document.querySelectorAll('tbody td:first-child')].map((td) => td.textContent)")

    def test_a_filter_finds_what_the_export_has(self):
        wanted = [e for e in self.episodes if e["level"] == "L2" and e["cell"] == "novice.ss.rank-aware"]
        words = self.words(self.page, "#episodes?cell=novice.ss.rank-aware&level=L2")
        self.assertIn(f"{len(wanted)} episodes, {sum(e['passed'] for e in wanted)} passed", words)
        self.assertEqual(self.listed(), [e["episode"] for e in wanted])

    def test_a_click_on_a_rate_lists_its_episodes_and_one_on_an_episode_opens_it(self):
        self.browser.open(self.page)
        self.browser.click("tbody td.n a")
        cell = self.episodes[0]["cell"]
        self.assertEqual(self.listed(), [e["episode"] for e in self.episodes if e["cell"] == cell])
        self.browser.click("tbody a")
        self.assertIn(self.episodes[0]["episode"], self.browser.words())
        self.browser.press("j")
        self.browser.until(f"document.body.dataset.shown.includes('{quote(self.episodes[1]['episode'], safe='')}')")
        self.browser.press("Escape")
        self.browser.until("document.body.dataset.shown.startsWith('episodes')")

    def test_without_matplotlib_a_report_has_no_figures_and_says_so(self):
        env = home_with(self.box / "plain", WITHOUT_MATPLOTLIB)
        page = self.box / "plain.html"
        done = nkigrid("report", self.run_folder, "-o", page, env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("without figures: figures are drawn with matplotlib, which is not here", done.stderr)
        self.assertIn("no figure was drawn; `nkigrid figures` says why", self.words(page, "#figures"))
        done = nkigrid("figures", self.run_folder, "-o", self.box / "none", env=env)
        self.assertEqual((done.returncode, list(self.box.glob("none/*.svg"))), (4, []), done.stderr)
        self.assertIn("`apt-get install python3-matplotlib`", done.stderr)

    def test_where_libraries_lie_is_told_to_whom_the_report_starts(self):
        told = self.box / "told"
        text = f"import os\nopen({str(told)!r}, 'a').write(os.environ.get('LD_LIBRARY_PATH', '-') + '\\n')\n"
        env = home_with(self.box / "modules", text) | {"LD_LIBRARY_PATH": "/opt/lib"}
        done = nkigrid("report", self.run_folder, "-o", self.box / "modules.html", "-q", env=env)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(set(told.read_text().split()), {"/opt/lib"})

    def test_every_number_of_errors_leads_to_as_many_episodes(self):
        """Outcomes, groups and codes of the table of errors."""
        self.browser.open(self.page)
        self.browser.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.browser.until("document.querySelectorAll('details:not([data-made])').length === 0")
        links = self.browser.value(
            "[...document.querySelectorAll('details a')].filter((a) => /(outcome|group|code)=/.test(a.hash))"
            ".map((a) => [a.textContent, a.hash])"
        )
        self.assertGreater(len(links), 10)
        for number, place in links[:: max(1, len(links) // 12)]:
            self.assertIn(f"{number} episodes, ", self.words(self.page, place))

    def test_every_rate_of_runs_kept_apart_leads_to_its_episodes(self):
        """A folder of the same name, another grid and another tolerance: cells of its own, with links of their own."""
        tight = self.box / "other" / self.run_folder.name
        tight.parent.mkdir()
        grid = self.box / "tight.yaml"
        grid.write_text(re.sub("^name: .*", "name: tight", SMALL.read_text(), 1, re.M) + TIGHT)
        done = nkigrid("reverify", self.run_folder, "--device", grid, "-o", tight, "-q")
        self.assertEqual(done.returncode, 0, done.stderr)
        page = self.box / "two.html"
        self.assertEqual(nkigrid("report", self.run_folder, tight, "-o", page, "-q").returncode, 0)
        self.browser.open(page)
        rates = self.browser.value(
            "[...document.querySelectorAll('main > .wide td.n:nth-child(2) a')].map((a) => [a.textContent, a.hash])"
        )
        told = json.loads(nkigrid("tables", self.run_folder, tight, "--json").stdout)["cells"]
        self.assertEqual([rate for rate, _ in rates], [f"{cell['passed']}/{cell['episodes']}" for cell in told])
        self.assertTrue(any("@tight" in cell["cell"] for cell in told))
        for rate, place in rates:
            passed, episodes = rate.split("/")
            self.assertIn(f"{episodes} episodes, {passed} passed", self.words(page, place))
        self.assertEqual(len(set(self.listed())), int(episodes))
        self.browser.click("tbody a")
        self.assertIn("@tight", self.browser.words())

    def test_a_permalink_opens_an_episode_at_its_turn_and_again_after_a_reload(self):
        episode = next(e for e in self.episodes if e["turns"] > 1)
        place = f"#episode={quote(episode['episode'], safe='')}&turn=2"
        for _ in range(2):
            words = self.words(self.page, place)
            self.assertIn(episode["episode"], words)
            self.assertEqual(self.browser.value("document.querySelector('.turn.here').id"), "turn-2")
            self.browser.call("Page.reload")
        turns = [json.loads(x) for x in nkigrid("export", self.run_folder, "--turns", "--texts").stdout.splitlines()]
        kernels = [t["kernel"] for t in turns if t["episode"] == episode["episode"] and t["kernel"]]
        for line in kernels[0].splitlines()[:20]:
            self.assertIn(line.strip(), words)

    def test_what_others_wrote_is_text(self):
        name = "m.ss.p/L1/00000#1"
        page = self.build("hostile", [made_episode(0, message=HOSTILE)], [made_turn(name, HOSTILE + "x" * 1_000_000)])
        self.assertNotRegex(page.read_text(), "[\u202e\u001b\u061c]", "not in the title either")
        self.assertLess(page.stat().st_size, 300_000, "a line of a million characters is cut")
        for place in ("", "#episode=" + quote(name, safe="")):
            words = self.words(page, place)
            self.assertIsNone(self.browser.value("document.body.dataset.owned ?? null"))
            self.assertEqual(self.browser.value("document.querySelectorAll('script:not([type])').length"), 1)
            self.assertEqual(self.browser.value("document.querySelectorAll('main img, main script').length"), 0)
            hidden = [c for c in words if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
            self.assertEqual(hidden, [])
        self.assertIn("\\u{202e}gnirts", words)
        self.assertIn("characters left out", words)

    def test_what_is_outstanding_is_counted_and_has_not_failed(self):
        outstanding = {"outcome": None, "code": None, "group": None, "attempt": None, "turns": None, "passed": None}
        page = self.build("open", [made_episode(0), made_episode(1, **outstanding)], [])
        self.assertIn("2 episodes, 0 passed, 1 outstanding", self.words(page, "#episodes"))
        shown = "[...document.querySelectorAll('td span')].map((s) => [s.textContent, s.className])"
        self.assertIn(["outstanding", ""], self.browser.value(shown))

    def test_a_text_that_the_harness_did_not_write_is_shown_as_it_stands(self):
        names = [f"m.ss.p/L1/{i:05}#1" for i in range(3)]
        forged = ({"reply": "{}"}, {"reply": "no json"}, {"tool_output": "[1]\nneither\n"})
        turns = [made_turn(name, "") | odd for name, odd in zip(names, forged)]
        page = self.build("forged", [made_episode(i) for i in range(3)], turns)
        for name, told in zip(names, ("{}", "no json", "neither")):
            self.assertIn(told, self.words(page, "#episode=" + quote(name, safe="")))

    def test_long_replies_are_held_one_at_a_time(self):
        """Twenty lines of eight million characters in one block of episodes."""
        episodes = [made_episode(i) for i in range(20)]
        turns = (made_turn(episode["episode"], "") | {"reply": LONG_REPLY} for episode in episodes)
        folder = self.box / "long"
        folder.mkdir()
        program = made_nkigrid(folder, episodes, turns)
        builder = subprocess.Popen(["/usr/bin/python3", "-B", BUILDER, "--label=run", program, folder / "page", folder])
        _, status, usage = os.wait4(builder.pid, 0)
        builder.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(builder.returncode, 0)
        self.assertLess(usage.ru_maxrss, 150_000, "KB: three copies of a line, never of all")
        self.assertLess((folder / "page").stat().st_size, 300_000)

    def test_nothing_stands_beside_the_paper(self):
        episode = next(e for e in self.episodes if e["turns"] > 1)
        size = {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
        self.browser.call("Emulation.setDeviceMetricsOverride", **size)
        self.browser.call("Emulation.setEmulatedMedia", media="print")
        try:
            for place in ("", "#episode=" + quote(episode["episode"], safe="")):
                self.words(self.page, place)
                self.browser.value("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                if not place:
                    self.browser.until("!document.querySelector('details:not([data-made])')")
                parts = "[...document.querySelectorAll('body, .wide, pre')]"
                wide = self.browser.value(f"{parts}.filter((e) => e.scrollWidth > e.clientWidth + 1).length")
                self.assertEqual(wide, 0, place)
        finally:
            self.browser.call("Emulation.setEmulatedMedia", media="")
            self.browser.call("Emulation.clearDeviceMetricsOverride")

    def test_a_kernel_of_two_runs_has_a_timeline_of_each_device(self):
        sys.path.insert(0, str(SOURCE / "report"))
        import timelines

        asked = timelines.Timelines("nkigrid", self.box)
        asked.ask = lambda run, task, kernel: {"us": len(asked.known), "run": run}
        found = [asked.of(run, "L1/001_add", "text")["run"] for run in ("a", "b", "a")]
        self.assertEqual((found, len(asked.known)), (["a", "b", "a"], 2))

    def test_nothing_but_the_page_may_run_or_be_fetched(self):
        text = self.page.read_text()
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        self.assertTrue(policy.startswith("default-src 'none'; img-src data:; style-src 'sha256-"))
        self.assertNotIn("unsafe", policy)
        self.assertNotRegex(text, r"(src|href)=\"?https?:")

    def test_the_same_run_gives_the_same_bytes(self):
        again = self.box / "again.html"
        self.assertEqual(nkigrid("report", self.run_folder, "-o", again, "-q").returncode, 0)
        self.assertEqual(again.read_bytes(), self.page.read_bytes())

    def test_a_page_that_cannot_be_written_is_one_line(self):
        done = nkigrid("report", self.run_folder, "-o", "/proc/page.html")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot write '/proc/page.html'", done.stderr)
        self.assertNotIn("Traceback", done.stderr)

    def test_a_page_is_not_written_through_a_link(self):
        (self.box / "linked").mkdir()
        (self.box / "victim").write_text("mine")
        (self.box / "linked/.page.html.part").symlink_to(self.box / "victim")
        page = self.build("linked", [made_episode(0)], [made_turn(made_episode(0)["episode"], "text")])
        self.assertFalse(page.is_symlink())
        self.assertEqual((self.box / "victim").read_text(), "mine")

    def test_thousands_of_episodes_are_listed_and_opened(self):
        many = int(os.environ.get("NKIGRID_REPORT_EPISODES", "4000"))
        names = [f"m.ss.p/L1/{i:05}#1" for i in range(many)]
        page = self.build(
            "many", [made_episode(i) for i in range(many)], [made_turn(n, f"kernel of {n}\n" * 40) for n in names]
        )
        self.assertIn(f"{many} episodes, 0 passed", self.words(page, "#episodes"))
        words = self.words(page, "#episode=" + quote(names[-1], safe=""))
        self.assertIn(f"kernel of {names[-1]}", words)
        self.browser.until("performance.getEntriesByName('first-contentful-paint').length")
        paint = self.browser.value("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        self.assertLess(paint, 2000, "ms until the first paint")


if __name__ == "__main__":
    unittest.main()
