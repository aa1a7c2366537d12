"""What is known about a table without its rows: names, kinds, levels, how many rows, and a digest."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._text import in_short, listing
from ibmap._types import Bools, Ints
from ibmap.errors import UnknownVariableError

NOMINAL, ORDINAL, CONTINUOUS = "nominal", "ordinal", "continuous"
PARTS = "parts:"  #: how the digest of a table in pieces begins: one of the pieces, and of their sizes


@dataclass(frozen=True, eq=False, repr=False)
class Schema:
    """A table without its rows: all that learners, results and pictures need to know about it.

    Parameters
    ----------
    names : tuple of str
        The variables, in the order of the columns.
    levels : tuple of tuples
        The labels of each variable, in code order; of a continuous one ``()``.
    n_rows : int
        Number of rows, wherever they are.
    kinds : tuple of str, optional
        "nominal", "ordinal" (its levels have an order, that of ``levels``) or "continuous" for each
        variable; all are nominal by default.
    backend : {"pandas", "polars", "pyarrow"} or None
        The library of the frame that the user brought, so that results can come back in it.
    bin_edges : mapping of str to tuple of float
        The edges of the variables that were discretised.
    digest_of_rows : callable or str
        Checksum of the rows, or a function that is called when ``digest`` is first used.
    warnings : tuple of str
        What is probably wrong in the table.
    reading : mapping
        How it was read, by the arguments of :func:`ibmap.load`.
    has_missing : bool
        Whether some value is missing, as far as is known.
    undecided : tuple of str
        Variables of few whole numbers that were not declared: they may be codes or amounts.

    Examples
    --------
    >>> schema = Schema(("rain", "wet"), (("no", "yes"), (0, 1)), n_rows=3)
    >>> schema
    Schema(2 variables, 3 rows)
    >>> schema.cardinalities.tolist(), schema.index("wet"), schema.kinds[0]
    ([2, 2], 1, 'nominal')
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Hashable, ...], ...]
    n_rows: int
    kinds: tuple[str, ...] = ()
    backend: str | None = None
    bin_edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    digest_of_rows: Callable[[], str] | str = ""
    warnings: tuple[str, ...] = ()
    reading: Mapping[str, Any] = field(default_factory=dict)
    has_missing: bool = False
    undecided: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.kinds:
            object.__setattr__(self, "kinds", (NOMINAL,) * len(self.names))

    def __repr__(self) -> str:
        return f"Schema({self.n_variables} variables, {self.n_rows} rows)"

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self.names, self.levels, self.n_rows, self.kinds, self.backend, dict(self.bin_edges))
        more = (self.warnings, dict(self.reading), self.has_missing, self.undecided)
        return Schema, (*known, self.digest, *more)

    @cached_property
    def digest(self) -> str:
        """What tells this table from others: a hash of names, numbers of levels and values."""
        return self.digest_of_rows if isinstance(self.digest_of_rows, str) else self.digest_of_rows()

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def is_continuous(self) -> bool:
        """Whether the variables are numbers, of which there is nothing to count."""
        return CONTINUOUS in self.kinds

    @cached_property
    def cardinalities(self) -> Ints:
        """Number of levels of each variable; 0 for continuous ones."""
        sizes = np.fromiter(map(len, self.levels), dtype=np.int64, count=len(self.levels))
        sizes.flags.writeable = False
        return sizes

    @cached_property
    def ordinal(self) -> Bools:
        """Which variables have levels with an order."""
        return np.array([kind == ORDINAL for kind in self.kinds], bool)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return the position of the variable ``name``.

        Examples
        --------
        >>> schema = Schema(("rain", "wet"), (("no", "yes"), (0, 1)), n_rows=3)
        >>> schema.index("rian")
        Traceback (most recent call last):
            ...
        ibmap.errors.UnknownVariableError: there is no variable 'rian'; did you mean 'rain'?
        """
        try:
            return self._positions[name]
        except (KeyError, TypeError):
            raise unknown_variable(name, self.names) from None

    def indices(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the positions of several variables (a single name counts as one)."""
        return tuple(self.index(name) for name in ((names,) if isinstance(names, str) else names))

    def difference(self, other: "Schema") -> str:
        """Return what makes another table a different one, in words; "" if they fit together."""
        for what in ("n_variables", "n_rows"):
            if getattr(self, what) != getattr(other, what):
                return f"{what} is {getattr(self, what)} here, {getattr(other, what)} there"
        for here, there in zip(self.names, other.names, strict=True):
            if here != there:
                return f"a variable is called {here!r} here, {there!r} there"
        for name, mine, theirs in zip(self.names, self.levels, other.levels, strict=True):
            if mine != theirs:
                return f"{name!r} has other levels"
        for name, here, there in zip(self.names, self.kinds, other.kinds, strict=True):
            if here != there:
                return f"{name!r} is {here} here, {there} there"
        return ""


def kinds_of(names: Iterable[str], ordinal: Iterable[str], numbers: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the kinds of variables, of which some have an order, and some are numbers.

    Examples
    --------
    >>> kinds_of(("age", "sex"), ["age"])
    ('ordinal', 'nominal')
    """
    known = dict.fromkeys(ordinal, ORDINAL) | dict.fromkeys(numbers, CONTINUOUS)
    return tuple(known.get(name, NOMINAL) for name in names)


def unknown_variable(name: object, names: Iterable[str]) -> UnknownVariableError:
    """Return the error for a name that is not in the table, with the closest one that is."""
    known = list(names)
    close = get_close_matches(str(name), known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"the table has {listing(known)}"
    return UnknownVariableError(f"there is no variable {in_short(name)}; {hint}")
