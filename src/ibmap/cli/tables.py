"""Tables as files: to stdout as CSV, or to a CSV or Parquet file by suffix."""

from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap.cli import screen
from ibmap.errors import RequestError

if TYPE_CHECKING:
    import polars as pl

Out = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Table to write: .csv or .parquet [CSV on stdout].")
]
SUFFIXES = (".csv", ".parquet")


def check_target(out: Path | None, force: bool, *read: Path) -> None:
    """Refuse a file that cannot be written, or is read, before the work begins."""
    from ibmap._files import refuse_existing

    if out is None:
        return
    if out.suffix.lower() not in SUFFIXES:
        raise RequestError(f"--out must end in .csv or .parquet, not {out.name!r}")
    refuse_existing(out, overwrite=force, read=read)


def write_table(frame: "pl.DataFrame", out: Path | None, force: bool) -> None:
    """Write a table, whole or not at all."""
    from ibmap._files import write_whole

    if out is None:
        screen.hand_over(frame.write_csv())
    elif out.suffix.lower() == ".csv":
        write_whole(out, frame.write_csv(), overwrite=force)
    else:
        buffer = BytesIO()
        frame.write_parquet(buffer)
        write_whole(out, buffer.getvalue(), overwrite=force)
