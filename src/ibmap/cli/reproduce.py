"""``ibmap reproduce``: the paper's experiments, run again."""

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, output, screen
from ibmap.cli.groups import LARGEST
from ibmap.cli.presets import PresetName
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.paper.experiment import Experiment, Study
    from ibmap.paper.store import Content

LONG = 40  #: lines of a table that are still shown on the screen
SHOWN = 15  #: readings of the paper, the best first


@dataclass(frozen=True)
class RunOptions:
    """How an experiment is run."""

    quick: Annotated[bool, typer.Option("--quick", help="A small grid: two minutes or less.")] = False
    jobs: Annotated[int, typer.Option(metavar="N", min=1, help="Number of processes.")] = 1
    repetitions: Annotated[
        int | None, typer.Option(metavar="R", min=1, help="Runs of each cell [as in the experiment].")
    ] = None
    data_dir: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder of the real tables.")] = None
    preset: PresetName = None
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting; may be repeated."),
    ] = None

    def run(self, experiment: "Experiment", out: Path) -> None:
        """Run what has no row yet, with a progress bar."""
        from ibmap.paper.runner import reproduce

        settings = self.settings(experiment.study)
        with screen.bar(experiment.name) as advance:
            reproduce(
                experiment.study,
                out,
                quick=self.quick,
                repetitions=self.repetitions,
                settings=settings,
                data_dir=self.data_dir,
                n_jobs=self.jobs,
                advance=advance,
            )

    def settings(self, study: "Study") -> dict[str, Any]:
        """Return what is changed of the settings: what the preset says of them, and what is given."""
        from ibmap.paper.presets import find_preset

        known = find_preset(self.preset).among(study.settings) if self.preset is not None else {}
        return {**known, **settings_from(self.changes or [], study)}


