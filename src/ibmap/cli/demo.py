"""``ibmap demo``: a table of made-up people, its network, and how far other methods come with it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import output, screen
from ibmap.cli.learn import FILES, PAGE, result_files

if TYPE_CHECKING:
    from ibmap.learners import Learned
    from ibmap.synthetic import People

Edge = tuple[str, str]
NAME = "made-up people (ibmap demo)"
ROWS = 1000
#: learners, and what they are called here
RIVALS = {
    "evidence-map": "ibmap (evidence-map)",
    "dag-hc": "hill climbing, BIC (hc of bnlearn)",
    "hhc-mn": "HITON-PC",
    "gsmn": "grow-shrink",
}
NAMED = 2  #: wrong edges that are named
MORE = ("people.csv", "truth.json")


def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the result.")] = Path("demo"),
) -> None:
    """Learn a network of made-up people, and compare it with the truth."""
    from ibmap.results.result_file import result_of_learned
    from ibmap.synthetic import simulate_people

    with output.output_folder(out, (*FILES, *MORE)):
        people = simulate_people(ROWS, random_state=0)
        with screen.progress() as callback:
            found = {name: learn_people(people, name, callback) for name in RIVALS}
        table = people.table()
        learned = found["evidence-map"].with_effects(table)
        files = {
            **result_files(result_of_learned(learned, table, {"name": NAME})),
            "people.csv": people.frame.write_csv(),
            "truth.json": people.graph.to_json() + "\n",
        }
        output.write_together(out, files, stale=(*FILES, *MORE))
    console = screen.console()
    show(console, learned, people, found)
    console.print(f"to look around: open {out / PAGE} in a browser", style="dim")


def learn_people(people: "People", name: str, callback: Any = None) -> "Learned":
    """Learn with one of the learners; all but the default need numbers to be cut."""
    from ibmap.data import load
    from ibmap.learners import find_learner

    default = name == "evidence-map"
    table = people.table() if default else load(people.frame, discretize="quantile", bins=3)
    return find_learner(name)(table, callback=callback)


def show(console: Any, learned: "Learned", people: "People", found: "dict[str, Learned]") -> None:
    """Print the edges, and how many of the true ones each learner has."""
    from ibmap.metrics import compare_edges

    truth = people.graph
    console.print(
        f"{learned.n_rows:,} made-up people: which of {truth.n_variables} columns are directly associated?",
        style="bold",
    )
    console.print(f"Numbers, counts, grades and words. {screen.headline(learned)}.\n")
    n_edges, table_of_people = learned.graph.n_edges, people.table()
    console.print(screen.edge_table(learned, n_edges, near_misses=0))
    levels = dict(zip(table_of_people.names, table_of_people.levels, strict=True))
    console.print(f"\n{screen.effects_in_words(learned, levels, n_edges)}", style="dim")
    alone = [name for name in truth.names if not learned.graph.degree(name)]
    console.print(f"\nWithout any edge: {', '.join(alone) or 'none'}.")
    console.print(
        f"\nCompared with the truth ({truth.n_edges} edges); all but ibmap need numbers cut into three bins:",
        style="bold",
    )
    table = screen.plain_table("", "found", "missed", "invented", "")
    table.columns[0].justify = "left"
    for name, network in found.items():
        right, invented, missed = compare_edges(network.graph, truth)
        wrong = [
            f"{word} {_edges(edges)}" for word, edges in (("misses", missed), ("has", invented)) if edges
        ]
        numbers = (str(len(edges)) for edges in (right, missed, invented))
        table.add_row(RIVALS[name], *numbers, "; ".join(wrong) or "the truth")
    console.print(table)
    console.print()


def _edges(edges: list[Edge]) -> str:
    return ", ".join(" - ".join(edge) for edge in edges[:NAMED]) + (", ..." if len(edges) > NAMED else "")
