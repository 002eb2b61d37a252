"""The list of the program form's numbers: what the page of the format says of them, and what the build refuses."""

import os
import pathlib
import re
import sys
import unittest

from neuronxcc.nki._trace import numbers, tables

SOURCE = pathlib.Path(os.environ["NKIGRID_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "runner/nkisim/package"))
import assemble  # noqa: E402

PAGE = (SOURCE / "docs/formats/program.md").read_text()
LIST = (SOURCE / "runner/nkisim/numbers/numbers.def").read_text()


def of_page(label):
    """{number: name} of the paragraph `label: 0 name, 1 name, ...`."""
    (text,) = re.findall(rf"^{label}: ([^.]*)\.", PAGE, re.M)
    return {int(number): name for number, name in re.findall(r"(\d+) (\w+)", text)}


class Numbers(unittest.TestCase):
    def test_the_page_lists_every_number_and_no_other(self):
        self.assertEqual(of_page("function"), tables.FN_NAMES)
        self.assertEqual(of_page("instruction"), tables.INSTR_NAMES)
        self.assertEqual(of_page("special"), {number: name for name, number in tables.SPECIAL.items()})
        self.assertEqual(of_page("dtype"), {row[0]: row[2] for row in numbers.DTYPE})

    def test_the_page_says_how_many_operands_a_function_takes(self):
        two, three = range(0, 23), (54,)
        want = {number: 2 if number in two else 3 if number in three else 1 for number in of_page("function")}
        added = {
            number: count for number, count in tables.ARITY.items() if number > 55
        }  # later ones take one, or say so
        self.assertEqual(tables.ARITY, want | added)

    def test_the_kinds_of_the_grammar_are_the_lists(self):
        for text, table in (
            ("0 param, 1 output, 2 hbm, 3 sbuf, 4 psum, 5 constant", tables.BUFFER),
            ("0 unknown, 1 tensor, 2 scalar, 3 gpsimd, 5 vector, 6 dma", tables.ENGINE),
        ):
            self.assertIn(text, PAGE)
            self.assertEqual(text, ", ".join(f"{number} {name}" for name, number in table.items()))

    def test_a_number_given_twice_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "FN gives a number twice"):
            assemble.entries(LIST + "FN(0, cube, 1, elementwise, float32, no, no, none)\n")

    def test_a_number_left_out_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "INSTR leaves a number out"):
            assemble.entries(LIST + "INSTR(99, cube, vector, at_least(n))\n")

    def test_one_line_makes_a_function_of_the_tables(self):
        number = len(numbers.FN)
        rows = assemble.entries(LIST + f"FN({number}, cube, 1, elementwise, float32, no, yes, cube)  // x^3\n")["FN"]
        self.assertEqual(rows[-1], [number, "cube", 1, "elementwise", "float32", "no", "yes", "cube"])


if __name__ == "__main__":
    unittest.main()
