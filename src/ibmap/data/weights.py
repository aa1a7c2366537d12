"""Rows that count more or less than once: frequencies, sampling weights, and rows that belong together.

Rows of one cluster (the visits of a patient, the pupils of a school) repeat each other to some degree. They
count as their effective number: the rows over the design effect 1 + (m - 1) r. m is the mean size of the
cluster of a row; r is the mean of ρ_x ρ_y over all pairs of variables, ρ the intraclass correlation, because
what the rows say of a pair is a sum of products, and that of two rows of a cluster has the correlation
ρ_x ρ_y where x and y are independent. Rows that are repeated k times give k, independent ones about 1.
"""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ibmap._text import listing, one_of
from ibmap._types import Bools, Floats, Ints
from ibmap.data.numbers import standard_columns
from ibmap.data.table import Table
from ibmap.errors import DataError, DataWarning, RequestError

LARGEST = 200_000_000  #: rows that a table may have once they are repeated
KINDS = ("sampling", "frequency")  #: of weights


class RowWeights(NamedTuple):
    """How often each row counts, and what to say about it."""

    weights: Floats
    words: str
    kind: str


def row_weights(weights: Any, n_rows: int, name: str = "the weights", kind: str | None = None) -> RowWeights:
    """Return how often each row counts.

    Whole numbers are frequencies, unless ``kind`` says else: a row with weight 3 is three rows. Others are
    sampling weights: n rows with weights w are worth (Σw)² / Σw² rows (Kish's effective sample size), and
    each row counts by its share of these.

    Examples
    --------
    >>> row_weights([2, 0, 1], 3).weights.tolist()
    [2.0, 0.0, 1.0]
    >>> found = row_weights([0.5, 1.5, 1.5, 0.5], 4)
    >>> found.weights.round(2).tolist(), found.words
    ([0.4, 1.2, 1.2, 0.4], 'the weights are taken as sampling weights: 4 rows count as 3.2, their effective \
sample size')
    """
    if kind is not None and (not isinstance(kind, str) or kind not in KINDS):
        raise RequestError(f"weights_are must be {one_of(KINDS)}, not {kind!r}")
    try:
        values = np.asarray(weights, float)
    except (TypeError, ValueError):
        raise DataError(f"{name} must be numbers") from None
    if values.shape != (n_rows,):
        raise DataError(f"each row needs one weight: {n_rows:,} rows, weights of shape {values.shape}")
    if not np.isfinite(values).all() or (values < 0).any():
        raise DataError(f"{name} must be numbers of zero or more, and none may be missing")
    if not values.any():
        raise DataError(f"{name} are all zero: no row is left")
    is_whole = bool((values == np.floor(values)).all())
    if kind == "frequency" and not is_whole:
        raise DataError(
            f"{name} are not whole numbers, so they cannot be frequencies: leave out weights_are='frequency'"
        )
    if is_whole and kind != "sampling":
        if (total := values.sum()) > LARGEST:
            raise DataError(f"with {name} there are {total:,.10g} rows, more than {LARGEST:,}")
        words = f"{name} are whole numbers, taken for frequencies: {int(total):,} rows in all"
        if kind is None:
            words += "; if they are sampling weights of a survey, say that weights are 'sampling'"
        return RowWeights(values, words, "frequency")
    values = np.ldexp(values, -np.frexp(values.max())[1])  # by a power of two, so that no square is infinite
    values *= values.sum() / (values**2).sum()
    words = f"{name} are taken as sampling weights: {n_rows:,} rows count as {values.sum():,.4g}, "
    return RowWeights(values, f"{words}their effective sample size", "sampling")


