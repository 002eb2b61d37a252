"""Known kernels with random slips: always one answer, clean text, and whatever compiles passes the validator."""

import json
import os
import random
import re
import unittest

from neuronxcc.nki import _harness
from neuronxcc.nki._trace import decode, engine

ROOT = os.path.join(os.environ["NKIGRID_SOURCE_DIR"], "configs", "nkigen-bench")
SIZES = "0 1 2 3 16 32 64 100 127 128 129 256 512 1024 -1".split()


def slip(source, names, rng):
    """One random edit: a dropped or swapped token, another size, another API name, a lost or moved line."""
    kind = rng.randrange(6)
    if kind == 0:
        token = rng.choice(list(re.finditer(r"\w+|[^\s\w]", source)))
        return source[: token.start()] + source[token.end() :]
    if kind == 1:
        number = rng.choice(list(re.finditer(r"\b\d+\b", source)))
        return source[: number.start()] + rng.choice(SIZES) + source[number.end() :]
    if kind == 2:
        name = rng.choice(list(re.finditer(r"n(?:l|isa)\.\w+", source)))
        return source[: name.start()] + rng.choice(names) + source[name.end() :]
    if kind == 3:
        words = list(re.finditer(r"\b[a-z_]\w*\b", source))
        word = rng.choice(words)
        return source[: word.start()] + rng.choice(words).group() + source[word.end() :]
    lines = source.split("\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    if kind == 4:
        lines[i], lines[j] = lines[j], lines[i]
    else:
        lines.pop(i)
    return "\n".join(lines)


class Mutants(unittest.TestCase):
    def test_every_mutant_gets_a_clean_answer_and_programs_validate(self):
        with open(os.path.join(ROOT, "index.json"), encoding="utf-8") as file:
            tasks = json.load(file)["tasks"]
        files = [(task, os.path.join(ROOT, "kernels", task["id"] + ".py")) for task in tasks]
        sources = []
        for task, name in files:
            if os.path.exists(name):
                with open(name, encoding="utf-8") as file:
                    sources.append((task, file.read()))
        names = sorted({name for _, text in sources for name in re.findall(r"n(?:l|isa)\.\w+", text)})
        rng, compiled = random.Random(11), 0
        for number in range(150):
            task, source = rng.choice(sources)
            for _ in range(rng.randint(1, 2)):
                source = slip(source, names, rng)
            result = _harness.compile_source(
                source, None, [(i["name"], i["shape"], i["dtype"]) for i in task["inputs"]], None, {}
            )
            with self.subTest(number=number, task=task["id"]):
                if result["ok"]:
                    compiled += 1
                    decode.decode(result["program"])
                    self.assertIsNone(engine.validate(result["program"]))
                else:
                    self.assertNotEqual(result["code"], "COMPILER_INTERNAL")
                    self.assertNotRegex(result["message"], r"0x[0-9a-f]{4}|/usr/|/home/|/tmp/|neuronxcc/nki/")
        self.assertGreater(compiled, 10)


if __name__ == "__main__":
    unittest.main()
