"""``ibmap interactions``: which triples of variables say something only together?"""

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap._text import safe_cell
from ibmap.cli import options, screen
from ibmap.cli.tables import check_target, write_table
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.learners.interactions import Interaction


def interactions(
    file: options.File,
    *,
    least_posterior: Annotated[float, typer.Option(metavar="P", help="Least posterior to list.")] = 0.5,
    most: Annotated[
        int, typer.Option(metavar="N", help="Most triples to list; those with the most evidence come first.")
    ] = 1000,
    jobs: Annotated[int | None, typer.Option(metavar="N", help="Threads; -1: one for each core [1].")] = None,
    table: options.TableOptions,
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of triples to show; 0: only the summary.")
    ] = 20,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File for all of them: .csv or .parquet.")
    ] = None,
    force: options.Force = False,
    safe_csv: options.SafeCsv = False,
    as_json: options.Json = False,
) -> None:
    """List the triples of variables that say something only together, beyond their prior."""
    check_target(out, force, file)
    if table.missing in ("auto", "impute"):
        raise RequestError(
            "interactions does not impute: leave out --missing; each triple uses the rows where it is known"
        )
    table = replace(table.suited_to(None, None, "evidence-map"), missing=table.missing or "question")
    engine, _ = table.read(file)
    from ibmap.learners.interactions import find_interactions

    began = perf_counter()
    found = find_interactions(engine, least_posterior=least_posterior, most=most, n_jobs=jobs)
    seconds = perf_counter() - began
    if out is not None:
        import polars as pl

        rows = [one.to_dict() for one in found]
        shown = safe_cell if safe_csv else str
        columns: dict[str, list[object]] = {name: [shown(row[name]) for row in rows] for name in "xyz"}
        columns |= {name: [row[name] for row in rows] for name in ("log_evidence", "posterior")}
        types = dict.fromkeys("xyz", pl.String) | dict.fromkeys(("log_evidence", "posterior"), pl.Float64)
        write_table(pl.DataFrame(columns, schema=types), out, force)
    n_variables, n_rows = engine.schema.n_variables, engine.schema.n_rows
    if as_json:
        about = {"n_variables": n_variables, "n_rows": n_rows, "seconds": seconds}
        screen.tell_json({**about, "interactions": [one.to_dict() for one in found]})
        return
    sizes = screen.counted(n_variables, "variable"), screen.counted(n_rows, "row")
    many = f" (the first {most:,})" if len(found) == most else ""
    what = f"{screen.counted(len(found), 'interaction')}{many} among {sizes[0]}"
    screen.tell(f"{what}, found in {sizes[1]} in {screen.in_seconds(seconds)}")
    show(found[:top])
    if found:
        screen.tell("some may follow from others: ibmap learn shows which variables are adjacent")
    if out is not None:
        screen.tell(f"wrote {out}")


def show(found: "list[Interaction]") -> None:
    """Print triples with their evidence."""
    if not found:
        return
    table = screen.plain_table("x", "y", "z", "posterior", "log evidence")
    for one in found:
        table.add_row(*one.variables, screen.probability(one.log_posterior), f"{one.log_evidence:.1f}")
    screen.console().print(table)
