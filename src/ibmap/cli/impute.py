"""``ibmap impute``: a table without gaps."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.cli.ask import Model
from ibmap.cli.tables import Out, check_target, write_table

if TYPE_CHECKING:
    from ibmap.model import MarkovNetwork

Unseen = Annotated[str, typer.Option(metavar="KIND", help="Levels that the model does not know: {unseen}.")]


def impute(
    model: Model,
    file: options.File,
    unseen: Unseen = "missing",
    seed: options.Seed = 0,
    out: Out = None,
    force: options.Force = False,
) -> None:
    """Fill missing values with the most probable level, given the rest of the row."""
    check_target(out, force)
    from ibmap.data.files import open_frame
    from ibmap.model import read_model

    network = read_model(model)
    opened = open_frame(Path("/dev/stdin") if str(file) == "-" else file)
    began = perf_counter()
    frame, n_filled = filled(network, opened, unseen, seed)
    seconds = perf_counter() - began
    write_table(frame, out, force)
    if out is not None:
        screen.tell(f"wrote {out}: {screen.counted(n_filled, 'cell')} filled in {screen.in_seconds(seconds)}")


def filled(network: "MarkovNetwork", opened: Any, unseen: str, seed: int) -> tuple[Any, int]:
    """Return the table of a file with its gaps filled, other cells and columns as they are."""
    import polars as pl

    from ibmap.model.coding import coded

    codes = coded(network, opened, unseen)
    known = network.impute(opened, unseen=unseen, random_state=seed).codes
    frame, gaps = opened.frame, codes < 0
    for name, labels, row, gap in zip(network.names, network.levels, known, gaps, strict=True):
        if gap.any():
            old, new = frame[name].to_list(), row.tolist()
            cells = [labels[new[r]] if gap[r] else old[r] for r in range(len(old))]
            alike = len({type(cell) for cell in cells}) == 1
            frame = frame.with_columns(pl.Series(name, cells if alike else [str(cell) for cell in cells]))
    return frame, int(gaps.sum())
