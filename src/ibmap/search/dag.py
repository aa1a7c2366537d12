"""Greedy search through directed acyclic graphs, with a way out of local optima; it knows no statistics.

Matrices have a row for every child and a column for every parent.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, Protocol

import numpy as np

from ibmap import _core
from ibmap._types import Bools, Floats, Ints
from ibmap.engines.rows import Lists, ManyVariables, Rows, no_lists
from ibmap.errors import RequestError

ADD, DELETE, REVERSE, NONE = range(4)  #: what a move does with an arc; NONE: there is no move
CACHED = 1 << 23  #: numbers of rows of evidence that are kept, for structures that come back


class Families(Protocol):
    """What the search needs of a score: t_xy, what y gains as a parent of x beside the other parents of x."""

    n: int
    tolerance: float

    @property
    def adds_up(self) -> bool:
        """Whether gains add up, so that their sums compare structures; otherwise ``lead`` does."""
        ...

    def rows(self, xs: Sequence[int] | Ints, parents: ManyVariables) -> Rows:
        """Return t_xy of all y for some x, each given its parents."""
        ...

    def lead(self, xs: Sequence[int], parents: Sequence[Ints], others: Sequence[Ints]) -> float:
        """Return how far some x with parents are ahead of the same x with others."""
        ...


class Move(NamedTuple):
    """What was done to the arc y → x (``ADD``, ``DELETE``, ``REVERSE``), and what it gained."""

    kind: int
    x: int
    y: int
    parts: tuple[tuple[int, int, bool, float], ...]  #: child, parent, whether the arc came or went, gain

    @property
    def gain(self) -> float:
        """What all parts gained."""
        return sum(gain for *_, gain in self.parts)


class Reached(NamedTuple):
    """A structure that was reached: what the moves on the way have gained, and if need be its parents."""

    gain: float
    parents: Lists | None


class DagClimb:
    """Add, delete or reverse the arc that gains most; never return to a structure that was seen before.

    The best structure is remembered. The search ends when it could not be surpassed with ``tabu`` further
    moves; with 0 it ends where no move gains. ``shake`` begins another search near the best structure.

    Parameters
    ----------
    score : Families
        What is raised.
    arcs : ndarray of bool
        Where to start: ``arcs[x, y]`` is y → x.
    required, forbidden : ndarray of bool
        Pairs, symmetric: an arc between the first kind may be reversed but not deleted; the second kind gets
        neither an arc nor a common child.
    max_parents : int
        Parents that a variable may have.
    tabu : int
        Moves beyond an optimum.
    """

    def __init__(
        self,
        score: Families,
        arcs: Bools,
        required: Bools,
        forbidden: Bools,
        max_parents: int,
        tabu: int,
    ) -> None:
        self.score, self.tabu = score, tabu
        self._dag = _core.Dag(required, forbidden, max_parents, score.tolerance, CACHED)
        self._required = required
        self.n_rows = 0  #: rows of evidence that the score was asked for
        every = np.arange(score.n)
        rows = score.rows(every, no_lists(score.n))
        self._dag.put(every, rows.start, rows.y, rows.t, keeps=False)
        for x, y in np.argwhere(arcs).tolist():
            self._dag.move(ADD, x, y)
        for x in np.flatnonzero(arcs.any(axis=1)).tolist():
            self._look_again(x)
        self.best_mark = self._dag.mark  #: of the best structure
        self._gain = 0.0  # of this structure
        self._best = self._reached()
        self._beyond: list[Move] = []  # moves since the best structure
        self._begin()

    @property
    def arcs(self) -> Bools:
        """The structure as it stands."""
        out = np.zeros((self.score.n, self.score.n), bool)
        out[tuple(self._dag.arcs().T)] = True
        return out

    @property
    def parents(self) -> Lists:
        """The parents of every variable."""
        child, parent = np.ascontiguousarray(self._dag.arcs().T)
        return Lists(np.searchsorted(child, np.arange(self.score.n + 1)), parent)

    @property
    def ancestors(self) -> Bools:
        """Whether a directed path leads from y to x, at [x, y]."""
        return self._dag.ancestors().astype(bool)

    @property
    def evidence(self) -> Floats:
        """What y gains as a parent of x beside its other parents, at [x, y]."""
        return self._dag.evidence()

    def _begin(self) -> None:
        """Begin a search here: forget what was seen, and what was reached."""
        self._dag.begin()
        self._optimum, self._in_vain = self._reached(), 0  # of this search, and moves since

    def _reached(self) -> Reached:
        return Reached(self._gain, None if self.score.adds_up else self.parents)

    def _surpasses(self, other: Reached) -> bool:
        """Whether this structure is better than another one."""
        if other.parents is None:
            return self._gain > other.gain + self.score.tolerance
        pairs = zip(self.parents.one_by_one(), other.parents.one_by_one(), strict=True)
        changed = [(x, p, q) for x, (p, q) in enumerate(pairs) if not np.array_equal(p, q)]
        xs, now, then = zip(*changed, strict=True) if changed else ((), (), ())
        return self.score.lead(xs, now, then) > self.score.tolerance

    def advance(self) -> Move | None:
        """Make a move; None if the search is over, and then the structure is the best one."""
        move = self._next() if self._in_vain <= self.tabu else None
        if move is None or (self.tabu == 0 and move.gain <= self.score.tolerance):
            self.go_back()
            return None
        self._make(move)
        self._dag.remember()
        self._in_vain += 1
        if self._surpasses(self._optimum):
            self._optimum, self._in_vain = self._reached(), 0
        if self._surpasses(self._best):
            self._best, self.best_mark = self._reached(), self._dag.mark
            self._beyond.clear()
        elif self._dag.mark == self.best_mark:  # where an earlier search has ended
            self._in_vain = self.tabu + 1
        return move

    def shake(self, v: int) -> list[Move]:
        """Reverse all arcs of a variable, or delete them if that is not allowed; a new search begins there.

        If it does not surpass the best structure, it ends there.
        """
        moves = []
        for x, y in self._dag.arcs().tolist():
            if v not in (x, y):
                continue
            kind = DELETE
            if self._dag.can_reverse(x, y):
                kind = REVERSE
            elif self._required[x, y]:
                continue
            moves.append(self._move(kind, x, y))
            self._make(moves[-1])
        self._begin()
        return moves

    @property
    def n_beyond(self) -> int:
        """Moves since the best structure, which were in vain so far."""
        return len(self._beyond)

    def go_back(self) -> None:
        """Undo the moves since the best structure."""
        while self._beyond:
            kind, x, y, _ = self._beyond.pop()
            if kind == REVERSE:
                self._do(REVERSE, y, x)
            else:
                self._do(DELETE if kind == ADD else ADD, x, y)
        self._gain = self._best.gain

    def _make(self, move: Move) -> None:
        self._do(move.kind, move.x, move.y)
        self._gain += move.gain
        self._beyond.append(move)

    def _next(self) -> Move | None:
        kind, x, y = self._dag.best_move()
        return None if kind == NONE else self._move(kind, x, y)

    def _move(self, kind: int, x: int, y: int) -> Move:
        """Return a move with what it gains."""
        here, turned = self._dag.gain(x, y), self._dag.gain(y, x)
        if kind == ADD:
            return Move(kind, x, y, ((x, y, True, here),))
        removed = (x, y, False, -here)
        return Move(kind, x, y, (removed,) if kind == DELETE else (removed, (y, x, True, turned)))

    def _do(self, kind: int, x: int, y: int) -> None:
        """Change the structure, and ask again about the children that it touches."""
        self._dag.move(kind, x, y)
        self._look_again(x)
        if kind == REVERSE:
            self._look_again(y)

    def _look_again(self, x: int) -> None:
        """Update the evidence of a child; that of a family that comes back is known."""
        if self._dag.look_up(x):
            return
        parents = self._dag.parents(x)
        rows = self.score.rows(np.array([x]), Lists(np.array([0, len(parents)]), parents))
        self._dag.put(np.array([x]), rows.start, rows.y, rows.t)
        self.n_rows += 1


def moral(arcs: Bools) -> Bools:
    """Return the moral graph as a matrix: arcs without direction, and parents of a common child joined.

    Examples
    --------
    >>> arcs = np.zeros((3, 3), bool)
    >>> arcs[2, [0, 1]] = True  # 0 → 2 ← 1
    >>> moral(arcs).astype(int).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    out = arcs | arcs.T
    for family in arcs[arcs.sum(axis=1) > 1]:
        parents = np.flatnonzero(family)
        out[np.ix_(parents, parents)] = True
    np.fill_diagonal(out, False)
    return out


