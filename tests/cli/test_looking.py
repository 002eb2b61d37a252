"""Reading a run: figures, lists, single turns and kernels, what columns are, which runs there are."""
import collections
import csv
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

from harness import SMALL, SOURCE, environment, nkigrid

COUNTS = SOURCE / "configs/paper-counts.yaml"


def exported(run, *options):
    return [json.loads(line) for line in nkigrid("export", run, *options).stdout.splitlines()]


class Looking(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.box = pathlib.Path(tempfile.mkdtemp(prefix="nkigrid-looking-"))
        cls.addClassCleanup(shutil.rmtree, cls.box, ignore_errors=True)
        cls.run_folder = cls.box / "run"
        done = nkigrid("run", SMALL, "-o", cls.run_folder, "-q")
        assert done.returncode == 0, done.stderr
        cls.episodes = exported(cls.run_folder)

    # lists and single turns

    def test_filters_find_what_the_export_has(self):
        wanted = [
            row["episode"]
            for row in self.episodes
            if row["outcome"] == "compile_fail" and row["level"] == "L1" and ".agent." in row["cell"]
        ] or [row["episode"] for row in self.episodes if row["outcome"] == "pass" and row["level"] == "L1"]
        outcome = next(row["outcome"] for row in self.episodes if row["episode"] == wanted[0])
        wanted = [r["episode"] for r in self.episodes if r["outcome"] == outcome and r["level"] == "L1"]
        for command in (["show"], ["tables", "--rows"]):
            done = nkigrid(*command, self.run_folder, "--outcome", outcome, "--level", "L1", "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual([row["episode"] for row in json.loads(done.stdout)["episodes"]], wanted)
        done = nkigrid("show", self.run_folder, "--outcome", outcome, "--level", "L1", "--limit", "1", "--json")
        self.assertEqual([row["episode"] for row in json.loads(done.stdout)["episodes"]], wanted[:1])

    def test_an_unknown_value_is_refused_with_a_near_one(self):
        done = nkigrid("tables", self.run_folder, "--level", "L1")
        self.assertEqual((done.returncode, done.stdout), (2, ""), "tables of a part are --subset")
        self.assertIn("add --rows", done.stderr)
        done = nkigrid("show", self.run_folder, "--cell", "novice.agnt.rank-aware")
        self.assertEqual(done.returncode, 2)
        self.assertIn("did you mean 'novice.agent.rank-aware'", done.stderr)

    def test_a_kernel_and_a_turn_alone(self):
        turns = [row for row in exported(self.run_folder, "--turns", "--texts") if row["kernel"]]
        several = next(row["episode"] for row in turns if row["turn"] == 2)
        mine = {row["turn"]: row["kernel"] for row in turns if row["episode"] == several}
        self.assertEqual(nkigrid("show", self.run_folder, several, "--kernel").stdout, mine[max(mine)])
        self.assertEqual(nkigrid("show", self.run_folder, several, "--kernel", "--turn", "2").stdout, mine[2])
        alone = nkigrid("show", self.run_folder, several, "--turn", "2").stdout
        self.assertTrue(alone.startswith(several) and "Turn 2 " in alone)
        self.assertNotIn("Turn 1 ", alone)
        done = nkigrid("show", self.run_folder, several, "--turn", "99")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no turn 99", done.stderr)

    def test_a_diff_has_the_lines_that_changed(self):
        turns = [row for row in exported(self.run_folder, "--turns", "--texts") if row["kernel"]]
        pairs = zip(turns, turns[1:])
        before, after = next(
            (a, b)
            for a, b in pairs
            if a["episode"] == b["episode"] and b["turn"] == a["turn"] + 1 and a["kernel"] != b["kernel"]
        )
        text = nkigrid("show", self.run_folder, after["episode"], "--diff", "--turn", str(after["turn"])).stdout
        removed = set(before["kernel"].splitlines()) - set(after["kernel"].splitlines())
        for line in removed:
            self.assertRegex(text, re.compile(r"^ +- " + re.escape(line) + "$", re.M))

    def test_a_diff_tells_what_each_kernel_was_asked(self):
        """One that compiles is no right one: the word is the last check that the turn asked for."""
        turns = [row for row in exported(self.run_folder, "--turns", "--texts") if row["kernel"]]
        seen = set()
        for episode in {row["episode"] for row in turns}:
            text = nkigrid("show", self.run_folder, episode, "--diff").stdout
            told = dict(re.findall(r"^Turn (\d+)  (.*)$", text, re.M))
            for row in (row for row in turns if row["episode"] == episode):
                word = row["code"] or ("compiles, not verified" if row["compile_ok"] == 1 else "not checked")
                if row["verify_ok"] == 1 and row["compile_ok"] != 0:
                    word = "verified"
                self.assertEqual(told[str(row["turn"])], word, episode)
                seen.add(word)
            self.assertRegex(text, "\nOutcome: ")
        self.assertLessEqual({"verified", "compiles, not verified"}, seen)

    def test_a_pager_is_asked_on_a_terminal_alone(self):
        episode = self.episodes[0]["episode"]
        plain = nkigrid("show", self.run_folder, episode).stdout
        self.assertIn("Turn 1", plain)
        window = "stty rows 5 cols 80; PAGER='sed s/^/@/' TERM=xterm NO_COLOR=1"
        command = f"{window} {nkigrid_words('show', self.run_folder, episode)}"
        shown = subprocess.run(
            ["script", "-qec", command, "/dev/null"],
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=60,
        ).stdout
        self.assertIn("@" + episode, shown)

    def test_runs_are_listed_newest_first(self):
        done = nkigrid("runs", self.box, "--json")
        (only,) = json.loads(done.stdout)["runs"]
        self.assertEqual((only["name"], only["episodes"], only["scored"]), ("small", 48, 48))
        files = [path for path in self.run_folder.rglob("*") if path.is_file()]
        self.assertEqual(only["bytes"], sum(path.stat().st_size for path in files))
        self.assertIn("48/48", nkigrid("runs", self.box).stdout)
        self.assertEqual(nkigrid("runs", self.box / "none").returncode, 2)

    def test_every_column_of_every_table_is_explained(self):
        for path in sorted((self.run_folder / "tables").glob("*.csv")):
            text = nkigrid("tables", "--explain", "--table", path.stem).stdout
            words = {name for line in re.findall(r"^  (.*?): ", text, re.M) for name in line.split(", ")}
            with open(path, newline="") as file:
                columns = next(csv.reader(file))
            if path.stem in ("errors", "modes"):
                continue  # a column an outcome, a group or a mode: the names are data
            missing = [column for column in columns if column not in words and short(column) not in words]
            self.assertEqual(missing, [], path.name)

    def test_a_column_is_explained_as_its_own_table_has_it(self):
        def explained(table):
            return " ".join(nkigrid("tables", "--explain", "--table", table).stdout.split())

        self.assertIn("relative_high: cost of a pass over that of relative_to", explained("cost"))
        self.assertIn("relative_high: the same as a share of the baseline", explained("ablation"))
        self.assertIn(
            "run_to_run_high: interval of the true rate of these very tasks, which endless", explained("cells")
        )
        self.assertNotIn("another run of them would scatter", explained("all"))

    # figures

    def test_figures_are_drawn_twice_alike_with_their_data_beside(self):
        first, second = self.box / "first", self.box / "second"
        for folder in (first, second):
            done = nkigrid("figures", self.run_folder, "-o", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
        names = {path.name for path in first.iterdir()}
        for figure in ("levels", "ablation", "pairs", "turns", "errors", "transitions", "cost", "power", "estimates"):
            self.assertLessEqual({f"{figure}.csv", f"{figure}.svg", f"{figure}.pdf", f"{figure}-wide.pdf"}, names)
        for path in first.iterdir():
            self.assertEqual(path.read_bytes(), (second / path.name).read_bytes(), path.name)
            if path.suffix == ".pdf":
                self.assertNotIn(b"/Type3", path.read_bytes())

    def test_the_data_of_a_figure_are_those_of_its_table(self):
        folder = self.box / "levels"
        nkigrid("figures", self.run_folder, "--figure", "levels", "-o", folder)
        with open(folder / "levels.csv", newline="") as file:
            drawn = {(r["model"], r["panel"], r["level"]): float(r["rate"]) for r in csv.DictReader(file)}
        cells = json.loads(nkigrid("tables", self.run_folder, "--json").stdout)["cells"]
        told = {
            (cell["model"], cell["mode"], level): 100 * rate["rate"]
            for cell in cells
            for level, rate in cell["levels"].items()
        }
        self.assertEqual(set(drawn), set(told))
        for key, rate in drawn.items():
            self.assertAlmostEqual(rate, told[key], places=3)

    def test_a_rate_that_is_not_known_yet_is_not_drawn(self):
        sys.path.insert(0, str(SOURCE / "figures"))
        import turns

        known = {"cell": "a", "turn": "1", "rate": "0.5", "interval_low": "0.2", "interval_high": "0.8"}
        known |= {"interval_method": "wilson", "open": "4"}
        outstanding = known | {"cell": "b", "rate": "", "interval_low": "", "interval_high": ""}
        rows = turns.turn_rows([known, outstanding])
        self.assertEqual(
            [(row["cell"], row["rate"], row["method"], row["low"], row["high"]) for row in rows],
            [("a", 50, "wilson", 20, 80)],
        )

    def test_errors_of_a_run_in_which_nothing_passed_are_drawn(self):
        sys.path.insert(0, str(SOURCE / "figures"))
        import stacks

        rows = stacks.error_rows([{"cell": "a", "scored": "3", "mismatch": "3", "NUMERIC": "3"}])
        self.assertEqual([(row["part"], row["episodes"]) for row in rows], [("NUMERIC", 3)])
        self.assertEqual(len(stacks.paint_errors(rows, 3).axes), 1)

    def test_what_a_reader_likes_of_matplotlib_changes_no_figure(self):
        home = self.box / "home/.config/matplotlib"
        home.mkdir(parents=True)
        (home / "matplotlibrc").write_text("axes.grid: True\naxes.facecolor: red\n")
        for name, more in (("plain", {}), ("liked", {"HOME": str(self.box / "home")})):
            done = nkigrid(
                "figures", self.run_folder, "--figure", "cost", "-o", self.box / name, env=environment() | more
            )
            self.assertEqual(done.returncode, 0, done.stderr)
        for path in (self.box / "plain").iterdir():
            self.assertEqual(path.read_bytes(), (self.box / "liked" / path.name).read_bytes(), path.name)

    def test_estimates_stand_against_the_rooflines_of_their_tasks(self):
        folder = self.box / "estimates"
        nkigrid("figures", self.run_folder, "--figure", "estimates", "-o", folder)
        about = json.loads((SOURCE / "configs/nkigen-bench/about.json").read_text())
        estimates = collections.defaultdict(list)
        for row in self.episodes:
            if row["passed"]:
                estimates[row["cell"], row["task"]].append(row["estimate_us"])
        with open(folder / "estimates.csv", newline="") as file:
            drawn = list(csv.DictReader(file))
        self.assertEqual({(row["cell"], row["task"]) for row in drawn}, set(estimates))
        for row in drawn:
            self.assertAlmostEqual(float(row["roofline_us"]), about[row["task"]]["roofline_us"], places=5)
            median = statistics.median(estimates[row["cell"], row["task"]])
            self.assertAlmostEqual(float(row["median_us"]), median, places=5)

    def test_printed_counts_are_drawn_too(self):
        folder = self.box / "paper"
        done = nkigrid("figures", "--counts", COUNTS, "-o", folder, "--figure", "levels", "--figure", "pairs")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(folder / "levels.csv", newline="") as file:
            panels = {row["panel"] for row in csv.DictReader(file)}
        self.assertEqual(len(panels), 2)
        for path in folder.glob("*.pdf"):
            box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", path.read_bytes())
            width, height = (float(side) / 72 for side in box.groups())
            self.assertAlmostEqual(width, 6.9 if path.stem.endswith("-wide") else 3.35, places=2)
            self.assertLess(height, 8.5, "inches: with a caption it fits a page")
        done = nkigrid("figures", "--counts", COUNTS, "-o", folder, "--figure", "turns")
        self.assertEqual(done.returncode, 2)
        self.assertIn("needs a RUN", done.stderr)


def short(column):
    """ "interval_low" of "x_low": parts of a group are explained under the group's name."""
    return re.sub(r"_(method|low|high)$", "", column)


def nkigrid_words(*words):
    from harness import NKIGRID

    return " ".join([NKIGRID, *(f"'{word}'" for word in words)])


if __name__ == "__main__":
    unittest.main()
