"""Where result files go: tried before the work begins, and claimed until it has ended."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ibmap._files import PREFIX, SUFFIX, claimed, refuse_existing
from ibmap._folders import made, settle
from ibmap._folders import write_together as write_together
from ibmap._text import safe_cell
from ibmap.errors import RequestError

if TYPE_CHECKING:
    import polars as pl


def csv_text(pairs: "pl.DataFrame", safe: bool) -> str:
    """Return a table of pairs, x and y in its first columns, as CSV; perhaps safe for spreadsheets."""
    import polars as pl

    if safe:
        ends = [pl.Series(name, list(map(safe_cell, pairs[name]))) for name in ("x", "y")]
        pairs = pairs.with_columns(ends)
    return pairs.write_csv()


@contextmanager
def output_folder(path: Path | None, names: Sequence[str] = (), force: bool = True) -> Iterator[None]:
    """Make sure that files can be written to a folder before the work begins.

    Files of these names that are there already are replaced by force only, and nobody else may write them
    meanwhile. If the work fails or is interrupted, folders that were made for it are removed again.
    """
    if path is None:
        yield
        return
    if path.is_dir():
        settle(path)
    for name in names:
        refuse_existing(path / name, overwrite=force)
    with made(path), _claimed(path, names):
        yield


@contextmanager
def _claimed(path: Path, names: Sequence[str]) -> Iterator[None]:
    """Keep others from writing the same files until the block has ended."""
    if not names:
        yield
        return
    with claimed(path / f"{PREFIX}{names[0]}{SUFFIX}") as mine:
        if not mine:
            raise RequestError(f"another run is writing to {str(path)!r}: wait for it, or use another --out")
        yield
