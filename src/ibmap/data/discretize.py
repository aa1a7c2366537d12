"""Numbers → intervals: equal-width, quantile, or edges that the user gives."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ibmap._text import in_short, listing, one_of
from ibmap.data.columns import Coded, Column, Numeric, drop_unused_levels
from ibmap.data.schema import unknown_variable
from ibmap.errors import DataError

Edges: TypeAlias = tuple[float, ...]
Bins: TypeAlias = int | Mapping[str, int | Sequence[float]] | None

METHODS = ("equal-width", "quantile")
#: what to do about continuous columns
ADVICE = (
    "pass discretize='equal-width' or 'quantile' (and perhaps bins=5), or drop it; test='gaussian' takes "
    "numbers as they are"
)
MOST_BINS = 100_000  #: of a column whose bins are counted, not listed


def check_bins(method: str | None, bins: Any) -> None:
    """Refuse an unknown method, and bins that make no sense, before any data is read."""
    if method is not None and (not isinstance(method, str) or method not in METHODS):
        raise DataError(f"discretize must be None, {one_of(METHODS)}, not {in_short(method)}")
    if bins is None:
        return
    entries = list(bins.values()) if isinstance(bins, Mapping) else [bins]
    for entry in entries:
        if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
            if entry < 2:
                raise DataError(f"bins must be at least 2, not {entry}")
            if entry > MOST_BINS:
                raise DataError(
                    f"bins must be at most {MOST_BINS:,}: for more of them map the column to a list of edges"
                )
            if method is None:
                raise DataError(f"bins={entry} needs a method: pass discretize={one_of(METHODS)}")
        elif entry is bins or not _are_edges(entry):
            raise DataError(
                f"bins must be a whole number, or map names to whole numbers or ascending edges, "
                f"not {in_short(entry)}"
            )


def _are_edges(entry: Any) -> bool:
    if isinstance(entry, str | bytes) or not np.iterable(entry):
        return False
    try:
        edges = np.asarray(list(entry), dtype=np.float64)
    except (TypeError, ValueError):
        return False
    if edges.ndim != 1 or not edges.size or np.isnan(edges).any():
        return False
    steps = np.diff(edges)
    return bool((steps[:-1] > 0).all() and (steps[-1:] >= 0).all())  # the last bin may be a single value


def edges_of_columns(
    columns: Iterable[Column], names: Sequence[str], method: str | None, bins: Bins
) -> dict[str, Edges]:
    """Return the edges of the columns that are to be cut; columns are looked at one after the other.

    Columns with non-whole values are cut, and so are numbers with more distinct values than bins.
    A column whose edges are given is always cut; categories, strings and booleans never are.
    """
    wanted = bins if isinstance(bins, Mapping) else {}
    there = set(names)
    for name in wanted:
        if name not in there:
            raise unknown_variable(name, names)
    default = None if isinstance(bins, Mapping) else bins
    found = (
        (column.name, _edges_of(column, method, wanted.get(column.name, default), column.name in wanted))
        for column in columns
    )
    return {name: edges for name, edges in found if edges is not None}


def _edges_of(column: Column, method: str | None, bins: Any, asked: bool) -> Edges | None:
    """Return the edges that a column is to be cut at, None if it stays as it is."""
    if not isinstance(column, Numeric):
        if asked:
            raise DataError(f"bins are given for column {column.name!r}, which holds no numbers to cut")
        return None
    values = column.present()
    if bins is not None and np.iterable(bins):
        return _reaching(tuple(float(edge) for edge in bins), values)
    if method is None or not len(values):
        return None
    k = int(1 + np.log2(len(values))) if bins is None else int(bins)
    distinct = np.unique(values)
    if len(distinct) <= k and is_whole(distinct):
        return None
    return equal_width_edges(values, k) if method == "equal-width" else quantile_edges(values, k)


def _reaching(edges: Edges, values: NDArray[Any]) -> Edges:
    """Return given edges, opened to infinity where values lie beyond them: those were inner edges."""
    if len(edges) == 1:
        return (-np.inf, *edges, np.inf)
    below = (-np.inf,) if len(values) and values.min() < edges[0] else ()
    above = (np.inf,) if len(values) and values.max() > edges[-1] else ()
    return (*below, *edges, *above)


def equal_width_edges(values: NDArray[Any], k: int) -> Edges:
    """Return k + 1 equally spaced edges from the smallest to the largest value.

    Examples
    --------
    >>> equal_width_edges(np.array([0.5, 1.0, 4.5]), 4)
    (0.5, 1.5, 2.5, 3.5, 4.5)
    """
    low, high = float(values.min()), float(values.max())
    half = 0.5 if high - low == np.inf else 1.0  # a range that no float holds
    edges = np.unique(np.linspace(low * half, high * half, k + 1) / half).tolist()
    return tuple(edges) if len(edges) > 1 else (low, high)  # a constant column: one bin


def quantile_edges(values: NDArray[Any], k: int) -> Edges:
    """Return the k-quantiles, linearly interpolated; a value that spans several of them is a bin of its own.

    Examples
    --------
    >>> quantile_edges(np.array([0.5, 1.0, 2.0, 8.0, 9.0]), 2)
    (0.5, 2.0, 9.0)
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 2.5, 3.0, 9.0]), 3)
    (0.0, 1.0, 2.75, 9.0)
    """
    values = np.sort(values.astype(np.float64))
    half = 0.5 if float(values[-1]) - float(values[0]) == np.inf else 1.0  # a range that no float holds
    return (*(end / half for end in _left_ends(values * half, k)), float(values[-1]))


def _left_ends(values: NDArray[np.float64], k: int) -> list[float]:
    """Return where at most k bins of some sorted values begin."""
    quantiles = np.quantile(values, np.linspace(0.0, 1.0, k + 1))
    repeated = quantiles[1:][np.diff(quantiles) <= 0]
    if k == 1 or not len(repeated):
        return quantiles[:-1].tolist()  # type: ignore[no-any-return]
    distinct = np.unique(values)
    if len(distinct) <= k:
        return distinct.tolist()  # type: ignore[no-any-return]
    heavy = np.unique(repeated)
    first, last = (np.searchsorted(values, heavy, side=side).tolist() for side in ("left", "right"))
    rest = [values[i:j] for i, j in zip([0, *last], [*first, len(values)], strict=True)]
    shares = _shares([len(part) for part in rest], k - len(heavy))
    ends = [_left_ends(part, share) for part, share in zip(rest, shares, strict=True) if share]
    return sorted([*heavy.tolist(), *chain.from_iterable(ends)])


def _shares(sizes: list[int], bins: int) -> list[int]:
    """Return how many bins each part gets: one if it has rows, further ones where bins are fullest.

    Examples
    --------
    >>> _shares([10, 0, 31], 5)
    [1, 0, 4]
    """
    shares = [min(size, 1) for size in sizes]
    for _ in range(bins - sum(shares) if any(sizes) else 0):
        fullest = max(range(len(sizes)), key=lambda j: sizes[j] / max(shares[j], 1))
        shares[fullest] += 1
    return shares


def cut(column: Numeric, edges: Edges) -> Coded:
    """Return the interval of each value: left-closed, the last with its right end; empty bins are dropped.

    This is the convention of scikit-learn's ``KBinsDiscretizer`` and of ``numpy.histogram``.

    Examples
    --------
    >>> column = cut(Numeric("x", np.array([0.1, 1.5, 2.0, 9.0])), (0.1, 1.5, 2.25, 5.0, 9.0))
    >>> column.codes.tolist(), column.levels
    ([0, 1, 1, 2], ('[0.1, 1.5)', '[1.5, 2.25)', '[5, 9]'))
    """
    codes = np.searchsorted(edges[1:-1], column.values, side="right")
    if column.missing is not None:
        codes[column.missing] = -1
    return drop_unused_levels(Coded(column.name, codes, interval_labels(edges)))


def interval_labels(edges: Edges) -> tuple[str, ...]:
    """Return readable names of the intervals between edges, with as many digits as tell them apart.

    Examples
    --------
    >>> interval_labels((1.0, 1.0000001, 2.0))
    ('[1, 1.0000001)', '[1.0000001, 2]')
    """
    n = len(set(edges))
    digits = next(d for d in range(6, 18) if d == 17 or len({f"{edge:.{d}g}" for edge in edges}) == n)
    words = [f"{edge:.{digits}g}" for edge in edges]
    labels = [f"({a}, {b})" if a == "-inf" else f"[{a}, {b})" for a, b in pairwise(words)]
    if words[-1] != "inf":
        labels[-1] = labels[-1][:-1] + "]"
    return tuple(labels)


def is_whole(values: NDArray[Any]) -> bool:
    """Whether all values are whole numbers.

    Examples
    --------
    >>> is_whole(np.array([1.0, 2.0])), is_whole(np.array([1.5]))
    (True, False)
    """
    return values.dtype.kind != "f" or bool((values == np.floor(values)).all())


def about_continuous(columns: Iterable[Column], where: str = "") -> str:
    """Return which columns look continuous, in words; "" if there are none. Rows may be those of a batch."""
    found = [c for c in columns if isinstance(c, Numeric) and not is_whole(c.present())]
    if not found:
        return ""
    first, values = found[0], np.unique(found[0].present())
    n = int((values != np.floor(values)).sum())
    others = f" (so do {listing(c.name for c in found[1:])})" if len(found) > 1 else ""
    return (
        f"column {first.name!r} holds {n} distinct non-integer value{'s' if n > 1 else ''} in "
        f"{len(first.values)} rows{where and f' of {where}'}; it looks continuous{others}"
    )
