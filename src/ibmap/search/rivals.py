"""Posterior over rivals: how certain is an edge, if other variables could stand in for it?

An edge that is strong only because it stands in for another should not look certain. With t, prior odds
included, and B the blanket of x, the log odds of the edge (x, y) seen from x are

    t_y|B∖y + log(1 + Σ_z e^{t_z|B}) - log(1 + Σ_z e^{t_z|B∖y}),  z over the variables outside B,

which averages over all graphs that are one swap away. What people see is the mean of both ends.
"""

from typing import NamedTuple

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.engines.rows import Lists
from ibmap.search.gains import GainSearch
from ibmap.search.state import State, WithoutEdge

SURE = 20.0  #: log odds beyond which nobody asks for better ones
NOTABLE = 0.01  #: share of a rival that is looked at more closely


class Rivals(NamedTuple):
    """What is known about the edges of a graph, in the order of its pairs."""

    log_odds: Floats  #: (edges, 2): of each edge, seen from either end
    rival: Ints  #: (edges, 2): who would come in its place at either end; -1 if nobody
    share: Floats  #: (edges, 2): with which probability, if the edge were not there


def rivals(search: GainSearch) -> Rivals:
    """Compare every edge of the graph of a search with the variables that could come in its place."""
    state, compared = search.state, search.without_edges()
    now, evidence = state.native.log_sums(), state.evidence(compared.x, compared.y)
    doubtful = evidence + now[compared.x] - compared.log_sum < SURE
    xs = np.unique(compared.x[doubtful])
    if len(xs):
        evidence[np.isin(compared.x, xs)] = state.score.rows(
            xs, state.blankets(xs), floor=np.inf, exact=True
        ).t
    compared = look_closer(state, compared, doubtful)
    odds = evidence + now[compared.x] - compared.log_sum
    order = np.lexsort((compared.x, compared.y))  # where the other end of each is
    first = compared.x < compared.y
    ends = np.column_stack([np.flatnonzero(first), order[first]])
    return Rivals(odds[ends], compared.rival[ends], compared.share[ends])


def look_closer(state: State, compared: WithoutEdge, doubtful: Bools) -> WithoutEdge:
    """Judge rivals that count as members of the blankets that they would join, without approximations."""
    some, evidence = np.flatnonzero(doubtful & (compared.share > NOTABLE)), compared.evidence.copy()
    here = compared.of(some)
    swapped = state.blankets(here.x, here.y).with_one_more(here.rival)
    asked = Lists(np.arange(len(some) + 1), here.rival)
    found = state.score.rows(here.x, swapped, floor=np.inf, also=asked, exact=True)
    evidence[some] = found.t[found.y == np.repeat(here.rival, np.diff(found.start))]
    return compared._replace(evidence=evidence)
