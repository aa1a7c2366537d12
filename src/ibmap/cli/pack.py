"""``ibmap pack``: a table as bits, in a file that every verb opens at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap.cli import options, screen
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data.table import PackedData


def pack(
    file: options.File,
    table: options.ReadingOptions,
    out: Annotated[
        Path | None, typer.Argument(metavar="OUT", help="Packed table to write, such as table.ibmap.")
    ] = None,
    *,
    check: Annotated[
        bool, typer.Option("--check", help="Check that a packed FILE agrees with its digest; write nothing.")
    ] = False,
    force: options.Force = False,
) -> None:
    """Read a table once, and write it as every verb that takes a FILE can open it at once."""
    from ibmap._files import refuse_existing
    from ibmap.data import Table
    from ibmap.data.packed_file import check_packed, write_packed

    if check:
        if out is not None or force or table != options.ReadingOptions():
            raise RequestError("--check takes a packed FILE, and nothing else")
        screen.tell(f"{file} is as it was packed: {_size(check_packed(file), file)}")
        return
    if out is None:
        raise RequestError("say where the packed table goes: ibmap pack FILE OUT")
    refuse_existing(out, overwrite=force, read=[file])
    from ibmap.engines.bits import packed_data

    read = table.load(file)[0]
    if not isinstance(read, Table):
        raise RequestError("numbers are not packed: cut them by --discretize and --bins")
    data = packed_data(read)
    write_packed(data, out, overwrite=force)
    screen.tell(f"wrote {out}: {_size(data, out)}")


def _size(data: "PackedData", path: Path) -> str:
    variables, rows = screen.counted(data.n_variables, "variable"), screen.counted(data.n_rows, "row")
    return f"{variables}, {rows}, {path.stat().st_size / 1e6:,.1f} MB"
