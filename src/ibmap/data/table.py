"""What all other packages receive: codes, names, levels."""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ibmap.data.schema import Schema, kinds_of, unknown_variable
from ibmap.errors import DataError


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
class CategoricalData:
    """A table of categorical variables as small-integer codes, one row of ``codes`` per variable.

    Parameters
    ----------
    codes : ndarray of shape (n_variables, n_rows)
        ``codes[i, r]`` is the position in ``levels[i]`` of the value of variable ``i`` in row ``r``; -1 is
        a missing value. Stored C-contiguous, read-only, in the narrowest of int8, int16 and int32.
    names : tuple of str
        The variables, in the order of the columns.
    levels : tuple of tuples
        The labels of each variable, in code order.
    bin_edges : mapping of str to tuple of float
        The edges of the variables that were discretised.
    backend : {"pandas", "polars", "pyarrow"} or None
        The library of the frame that the user brought, so that results can be returned in it.
    warnings : tuple of str
        What is probably not meant like this, as it was said when the table was loaded.
    ordinal : tuple of str
        The variables whose levels have an order: that of ``levels``.
    reading : mapping
        How it was read, by the arguments of :func:`ibmap.load`.

    Examples
    --------
    >>> data = CategoricalData(np.array([[0, 1, 1], [0, 0, 1]]), ("rain", "wet"), (("no", "yes"), (0, 1)))
    >>> data
    CategoricalData(2 variables, 3 rows)
    >>> data.codes.dtype.name, data.cardinalities.tolist(), data.index("wet")
    ('int8', [2, 2], 1)
    """

    codes: NDArray[np.signedinteger[Any]]
    names: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    bin_edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    backend: str | None = None
    warnings: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = tuple(self.names)
        levels = tuple(map(tuple, self.levels))
        codes = np.asarray(self.codes)
        _check_parts(codes, names, levels)
        dtype = smallest_dtype(max(map(len, levels), default=0))
        codes = np.ascontiguousarray(codes, dtype=dtype)
        if not _is_frozen(codes) and np.may_share_memory(codes, self.codes):
            codes = codes.copy()  # nobody else can change it
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "bin_edges", dict(self.bin_edges))
        object.__setattr__(self, "ordinal", among(self.ordinal, names))

    def __repr__(self) -> str:
        return f"CategoricalData({self.n_variables} variables, {self.n_rows} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        about = (self.names, self.levels, self.bin_edges, self.backend, self.warnings, self.ordinal)
        return CategoricalData, (self.codes, *about, self.reading)

    def digest(self) -> str:
        """Return a checksum of the table: a SHA-256 of names, numbers of levels and codes."""
        return self.schema.digest

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return int(self.codes.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[1])

    @cached_property
    def schema(self) -> Schema:
        """The table without its rows."""
        about = (self.names, self.levels, self.n_rows, kinds_of(self.names, self.ordinal))
        more = {"bin_edges": self.bin_edges, "warnings": self.warnings, "reading": self.reading}
        return Schema(*about, backend=self.backend, digest_of_rows=self._digest(), **more)  # type: ignore[arg-type]

    def _digest(self) -> Callable[[], str] | str:
        about = self.names, self.levels, self.ordinal
        return partial(_digest, *about, self.codes)  # not of self: that would be a cycle

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of levels of each variable."""
        return self.schema.cardinalities

    @cached_property
    def has_missing(self) -> bool:
        """Whether some code is -1."""
        return bool(self.codes.size) and bool(self.codes.min() < 0)

    def codes_of(self, variable: int) -> NDArray[np.signedinteger[Any]]:
        """Return the codes of one variable."""
        return self.codes[variable]  # type: ignore[no-any-return]

    def rows(self, rows: NDArray[Any]) -> "CategoricalData":
        """Return some of the rows, or some of them several times; all levels stay.

        Examples
        --------
        >>> data = CategoricalData(np.array([[0, 1, 1], [0, 0, 1]]), ("rain", "wet"), (("no", "yes"), (0, 1)))
        >>> data.rows(np.array([2, 2])).codes.tolist()
        [[1, 1], [1, 1]]
        """
        codes = self._codes_of_rows(rows)
        codes.flags.writeable = False
        about = (self.names, self.levels, self.bin_edges, self.backend)
        return CategoricalData(codes, *about, ordinal=self.ordinal)

    def read_by(self, reading: Mapping[str, Any]) -> Self:
        """Return the same table, which now says how it was read."""
        if reading == self.reading:
            return self
        same = object.__new__(type(self))
        vars(same).update({**vars(self), "reading": dict(reading)})
        vars(same).pop("schema", None)
        return same

    def _codes_of_rows(self, rows: NDArray[Any]) -> NDArray[Any]:
        return self.codes[:, rows]

    def variables(self, kept: Sequence[int]) -> "CategoricalData":
        """Return some of the variables."""
        return CategoricalData(self.codes[list(kept)], **self._about(kept))

    def _about(self, kept: Sequence[int]) -> dict[str, Any]:
        """Return names, levels, edges, backend and orders of some of the variables."""
        names = tuple(self.names[i] for i in kept)
        return {
            "names": names,
            "levels": tuple(self.levels[i] for i in kept),
            "bin_edges": {name: edges for name, edges in self.bin_edges.items() if name in set(names)},
            "backend": self.backend,
            "ordinal": tuple(name for name in self.ordinal if name in set(names)),
        }

    def index(self, name: str) -> int:
        """Return the position of the variable ``name``.

        Examples
        --------
        >>> data = CategoricalData(np.array([[0, 1], [0, 0]]), ("rain", "wet"), (("no", "yes"), (0, 1)))
        >>> data.index("wet")
        1
        """
        return self.schema.index(name)

    def indices(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of several variables (a single name counts as one)."""
        return self.schema.indices(names)