def repeated(weights: Floats, order: Ints | None = None) -> Ints:
    """Return the rows, each as often as it counts, rounded so that sums over neighbouring rows are right.

    ``order`` says which rows are neighbours; by default each those beside it.

    Examples
    --------
    >>> repeated(np.array([0.4, 1.2, 1.2, 0.4])).tolist(), repeated(np.array([2.0, 0.0, 1.0])).tolist()
    ([1, 1, 2], [0, 0, 2])
    """
    order = np.arange(len(weights)) if order is None else order
    ends = np.floor(np.cumsum(weights[order]) * (1 + 1e-12) + 0.5)
    times = np.diff(ends, prepend=0.0).astype(np.int64)
    return np.sort(np.repeat(order, times))


def cluster_numbers(groups: Any, n_rows: int, name: str = "the clusters") -> Ints:
    """Return a number for the cluster of each row.

    Examples
    --------
    >>> cluster_numbers(["b", "a", "b"], 3).tolist()
    [1, 0, 1]
    """
    found = _numbers(groups, n_rows, name, "cluster")
    if not found.any():
        raise DataError(f"{name} are all the same: there must be at least two clusters")
    return found


def stratum_numbers(strata: Any, n_rows: int, clusters: Ints | None = None, name: str = "the strata") -> Ints:
    """Return a number for the stratum of each row; a cluster lies in one of them.

    Examples
    --------
    >>> stratum_numbers(["n", "s", "s"], 3, np.array([0, 1, 1])).tolist()
    [0, 1, 1]
    >>> stratum_numbers(["n", "s", "s"], 3, np.array([0, 0, 1]))
    Traceback (most recent call last):
        ...
    ibmap.errors.DataError: the strata differ within 1 cluster: rows that belong together lie in one stratum
    """
    found = _numbers(strata, n_rows, name, "stratum")
    if clusters is not None:
        pairs = np.unique(np.column_stack([clusters, found]), axis=0)
        several = int((np.bincount(pairs[:, 0]) > 1).sum())
        if several:
            some = "1 cluster" if several == 1 else f"{several:,} clusters"
            raise DataError(f"{name} differ within {some}: rows that belong together lie in one stratum")
    return found


def _numbers(groups: Any, n_rows: int, name: str, what: str) -> Ints:
    labels = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise DataError(f"each row needs one {what}: {n_rows:,} rows, labels of shape {labels.shape}")
    gone = np.array([one is None or one != one for one in labels.tolist()], bool)  # NaN is not itself
    if gone.any():
        raise DataError(
            f"{name} are missing in {int(gone.sum()):,} of {n_rows:,} rows: name the {what} of each row, or "
            "leave these rows out"
        )
    try:
        found = np.unique(labels, return_inverse=True)[1]
    except TypeError:
        found = np.unique(list(map(str, labels.tolist())), return_inverse=True)[1]
    return np.asarray(found, np.int64)


class Design(NamedTuple):
    """What clusters do to the rows of a table."""

    effect: float  #: rows that are worth one
    correlations: Floats  #: intraclass correlations of the variables


def design_effect(data: Any, clusters: Ints, times: Floats | None = None) -> Design:
    """Return how many rows of a table are worth one row that belongs to nobody.

    ``times`` are frequencies of rows. See the head of this module.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rows = np.random.default_rng(0).integers(0, 3, (50, 4))
    >>> design_effect(load(np.repeat(rows, 3, axis=0)), np.repeat(np.arange(50), 3)).effect
    3.0
    """
    w = np.ones(data.n_rows) if times is None else times
    sizes = np.bincount(clusters, w)
    mean_size = float(sizes @ sizes / sizes.sum())
    rho = np.array([_intraclass(columns, known, clusters, w) for columns, known in _blocks(data)])
    vary = rho[~np.isnan(rho)]
    n = len(vary)
    pairs = float((vary.sum() ** 2 - (vary**2).sum()) / (n * (n - 1))) if n > 1 else float((vary**2).sum())
    return Design(max(1.0, 1.0 + (mean_size - 1.0) * pairs), rho)


