"""``ibmap compare``: do two groups have the same network?"""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap._text import listed, listing
from ibmap.cli import options, screen
from ibmap.cli.output import csv_text, output_folder, write_together
from ibmap.errors import DataError, RequestError

if TYPE_CHECKING:
    import polars as pl

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
    table: options.ReadingOptions,
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
            "compare imputes nothing: leave out --missing, and each question uses the rows that answer it"
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
    table: options.ReadingOptions, first: Path, second: Path | None, by: str | None
) -> tuple["Groups", tuple[str, str]]:
    """Return both groups, read together: the same levels, the same bins; and what they are called."""
    import polars as pl

    from ibmap.cli.table_options import counted_rows, read_as, say_kinds
    from ibmap.criteria.whole_numbers import with_kinds
    from ibmap.data.files import open_frame
    from ibmap.data.frames import source_of_polars
    from ibmap.learners.comparison import split_by

    opened, labels = open_frame(first), None
    if second is not None:
        other, by = open_frame(second), _free_name(opened.names)
        labels = (first.name, second.name) if first.name != second.name else (str(first), str(second))
        how = table.how(opened.names)
        kept = list(dict.fromkeys([*opened.select(how["drop"], how["only"]), *filter(None, [table.cluster])]))
        frames = [opened.frame.select(kept), _columns_of(other.frame, kept, second, table)]
        marked = [frame.with_columns(pl.lit(k).alias(by)) for k, frame in enumerate(frames)]
        try:
            both, warning = pl.concat(marked, how="vertical_relaxed"), opened.warning or other.warning
            opened = source_of_polars(both, warning, opened.ordinal)
        except pl.exceptions.PolarsError:
            raise DataError(
                f"the columns of {str(second)!r} have other types: {_odd_types(frames)}"
            ) from None
    how = (table if labels is None else replace(table, drop=None, only=None)).how(opened.names)
    left, rows = counted_rows(opened, how)
    data, said = read_as(left, how, rows)
    for words in said:
        screen.note(words)
    data = with_kinds(data)
    say_kinds(data)
    groups, named = split_by(data, str(by))
    return groups, labels or named


def _free_name(names: tuple[str, ...]) -> str:
    """Return a name that no column has."""
    name = "group"
    while name in names:
        name += "_"
    return name


def _columns_of(
    frame: "pl.DataFrame", names: list[str], path: Path, table: options.ReadingOptions
) -> "pl.DataFrame":
    """Return the columns of the first table that the second has, too; all of them, if none are chosen."""
    wanted, there = set(names), set(frame.columns)
    missing = [name for name in names if name not in there]
    more = [] if table.only or table.drop else [name for name in frame.columns if name not in wanted]
    if missing or more:
        said = f"has no column {listing(missing)}" if missing else f"has more columns: {listing(more)}"
        raise DataError(f"{str(path)!r} {said}; --only chooses the columns that both have")
    return frame.select(names)


def _odd_types(frames: list[Any]) -> str:
    first, second = (frame.schema for frame in frames)
    odd = [name for name in first if first[name] != second[name]]
    return listing([f"{name} ({first[name]} and {second[name]})" for name in odd])


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
    if out is not None:
        console.print(f"wrote {out}: {listed(FILES)}", style="dim")
        console.print(f"to look around: open {out / FILES[2]} in a browser", style="dim")
