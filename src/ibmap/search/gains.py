"""A graph, the rows of evidence given it, and what flipping each pair would gain."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.scores import LocalScore
from ibmap.scores.local_score import credibility, in_batches
from ibmap.search.rivals import NOBODY, WithoutEdge, blankets_of, compare, log_sum_outside
from ibmap.search.running import TIE, Flip, Pairs

AT_ONCE = 256  #: rows that are looked at together


class AnyGains(ABC):
    """What steepest ascent and rounds share: they trust t, so the score must be additive.

    The gain of flipping (x, y) is ±(t_xy + t_yx) / 2: minus for an edge that is there. Subclasses keep rows
    of evidence: :class:`Gains` in a matrix, ``WideGains`` what is likely in them.
    """

    score: LocalScore
    finished: bool
    n_tests: int
    partner: Ints  #: with whom flipping gains most, ties to the smallest
    best: Floats  #: and how much
    rows_to_keep: int = 0  #: for later, at most

    @abstractmethod
    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        """Score the graph with these edges; locked pairs are never flipped."""

    @property
    @abstractmethod
    def total(self) -> float:
        """The score of the graph as it stands."""

    @property
    @abstractmethod
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""

    @property
    @abstractmethod
    def pair_scores(self) -> Floats | None:
        """σ_xy; None if there are too many pairs."""

    @abstractmethod
    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place."""

    @abstractmethod
    def row_of(self, x: int) -> Any:
        """Return the row of x as it stands."""

    @abstractmethod
    def put_row(self, x: int, row: Any) -> None:
        """Make a row the current one."""

    @abstractmethod
    def blankets(self, xs: Ints) -> list[Ints]:
        """Neighbours of some x."""

    @abstractmethod
    def is_edge(self, x: int, y: int) -> bool:
        """Whether two variables are adjacent."""

    @abstractmethod
    def turn(self, x: int, y: int) -> None:
        """Flip a pair, and score nothing."""

    @abstractmethod
    def close(self, pairs: Pairs) -> None:
        """Let pairs not be flipped any more."""

    @abstractmethod
    def reopen(self) -> None:
        """Let all pairs be flipped again, but those that were locked from the start."""

    @abstractmethod
    def gain(self, x: int, y: int) -> float:
        """What flipping one pair would gain."""

    @abstractmethod
    def gains_of(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """What flipping each of some pairs would gain."""

    @abstractmethod
    def choose(self, xs: Iterable[int]) -> None:
        """Find with whom flipping gains most, for some x."""

    @abstractmethod
    def score_rows(self, xs: Iterable[int], wanted: Mapping[int, Iterable[int]] | None = None) -> None:
        """Score the rows of some x in the graph as it stands; ``wanted`` ys must be known in them."""

    @abstractmethod
    def posterior_degree(self) -> float:
        """Return the mean posterior number of neighbours."""

    @abstractmethod
    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of edges: of all alike, or of each."""

    def revise(self) -> bool:
        """Let the score learn its prior from the rows as they stand; tell whether it has changed."""
        more = self.score.expecting(self.posterior_degree) if hasattr(self.score, "expecting") else None
        if more is None:
            return False
        self.add_to_evidence(more)
        self.choose(range(self.score.n))
        return True

    def flip(self, pairs: Sequence[tuple[int, int]]) -> list[Flip]:
        """Flip pairs, and score the rows of their ends: one trip. Without a common end their gains add up."""
        if not pairs:
            return []
        promised = self.gains_of(pairs)
        before, touched = self.total, [v for pair in pairs for v in pair]
        self.turn_and_score(pairs, touched)
        self.n_tests += len(touched) * (self.score.n - 1)
        scores = (before + np.cumsum(promised)).tolist()
        scores[-1] = self.total
        return [
            Flip(x, y, self.is_edge(x, y), gain, score)
            for (x, y), gain, score in zip(pairs, promised, scores, strict=True)
        ]

    @abstractmethod
    def turn_and_score(self, pairs: Sequence[tuple[int, int]], touched: Sequence[int]) -> None:
        """Flip pairs, score the rows of their ends, and let all choose again whose choice may be another."""

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint needs beside the flips."""
        prior = {"prior": self.score.learned_prior} if hasattr(self.score, "learned_prior") else {}
        return {"n_tests": self.n_tests, **prior}

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Do the flips of a search that was saved, in any order: rows depend on blankets alone."""
        for x, y in flips:
            self.turn(x, y)
        touched: Iterable[int] = [v for pair in flips for v in pair]
        if hasattr(self.score, "learned_prior") and self.score.learned_prior != saved.get("prior"):
            self.score.learned_prior = saved["prior"]
            touched = range(self.score.n)
        self.score_rows(touched)
        self.choose(range(self.score.n))
        self.n_tests = int(saved["n_tests"])


class Gains(AnyGains):
    """A graph, and the matrix of its evidence."""

    def __init__(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> None:
        n, edges = score.n, list(edges)
        self.score, self.finished = score, False
        self.adjacency: Bools = np.zeros((n, n), bool)
        self.closed: Bools = np.eye(n, dtype=bool)  # pairs that may not be flipped
        for mask, pairs in ((self.adjacency, edges), (self.closed, locked)):
            for x, y in pairs:
                mask[x, y] = mask[y, x] = True
        self._locked = self.closed.copy()
        rows = in_batches(score, range(n), blankets_of(self.adjacency)) if edges else score.empty()
        self.evidence, self.values = rows[:2]
        self.n_tests = n * (n - 1)
        self.partner, self.best = np.zeros(n, np.int64), np.empty(n)
        self.choose(range(n))

    def blanket(self, x: int) -> Ints:
        """Neighbours of x in the graph as it stands."""
        return np.flatnonzero(self.adjacency[x])

    def is_edge(self, x: int, y: int) -> bool:
        """Whether two variables are adjacent."""
        return bool(self.adjacency[x, y])

    def turn(self, x: int, y: int) -> None:
        """Flip a pair, and score nothing."""
        self.adjacency[x, y] = self.adjacency[y, x] = not self.adjacency[x, y]

    def close(self, pairs: Pairs) -> None:
        """Let pairs not be flipped any more."""
        for x, y in pairs:
            self.closed[x, y] = self.closed[y, x] = True

    def reopen(self) -> None:
        """Let all pairs be flipped again, but those that were locked from the start."""
        self.closed = self._locked.copy()

    def blankets(self, xs: Ints) -> list[Ints]:
        """Neighbours of some x."""
        return blankets_of(self.adjacency[xs])

    def evidence_of(self, xs: Ints, ys: Ints) -> Floats:
        """Return t_xy of some pairs."""
        return np.asarray(self.evidence[xs, ys])

    def log_sums(self) -> Floats:
        """Return log(1 + Σ_z e^{S_z}) over the variables outside the blanket of every x."""
        return log_sum_outside(self.adjacency, self.evidence)

    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place."""
        found = compare(self.score, self.adjacency, *np.nonzero(self.adjacency))
        return NOBODY.and_more([each for each, _ in found])

    def gains(self, xs: Sequence[int]) -> Floats:
        """What flipping each pair with some x would gain, a row for each; -inf where it is not allowed."""
        gains = self.evidence[xs]
        gains += self.evidence[:, xs].T
        gains *= np.where(self.adjacency[xs], -0.5, 0.5)
        np.copyto(gains, -np.inf, where=self.closed[xs])
        return gains

    def gain(self, x: int, y: int) -> float:
        """What flipping one pair would gain."""
        mean = float(self.evidence[x, y] + self.evidence[y, x]) / 2
        return -mean if self.adjacency[x, y] else mean

    def gains_of(self, pairs: Sequence[tuple[int, int]]) -> list[float]:
        """What flipping each of some pairs would gain."""
        x, y = np.array(pairs, np.int64).reshape(-1, 2).T
        mean = (self.evidence[x, y] + self.evidence[y, x]) / 2
        gains: list[float] = np.where(self.adjacency[x, y], -mean, mean).tolist()
        return gains

    def choose(self, xs: Iterable[int]) -> None:
        """Find with whom flipping gains most, for some x."""
        xs = list(xs)
        for first in range(0, len(xs), AT_ONCE):
            some = xs[first : first + AT_ONCE]
            self._note_best(some, self.gains(some))

    def choose_again(self, touched: Sequence[int]) -> None:
        """Let all choose again whose choice may be another one, as the rows of ``touched`` are new."""
        rows = self.gains(touched)
        bar = self.best - TIE * np.maximum(1.0, np.abs(self.best))
        again = np.isin(self.partner, touched) | (rows.max(axis=0) >= bar)
        again[touched] = False
        self._note_best(touched, rows)
        self.choose(np.flatnonzero(again).tolist())

    def _note_best(self, xs: Sequence[int], gains: Floats) -> None:
        """Note with whom flipping gains most, given the gains of some x."""
        self.partner[xs] = found = first_best(gains)
        self.best[xs] = gains[np.arange(len(xs)), found]

    def turn_and_score(self, pairs: Sequence[tuple[int, int]], touched: Sequence[int]) -> None:
        """Flip pairs, score the rows of their ends, and let all choose again whose choice may be another."""
        for x, y in pairs:
            self.turn(x, y)
        self.score_rows(touched)
        self.choose_again(touched)

    def row_of(self, x: int) -> tuple[Floats, float]:
        """Return the row of x as it stands."""
        return self.evidence[x].copy(), float(self.values[x])

    def put_row(self, x: int, row: tuple[Floats, float]) -> None:
        """Make a row the current one."""
        self.evidence[x], self.values[x] = row

    def score_rows(self, xs: Iterable[int], wanted: Mapping[int, Iterable[int]] | None = None) -> None:
        """Score the rows of some x in the graph as it stands; all ys are known in them."""
        xs = list(dict.fromkeys(xs))
        rows = in_batches(self.score, xs, blankets_of(self.adjacency[xs]))
        self.evidence[xs], self.values[xs] = rows[:2]

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return float(self.values.sum())

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        return np.argwhere(np.triu(self.adjacency))

    @property
    def pair_scores(self) -> Floats:
        """σ_xy: the log posterior of what the graph asserts about x and y, seen from x."""
        n = self.score.n
        return credibility(self.evidence, range(n), blankets_of(self.adjacency))

    def posterior_degree(self) -> float:
        """Return the mean posterior number of neighbours."""
        odds = (self.evidence + self.evidence.T) / 2
        posterior = 1 / (1 + np.exp(-np.clip(odds, -700, 700)))
        return float(posterior.sum() - posterior.trace()) / self.score.n

    def add_to_evidence(self, more: Floats) -> None:
        """Add to the prior log odds of edges: of all alike, or of each."""
        self.evidence += more
        np.fill_diagonal(self.evidence, 0.0)
        self.values += (more * self.adjacency).sum(axis=1) / 2


def first_best(values: Floats) -> Ints:
    """Return the first position whose value is the largest, ties to nine digits aside, of every row.

    Examples
    --------
    >>> first_best(np.array([[1.0, 3.0 - 1e-12, 3.0], [4.0, 2.0, 0.0]]))
    array([1, 0])
    """
    best = values.max(axis=-1, keepdims=True)
    return np.asarray(np.argmax(values >= best - TIE * np.maximum(1.0, np.abs(best)), axis=-1))
