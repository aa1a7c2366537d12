"""``ibmap evaluate``: how good is a learned graph?"""

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.cli.convert import read_network
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from rich.console import Console

    from ibmap.engines import Engine
    from ibmap.graph import Graph
    from ibmap.independence import IndependenceTest

NAMED = 5  #: wrong edges that are named on the screen
FEW = "10"  #: queries for each size of Z where every one fits two conditionals to the rows
KINDS = ("independences", "edges")

MIXED = (
    "The mean log probability of a level, or log density of a number's standard score, given the\n"
    "neighbours: each fifth of the rows is predicted by a model of the others. Compare it on the same\n"
    "rows only."
)
WORDS = "precision: how much of what was found is true; recall: how much of what is true was found"

Edge = tuple[str, str]


def evaluate(
    graph: Annotated[
        Path, typer.Argument(metavar="GRAPH", help="Learned network: a file, or the folder of a result.")
    ],
    *,
    truth: Annotated[Path | None, typer.Option(metavar="GRAPH", help="The true graph.")] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Table that was not learned from, to measure how well it is predicted."
        ),
    ] = None,
    queries: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Questions for the accuracy: {queries}, or a number for each size of Z [formula; 10 "
            "where categories and numbers are mixed].",
        ),
    ] = None,
    seed: options.Seed = 0,
    test: options.TestOptions,
    table: options.TableOptions,
    as_json: options.Json = False,
) -> None:
    """Compare a learned graph with the truth, with unseen data, or with both."""
    if truth is None and data is None:
        raise RequestError("nothing to compare with: give --truth, --data or both")
    learned = read_network(graph).graph
    result: dict[str, Any] = {"graph": str(graph), "variables": learned.n_variables, "edges": learned.n_edges}
    if truth is not None:
        true = read_network(truth).graph
        result |= {"truth": str(truth), **against_truth(with_left_out(learned, graph, true.names), true)}
    if data is not None:
        from ibmap.independence.mixed import MixedTest

        unseen, _ = as_learned(table, graph, learned).suited_to(test.test).read(data)
        is_mixed = unseen.schema.is_continuous and unseen.gaussian_moments is None
        asked = MixedTest() if is_mixed and test.test is None else test.make(unseen.schema)
        found = on_unseen_rows(learned, unseen, asked, queries or (FEW if is_mixed else "formula"), seed)
        result |= {"data": str(data), **found}
    if as_json:
        screen.tell_json(result)
    else:
        show(result)


def against_truth(learned: "Graph", truth: "Graph") -> dict[str, Any]:
    """Return all measures that need the truth; those of the graph without edges beside them.

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> found = against_truth(Graph("abc", [("a", "b")]), Graph("abc", [("b", "c")]))
    >>> found["hamming"], found["false_edges"], found["missing_edges"], found["empty_graph"]["hamming"]
    (2, [('a', 'b')], [('b', 'c')], 1)
    """
    from ibmap.graph import Graph
    from ibmap.metrics import compare_edges, f_measure, hamming

    wrong = hamming(learned, truth)
    edges = compare_edges(learned, truth)
    empty = Graph(truth.names)
    return {
        "hamming": wrong,
        "false_edges": edges.false,
        "missing_edges": edges.missing,
        **{kind: f_measure(learned, truth, of=kind)._asdict() for kind in KINDS},
        "empty_graph": {
            "hamming": truth.n_edges,
            **{kind: f_measure(empty, truth, of=kind)._asdict() for kind in KINDS},
        },
    }


def with_left_out(learned: "Graph", path: Path, names: Sequence[str]) -> "Graph":
    """Add the variables that were left out when the graph was learned: they have no edges."""
    from ibmap.graph import Graph
    from ibmap.results.result_file import read_result

    folder = result_folder(path)
    dropped = set(read_result(folder).content["data"].get("drop") or ()) if folder is not None else set()
    more = [name for name in names if name in dropped and name not in learned.names]
    return Graph((*learned.names, *more), learned.edges) if more else learned


def result_folder(graph: Path) -> Path | None:
    """Return the folder of the result that a graph belongs to, if there is one."""
    folder = graph if graph.is_dir() else graph.parent
    is_result = graph.suffix in ("", ".json", ".csv") and (folder / "result.json").is_file()
    return folder if is_result else None


def as_learned(table: options.TableOptions, graph: Path, learned: "Graph") -> options.TableOptions:
    """Return how to read unseen rows: as those were read that the graph comes from, unless options say else.

    Columns are the variables of the graph, and those that were cut are cut at the same edges.
    """
    from ibmap.results.result_file import read_result

    chosen: dict[str, Any] = {}
    if (folder := result_folder(graph)) is not None:
        found = read_result(folder).content
        about, edges = found["data"], found.get("bin_edges") or None
        if table.drop is None and table.only is None and (about.get("drop") or about.get("only")):
            chosen["only"] = list(learned.names)
        if table.missing is None:
            policy = about.get("missing")
            chosen["missing"] = "testwise" if policy in ("question", "impute") else policy
        if table.discretize is None and table.bins is None:
            chosen |= {"discretize": about.get("discretize"), "bins": edges or about.get("bins")}
            chosen |= {"continuous": table.continuous or about.get("continuous")}
        for option in ("nominal", "ordinal", "numbers", "missing_values"):
            chosen[option] = getattr(table, option) or about.get(option)
    return replace(table, **chosen)


