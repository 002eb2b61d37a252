"""Compile and verify of a kernel inside a run."""
import glob
import pathlib
import statistics
import subprocess
import tempfile

from harness import BUILD, ROOT, median_seconds, report


def bench():
    """Compile and verify of a small kernel in a run, against a fresh Python with torch for each, as public harnesses do
    it."""
    import h5py

    with tempfile.TemporaryDirectory() as folder:
        grid = (
            (ROOT / "configs/smoke.yaml")
            .read_text()
            .replace("replicates: 1", "replicates: 12")
            .replace("nkigen-smoke", '["L1/001_add"]')
        )
        path = pathlib.Path(folder, "grid.yaml")
        path.write_text(grid)
        subprocess.run([BUILD / "nkigrid", "run", path, "-o", f"{folder}/run", "--quiet", "--lanes", "1"], check=True)
        seconds = []
        for name in glob.glob(f"{folder}/run/log/*.h5"):
            with h5py.File(name) as segment:
                turns = segment["turns"]
                for compiled, verified, ok in zip(turns["compile_s"][:], turns["verify_s"][:], turns["verify_ok"][:]):
                    if ok == 1:
                        seconds.append(float(compiled + verified))
    script = "import torch\nx = torch.randn(512, 512)\ny = torch.randn(512, 512)\nassert torch.allclose(x + y, y + x)\n"
    peer = median_seconds(lambda: subprocess.run(["/usr/bin/python3", "-c", script], check=True), 3)
    report(
        f"compile + verify of a small kernel ({len(seconds)} checks)",
        statistics.median(seconds),
        peer,
        "fresh Python with torch",
        "<= 0.025",
    )