def _blocks(data: Table) -> Iterator[tuple[Floats, Bools]]:
    """Yield the columns of each variable, (columns, rows), and in which rows it is known."""
    for v, is_number in enumerate(data.is_number.tolist()):
        if is_number:
            column = standard_columns(data.values_of(v)[None], data.numbers)[0].astype(float)
            yield np.nan_to_num(column), ~np.isnan(column[0])
        else:
            codes = np.asarray(data.codes_of(v))
            yield (codes == np.arange(len(data.levels[v]))[:, None]).astype(float), codes >= 0


def _intraclass(columns: Floats, known: Any, clusters: Ints, times: Floats) -> float:
    """Return the correlation of two rows of a cluster, over all such pairs; NaN where nothing varies."""
    w = times * known
    if not w.any():
        return float("nan")
    apart = (columns - ((columns @ w) / w.sum())[:, None]) * known
    squares = (apart**2).sum(axis=0)
    size = np.bincount(clusters, w)
    alone = float(w @ squares)
    own = float((w * (size[clusters] - 1)) @ squares)
    together = sum(float((np.bincount(clusters, w * row) ** 2).sum()) for row in apart) - alone
    return together / own if own > 1e-12 * max(alone, 1e-300) else float("nan")


def with_rows(
    data: Any,
    counts: RowWeights | None = None,
    clusters: Ints | None = None,
    name: str = "clusters",
    strata: Ints | None = None,
) -> tuple[Any, list[str]]:
    """Return a table whose rows count as weights and clusters say, and what to say about it.

    Strata change nothing of that: they say from where rows are drawn.

    Numbers and holes are looked at row by row: there a row has its weight. Where all are levels, rows are
    repeated or left out, one after the other, so that neighbours (or those of a cluster) come out right.

    Examples
    --------
    >>> from ibmap.data import load
    >>> table = load({"a": [0, 0, 1, 1], "b": [0, 0, 1, 1]})
    >>> with_rows(table, row_weights([1, 0, 2, 1], 4))[0].codes.tolist()
    [[0, 1, 1, 1], [0, 1, 1, 1]]
    """
    if counts is None and clusters is None and strata is None:
        return data, []
    if counts is None and clusters is None:
        every = data.rows(np.arange(data.n_rows))
        return replace(every, strata=strata, reading=data.reading, warnings=data.warnings), []
    said = [] if counts is None else [counts.words]
    reading: dict[str, Any] = {} if counts is None else {"weights_are": counts.kind}
    w, doubt = np.ones(data.n_rows) if counts is None else counts.weights, ""
    if clusters is not None:
        frequencies = w if counts is not None and counts.kind == "frequency" else None
        found = design_effect(data, clusters, frequencies)
        n_clusters = int(clusters.max(initial=-1)) + 1
        w = w / found.effect
        reading |= {
            "clusters": n_clusters,
            "design_effect": float(f"{found.effect:.12g}"),
            "effective_rows": float(f"{w.sum():.12g}"),
        }
        said.append(
            f"{data.n_rows:,} rows in {n_clusters:,} {name} count as {w.sum():,.4g} (design effect "
            f"{found.effect:.3g})"
        )
        if n_clusters == data.n_rows:
            said[-1] = "every row is a cluster of its own: rows count as they are"
        fixed = [data.names[v] for v in np.flatnonzero(found.correlations > 1 - 1e-9).tolist()]
        if 1 < len(fixed) < len(data.names):
            doubt = (
                f"{listing(fixed, 4)} are constant within clusters: edges among them are less certain "
                f"than their posteriors say, as only {n_clusters:,} clusters inform them"
            )
            warnings.warn(doubt, DataWarning, stacklevel=2)
    reading, warned = {**data.reading, **reading}, (*data.warnings, *filter(None, [doubt]))
    if len(data.values) or reading.get("missing") in ("question", "impute"):
        rows = data.rows(np.arange(data.n_rows))  # packed ones have no place for weights
        about = {"clusters": clusters, "strata": strata, "reading": reading, "warnings": warned}
        return replace(rows, weights=w, **about), said
    order = None
    if clusters is not None:  # rows of a cluster are neighbours, whatever the order of the rows
        order = np.lexsort((*data.codes[::-1], clusters))
    chosen = repeated(w, order)
    clusters, strata = (None if one is None else one[chosen] for one in (clusters, strata))
    about = {"clusters": clusters, "strata": strata, "reading": reading, "warnings": warned}
    return replace(data.rows(chosen), **about), said


