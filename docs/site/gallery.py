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
TABLES = ROOT.parent / "shared" / "data" / "mixed"
HEAD = """# Gallery

Real tables of numbers, categories and grades, with holes, as they are, each in one command, and drawn.
`python docs/site/gallery.py` writes this page; the tables come with R (MASS, carData, psych).
"""


class Analysis(NamedTuple):
    """A table, what it is about, and how its network is drawn."""

    name: str
    title: str
    words: str
    plot: list[str]


ANALYSES = [
    Analysis(
        "Chile",
        "Who votes for what",
        "2,700 Chileans before the plebiscite of 1988: age, income, schooling, region, and how much they "
        "like the state of things (statusquo). 11 % of the rows have holes.",
        [],
    ),
    Analysis(
        "birthwt",
        "Births of low weight",
        "189 births. `low` is whether the child weighs less than 2.5 kg, so it follows from `bwt`.",
        [],
    ),
    Analysis(
        "survey",
        "Students",
        "237 students: the spans of their hands, pulse, height, how they clap and fold their arms.",
        [],
    ),
    Analysis(
        "bfi",
        "Answers to a questionnaire",
        "2,800 people answer 25 items with 1 to 6; items of one letter are a scale. Nobody says "
        "whether answers are codes or amounts: the evidence does. Colours are communities.",
        ["--groups", "found"],
    ),
]


def ibmap(*arguments: object) -> str:
    """Run a command; return what it prints."""
    command = [sys.executable, "-m", "ibmap", *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return run.stdout


def part(analysis: Analysis, number: int, folder: Path) -> str:
    """Learn and draw; return the part of the page."""
    name, picture = analysis.name, ROOT / "docs" / "gallery" / f"{number}-{analysis.name}.png"
    shown = ibmap("learn", TABLES / f"{name}.csv", "--out", folder / name, "--top", 8)
    ibmap("plot", folder / name, picture, *analysis.plot, "--width-mm", 130, "--force")
    lines = [line for line in shown.splitlines() if str(folder) not in line]
    drawn = " ".join(["ibmap plot", name, f"{name}.png", *analysis.plot])
    learned = "\n".join([f"$ ibmap learn {name}.csv --out {name}", *lines, f"$ {drawn}"])
    return (
        f"\n## {analysis.title}\n\n{analysis.words}\n\n```\n{learned}\n```\n\n"
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
