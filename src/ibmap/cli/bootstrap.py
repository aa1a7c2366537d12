"""``ibmap bootstrap``: in which share of resampled tables is each edge?"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap._text import listed
from ibmap.cli import options, screen
from ibmap.cli.output import csv_text, output_folder, write_together
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from rich.console import Console

    from ibmap.engines import Engine
    from ibmap.results.bootstrap import Bootstrapped

FILES = ("support.csv", "averaged.json")  #: what --out writes
NEAR_HALF = 5  #: edges with a frequency near one half that are named


@dataclass(frozen=True)
class ResamplingOptions:
    """How tables are resampled, and when an edge is frequent."""

    replicates: Annotated[int, typer.Option(metavar="N", min=1, help="Number of tables to draw.")] = 100
    subsample: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of the rows in each table, drawn without replacement [0.8]."
        ),
    ] = None
    with_replacement: Annotated[
        bool, typer.Option("--with-replacement", help="Draw as many rows as the table has, with replacement.")
    ] = False
    seed: options.Seed = 0
    frequent: Annotated[
        float,
        typer.Option(
            "--threshold",
            metavar="T",
            min=0,
            max=1,
            help="Keep edges that are in more than this share of the replicates.",
        ),
    ] = 0.5
    jobs: Annotated[
        int | None, typer.Option(metavar="N", help="Replicates at the same time; -1: one for each core [1].")
    ] = None

    stability: Annotated[
        bool,
        typer.Option("--stability", help="Find how stable centralities are, too (the CS coefficient)."),
    ] = False

    def run(self, engine: "Engine", learning: options.Learning) -> "Bootstrapped":
        """Learn from all replicates, with a progress bar."""
        from ibmap.learners.bootstrap import SHARE, bootstrap

        if self.with_replacement and self.subsample is not None:
            raise RequestError(
                "--subsample draws without replacement: leave out this option, or --with-replacement"
            )
        chosen = SHARE if self.subsample is None else self.subsample
        share = None if self.with_replacement else chosen
        how: dict[str, Any] = {"n_replicates": self.replicates, "random_state": self.seed, "subsample": share}
        how["stability"] = self.stability
        with screen.bar("replicates") as advance:
            return bootstrap(engine, learning, **how, n_jobs=self.jobs, advance=advance)


def bootstrap(
    file: options.File,
    learner: options.LearnerOptions,
    test: options.TestOptions,
    table: options.DrawingTableOptions,
    resampling: ResamplingOptions,
    output: options.OutputOptions,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of edges to show; 0: only the headline.")
    ] = 20,
    about: Annotated[str | None, typer.Option(metavar="X", help="Show only edges of this variable.")] = None,
) -> None:
    """Learn from resampled tables, and show the share of them that has each edge."""
    learner = learner.settled(test)
    learner.function()  # an unknown one is refused before the table is read
    from ibmap.results.bootstrap import support_content

    with output_folder(output.out, FILES, output.force):
        engine, _ = table.suited_to(test.test, learner.score, learner.learner).read(file)
        learning = learner.prepared(test, engine.schema)
        if about is not None:
            engine.schema.index(about)  # raises, with the nearest name as advice
        found = resampling.run(engine, learning)
        content = support_content(found, resampling.frequent, resampling.seed)
        text = json.dumps(content, ensure_ascii=False)
        if output.out is not None:
            texts = csv_text(found.support(), output.safe_csv), text + "\n"
            write_together(output.out, dict(zip(FILES, texts, strict=True)), overwrite=output.force)
    if output.as_json:
        screen.tell_json(content)
    else:
        show(content, output.out, top, about)


def show(content: dict[str, Any], out: Path | None, top: int, about: str | None = None) -> None:
    """Print the edge frequencies."""
    from ibmap.results.bootstrap import replicates, stability_in_words

    console, threshold = screen.console(), content["threshold"]
    rows = [row for row in content["support"] if about is None or about in row[:2]]
    edges = screen.counted(len(content["edges"]), "edge")
    share = f"more than {threshold:.0%}" if threshold < 1 else "all"
    console.print(
        f"{edges} in {share} of {replicates(content['n_replicates'], content['subsample'])}; "
        f"the whole table has {len(content['whole'])}",
        style="bold",
    )
    if top:
        show_rows(console, rows, top, about)
        where = f"seed {content['seed']}, {screen.counted(content['n_rows'], 'row')}"
        test = "" if content["test"] == "none" else f", test {content['test']}"
        if words := stability_in_words(content["centrality_stability"]):
            console.print(f"{words}\n")
        console.print(f"{content['learner']}{test}; {where}", style="dim")
    if out is not None:
        console.print(f"wrote {out}: {listed(FILES)}", style="dim")
        if (out / "result.json").is_file():
            console.print(f"ibmap report {out} --force shows it beside the posteriors", style="dim")


def show_rows(console: "Console", rows: list[Any], top: int, about: str | None) -> None:
    """Print the most frequent edges, and how many are near one half."""
    table = screen.plain_table("support", "whole table", "edge")
    for x, y, support, in_graph in rows[:top]:
        table.add_row(f"{support:.2f}", "yes" if in_graph else "no", f"{x} - {y}")
    console.print()
    console.print(table)
    if len(rows) > top:
        console.print(f"... and {len(rows) - top:,} more", style="dim")
    console.print()
    for line in frequency_summary(rows, about):
        console.print(line)
    console.print()


def frequency_summary(rows: Sequence[Any], about: str | None = None) -> list[str]:
    """Return how many edges are in nearly all or nearly no replicates, and which are closest to one half.

    Examples
    --------
    >>> for line in frequency_summary([["a", "b", 1.0, True], ["a", "c", 0.4, False]]):
    ...     print(line)
    2 edges: 1 in all replicates, 1 between 10% and 90%
    nearest to one half: a - c 0.40
    """
    shares = [row[2] for row in rows]
    kinds = {
        "in all replicates": [share == 1 for share in shares],
        "in 90% or more": [0.9 <= share < 1 for share in shares],
        "between 10% and 90%": [0.1 <= share < 0.9 for share in shares],
        "in fewer than 10%": [share < 0.1 for share in shares],
    }
    parts = [f"{sum(found):,} {words}" for words, found in kinds.items() if any(found)]
    whose = "" if about is None else f" of {about}"
    lines = [f"{screen.counted(len(rows), 'edge')}{whose}: {', '.join(parts)}"] if rows else []
    unsure = sorted((row for row in rows if 0.1 <= row[2] < 0.9), key=lambda row: abs(row[2] - 0.5))
    named = ", ".join(f"{x} - {y} {share:.2f}" for x, y, share, _ in unsure[:NEAR_HALF])
    return [*lines, f"nearest to one half: {named}"] if named else lines
