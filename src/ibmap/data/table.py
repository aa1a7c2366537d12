"""What all other packages receive: names, levels, codes and numbers; or bits in place of codes."""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks, _core
from ibmap._text import in_short
from ibmap._types import Bools, Floats, Ints
from ibmap.data.schema import Schema, kinds_of, unknown_variable
from ibmap.errors import DataError

WIDE = 32  #: a variable with more levels keeps its codes: bits would cost more memory than they save time
VARIABLES_AT_ONCE = 256  #: that are scored: their counts and log odds fit the first-level cache
AT_ONCE = 1 << 12  #: words of bits that are turned together

Bits = NDArray[np.uint64]
Levels = tuple[tuple[Hashable, ...], ...]


def smallest_dtype(n_levels: int) -> type[np.signedinteger[Any]]:
    """Return the narrowest integer type that holds the codes of ``n_levels`` levels.

    Examples
    --------
    >>> smallest_dtype(127).__name__, smallest_dtype(128).__name__, smallest_dtype(32768).__name__
    ('int8', 'int16', 'int32')
    """
    if n_levels <= 127:
        return np.int8
    return np.int16 if n_levels <= 32767 else np.int32


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """A table of variables with levels, as small-integer codes, and of numbers.

    Parameters
    ----------
    codes : ndarray of shape (variables with levels, rows)
        Positions in the levels, of one variable after the other; -1 is a missing value. Stored C-contiguous,
        read-only, in the narrowest of int8, int16 and int32.
    names : tuple of str
        The variables, in the order of the columns.
    levels : tuple of tuples
        The labels of each variable, in code order; of a number ``()``.
    bin_edges : mapping of str to tuple of float
        The edges of the variables that were discretised.
    backend : {"pandas", "polars", "pyarrow"} or None
        The library of the frame that the user brought, so that results can be returned in it.
    warnings : tuple of str
        Warnings that were given when the table was loaded.
    ordinal : tuple of str
        The variables whose levels have an order: that of ``levels``.
    reading : mapping
        How it was read, by the arguments of :func:`ibmap.load`.
    values : ndarray of shape (numbers, rows), optional
        The numbers, one variable after the other; NaN is a missing value. Read-only.
    numbers : {"ranks", "values"}
        Whether a number counts by the normal score of its rank, or by its value.
    undecided : tuple of str
        Variables of few whole numbers that were not declared: they may be codes or amounts.
    weights : ndarray of float or None
        How often each row counts, where rows are looked at one by one; None: once.
    clusters : ndarray of int or None
        Rows with the same number belong together.
    strata : ndarray of int or None
        Rows with the same number are drawn by themselves.

    Examples
    --------
    >>> data = Table(np.array([[0, 1, 1], [0, 0, 1]]), ("rain", "wet"), (("no", "yes"), (0, 1)))
    >>> data
    Table(2 variables, 3 rows)
    >>> data.codes.dtype.name, data.cardinalities.tolist(), data.index("wet")
    ('int8', [2, 2], 1)
    >>> Table(data.codes[:1], ("rain", "mm"), (("no", "yes"), ()), values=[[0.0, 3.5, 1.2]]).schema.kinds
    ('nominal', 'continuous')
    """

    codes: NDArray[np.signedinteger[Any]]
    names: tuple[str, ...]
    levels: Levels
    bin_edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    backend: str | None = None
    warnings: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    values: Floats = field(default_factory=lambda: np.empty((0, 0)))
    numbers: str = "ranks"
    undecided: tuple[str, ...] = ()
    weights: Floats | None = None
    clusters: Ints | None = None
    strata: Ints | None = None

    def __post_init__(self) -> None:
        names = tuple(_checks.names_in(self.names, "names"))
        levels = tuples(self.levels, "levels")
        codes, values = np.asarray(self.codes), np.array(self.values, np.float64)
        if not values.size:
            values = np.empty((0, codes.shape[1] if codes.ndim == 2 else 0))
        _check_parts(codes, values, names, levels)
        dtype = smallest_dtype(max(map(len, levels), default=0))
        codes = np.ascontiguousarray(codes, dtype=dtype)
        if not _is_frozen(codes) and np.may_share_memory(codes, self.codes):
            codes = codes.copy()  # nobody else can change it
        codes.flags.writeable = values.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "bin_edges", _checks.mapping(self.bin_edges, "bin_edges"))
        object.__setattr__(self, "ordinal", among(_checks.names_in(self.ordinal, "ordinal"), names))

    def __repr__(self) -> str:
        return f"Table({self.n_variables} variables, {self.n_rows} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        about = (self.names, self.levels, self.bin_edges, self.backend, self.warnings, self.ordinal)
        more = (self.reading, self.values, self.numbers, self.undecided, *self._of_rows.values())
        return Table, (self.codes, *about, *more)

    def digest(self) -> str:
        """Return a checksum of the table: a SHA-256 of names, numbers of levels, codes and numbers."""
        return self.schema.digest

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @cached_property
    def is_number(self) -> Bools:
        """Which variables are numbers."""
        return np.array([len(self.values) > 0 and not labels for labels in self.levels], bool)

    @cached_property
    def place(self) -> Ints:
        """The row of each variable among ``values``, if it is a number, or among ``codes``."""
        is_number = self.is_number
        return np.where(is_number, np.cumsum(is_number), np.cumsum(~is_number)) - 1

    @cached_property
    def schema(self) -> Schema:
        """The table without its rows."""
        numbers = [name for name, is_number in zip(self.names, self.is_number, strict=True) if is_number]
        return Schema(
            self.names,
            self.levels,
            self.n_rows,
            kinds_of(self.names, self.ordinal, numbers),
            self.backend,
            self.bin_edges,
            self._digest(),
            self.warnings,
            self.reading,
            self.has_missing,
            self.undecided,
        )

    def _digest(self) -> Callable[[], str] | str:
        about = self.names, self.levels, self.ordinal
        parts = self.codes, self.values, self.numbers
        return partial(_digest, *about, *parts, weights=self.weights)  # not of self: that would be a cycle

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of levels of each variable."""
        return self.schema.cardinalities

    @cached_property
    def has_missing(self) -> bool:
        """Whether some value is missing."""
        is_coded_missing = bool(self.codes.size) and bool(self.codes.min() < 0)
        return is_coded_missing or bool(np.isnan(self.values).any())

    @property
    def missing_share(self) -> float:
        """The share of cells that are missing."""
        absent = np.isnan(self.values).sum(dtype=np.int64) + sum(
            int((self.codes_of(v) < 0).sum()) for v in np.flatnonzero(~self.is_number).tolist()
        )
        return float(absent) / max(self.n_rows * self.n_variables, 1)

    def codes_of(self, variable: int) -> NDArray[np.signedinteger[Any]]:
        """Return the codes of one variable, which has levels."""
        return self.codes[self.place[variable]]  # type: ignore[no-any-return]

    def values_of(self, variable: int) -> Floats:
        """Return the values of one variable, which is a number."""
        return np.asarray(self.values[self.place[variable]])

    def rows(self, rows: NDArray[Any]) -> "Table":
        """Return some of the rows, or some of them several times; all levels stay.

        Examples
        --------
        >>> data = Table(np.array([[0, 1, 1], [0, 0, 1]]), ("rain", "wet"), (("no", "yes"), (0, 1)))
        >>> data.rows(np.array([2, 2])).codes.tolist()
        [[1, 1], [1, 1]]
        """
        codes = self._codes_of_rows(rows)
        codes.flags.writeable = False
        known: dict[str, Any] = {name: one[rows] for name, one in self._of_rows.items() if one is not None}
        return Table(codes, values=self.values[:, rows], **known, **self._about(range(self.n_variables)))

    @property
    def _of_rows(self) -> dict[str, Any]:
        """What is known of rows, beside their columns."""
        return {"weights": self.weights, "clusters": self.clusters, "strata": self.strata}

    def read_by(self, reading: Mapping[str, Any]) -> Self:
        """Return the same table, which now says how it was read."""
        return self if reading == self.reading else self.with_description(reading=dict(reading))

    def with_description(self, **changes: Any) -> Self:
        """Return the same rows, with other words about them."""
        same = object.__new__(type(self))
        vars(same).update({**vars(self), **changes})
        vars(same).pop("schema", None)
        return same

    def with_ordinal(self, ordinal: Iterable[str]) -> Self:
        """Return the same table, in which the levels of these variables have an order, and of no others."""
        return self.with_description(ordinal=among(ordinal, self.names))

    def _codes_of_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        return self.codes[:, rows]

    def variables(self, kept: Sequence[int]) -> "Table":
        """Return some of the variables, in this order."""
        chosen = np.asarray(kept, np.int64)
        place, is_number = self.place[chosen], self.is_number[chosen]
        values = self.values[place[is_number]]
        return Table(self.codes[place[~is_number]], values=values, **self._of_rows, **self._about(kept))

    def _about(self, kept: Sequence[int]) -> dict[str, Any]:
        """Return what is known of some of the variables, beside their rows."""
        names = tuple(self.names[i] for i in kept)
        return {
            "names": names,
            "levels": tuple(self.levels[i] for i in kept),
            "bin_edges": {name: edges for name, edges in self.bin_edges.items() if name in set(names)},
            "backend": self.backend,
            "ordinal": tuple(name for name in self.ordinal if name in set(names)),
            "numbers": self.numbers,
            "undecided": tuple(name for name in self.undecided if name in set(names)),
        }

    def index(self, name: str) -> int:
        """Return the position of the variable ``name``.

        Examples
        --------
        >>> data = Table(np.array([[0, 1], [0, 0]]), ("rain", "wet"), (("no", "yes"), (0, 1)))
        >>> data.index("wet")
        1
        """
        return self.schema.index(name)

    def indices(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of several variables (a single name counts as one)."""
        return self.schema.indices(names)


