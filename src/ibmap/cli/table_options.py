"""How a table is read: the options that all verbs with a table share."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from ibmap._text import listing
from ibmap.cli import screen
from ibmap.cli.endings import at_end
from ibmap.cli.variable_lists import variables
from ibmap.errors import ContinuousError, DataError, RequestError

if TYPE_CHECKING:
    from ibmap.data import Table
    from ibmap.data.weights import CountedRows
    from ibmap.engines import Engine

EngineName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Counting engine: {engines}; for a folder also dask (workers on this machine) or "
        "dask=ADDRESS [memory].",
    ),
]

OF_ROWS = ("weights", "cluster", "strata")  #: options that name columns that say something of rows

_BINS_OF_ONE = r"([^=]+)=\s*(\d+)\s*(?:,|$)"  # a column and its number


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

    missing: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Missing values: {policies}; with the default learner also question, impute "
            "[by their share; other learners: error].",
        ),
    ] = None
    discretize: Annotated[
        str | None, typer.Option(metavar="KIND", help="How to cut columns of numbers: {discretizations}.")
    ] = None
    bins: Annotated[
        Any,
        typer.Option(
            metavar="K",
            parser=bins_of,
            help="Number of bins [1 + log2 of the rows], or by column: age=5,pay=3.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Columns to leave out; may be repeated.")
    ] = None
    only: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="Columns to use [all]; may be repeated.")
    ] = None

    ordinal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Columns of ordered levels: names, patterns such as q*, or all (numbers by value), or "
            "A=low<mid<high; may be repeated.",
        ),
    ] = None
    nominal: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="Columns whose levels have no order: names, patterns such as q*, or all; may be repeated.",
        ),
    ] = None
    continuous: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B", help="Columns of numbers: names, patterns such as q*, or all; may be repeated."
        ),
    ] = None
    numbers: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Use of numbers: {numbers} [ranks; values with --test gaussian]."),
    ] = None
    missing_values: Annotated[
        list[str] | None,
        typer.Option(
            metavar="V,W",
            help="Values that mean missing, in all columns, or in one: A=-9,99; may be repeated.",
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="X",
            help="Column with the frequency or the sampling weight of each row [each row counts once].",
        ),
    ] = None
    weights_are: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Kind of the weights: {weights} [frequency if they are whole numbers]."
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(metavar="X", help="Column that says which rows belong together (person, school)."),
    ] = None
    imputation_seed: Annotated[
        int, typer.Option(metavar="SEED", min=0, help="Random seed of the imputation.")
    ] = 0

    def suited_to(self, test: str | None, score: str | None = None, learner: str | None = None) -> Self:
        """Return the same, for a test, a score and a learner, which say what columns may be."""
        if learner == "evidence-map" and test is None and score in (None, "mixed"):
            return replace(self, continuous=self.continuous or ["auto"], missing=self.missing or "auto")
        if self.continuous is not None:
            return self
        from ibmap.learners.registry import takes_numbers

        return replace(self, continuous=["all"]) if takes_numbers(test, score) else self

    def load(self, file: Path) -> tuple["Table", dict[str, Any]]:
        """Load the table in a file.

        Returns
        -------
        data : Table
            The table.
        about : dict
            Where it comes from, as a result keeps it; how it was read the table knows itself.
        """
        from ibmap.data.files import open_file, open_frame

        self._check_columns()
        opened: Any = (open_frame if self.counts_rows else open_file)(
            Path("/dev/stdin") if str(file) == "-" else file
        )
        how = self.how(opened.names)
        how["drop"] = _with_identifiers(opened, how)
        opened, rows = counted_rows(opened, how)
        try:
            data, said = read_as(opened, how, rows)
        except ContinuousError as error:
            raise ContinuousError(error.found, f"{error.advice}; evidence-map takes numbers, too") from None
        for words in said:
            screen.note(words)
        return data, {"path": file, "weights": self.weights, "cluster": self.cluster}

    @property
    def counts_rows(self) -> bool:
        """Whether rows may count more or less than once."""
        if self.weights is None and self.weights_are is not None:
            raise RequestError("weights_are says what the weights are: name their column, too (--weights X)")
        return any(getattr(self, option.name) for option in fields(self) if option.name in OF_ROWS)

    def how(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the options as arguments of :func:`load_as`; ``drop`` and ``only`` are lists of names."""
        how = {option.name: getattr(self, option.name) for option in fields(self) if option.name != "engine"}
        how |= {option: named_in(how[option], names) for option in ("drop", "only")}
        how |= {option: of_kind_in(how[option], names) for option in ("nominal", "ordinal", "continuous")}
        if how["continuous"] in (["auto"], ["all"]):
            how["continuous"] = how["continuous"][0]
        how["missing_values"] = missing_in(self.missing_values, names)
        how["missing"] = self.missing or "error"
        return how

    def _check_columns(self) -> None:
        """Refuse numbers that are to be cut and not to be cut."""
        if self.continuous != ["all"]:
            return
        for option in ("discretize", "bins"):
            if getattr(self, option) is not None:
                raise RequestError(
                    f"--{option} cuts numbers; --continuous all, and tests and scores for numbers, use them "
                    f"as they are: leave out one of the two"
                )


