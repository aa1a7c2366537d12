"""What a directed graph says about a pair of its moral graph: arcs, common children, what they are worth."""

from typing import Any, NamedTuple

import numpy as np

from ibmap._text import listed
from ibmap._types import Bools, Ints
from ibmap.criteria.directed import DirectedScore, arc_odds, directed_score
from ibmap.engines import Engine
from ibmap.results.learned import Learned
from ibmap.results.provenance import Provenance


class DirectedPair(NamedTuple):
    """A pair as the directed graph has it."""

    log_odds: float  #: what the score would lose without the edge, or gain with an arc
    sentences: tuple[str, ...]  #: the arc, and the children that both have


class Directed:
    """The directed graph of a result, with the score that found it.

    Parameters
    ----------
    learned : Learned
        A network with arcs.
    engine : Engine
        Who counts in the table that it was learned from.
    """

    def __init__(self, learned: Learned, engine: Engine) -> None:
        self.names, self._arcs = learned.graph.names, arcs_of(learned)
        self.label, self._score = score_of_arcs(learned.provenance, engine, learned.arc_score)

    def parents(self, x: int) -> Ints:
        """Return the parents of x."""
        return np.flatnonzero(self._arcs[x])

    def evidence(self, x: int, y: int) -> float:
        """Return t_xy: what y gains, or would gain, as a parent of x."""
        return float(self._score.row(x, self.parents(x))[y])

    def pair(self, x: int, y: int) -> DirectedPair:
        """Return what the edge between two variables is worth, and why it is there."""
        arcs, names = self._arcs, self.names
        children = np.flatnonzero(arcs[:, x] & arcs[:, y]).tolist()
        said = [f"{names[p]} is a parent of {names[c]}." for p, c in ((x, y), (y, x)) if arcs[c, p]]
        if children:
            said.append(f"Both are parents of {listed([names[child] for child in children])}.")
        worth = [self.evidence(c, p) for p, c in ((x, y), (y, x)) if arcs[c, p]]
        worth += [min(self.evidence(child, x), self.evidence(child, y)) for child in children]
        if not worth:
            free = [self.evidence(c, p) for p, c in ((x, y), (y, x)) if not self._leads(c, p)]
            return DirectedPair(max(free), ("Neither is a parent of the other, and they have no child.",))
        return DirectedPair(sum(worth), tuple(said))

    def _leads(self, start: int, end: int) -> bool:
        """Whether a directed path leads from one variable to another."""
        reached = np.zeros(len(self._arcs), bool)
        new = np.flatnonzero(self._arcs[:, start])
        while new.size:
            reached[new] = True
            new = np.flatnonzero(self._arcs[:, new].any(axis=1) & ~reached)
        return bool(reached[end])


def arcs_of(learned: Learned) -> Bools:
    """Return the arcs of a network as a matrix: y → x at [x, y]."""
    index, n = learned.graph.index, learned.graph.n_variables
    arcs = np.zeros((n, n), bool)
    for parent, child in learned.arcs or ():
        arcs[index(child), index(parent)] = True
    return arcs


def score_of_arcs(
    provenance: Provenance, engine: Engine, name: str | None = None
) -> tuple[str, DirectedScore]:
    """Return the score that a learner raises over directed graphs, with its prior, and its name.

    A learner that has a score of undirected graphs shares the prior of that one, and asks for BDeu or qNML.
    """
    by: Any = provenance.score
    options = dict(provenance.options) if by is None else {"score": "bdeu", **by.options()}
    label = name or str(options.get("score", "bic"))
    size, neighbours = float(options.get("equivalent_sample_size", 1.0)), options.get("expected_neighbours")
    if neighbours is None:
        return label, directed_score(label, engine, size)
    odds = arc_odds(engine.schema.n_variables, neighbours, options.get("prior"))
    return label, directed_score(label, engine, size, odds)
