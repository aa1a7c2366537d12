"""The page that shows every experiment beside the paper, from rows that are on the disk."""

from pathlib import Path
from typing import NamedTuple

from ibmap.errors import RequestError
from ibmap.experiments import figures
from ibmap.experiments.claims import FAILS, HOLDS, OPEN
from ibmap.experiments.experiment import Experiment
from ibmap.experiments.registry import experiment_names, find_experiment
from ibmap.experiments.report import block, csv_table, judged
from ibmap.experiments.results import Results
from ibmap.experiments.store import Content, path_of, read

INTRO = """# The paper's experiments, reproduced

This page was written by `ibmap reproduce --page`, from the rows that `ibmap reproduce NAME` left. Every
number is ours unless it is said to be the paper's. `empty` is the graph without edges: a learner that has
more errors than it would have done better to say nothing.

A claim **does not hold** if it is untrue of the means of one case that was run at least three times; it
**holds** if every case that the sentence is about was run so often and agrees. How words were read is said in
brackets.

Seeds: a world is drawn from the SHA-256 of (seed, description of the world, repetition). Neither the order of
the cells nor the number of processes matters, and all learners see the same worlds, with the first D rows of
one sample.

"""


class Page(NamedTuple):
    """The page itself, and the files that it shows, by name."""

    text: str
    files: dict[str, str | bytes]


def make_page(folder: Path, beside: str) -> Page:
    """Write the page from the rows in a folder; ``beside`` is where its files will be, seen from the page.

    Rows in folders within it are shown as variants: other settings of the same experiments.
    """
    sections: list[str] = []
    files: dict[str, str | bytes] = {}
    overview = ["| experiment | holds | does not hold | not enough runs |", "|---|---:|---:|---:|"]
    for name in experiment_names():
        experiment = find_experiment(name)
        for variant, content in _contents(folder, experiment):
            stem = f"{name}-{variant}" if variant else name
            results = Results(content.rows)
            verdicts = [claim["status"] for claim in judged(experiment, results)]
            counts = " | ".join(str(verdicts.count(status)) for status in (HOLDS, FAILS, OPEN))
            overview.append(f"| [{stem}](#{stem}) | {counts} |")
            files[f"{stem}.csv"] = csv_table(experiment, results)
            picture = ""
            if figures.can_draw():
                files[f"{stem}.png"] = figures.draw(experiment, results)
                picture = f"![{experiment.title}]({beside}/{stem}.png)\n\n"
            command = f"`ibmap reproduce {name}`; [means as CSV]({beside}/{stem}.csv).\n\n"
            head = f"## {stem}\n\n**{experiment.title}.** {experiment.about}\n\n{command}"
            sections.append(head + block(experiment, content, picture))
    if not sections:
        raise RequestError(
            f"there are no rows in {str(folder)!r}: run ibmap reproduce NAME --out {folder} first"
        )
    return Page(INTRO + "\n".join(overview) + "\n\n" + "".join(sections).rstrip() + "\n", files)


def _contents(folder: Path, experiment: Experiment) -> list[tuple[str, Content]]:
    """Return the rows of an experiment: those in the folder itself, then its variants by name."""
    places = [("", folder), *sorted((path.name, path) for path in folder.glob("*") if path.is_dir())]
    found = [(name, read(path_of(place, experiment.study))) for name, place in places]
    return [(name, content) for name, content in found if content is not None and content.rows]
