"""Which shared libraries the programs load: OpenBLAS starts threads as soon as it is loaded, and `nkigrid` forks its
servers and blocks its signals before there is any thread."""
import os
import pathlib
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["NKIGRID_BUILD_DIR"])


def needed(program):
    """Names of the shared libraries that a program asks for."""
    shown = subprocess.run(["readelf", "-d", BUILD / program], check=True, capture_output=True, text=True).stdout
    return [line.split("[")[1].rstrip("]") for line in shown.splitlines() if "(NEEDED)" in line]


class Libraries(unittest.TestCase):
    def test_the_engine_alone_loads_openblas(self):
        for program, loads in {"nkigrid": False, "nkisim/neuronxcc/_engine.so": True}.items():
            with self.subTest(program):
                found = needed(program)
                self.assertTrue(any(name.startswith("libc.") for name in found), found)
                self.assertEqual(any("openblas" in name for name in found), loads, found)


if __name__ == "__main__":
    unittest.main()
