"""How a table is read: the options that all verbs with a table share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from ibmap._text import counted, listing, one_of
from ibmap.cli import screen
from ibmap.cli.endings import at_end
from ibmap.cli.variable_lists import variables
from ibmap.errors import ContinuousError, RequestError

if TYPE_CHECKING:
    from ibmap.data import CategoricalData
    from ibmap.data.numbers import NumericData
    from ibmap.data.sources import Source
    from ibmap.engines import Engine

EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Who counts: {engines}; of a folder, dask (workers on this machine) or dask=ADDRESS [memory].",
    ),
]

_BINS_OF_ONE = r"([^=]+)=\s*(\d+)\s*(?:,|$)"  # a column and its number
#: how to ask for another way to read the table than the one that was chosen
OTHERWISE = {
    "categories": "--columns values takes numbers as they are",
    "values": "--discretize quantile --bins 5 cuts them instead",
    "ranks": "--discretize quantile --bins 5 cuts numbers instead",
    "quantile": "--discretize quantile --bins 5 makes other bins",
}


def bins_of(text: str) -> Any:
    """Return the number of bins, or the numbers by column; names may hold commas.

    Examples
    --------
    >>> bins_of("4"), bins_of("age=5, height, cm=3")
    (4, {'age': 5, 'height, cm': 3})
    """
    if text.strip().removeprefix("-").isdecimal():
        return int(text)
    if not re.fullmatch(rf"({_BINS_OF_ONE})+", text):
        raise typer.BadParameter(f"{text!r} is neither a number nor a list such as age=5,pay=3")
    return {name.strip(): int(number) for name, number in re.findall(_BINS_OF_ONE, text)}


@dataclass(frozen=True)
class ReadingOptions:
    """How a table is read: the arguments of :func:`load_as`."""

    columns: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Columns are {columns} [categories; values if a test or score asks].",
        ),
    ] = None
    missing: Annotated[str, typer.Option(metavar="KIND", help="Missing values: {policies}.")] = "error"
    discretize: Annotated[
        str | None, typer.Option(metavar="KIND", help="Cut continuous columns: {discretizations}.")
    ] = None
    bins: Annotated[
        Any,
        typer.Option(
            metavar="K",
            parser=bins_of,
            help="Number of bins [1 + log2 of the rows], or by column: age=5,pay=3.",
        ),
    ] = None
    drop: Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns to leave out; repeat.")] = (
        None
    )
    only: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="The columns to use [all]; repeat.")
    ] = None

    ordinal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Columns of ordered levels: numbers by value, words as said: A=low<mid<high; repeat.",
        ),
    ] = None
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Columns of categories without an order, never cut; repeat."),
    ] = None
    missing_values: Annotated[
        list[str] | None,
        typer.Option(
            metavar="V,W",
            help="Values that stand for missing ones, of all columns or of one: A=-9,99; repeat.",
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="X", help="The column that tells how often a row counts, or its sampling weight [once]."
        ),
    ] = None

    def suited_to(self, test: str | None, score: str | None = None) -> Self:
        """Return the same, for a test and a score: those of numbers take columns as they are."""
        if self.columns is not None or (test is None and score is None):
            return self
        from ibmap.learners.registry import takes_numbers

        return replace(self, columns="values") if takes_numbers(test, score) else self

    def load(self, file: Path) -> tuple["CategoricalData | NumericData", dict[str, Any]]:
        """Load the table in a file.

        Returns
        -------
        data : CategoricalData or NumericData
            The table.
        about : dict
            Where it comes from, as a result keeps it; how it was read the table knows itself.
        """
        from ibmap.data.files import open_file, open_frame

        self._check_columns()
        plain = self.weights is not None or self.columns not in (None, "categories")
        opened: Any = (open_frame if plain else open_file)(Path("/dev/stdin") if str(file) == "-" else file)
        how = self.how(opened.names)
        how["drop"] = _with_identifiers(opened, how)
        if self.weights is not None:
            opened, words = weighted(opened, self.weights)
            screen.note(words)
        if how["columns"] == "auto":
            how |= _chosen(opened, how)
        try:
            data = load_as(opened, **{**how, "weights": None})
        except ContinuousError as error:
            raise ContinuousError(error.found, f"{error.advice}; --columns auto chooses by itself") from None
        if how["columns"] in ("values", "ranks") and (gone := len(opened.frame) - data.schema.n_rows):
            rows = counted(len(opened.frame), "row")
            screen.note(f"{gone:,} of {rows} with missing numbers {'is' if gone == 1 else 'are'} left out")
        return data, {"path": file, "weights": self.weights}

    def how(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the options as arguments of :func:`load_as`; ``drop`` and ``only`` are lists of names."""
        how = {option.name: getattr(self, option.name) for option in fields(ReadingOptions)}
        how |= {option: named_in(how[option], names) for option in ("drop", "only", "categorical")}
        how["ordinal"] = ordered_in(self.ordinal, names)
        how["missing_values"] = missing_in(self.missing_values, names)
        return how

    def _check_columns(self) -> None:
        """Refuse kinds of columns that there are not, and numbers that are to be cut and not to be cut."""
        from ibmap.data.kinds import COLUMNS

        if self.columns is not None and self.columns not in COLUMNS:
            raise RequestError(f"--columns must be {one_of(COLUMNS)}, not {self.columns!r}")
        if self.columns in (None, "categories"):
            return
        for option in ("discretize", "bins"):
            if getattr(self, option) is not None:
                raise RequestError(
                    f"--{option} cuts numbers; --columns {self.columns}, and tests and scores of numbers, "
                    "take them as they are: leave out one of the two"
                )


