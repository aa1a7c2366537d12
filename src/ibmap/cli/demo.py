"""``ibmap demo``: the story in one screen, first with real data, then with a truth to compare with."""

from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import output, screen
from ibmap.cli.learn import FILES, PAGE, graph_text, result_files

if TYPE_CHECKING:
    from ibmap.data import Table
    from ibmap.learners import Learned
    from ibmap.synthetic import World

Edge = tuple[str, str]
NAME = "Wisconsin breast cancer, from scikit-learn, in three quantile bins"
TARGET = "diagnosis"
WIDTH = 80  #: of lines
SHOWN = 10  #: edges of the real network
NAMED = 2  #: wrong edges of the simulated one that are named
ROWS = (200, 500, 1000)  #: of the simulated world


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the result files go.")] = Path("demo"),
) -> None:
    """Learn a network of real data, then one whose truth is known."""
    from ibmap.results.result_file import result_of_learned

    with output.output_folder(out, FILES):
        with screen.progress() as callback:
            world, found = learn_world(callback)  # first, so that the seconds of the other hold no compiling
            table, cancer = learn_cancer(callback)
            cancer = cancer.with_effects(table)
        files = {
            **result_files(result_of_learned(cancer, table, {"name": NAME})),
            "world-truth.json": world.graph.to_json() + "\n",
            "world-graph.json": graph_text(found[-1]),
        }
        output.write_together(out, files, stale=FILES)
    console = screen.console()
    show_cancer(console, cancer)
    show_world(console, world, found)
    console.print(f"Written: {', '.join(name for name in files if name != PAGE)}", style="dim")
    console.print(f"to look around: open {out / PAGE} in a browser", style="dim")


def learn_cancer(callback: Any = None) -> tuple["Table", "Learned"]:
    """Learn from the Wisconsin breast cancer table that scikit-learn ships, cut into three quantile bins."""
    from sklearn.datasets import load_breast_cancer

    from ibmap.data import load
    from ibmap.learners import evidence_map

    table = load_breast_cancer()
    columns = dict(zip(map(str, table.feature_names), table.data.T, strict=True))
    columns[TARGET] = table.target_names[table.target]
    data = load(columns, discretize="quantile", bins=3)
    return data, evidence_map(data, callback=callback)


def learn_world(callback: Any = None) -> tuple["World", list["Learned"]]:
    """Draw a random network and rows from it; learn it back from more and more of the rows."""
    import numpy as np

    from ibmap.data import Table
    from ibmap.learners import evidence_map
    from ibmap.synthetic import simulate_random

    world = simulate_random(20, 2, n_rows=ROWS[-1], potentials="symmetric", random_state=0)
    names, codes = world.graph.names, world.data.T.astype(np.int8)
    tables = [Table(codes[:, :rows], names, ((0, 1),) * len(names)) for rows in ROWS]
    return world, [evidence_map(table, callback=callback) for table in tables]


def show_cancer(console: Any, learned: "Learned") -> None:
    """Print what was found in the real table."""
    graph = learned.graph
    n_others = graph.n_variables - 1
    blanket = graph.blanket(TARGET)
    console.print("Breast cancer in Wisconsin", style="bold")
    console.print(
        f"{learned.n_rows} tumours, {n_others} measurements of each (in three bins) and the diagnosis.\n"
        "Which of them are adjacent: associated given all others?\n"
        f"{screen.counted(graph.n_edges, 'edge')}, found in {learned.seconds:.2g} s.\n"
    )
    console.print(screen.edge_table(learned, SHOWN, near_misses=0))
    named = fill(f"Blanket of {TARGET}: {', '.join(blanket)}", WIDTH)
    console.print(f"\n{named}", style="bold")
    console.print(
        f"{_small(len(blanket)).capitalize()} of {_small(n_others)} measurements separate the diagnosis "
        f"from the rest: given them,\nit is independent of the other {n_others - len(blanket)} "
        "in this network.\n"
    )


def show_world(console: Any, world: "World", learned: "Sequence[Learned]") -> None:
    """Compare learned networks with the truth."""
    from ibmap.metrics import compare_edges

    truth = world.graph
    console.print("A world whose truth is known", style="bold")
    console.print(
        f"{truth.n_variables} binary variables, {truth.n_edges} true edges drawn at random, "
        "learned back from data:\n"
    )
    table = screen.plain_table("rows", "found", "missed", "invented", "")
    for network in learned:
        found, invented, missed = compare_edges(network.graph, truth)
        mistakes = {"missed": missed, "invented": invented}
        words = [f"{word} {_edges(edges)}" for word, edges in mistakes.items() if edges]
        numbers = [f"{number:,}" for number in (network.n_rows, len(found), len(missed), len(invented))]
        table.add_row(*numbers, "; ".join(words) or "exactly the truth")
    console.print(table)
    console.print()


def _edges(edges: Sequence[Edge]) -> str:
    named = ", ".join(f"{x}-{y}" for x, y in edges[:NAMED])
    return named + (", ..." if len(edges) > NAMED else "")


def _small(number: int) -> str:
    """Return a number in words, if it has a short one."""
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return {30: "thirty"}.get(number) or (words[number] if number < len(words) else str(number))
