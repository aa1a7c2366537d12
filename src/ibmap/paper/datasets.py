"""The real tables of the paper's PaperTable 1: from a data directory, or from OpenML where there is none.

No table comes with ibmap. ``load`` looks in the directory that is passed, in the one that the environment
variable ``IBMAP_DATA`` names, and in ``../shared/data`` beside the checkout; without any of them it downloads
from OpenML through scikit-learn, and accepts a copy only if it holds the very table that was meant.

What has never been tried: the identifiers of the 13 tables on OpenML were written from memory, where there
was no connection. If one leads to another table, its checksum differs and ``load`` says so; what was tested
is that a copy with the right columns is taken, and any other refused.
"""

import hashlib
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
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
    """What is known of a table: variables and complete rows; and how its copy on OpenML is read."""

    n: int
    rows: int
    digest: str  #: see :func:`content_digest`
    openml: int | None = None  #: identifier of the dataset, if OpenML has the columns of the paper
    drop: tuple[str, ...] = ()  #: columns there that the paper does not have
    categories: tuple[str, ...] = ()  #: columns of numbers that are names


_BANDS = ("timestamp", "cylinder_number")

#: the tables in the paper's order. The identifiers were written down without a connection to OpenML.
TABLES = {
    "baloons": PaperTable(5, 20, "b7996385c4feff54f4158205b2eb794c"),
    "balance-scale": PaperTable(5, 625, "a8647571b368fbe57d7a5bcdfdabb071", 11),
    "iris": PaperTable(5, 150, "e7f144f32ee5b02aa049b654299e37dd", 61),
    "lenses": PaperTable(5, 24, "8c3979d2eafd305788497366c2b55cf1"),
    "hayes-roth": PaperTable(6, 132, "7235060a382ab3388ef128cf020a41db", categories=("name",)),
    "car": PaperTable(7, 1728, "0f009818ceef076dcdf421dcc48d3ce9", 21),
    "monks-1": PaperTable(7, 556, "ae14db5b8672ed64efc28065d33695cc", 333, drop=("id",)),
    "nursery": PaperTable(9, 12960, "9fa0d5827ac3084cc375b9f916e5bbcc", 26),
    "ecoli": PaperTable(9, 336, "6b508ee36ac8e810eda286575e5fb3f5", categories=("lip", "chg")),
    "machine": PaperTable(10, 209, "b7fdb1fc97d1d4b898a22fdf396e6a74"),
    "cmc": PaperTable(10, 1473, "5bb9489ef56546d73b59a7792bebb151", 23),
    "tic-tac-toe": PaperTable(10, 958, "4c30c71fbebd617562341949e6e7c9aa", 50),
    "echocardiogram": PaperTable(13, 61, "000aaae6577a68fa0fbf8e0ac1e176ae"),
    "crx": PaperTable(16, 653, "404e6646e28e6e8621207bc7b0ce15e3", 29),
    "hepatitis": PaperTable(20, 80, "ed71986ccf0b26fd5af92a157aee7c3b", 55),
    "imports-85": PaperTable(25, 193, "67bf6b22402cea57bacff70ce4fa9a8a", 9, drop=("normalized_losses",)),
    "flag": PaperTable(
        29, 194, "116c1ca152b12228256446b5665758f1", 285, drop=("name",), categories=("language",)
    ),
    "dermatology": PaperTable(35, 358, "321ee0b502dfc7da8aa247ceed36c477", 35),
    "bands": PaperTable(38, 277, "b526657015710988972070af91ad4e3b", 6332, _BANDS, ("job_number",)),
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
        then ``../shared/data`` beside the checkout, then OpenML.
    missing, discretize, bins
        As in :func:`ibmap.load`. The paper's sizes are those of the complete rows, so incomplete ones are
        dropped by default (the files of the project's own directory have none). It does not say how it cut
        numbers: bins of equal width, 1 + log2 of the rows, are this project's choice.

    Returns
    -------
    Table
        Identifiers that the paper's count of variables includes are kept, as categories. Names of columns and
        levels are those of the source; OpenML's may differ from the directory's.

    Raises
    ------
    RequestError
        If there is no such table.
    DataError
        If it cannot be found or downloaded, or if OpenML's copy holds something else.
    """
    known(name, "table", TABLES)
    path = _path(name, directory)
    frame = _from_openml(name) if path is None else _from_file(name, path)
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


def content_digest(columns: Mapping[str, Sequence[object]]) -> str:
    """Return a checksum of all two-way tables of counts of the complete rows.

    It does not depend on the order of rows and columns nor on what columns and levels are called: these
    differ between copies of one table and mean nothing to a learner. Any other change alters it, unless it
    leaves the counts of every two columns as they were.

    Examples
    --------
    >>> one = content_digest({"a": [0, 1, 1], "b": ["x", "x", "y"]})
    >>> one == content_digest({"B": ["q", "p", "p"], "A": [2.5, 7.0, 2.5]})
    True
    >>> one == content_digest({"a": [0, 1, 1], "b": ["x", "y", "y"]})
    False
    """
    texts = [[_text(value) for value in values] for values in columns.values()]
    complete = [row for row in zip(*texts, strict=True) if None not in row]
    codes = [
        np.unique(np.array(column, dtype=str), return_inverse=True)[1]
        for column in zip(*complete, strict=True)
    ]
    parts = [f"{len(complete)} x {len(codes)}"]
    for j, y in enumerate(codes):
        for x in codes[:j]:
            counts = (np.unique(values, return_counts=True)[1] for values in (x, y, x * (y.max() + 1) + y))
            one, other, both = (np.sort(values).tolist() for values in counts)
            parts.append(repr((sorted([one, other]), both)))
    return hashlib.sha256("\n".join(sorted(parts)).encode()).hexdigest()[:32]


def _text(value: object) -> str | None:
    """Return a value as text, numbers in one way of writing; None if it is missing."""
    text = "" if value is None else str(value).strip()
    try:
        return None if text in MISSING else repr(float(text))
    except ValueError:
        return text


def _path(name: str, directory: str | Path | None) -> Path | None:
    """Return the file of a table, or None if there is no directory at all."""
    given = directory if directory is not None else os.environ.get(VARIABLE) or None
    folder = Path(given) if given is not None else BESIDE
    for path in (folder / "benchmarks" / f"{name}.csv", folder / f"{name}.csv"):
        if path.is_file():
            return path
    if given is None:
        return None
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


def _from_openml(name: str) -> Any:
    """Download a table, or take it from scikit-learn's cache; return its columns."""
    table = TABLES[name]
    advice = f"set {VARIABLE} to a folder that has benchmarks/{name}.csv"
    if table.openml is None:
        raise DataError(f"no copy of {name!r} with the paper's columns is known on OpenML: {advice}")
    with _words_for_failures(name, advice):
        from sklearn.datasets import fetch_openml

        frame = fetch_openml(
            data_id=table.openml, as_frame=True, target_column=None, parser="liac-arff", n_retries=1
        ).frame
    unwanted = {_plain(column) for column in table.drop}
    frame = frame[[column for column in frame.columns if _plain(column) not in unwanted]]
    if content_digest({column: frame[column].tolist() for column in frame.columns}) != table.digest:
        found = f"dataset {table.openml} of OpenML is not the table {name!r} that is meant"
        raise DataError(f"{found} (its checksum differs): {advice}")
    names_of_things = {_plain(column) for column in table.categories}
    return {
        column: [None if _text(value) is None else str(value) for value in values]
        if values.dtype == "category" or _plain(column) in names_of_things
        else values.to_numpy()
        for column, values in frame.items()
    }


def _plain(column: str) -> str:
    return column.lower().replace("-", "_").replace(" ", "_")


@contextmanager
def _words_for_failures(name: str, advice: str) -> Iterator[None]:
    """Turn whatever can go wrong on the way to OpenML into one line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of scikit-learn, that it tries again
            yield
    except ImportError as error:
        raise DataError(
            f"downloading {name!r} from OpenML needs pandas ({error}): install it, or {advice}"
        ) from None
    except (OSError, ValueError) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise DataError(
            f"no data directory, and {name!r} cannot be had from OpenML ({reason}): {advice}"
        ) from None