@dataclass(frozen=True)
class DrawingOptions(ReadingOptions):
    """How a table is read whose rows are drawn, or distributed anew."""

    strata: Annotated[
        str | None,
        typer.Option(metavar="X", help="Column of strata, from each of which rows are drawn by themselves."),
    ] = None


@dataclass(frozen=True)
class TableOptions(ReadingOptions):
    """How a table is read, and who counts in it."""

    engine: EngineName = None

    def read(self, file: Path) -> tuple["Engine", dict[str, Any]]:
        """Load the table in a file behind an engine; return also where it comes from."""
        kind, _, address = (self.engine or "").partition("=")
        if kind == "dask":
            return self._on_cluster(file, address or None)
        from ibmap.criteria.whole_numbers import with_kinds

        data, about = self.load(file)
        engine = self.counting(data := with_kinds(data))
        from ibmap.learners.imputation import completed

        say_kinds(data)
        return completed(engine), about

    def _on_cluster(self, file: Path, address: str | None) -> tuple["Engine", dict[str, Any]]:
        """Have the workers of a cluster read the table; it is forgotten when the verb ends."""
        from ibmap._files import MAX_BYTES, byte_limit
        from ibmap.criteria.whole_numbers import with_kinds
        from ibmap.data.files import open_file
        from ibmap.data.kinds import kinds_in, numbers_in
        from ibmap.data.parquet import pieces_of
        from ibmap.data.reader import BY_ROWS
        from ibmap.engines.dask import DaskEngine, DaskRows
        from ibmap.engines.engine import looks_at_rows
        from ibmap.learners.imputation import completed

        counts, by_rows = signature(DaskEngine).parameters, ("continuous", "numbers", "imputation_seed")
        any_kind = self.continuous is not None or self.missing in BY_ROWS
        for option in fields(self):
            known = option.name in (*counts, "engine") or (any_kind and option.name in by_rows)
            if not known and getattr(self, option.name) != option.default:
                typed = option.name.replace("_", "-")
                raise RequestError(
                    f"the engine dask reads columns as they are: leave out --{typed}, or --engine"
                )
        names, pieces = pieces_of(file)
        how, about = self.how(names), {"path": file, "weights": self.weights, "cluster": self.cluster}
        how["drop"] = _with_identifiers(open_file(file), how)
        cells = sum(size for piece in pieces for _, _, size in piece.where) * len(names)
        fits, reading = 8 * cells <= byte_limit(MAX_BYTES), None
        if any_kind and fits:
            table = with_kinds(load_as(file, **how))
            if looks_at_rows(table.schema):
                made = DaskRows(address, table)
                at_end(made.close)
                say_kinds(table)
                return completed(made), about
            reading, how = table.reading, {**how, **table.reading, **kinds_in(table)}
        how["missing"] = "error" if how["missing"] in BY_ROWS else how["missing"]
        try:
            with screen.bar("packing") as told:
                engine = DaskEngine(
                    address, file, told=told, **{name: how[name] for name in how if name in counts}
                )
            at_end(engine.close)
            if reading is not None:  # as it was found out, not as it was asked for
                engine.schema = replace(engine.schema, reading=reading)
            found = numbers_in(engine.schema) if any_kind and not fits else ()
            if found:
                raise DataError(f"{listing(found)} holds too many different numbers for categories")
        except DataError as error:
            if fits:
                raise
            raise DataError(
                f"{error}; numbers and missing values need a table that fits into memory: this one would "
                f"take {8 * cells:,} bytes, more than IBMAP_MAX_BYTES allows"
            ) from None
        return engine, about

    def counting(self, data: "Table") -> "Engine":
        """Return the engine that was chosen, with a table behind it."""
        from ibmap.engines import as_engine

        return as_engine(data, self.engine)


@dataclass(frozen=True)
class DrawingTableOptions(DrawingOptions, TableOptions):
    """How a table is read whose rows are drawn, and who counts in it."""


def say_kinds(data: "Table") -> None:
    """Say what columns were taken for, where that was not asked for."""
    from ibmap.data.kinds import note

    policy = data.reading.get("missing")
    if data.reading.get("continuous") not in (None, "all") or policy in ("question", "impute"):
        screen.note(note(data.schema, data.missing_share))


