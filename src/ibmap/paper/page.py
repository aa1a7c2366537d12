"""The page about all experiments, from the rows that are on the disk.

Rows in the folder itself are those of a preset; rows in a folder within it are a variant: other settings of
the same experiments. The variant ``defaults`` stands beside the preset in the summary. The page has the
conclusions; means, pictures and claims are files beside it.
"""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ibmap.errors import RequestError
from ibmap.paper import figures, story
from ibmap.paper.claims import FAILS, HOLDS, MOSTLY
from ibmap.paper.experiment import Experiment
from ibmap.paper.markdown import MARKS, csv_table, judged
from ibmap.paper.presets import paper
from ibmap.paper.ranking import Ranked, choices_table, errors_table, ranking, ranking_csv, ranking_table
from ibmap.paper.readings import read_readings
from ibmap.paper.registry import experiment_names, find_experiment
from ibmap.paper.results import Results
from ibmap.paper.store import path_of, read

DEFAULTS = "defaults"  #: the variant that is compared with the preset
SHOWN = 5  #: readings
CLAIMS = "claims.csv"


class Page(NamedTuple):
    """The page itself, and the files that it shows, by name."""

    text: str
    files: dict[str, str | bytes]


class Variant(NamedTuple):
    """An experiment with some settings, what its rows say about the claims, and what made them."""

    name: str  #: of the settings; "" for those of the folder itself
    experiment: Experiment
    claims: list[dict[str, Any]]
    origins: list[dict[str, Any]]

    @property
    def stem(self) -> str:
        """The name of its files."""
        return f"{self.experiment.name}-{self.name}" if self.name else self.experiment.name


def make_page(folder: Path, beside: str) -> Page:
    """Write the page from the rows in a folder; ``beside`` is where its files will be, seen from the page."""
    files: dict[str, str | bytes] = {}
    experiments = [find_experiment(name) for name in experiment_names()]
    found = [variant for experiment in experiments for variant in _variants(folder, experiment, files)]
    if not found:
        raise RequestError(
            f"there are no rows in {str(folder)!r}: run ibmap reproduce NAME --out {folder} first"
        )
    rows = read_readings(folder)
    if ranked := ranking(rows):
        files["readings.csv"] = ranking_csv(ranked)
    files[CLAIMS] = claims_csv(found)
    return Page(page_text(found, ranked, errors_table(rows), set(files), beside), files)


def page_text(
    found: Sequence[Variant], ranked: Sequence[Ranked], errors: str, files: set[str], beside: str
) -> str:
    """Return the page: what holds, what to conclude, the readings, and where the numbers are."""
    parts = [
        story.INTRO.format(claims=f"[{CLAIMS}]({beside}/{CLAIMS})"),
        summary(found),
        story.CONCLUSIONS,
        failed(found),
        _preset_table(),
        _readings(ranked, errors, beside),
        _overview(found, files, beside),
    ]
    return "\n".join(part for part in parts if part)


def _variants(folder: Path, experiment: Experiment, files: dict[str, str | bytes]) -> list[Variant]:
    """Return what the rows say: those in the folder itself, then its variants by name; add their files."""
    places = [("", folder), *sorted((path.name, path) for path in folder.glob("*") if path.is_dir())]
    found = []
    for name, place in places:
        content = read(path_of(place, experiment.study))
        if content is None or not content.rows:
            continue
        results = Results(content.rows)
        variant = Variant(name, experiment, judged(experiment, results), list(content.origins))
        files[f"{variant.stem}.csv"] = csv_table(experiment, results)
        if figures.can_draw():
            files[f"{variant.stem}.png"] = figures.draw(experiment, results)
        found.append(variant)
    return found


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


def failed(found: Sequence[Variant]) -> str:
    """Return the claims that do not hold with the preset, by reason."""
    reasons: dict[str, Counter[str]] = {}
    for variant in found:
        for claim in variant.claims if not variant.name else ():
            if claim["status"] == FAILS:
                reasons.setdefault(claim["why"], Counter())[variant.experiment.name] += 1
    lines = [
        f"- {why or 'No reason is known.'} ({', '.join(f'{name}: {n}' for name, n in where.items())})"
        for why, where in reasons.items()
    ]
    return story.FAILED + "\n" + "\n".join(lines) + "\n" if lines else ""


def _preset_table() -> str:
    """Return what the preset sets, as a table."""
    lines = ["| setting | preset `paper` | our default | why the preset |", "|---|---|---|---|"]
    lines += [f"| `{s.name}` | {s.value} | {s.default} | {s.why} |" for s in paper().settings]
    return story.PRESET + "\n" + "\n".join(lines) + "\n"


def _readings(ranked: Sequence[Ranked], errors: str, beside: str) -> str:
    """Return the ranking of the readings, if they have been run."""
    if not ranked:
        return ""
    every = f"all {len(ranked)} are in [readings.csv]({beside}/readings.csv)"
    link = f"The best {SHOWN}, the preset and the default; {every}."
    shown = f"{story.READINGS}\n{link}\n\n{ranking_table(ranked, SHOWN)}\n\n"
    return f"{shown}{story.CHOICES}\n{choices_table(ranked)}\n\n{story.DEFAULTS}\n{errors}\n\n{story.REASONS}"


def _overview(found: Sequence[Variant], files: set[str], beside: str) -> str:
    """Return what there is of every experiment: claims that hold, means, and a picture."""
    heads = f"| experiment | {' | '.join(MARKS)} | means | picture |\n|---|{'---:|' * len(MARKS)}---|---|"
    lines = []
    for variant in found:
        counts = " | ".join(str(_count(variant.claims, status)) for status in MARKS)
        links = [
            f"[{end}]({beside}/{variant.stem}.{end})" if f"{variant.stem}.{end}" in files else "–"
            for end in ("csv", "png")
        ]
        lines.append(f"| {variant.stem} | {counts} | {' | '.join(links)} |")
    made = {
        ", ".join(f"{name} {value}" for name, value in origin.items()) for v in found for origin in v.origins
    }
    origins = f"\nMade with {'; '.join(sorted(made))}.\n" if made else ""
    return "## Every experiment\n\n" + "\n".join([heads, *lines]) + "\n" + origins


def claims_csv(found: Sequence[Variant]) -> str:
    """Return all claims, a line each, with what our rows say about them."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = ["claim", "read_as", "place", "status", "agreeing", "cases", "ours", "why"]
    writer.writerow(["experiment", "variant", *names])
    for variant in found:
        for claim in variant.claims:
            writer.writerow([variant.experiment.name, variant.name, *(claim[name] for name in names)])
    return text.getvalue()
