"""``ibmap bootstrap``: how often does each edge come back?"""

import json
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap._words import listed
from ibmap.cli import folder, options, screen
from ibmap.cli.knowledge import Option as Known
from ibmap.cli.knowledge import read_knowledge
from ibmap.cli.learn import supported

if TYPE_CHECKING:
    from ibmap.data import CategoricalData
    from ibmap.graph import Graph
    from ibmap.learners import Learned
    from ibmap.learners.bootstrap import Bootstrapped

FILES = ("support.csv", "averaged.json")  #: what --out writes


def bootstrap(
    file: options.File,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="The search: ibmap-hc, gsmn, hhc-mn or mi.")
    ] = "ibmap-hc",
    test: Annotated[str | None, typer.Option(metavar="NAME", help=f"{options.TESTS} [bayesian].")] = None,
    prior: options.Prior = None,
    prior_counts: options.PriorCounts = None,
    patience: Annotated[int | None, typer.Option(metavar="K", help="As in ibmap learn.")] = None,
    replicates: Annotated[int, typer.Option(metavar="N", min=1, help="How many tables to draw.")] = 100,
    seed: Annotated[int, typer.Option(metavar="SEED", min=0, help="Of the draws.")] = 0,
    threshold: Annotated[
        float, typer.Option(metavar="T", min=0, max=1, help="Support that the averaged network asks for.")
    ] = 0.5,
    knowledge: Known = None,
    missing: options.Missing = "error",
    discretize: options.Discretize = None,
    bins: options.Bins = None,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Replicates at a time; -1: cores.")] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help=f"Write {listed(FILES)} there.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    top: Annotated[int, typer.Option(metavar="N", min=0, help="How many edges to show.")] = 20,
) -> None:
    """Learn from tables drawn anew, and show how often each edge comes back."""
    options.chosen_learner(learner)
    from ibmap.learners.bootstrap import bootstrap as bootstrapped

    with folder.output_folder(out, FILES, force):
        data = options.read_table(file, missing, discretize, bins)
        known = read_knowledge(knowledge, data)
        about_test = {"test": test, "prior": known.prior(prior, data), "prior_counts": prior_counts}
        edges = {kind: known.edges(kind) or None for kind in ("required", "forbidden")}
        wishes = _wishes(learner, data, about_test, {"patience": patience, **edges})

        def learn(table: "CategoricalData") -> "Learned":
            return options.chosen_learner(learner)(table, **wishes)

        found = bootstrapped(data, learn, n_replicates=replicates, random_state=seed, n_jobs=jobs)
        averaged = found.averaged(threshold)
        if out is not None:
            texts = found.support().write_csv(), averaged.to_json() + "\n"
            folder.write_together(out, dict(zip(FILES, texts, strict=True)))
    show(found, averaged, {"seed": seed, "threshold": threshold}, as_json, top)


def _wishes(
    learner: str, data: "CategoricalData", about_test: dict[str, Any], about_search: dict[str, Any]
) -> dict[str, Any]:
    """Return the options of the learner, its test made once."""
    search = options.chosen_learner(learner)
    if "test" in signature(search).parameters:
        name = about_test.pop("test") or "bayesian"
        about_test = {"test": options.chosen_test(name, data, **about_test)}
    return supported(search, learner, {**about_test, **about_search})


def show(found: "Bootstrapped", averaged: "Graph", settings: dict[str, Any], as_json: bool, top: int) -> None:
    """Print the support."""
    rows = found.support().rows()
    if as_json:
        content = {
            **json.loads(averaged.to_json()),
            "support": [list(row) for row in rows],
            "n_replicates": found.n_replicates,
            **settings,
            "learner": found.learned.learner,
            "test": found.learned.test,
        }
        typer.echo(json.dumps(content, ensure_ascii=False))
        return
    console = screen.console()
    edges = screen.counted(averaged.n_edges, "edge")
    share = f"more than {settings['threshold']:.0%}" if settings["threshold"] < 1 else "all"
    console.print(
        f"{edges} in {share} of {screen.counted(found.n_replicates, 'replicate')}; "
        f"the whole table has {found.learned.graph.n_edges}",
        style="bold",
    )
    table = screen.plain_table("support", "whole table", "edge")
    for x, y, support, in_graph in rows[:top]:
        table.add_row(f"{support:.2f}", "yes" if in_graph else "no", f"{x} - {y}")
    console.print()
    console.print(table)
    if len(rows) > top:
        console.print(f"... and {len(rows) - top:,} more", style="dim")
    console.print()
    where = f"seed {settings['seed']}, {screen.counted(found.learned.n_rows, 'row')}"
    console.print(f"{found.learned.learner}, test {found.learned.test}; {where}", style="dim")