@dataclass(frozen=True)
class TableOptions(ReadingOptions):
    """How a table is read, and who counts in it."""

    engine: EngineName = None

    def read(self, file: Path) -> tuple["Engine", dict[str, Any]]:
        """Load the table in a file behind an engine; return also where it comes from."""
        kind, _, address = (self.engine or "").partition("=")
        if kind == "dask":
            return self._on_cluster(file, address or None)
        data, about = self.load(file)
        return self.counting(data), about

    def _on_cluster(self, file: Path, address: str | None) -> tuple["Engine", dict[str, Any]]:
        """Have the workers of a cluster read the table; it is forgotten when the verb ends."""
        if self.columns not in (None, "categories"):
            raise RequestError("the engine dask counts categories: leave out --columns, or --engine")
        from ibmap.data.files import open_file
        from ibmap.data.parquet import pieces_of
        from ibmap.engines.dask import DaskEngine

        known = signature(DaskEngine).parameters
        for option in fields(ReadingOptions):
            if option.name not in ("columns", *known) and getattr(self, option.name) != option.default:
                typed = option.name.replace("_", "-")
                raise RequestError(
                    f"the engine dask reads columns as they are: leave out --{typed}, or --engine"
                )
        how = self.how(pieces_of(file)[0])
        how["drop"] = _with_identifiers(open_file(file), how)
        how = {name: value for name, value in how.items() if name in known}
        with screen.bar("packing") as told:
            engine = DaskEngine(address, file, told=told, **how)
        at_end(engine.close)
        return engine, {"path": file, "weights": self.weights}

    def counting(self, data: "CategoricalData | NumericData") -> "Engine":
        """Return the engine that was chosen, with a table behind it."""
        from ibmap.engines import as_engine

        return as_engine(data, self.engine)


