"""``ibmap sample``: rows from a model."""

from typing import Annotated

import typer

from ibmap.cli import options, screen
from ibmap.cli.ask import Model
from ibmap.cli.convert import read_from
from ibmap.cli.tables import Out, check_target, write_table


def sample(
    model: Model,
    rows: Annotated[int, typer.Option(metavar="N", help="Number of rows.")] = 1000,
    sweeps: Annotated[
        int,
        typer.Option(metavar="S", help="Updates of every variable before a row is drawn (Gibbs sampling)."),
    ] = 200,
    seed: options.Seed = 0,
    out: Out = None,
    force: options.Force = False,
) -> None:
    """Draw rows: exactly where the network allows it, otherwise by Gibbs sampling."""
    check_target(out, force, *read_from(model, "model.json"))
    import polars as pl

    from ibmap.model import read_model

    network = read_model(model)
    cells = network.sample_cells(rows, sweeps, seed)
    columns = {name: network.labels(v, cells[v]) for v, name in enumerate(network.names)}
    write_table(pl.DataFrame(columns, strict=False), out, force)
    if out is not None:
        how = "exactly" if network.is_tractable else "by Gibbs sampling"
        screen.tell(f"wrote {out}: {screen.counted(rows, 'row')}, drawn {how}")
