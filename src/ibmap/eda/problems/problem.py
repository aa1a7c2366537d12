"""A problem: a function of bit strings, its optimum, and which variables interact."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap import _checks
from ibmap._text import in_short
from ibmap.errors import RequestError
from ibmap.graph import Graph

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Problem:
    """A function of bit strings to maximise; call it with strings as the rows of an array.

    Parameters
    ----------
    name : str
        What it is called.
    n : int
        Number of bits.
    function : function
        From an array of shape (rows, n) to a number per row.
    optimum : float or None
        The highest value, if it is known.
    graph : Graph
        Two variables x0, x1, ... are joined if the function is no sum of one function without the first and
        one without the second.
    """

    name: str
    n: int
    function: Callable[[Ints], Floats]
    optimum: float | None
    graph: Graph

    def __call__(self, solutions: ArrayLike) -> Floats:
        """Return the fitness of every row."""
        rows = np.asarray(solutions)
        if rows.ndim != 2 or rows.shape[1] != self.n:
            raise RequestError(f"{self.name} takes rows of {self.n} bits, not an array of shape {rows.shape}")
        if rows.dtype.kind not in "biuf" or not ((rows == 0) | (rows == 1)).all():
            raise RequestError(f"{self.name} takes bits: every value must be 0 or 1")
        return self.function(rows.astype(np.int64, copy=False))

    def __repr__(self) -> str:
        best = "unknown" if self.optimum is None else f"{self.optimum:g}"
        return f"Problem({self.name}, {self.n} bits, {self.graph.n_edges} interactions, optimum {best})"


def variables(n: int) -> list[str]:
    """Return the names of the bits."""
    return [f"x{i}" for i in range(n)]


def graph_of_groups(n: int, groups: Iterable[Iterable[int]]) -> Graph:
    """Return the graph that joins all pairs within each group.

    Examples
    --------
    >>> graph_of_groups(4, [(0, 1, 2), (2, 3)]).n_edges
    4
    """
    pairs = []
    for group in groups:
        members = sorted(group)
        pairs += [(i, j) for k, i in enumerate(members) for j in members[k + 1 :]]
    return Graph.from_pairs(np.array(pairs, np.int64).reshape(-1, 2), variables(n))


MOST_BITS = 10**6


def check_size(n: object, name: str, divisor: int = 1) -> int:
    """Return the number of bits, if there are enough and the groups come out even."""
    if not _checks.is_whole(n) or not 1 <= n <= MOST_BITS:
        raise RequestError(
            f"{name} needs a whole number of bits, 1 or more, at most {MOST_BITS:,}, not {in_short(n)}"
        )
    if n % divisor:
        raise RequestError(f"{name} has groups of {divisor}: {n} bits is not a multiple of it")
    return int(n)


def check_number(value: object, name: str, least: int, most: int) -> int:
    """Return an option that is a whole number between two others."""
    if not _checks.is_whole(value) or not least <= value <= most:
        raise RequestError(f"{name} must be a whole number from {least} to {most}, not {in_short(value)}")
    return int(value)
