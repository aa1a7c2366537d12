"""``ibmap impute``: a table without gaps."""

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.cli.ask import Model
from ibmap.cli.convert import read_from
from ibmap.cli.tables import Out, check_target, write_table
from ibmap.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

    from ibmap._types import Floats
    from ibmap.model import MarkovNetwork

Unseen = Annotated[
    str, typer.Option(metavar="KIND", help="What to do with levels that the model does not know: {unseen}.")
]


def impute(
    model: Model,
    file: options.File,
    unseen: Unseen = "missing",
    draws: Annotated[
        int | None,
        typer.Option(
            metavar="M",
            min=1,
            help="Write M tables of draws, FILE-1 to FILE-M [one table of the likeliest values].",
        ),
    ] = None,
    seed: options.Seed = 0,
    out: Out = None,
    force: options.Force = False,
) -> None:
    """Fill missing values with the most probable level or the median, given the rest of the row."""
    if draws is not None and out is None:
        raise RequestError("--draws writes several tables: pass --out FILE")
    targets = [out] if out is None or draws is None else numbered(out, draws)
    for target in targets:
        check_target(target, force, file, *read_from(model, "model.json"))
    import numpy as np

    from ibmap._random import generator
    from ibmap.data.files import open_frame
    from ibmap.model import read_model

    network = read_model(model)
    opened = open_frame(Path("/dev/stdin") if str(file) == "-" else file)
    began, rng = perf_counter(), generator(seed)
    cells = network.cells(opened, unseen)
    for target in targets:
        done = network.filled(cells, seed) if draws is None else network.drawn(cells, random_state=rng)
        write_table(with_cells(opened.frame, network, cells, done), target, force)
    if out is not None:
        words = f"{screen.counted(int(np.isnan(cells).sum()), 'cell')} filled"
        many = "" if draws is None else f" by draws, {draws} times"
        where = out if draws is None else f"{targets[0]} to {targets[-1]}"
        screen.tell(f"wrote {where}: {words}{many} in {screen.in_seconds(perf_counter() - began)}")


def numbered(out: Path, count: int) -> list[Path]:
    """Return the names of several files.

    Examples
    --------
    >>> [path.name for path in numbered(Path("filled.csv"), 2)]
    ['filled-1.csv', 'filled-2.csv']
    """
    return [out.with_name(f"{out.stem}-{k}{out.suffix}") for k in range(1, count + 1)]


def with_cells(frame: "pl.DataFrame", network: "MarkovNetwork", cells: "Floats", done: "Floats") -> Any:
    """Return the table of a file with its gaps filled, other cells and columns as they are."""
    import numpy as np
    import polars as pl

    from ibmap.model.coding import middles

    for v, name in enumerate(network.names):
        gaps = np.flatnonzero(np.isnan(cells[v]))
        if not len(gaps):
            continue
        old: list[Any] = frame[name].to_list()
        if name in network.bin_edges:
            values = middles(network.levels[v], network.bin_edges[name], cells[v], old)
            found: list[Any] = [values[int(code)] for code in done[v, gaps].tolist()]
        else:
            found = network.labels(v, done[v, gaps])
        for row, value in zip(gaps.tolist(), found, strict=True):
            old[row] = value
        kinds = set(map(type, old))
        alike = len(kinds) == 1 or kinds == {int, float}
        series = pl.Series(name, old if alike else [str(cell) for cell in old], strict=False)
        frame = frame.with_columns(series)
    return frame
