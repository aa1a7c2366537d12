"""``ibmap learn``: from a file to a network."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap._text import listed
from ibmap.cli import options, output, screen, search_options, tables
from ibmap.cli.knowledge import Option as Known

if TYPE_CHECKING:
    from ibmap.results.learned import Learned
    from ibmap.results.result_file import Result

PAGE = "report.html"
FILES = ("graph.json", "edges.csv", "result.json", PAGE)  #: what --out writes


def learn(
    file: options.File,
    learner: search_options.Learner = "ibmap-hc",
    test: search_options.Test = None,
    prior: options.Prior = None,
    prior_counts: options.PriorCounts = None,
    combine: options.Combine = None,
    slices: options.Slices = None,
    ties: options.Ties = None,
    alpha: options.Alpha = None,
    symmetry: search_options.Symmetry = None,
    max_condition: search_options.MaxCondition = None,
    max_neighbours: search_options.MaxNeighbours = None,
    factor: search_options.Factor = None,
    patience: search_options.Patience = None,
    start: search_options.Start = None,
    require: search_options.Require = None,
    forbid: search_options.Forbid = None,
    knowledge: Known = None,
    missing: options.Missing = "error",
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    drop: options.Drop = None,
    only: options.Only = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads; -1 is all cores [1].")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the search there; go on if it is there.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=f"Write {listed(FILES)} there.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    top: Annotated[int, typer.Option(metavar="N", min=0, help="Edges to show; 0: only how many.")] = 10,
) -> None:
    """Learn a network from a file, show it and write it."""
    options.chosen_learner(learner)  # an unknown one is refused before the table is read
    from ibmap.engines import as_engine
    from ibmap.results.result_file import result_of_learned

    with output.output_folder(out, FILES, force):
        data, about = tables.read_table(file, locals())
        search = search_options.chosen_search(locals(), data, n_jobs=jobs, checkpoint=checkpoint)
        engine = as_engine(data)
        with screen.progress() as callback:
            learned = search(engine, callback)
        if out is not None:
            files = result_files(result_of_learned(learned, engine, about))
            output.write_together(out, files)
    show(learned, as_json, top)
    if out is not None and not as_json:
        console = screen.console()
        console.print(f"wrote {out}: {listed(tuple(files))}", style="dim")
        console.print(where_to_look(out, files), style="dim")
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)


def graph_text(learned: "Learned") -> str:
    """Return what graph.json holds."""
    return json.dumps(learned.to_dict(), ensure_ascii=False, indent=1) + "\n"


def result_files(result: "Result") -> dict[str, str]:
    """Return the files of a result, by name."""
    from ibmap.report.page import available, report_text
    from ibmap.results.result_file import result_text

    learned = result.learned
    files = graph_text(learned), learned.edges_frame.write_csv(), result_text(result)
    report = [report_text(result)] if available() else []
    return dict(zip(FILES, [*files, *report], strict=False))


def show(learned: "Learned", as_json: bool, top: int) -> None:
    """Print the result."""
    if as_json:
        typer.echo(json.dumps(learned.to_dict(), ensure_ascii=False))
        return
    console = screen.console()
    console.print(screen.headline(learned), style="bold")
    if not top:
        return
    console.print()
    console.print(screen.edge_table(learned, top))
    console.print()
    console.print(screen.provenance(learned), style="dim")
    more = screen.more_patience(learned)
    if more is not None:
        console.print(f"some pairs without an edge look certain: --patience {more} searches on", style="dim")


def where_to_look(out: Path, files: Collection[str]) -> str:
    """Tell where the report is, or why there is none."""
    from ibmap.report.page import MISSING

    return f"to look around: open {out / PAGE} in a browser" if PAGE in files else MISSING
