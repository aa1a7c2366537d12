"""The real tables of the paper's Table 1, from a data directory: no table comes with ibmap.

``load`` looks in the directory that is passed, in the one that the environment variable ``IBMAP_DATA`` names,
and in ``../shared/data`` beside the checkout.
"""

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ibmap._checks import known
from ibmap._random import RandomState, generator
from ibmap.data import Table
from ibmap.data import load as load_table
from ibmap.data.text import MISSING
from ibmap.errors import DataError, DataWarning, RequestError

VARIABLE = "IBMAP_DATA"  #: the environment variable that names the data directory
BESIDE = Path(__file__).parents[4] / "shared" / "data"  # of a checkout


class PaperTable(NamedTuple):
    """What is known of a table: variables and complete rows."""

    n: int
    rows: int
    categories: tuple[str, ...] = ()  #: columns of numbers that are names


#: the tables in the paper's order
TABLES = {
    "baloons": PaperTable(5, 20),
    "balance-scale": PaperTable(5, 625),
    "iris": PaperTable(5, 150),
    "lenses": PaperTable(5, 24),
    "hayes-roth": PaperTable(6, 132, ("name",)),
    "car": PaperTable(7, 1728),
    "monks-1": PaperTable(7, 556),
    "nursery": PaperTable(9, 12960),
    "ecoli": PaperTable(9, 336, ("lip", "chg")),
    "machine": PaperTable(10, 209),
    "cmc": PaperTable(10, 1473),
    "tic-tac-toe": PaperTable(10, 958),
    "echocardiogram": PaperTable(13, 61),
    "crx": PaperTable(16, 653),
    "hepatitis": PaperTable(20, 80),
    "imports-85": PaperTable(25, 193),
    "flag": PaperTable(29, 194, ("language",)),
    "dermatology": PaperTable(35, 358),
    "bands": PaperTable(38, 277, ("job_number",)),
}


def names() -> tuple[str, ...]:
    """Return the names of the tables, in the paper's order.

    Examples
    --------
    >>> names()[:4]
    ('baloons', 'balance-scale', 'iris', 'lenses')
    """
    return tuple(TABLES)


def load(
    name: str,
    directory: str | Path | None = None,
    *,
    missing: str = "drop",
    discretize: str | None = "equal-width",
    bins: Any = None,
) -> Table:
    """Load a table of the paper.

    Parameters
    ----------
    name : str
        One of :func:`names`.
    directory : path, optional
        A folder with ``benchmarks/NAME.csv`` or ``NAME.csv``. By default the one that ``IBMAP_DATA`` names,
        then ``../shared/data`` beside the checkout.
    missing, discretize, bins
        As in :func:`ibmap.load`. The paper's sizes are those of the complete rows, so incomplete ones are
        dropped by default (the files of the project's own directory have none). It does not say how it cut
        numbers: bins of equal width, 1 + log2 of the rows, are this project's choice.

    Returns
    -------
    Table
        Identifiers that the paper's count of variables includes are kept, as categories.

    Raises
    ------
    RequestError
        If there is no such table.
    DataError
        If it cannot be found.
    """
    known(name, "table", TABLES)
    frame = _from_file(name, _path(name, directory))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # identifiers are meant here
        return load_table(frame, missing=missing, discretize=discretize, bins=bins)


def split(data: Table, fraction: float = 0.75, random_state: RandomState = None) -> tuple[Table, Table]:
    """Shuffle the rows and cut the table in two: ``fraction`` of them to learn from, the rest to test on.

    Both parts keep the levels of the whole table, also those that none of their rows has.

    Examples
    --------
    >>> table = load_table({"a": [0, 1, 0, 1], "b": ["x", "y", "z", "x"]})
    >>> train, test = split(table, random_state=0)
    >>> train.n_rows, test.n_rows, test.levels == table.levels
    (3, 1, True)
    """
    n_train = round(fraction * data.n_rows) if np.isfinite(fraction) else 0
    if not 0 < n_train < data.n_rows:
        raise RequestError(f"fraction={fraction} of {data.n_rows} rows leaves one of the two parts empty")
    order = generator(random_state).permutation(data.n_rows)
    return data.rows(order[:n_train]), data.rows(order[n_train:])


def _path(name: str, directory: str | Path | None) -> Path:
    """Return the file of a table."""
    given = directory if directory is not None else os.environ.get(VARIABLE) or None
    folder = Path(given) if given is not None else BESIDE
    for path in (folder / "benchmarks" / f"{name}.csv", folder / f"{name}.csv"):
        if path.is_file():
            return path
    if given is None:
        raise DataError(
            f"there is no data directory: set {VARIABLE} to a folder that has benchmarks/{name}.csv"
        )
    what = "directory" if directory is not None else f"the environment variable {VARIABLE}"
    found = "has no" if folder.is_dir() else "is no folder, so there is no"
    raise DataError(f"{str(folder)!r}, from {what}, {found} benchmarks/{name}.csv nor {name}.csv")


def _from_file(name: str, path: Path) -> Any:
    import polars as pl

    texts = dict.fromkeys(TABLES[name].categories, pl.String)
    try:
        return pl.read_csv(path, infer_schema_length=None, null_values=list(MISSING), schema_overrides=texts)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"cannot read {str(path)!r}: {str(error).partition(chr(10))[0]}") from None
