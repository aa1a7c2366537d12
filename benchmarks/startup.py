"""Import and command line, from a cold process with warm caches."""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from common import report, times, verdict, world


def main() -> None:
    rows: list[dict[str, object]] = []

    def run(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.csv"
        data = world(20, 500)
        np.savetxt(
            path,
            data,
            fmt="%d",
            delimiter=",",
            header=",".join(f"x{i}" for i in range(data.shape[1])),
            comments="",
        )
        learn, out = (sys.executable, "-m", "ibmap", "learn"), ("--out", folder, "--force")
        bare = float(np.median(times(lambda: run(sys.executable, "-c", "pass"))))
        for what, command, bar in (
            ("import ibmap", (sys.executable, "-c", "import ibmap"), 0.5),
            ("ibmap --help", (sys.executable, "-m", "ibmap", "--help"), None),
            ("ibmap learn small.csv, second time", (*learn, str(path)), 1.5),
            ("the same with --out, which writes a report", (*learn, str(path), *out), None),
        ):
            seconds = float(np.median(times(lambda command=command: run(*command))))
            value = seconds - bare if what.startswith("import") else seconds
            rows.append(
                {
                    "what": what,
                    "seconds": round(value, 3),
                    "bar": verdict(value, bar, at_least=False) if bar else "",
                }
            )
    report("startup", rows)


if __name__ == "__main__":
    main()
