"""Learning from a table whose columns stand in an order made from their contents, copies merged; and back.

Ties between edges, and rounding, would otherwise be decided by where a column stands. Columns that are equal
up to their labels are learned as one: data cannot tell whose edges are whose, so each gets the edges of the
one, and the posterior is shared out among them. Where more than four pairs would share an edge it is not
drawn: nearly all would be false (200 coins of eight neighbours, 100 rows, 33 copies of one: 1355 errors
instead of 880). On the networks of ``benchmarks/orders.py`` it is calibrated: of 413 pairs that share .3 to
.7, as many are edges as that says. In a table of few rows columns may be the same by chance: how sure it is
that copies are joined at all is judged by the evidence of one about the other.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, Self

import numpy as np

from ibmap._text import counted, first_few, listed
from ibmap._types import Floats, Ints
from ibmap.criteria import Score
from ibmap.data import Schema
from ibmap.engines.arrangement import Arrangement
from ibmap.engines.engine import Engine
from ibmap.engines.rows import no_lists
from ibmap.graph import Graph
from ibmap.independence.base import log_one_minus_exp
from ibmap.results.edges import EdgeTable
from ibmap.results.learned import Learned, constant_of

Pairs = Iterable[tuple[int, int]]
Names = tuple[str, str]
Rival = tuple[str, str, float]
SHARED = 4  #: pairs that share an edge, at most; it is drawn between none of more, as they are rarely edges
LEAST = 1e-300
DIGITS = 6  #: of log odds


@dataclass(frozen=True, eq=False)
class ArrangedTable:
    """A table in the order of its contents, and the way back.

    Attributes
    ----------
    engine : Engine
        The arranged table.
    schema : Schema
        Of the table as it was.
    arrangement : Arrangement
        Which columns went where.
    joined : ndarray of float or None
        For each place, how probable it is that copies there are joined at all; None if that is certain.
    """

    engine: Engine
    schema: Schema
    arrangement: Arrangement
    joined: Floats | None = None

    @cached_property
    def place(self) -> Ints:
        """The place of every column of the table as it was."""
        places = self.arrangement.places
        return np.array([places[v] for v in range(self.schema.n_variables)], np.int64)

    @cached_property
    def members(self) -> list[list[int]]:
        """The columns that stand at each place: one, or several copies."""
        out: list[list[int]] = [[] for _ in self.arrangement.columns]
        for v, k in enumerate(self.place.tolist()):
            out[k].append(v)
        return out

    @cached_property
    def copies(self) -> tuple[tuple[str, ...], ...]:
        """Names of columns that are the same in all rows."""
        groups = sorted(sorted(group) for group in self.arrangement.copies)
        return tuple(tuple(self.schema.names[v] for v in group) for group in groups)

    # What a learner is told

    def required(self, pairs: Pairs) -> list[Names]:
        """Return edges between the columns that stand for those that are meant; copies are joined anyway."""
        found = dict.fromkeys(self._there(i, j) for i, j in pairs)
        return [(x, y) for x, y in found if x != y]

    def forbidden(self, pairs: Pairs) -> list[Names]:
        """Return the pairs of columns of which all copies are forbidden; single ones are left out later."""
        every = set(pairs)
        found = dict.fromkeys((int(self.place[i]), int(self.place[j])) for i, j in sorted(every))
        names = self.engine.schema.names
        return [
            (names[a], names[b])
            for a, b in found
            if a != b
            and all((min(one), max(one)) in every for one in product(self.members[a], self.members[b]))
        ]

    def start(self, graph: Graph | None) -> Graph | None:
        """Return a graph to start from."""
        if graph is None:
            return None
        edges = {self._there(*self.schema.indices(edge)) for edge in graph.edges}
        return Graph(self.engine.schema.names, sorted((x, y) for x, y in edges if x != y))

    def names_as_before(self, graph: Graph) -> Graph:
        """Return the graph of a search that was interrupted, in the order of the table as it was."""
        return Graph.from_pairs(self._edges(graph.pairs, ()), self.schema.names)

    def prior(self, prior: Any) -> Any:
        """Return a prior by pair in the new order; of copies the one that expects most of an edge."""
        values = np.asarray(prior) if prior is not None else None
        n = self.schema.n_variables
        if values is None or values.shape != (n, n) or values.dtype.kind not in "fiu":
            return prior
        out = np.full((len(self.members),) * 2, np.inf)
        np.fmin.at(out, (self.place[:, None], self.place[None, :]), values.astype(float))
        out[np.isinf(out)] = np.nan
        if not self.copies:
            out = values[np.ix_(self.arrangement.columns, self.arrangement.columns)]
        return out

    def score(self, score: Score | None) -> Score | None:
        """Return a score whose prior by pair is in the new order."""
        if score is None or score.prior_by_pair is None:
            return score
        return score.with_options(prior=self.prior(score.prior_by_pair))

    def _there(self, i: int, j: int) -> Names:
        names = self.engine.schema.names
        return names[self.place[i]], names[self.place[j]]

    # What it has learned

    def judged(self, whole: Engine, score: Score) -> Self:
        """Return the table with what a score of evidence says of its copies; ``whole`` has them all.

        It is the evidence of a copy with nothing given. What comes of it is rounded, as labels of copies may
        stand in other orders. (Given its neighbours a true copy has little to add: of 17 pairs of copies in
        known networks, which all are edges, five would have less than .2.)
        """
        twins = [(k, copies[1]) for k, copies in enumerate(self.members) if len(copies) > 1]
        if not twins:
            return self
        places, columns = np.array(twins, np.int64).T
        plain = tuple(np.arange(len(self.schema.levels[v])) for v in columns.tolist())
        both = Arrangement(np.append(self.arrangement.columns, columns), self.arrangement.levels + plain, ())
        bound, n = score.bind(whole.arranged(both), None), len(self.members)
        nothing, asked = no_lists(len(twins)), [[n + q] for q in range(len(twins))]
        rows, joined = bound.rows(places, nothing, floor=np.inf, also=asked), np.ones(n)
        joined[places] = 1 / (1 + np.exp(-np.round(rows.t, DIGITS)))
        return replace(self, joined=joined)

    @cached_property
    def _inside(self) -> Floats:
        """The probability of an edge between two of the copies at each place."""
        shares = among_copies(np.array([len(copies) for copies in self.members]))
        return np.asarray(shares if self.joined is None else shares * self.joined)

    def restored(
        self,
        learned: Learned,
        required: Sequence[Names],
        forbidden: Sequence[Names],
        score: Score | None = None,
    ) -> Learned:
        """Return what was learned in the order of the table as it was; copies share edges and posteriors.

        ``required``, ``forbidden`` and ``score`` are what was asked for.
        """
        must, must_not = (
            {tuple(sorted(self.schema.indices(pair))) for pair in pairs} for pairs in (required, forbidden)
        )
        edges = self._edges(learned.graph.pairs, must_not, must)  # type: ignore[arg-type]
        graph = Graph.from_pairs(edges, self.schema.names)
        provenance = learned.provenance
        if score is not None and score.prior_by_pair is not None:
            known = provenance.score.with_options(prior=score.prior_by_pair)  # type: ignore[union-attr]
            provenance = replace(provenance, score=known)
        restored = replace(
            learned,
            graph=graph,
            provenance=provenance,
            pair_scores=self._pair_scores(learned, graph),
            known_edges=self._known_edges(learned, graph),
            arcs=None if learned.arcs is None else tuple(self._arcs(learned)),
            history=tuple(self._steps(learned)),
            required=tuple(required),
            forbidden=tuple(forbidden),
            constant=constant_of(self.schema),
            copies=self.copies,
            warnings=(*learned.warnings, *of_copies(self.copies, self.schema.n_rows)),
        )
        return replace(restored, rivals=self._rivals(learned, restored))

    def _edges(self, pairs: Ints, must_not: Iterable[tuple[int, ...]], must: Pairs = ()) -> Ints:
        """Return the edges of all copies; those that too many would share are not drawn."""
        found = {
            (min(i, j), max(i, j))
            for a, b in pairs.tolist()
            for i, j in product(self.members[a], self.members[b])
            if len(self.members[a]) * len(self.members[b]) <= SHARED
        }
        small = [self.members[k] for k in np.flatnonzero(self._inside > 0.5).tolist()]
        found |= {pair for group in small for pair in combinations(group, 2)} | set(must)
        return np.array(sorted(found - set(must_not)), np.int64).reshape(-1, 2)

    @cached_property
    def _sizes(self) -> Floats:
        return np.array([len(self.members[k]) for k in self.place.tolist()], float)

    def _pair_scores(self, learned: Learned, graph: Graph) -> Floats | None:
        """Return σ, shared out: p becomes p / (copies at one end × copies at the other)."""
        if learned.pair_scores is None:
            return None
        sigma = learned.pair_scores[np.ix_(self.place, self.place)]
        if self.copies:
            mine = learned.graph.adjacency[np.ix_(self.place, self.place)]
            shared = np.outer(self._sizes, self._sizes)
            p = np.exp(np.where(mine, sigma, log_one_minus_exp(np.minimum(sigma, 0.0)))) / shared
            alike = self.place[:, None] == self.place
            p[alike] = np.broadcast_to(self._inside[self.place], p.shape)[alike]
            with np.errstate(divide="ignore"):
                both = np.log(np.maximum(np.where(graph.adjacency, p, 1 - p), LEAST))
            sigma = np.where(alike | (shared > 1), both, sigma)
            np.fill_diagonal(sigma, 0.0)
        sigma = np.ascontiguousarray(sigma)
        sigma.flags.writeable = False
        return sigma

    def _known_edges(self, learned: Learned, graph: Graph) -> EdgeTable | None:
        if learned.known_edges is None:
            return None
        known = learned.known_edges
        rows = []
        for (a, b), logs in zip(known.pairs.tolist(), known.log_posteriors.tolist(), strict=True):
            share = np.log(len(self.members[a]) * len(self.members[b]))
            for i, j in product(self.members[a], self.members[b]):
                both = [log - share for log in logs]
                rows.append((i, j, *both) if i < j else (j, i, *both[::-1]))
        logs_inside = np.log(np.maximum(self._inside, LEAST)).tolist()
        for group, inside in zip(self.members, logs_inside, strict=True):
            rows += [(i, j, inside, inside) for i, j in combinations(group, 2)]
        is_edge = [graph.has_edge(graph.names[i], graph.names[j]) for i, j, *_ in rows]
        order = sorted(range(len(rows)), key=lambda k: (not is_edge[k], -sum(rows[k][2:]), rows[k][:2]))
        pairs = np.array([rows[k][:2] for k in order], np.int64).reshape(-1, 2)
        logs = np.array([rows[k][2:] for k in order], float).reshape(-1, 2)
        return EdgeTable(graph.names, pairs, graph.n_edges, logs)

    def _arcs(self, learned: Learned) -> Iterator[tuple[str, str]]:
        index, names = learned.graph.index, self.schema.names
        found = set()
        for parent, child in learned.arcs or ():
            ends = list(product(self.members[index(parent)], self.members[index(child)]))
            found |= set(ends if len(ends) <= SHARED else ends[:1])
        for i, j in sorted(found):
            yield names[i], names[j]

    def _steps(self, learned: Learned) -> Iterator[Any]:
        """Yield the history; of a step without a direction the first column comes first."""
        for step in learned.history:
            turned = learned.arcs is None and self.schema.index(step.x) > self.schema.index(step.y)
            yield step._replace(x=step.y, y=step.x) if turned else step

    def _rivals(self, learned: Learned, restored: Learned) -> dict[tuple[str, str], tuple[Rival, ...]] | None:
        """Return who could stand in for each edge: also the copies of its ends."""
        if learned.rivals is None and not self.copies:
            return None
        names, there = self.schema.names, self.engine.schema.names
        posteriors = restored.posteriors or [0.0] * restored.graph.n_edges
        out = {}
        for (i, j), p in zip(restored.graph.pairs.tolist(), posteriors, strict=True):
            a, b = sorted((int(self.place[i]), int(self.place[j])))
            ends = {there[self.place[i]]: names[i], there[self.place[j]]: names[j]}
            of_ends = (learned.rivals or {}).get((there[a], there[b]), ()) if a != b else ()
            found = [
                (ends.get(stays, stays), ends.get(comes, comes), share) for stays, comes, share in of_ends
            ]
            share = min(p / max(1 - p, 1e-12), 1.0)
            if a != b:
                found += [(names[j], names[v], share) for v in self.members[self.place[i]] if v != i]
                found += [(names[i], names[v], share) for v in self.members[self.place[j]] if v != j]
            out[names[i], names[j]] = tuple(found)
        return out

    def contracted(self, learned: Learned) -> Learned:
        """Return what was learned from the table as it was, for the arranged one: a copy stands for all."""
        index, names = self.schema.index, self.engine.schema.names

        def there(pairs: Iterable[Names]) -> list[Names]:
            found = dict.fromkeys(self._there(index(x), index(y)) for x, y in pairs)
            return [(x, y) for x, y in found if x != y]

        score: Any = learned.provenance.score
        return replace(
            learned,
            graph=Graph(names, there(learned.graph.edges)),
            provenance=replace(learned.provenance, score=self.score(score)),
            arcs=None if learned.arcs is None else tuple(there(learned.arcs)),
            history=tuple(
                step._replace(x=names[self.place[index(step.x)]], y=names[self.place[index(step.y)]])
                for step in learned.history
            ),
            required=tuple(there(learned.required)),
            forbidden=tuple(there(learned.forbidden)),
            pair_scores=None,
            known_edges=None,
            effects=None,
        )


def among_copies(size: Any) -> Any:
    """Return the probability of an edge between two of so many copies: a tree joins them all.

    Examples
    --------
    >>> among_copies(np.array([2, 4])).tolist()
    [1.0, 0.5]
    """
    return 2.0 / np.maximum(size, 2)


def arranged_table(engine: Engine, first: Sequence[int] = ()) -> ArrangedTable:
    """Return a table in the order of its contents."""
    arrangement = engine.arrangement(first)
    return ArrangedTable(engine.arranged(arrangement), engine.schema, arrangement)


def as_it_is(engine: Engine) -> ArrangedTable:
    """Return a table in its own order, with its copies."""
    return ArrangedTable(engine, engine.schema, Arrangement(np.arange(engine.schema.n_variables), ()))


def of_copies(copies: Sequence[Sequence[str]], n_rows: int, sentence: bool = False) -> tuple[str, ...]:
    """Return the warning about columns that are the same in all rows, or a sentence.

    Examples
    --------
    >>> print(*of_copies([("a", "b")], 200))
    a and b are the same in all 200 rows: edges of either are edges of both, and share their posteriors
    """
    if not copies:
        return ()
    groups, whose = first_few([" = ".join(group) for group in copies]), "one are edges of its copies"
    if len(copies) == 1:
        groups = listed(copies[0])
        whose = "either are edges of both" if len(copies[0]) == 2 else "one are edges of all"
    same = (
        f"{groups} are the same in all {counted(n_rows, 'row')}: edges of {whose}, and share their posteriors"
    )
    return (f"{same}." if sentence else same,)
