"""Searches that trust gains: steepest ascent, rounds, and rounds with swaps, each as its pseudo-code."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.criteria import LocalScore
from ibmap.engines.rows import credibility
from ibmap.search.running import TIE, Flip, Pairs, Search, require_additive
from ibmap.search.state import NOBODY, State, WithoutEdge

MOST_FLIPS = 3  #: of one pair: searches end even where approximations would let a pair flip for ever
SWEEPS = 20  #: over all edges, at most
TRIES = 30  #: swaps of a sweep, the most promising ones
TRIPLES = 1000  #: that are looked at, the most evident ones
JOINTS = 100  #: of these that are not cliques yet and are compared at once
SCAN = 0.05  #: seconds that finding them may take, or as long as the search took:
OF_TESTS = 6e-8  #: seconds for a pair that was scored


class Swap(NamedTuple):
    """The edge (x, y) gives way to (x, z)."""

    promised: float  #: by how much the score should rise
    x: int
    y: int
    z: int


class Progress:
    """What a search remembers beside its graph; a checkpoint holds it."""

    def __init__(self) -> None:
        self.flipped: Counter[tuple[int, int]] = Counter()  #: how often pairs have flipped in rounds
        self.sweeps = 0
        self.seen: list[Ints] | None = None  #: the blankets at the last sweep
        self.left: list[Swap] = []  #: swaps that it did not try
        self.triples: Ints | None = None  #: that may be joined, once they have been looked for
        self.known = NOBODY  #: every edge with its rivals, at the last sweep
        self.is_compared = False  #: whether that is about the graph as it stands


def steepest(state: State, progress: Progress) -> Iterator[list[Flip]]:
    """Flip the pair that gains most, until no flip gains; ties go to the smallest (i, j)."""
    while True:
        best = state.native.best_choice()
        if len(best):
            count(state, progress, best)
            yield state.flip(best)
        elif not state.learn_prior():
            return


def rounds(state: State, progress: Progress) -> Iterator[list[Flip]]:
    """Flip every pair whose gain is positive and the largest at both of its ends; score; repeat.

    No two pairs of a round have a common end, so the gains of a round add up, and its rows are one batch.
    """
    while True:
        pairs = state.native.mutual_choices()
        if len(pairs):
            count(state, progress, pairs)
            yield state.flip(pairs)
        elif not state.learn_prior():
            return


def swaps(state: State, progress: Progress) -> Iterator[list[Flip]]:
    """Rounds to the end; then every edge is compared with its rivals, and the rounds go on.

    A rival of the edge (x, y), seen from x, is a variable z that would be adjacent to x if y were not. It may
    be hidden by y, which came first: no single flip finds it, as y and z are nearly the same. If no swap
    raises the score, triples that are informative only together get edges.
    """
    while True:
        yield from rounds(state, progress)
        done: list[Flip] = []
        if progress.sweeps < SWEEPS:
            progress.sweeps += 1
            done = sweep(state, progress)
        done = done or join(state, progress)
        if not done:
            return
        progress.is_compared = False
        yield done


def count(state: State, progress: Progress, pairs: Ints) -> None:
    """Count flips; a pair that has flipped often enough is closed."""
    found = [(x, y) for x, y in pairs.tolist()]
    progress.flipped.update(found)
    often = [pair for pair in found if progress.flipped[pair] >= MOST_FLIPS]
    if often:
        state.native.close(*np.array(often, np.int64).T.copy())


def sweep(state: State, progress: Progress) -> list[Flip]:
    """Try the most promising swaps, none with a variable that has changed since; keep what pays."""
    flips: list[Flip] = []
    changed: set[int] = set()
    best = sorted(candidates(state, progress), key=lambda swap: (-swap.promised, swap.x, swap.y))
    progress.left = best[TRIES:]
    for swap in best[:TRIES]:
        if not changed.isdisjoint(swap[1:]):
            progress.left.append(swap)
        elif done := try_swap(state, progress, swap):
            flips += done
            changed.update(v for flip in done for v in flip[:2])
    return flips


def candidates(state: State, progress: Progress) -> list[Swap]:
    """Return, for both ends of every edge, the best rival, if the score should rise.

    What x says depends on its blanket alone; while that is the same, only what was not tried is left.
    """
    n, lists = state.score.n, state.blankets(np.arange(state.score.n))
    blankets, same = lists.one_by_one(), np.zeros(state.score.n, bool)
    if progress.seen is not None:
        same[:] = [np.array_equal(*pair) for pair in zip(progress.seen, blankets, strict=True)]
    known = progress.known.of(same[progress.known.x])
    x, y = np.repeat(np.arange(n), np.diff(lists.start)), lists.members
    unknown = ~np.isin(x * n + y, known.x * n + known.y)
    new = state.without_edges(x[unknown], y[unknown])
    fresh = new.of(~same[new.x])  # others were known before a search was stopped
    state.n_tests += len(fresh.x) * (n - 1)
    fresh = fresh.of(fresh.promised > TIE)
    found = [swap for swap in progress.left if same[swap.x]]
    found += map(Swap, fresh.promised.tolist(), fresh.x.tolist(), fresh.y.tolist(), fresh.z.tolist())
    progress.seen, progress.known, progress.is_compared = blankets, known.and_more([new]), True
    return found


def join(state: State, progress: Progress) -> list[Flip]:
    """Make cliques of triples that say something only together, none with a variable that has changed since.

    No single flip finds them: of an exclusive or, two variables say nothing about each other.
    """
    if progress.triples is None:
        seconds = max(SCAN, OF_TESTS * state.n_tests)
        progress.triples = state.score.triples(TRIPLES, seconds)
    flips: list[Flip] = []
    changed: set[int] = set()
    promising, others = joints(state, progress.triples)
    later = []
    if promising and state.native.shift:
        state.refresh()
    for triple in promising:
        if not changed.isdisjoint(triple):
            later.append(triple)
        elif done := try_flips(state, progress, missing_edges(state, triple)):
            flips += done
            changed.update(v for flip in done for v in flip[:2])
    progress.triples = np.concatenate([np.array(later, np.int64).reshape(-1, 3), others])
    return flips


def joints(state: State, triples: Ints) -> tuple[list[list[int]], Ints]:
    """Return the triples that should gain if they were cliques, those that gain most first; and the others.

    Among the first of those that are no cliques and may become one; what does not gain now is forgotten.
    """
    some, others = np.split(triples[[is_open(state, triple) for triple in triples.tolist()]], [JOINTS])
    if not len(some):
        return [], others
    xs, owners = some.reshape(-1), np.repeat(some, 3, axis=0)
    both = zip(xs, state.blankets(xs).one_by_one(), owners, strict=True)
    wider = [np.setdiff1d(np.union1d(blanket, triple), x) for x, blanket, triple in both]
    values = state.score.rows_outside(xs, wider, floor=np.inf).value - state.native.values()[xs]
    state.n_tests += len(xs)
    gains = values.reshape(-1, 3).sum(axis=1)
    order = np.argsort(-gains, kind="stable")
    return some[order[gains[order] > TIE]].tolist(), others


def is_open(state: State, triple: list[int]) -> bool:
    """Whether a triple is no clique, and may become one."""
    missing = missing_edges(state, triple)
    return bool(missing) and state.locked.isdisjoint(missing)


def missing_edges(state: State, triple: list[int]) -> list[tuple[int, int]]:
    """Return the pairs of a triple, ascending, that are no edges."""
    pairs = list(combinations(triple, 2))
    there = state.native.is_edge(*np.array(pairs, np.int64).T.copy())
    return [pair for pair, is_edge in zip(pairs, there.tolist(), strict=True) if not is_edge]


def try_swap(state: State, progress: Progress, swap: Swap) -> list[Flip]:
    """Do a swap, and keep it if it pays."""
    return try_flips(state, progress, [(min(swap.x, v), max(swap.x, v)) for v in (swap.y, swap.z)])


def try_flips(state: State, progress: Progress, pairs: list[tuple[int, int]]) -> list[Flip]:
    """Do flips and the rounds that follow; take all of it back if the score has not risen."""
    before, flipped = state.total, progress.flipped
    state.native.begin_trial()
    progress.flipped = Counter()
    flips: list[Flip] = []
    for each in pairs:
        pair = np.array([each])
        count(state, progress, pair)
        flips += state.flip(pair)
    for more in rounds(state, progress):
        flips += more
    rises = state.total > before + TIE * max(1.0, abs(before))
    state.native.end_trial(not rises)
    if not rises:
        progress.flipped = flipped
    return flips if rises else []


class GainSearch:
    """A search that has begun: it advances step by step, and can be saved."""

    def __init__(self, steps: Any, score: LocalScore, edges: Pairs, locked: Pairs) -> None:
        self.state, self.progress, self.finished = State(score, edges, locked), Progress(), False
        self.score = score
        self._steps: Iterator[list[Flip]] = steps(self.state, self.progress)

    @property
    def n_tests(self) -> int:
        """Pairs that were scored so far."""
        return self.state.n_tests

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        return self.state.total

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        return self.state.pairs

    @property
    def pair_scores(self) -> Floats | None:
        """σ_xy: the log posterior of what the graph asserts; None if rows are not kept whole."""
        evidence = whole_evidence(self.state)
        if evidence is None:
            return None
        every = np.arange(self.score.n)
        return credibility(evidence, every.tolist(), self.state.blankets(every).one_by_one())

    def listed(self, wanted: int) -> tuple[Ints, Floats, Ints, Floats]:
        """Return the edges with σ_xy and σ_yx, and so the pairs without one that look most like edges."""
        state = self.state
        edges, absent = state.pairs, near_misses(state, wanted)
        return edges, _sigma(state, edges, 1.0), absent, _sigma(state, absent, -1.0)

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do steps until there are ``limit`` flips; a round or a sweep is never cut in two."""
        flips: list[Flip] = []
        while len(flips) < limit and not self.finished:
            more = next(self._steps, None)
            self.finished = more is None
            flips += more or []
        return flips

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint needs beside the flips."""
        progress = self.progress
        seen = [[x, int(y)] for x, ys in enumerate(progress.seen or ()) for y in ys if x < y]
        return {
            "n_tests": self.n_tests,
            "prior": list(self.score.prior),
            "flipped": [[x, y, times] for (x, y), times in progress.flipped.items()],
            "sweeps": progress.sweeps,
            "seen": seen,
            "left": [[*swap] for swap in progress.left],
            "triples": None if progress.triples is None else progress.triples.tolist(),
        }

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Do the flips of a search that was saved, and go on from there."""
        state, progress = self.state, self.progress
        progress.flipped = Counter({(int(x), int(y)): int(times) for x, y, times in saved["flipped"]})
        often = [pair for pair, times in progress.flipped.items() if times >= MOST_FLIPS]
        if often:
            state.native.close(*np.array(often, np.int64).T.copy())
        state.restore(flips, saved["prior"])
        progress.sweeps, state.n_tests = int(saved["sweeps"]), int(saved["n_tests"])
        if progress.sweeps:
            blankets: list[list[int]] = [[] for _ in range(state.score.n)]
            for x, y in saved["seen"]:
                blankets[x].append(y)
                blankets[y].append(x)
            progress.seen = [np.array(sorted(blanket), np.int64) for blanket in blankets]
            progress.left = [Swap(float(g), int(x), int(y), int(z)) for g, x, y, z in saved["left"]]
        if saved["triples"] is not None:
            progress.triples = np.array(saved["triples"], np.int64).reshape(-1, 3)

    def without_edges(self) -> WithoutEdge:
        """Compare both ends of every edge with the variables that could come in its place, by x and y."""
        if not self.progress.is_compared:
            n, lists = self.score.n, self.state.blankets(np.arange(self.score.n))
            ends = np.repeat(np.arange(n), np.diff(lists.start)), lists.members
            self.progress.known, self.progress.is_compared = self.state.without_edges(*ends), True
        return self.progress.known


