"""Files of statistics programs, read by pyreadstat: value labels are levels, user-missing is missing."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._files import MAX_BYTES, check_size
from ibmap.data.frames import source_of_polars
from ibmap.data.kinds import MOST_WHOLE
from ibmap.data.sources import Source
from ibmap.errors import DataError

#: by suffix: what the file is, and the function that reads it
KINDS = {
    ".sav": ("an SPSS file", "read_sav"),
    ".zsav": ("an SPSS file", "read_sav"),
    ".por": ("an SPSS file", "read_por"),
    ".dta": ("a Stata file", "read_dta"),
    ".sas7bdat": ("a SAS file", "read_sas7bdat"),
    ".xpt": ("a SAS file", "read_xport"),
}


def open_statistics(path: Path) -> Source:
    """Return the table in a file of SPSS, Stata or SAS.

    A column with value labels has these as levels, in the order of the values; values without a label keep
    their number. One that the file calls ordinal is ordinal.
    """
    what, function = KINDS[path.suffix.lower()]
    try:
        import pyreadstat
    except ImportError:
        raise DataError(
            f"{path.name} is {what}: to read it, pip install pyreadstat, or save the table as CSV or Parquet"
        ) from None
    check_size(path, MAX_BYTES)
    try:
        columns, about = getattr(pyreadstat, function)(str(path), output_format="dict")
    except Exception as error:  # its errors have other names in other versions
        said = str(error).partition("\n")[0]
        raise DataError(f"{str(path)!r} is not a readable file of {what.split()[1]}: {said}") from None
    import polars as pl

    labels, measures = about.variable_value_labels, about.variable_measure
    found = [_column(name, np.asarray(values), labels.get(name, {})) for name, values in columns.items()]
    frame = pl.DataFrame(found)
    ordered = [
        name
        for name, dtype in frame.schema.items()
        if measures.get(name) == "ordinal" and (dtype.is_numeric() or isinstance(dtype, pl.Enum))
    ]
    return source_of_polars(frame, ordinal=dict.fromkeys(ordered))


def _column(name: str, values: NDArray[Any], labels: Mapping[Any, str]) -> Any:
    """Return a column as a polars series: categories if it has labels, and else as it is."""
    import polars as pl

    if values.dtype.kind == "f":
        series = pl.Series(name, values).fill_nan(None)
        present = values[~np.isnan(values)]
        if (present == np.floor(present)).all() and (np.abs(present) < 2**53).all():
            series = series.cast(pl.Int64)
    else:
        series = pl.Series(name, values.tolist(), strict=False)
        if series.dtype == pl.String:
            series = series.set(series == "", None)
    levels = labels_by_value(series.drop_nulls().unique().to_list(), labels) if labels else {}
    if not levels:
        return series
    words = [None if value is None else levels[value] for value in series.to_list()]
    return pl.Series(name, words, dtype=pl.Enum(list(levels.values())))


def labels_by_value(values: list[Any], labels: Mapping[Any, str]) -> dict[Any, str]:
    """Return the levels of a column by value, in order; none if it holds numbers of which a few have labels.

    Values that no row has are levels if they lie among others, so that a scale keeps its steps.

    Examples
    --------
    >>> labels_by_value([1, 5], {1.0: "never", 3.0: "at times", 5.0: "always", 9.0: "refused"})
    {1: 'never', 3.0: 'at times', 5: 'always'}
    >>> labels_by_value([1, 2], {1.0: "no", 2.0: "no"}), labels_by_value(list(range(90)), {99.0: "refused"})
    ({1: 'no', 2: 'no (2)'}, {})
    """
    if sum(value not in labels for value in values) > MOST_WHOLE or not values:
        return {}
    among = [value for value in labels if value not in values and min(values) < value < max(values)]
    found: dict[Any, str] = {}
    for value in sorted([*values, *among]):
        word = str(labels.get(value, value)).strip() or str(value)
        found[value] = f"{word} ({value})" if word in found.values() else word
    return found
