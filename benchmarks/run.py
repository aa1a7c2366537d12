"""All benchmarks, one process each: ``make bench``. Name some to run only those."""

import subprocess
import sys
from pathlib import Path

ALL = (
    "peers",
    "shapes",
    "startup",
    "routes",
    "kernels",
    "output",
    "growth",
    "worlds",
    "rivals",
    "dag",
    "levels",
    "evidence",
    "groups",
    "eda",
    "pages",
)


def main() -> None:
    here = Path(__file__).parent
    for name in sys.argv[1:] or ALL:
        subprocess.run([sys.executable, str(here / f"{name}.py")], check=True)


if __name__ == "__main__":
    main()
