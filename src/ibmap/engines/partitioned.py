"""Rows in several partitions, each of which counts its own: the tables are added, and nothing above knows.

A :class:`Partition` holds some parts of the table and adds up what they count; a :class:`PartitionedEngine`
asks all partitions at once and adds up their answers. Who they are, threads here or workers elsewhere, only
``ask`` knows.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._parallel import n_threads, result_of
from ibmap._text import in_short
from ibmap._types import Ints
from ibmap.data import Schema, Table
from ibmap.data.packed_file import release_pages
from ibmap.data.schema import PARTS
from ibmap.data.table import LevelBits, PackedData
from ibmap.engines.arrangement import Arrangement, arranged_data
from ibmap.engines.bits import packed_data
from ibmap.engines.engine import Colours, Engine, pair_questions
from ibmap.engines.memory import MemoryEngine, drawn_rows
from ibmap.engines.merge import add_tables
from ibmap.engines.model import Model
from ibmap.engines.questions import Questions
from ibmap.engines.rows import Rows
from ibmap.engines.tables import Tables
from ibmap.engines.triples import Triples, seconds_in_memory
from ibmap.errors import EngineError, RequestError

PAIRS_OF_A_TRIP = 1 << 16  #: tables of pairs that all places are asked for at once


class Partition:
    """Some parts of a table in one place; what it answers is about all of them.

    Parameters
    ----------
    parts : sequence of MemoryEngine
        The parts, at least one, with the same levels.
    releases_pages : bool
        Whether what is mapped from files leaves the memory of this process after every answer, and with it
        the buffers in which its rows were split.
    """

    def __init__(self, parts: Sequence[MemoryEngine], releases_pages: bool = False) -> None:
        self._parts, self._releases_pages = parts, releases_pages

    def tables(self, asked: Questions) -> Tables:
        """Count: one table for every y of every question."""
        found = []
        for part in self._one_by_one():
            found.append(part.tables(asked))
            _ = found[-1].answered()[1].keys  # they are looked up in the rows
        return found[0] if len(found) == 1 else add_tables(found)

    def colour_sums(self, colours: Colours) -> Colours:
        """Add up the scrambled colours of the rows of every cell."""
        parts = [part.colour_sums(colours) for part in self._one_by_one()]
        return np.asarray(np.sum(parts, axis=0, dtype=np.uint64))

    def _one_by_one(self) -> Iterator[MemoryEngine]:
        for part in self._parts:
            yield part
            if self._releases_pages and isinstance(part.data, PackedData):
                release_pages(part.data)
                part.forget_splits()


class ThreadPlaces:
    """Places in threads of this process; a part stays with its thread, which knows how far it has split it.

    Parameters
    ----------
    parts : sequence of MemoryEngine
        The parts, at least one.
    threads : int
        Threads, at most.
    releases_pages : bool
        See :class:`Partition`.
    """

    def __init__(self, parts: Sequence[MemoryEngine], threads: int, releases_pages: bool = False) -> None:
        groups = [parts[k::threads] for k in range(min(threads, len(parts)))]
        self._places = [Partition(group, releases_pages) for group in groups]
        self._pools = [ThreadPoolExecutor(1) for _ in groups[1:]]

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every place at once; return one answer for each."""

        def call(place: Partition) -> Any:
            return getattr(place, method)(*arguments)

        others = zip(self._pools, self._places[1:], strict=True)
        waiting = [pool.submit(call, place) for pool, place in others]
        return [call(self._places[0]), *map(result_of, waiting)]


class PartitionedEngine(Engine):
    """Rows in several places: subclass it, and write ``ask``.

    Parameters
    ----------
    schema : Schema
        The table without its rows.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every place at once; return one answer for each."""
        raise TypeError(f"{type(self).__name__} must define ask(method, *arguments)")

    def tables(self, questions: Questions) -> Tables:
        """Count: one table for every y of every question."""
        return add_tables(self.ask("tables", questions.check(self.schema.n_variables)))

    def colour_sums(self, colours: Colours) -> Colours:
        """Return, for every cell, the sum of the scrambled colours of its rows; see :class:`Engine`."""
        return np.asarray(np.sum(self.ask("colour_sums", colours), axis=0, dtype=np.uint64))

    def pairs(self) -> Iterator[Tables]:
        """Count every pair of variables once, x < y, without conditioning; in few batches."""
        for questions in pair_questions(self.schema.n_variables, PAIRS_OF_A_TRIP):
            yield self.tables(questions)