def whole_evidence(state: State) -> Floats | None:
    """Return t_xy of all pairs, 0 for x itself; None if rows are not kept whole."""
    return state.native.matrix() if state.native.floor == -np.inf else None


def near_misses(state: State, wanted: int) -> Ints:
    """Return the pairs without an edge that look most like one; both their ends are known."""
    found = state.native.near_misses(wanted)
    ends = np.concatenate([found, found[:, ::-1]])
    unknown = ends[np.isnan(state.evidence(*ends.T))]
    if len(unknown):
        state.make_known(unknown)
    return found


def _sigma(state: State, pairs: Ints, sign: float) -> Floats:
    ends = state.evidence(*pairs.T), state.evidence(*pairs.T[::-1])
    return np.asarray(-np.logaddexp(0.0, -sign * np.stack(ends, axis=1)))


class SearchByGains(Search):
    """A search by gains, without options."""

    trusts_gains = True
    steps: Any

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> GainSearch:
        """Score the graph with these edges; locked pairs are never flipped."""
        require_additive(self, score)
        return GainSearch(type(self).steps, score, edges, locked)


class Steepest(SearchByGains):
    """Flip the pair that raises the score most."""

    name, steps = "steepest", staticmethod(steepest)


class Rounds(SearchByGains):
    """Flip at once every pair that is the best choice of both its ends."""

    name, steps = "rounds", staticmethod(rounds)


class Swaps(SearchByGains):
    """Rounds, then swaps: an edge gives way to a rival if that raises the score."""

    name, steps = "swaps", staticmethod(swaps)
