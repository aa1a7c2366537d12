"""``ibmap pack``: a table as bits, in a file that is mapped into memory when it is opened."""

from pathlib import Path
from typing import Annotated

import typer

from ibmap.cli import options, screen
from ibmap.cli.startup import import_numba
from ibmap.errors import RequestError


def pack(
    file: options.File,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The packed table, such as table.ibmap.")],
    table: options.ReadingOptions,
    *,
    force: options.Force = False,
) -> None:
    """Read a table once, and write it as every verb that takes a FILE can open it at once."""
    from ibmap._files import refuse_existing
    from ibmap.data import CategoricalData
    from ibmap.data.packed_file import write_packed

    refuse_existing(out, overwrite=force)
    import_numba()
    from ibmap.engines.packing import packed_data

    read = table.load(file)[0]
    if not isinstance(read, CategoricalData):
        raise RequestError("numbers are not packed: cut them by --discretize and --bins")
    data = packed_data(read)
    write_packed(data, out, overwrite=force)
    size = f"{out.stat().st_size / 1e6:,.1f} MB"
    rows = screen.counted(data.n_rows, "row")
    screen.tell(f"wrote {out}: {screen.counted(data.n_variables, 'variable')}, {rows}, {size}")