class ThreadEngine(PartitionedEngine):
    """Count in several threads of this process, each with its share of the rows.

    Parameters
    ----------
    data : Table or sequence of Table
        The table, which is cut into as many parts as there are threads; or its parts, which may be mapped
        from files, with the same variables and levels.
    n_jobs : int
        Threads; -1 is all cores.

    Examples
    --------
    >>> from ibmap.data import load
    >>> engine = ThreadEngine(load({"a": [0, 1] * 100, "b": [1, 0] * 100}), n_jobs=2)
    >>> engine.tables(Questions.fixed(0, [1], [])).cells.T.tolist()  # slice, level of x, level of y, count
    [[0, 0, 1, 100], [0, 1, 0, 100]]
    """

    def __init__(self, data: Table | Sequence[Table], n_jobs: int = -1) -> None:
        threads = n_threads(n_jobs)
        self._given, self._jobs = data, n_jobs
        if isinstance(data, Table):
            whole = packed_data(data)
            parts, schema = cut_rows(whole, threads), data.schema
        else:
            tables = list(data) if isinstance(data, Iterable) else [data]
            if not all(isinstance(table, Table) for table in tables):
                raise RequestError(
                    f"expected a Table, or several, not {in_short(data)}: ibmap.load makes one"
                )
            parts = list(map(packed_data, tables))
            schema = schema_of(parts)
        super().__init__(schema)
        self._places = ThreadPlaces([MemoryEngine(part) for part in parts], threads)

    def __reduce__(self) -> tuple[Any, ...]:
        return ThreadEngine, (self._given, self._jobs)

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every place at once; return one answer for each."""
        return self._places.ask(method, *arguments)

    def rows(self, model: Model, *asked: Any, **options: Any) -> Rows:
        """Return rows of evidence for some x, given their blankets; those of models of rows in one thread."""
        if model.family == "mixed" and self._whole is not None:
            return self._whole.rows(model, *asked, **options)
        return super().rows(model, *asked, **options)

    @cached_property
    def _whole(self) -> MemoryEngine | None:
        """All rows in one place, where the table came as one."""
        return MemoryEngine(self._given) if isinstance(self._given, Table) else None

    def triples(self, threshold: float, most: int, n_threads: int = 1) -> Triples:
        """Return the ``most`` triples, at most, whose evidence of an interaction exceeds a threshold."""
        if not isinstance(self._given, Table):
            return super().triples(threshold, most, n_threads)
        return MemoryEngine(self._given).triples(threshold, most, n_threads)

    @property
    def seconds_for_triples(self) -> float:
        """Estimate the seconds that one core takes for all triples."""
        whole = isinstance(self._given, Table)
        return seconds_in_memory(self.schema) if whole else super().seconds_for_triples

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> Engine:
        """Resample the rows: as many with replacement, or a share without; all levels stay."""
        if not isinstance(self._given, Table):
            return super().resampled(rng, share)
        rows = drawn_rows(rng, self.schema.n_rows, share, self._given.clusters, self._given.strata)
        return ThreadEngine(self._given.rows(rows), self._jobs)

    def arranged(self, arrangement: Arrangement) -> Engine:
        """Return the table with its columns and levels in another order."""
        if not isinstance(self._given, Table):
            return super().arranged(arrangement)
        return ThreadEngine(arranged_data(self._given, arrangement), self._jobs)


def cut_rows(data: PackedData, n_parts: int) -> list[PackedData]:
    """Cut a table into parts of whole words of rows; the last one may be shorter.

    Examples
    --------
    >>> from ibmap.data import load
    >>> data = packed_data(load({"a": [0, 1] * 100, "b": [1, 0] * 100}))
    >>> [part.n_rows for part in cut_rows(data, 3)]
    [128, 72]
    """
    table, about = data.bits, (data.names, data.levels, data.bin_edges, data.backend)
    n_words = table.bits.shape[1]
    step = max(1, -(-n_words // n_parts))
    if step >= n_words:
        return [data]
    parts = []
    for word in range(0, n_words, step):
        rows = slice(64 * word, min(64 * (word + step), table.n_rows))
        bits = np.ascontiguousarray(table.bits[:, word : word + step])
        sizes = np.bitwise_count(bits).sum(axis=1, dtype=np.int64)
        codes = np.ascontiguousarray(table.wide_codes[:, rows])
        parts.append(PackedData(LevelBits(rows.stop - rows.start, table.levels, bits, codes, sizes), *about))
    return parts


def level_sizes(bits: LevelBits, variable: int) -> Ints:
    """Return how many rows have each level of a variable."""
    first, levels = int(bits.first[variable]), int(bits.levels[variable])
    if first >= 0:
        return bits.level_sizes[first : first + levels]
    codes = bits.wide_codes[bits.wide[variable]]
    return np.bincount(codes[codes >= 0], minlength=levels).astype(np.int64)


def schema_of(parts: Sequence[PackedData]) -> Schema:
    """Return what the parts of a table have in common, and how many rows they have together."""
    if not parts:
        raise EngineError("a table has at least one part")
    first = parts[0].schema
    for part in parts[1:]:
        if (part.names, part.levels, part.schema.kinds) != (first.names, first.levels, first.kinds):
            raise EngineError(
                "the parts of a table must have the same variables, kinds and levels, in the same order"
            )

    def digest() -> str:
        return PARTS + hashlib.sha256("".join(part.schema.digest for part in parts).encode()).hexdigest()

    n_rows = sum(part.n_rows for part in parts)
    return replace(first, n_rows=n_rows, digest_of_rows=digest)
