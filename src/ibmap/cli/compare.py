"""``ibmap compare``: do two groups have the same network?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap._text import listed
from ibmap.cli import options, screen
from ibmap.cli.output import csv_text, output_folder, write_together
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.learners.comparison import Groups
    from ibmap.results.comparison import Comparison

FILES = ("comparison.json", "differences.csv", "comparison.html", "comparison.svg")  #: what --out writes


def compare(
    first: Annotated[
        Path, typer.Argument(metavar="A", help="First table; with --by, one table with both groups.")
    ],
    second: Annotated[
        Path | None, typer.Argument(metavar="B", help="Second table, with the same columns.")
    ] = None,
    *,
    by: Annotated[
        str | None, typer.Option(metavar="X", help="Column of A with two values: the groups.")
    ] = None,
    permutations: Annotated[int, typer.Option(metavar="N", min=1, help="Number of permutations.")] = 500,
    seed: options.Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", help="Permutations at the same time; -1: one for each core [1]."),
    ] = None,
    learner: options.LearnerOptions,
    test: options.TestOptions,
    table: options.DrawingOptions,
    output: options.OutputOptions,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of edges to show; 0: only the summary.")
    ] = 20,
) -> None:
    """Compare the networks of two groups: which edges differ, by a permutation test."""
    if (second is None) == (by is None):
        raise RequestError(
            "compare needs two tables, A and B, or one table and the column of its groups (--by)"
        )
    if table.missing in ("auto", "impute"):
        raise RequestError(
            "compare does not impute: leave out --missing; each question uses the rows where its columns are "
            "known"
        )
    if table.weights is not None:
        raise RequestError("compare takes no weights: permutations would separate repeated rows")
    learner = learner.settled(test)
    learner.function()  # an unknown one is refused before the table is read
    table = table.suited_to(test.test, learner.score, learner.learner)
    if table.missing == "auto":
        table = replace(table, missing="question")
    from ibmap.learners.comparison import compare_groups

    with output_folder(output.out, FILES, output.force):
        groups, labels = read_groups(table, first, second, by)
        learning = learner.prepared(test, groups[0].schema)
        with screen.bar("permutations") as advance:
            found = compare_groups(
                groups,
                learning,
                labels=labels,
                n_permutations=permutations,
                random_state=seed,
                n_jobs=jobs,
                advance=advance,
            )
        if output.out is not None:
            write_together(output.out, files_of(found, output.safe_csv), overwrite=output.force)
    if output.as_json:
        screen.tell_json(found.to_dict())
    else:
        show(found, top, output.out)


def read_groups(
    table: options.DrawingOptions, first: Path, second: Path | None, by: str | None
) -> tuple["Groups", tuple[str, str]]:
    """Return both groups, read together: the same levels, the same bins; and what they are called."""
    from ibmap.cli.table_options import counted_rows, read_as, rows_in, say_kinds
    from ibmap.criteria.whole_numbers import with_kinds
    from ibmap.data.files import open_frame
    from ibmap.data.joined import joined
    from ibmap.learners.comparison import split_by, with_levels_of

    opened, labels, rows = open_frame(first), None, None
    how = table.how(opened.names)
    if by is not None:
        opened, rows = counted_rows(opened, how)
    elif second is not None:
        labels = (first.name, second.name) if first.name != second.name else (str(first), str(second))
        both = opened, open_frame(second)
        rows, of_rows = rows_in(both, how), (table.cluster, table.strata)
        mine = [name for name in opened.select(how["drop"], how["only"]) if name not in of_rows]
        is_chosen = table.drop or table.only
        yours = [name for name in both[1].names if name in mine or not (is_chosen or name in of_rows)]
        opened, by = joined(opened.some(mine), both[1].some(yours), labels)
        how |= {"drop": None, "only": None}
    data, said = read_as(opened, with_levels_of(str(by), how), rows)
    for words in said:
        screen.note(words)
    data = with_kinds(data)
    say_kinds(data)
    groups, named = split_by(data, str(by))
    return groups, labels or named


def files_of(found: "Comparison", safe_csv: bool) -> dict[str, str]:
    """Return the files of a comparison, by name."""
    import polars as pl

    from ibmap.report.comparison import comparison_page

    texts = (
        json.dumps(found.to_dict(), ensure_ascii=False) + "\n",
        csv_text(pl.DataFrame(found.to_columns()), safe_csv),
        comparison_page(found),
        found.svg(760) + "\n",
    )
    return dict(zip(FILES, texts, strict=True))


def show(found: "Comparison", top: int, out: Path | None) -> None:
    """Print the comparison."""
    console = screen.console()
    for line in found.words().splitlines():
        console.print(line)
    if top and len(found.pairs):
        table = screen.plain_table("p", "adjusted", *found.labels, "difference", "edge")
        rows = found.rows()
        for x, y, mine, yours, differs, p, adjusted in rows[:top]:
            table.add_row(p, adjusted, mine, yours, differs, f"{x} - {y}")
        console.print()
        console.print(table)
        if len(rows) > top:
            console.print(f"... and {len(rows) - top:,} more", style="dim")
        note = "Strengths in brackets: no edge in that group. Adjusted: p for looking at all edges at once."
        console.print(f"\n{note}", style="dim")
    if out is not None:
        console.print(f"wrote {out}: {listed(FILES)}", style="dim")
        console.print(f"to look around: open {out / FILES[2]} in a browser", style="dim")