def reproduce(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Experiment; see --list.")] = None,
    *,
    list_them: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    how: RunOptions,
    out: Annotated[
        Path,
        typer.Option(metavar="DIR", help="Folder for rows and results; a run goes on from what is there."),
    ] = Path("reproduction"),
    page: Annotated[
        Path | None, typer.Option(metavar="FILE.md", help="Write a page with all results in --out.")
    ] = None,
    readings: Annotated[
        bool, typer.Option("--readings", help="Count how many claims hold under each reading of the paper.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Run an experiment of the paper, or go on with it; then show ours beside the paper's."""
    if list_them:
        list_experiments(as_json)
    elif readings:
        rank_readings(name, how, out, as_json)
    elif page is not None:
        write_page(page, out, name, as_json)
    elif name is None:
        raise RequestError("which experiment? ibmap reproduce --list names them")
    else:
        from ibmap.paper.registry import find_experiment

        experiment = find_experiment(name)
        how.run(experiment, out)
        finish(experiment, out, as_json)


def rank_readings(name: str | None, how: RunOptions, out: Path, as_json: bool) -> None:
    """Run the study of readings, or what is left of it, and write the ranking."""
    if name is not None or how.preset is not None or how.changes or how.repetitions:
        raise RequestError(
            "--readings scores all settings: leave out the name, --preset, --set, --repetitions"
        )
    from ibmap.paper.ranking import choices_table, ranking, ranking_csv, ranking_table
    from ibmap.paper.readings import run_readings

    rows = run_readings(out, quick=how.quick, data_dir=how.data_dir, n_jobs=how.jobs, bar=screen.bar)
    ranked = ranking(rows)
    text = f"{ranking_table(ranked, SHOWN)}\n\n{choices_table(ranked)}\n"
    output.write_together(out, {"readings.csv": ranking_csv(ranked), "readings.md": text})
    if as_json:
        screen.tell_json([found.to_dict() for found in ranked])
        return
    screen.console().print(text, soft_wrap=True)
    screen.console().print(f"wrote {out / 'readings.csv'} and {out / 'readings.md'}", style="dim")


def settings_from(changes: list[str], study: "Study") -> dict[str, Any]:
    """Return settings from ``name=value``, of the kind that the study has.

    Examples
    --------
    >>> from ibmap.paper.registry import find_experiment
    >>> settings_from(["log_odds=2", "potentials=symmetric"], find_experiment("random-hamming").study)
    {'log_odds': 2.0, 'potentials': 'symmetric'}
    """
    found = {}
    for change in changes:
        name, equals, text = change.partition("=")
        if not equals:
            raise RequestError(f"--set takes NAME=VALUE, not {change!r}")
        if name not in study.settings:
            raise RequestError(f"{study.name} has no setting {name!r}; there are {', '.join(study.settings)}")
        kind = type(study.settings[name])
        try:
            value = kind(text)
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError
        except ValueError:
            words = {int: "a whole number", float: "a finite number"}.get(kind, "a word")
            raise RequestError(f"setting {name!r} takes {words}, not {text!r}") from None
        if isinstance(value, int) and abs(value) > LARGEST and name != "seed":
            raise RequestError(f"setting {name!r} must be at most {LARGEST:,}")
        found[name] = value
    return found


def list_experiments(as_json: bool) -> None:
    """Show what there is."""
    from ibmap.paper.registry import experiment_names, find_experiment

    found = [find_experiment(name) for name in experiment_names()]
    if as_json:
        entries = [
            {
                "name": experiment.name,
                "title": experiment.title,
                "about": experiment.about,
                "rows_from": experiment.study.name,
                "cells": len(experiment.study.cells()),
                "repetitions": experiment.study.repetitions,
                "settings": dict(experiment.study.settings),
                "claims": len(experiment.claims),
            }
            for experiment in found
        ]
        screen.tell_json(entries)
        return
    table = screen.plain_table("experiment", "cells", "runs", "claims", "")
    for experiment in found:
        study = experiment.study
        numbers = (len(study.cells()), study.repetitions, len(experiment.claims))
        table.add_row(experiment.name, *map(str, numbers), experiment.title)
    screen.console().print(table)


def finish(experiment: "Experiment", out: Path, as_json: bool) -> None:
    """Write table, figure and claims, and show them."""
    from ibmap.paper import figures, markdown
    from ibmap.paper.results import Results
    from ibmap.paper.store import path_of, read

    content = read(path_of(out, experiment.study))
    if content is None:
        raise RequestError(f"{str(path_of(out, experiment.study))!r} has gone")
    results = Results(content.rows)
    figure = figures.draw(experiment, results) if figures.can_draw() else None
    files = markdown.summary_files(experiment, content, figure)
    output.write_together(out, files)
    if figure is None:
        sys.stderr.write(f"ibmap: {figures.ADVICE}\n")
    if as_json:
        shown = {
            "experiment": experiment.name,
            "settings": content.header["settings"],
            "rows": len(content.rows),
            "claims": markdown.judged(experiment, results),
            "files": [str(out / file) for file in files],
        }
        screen.tell_json(shown)
    else:
        show(experiment, content, [out / file for file in files])


def show(experiment: "Experiment", content: "Content", files: list[Path]) -> None:
    """Print what a run ends with."""
    from ibmap.paper import markdown
    from ibmap.paper.results import Results

    console, results = screen.console(), Results(content.rows)
    console.print(experiment.title, style="bold")
    console.print(markdown.what_was_run(experiment, content))
    for measure in experiment.measures:
        table = markdown.markdown_table(experiment, results, measure)
        console.print(f"\n{measure.title}", style="bold")
        if table.count("\n") <= LONG:
            console.print(table, soft_wrap=True)
        else:
            console.print(f"{table.count(chr(10)) - 1} rows: see {files[0]}")
    console.print("\nWhat the paper says", style="bold")
    for claim in markdown.judged(experiment, results):
        reading = f" ({claim['read_as']})" if claim["read_as"] else ""
        console.print(f"{markdown.MARKS[claim['status']]} {claim['status']}: “{claim['claim']}”{reading}")
        place = f"{claim['place']}. " if claim["place"] else ""
        console.print(f"  {place}{claim['ours']}", style="dim")
    console.print(f"\nwrote {', '.join(map(str, files))}", style="dim")


def write_page(page: Path, out: Path, name: str | None, as_json: bool) -> None:
    """Write the page and the folder of files beside it."""
    if name is not None:
        raise RequestError(f"--page shows everything in --out: leave {name!r} out")
    from ibmap.paper.figures import ADVICE, can_draw
    from ibmap.paper.page import make_page

    beside = page.parent / page.stem
    text, files = make_page(out, page.stem)
    with output.output_folder(beside):
        output.write_together(beside, files)
        output.write_together(page.parent, {page.name: text})
    written = [page, *(beside / file for file in files)]
    if not can_draw():
        sys.stderr.write(f"ibmap: {ADVICE}\n")
    if as_json:
        screen.tell_json({"files": [str(file) for file in written]})
    else:
        screen.tell(f"wrote {page} and {screen.counted(len(files), 'file')} in {beside}")
