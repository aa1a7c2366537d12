"""Two more engines, to show that nothing above ``engines`` knows which one it has, or sees a row."""

import warnings
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.data import Schema, Table
from ibmap.engines import ENGINES as BY_NAME
from ibmap.engines import Engine, MemoryEngine, Questions, Tables, add_tables, ask
from ibmap.engines.gpu import GpuEngine
from ibmap.engines.memory import drawn_rows
from ibmap.errors import DataWarning

Ints = NDArray[np.int64]
Cells = Counter[tuple[int, int]]


def data_of(codes: NDArray[np.integer], cardinalities: Sequence[int]) -> Table:
    """The table that the reference sees, as the library holds it."""
    names = tuple(f"v{i}" for i in range(len(codes)))
    return Table(codes, names, tuple(tuple(range(n)) for n in cardinalities))


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
    closed = tables.closed().cells
    for k, x, y, count in closed[:, tables.start[t] : tables.start[t + 1]].T.tolist():
        if k == len(out):
            out.append(Counter())
        assert k == len(out) - 1, "slices are numbered from 0 without gaps"
        assert (x, y) not in out[k]
        out[k][x, y] = count
    return out


def fixed(engine: Engine, x: int, ys: ArrayLike, given: ArrayLike) -> Tables:
    """The tables of x against each of many ys, one conditioning set."""
    return ask(engine, Questions.fixed(x, ys, given))


def round_robin(engine: Engine, x: int, members: ArrayLike) -> Tables:
    """The tables of x against each member, given the other members."""
    return ask(engine, Questions.round_robin(x, members))


def margins(engine: Engine, x: int, members: ArrayLike) -> Tables:
    """The same as margins of one table."""
    return ask(engine, Questions.fixed(x, (), members)).margins()


class HiddenEngine(Engine):
    """The engine in memory, which keeps its bits to itself."""

    def __init__(self, data: Table) -> None:
        self._inner = MemoryEngine(data)
        self.schema = data.schema

    def tables(self, questions: Questions) -> Tables:
        return self._inner.tables(questions)

    def colour_sums(self, colours: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return self._inner.colour_sums(colours)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "HiddenEngine":
        return HiddenEngine(self._inner.resampled(rng, share).data)


class PartitionedEngine(Engine):
    """Rows in several places, at random: each place counts its own, and the tables are added."""

    def __init__(self, data: Table, n_parts: int = 3, seed: int = 0) -> None:
        self.schema = data.schema
        self._where = np.random.default_rng(seed).integers(n_parts, size=data.n_rows)
        self._parts = [MemoryEngine(_rows(data, self._where == k)) for k in range(n_parts)]

    def tables(self, questions: Questions) -> Tables:
        return add_tables([part.tables(questions) for part in self._parts])

    def colour_sums(self, colours: NDArray[np.uint64]) -> NDArray[np.uint64]:
        return np.sum([part.colour_sums(colours) for part in self._parts], axis=0, dtype=np.uint64)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "PartitionedEngine":
        drawn = drawn_rows(rng, self.schema.n_rows, share)
        other = object.__new__(PartitionedEngine)
        other._where = self._where[drawn]
        within = np.empty(self.schema.n_rows, np.int64)
        for k in range(len(self._parts)):
            within[self._where == k] = np.arange((self._where == k).sum())
        other._parts = [
            MemoryEngine(_rows(part.data, within[drawn[other._where == k]]))
            for k, part in enumerate(self._parts)
        ]
        about = self.schema
        other.schema = Schema(about.names, about.levels, len(drawn), backend=about.backend)
        return other


def _rows(data: Table, rows: NDArray[np.generic]) -> Table:
    return Table(data.codes[:, rows], data.names, data.levels, data.bin_edges, data.backend)


class GpuInNumpy(GpuEngine):
    """The engine of a GPU, without one; tables that a GPU does not take are counted in memory."""

    def __init__(self, data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataWarning)
            super().__init__(data, "numpy")

    def __reduce__(self):
        return GpuInNumpy, (self.data,)


#: a new one is held to all tests by its name
ENGINES = [
    *(GpuInNumpy if engine is GpuEngine else engine for engine in BY_NAME.values()),
    HiddenEngine,
    PartitionedEngine,
]
