"""Two more engines, to show that nothing above ``counts`` knows which one it has."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.data import CategoricalData
from ibmap.engines import LocalCounts, Tables
from tests.reference.slices import slice_tables

Ints = NDArray[np.int64]
Cells = Counter[tuple[int, int]]


def data_of(codes: NDArray[np.integer], cardinalities: Sequence[int]) -> CategoricalData:
    """The table that the reference sees, as the library holds it."""
    names = tuple(f"v{i}" for i in range(len(codes)))
    return CategoricalData(codes, names, tuple(tuple(range(n)) for n in cardinalities))


def with_wide_columns(
    table: tuple[NDArray[np.int64], list[int]], *levels: int
) -> tuple[NDArray[np.int64], list[int]]:
    """Append columns of many levels, noisy functions of the first; some of their cells are missing."""
    codes, cards = table
    rng = np.random.default_rng(sum(levels))
    for n in levels:
        column = (codes[0] * 7 + rng.integers(n, size=codes.shape[1])) % n
        codes = np.vstack([codes, np.where(rng.random(codes.shape[1]) < 0.03, -1, column)])
        cards = [*cards, n]
    return codes, cards


def slices(tables: Tables, t: int) -> list[Cells]:
    """Table t as one counter for each slice, in order."""
    out: list[Cells] = []
    for k, x, y, count in tables.cells[:, tables.start[t] : tables.start[t + 1]].T.tolist():
        if k == len(out):
            out.append(Counter())
        assert k == len(out) - 1, "slices are numbered from 0 without gaps"
        assert (x, y) not in out[k]
        out[k][x, y] = count
    return out


class PlainCounts:
    """The engine in memory, which keeps its bits to itself."""

    packed = None

    def __init__(self, data: CategoricalData) -> None:
        self._inner = LocalCounts(data)
        self.n_rows, self.cardinalities = data.n_rows, data.cardinalities

    def fixed(self, x: int, ys: Ints, given: Ints) -> Tables:
        return self._inner.fixed(x, ys, given)

    def round_robin(self, x: int, members: Ints) -> Tables:
        return self._inner.round_robin(x, members)

    def all_subsets(
        self, x: int, y: int, pool: Ints, max_size: int | None = None
    ) -> Iterator[tuple[Ints, Tables]]:
        return self._inner.all_subsets(x, y, pool, max_size)


class PartitionedCounts:
    """Rows in several places: each place counts its own, by hand, and the counts are added."""

    packed = None

    def __init__(self, data: CategoricalData, n_parts: int = 2) -> None:
        self.n_rows, self.cardinalities = data.n_rows, data.cardinalities
        self._parts = [data.codes[:, part::n_parts] for part in range(n_parts)]

    def fixed(self, x: int, ys: ArrayLike, given: ArrayLike) -> Tables:
        return self._merged(x, [(y, tuple(np.asarray(given).tolist())) for y in np.asarray(ys).tolist()])

    def round_robin(self, x: int, members: ArrayLike) -> Tables:
        pool = np.asarray(members).tolist()
        return self._merged(x, [(y, tuple(z for z in pool if z != y)) for y in pool])

    def all_subsets(
        self, x: int, y: int, pool: ArrayLike, max_size: int | None = None
    ) -> Iterator[tuple[Ints, Tables]]:
        members = np.asarray(pool).tolist()
        for size in range((len(members) if max_size is None else min(max_size, len(members))) + 1):
            for subset in combinations(members, size):
                yield np.array([subset], np.int64).reshape(1, size), self._merged(x, [(y, subset)])

    def _merged(self, x: int, questions: list[tuple[int, tuple[int, ...]]]) -> Tables:
        start, cells = [0], []
        for y, given in questions:
            added: dict[tuple[int, ...], Cells] = {}
            for part in self._parts:
                for configuration, counter in slice_tables(part, x, y, given).items():
                    added.setdefault(configuration, Counter()).update(counter)
            cells += [
                (k, i, j, count)
                for k, configuration in enumerate(sorted(added))
                for (i, j), count in sorted(added[configuration].items())
            ]
            start.append(len(cells))
        possible = [np.log(self.cardinalities[list(given)]).sum() for _, given in questions]
        ys = np.array([y for y, _ in questions], np.int64)
        table = np.array(cells, np.int64).reshape(-1, 4).T.copy()
        return Tables(x, ys, np.array(possible), np.array(start, np.int64), table)
