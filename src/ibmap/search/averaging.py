"""Posteriors averaged over graphs, where the graph of most evidence is one of very many that are as good.

Where variables are strongly coupled (fair coins of eight neighbours), each is a proxy for every other, and
the score wants some neighbours but cannot tell which. Edges of the best graph are then false as often as
true, while the mean over graphs, weighted by e^score, is calibrated: six such kinds of tables have 2047
errors instead of 2186, no edges 2100.

Graphs are sampled by Gibbs sweeps. A sweep is a tournament in which every pair meets once: rounds of disjoint
pairs, which are independent given the rest, since s_x depends on the blanket of x alone. Columns stand in the
order of their contents, so that one fixed seed serves everybody.
"""

from collections.abc import Iterator

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.criteria.families import log_prior_odds
from ibmap.engines.rows import as_lists
from ibmap.search.climb import MATRIX
from ibmap.search.gains import GainSearch, whole_evidence
from ibmap.search.rivals import Rivals
from ibmap.search.state import State

POSTERIORS = ("averaged",)  #: what may be asked for everywhere
FEWEST = 10  #: edges of a graph that may be doubted as a whole
TAKEN = 0.85  #: log odds that rivals take away from an edge, in the mean
DOUBTFUL = 0.8  #: mean posterior over rivals below which graphs are sampled
WRONG = 0.62  #: mean posterior over graphs below which the best graph is not shown
NEIGHBOURS = 8.0  #: that are expected at most: strongly coupled variables learn far too many
THROWN_AWAY, KEPT = 1, 6  #: sweeps
HIGHEST = 10.0  #: log odds that count as no more
SEED = 1


def averaged_posteriors(
    search: GainSearch, found: Rivals, locked: Bools, everywhere: bool = False
) -> Floats | None:
    """Return the posteriors of all pairs over sampled graphs; None where those of the best graph are better.

    That is where rivals take little away from its edges, or where sampled graphs have most of them; never,
    if they are wanted ``everywhere``.
    """
    pairs, score = search.pairs, search.score
    expected = score.expected_neighbours
    if score.n > MATRIX or expected is None:
        return None
    if not everywhere and not is_flat(search.state, pairs, found):
        return None
    evidence = evidence_of_all_pairs(search)
    usual, most = (log_prior_odds(score.n, c)[0, 0] for c in (expected, min(expected, NEIGHBOURS)))
    posteriors = sampled(search, evidence + (most - usual), most - usual, locked)
    return posteriors if everywhere or posteriors[pairs[:, 0], pairs[:, 1]].mean() < WRONG else None


def is_flat(state: State, pairs: Ints, found: Rivals) -> bool:
    """Whether rivals take much away from the edges of a graph that has some."""
    if len(pairs) < FEWEST:
        return False
    t = (state.evidence(*pairs.T) + state.evidence(*pairs.T[::-1])) / 2
    over_rivals = found.log_odds.mean(axis=1)
    taken = np.clip(t, -HIGHEST, HIGHEST) - np.clip(over_rivals, -HIGHEST, HIGHEST)
    return bool(taken.mean() > TAKEN and (1 / (1 + np.exp(-over_rivals))).mean() < DOUBTFUL)


def evidence_of_all_pairs(search: GainSearch) -> Floats:
    """Return t_xy of all pairs, also of a search that lists only those above a floor."""
    if (known := whole_evidence(search.state)) is not None:
        return known
    every = np.arange(search.score.n)
    return search.score.rows(every, search.state.blankets(every)).matrix(search.score.n)


def sampled(search: GainSearch, evidence: Floats, shift: float, locked: Bools) -> Floats:
    """Return the mean probability of every pair, given the other pairs, over the graphs of some sweeps."""
    score, n = search.score, search.score.n
    adjacent, rng = np.zeros((n, n), bool), np.random.default_rng(SEED)
    adjacent[tuple(search.pairs.T)] = True
    adjacent |= adjacent.T
    total, rounds = np.zeros((n, n)), list(tournament(n))
    for sweep in range(THROWN_AWAY + KEPT):
        for r in rng.permutation(len(rounds)).tolist():
            x, y = rounds[r]
            t = np.clip((evidence[x, y] + evidence[y, x]) / 2, -40.0, 40.0)
            p = np.where(locked[x, y], adjacent[x, y], 1 / (1 + np.exp(-t)))
            if sweep >= THROWN_AWAY:
                total[x, y] += p
            flips = (rng.random(len(x)) < p) != adjacent[x, y]
            if not flips.any():
                continue
            xs, ys = x[flips], y[flips]
            adjacent[xs, ys] = adjacent[ys, xs] = ~adjacent[xs, ys]
            ends = np.concatenate([xs, ys])
            blankets = as_lists([np.flatnonzero(adjacent[v]) for v in ends.tolist()])
            evidence[ends] = score.rows(ends, blankets).matrix(n) + shift
            search.state.n_tests += len(ends) * (n - 1)
    return (total + total.T) / KEPT


def tournament(n: int) -> Iterator[tuple[Ints, Ints]]:
    """Yield rounds of disjoint pairs in which all pairs of n meet once (the circle method).

    Examples
    --------
    >>> [list(zip(x.tolist(), y.tolist())) for x, y in tournament(4)]
    [[(0, 3), (1, 2)], [(0, 2), (3, 1)], [(0, 1), (2, 3)]]
    """
    even = n + n % 2
    ring = np.arange(1, even)
    for _ in range(even - 1):
        every = np.append(0, ring)
        x, y = every[: even // 2], every[even // 2 :][::-1]
        there = (x < n) & (y < n)
        yield x[there], y[there]
        ring = np.roll(ring, 1)