class CountedRows(NamedTuple):
    """What is known of the rows of a table beside its columns."""

    weights: RowWeights | None = None
    clusters: Ints | None = None
    name: str = "clusters"
    strata: Ints | None = None

    @property
    def kept(self) -> Bools | None:
        """Which rows there are: those of weight zero are none; None if all are."""
        if self.weights is None or self.weights.weights.all():
            return None
        return self.weights.weights > 0

    def some(self, rows: Bools | None) -> "CountedRows":
        """Return what is known of some of the rows."""
        if rows is None:
            return self
        weights = self.weights and self.weights._replace(weights=self.weights.weights[rows])
        clusters = self.clusters
        if clusters is not None:
            clusters = np.unique(clusters[rows], return_inverse=True)[1]
        strata = None if self.strata is None else self.strata[rows]
        return CountedRows(weights, clusters, self.name, strata)

    def of(
        self, data: Any, source: Any = None, how: Mapping[str, Any] | None = None
    ) -> tuple[Any, list[str]]:
        """Return a table whose rows count as this says, and what to say about it.

        ``source`` is what it was read from, and ``how`` the options: incomplete rows may have been dropped.
        """
        is_cut = how is not None and how.get("missing") == "drop"
        known = self.some(complete_rows(source, how or {})) if is_cut else self
        return with_rows(data, known.weights, known.clusters, known.name, known.strata)


def complete_rows(source: Any, how: Mapping[str, Any]) -> Bools | None:
    """Return which rows of a table have all the values that are asked for; None if all have."""
    from ibmap.data.declared import column_options
    from ibmap.data.frames import open_source

    table = open_source(source)
    about = column_options(table.names, missing_values=how.get("missing_values"))
    columns = list(map(about.with_missing, table.columns(table.select(how.get("drop"), how.get("only")))))
    known = [~column.missing for column in columns if column.missing is not None]
    return np.logical_and.reduce(known) if known else None


def some_rows(table: Any, rows: Ints) -> Any:
    """Return some rows of a table: a frame, an array, a dict of columns or a list of rows.

    Examples
    --------
    >>> some_rows({"a": [1, 2], "b": ["x", "y"]}, np.array([0, 0, 1]))["b"].tolist()
    ['x', 'x', 'y']
    >>> some_rows([[1, 2], [3, 4]], np.array([1, 1]))
    [[3, 4], [3, 4]]
    """
    table = _plain(table)
    if isinstance(table, Mapping):
        return {name: np.asarray(values)[rows] for name, values in table.items()}
    if isinstance(table, np.ndarray):
        return table[rows]
    if isinstance(table, list | tuple):
        return [table[i] for i in rows.tolist()]
    import narwhals as nw

    frame: Any = nw.from_native(table, eager_only=True)
    return frame[rows.tolist()].to_native()


def n_rows_of(table: Any) -> int:
    """Return how many rows a table has.

    Examples
    --------
    >>> n_rows_of({"a": [1, 2, 3]}), n_rows_of(np.zeros((4, 2)))
    (3, 4)
    """
    table = _plain(table)
    if isinstance(table, Mapping):
        return len(next(iter(table.values()), ()))
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    return len(table)


def _plain(table: Any) -> Any:
    """Return an array in place of what is only like one; frames are like arrays, too, and stay."""
    is_frame = hasattr(table, "columns") or hasattr(table, "column_names")
    return table if is_frame or not hasattr(table, "__array__") else np.asarray(table)