def _with_identifiers(opened: Any, how: dict[str, Any]) -> list[str] | None:
    """Return the columns to leave out: those that were named, and those that only tell rows apart."""
    from ibmap.data.quality import identifiers
    from ibmap.data.sources import select_columns

    if how["only"] is not None:
        return how["drop"]  # type: ignore[no-any-return]
    kept = [opened.names[i] for i in select_columns(opened.names, how["drop"], None)]
    kept = [name for name in kept if name != how["weights"]]
    cut = any(how[option] is not None for option in ("discretize", "bins", "columns"))
    found = identifiers(opened, kept, cut)
    if not found or len(kept) - len(found) < 2:
        return how["drop"]  # type: ignore[no-any-return]
    they, keep = ("it tells", "it") if len(found) == 1 else ("they tell", "them")
    screen.note(
        f"left out {listing(found)}: every row has another value, so {they} nothing; --only keeps {keep}"
    )
    return [*(how["drop"] or ()), *found]


def _chosen(opened: Any, how: dict[str, Any]) -> dict[str, Any]:
    """Choose how to read a table, and say so in one line."""
    from ibmap.data.kinds import choose_columns

    said = ("drop", "only", "ordinal", "categorical", "missing_values")
    found = choose_columns(opened, **{option: how[option] for option in said})
    screen.note(f"{found.why}; {OTHERWISE[found.discretize or found.columns]}")
    return {"columns": found.columns, "discretize": found.discretize, "bins": found.bins}


def load_as(
    source: Any, *, columns: str | None = None, weights: str | None = None, **how: Any
) -> "CategoricalData | NumericData":
    """Load a table as categories, or as numbers: "values" or "ranks"; ``weights`` is a column of it."""
    from ibmap.data import load
    from ibmap.data.numbers import load_numbers

    if weights is not None:
        from ibmap.data.files import open_frame

        source, _ = weighted(open_frame(Path(source)), weights)
    if columns in (None, "categories"):
        return load(source, **how)
    chosen = {name: value for name, value in how.items() if name not in ("discretize", "bins")}
    return load_numbers(source, columns=str(columns), **chosen)


def weighted(opened: Any, name: str) -> tuple["Source", str]:
    """Return a table with its rows repeated by a column, without that column; and what to say about it."""
    from ibmap.data.frames import source_of_polars
    from ibmap.data.schema import unknown_variable
    from ibmap.data.weights import repeat_rows, times_of

    if name not in opened.names:
        raise unknown_variable(name, opened.names)
    frame = opened.frame
    if not frame[name].dtype.is_numeric():
        raise RequestError(f"--weights {name}: the column holds no numbers")
    found = times_of(frame[name].to_numpy(), len(frame), f"--weights {name}")
    ordinal = {one: order for one, order in opened.ordinal.items() if one != name}
    return source_of_polars(repeat_rows(frame.drop(name), found.times), opened.warning, ordinal), found.words


def named_in(texts: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """Return the variables that an option names, in lists with commas; None if it is not given."""
    return [name for text in texts for name in variables(text, names)] if texts else None


def ordered_in(texts: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """Return the columns that have an order, "A", or "A=low<high" where it is said.

    Examples
    --------
    >>> ordered_in(["a,b", "c=low<high"], ["a", "b", "c"])
    ['a', 'b', 'c=low<high']
    """
    if not texts:
        return None
    return [one for text in texts for one in ([text] if "<" in text else variables(text, names))]


def missing_in(texts: Any, names: Sequence[str]) -> Any:
    """Return the values that stand for missing ones, of all columns or by column.

    Examples
    --------
    >>> missing_in(["-9,99"], ["a", "b"]), missing_in(["-9", "b=98,99"], ["a", "b"])
    (['-9', '99'], {'a': ['-9'], 'b': ['-9', '98', '99']})
    """
    if not texts or isinstance(texts, Mapping):  # as a result has them
        return texts or None
    parts = [text.partition("=") for text in texts]
    by_name = [(name.strip(), text.split(",")) for name, equals, text in parts if equals]
    every = [one.strip() for name, equals, _ in parts if not equals for one in name.split(",")]
    if not by_name:
        return every
    found = {name: list(every) for name in names} if every else {}
    for name, values in by_name:
        found.setdefault(name, []).extend(value.strip() for value in values)
    return found
