"""The page about all experiments, from the rows that are on the disk.

Rows in the folder itself are those of a preset; rows in a folder within it are a variant: other settings of
the same experiments. The variant ``defaults`` stands beside the preset in the summary.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ibmap.errors import RequestError
from ibmap.paper import figures, story
from ibmap.paper.claims import FAILS, HOLDS, MOSTLY
from ibmap.paper.experiment import Experiment
from ibmap.paper.markdown import MARKS, block, csv_table, judged
from ibmap.paper.presets import paper
from ibmap.paper.ranking import choices_table, errors_table, ranking, ranking_csv, ranking_table
from ibmap.paper.readings import read_readings
from ibmap.paper.registry import experiment_names, find_experiment
from ibmap.paper.results import Results
from ibmap.paper.store import Content, path_of, read

DEFAULTS = "defaults"  #: the variant that is compared with the preset
SHOWN = 12  #: readings


class Page(NamedTuple):
    """The page itself, and the files that it shows, by name."""

    text: str
    files: dict[str, str | bytes]


class Variant(NamedTuple):
    """An experiment with some settings, its rows, and what they say about the claims."""

    name: str  #: of the settings; "" for those of the folder itself
    experiment: Experiment
    content: Content
    claims: list[dict[str, Any]]

    @property
    def stem(self) -> str:
        """The name of its section, and of its files."""
        return f"{self.experiment.name}-{self.name}" if self.name else self.experiment.name


def make_page(folder: Path, beside: str) -> Page:
    """Write the page from the rows in a folder; ``beside`` is where its files will be, seen from the page."""
    found = [variant for name in experiment_names() for variant in _variants(folder, find_experiment(name))]
    if not found:
        raise RequestError(
            f"there are no rows in {str(folder)!r}: run ibmap reproduce NAME --out {folder} first"
        )
    files: dict[str, str | bytes] = {}
    sections = [_section(variant, beside, files) for variant in found]
    parts = [
        story.INTRO,
        summary(found),
        story.CONCLUSIONS,
        _preset_table(),
        _readings(folder, beside, files),
        _overview(found),
        "".join(sections).rstrip() + "\n",
    ]
    return Page("\n".join(part for part in parts if part), files)


def _variants(folder: Path, experiment: Experiment) -> list[Variant]:
    """Return the rows of an experiment: those in the folder itself, then its variants by name."""
    places = [("", folder), *sorted((path.name, path) for path in folder.glob("*") if path.is_dir())]
    found = [(name, read(path_of(place, experiment.study))) for name, place in places]
    return [
        Variant(name, experiment, content, judged(experiment, Results(content.rows)))
        for name, content in found
        if content is not None and content.rows
    ]


def summary(found: Sequence[Variant]) -> str:
    """Return claims and cases by section of the paper, for the preset and for the defaults."""
    heads = ["section", "claims", HOLDS, MOSTLY, FAILS, "cases", "with our defaults: claims", "cases"]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "---:|" * (len(heads) - 1)]
    every: list[dict[str, Any]] = []
    usual: list[dict[str, Any]] = []
    complete = True
    for section, names in story.SECTIONS.items():
        ours, theirs = (
            [claim for v in found if v.name == of and v.experiment.name in names for claim in v.claims]
            for of in ("", DEFAULTS)
        )
        theirs = theirs if any(claim["cases"] for claim in theirs) else []  # too few repetitions
        if ours:
            every, usual = every + ours, usual + theirs
            complete = complete and bool(theirs)
            lines.append(_sums(section, ours, theirs))
    lines.append(_sums("**all**", every, usual if complete else []))
    return "## How many of the paper's claims hold\n\n" + "\n".join(lines) + "\n"


def _sums(section: str, claims: Sequence[dict[str, Any]], usual: Sequence[dict[str, Any]]) -> str:
    counts = [_count(claims, status) for status in (HOLDS, MOSTLY, FAILS)]
    theirs = f"{_count(usual, HOLDS)} + {_count(usual, MOSTLY)} of {len(usual)}" if usual else "–"
    entries = [section, len(claims), *counts, _cases(claims), theirs, _cases(usual) if usual else "–"]
    return f"| {' | '.join(map(str, entries))} |"


def _count(claims: Sequence[dict[str, Any]], status: str) -> int:
    return sum(claim["status"] == status for claim in claims)


def _cases(claims: Sequence[dict[str, Any]]) -> str:
    agreeing, run = (sum(claim[name] for claim in claims) for name in ("agreeing", "cases"))
    return f"{agreeing:,} of {run:,}"


def _preset_table() -> str:
    """Return what the preset sets, as a table."""
    lines = ["| setting | preset `paper` | our default | why the preset |", "|---|---|---|---|"]
    lines += [f"| `{s.name}` | {s.value} | {s.default} | {s.why} |" for s in paper().settings]
    return story.PRESET + "\n" + "\n".join(lines) + "\n"


def _readings(folder: Path, beside: str, files: dict[str, str | bytes]) -> str:
    """Return the ranking of the readings, if they have been run."""
    rows = read_readings(folder)
    ranked = ranking(rows)
    if not ranked:
        return ""
    files["readings.csv"] = ranking_csv(ranked)
    link = f"All {len(ranked)} readings are in [readings.csv]({beside}/readings.csv)."
    best, cost = ranking_table(ranked, SHOWN), choices_table(ranked)
    shown = f"{story.READINGS}\n{link}\n\n{best}\n\n{story.CHOICES}\n{cost}\n"
    return f"{shown}\n{story.DEFAULTS}\n{errors_table(rows)}\n\n{story.REASONS}"


def _overview(found: Sequence[Variant]) -> str:
    heads = f"| experiment | {' | '.join(MARKS)} |\n|---|" + "---:|" * len(MARKS)
    lines = []
    for variant in found:
        counts = " | ".join(str(_count(variant.claims, status)) for status in MARKS)
        lines.append(f"| [{variant.stem}](#{variant.stem}) | {counts} |")
    return "## Every experiment\n\n" + "\n".join([heads, *lines]) + "\n"


def _section(variant: Variant, beside: str, files: dict[str, str | bytes]) -> str:
    """Return the section of one variant; its table and figure go to the files."""
    stem, experiment = variant.stem, variant.experiment
    results = Results(variant.content.rows)
    files[f"{stem}.csv"] = csv_table(experiment, results)
    picture = ""
    if figures.can_draw():
        files[f"{stem}.png"] = figures.draw(experiment, results)
        picture = f"![{experiment.title}]({beside}/{stem}.png)\n\n"
    preset = "" if variant.name else " --preset paper"
    command = f"`ibmap reproduce {experiment.name}{preset}`; [means as CSV]({beside}/{stem}.csv).\n\n"
    head = f"## {stem}\n\n**{experiment.title}.** {experiment.about}\n\n{command}"
    return head + block(experiment, variant.content, picture)
