"""GSMN: grow and shrink the Markov blanket of every variable (Bromberg, Margaritis and Honavar 2009)."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._types import Ints
from ibmap.engines import Source
from ibmap.independence import BoundTest
from ibmap.independence.bayesian import CompiledBayesianTest
from ibmap.kernels import gsmn as _gsmn
from ibmap.kernels.odds import SMALL, OddsWorkspace
from ibmap.kernels.records import Packed
from ibmap.learners.local_to_global import Callback, Finder, Found, learn_locally, ranked
from ibmap.results.learned import Learned

FIRST_BATCH = 8  #: candidates that are asked about before all others
MOST_BYTES = 1 << 27  #: larger tables are not unpacked into bytes
LOWEST_PRIOR = -600.0  #: log of a prior that can be inverted


def gsmn(
    data: Source,
    test: object = None,
    *,
    symmetry: str = "or",
    n_jobs: int | None = None,
    callback: Callback = None,
    engine: Any = None,
) -> Learned:
    """Learn a Markov network by growing and shrinking the blanket of every variable.

    The options are those of :class:`ibmap.GSMN`; ``data`` is a table, or an engine that holds one.
    ``n_tests`` counts the tests that the algorithm needs one after the other: those of a scan up to the one
    that ends it, though a batch may answer more. ``n_iter`` is the number of variables.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> learned = gsmn(load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)}))
    >>> learned.graph.edges
    (('a', 'b'),)
    """
    return learn_locally(
        data,
        test,
        finders,
        learner="gsmn",
        options={} if symmetry == "or" else {"symmetry": symmetry},
        symmetry=symmetry,
        n_jobs=n_jobs,
        callback=callback,
        engine=engine,
    )


def finders(tests: Sequence[BoundTest], n: int) -> list[Finder]:
    """Return functions that find blankets, one for each thread; compiled where test and table allow."""
    return compiled_finders(tests) or [partial(blanket, test, n=n) for test in tests]


def blanket(test: BoundTest, x: int, n: int) -> Found:
    """Return the blanket of x and the number of tests; any test will do."""
    outside, independent = ranked(test, x, n)
    members: list[int] = []
    n_tests = len(outside)
    found = _first(~independent)
    while found is not None:  # grow: some y outside is dependent given the members
        members.append(int(outside[found]))
        outside = np.delete(outside, found)
        found = first_dependent(test, x, outside, np.array(members))
        n_tests += len(outside) if found is None else found + 1
    found = 0
    while members and found is not None:  # shrink: some member is independent given the others
        found = _first(test.round_robin(x, np.array(members)).independent)
        n_tests += len(members) if found is None else found + 1
        if found is not None:
            del members[found]
    return members, n_tests


def first_dependent(test: BoundTest, x: int, ys: Ints, given: Ints) -> int | None:
    """Return the position of the first y that is dependent on x; the strongest are asked about first.

    In growing batches: of 98 candidates the first dependent one is mostly among the first eight.
    """
    first, size = 0, FIRST_BATCH
    while first < len(ys):
        found = _first(~test.fixed(x, ys[first : first + size], given).independent)
        if found is not None:
            return first + found
        first, size = first + size, 4 * size
    return None


def _first(truth: NDArray[np.bool_]) -> int | None:
    """Return the position of the first True; None if there is none."""
    return int(np.argmax(truth)) if truth.any() else None


def compiled_finders(tests: Sequence[BoundTest]) -> list[Finder] | None:
    """Return functions that find blankets, one for each thread; None if the test has no compiled route."""
    test = tests[0]
    if not isinstance(test, CompiledBayesianTest):
        return None
    packed = test.engine.packed
    if (
        packed.irregular.size
        or not (packed.levels <= 2).all()
        or not ((packed.levels == 2).all() or test.ties_are_independent)  # a constant ties with everything
        or test.log_prior.shape[0] > 1
        or test.log_prior[0, 0] < LOWEST_PRIOR
        or test.test.combine == "global"
        or not 0 < packed.n_rows * len(packed.levels) < MOST_BYTES
    ):
        return None
    rows = levels_of_rows(packed)
    return [_Blankets(one, rows).find for one in tests if isinstance(one, CompiledBayesianTest)]


def levels_of_rows(packed: Packed) -> NDArray[np.uint8]:
    """Return who has the last level as bytes, one row of the table after the other, padded to 64 columns."""
    bits = packed.level_bits[packed.first + packed.levels - 1].view(np.uint8)
    columns = np.unpackbits(bits, axis=1, count=packed.n_rows, bitorder="little")
    rows = np.zeros((packed.n_rows, -(-len(columns) // 64) * 64), np.uint8)
    rows[:, : len(columns)] = columns.T
    return rows


class _Blankets:
    """Finds blankets, with the buffers of one thread."""

    def __init__(self, test: CompiledBayesianTest, rows: NDArray[np.uint8]) -> None:
        self._test, self._rows = test, rows
        n_rows, width = rows.shape
        n_slots = 1 << max(4, (2 * n_rows - 1).bit_length())
        self._buffers = _gsmn.BlanketWorkspace(
            OddsWorkspace(
                np.empty(width),
                np.empty(width, np.uint8),
                np.empty((2, width), np.int32),
                np.empty((SMALL, SMALL, SMALL * SMALL)),
                np.empty((SMALL, SMALL), bool),
            ),
            np.zeros((n_rows, _gsmn.NEAR), np.uint8),
            np.empty(_gsmn.MOST + 1, np.int64),
            np.empty(_gsmn.MOST + 1, np.int64),
            np.empty(len(test.levels), np.uint8),
            np.empty(n_rows, np.uint64),
            np.empty((2, n_rows), np.int64),
            np.empty(n_slots, np.int64),
            np.empty(n_rows, np.int64),
            np.empty(n_rows + 1),
        )

    def find(self, x: int) -> Found:
        """Return the blanket of x and the number of tests."""
        test, buffers = self._test, self._buffers
        n = len(test.levels)
        candidates, independent = ranked(test, x, n)
        if independent.all():
            return [], len(candidates)
        threshold = float(test.log_threshold(x, candidates[:1])[0])
        first = int(np.argmin(independent))
        context = test.context.numbers
        n_members, grown = _gsmn.grow(context, self._rows, buffers, x, candidates, first, threshold)
        if n_members > _gsmn.MOST:  # more members than bits in a code: the general way
            return blanket(test, x, n)
        n_members, shrunk = _gsmn.shrink(context, self._rows, buffers, x, n_members, threshold)
        return buffers.members[:n_members].tolist(), len(candidates) + grown + shrunk
