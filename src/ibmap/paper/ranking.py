"""Which reading of the paper fits best: claims held and distance to the printed numbers, over the seeds."""

import csv
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from ibmap.paper.experiment import Experiment
from ibmap.paper.presets import paper
from ibmap.paper.readings import CHOICES, PARTS, Part, Reading, all_readings
from ibmap.paper.results import Results, Row

Rows = Mapping[str, Sequence[Row]]


class Score(NamedTuple):
    """How well a reading does."""

    claims: float  #: mean over the claims of the share of cases in which they hold
    held: float  #: claims that hold in all cases
    judged: float  #: claims that could be judged
    anchors: float  #: mean distance to the printed Hamming distances, in parts of them
    accuracy: float  #: mean distance to the accuracies of Table 1
    steps: float  #: mean distance to the D* and f* of Tables 2 and 3, in doublings


class Ranked(NamedTuple):
    """A reading, its score, and the standard error of every number over the seeds."""

    reading: Reading
    score: Score
    error: Score

    def to_dict(self) -> dict[str, object]:
        """Return it for JSON; what is not known is None."""
        numbers = [
            {name: None if math.isnan(value) else value for name, value in part._asdict().items()}
            for part in (self.score, self.error)
        ]
        return {**self.reading._asdict(), "score": numbers[0], "error": numbers[1]}


class Found(NamedTuple):
    """What one part of the paper says about a reading."""

    shares: list[float]
    distances: dict[str, list[float]]


def ranking(rows: Rows) -> list[Ranked]:
    """Score every reading that has rows, the best one first.

    Parts of the paper that have no rows yet are left aside. The standard error is that of the jackknife:
    every seed is left out once.
    """
    seeds = sorted({row.repetition for found in rows.values() for row in found})
    left_out: list[int | None] = [None, *(seeds if len(seeds) > 1 else [])]
    known: dict[tuple[object, ...], Found] = {}
    ranked = []
    for reading in all_readings():
        score, *others = (_score(reading, rows, seed, known) for seed in left_out)
        if _complete(reading, rows):
            error = Score(*map(jackknife, zip(*others, strict=True))) if others else Score(*[math.nan] * 6)
            ranked.append(Ranked(reading, score, error))
    return sorted(ranked, key=lambda found: (-found.score.claims, found.score.anchors))


def _complete(reading: Reading, rows: Rows) -> bool:
    """Whether every part that has rows has some of a reading: others cannot be compared with it."""
    found = [part.has(reading, rows[part.study.name]) for part in PARTS if rows.get(part.study.name)]
    return bool(found) and all(found)


def jackknife(values: Sequence[float]) -> float:
    """Return the standard error from the values that leave out one seed each.

    Examples
    --------
    >>> round(jackknife([2.0, 3.0, 4.0]), 3)  # as for the mean of 5, 3 and 1
    1.155
    """
    mean = fmean(values)
    return math.sqrt((len(values) - 1) / len(values) * sum((value - mean) ** 2 for value in values))


def _score(
    reading: Reading, rows: Rows, without: int | None, known: dict[tuple[object, ...], Found]
) -> Score:
    """Put together what the parts say; what two readings have in common is judged once."""
    shares: list[float] = []
    distances: dict[str, list[float]] = {"hamming": [], "accuracy": [], "doublings": []}
    for k, part in enumerate(PARTS):
        key = (k, without, reading.hhc_symmetry, *(getattr(reading, name) for name in part.choices))
        if key not in known:
            known[key] = _judged(part, reading, rows.get(part.study.name, ()), without)
        shares += known[key].shares
        for measure, found in known[key].distances.items():
            distances[measure] += found
    held = sum(share == 1.0 for share in shares)
    far = (fmean(found) if found else math.nan for found in distances.values())
    return Score(fmean(shares) if shares else 0.0, held, len(shares), *far)


def _judged(part: Part, reading: Reading, rows: Sequence[Row], without: int | None) -> Found:
    results = part.results(reading, (row for row in rows if row.repetition != without))
    verdicts = [claim.judge(results) for experiment in part.shown for claim in experiment.claims]
    distances: dict[str, list[float]] = {}
    for measure, distance in _distances(part.shown[0], results):
        distances.setdefault(measure, []).append(distance)
    return Found([found.agreeing / found.run for found in verdicts if found.run], distances)


