"""``ibmap learn``: from a file to a network."""

import json
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap._words import listed
from ibmap.cli import folder, options, screen
from ibmap.cli.knowledge import Option as Known
from ibmap.cli.knowledge import read_knowledge
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data import CategoricalData
    from ibmap.graph import Graph
    from ibmap.learners import Learned

Pairs = Annotated[list[str] | None, typer.Option(metavar="X,Y", help="An edge that must be there; repeat.")]
NoPairs = Annotated[list[str] | None, typer.Option(metavar="X,Y", help="An edge that must not; repeat.")]

FILES = ("graph.json", "edges.csv", "result.json")  #: what --out writes


def learn(
    file: options.File,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="The search: ibmap-hc, gsmn, hhc-mn or mi.")
    ] = "ibmap-hc",
    test: Annotated[str | None, typer.Option(metavar="NAME", help=f"{options.TESTS} [bayesian].")] = None,
    prior: options.Prior = None,
    prior_counts: options.PriorCounts = None,
    combine: options.Combine = None,
    slices: options.Slices = None,
    ties: options.Ties = None,
    alpha: options.Alpha = None,
    symmetry: Annotated[
        str | None, typer.Option(metavar="KIND", help="An edge needs one end (or) or both (and).")
    ] = None,
    max_condition: Annotated[
        int | None, typer.Option(metavar="N", help="hhc-mn: largest conditioning set [any].")
    ] = None,
    max_neighbours: Annotated[
        int | None, typer.Option(metavar="K", help="mi: neighbours that a variable may choose [any].")
    ] = None,
    factor: Annotated[
        float | None, typer.Option(metavar="F", help="mi: threshold, in mean mutual informations [1.5].")
    ] = None,
    patience: Annotated[
        int | None, typer.Option(metavar="K", help="Try K more pairs before giving up [0].")
    ] = None,
    start: Annotated[
        Path | None, typer.Option(metavar="GRAPH.json", help="Where to start [no edges].")
    ] = None,
    require: Pairs = None,
    forbid: NoPairs = None,
    knowledge: Known = None,
    missing: options.Missing = "error",
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads; -1 is all cores [1].")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the search there; go on if it is there.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=f"Write {listed(FILES)} there.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    top: Annotated[int, typer.Option(metavar="N", min=0, help="How many edges to show.")] = 10,
) -> None:
    """Learn a network from a file, show it and write it."""
    search = options.chosen_learner(learner)
    with folder.output_folder(out, FILES, force):
        data = options.read_table(file, missing, discretize, bins)
        chosen: object = None
        known = read_knowledge(knowledge, data)
        about_test: dict[str, Any] = {
            "prior": known.prior(prior, data),
            "prior_counts": prior_counts,
            "combine": combine,
            "slices": slices,
            "ties": ties,
            "alpha": alpha,
        }
        if "test" in signature(search).parameters:
            chosen = options.chosen_test(test or "bayesian", data, **about_test)
            about_test = {"test": chosen}
        wishes = {
            "test": test,
            **about_test,
            "symmetry": symmetry,
            "max_condition": max_condition,
            "max_neighbours": max_neighbours,
            "factor": factor,
            "patience": patience,
            "start": read_graph(start) if start is not None else None,
            "required": _edges(require, "--require", data, known.edges("required")),
            "forbidden": _edges(forbid, "--forbid", data, known.edges("forbidden")),
            "n_jobs": jobs,
            "checkpoint": checkpoint,
        }
        with screen.progress() as callback:
            learned = search(data, **supported(search, learner, {**wishes, "callback": callback}))
        if out is not None:
            source = {"path": file, "missing": missing, "discretize": discretize, "bins": bins}
            folder.write_together(out, result_files(learned, data, chosen, source))
    show(learned, out, as_json, top)
    if checkpoint is not None:
        checkpoint.unlink(missing_ok=True)


def _edges(
    texts: list[str] | None, option: str, data: "CategoricalData", known: list[tuple[str, str]]
) -> list[tuple[str, str]] | None:
    """Return the edges of an option and of the knowledge file; None if there are none."""
    return [*known, *(options.pair(text, option, data) for text in texts or [])] or None


def supported(search: Callable[..., Any], name: str, wishes: dict[str, Any]) -> dict[str, Any]:
    """Return the wishes that are not None; one that the learner does not know is an error."""
    known = signature(search).parameters
    words = {"required": "require", "forbidden": "forbid", "n_jobs": "jobs"}
    wanted = {wish: value for wish, value in wishes.items() if value is not None}
    for wish in [wish for wish in wanted if wish not in known]:
        if wanted.pop(wish) is not None and wish != "callback":
            raise RequestError(f"{name} has no option --{words.get(wish, wish).replace('_', '-')}")
    return wanted


def read_graph(path: Path) -> "Graph":
    """Read a graph that an earlier run wrote."""
    from ibmap.graph import Graph

    try:
        return Graph.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RequestError(f"there is no file {str(path)!r}") from None
    except ValueError as error:
        raise RequestError(f"{str(path)!r} holds no graph: {error}") from None


def graph_text(learned: "Learned") -> str:
    """Return what graph.json holds."""
    return json.dumps(learned.to_dict(), ensure_ascii=False, indent=1) + "\n"


def result_files(
    learned: "Learned", data: "CategoricalData", test: object = None, source: dict[str, Any] | None = None
) -> dict[str, str]:
    """Return the files of a result, by name; ``source`` tells where the table is and how it was read."""
    from ibmap.result import result_text

    return {
        "result.json": result_text(learned, data, test, source),
        "graph.json": graph_text(learned),
        "edges.csv": learned.edges().write_csv(),
    }


def show(learned: "Learned", out: Path | None, as_json: bool, top: int) -> None:
    """Print the result."""
    if as_json:
        typer.echo(json.dumps(learned.to_dict(), ensure_ascii=False))
        return
    console = screen.console()
    console.print(screen.headline(learned), style="bold")
    console.print()
    console.print(screen.edge_table(learned, top))
    console.print()
    console.print(screen.provenance(learned), style="dim")
    if screen.stopped_early(learned):
        console.print("some pairs without an edge look certain: --patience 5 searches on", style="dim")
    if out is not None:
        console.print(f"wrote {out}: {listed(FILES)}", style="dim")
