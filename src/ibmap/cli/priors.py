"""The prior of independence on the command line: a number, or a small file with one row per pair."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ibmap.errors import DataError, RequestError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ibmap.data import CategoricalData


def prior_from(text: str, data: "CategoricalData") -> "float | NDArray[np.float64]":
    """Return a number, or a matrix that holds 0.5 but for the pairs of a file with columns x, y, prior.

    Examples
    --------
    >>> from ibmap.data import load
    >>> prior_from("0.25", load({"a": [0, 1], "b": [1, 0]}))
    0.25
    """
    try:
        return float(text)
    except ValueError:
        pass
    import numpy as np

    matrix = np.full((data.n_variables, data.n_variables), 0.5)
    for number, row in enumerate(_rows(Path(text)), start=2):
        i, j = data.indices((row["x"], row["y"]))
        if i == j:
            raise RequestError(f"{text!r}, line {number}: a pair needs two different variables")
        try:
            matrix[i, j] = matrix[j, i] = float(row["prior"])
        except ValueError:
            raise RequestError(f"{text!r}, line {number}: {row['prior']!r} is not a probability") from None
    return matrix


def _rows(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns, rows = list(reader.fieldnames or ()), list(reader)
    except FileNotFoundError:
        raise RequestError(f"--prior takes a probability or a file, and {str(path)!r} is neither") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None
    if not {"x", "y", "prior"} <= set(columns):
        raise DataError(f"{str(path)!r} must have the columns x, y and prior")
    if any(None in row or None in row.values() for row in rows):
        raise DataError(f"{str(path)!r} has a row with more or fewer than {len(columns)} cells")
    return rows