def tuples(levels: Any, name: str) -> tuple[tuple[Hashable, ...], ...]:
    """Return the labels of every variable as tuples.

    Examples
    --------
    >>> tuples([["no", "yes"]], "levels")
    (('no', 'yes'),)
    """
    found: list[Any] = list(levels) if np.iterable(levels) else [None]
    if all(np.iterable(labels) for labels in found):
        return tuple(tuple(labels) for labels in found)
    raise DataError(f"{name} must be a list of labels for every variable, not {in_short(levels)}")


def among(chosen: Iterable[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return some of the variables in the order of the columns; refuse others.

    Examples
    --------
    >>> among(["c", "a"], ("a", "b", "c"))
    ('a', 'c')
    """
    wanted, there = set(), set(names)
    for name in chosen:
        if not isinstance(name, str) or name not in there:
            raise unknown_variable(name, names)
        wanted.add(name)
    return tuple(name for name in names if name in wanted)


def _is_frozen(array: NDArray[Any]) -> bool:
    """Whether neither an array nor what it is a view of can be written to."""
    base: Any = array
    while isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    return base is None


def _check_parts(codes: NDArray[Any], values: Floats, names: tuple[str, ...], levels: Levels) -> None:
    """Refuse parts that do not fit together: the core trusts the codes."""
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise DataError(
            f"codes must be a 2-D array of integers, not {codes.ndim}-D {codes.dtype}: one row per variable"
        )
    if values.ndim != 2 or np.isinf(values).any():
        raise DataError("values must be a 2-D array of finite numbers, one row per variable")
    if values.shape[1] != codes.shape[1]:
        raise DataError(f"{codes.shape[1]} rows have codes, and {values.shape[1]} have numbers")
    if not len(codes) + len(values) == len(names) == len(levels):
        raise DataError(
            f"{len(codes) + len(values)} rows of codes and numbers, {len(names)} names and {len(levels)} "
            "tuples of levels"
        )
    coded = [k for k, labels in enumerate(levels) if labels or not len(values)]
    if len(coded) != len(codes):
        raise DataError(f"{len(codes)} rows of codes for {len(coded)} variables with levels")
    for name in names:
        if not isinstance(name, str):
            raise DataError(f"names of variables must be strings: got {in_short(name)}")
    if len(set(names)) < len(names):
        raise DataError("two variables have the same name")
    if not codes.size:
        return
    highest = codes.max(axis=1)
    for i in np.flatnonzero((codes.min(axis=1) < -1) | (highest >= [len(levels[k]) for k in coded])):
        raise DataError(f"codes of variable {names[coded[i]]!r} lie outside -1..{len(levels[coded[i]]) - 1}")


def digest_header(
    names: tuple[str, ...],
    levels: Levels,
    ordinal: tuple[str, ...],
    dtype: str,
    shape: tuple[int, ...],
) -> bytes:
    """Return what a digest holds beside the codes; variables with an order only where there are any."""
    said = [
        names,
        [len(labels) for labels in levels],
        dtype,
        shape,
        *([{"ordinal": ordinal}] if ordinal else []),
    ]
    return json.dumps(said).encode()


def _digest(
    names: tuple[str, ...],
    levels: Levels,
    ordinal: tuple[str, ...],
    codes: NDArray[Any],
    values: Floats,
    numbers: str,
    weights: Floats | None,
) -> str:
    digest = hashlib.sha256(digest_header(names, levels, ordinal, str(codes.dtype), codes.shape))
    digest.update(np.ascontiguousarray(codes).data)
    if len(values):
        digest.update(numbers.encode())
        digest.update(np.ascontiguousarray(values).data)
    if weights is not None:
        digest.update(np.ascontiguousarray(weights).data)
    return digest.hexdigest()


@dataclass(frozen=True, eq=False)
class LevelBits:
    """The rows of a table as bits; variables with more than ``WIDE`` levels keep their codes instead.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    levels : ndarray of int
        Number of levels of each variable.
    bits : ndarray of shape (sum of the levels of narrow variables, words)
        Which rows have this level.
    wide_codes : ndarray of shape (wide variables, rows)
        Codes of the others, -1 is missing.
    level_sizes : ndarray of int
        How many rows have the level of each row of ``bits``.
    turned : ndarray or None
        ``columns``, where a file has them.

    Examples
    --------
    >>> narrow = np.array([[0b101], [0b010]], np.uint64)
    >>> bits = LevelBits(3, np.array([2]), narrow, np.empty((0, 3), np.int32), np.array([2, 1]))
    >>> bits.codes_of(0).tolist(), bits.complete.tolist()
    ([0, 1, 0], [True])
    """

    n_rows: int
    levels: Ints
    bits: Bits
    wide_codes: NDArray[np.int32]
    level_sizes: Ints
    turned: Bits | None = None

    @cached_property
    def narrow(self) -> NDArray[np.bool_]:
        """Which variables are bits."""
        return self.levels <= WIDE

    @cached_property
    def first(self) -> Ints:
        """Row of ``bits`` that holds level 0 of each variable; -1 if it is wide."""
        sizes = np.where(self.narrow, self.levels, 0)
        return np.where(self.narrow, np.cumsum(sizes) - sizes, -1)

    @cached_property
    def wide(self) -> Ints:
        """Row of ``wide_codes`` of each variable; -1 if it is narrow."""
        return np.where(self.narrow, -1, np.cumsum(~self.narrow) - 1)

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """Which variables have a value in every row."""
        ends = np.concatenate([[0], np.cumsum(self.level_sizes)])
        found = self.narrow.copy()
        last = self.first[found] + self.levels[found]
        found[found] = ends[last] - ends[self.first[found]] == self.n_rows
        found[~self.narrow] = [bool((codes >= 0).all()) for codes in self.wide_codes]
        return found

    @cached_property
    def order(self) -> Ints:
        """The narrow, complete variables, by number of levels, then by index."""
        order = np.flatnonzero(self.narrow & self.complete)
        if self.levels.size and self.levels.min() != self.levels.max():
            order = order[np.argsort(self.levels[order], kind="stable")]
        return order

    @cached_property
    def blocks(self) -> tuple[Ints, Ints]:
        """The order cut into blocks of equal levels, and which row of bits stands in each column.

        A block is (levels, first and last position in ``order``, first column, their stride). Columns come in
        multiples of 8; what is left over repeats the last variable and is never read.
        """
        levels, order = self.levels, self.order
        blocks, rows, start, column = [], [np.empty(0, np.int64)], 0, 0
        while start < len(order):
            n_levels = levels[order[start]]
            same = np.searchsorted(levels[order], n_levels, side="right")
            stop = min(int(same), start + VARIABLES_AT_ONCE)
            stride = -(-(stop - start) // 8) * 8
            blocks.append((n_levels, start, stop, column, stride))
            members = order[np.minimum(np.arange(start, start + stride), stop - 1)]
            rows += [self.first[members] + level for level in range(1, n_levels)]
            column += (n_levels - 1) * stride
            start = stop
        return np.array(blocks, np.int64).reshape(-1, 5), np.concatenate(rows)

    @cached_property
    def columns(self) -> Bits:
        """Levels 1, 2, ... of the blocks, word by word: as the core counts them."""
        if self.turned is not None:
            return self.turned
        rows, n_words = self.blocks[1], self.bits.shape[1]
        out = np.empty((n_words, len(rows)), np.uint64)
        for some in (slice(word, word + AT_ONCE) for word in range(0, n_words, AT_ONCE)):
            out[some] = self.bits[:, some][rows].T
        return out

    def codes_of(self, variable: int) -> NDArray[np.signedinteger[Any]]:
        """Return the codes of one variable."""
        first = int(self.first[variable])
        if first < 0:
            return np.asarray(self.wide_codes[self.wide[variable]])
        return _core.unpack_bits(self.bits[first : first + int(self.levels[variable])], self.n_rows)

    def variables(self, kept: Sequence[int]) -> "LevelBits":
        """Return some of the variables."""
        first, wide, levels = self.first[kept], self.wide[kept], self.levels[kept]
        rows = [np.arange(a, a + size) for a, size in zip(first, levels, strict=True) if a >= 0]
        chosen = np.concatenate([np.empty(0, np.int64), *rows])
        codes = self.wide_codes[wide[wide >= 0]]
        return LevelBits(self.n_rows, levels, self.bits[chosen], codes, self.level_sizes[chosen])


class PackedData(Table):
    """A table of categorical variables as bits; codes are made one variable at a time, on demand.

    Parameters
    ----------
    bits : LevelBits
        The rows.
    names, levels, bin_edges, backend, warnings, ordinal, reading, undecided
        As those of :class:`Table`.
    digest : str or None
        The digest where it is known, as in a file.
    path : Path or None
        The file that the bits are mapped from; None if they are in memory.

    Examples
    --------
    >>> narrow = np.array([[0b101], [0b010]], np.uint64)
    >>> bits = LevelBits(3, np.array([2]), narrow, np.empty((0, 3), np.int32), np.array([2, 1]))
    >>> data = PackedData(bits, ("wet",), (("no", "yes"),))
    >>> data, data.codes_of(0).tolist(), data.has_missing
    (Table(1 variables, 3 rows), [0, 1, 0], False)
    """

    bits: LevelBits
    known_digest: str | None
    path: Path | None

    def __init__(
        self,
        bits: LevelBits,
        names: tuple[str, ...],
        levels: Levels,
        bin_edges: Mapping[str, tuple[float, ...]] | None = None,
        backend: str | None = None,
        warnings: tuple[str, ...] = (),
        digest: str | None = None,
        path: Path | None = None,
        ordinal: Iterable[str] = (),
        reading: Mapping[str, Any] | None = None,
        undecided: tuple[str, ...] = (),
    ) -> None:
        about: dict[str, Any] = {"bits": bits, "names": names, "levels": levels}
        about |= {"bin_edges": dict(bin_edges or {}), "ordinal": among(ordinal, names)}
        about |= {"backend": backend, "warnings": warnings, "known_digest": digest, "path": path}
        about |= {"reading": dict(reading or {}), "undecided": undecided}
        about |= {"values": np.empty((0, bits.n_rows)), "numbers": "ranks"}
        for name, value in about.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        if self.path is not None:
            from ibmap.data.packed_file import open_packed

            return open_packed, (self.path, True)  # the other process maps the same pages
        about = (self.names, self.levels, self.bin_edges, self.backend, self.warnings, self.known_digest)
        return PackedData, (self.bits, *about, None, self.ordinal, self.reading, self.undecided)

    @cached_property
    def codes(self) -> NDArray[np.signedinteger[Any]]:
        """All codes at once, (n_variables, n_rows): many times the memory of the bits."""
        codes = np.empty((self.n_variables, self.n_rows), self.dtype)
        for i, row in enumerate(codes):
            row[:] = self.codes_of(i)
        codes.flags.writeable = False
        return codes

    @property
    def dtype(self) -> type[np.signedinteger[Any]]:
        """The type of the codes."""
        return smallest_dtype(max(map(len, self.levels), default=0))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.bits.n_rows

    @cached_property
    def has_missing(self) -> bool:
        """Whether some value is missing."""
        return not bool(self.bits.complete.all())

    def codes_of(self, variable: int) -> NDArray[np.signedinteger[Any]]:
        """Return the codes of one variable."""
        return self.bits.codes_of(variable)

    def with_ordinal(self, ordinal: Iterable[str]) -> "PackedData":
        """Return the same table, in which the levels of these variables have an order, and of no others."""
        found = super().with_ordinal(ordinal)
        return found.with_description(known_digest=None, path=None)  # the file has another order

    def variables(self, kept: Sequence[int]) -> "PackedData":
        """Return some of the variables."""
        about = {name: known for name, known in self._about(kept).items() if name != "numbers"}
        return PackedData(self.bits.variables(list(kept)), **about)

    def _codes_of_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.stack([self.codes_of(i)[rows].astype(self.dtype) for i in range(self.n_variables)])

    def _digest(self) -> Callable[[], str] | str:
        about = (self.names, self.levels, self.ordinal)
        return self.known_digest or partial(digest_of, self.bits, *about, self.dtype)


def digest_of(
    bits: LevelBits, names: tuple[str, ...], levels: Levels, ordinal: tuple[str, ...], dtype: type[Any]
) -> str:
    """Return the checksum that the same table has as codes, made column by column."""
    shape = (len(names), bits.n_rows)
    digest = hashlib.sha256(digest_header(names, levels, ordinal, np.dtype(dtype).name, shape))
    for i in range(len(names)):
        digest.update(np.ascontiguousarray(bits.codes_of(i), dtype).data)
    return digest.hexdigest()
