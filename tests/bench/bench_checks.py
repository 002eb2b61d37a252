"""Compile and verify of a kernel inside a run."""
import glob
import pathlib
import statistics
import subprocess
import tempfile

from harness import BUILD, ROOT, figure, median_seconds, report


def bench():
    """Compile of nine small kernels and verify of one (three trials of 300 x 700) in a run, against a fresh Python with
    torch for each, as public harnesses do it."""
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        grid = (
            (ROOT / "configs/smoke.yaml")
            .read_text()
            .replace("replicates: 1", "replicates: 12")
            .replace("nkigen-smoke", '["L1/00*"]')
        )
        path = pathlib.Path(folder, "grid.yaml")
        path.write_text(grid)
        subprocess.run([BUILD / "nkigrid", "run", path, "-o", f"{folder}/run", "--quiet", "--lanes", "1"], check=True)
        compiles, verifies = [], []
        for name in glob.glob(f"{folder}/run/log/*.h5"):
            with h5py.File(name) as segment:
                turns = segment["turns"]
                # A source that was compiled before is not compiled again: what took no time is no compile.
                compiles += [
                    float(s) for s, ok in zip(turns["compile_s"][:], turns["compile_ok"][:]) if s > 1e-3 and ok
                ]
                of_the_add = [b"/L1/001_add#" in episode for episode in turns["episode"][:]]
                right = turns["verify_ok"][:] == 1
                verifies += [float(s) for s, ok, add in zip(turns["verify_s"][:], right, of_the_add) if ok and add]
    script = "import torch\nx = torch.randn(512, 512)\ny = torch.randn(512, 512)\nassert torch.allclose(x + y, y + x)\n"
    peer = median_seconds(lambda: subprocess.run(["/usr/bin/python3", "-c", script], check=True), 3)
    compiled, verified = statistics.median(compiles), statistics.median(verifies)
    what = f"compile + verify of a small kernel ({len(compiles)} and {len(verifies)})"
    report(what, compiled + verified, peer, "fresh Python with torch", "<= 0.025")
    figure("the same in parts", f"{compiled * 1e3:.2f} and {verified * 1e3:.2f} ms", "at most 8 ms together")