def pair_log_odds(evidence: Floats, arcs: Bools, ancestors: Bools) -> Floats:
    """Return, of every pair, what the score loses without its edge in the moral graph, or gains with one.

    An edge goes with its arc, and with one arc of the two to every common child, the cheaper one. A pair
    without an edge gets one with an arc, in the better of the directions that make no cycle.
    """
    free = np.where(ancestors.T, -np.inf, evidence)  # y → x makes a cycle where x is an ancestor of y
    odds = np.maximum(free, free.T)
    odds[moral(arcs)] = 0.0
    odds += np.where(arcs, evidence, 0.0) + np.where(arcs, evidence, 0.0).T
    for x in np.flatnonzero(arcs.sum(axis=1) > 1).tolist():
        for a, b in combinations(np.flatnonzero(arcs[x]).tolist(), 2):
            odds[[a, b], [b, a]] += min(evidence[x, a], evidence[x, b])
    np.fill_diagonal(odds, 0.0)
    return odds


def oriented(required: Bools, forbidden: Bools, max_parents: int) -> Bools:
    """Return arcs between all required pairs, without a cycle, too many parents or a forbidden marriage.

    The last variable whose neighbours may all be its parents becomes their child; then the same with the
    others. What can be a child among many can be one among few, so this finds a way if there is one.

    Examples
    --------
    >>> path = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    >>> np.argwhere(oriented(path, np.zeros((3, 3), bool), 3)).tolist()  # child, parent
    [[1, 0], [2, 1]]
    """
    arcs, rest = np.zeros_like(required), np.flatnonzero(required.any(axis=1)).tolist()
    while rest:
        for x in reversed(rest):
            parents = [y for y in rest if required[x, y]]
            if len(parents) <= max_parents and not forbidden[np.ix_(parents, parents)].any():
                break
        else:
            raise RequestError(
                "the required edges cannot be the arcs of a directed graph without a cycle: some variable "
                "would have more than max_parents parents, or two parents whose edge is forbidden"
            )
        arcs[x, parents] = True
        rest.remove(x)
    return arcs