def _with_identifiers(opened: Any, how: dict[str, Any]) -> list[str] | None:
    """Return the columns to leave out: those that were named, and those that only tell rows apart."""
    from ibmap.data.quality import identifiers
    from ibmap.data.sources import select_columns

    if how["only"] is not None:
        return how["drop"]  # type: ignore[no-any-return]
    kept = [opened.names[i] for i in select_columns(opened.names, how["drop"], None)]
    kept = [name for name in kept if name not in map(how.get, OF_ROWS)]
    cut = any(how[option] is not None for option in ("discretize", "bins", "continuous"))
    found = identifiers(opened, kept, cut)
    if not found or len(kept) - len(found) < 2:
        return how["drop"]  # type: ignore[no-any-return]
    keep = "it" if len(found) == 1 else "them"
    screen.note(
        f"left out {listing(found)}: every row has a different value (an identifier?); --only keeps {keep}"
    )
    return [*(how["drop"] or ()), *found]


def load_as(source: Any, **how: Any) -> "Table":
    """Load a table; weights and clusters are columns of it."""
    rows = None
    if any(how.get(option) is not None for option in OF_ROWS):
        from ibmap.data.files import open_frame

        source, rows = counted_rows(open_frame(Path(source)), how)
    return read_as(source, how, rows)[0]


def read_as(source: Any, how: Mapping[str, Any], rows: "CountedRows | None") -> "tuple[Table, list[str]]":
    """Return a table, in which rows count as is said, and what there is to say about them."""
    from ibmap.data import load

    left_out = (*OF_ROWS, "weights_are")
    data = load(source, **{name: value for name, value in how.items() if name not in left_out})
    return (data, []) if rows is None else rows.of(data, source, how)


def counted_rows(opened: Any, how: Mapping[str, Any]) -> "tuple[Any, CountedRows | None]":
    """Return a table without the columns that say something of its rows, and what these say."""
    named = list(dict.fromkeys(name for option in OF_ROWS if (name := how.get(option)) is not None))
    if not named:
        return opened, None
    from ibmap.data.frames import source_of_polars
    from ibmap.data.weights import row_weights

    rows, frame = rows_in([opened], how), opened.frame
    if (weights := how.get("weights")) is not None:
        _check_name(opened, weights)
        if not frame[weights].dtype.is_numeric():
            raise RequestError(f"--weights {weights}: the column holds no numbers")
        kind = how.get("weights_are")
        counts = row_weights(frame[weights].to_numpy(), len(frame), f"--weights {weights}", kind)
        rows = rows._replace(weights=counts)
    ordinal = {one: order for one, order in opened.ordinal.items() if one not in named}
    left = frame.drop(named) if rows.kept is None else frame.drop(named).filter(rows.kept)
    return source_of_polars(left, opened.warning, ordinal), rows.some(rows.kept)


def rows_in(tables: Sequence[Any], how: Mapping[str, Any]) -> "CountedRows":
    """Return clusters and strata of the rows of one table after the other."""
    from ibmap.data.weights import CountedRows, cluster_numbers, stratum_numbers

    def labels(name: str) -> list[Any]:
        for table in tables:
            _check_name(table, name)
        return [label for table in tables for label in table.frame[name].to_list()]

    clusters = strata = None
    if (cluster := how.get("cluster")) is not None:
        found = labels(cluster)
        clusters = cluster_numbers(found, len(found), f"--cluster {cluster}: its values")
    if (stratum := how.get("strata")) is not None:
        found = labels(stratum)
        strata = stratum_numbers(found, len(found), clusters, f"--strata {stratum}: its values")
    return CountedRows(None, clusters, f"clusters of {cluster}", strata)


def _check_name(table: Any, name: str) -> None:
    from ibmap.data.schema import unknown_variable

    if name not in table.names:
        raise unknown_variable(name, table.names)


def named_in(texts: Sequence[str] | None, names: Sequence[str]) -> list[str] | None:
    """Return the variables that an option names, in lists with commas; None if it is not given."""
    return [name for text in texts for name in variables(text, names)] if texts else None


def of_kind_in(texts: Any, names: Sequence[str]) -> list[str] | None:
    """Return the columns that an option gives a kind: names, patterns, "all", or orders as "A=low<high".

    Examples
    --------
    >>> of_kind_in(["a,b", "c=low<high"], ["a", "b", "c"]), of_kind_in(["q*,a"], ["a", "q1"])
    (['a', 'b', 'c=low<high'], ['q*', 'a'])
    """
    if not texts:
        return None
    found: list[str] = []
    for text in [texts] if isinstance(texts, str) else texts:
        parts = [part.strip() for part in text.split(",")]
        as_typed = "<" in text or any(part in ("all", "auto") or "*" in part or "?" in part for part in parts)
        found += ([text] if "<" in text else parts) if as_typed else variables(text, names)
    return found


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
