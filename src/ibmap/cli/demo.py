"""``ibmap demo``: the story in one screen, first with real data, then with a truth to compare with."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import folder, quick, screen
from ibmap.cli.learn import result_files

if TYPE_CHECKING:
    from ibmap.graph import Graph
    from ibmap.learners import Learned
    from ibmap.synthetic import World

Edge = tuple[str, str]
TARGET = "diagnosis"
SHOWN = 10  #: edges of the real network
NAMED = 6  #: edges of the simulated one that are named in each line


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the result files go.")] = Path("demo"),
) -> None:
    """Learn a network of real data, then one whose truth is known."""
    quick.import_numba()
    with folder.output_folder(out):
        with screen.progress() as callback:
            cancer = learn_cancer(callback)
            world, found = learn_world()
        files = {
            **result_files(cancer),
            "world-truth.json": world.graph.to_json() + "\n",
            "world-graph.json": result_files(found)["graph.json"],
        }
        folder.write_together(out, files)
    console = screen.console()
    show_cancer(console, cancer)
    show_world(console, world, found)
    console.print(f"Written to {out}/: {', '.join(files)}", style="dim")


def learn_cancer(callback: Any = None) -> "Learned":
    """Learn from the Wisconsin breast cancer table that scikit-learn ships, cut into three quantile bins."""
    from sklearn.datasets import load_breast_cancer

    from ibmap.data import load
    from ibmap.learners import ibmap_hc

    table = load_breast_cancer()
    columns = dict(zip(map(str, table.feature_names), table.data.T, strict=True))
    columns[TARGET] = table.target_names[table.target]
    return ibmap_hc(load(columns, discretize="quantile", bins=3), callback=callback)


def learn_world() -> tuple["World", "Learned"]:
    """Draw a random network and rows from it; learn it back from the rows."""
    from ibmap.data import CategoricalData
    from ibmap.learners import ibmap_hc
    from ibmap.synthetic import simulate_random

    world = simulate_random(20, 2, n_rows=1000, potentials="symmetric", random_state=1)
    names = world.graph.names
    return world, ibmap_hc(CategoricalData(world.data.T, names, ((0, 1),) * len(names)))


def show_cancer(console: Any, learned: "Learned") -> None:
    """Tell what was found in the real table."""
    graph = learned.graph
    n_others = graph.n_variables - 1
    console.print("Breast cancer in Wisconsin", style="bold")
    console.print(
        f"{learned.n_rows} tumours, {n_others} measurements of each (in three bins) and the diagnosis.\n"
        f"Which of them speak to each other directly? {screen.counted(graph.n_edges, 'edge')}, "
        f"found in {learned.seconds:.2g} s:"
    )
    console.print(screen.edge_table(learned, SHOWN))
    blanket = graph.blanket(TARGET)
    console.print(
        f"The blanket of {TARGET} is {_listed(blanket)}:\n"
        f"{_small(len(blanket))} of {_small(n_others)} measurements shield the diagnosis from the rest. "
        f"Once they are known, the\nother {n_others - len(blanket)} say nothing more about it."
    )


def show_world(console: Any, world: "World", learned: "Learned") -> None:
    """Compare a learned network with the truth."""
    found, missed, invented = compared(world.graph, learned.graph)
    console.print("\nA world whose truth is known", style="bold")
    console.print(
        f"{world.graph.n_variables} variables, {world.graph.n_edges} true edges drawn at random, "
        f"{len(world.data):,} rows simulated, learned back:"
    )
    for word, edges, style in (
        ("found", found, "green"),
        ("missed", missed, "yellow"),
        ("invented", invented, "red"),
    ):
        console.print(f"  {word:9}{len(edges):3}  {_edges(edges)}", style=style)
    console.print()


def compared(truth: "Graph", learned: "Graph") -> tuple[list[Edge], list[Edge], list[Edge]]:
    """Return the edges that both have, those only in the truth, and those only in the learned graph.

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> compared(Graph("abc", [("a", "b"), ("b", "c")]), Graph("abc", [("a", "b"), ("a", "c")]))
    ([('a', 'b')], [('b', 'c')], [('a', 'c')])
    """
    found = [edge for edge in truth.edges if learned.has_edge(*edge)]
    missed = [edge for edge in truth.edges if not learned.has_edge(*edge)]
    invented = [edge for edge in learned.edges if not truth.has_edge(*edge)]
    return found, missed, invented


def _edges(edges: Sequence[Edge]) -> str:
    named = ", ".join(f"{x}-{y}" for x, y in edges[:NAMED])
    return named + (", ..." if len(edges) > NAMED else "")


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _small(number: int) -> str:
    """Return a number in words, if it has a short one."""
    words = ("none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return {30: "thirty"}.get(number) or (words[number] if number < len(words) else str(number))