def among(chosen: Iterable[str], names: tuple[str, ...]) -> tuple[str, ...]:
    """Return some of the variables in the order of the columns; refuse others.

    Examples
    --------
    >>> among(["c", "a"], ("a", "b", "c"))
    ('a', 'c')
    """
    wanted = dict.fromkeys(chosen)
    for name in wanted:
        if name not in names:
            raise unknown_variable(name, names)
    return tuple(name for name in names if name in wanted)


def _is_frozen(array: NDArray[Any]) -> bool:
    """Whether neither an array nor what it is a view of can be written to."""
    base: Any = array
    while isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    return base is None


def _check_parts(
    codes: NDArray[Any], names: tuple[str, ...], levels: tuple[tuple[Hashable, ...], ...]
) -> None:
    """Refuse parts that do not fit together: kernels trust the codes and check no bounds."""
    if codes.ndim != 2 or codes.dtype.kind not in "iu":
        raise DataError(
            f"codes must be a 2-D array of integers, not {codes.ndim}-D {codes.dtype}: one row per variable"
        )
    if not len(codes) == len(names) == len(levels):
        raise DataError(f"{len(codes)} rows of codes, {len(names)} names and {len(levels)} tuples of levels")
    if len(set(names)) < len(names):
        raise DataError("two variables have the same name")
    if not codes.size:
        return
    highest = codes.max(axis=1)
    for i in np.flatnonzero((codes.min(axis=1) < -1) | (highest >= [len(labels) for labels in levels])):
        raise DataError(f"codes of variable {names[i]!r} lie outside -1..{len(levels[i]) - 1}")


def described(
    names: tuple[str, ...],
    levels: tuple[tuple[Hashable, ...], ...],
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
    levels: tuple[tuple[Hashable, ...], ...],
    ordinal: tuple[str, ...],
    codes: NDArray[Any],
) -> str:
    digest = hashlib.sha256(described(names, levels, ordinal, str(codes.dtype), codes.shape))
    digest.update(np.ascontiguousarray(codes).data)
    return digest.hexdigest()
