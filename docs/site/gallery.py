"""Write docs/gallery.md and its pictures: real tables, from a command to a network.

``python docs/site/gallery.py`` reads the tables of ../shared/data; one that is not there is left out, with
its picture, and its part of the page goes. Everything on the page comes from the commands that it shows.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
TABLES = ROOT.parent / "shared" / "data" / "benchmarks"
HEAD = """# Gallery

Real tables, each with the commands that made its network. `python docs/site/gallery.py` writes this page;
the tables are those of the UCI repository that the paper uses (`ibmap.datasets`).
"""


class Analysis(NamedTuple):
    """A table, how it is read and drawn, and what to look at."""

    name: str
    title: str
    words: str
    learn: list[str]
    plot: list[str]


def ordinal_columns(name: str, but: set[str]) -> str:
    """The columns of a table that have an order: all but some."""
    first = (TABLES / f"{name}.csv").open().readline().strip().split(",")
    return ",".join(column for column in first if column not in but)


ANALYSES = [
    Analysis(
        "dermatology",
        "Signs of skin diseases",
        "33 signs, graded from 0 to 3, age, and the diagnosis, which has no order. Grades have one, so an "
        "edge between two signs has one effect, and it has a sign. Colours are communities.",
        ["--ordinal", "ALL", "--nominal", "class", "--discretize", "quantile", "--bins", "4"],
        ["--groups", "found"],
    ),
    Analysis(
        "cmc",
        "Who uses which contraceptive",
        "A survey of 1473 couples in Indonesia. Education and standard of living have four grades; the "
        "method (class) has none.",
        [
            *("--ordinal", "wife_education,husband_education,living_standard"),
            *("--nominal", "class,husband_occupation", "--discretize", "quantile", "--bins", "4"),
        ],
        [],
    ),
    Analysis(
        "cmc",
        "What is around the method",
        "The same network around one variable: its neighbours, and the edges among them.",
        [],
        ["--about", "class"],
    ),
]


def ibmap(*arguments: object) -> str:
    """Run a command; return what it prints."""
    command = [sys.executable, "-m", "ibmap", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return run.stdout


def part(analysis: Analysis, number: int, folder: Path) -> str:
    """Learn and draw; return the part of the page."""
    name, table = analysis.name, TABLES / f"{analysis.name}.csv"
    said, shown = [], ""
    if analysis.learn:
        columns = ordinal_columns(name, {"class", "age", "family_history"})
        how = [columns if word == "ALL" else word for word in analysis.learn]
        shown = ibmap("learn", table, *how, "--out", folder / name, "--top", 8)
        short = ["erythema,scaling,..." if word == "ALL" else word for word in analysis.learn]
        said.append(f"ibmap learn {name}.csv {' '.join(short)} --out {name}")
        shown = "\n".join(line for line in shown.splitlines() if str(folder) not in line).rstrip() + "\n"
    picture = ROOT / "docs" / "gallery" / f"{number}-{name}.png"
    ibmap("plot", folder / name, picture, *analysis.plot, "--force")
    said.append(f"ibmap plot {name} {name}.png {' '.join(analysis.plot)}".rstrip())
    commands = "\n".join(f"$ {line}" for line in said[:1]) + f"\n{shown}" if shown else f"$ {said[0]}\n"
    more = f"$ {said[1]}\n" if len(said) > 1 else ""
    return (
        f"\n## {analysis.title}\n\n{analysis.words}\n\n```\n{commands}{more}```\n\n"
        f"![{analysis.title}](gallery/{picture.name})\n"
    )


def main() -> None:
    """Write the page."""
    (ROOT / "docs" / "gallery").mkdir(exist_ok=True)
    there = [one for one in ANALYSES if (TABLES / f"{one.name}.csv").is_file()]
    with tempfile.TemporaryDirectory() as folder:
        parts = [part(one, number, Path(folder)) for number, one in enumerate(there, start=1)]
    (ROOT / "docs" / "gallery.md").write_text(HEAD + "".join(parts))


if __name__ == "__main__":
    main()
