"""Do two groups have the same network? Rows are distributed anew, many times, to see what chance does."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any

import numpy as np

from ibmap._checks import whole
from ibmap._parallel import in_order, n_threads
from ibmap._random import RandomState, generator
from ibmap._text import listing
from ibmap._types import Floats, Ints
from ibmap.criteria.coding import contrasts
from ibmap.data import Table
from ibmap.engines import Engine, as_engine
from ibmap.errors import DataError, RequestError, SearchWarning
from ibmap.graph import Graph
from ibmap.model.effect_size import cramers_v, score_correlation, with_margins
from ibmap.model.effects import contrast_effects
from ibmap.model.mixed_effects import blocks_of_edges, mixed_effects
from ibmap.results.comparison import Comparison, Judged
from ibmap.results.learned import Learned

CLOSE = 1e-9  #: rounding must not decide whether a permutation differs as much
TINY = 1e-300
Groups = tuple[Table, Table]


def compare_groups(
    groups: Groups,
    learn: Callable[[Engine], Learned],
    *,
    labels: tuple[str, str] = ("A", "B"),
    n_permutations: int = 500,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    advance: Callable[[int, int], object] | None = None,
) -> Comparison:
    """Learn a network of each group, and judge their differences by a permutation test.

    The effects of the edges of either network are fitted in both groups, and compared in standard errors. If
    the groups are alike, it does not matter which row belongs to which: the same is done, from learning on,
    with groups of the same sizes whose rows are drawn from all. An edge that was chosen because it happened
    to be strong in one group is thus compared with others that were. As differences are measured in standard
    errors, it matters little whether the groups differ in other respects, such as the shares of
    their levels (Chung and Romano 2013). Rows that belong together stay together, and in their stratum.

    Parameters
    ----------
    groups : pair of Table
        Two tables with the same variables and the same levels (:func:`split_by` makes them of one).
    learn : callable
        A learner: from an engine to what it has learned.
    labels : pair of str
        What the groups are called.
    n_permutations : int
        How often rows are distributed anew; p-values are never below 1 / (n_permutations + 1).
    random_state : int, Generator or None
        The seed. The result does not depend on ``n_jobs``.
    n_jobs : int or None
        Permutations at a time; None is one, -1 as many as there are cores.
    advance : callable or None
        Called with the number of permutations that are done, and of all, when another one is.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.learners import evidence_map
    >>> b = [0, 0, 1, 1] * 29 + [0, 1, 0, 1] * 31
    >>> groups, _ = split_by(load({"a": [0, 0, 1, 1] * 60, "b": b, "old": [0] * 120 + [1] * 120}), "old")
    >>> found = compare_groups(groups, evidence_map, n_permutations=50, random_state=0)
    >>> found.edges, bool(found.different[0])
    ((('a', 'b'),), True)
    """
    n_permutations = whole(n_permutations, "n_permutations", 1, 10**6)
    n_first = groups[0].n_rows
    if not n_first or not groups[1].n_rows:
        raise DataError(f"the group {labels[0] if not n_first else labels[1]!r} has no rows")
    every = _joined(groups)
    over = Event()

    def permuted(_: int, rng: np.random.Generator) -> dict[tuple[int, int], float]:
        if over.is_set():
            raise KeyboardInterrupt
        first, second = map(every.rows, permuted_rows(rng, n_first, every))
        return _measured((first, second), learn)[1]

    learned, observed = _measured(groups, learn)
    for words in dict.fromkeys(words for one in learned for words in one.warnings):
        warnings.warn(words, SearchWarning, stacklevel=2)
    seeds, chance = generator(random_state).spawn(n_permutations), []
    for one in in_order(permuted, seeds, min(n_threads(n_jobs), n_permutations), stop=over.set):
        chance.append(one)
        if advance:
            advance(len(chance), n_permutations)
    shown, union = (
        (learned[0].with_effects(groups[0]), learned[1].with_effects(groups[1])),
        _union_of(learned),
    )
    if len(every.values):
        return _judged(labels, shown, strengths_of_rows(groups, union), observed, chance)
    margins = [_shares(row, len(levels)) for row, levels in zip(every.codes, every.levels, strict=True)]
    return _judged(labels, shown, fitted_strengths(groups, union, margins), observed, chance)


def _joined(groups: Groups) -> Table:
    """Return the rows of both groups as one table."""
    first, second = groups
    codes, values = (
        np.concatenate(parts, axis=1)
        for parts in ([first.codes, second.codes], [first.values, second.values])
    )
    about: dict[str, Any] = {"ordinal": first.ordinal, "values": values, "numbers": first.numbers}
    for name in ("weights", "clusters", "strata"):
        known = [one for group in groups if (one := getattr(group, name)) is not None]
        about[name] = np.concatenate(known) if len(known) == 2 else None
    return Table(codes, first.names, first.levels, first.bin_edges, first.backend, **about)


def permuted_rows(rng: np.random.Generator, n_first: int, table: Table) -> tuple[Ints, Ints]:
    """Return the rows of two groups, distributed anew; the first ones were in the first group.

    Clusters that lie within a group go to either as a whole. Within one that both groups share, rows are
    distributed among its own rows. Of every stratum as many go to each group as before.

    Examples
    --------
    >>> table = Table([[0, 0, 0, 0]], ("a",), (("x",),), clusters=np.array([5, 5, 7, 7]))
    >>> first, second = permuted_rows(np.random.default_rng(1), 2, table)
    >>> first.tolist(), second.tolist()
    ([0, 1], [2, 3])
    """
    n_rows, clusters, strata = table.n_rows, table.clusters, table.strata
    if clusters is None and strata is None:
        rows = rng.permutation(n_rows)
        return rows[:n_first], rows[n_first:]
    unit = np.arange(n_rows) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    stratum = np.zeros(int(unit.max()) + 1, np.int64)
    stratum[unit] = 0 if strata is None else strata
    is_first = np.arange(n_rows) < n_first
    share = np.bincount(unit, is_first) / np.bincount(unit)
    is_whole = (share == 0) | (share == 1)
    new = share.copy()
    for s in np.unique(stratum).tolist():
        whole = np.flatnonzero(is_whole & (stratum == s))
        new[whole] = share[rng.permutation(whole)]
    label = new[unit] == 1
    for cluster in np.flatnonzero(~is_whole).tolist():
        own = np.flatnonzero(unit == cluster)
        label[own] = rng.permutation(is_first[own])
    return np.flatnonzero(label), np.flatnonzero(~label)


def _measured(
    groups: Groups, learn: Callable[[Engine], Learned]
) -> tuple[tuple[Learned, Learned], dict[tuple[int, int], float]]:
    """Return the networks of both groups, and how far they differ in every edge of either."""
    first, second = (learn(as_engine(group)) for group in groups)
    union = _union_of((first, second))
    values = deviations(groups, union).tolist()
    return (first, second), {
        (i, j): value for (i, j), value in zip(union.pairs.tolist(), values, strict=True)
    }


def _union_of(learned: tuple[Learned, Learned]) -> Graph:
    return Graph(learned[0].graph.names, {edge for one in learned for edge in one.graph.edges})


def deviations(groups: Sequence[Table], graph: Graph) -> Floats:
    """Return how far two groups differ in every edge, in standard errors.

    The squared differences of the effects along the contrasts of both ends, each over its variance, are added
    up. As a chi-square with so many degrees of freedom that is as rare as some distance of a normal variable
    from zero, which is returned: edges with many levels and edges with few can be compared.
    """
    if len(groups[0].values):
        return _deviations_of_ends(groups, graph)
    first, second = (contrast_effects(as_engine(group), graph) for group in groups)
    squares, freedom = np.zeros(graph.n_edges), np.ones(graph.n_edges)
    for e, ((mine, its), (yours, their)) in enumerate(zip(first, second, strict=True)):
        squares[e] = ((yours - mine) ** 2 / np.maximum(its**2 + their**2, TINY)).sum()
        freedom[e] = max(mine.size, 1)
    return _as_deviation(squares, freedom)


def _as_deviation(squares: Floats, freedom: Floats) -> Floats:
    """Return distances of a normal variable from zero that are as rare as sums of squares."""
    from scipy.special import chdtrc, ndtri

    return np.asarray(-ndtri(np.maximum(chdtrc(freedom, squares), TINY) / 2))


def _deviations_of_ends(groups: Sequence[Table], graph: Graph) -> Floats:
    """Return the same of tables with numbers: the mean of what both ends of an edge say.

    A square that only one of the groups has says nothing.
    """
    first, second = (blocks_of_edges(as_engine(group).row_by_row, graph) for group in groups)
    squares, freedom = np.zeros((graph.n_edges, 2)), np.ones((graph.n_edges, 2))
    for e, (i, j) in enumerate(graph.pairs.tolist()):
        for k, ends in enumerate([(i, j), (j, i)]):
            mine, yours = first[ends], second[ends]
            r = min(mine.effect.shape[-1], yours.effect.shape[-1])
            if min(mine.effect.size, yours.effect.size) == 0:
                continue
            variances = [
                np.diagonal(block.covariance).reshape(block.effect.shape)[:, :r] for block in (mine, yours)
            ]
            apart = yours.effect[:, :r] - mine.effect[:, :r]
            squares[e, k] = (apart**2 / np.maximum(sum(variances), TINY)).sum()
            freedom[e, k] = apart.size
    return np.asarray(_as_deviation(squares, freedom).mean(axis=1))


def strengths_of_rows(groups: Groups, graph: Graph) -> Floats:
    """Return the strength of every edge in both groups of a table with numbers, (2, edges)."""
    return np.nan_to_num([mixed_effects(as_engine(group).row_by_row, graph).strength for group in groups])


def fitted_strengths(groups: Groups, graph: Graph, margins: Sequence[Floats]) -> Floats:
    """Return the strength of every edge in both groups, (2, edges): Cramér's V; a sign if levels are ordered.

    Both have the same edges and the same shares of levels, so that the two numbers can be subtracted.
    """
    codings = [contrasts(len(margin)) for margin in margins]
    out, schema = np.zeros((2, graph.n_edges)), groups[0].schema
    ordered = schema.ordinal | (schema.cardinalities == 2)
    for g, group in enumerate(groups):
        effects = contrast_effects(as_engine(group), graph)
        for e, ((i, j), (effect, _)) in enumerate(zip(graph.pairs.tolist(), effects, strict=True)):
            table = codings[i] @ effect @ codings[j].T
            if min(table.shape) < 2:
                continue
            shares = with_margins(table, margins[i], margins[j])
            out[g, e] = cramers_v(shares, margins[i], margins[j])
            if ordered[[i, j]].all() and score_correlation(shares, margins[i], margins[j]) < 0:
                out[g, e] *= -1.0
    return out


def _judged(
    labels: tuple[str, str],
    learned: tuple[Learned, Learned],
    fitted: Floats,
    observed: Mapping[tuple[int, int], float],
    chance: Sequence[Mapping[tuple[int, int], float]],
) -> Comparison:
    """Compare what was seen with what chance does; an edge that a permutation lacks differs by 0."""
    pairs, values = sorted(observed), np.array([observed[pair] for pair in sorted(observed)])
    by_edge = np.array([[one.get(pair, 0.0) for pair in pairs] for one in chance]).reshape(len(chance), -1)
    largest = np.array([max(one.values(), default=0.0) for one in chance])
    overall = np.array([sum(value**2 for value in one.values()) for one in chance])
    top, total, seen = values.max(initial=0.0), float((values**2).sum()), values - CLOSE

    def share(hits: Any) -> Any:
        return (1 + hits.sum(axis=0)) / (1 + len(chance))

    return Comparison(
        labels,
        learned,
        np.array(pairs, np.int64).reshape(-1, 2),
        fitted,
        values,
        share(by_edge >= seen),
        share(largest[:, None] >= seen),
        Judged(float(top), float(share(largest >= top - CLOSE))),
        Judged(total, float(share(overall >= total - CLOSE))),
        len(chance),
    )


def _shares(codes: Any, n_levels: int) -> Floats:
    seen = np.bincount(codes[codes >= 0], minlength=n_levels) + 0.5
    return np.asarray(seen / seen.sum())


def with_levels_of(by: str, how: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a table is read in which one column tells groups apart, if all others are numbers, too.

    Examples
    --------
    >>> with_levels_of("sex", {"continuous": "all", "nominal": None})
    {'continuous': 'all', 'nominal': ['sex']}
    """
    if "all" not in (how.get("continuous") or ()):
        return dict(how)
    return {**how, "nominal": [*(how.get("nominal") or ()), by]}


def split_by(data: Table, name: str) -> tuple[Groups, tuple[str, str]]:
    """Return the two groups that a variable tells apart, without it, and what they are called.

    Examples
    --------
    >>> from ibmap.data import load
    >>> (men, women), labels = split_by(load({"sex": list("mfm"), "a": [0, 1, 1], "b": [1, 0, 0]}), "sex")
    >>> labels, men.n_rows, women.names
    (('sex=f', 'sex=m'), 1, ('a', 'b'))
    """
    v = data.index(name)
    if data.is_number[v]:
        raise RequestError(f"{name!r} must have two values to tell two groups apart, and holds numbers")
    codes = data.codes_of(v)
    present = np.unique(codes[codes >= 0]).tolist()
    if len(present) != 2:
        values = listing([str(data.levels[v][k]) for k in present], at_most=3)
        raise RequestError(
            f"{name!r} must have two values to tell two groups apart, not {len(present)}: {values}"
        )
    others = [i for i in range(data.n_variables) if i != v]
    rest = data.variables(others)
    first, second = (rest.rows(np.flatnonzero(codes == k)) for k in present)
    one, other = (f"{name}={data.levels[v][k]}" for k in present)
    return (first, second), (one, other)
