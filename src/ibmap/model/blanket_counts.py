"""What the data say about each variable given its neighbours, counted by an engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Questions, ask
from ibmap.graph import Graph
from ibmap.model.layout import Layout

NONE = np.empty(0, np.int64)
AT_ONCE = 256  #: variables that are counted in one trip to the engine


@dataclass(frozen=True, eq=False)
class BlanketCounts:
    """The counts of every variable in its slices: the observed configurations of its neighbours.

    Attributes
    ----------
    layout : Layout
        The graph, and where its parameters are.
    slice_start : ndarray of int
        First slice of each variable, and the end.
    keys : ndarray of int
        The levels of the neighbours, in the order of the graph, slice after slice.
    counts : ndarray of int
        Rows with each level of the variable, slice after slice.
    """

    layout: Layout
    slice_start: Ints
    keys: Ints
    counts: Ints

    def of_variable(self, v: int) -> tuple[Ints, Ints]:
        """Return the keys (slices, neighbours) and the counts (slices, levels) of a variable."""
        n_slices, (key, count) = int(self._n_slices[v]), (part[v : v + 2] for part in self._starts)
        return (
            self.keys[key[0] : key[1]].reshape(n_slices, -1),
            self.counts[count[0] : count[1]].reshape(n_slices, -1),
        )

    @cached_property
    def by_level(self) -> Ints:
        """Rows with each level of each variable, where the fields are in the layout."""
        levels = self.layout.levels
        first = np.repeat(self.layout.field_start[:-1], self._n_slices * levels)
        level = np.arange(len(self.counts)) - np.repeat(self._starts[1][:-1], self._n_slices * levels)
        level %= np.repeat(levels, self._n_slices * levels)
        found = np.bincount(first + level, self.counts, int(self.layout.field_start[-1]))
        return found.astype(np.int64)  # sums of rows are whole in floats, too

    @cached_property
    def shares(self) -> Floats:
        """The share of each level of each variable, none of them zero, where the fields are in the layout."""
        seen, start = self.by_level + 0.5, self.layout.field_start[:-1]
        return np.asarray(seen / np.repeat(np.add.reduceat(seen, start), self.layout.levels))

    @cached_property
    def _n_slices(self) -> Ints:
        return np.diff(self.slice_start)

    @cached_property
    def _starts(self) -> tuple[Ints, Ints]:
        """Where the keys and the counts of each variable begin, and the end."""
        widths = np.diff(self.layout.end_start), self.layout.levels
        keys, counts = (np.concatenate([[0], np.cumsum(self._n_slices * width)]) for width in widths)
        return keys, counts


def blanket_counts(engine: Engine, layout: Layout) -> BlanketCounts:
    """Count every variable given its neighbours; rows that do not know one of them are left out.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> data = load({"a": [0, 0, 1, 1], "b": [0, 0, 0, 1]})
    >>> found = blanket_counts(as_engine(data), Layout(Graph("ab", [("a", "b")]), np.array([2, 2])))
    >>> [part.tolist() for part in found.of_variable(1)]
    [[[0], [1]], [[2, 0], [1, 1]]]
    """
    n, starts = len(layout.levels), layout.end_start
    n_slices, keys, counts = [NONE], [NONE], [NONE]
    for first in range(0, n, AT_ONCE):
        some = np.arange(first, min(first + AT_ONCE, n))
        given_start = starts[first : some[-1] + 2]
        given = layout.neighbours[given_start[0] : given_start[-1]]
        asked = Questions(some, NONE, np.zeros(len(some) + 1, np.int64), given, given_start - given_start[0])
        slices = ask(engine, asked).answered()[1]
        n_slices.append(np.diff(slices.start))
        keys.append(slices.keys)
        counts.append(_counts_of(layout.levels[some], n_slices[-1], slices.set_start, slices.sets))
    slice_start = np.cumsum(np.concatenate([[0], *n_slices]))
    return BlanketCounts(layout, slice_start, np.concatenate(keys), np.concatenate(counts))


def _counts_of(levels: Ints, n_slices: Ints, set_start: Ints, sets: Ints) -> Ints:
    """Return rows by level of every slice, from the sets of rows (slice, level, size) of every variable."""
    start = np.concatenate([[0], np.cumsum(n_slices * levels)])
    per_set = np.diff(set_start)
    k, level, size = sets
    found = np.zeros(start[-1], np.int64)
    found[np.repeat(start[:-1], per_set) + k * np.repeat(levels, per_set) + level] = size
    return found


def table_counts(engine: Engine, scopes: Sequence[tuple[int, ...]]) -> list[Ints]:
    """Return the table of counts of some sets of variables, a dimension for each; rows that know them all."""
    levels, found = np.asarray(engine.schema.cardinalities), []
    for first in range(0, len(scopes), AT_ONCE):
        some = [np.array(scope, np.int64) for scope in scopes[first : first + AT_ONCE]]
        answer = ask(engine, Questions.of([(int(scope[0]), NONE, scope[1:]) for scope in some]))
        sets = answer.answered()[1].sets
        for scope, part in zip(some, answer.one_by_one(), strict=True):
            k, level, size = sets[:, part.sets]
            counts = np.zeros(levels[scope], np.int64)
            counts[(level, *part.keys[k].T)] = size
            found.append(counts)
    return found


def level_counts(engine: Engine) -> list[Floats]:
    """Return how many rows have each level of each variable."""
    layout = Layout(Graph(engine.schema.names), engine.schema.cardinalities)
    return layout.fields(blanket_counts(engine, layout).by_level.astype(float))
