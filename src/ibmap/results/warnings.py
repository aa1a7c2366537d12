"""What should make people doubt a network: certain pairs without an edge, edges that nothing speaks for."""

import numpy as np

from ibmap._text import counted
from ibmap._types import Bools, Floats, Ints
from ibmap.data import Schema
from ibmap.data.quality import FEW_ROWS
from ibmap.engines.model import MOST_LEVELS
from ibmap.independence.base import log_one_minus_exp

CERTAIN = 0.99  #: posterior of an edge, at both ends
FEW, SHARE = 3, 0.05  #: fewer certain pairs, or a smaller share of the number of edges, are not worth a word
LITTLE = np.log(3.0)  #: log Bayes factor of a test that says next to nothing
SEVERAL, ROWS_PER_LEVEL = 10, 20  #: levels of a column, and the rows that each should have
PAIRS_AT_ONCE = 1 << 22  #: pairs that are looked at together


def certain_but_absent(edges: Ints, pair_scores: Floats) -> Ints:
    """Return the pairs that are not adjacent, though both ends are certain that they should be.

    Parameters
    ----------
    edges : ndarray of shape (edges, 2)
        The network: pairs (i, j), i < j.
    pair_scores : ndarray of shape (n, n)
        σ_xy, the log posterior of what the network asserts about x and y, seen from x.

    Examples
    --------
    >>> sigma = np.log([[1.0, 0.9, 0.001], [0.8, 1.0, 0.001], [0.001, 0.6, 1.0]])
    >>> certain_but_absent(np.array([[0, 1]]), sigma).tolist()
    [[0, 2]]
    """
    n, low = len(pair_scores), np.log(1 - CERTAIN)
    step, found = max(1, PAIRS_AT_ONCE // max(n, 1)), [np.empty((0, 2), np.int64)]
    for first in range(0, n, step):
        xs, ys = np.nonzero(pair_scores[first : first + step] < low)
        xs += first
        both = (xs < ys) & (pair_scores[ys, xs] < low)
        found.append(np.column_stack([xs[both], ys[both]]))
    pairs = np.concatenate(found)
    return pairs[~np.isin(pairs @ [n, 1], edges @ [n, 1])]


def certain_of(pairs: Ints, both_ways: Floats) -> Ints:
    """Return those of some absent pairs about which both ends are certain, from σ_xy and σ_yx."""
    return np.asarray(pairs[(both_ways < np.log(1 - CERTAIN)).all(axis=1)])


def stalled(names: tuple[str, ...], edges: Ints, pair_scores: Floats, patience: int) -> tuple[str, ...]:
    """Return the warning about a climb that gave up too early, if it did.

    A climb ends when the least credible pair cannot be flipped with profit, though many others could be.
    """
    return given_up(names, len(edges), certain_but_absent(edges, pair_scores), patience)


def given_up(names: tuple[str, ...], n_edges: int, pairs: Ints, patience: int) -> tuple[str, ...]:
    """Return the warning about pairs that look certain and are not adjacent, if there are many."""
    if len(pairs) < max(FEW, SHARE * n_edges):
        return ()
    x, y = (names[i] for i in pairs[0])
    return (
        f"the search ended, though {counted(len(pairs), 'pair')} without an edge look certain, such as {x} - "
        f"{y}: search on with patience={max(5, 2 * patience)}, or use EvidenceMAP",
    )


def untested(log_posteriors: Floats, prior: float | Floats) -> Bools:
    """Return which edges neither end could test: both posteriors are within a Bayes factor of 3 of the prior.

    That happens where blankets have grown until no slice of the table has more than a few rows.

    Parameters
    ----------
    log_posteriors : ndarray of shape (edges, 2)
        Log posterior of every edge, as either end sees it.
    prior : float or ndarray of shape (edges,)
        Prior probability of independence.

    Examples
    --------
    >>> untested(np.log([[0.5, 0.6], [0.5, 0.99], [0.99, 0.99]]), 0.5).tolist()
    [True, False, False]
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # of files that hold other than probabilities
        at_prior = np.asarray(np.log1p(-np.asarray(prior)) - np.log(prior))
        odds = log_posteriors - log_one_minus_exp(log_posteriors)
    return np.asarray((np.abs(odds - at_prior[..., None]) < LITTLE).all(axis=1))


def hardly_tested(edges: tuple[tuple[str, str], ...], n_edges: int) -> tuple[str, ...]:
    """Return the warning about edges that neither end could test, if there are many."""
    if len(edges) < max(FEW, SHARE * n_edges):
        return ()
    x, y = edges[0]
    return (
        f"{len(edges):,} of {counted(n_edges, 'edge')} could not be tested, such as {x} - {y}: with so many "
        "neighbours, too few rows are left; leave them out (drop_untested), or use EvidenceMAP",
    )


def more_cells_than_rows(schema: Schema, edges: Ints, test: object) -> tuple[str, ...]:
    """Return the warning about edges of more cells than rows, if prior counts of one may have made them.

    A prior count of one in every cell outweighs the rows then, and independent columns look dependent.

    Examples
    --------
    >>> from ibmap.independence import BayesianTest
    >>> schema = Schema(("a", "b"), (tuple(range(20)),) * 2, 200)
    >>> print(*more_cells_than_rows(schema, np.array([[0, 1]]), BayesianTest()))
    1 edge joins columns with more cells than rows, as a - b (20 by 20 levels, 200 rows), which look \
dependent even if they are not: use prior_counts='bdeu', group levels, or use EvidenceMAP
    """
    if getattr(test, "prior_counts", None) != "ones" or not len(edges):
        return ()
    levels = schema.cardinalities[edges]
    found = np.flatnonzero(levels.prod(axis=1) > schema.n_rows)
    found = found[(levels[found] > 2).all(axis=1)]
    if not len(found):
        return ()
    (i, j), (r, c) = edges[found[0]].tolist(), levels[found[0]].tolist()
    joins = "edge joins" if len(found) == 1 else "edges join"
    return (
        f"{len(found):,} {joins} columns with more cells than rows, as {schema.names[i]} - {schema.names[j]} "
        f"({r} by {c} levels, {counted(schema.n_rows, 'row')}), which look dependent even if they are not: "
        "use prior_counts='bdeu', group levels, or use EvidenceMAP",
    )


def few_rows_per_level(schema: Schema) -> tuple[str, ...]:
    """Return the warning about columns of several levels with few rows each, which hide their edges.

    With fewer than five rows a level, reading the table has said so.

    Examples
    --------
    >>> schema = Schema(("fault", "b"), (tuple(range(58)), (0, 1)), 500)
    >>> print(*few_rows_per_level(schema))
    fault has 58 levels in 500 rows, 9 each: edges of such a column are easily missed, and then its \
neighbours look joined to each other: group its levels
    """
    levels = np.asarray(schema.cardinalities)
    several = (levels >= SEVERAL) & (levels <= MOST_LEVELS) & (levels * FEW_ROWS <= schema.n_rows)
    few = np.flatnonzero(several & (levels * ROWS_PER_LEVEL > schema.n_rows))
    if not len(few) or not schema.n_rows:
        return ()
    first = few[np.argmax(levels[few])]
    more = f" ({counted(len(few) - 1, 'column')} more like this)" if len(few) > 1 else ""
    return (
        f"{schema.names[first]} has {levels[first]} levels in {counted(schema.n_rows, 'row')}, "
        f"{round(schema.n_rows / levels[first])} each{more}: edges of such a column are easily missed, and "
        "then its neighbours look joined to each other: group its levels",
    )