def on_unseen_rows(
    learned: "Graph", engine: "Engine", test: "IndependenceTest", queries: str, seed: int
) -> dict[str, Any]:
    """Return log score and accuracy on a table, and those of the graph without edges."""
    from ibmap.graph import Graph
    from ibmap.metrics import accuracies, log_score, n_queries

    kind = int(queries) if queries.isdecimal() else queries
    graphs = [learned, Graph(learned.names)]
    logs = [log_score(graph, engine) for graph in graphs]
    about = {
        "log_score": logs[0],
        "log_score_empty_graph": logs[1],
        "n_rows": engine.schema.n_rows,
        "continuous": engine.schema.is_continuous,
    }
    with screen.bar("queries") as advance:
        found = accuracies(graphs, engine, test=test, queries=kind, random_state=seed, advance=advance)
    return {
        **about,
        "accuracy": found[0],
        "accuracy_empty_graph": found[1],
        "test": test.name,
        "queries": kind,
        "n_queries": n_queries(engine.schema.n_variables, kind),
        "seed": seed,
    }


def show(result: dict[str, Any]) -> None:
    """Print the measures."""
    console = screen.console()
    if "hamming" in result:
        show_truth(console, result)
    if "hamming" in result and "log_score" in result:
        console.print()
    if "accuracy" in result:
        show_accuracy(console, result)


def show_truth(console: "Console", result: dict[str, Any]) -> None:
    """Print the measures against the truth."""
    false, missing, empty = result["false_edges"], result["missing_edges"], result["empty_graph"]
    console.print(
        f"Hamming distance {result['hamming']:,}: {screen.counted(len(false), 'false edge')}, "
        f"{len(missing):,} missing (the graph without edges: {empty['hamming']:,})",
        style="bold",
    )
    for word, edges in (("false", false), ("missing", missing)):
        if edges:
            console.print(f"{word}: {_listed(edges)}", style="dim")
    table = screen.plain_table("precision", "recall", "F", "F of no edges", "over")
    for kind in KINDS:
        numbers = [*result[kind].values(), empty[kind]["f"]]
        table.add_row(*(f"{number:.3f}" for number in numbers), kind)
    console.print()
    console.print(table)
    console.print()
    console.print(WORDS, style="dim")


def log_score_in_words(logs: float, of_empty: float, continuous: bool) -> str:
    """Return what a log score means, beside that of the graph without edges."""
    if continuous:
        share = math.exp(of_empty - logs)
        return (
            "The mean log density of a value, in standard deviations, given those of its neighbours, by\n"
            f"regressions that have not seen its row. Errors are {share:.2f} times as large as without edges."
        )
    return (
        "The mean log probability of a value, given those of its neighbours, by models that have not\n"
        f"seen its row; 0 would be perfect. A value gets {math.exp(logs):.1%} on average (without edges "
        f"{math.exp(of_empty):.1%})."
    )


def show_log_score(console: "Console", result: dict[str, Any], words: str) -> None:
    """Print the log score, and what it means."""
    rows, of_empty = screen.counted(result["n_rows"], "row"), result["log_score_empty_graph"]
    said = f"Log score {result['log_score']:.4f} on {rows} (the graph without edges: {of_empty:.4f})"
    console.print(said, style="bold")
    console.print(words)


def show_accuracy(console: "Console", result: dict[str, Any]) -> None:
    """Print log score and accuracy on unseen rows, and what they mean."""
    share, of_none = result["accuracy"], result["accuracy_empty_graph"]
    queries, logs = screen.counted(result["n_queries"], "question"), result["log_score"]
    from ibmap.independence.mixed import MixedTest

    words = log_score_in_words(logs, result["log_score_empty_graph"], result["continuous"])
    show_log_score(console, result, MIXED if result["test"] == MixedTest.name else words)
    console.print()
    console.print(f"Accuracy {share:.3f} (the graph without edges: {of_none:.3f})", style="bold")
    console.print(
        f"{queries}: are two variables independent, given some others? The graph answers {share:.1%}\n"
        "of them as the test on these rows does; for the graph without edges the answer is always yes.\n"
        "It is the measure of the paper. A test without power says yes, too: graphs with few edges look good."
    )
    about = f"queries {result['queries']}, seed {result['seed']}, test {result['test']}"
    console.print(about, style="dim")


def _listed(edges: list[Edge]) -> str:
    named = ", ".join(f"{x} - {y}" for x, y in edges[:NAMED])
    return named + (f" and {len(edges) - NAMED:,} more" if len(edges) > NAMED else "")
