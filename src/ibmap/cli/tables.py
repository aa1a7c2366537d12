"""The table that a verb works on: which columns of the file, and what becomes of them."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ibmap.cli.variable_lists import variables
from ibmap.errors import DataWarning

if TYPE_CHECKING:
    from ibmap.data import CategoricalData

HOW = ("missing", "discretize", "bins", "drop", "only")  #: options of a table, by name


def read_table(file: Path, given: Mapping[str, Any]) -> tuple["CategoricalData", dict[str, Any]]:
    """Load the table that a verb's options (``given``, by name) ask for.

    Returns
    -------
    data : CategoricalData
        The table.
    about : dict
        Where it is and how it was read, as a result keeps it; ``drop`` and ``only`` are lists of names.
    """
    from ibmap.data.files import open_file

    frame, doubt = open_file(Path("/dev/stdin") if str(file) == "-" else file)
    about = {"path": file, **{name: given[name] for name in HOW}}
    for name in ("drop", "only"):
        about[name] = _named(given[name], frame.columns)
    return _loaded(frame, doubt, about), about


def read_again(file: Path, about: Mapping[str, Any]) -> "CategoricalData":
    """Load a table in the way that a result remembers; what is doubtful about it was said then."""
    from ibmap.data.files import open_file

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return _loaded(*open_file(file), {"missing": "error", **about})


def _loaded(frame: Any, doubt: str, about: Mapping[str, Any]) -> "CategoricalData":
    from ibmap.data import load
    from ibmap.data.files import table_of

    drop, only = ([str(name) for name in about.get(key) or ()] for key in ("drop", "only"))
    dropped, wanted = set(drop), set(only or frame.columns)
    kept = [name for name in frame.columns if name in wanted and name not in dropped]
    table = table_of(frame.select(kept), doubt)
    return load(table, missing=about["missing"], discretize=about.get("discretize"), bins=about.get("bins"))


def _named(texts: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """Return the columns that an option names; None if it is not given."""
    return [name for text in texts for name in variables(text, names)] if texts else None
