"""``ibmap score``: how probable are rows, and which of them are odd?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.cli.ask import Model
from ibmap.cli.convert import read_from
from ibmap.cli.impute import Unseen
from ibmap.cli.tables import Out, check_target, write_table

if TYPE_CHECKING:
    from ibmap.model.likelihood import RowScores


def score(
    model: Model,
    file: options.File,
    unseen: Unseen = "error",
    top: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of rows to show, the least probable first.")
    ] = 5,
    out: Out = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Score every row of a table."""
    check_target(out, force, file, *read_from(model, "model.json"))
    import polars as pl

    from ibmap.data.files import open_file
    from ibmap.model import read_model
    from ibmap.model.likelihood import row_scores

    network = read_model(model)
    found = row_scores(network, open_file(Path("/dev/stdin") if str(file) == "-" else file), unseen)
    if out is not None:
        write_table(pl.DataFrame(found.columns), out, force)
    if as_json:
        screen.tell_json(summary(found, top))
    else:
        show(found, top)
        if out is not None:
            screen.tell(f"wrote {out}")


def summary(found: "RowScores", top: int) -> dict[str, Any]:
    """Return the JSON form."""
    means = {name: None if mean is None else float(mean) for name, mean in found.means.items()}
    odd = [{name: column[row] for name, column in found.columns.items()} for row in found.oddest(top)]
    return {"n_rows": found.n_rows, "means": means, "oddest": odd}


def show(found: "RowScores", top: int) -> None:
    """Print the means, and the oddest rows."""
    console = screen.console()
    console.print(f"{screen.counted(found.n_rows, 'row')}, on average", style="bold")
    for name, mean in found.means.items():
        words = "not tractable in this network" if mean is None else f"{mean:.4f}"
        console.print(f"  {name.replace('_', ' ')}: {words}")
    if not top:
        return
    table = screen.plain_table("row", "log p", "p of the value", "oddest value")
    for row in found.oddest(top):
        cells = {name: column[row] for name, column in found.columns.items()}
        odd = f"{cells['oddest_variable']}={cells['oddest_value']}"
        log_p = cells.get("log_likelihood", cells["log_pseudo_likelihood"])
        table.add_row(str(row), f"{log_p:.2f}", f"{cells['oddest_p']:.2g}", odd)
    console.print()
    console.print(table)