def _distances(experiment: Experiment, results: Results) -> Iterator[tuple[str, float]]:
    """List how far our means are from the printed numbers, each in its own measure."""
    for cell in results.cells():
        if experiment.printed is None or cell.get("learner") == "mi":  # k = τ is the paper's MI
            continue
        for name in ("hamming", "accuracy", "size", "evaluations"):
            printed, ours = experiment.printed(cell, name), results.mean(cell, name, 1)
            if printed is None or not ours:
                continue
            if name == "accuracy":
                yield name, abs(ours - printed)
            elif name == "hamming":
                yield name, abs(ours / printed - 1)
            else:
                yield "doublings", abs(math.log2(ours / printed))


HEADS = ("claims", "held", "anchors", "accuracy", "doublings")


def _numbers(found: Ranked) -> list[str]:
    """Return the numbers of a reading for a table."""
    score, error = found.score, found.error
    shown = {name: (getattr(score, name), getattr(error, name)) for name in Score._fields}
    words = {
        name: "–" if math.isnan(value) else f"{value:.3f} ± {margin:.3f}"
        for name, (value, margin) in shown.items()
    }
    held = f"{score.held:.0f} of {score.judged:.0f}"
    return [words["claims"], held, words["anchors"], words["accuracy"], words["steps"]]


def ranking_table(ranked: Sequence[Ranked], first: int) -> str:
    """Return the best readings, the preset and the default, as a table in Markdown."""
    lines = [f"| {' | '.join(['rank', *CHOICES, *HEADS])} |", f"|{'---:|' * (1 + len(CHOICES) + len(HEADS))}"]
    named = {preset_reading(): "preset", all_readings()[0]: "default"}
    for rank, found in enumerate(ranked, start=1):
        name = named.get(found.reading, "")
        if rank <= first or name:
            head = f"{rank} ({name})" if name else str(rank)
            lines.append(f"| {' | '.join([head, *found.reading, *_numbers(found)])} |")
    return "\n".join(lines)


def preset_reading() -> Reading:
    """Return the reading that is the preset.

    Examples
    --------
    >>> preset_reading() in all_readings()
    True
    """
    values = paper().values
    return Reading(*(str(values[name]) for name in CHOICES))


def choices_table(ranked: Sequence[Ranked]) -> str:
    """Return, for every choice, the best reading that makes it: what each one costs."""
    lines = [f"| choice | value | {' | '.join(HEADS)} |", f"|---|---|{'---:|' * len(HEADS)}"]
    for name, values in CHOICES.items():
        for value in values:
            best = next((found for found in ranked if getattr(found.reading, name) == value), None)
            if best is not None:
                lines.append(f"| {name} | {value} | {' | '.join(_numbers(best))} |")
    return "\n".join(lines)


def errors_table(rows: Rows) -> str:
    """Return what the choices cost users: mean errors of each learner in the random networks, by slices."""
    sums: dict[tuple[str, str], dict[str, list[float]]] = {}
    for row in rows.get("readings-random", ()):
        cell = row.cell
        if cell["combine"] == "slices":
            key = str(cell["potentials"]), str(cell["prior_counts"])
            sums.setdefault(key, {}).setdefault(str(cell["learner"]), []).append(row.measures["hamming"])
    learners = list(next(iter(sums.values()), {}))
    lines = [f"| potentials | prior_counts | {' | '.join(learners)} |", f"|---|---|{'---:|' * len(learners)}"]
    for (potentials, counts), found in sorted(sums.items()):
        means = [f"{fmean(found[who]):,.1f}" for who in learners]
        lines.append(f"| {potentials} | {counts} | {' | '.join(means)} |")
    return "\n".join(lines)


def ranking_csv(ranked: Sequence[Ranked]) -> str:
    """Return all readings, a line each."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = [field for field in Score._fields if field != "judged"]
    writer.writerow(
        ["rank", *CHOICES, "judged", *(f"{name}{end}" for name in names for end in ("", "_error"))]
    )
    for rank, (reading, score, error) in enumerate(ranked, start=1):
        numbers = [f"{getattr(of, name):.6g}" for name in names for of in (score, error)]
        writer.writerow([rank, *reading, f"{score.judged:.0f}", *numbers])
    return text.getvalue()
