"""What an experiment ends with, in Markdown: tables, a checklist of the paper's claims, and what was run."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from ibmap.paper.claims import FAILS, HOLDS, MOSTLY, OPEN
from ibmap.paper.experiment import Experiment, Measure
from ibmap.paper.results import Cell, Results, Summary, Value
from ibmap.paper.store import Content

MARKS = {HOLDS: "✔", MOSTLY: "◐", FAILS: "✘", OPEN: "…"}


def markdown_table(experiment: Experiment, results: Results, measure: Measure) -> str:
    """Return means and standard deviations, one row per cell, one column per level of a factor.

    The paper's number, if it prints one, stands in brackets.
    """
    across = experiment.across
    levels = results.levels(across, experiment.study.grid[across])
    rows: dict[tuple[Value, ...], Cell] = {}
    for cell in _cells(experiment, results):
        rest = {name: value for name, value in cell.items() if name != across}
        rows[tuple(rest.values())] = rest
    heads = [*next(iter(rows.values()), {}), *(_head(across, level) for level in levels)]
    lines = [_line(heads), _line(["---:"] * len(heads))]
    for rest in rows.values():
        entries = [_entry(experiment, results, {**rest, across: level}, measure) for level in levels]
        lines.append(_line([*map(str, rest.values()), *entries]))
    return "\n".join(lines)


def csv_table(experiment: Experiment, results: Results) -> str:
    """Return one line per cell: factors, repetitions, mean and standard deviation of every measure."""
    factors = list(experiment.study.grid)
    names = [measure.name for measure in experiment.measures]
    heads = [*factors, "repetitions"]
    heads += [f"{name}_{part}" for name in names for part in _parts(experiment)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for cell in _cells(experiment, results):
        line: list[Any] = [*(cell[factor] for factor in factors), len(results.of(cell))]
        for name in names:
            line += _numbers(experiment, cell, name, results.summary(cell, name))
        writer.writerow(line)
    return text.getvalue()


def judged(experiment: Experiment, results: Results) -> list[dict[str, Any]]:
    """Return every claim with what our rows say about it."""
    found = []
    for claim in experiment.claims:
        status, words, agreeing, run = claim.judge(results)
        found.append(
            {
                "claim": claim.quote,
                "place": claim.place,
                "read_as": claim.reading,
                "status": status,
                "cases": run,
                "agreeing": agreeing,
                "ours": words,
                "why": claim.why if status in (MOSTLY, FAILS) else "",
            }
        )
    return found


def checklist(experiment: Experiment, results: Results) -> str:
    """Return the claims as a list in Markdown."""
    lines = []
    for claim in judged(experiment, results):
        reading = f" ({claim['read_as']})" if claim["read_as"] else ""
        mark = f"{MARKS[claim['status']]} **{claim['status']}**"
        place = f" {claim['place']}." if claim["place"] else ""
        why = f" *Why not:* {claim['why']}" if claim["why"] else ""
        lines.append(f"- {mark}: “{claim['claim']}”{reading}.{place} Ours: {claim['ours']}.{why}")
    return "\n".join(lines)


def what_was_run(experiment: Experiment, content: Content) -> str:
    """Return cells, repetitions, settings and versions in a few lines of Markdown."""
    results, study = Results(content.rows), experiment.study
    counts = [len(results.of(cell)) for cell in results.cells()]
    often = f"{min(counts)}" if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    levels = "; ".join(
        f"{name}: {_listed(results.levels(name, order))}" for name, order in study.grid.items()
    )
    settings = _listed([f"{name} = {value}" for name, value in content.header["settings"].items()])
    lines = [
        f"- Cells: {len(counts):,} of {len(study.cells()):,} ({levels}); repetitions: {often} of "
        f"{study.repetitions}.",
        f"- Settings: {settings}.",
    ]
    for origin in content.origins:
        made = _listed([f"{name} {value}" for name, value in origin.items()])
        lines.append(f"- Made with {made}.")
    return "\n".join(lines)


def summary_files(experiment: Experiment, content: Content, figure: bytes | None) -> dict[str, str | bytes]:
    """Return the files that a run ends with, by name."""
    results, name = Results(content.rows), experiment.name
    picture = f"![{experiment.title}]({name}.png)\n\n" if figure else ""
    files: dict[str, str | bytes] = {
        f"{name}.md": f"# {experiment.title}\n\n{block(experiment, content, picture)}",
        f"{name}.csv": csv_table(experiment, results),
    }
    return {**files, f"{name}.png": figure} if figure else files


def block(experiment: Experiment, content: Content, picture: str) -> str:
    """Return what was run, the figure, the claims and the tables of an experiment in Markdown."""
    results = Results(content.rows)
    parts = [f"{what_was_run(experiment, content)}\n\n", picture]
    if experiment.claims:
        parts.append(f"What the paper says:\n\n{checklist(experiment, results)}\n\n")
    paper = "; the paper's number in brackets" if experiment.printed else ""
    for measure in experiment.measures:
        table = markdown_table(experiment, results, measure)
        title = f"{measure.title}, mean ± standard deviation{paper}"
        if table.count("\n") > 24:
            parts.append(f"<details><summary>{title}</summary>\n\n{table}\n\n</details>\n\n")
        else:
            parts.append(f"{title}:\n\n{table}\n\n")
    return "".join(parts)


def number(value: float | None, digits: int) -> str:
    """Return a number for reading.

    Examples
    --------
    >>> number(1234.56, 1), number(None, 2)
    ('1,234.6', '–')
    """
    return "–" if value is None else f"{value:,.{digits}f}"


def _entry(experiment: Experiment, results: Results, cell: Cell, measure: Measure) -> str:
    found = results.summary(cell, measure.name)
    if found is None:
        return "–"
    text = number(found.mean, measure.digits)
    if found.std is not None:
        text += f" ± {number(found.std, measure.digits)}"
    printed = experiment.printed(cell, measure.name) if experiment.printed else None
    return text if printed is None else f"{text} ({printed:g})"


def _parts(experiment: Experiment) -> tuple[str, ...]:
    return ("mean", "std", "paper") if experiment.printed else ("mean", "std")


def _numbers(experiment: Experiment, cell: Cell, name: str, found: Summary | None) -> list[Any]:
    numbers: list[Any] = ["" if found is None else f"{found.mean:.6g}"]
    numbers.append("" if found is None or found.std is None else f"{found.std:.6g}")
    if experiment.printed:
        printed = experiment.printed(cell, name)
        numbers.append("" if printed is None else printed)
    return numbers


def _cells(experiment: Experiment, results: Results) -> list[Cell]:
    """Return the cells with rows in the order of the grid; others (an older grid) after them."""
    order: Mapping[str, Sequence[Value]] = experiment.study.grid

    def place(cell: Cell) -> list[int]:
        return [
            list(levels).index(cell[f]) if cell[f] in levels else len(levels) for f, levels in order.items()
        ]

    return [{name: cell[name] for name in order} for cell in sorted(results.cells(), key=place)]


def _head(factor: str, level: Value) -> str:
    return level if isinstance(level, str) else f"{factor} = {level}"


def _line(entries: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, entries))} |"


def _listed(items: Sequence[object]) -> str:
    return ", ".join(map(str, items))
