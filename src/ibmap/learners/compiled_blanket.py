"""GSMN's compiled route: which tests can take it, and the room that it needs."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ibmap.independence import BoundTest
from ibmap.independence.bayesian import BoundBayesianTest
from ibmap.kernels import gsmn as _gsmn
from ibmap.kernels.odds import SMALL, OddsWorkspace
from ibmap.kernels.records import Packed
from ibmap.learners.local_to_global import Finder, Found, ranked

MOST_BYTES = 1 << 27  #: larger tables are not unpacked into bytes
LOWEST_PRIOR = -600.0  #: log of a prior that can be inverted


def compiled_finders(tests: Sequence[BoundTest]) -> list[Finder] | None:
    """Return functions that find blankets, one for each room; None if the test has no compiled route."""
    test = tests[0]
    if not isinstance(test, BoundBayesianTest) or test.counts.packed is None:
        return None
    packed, model = test.counts.packed, test.model
    if (
        packed.irregular.size
        or not (packed.levels <= 2).all()
        or not ((packed.levels == 2).all() or test.ties_are_independent)  # a constant ties with everything
        or model.log_prior.shape[0] > 1
        or model.log_prior[0, 0] < LOWEST_PRIOR
        or model.one_factor
        or not 0 < packed.n_rows * len(packed.levels) < MOST_BYTES
    ):
        return None
    rows = levels_of_rows(packed)
    return [_Blankets(room, rows).find for room in tests if isinstance(room, BoundBayesianTest)]


def levels_of_rows(packed: Packed) -> NDArray[np.uint8]:
    """Return who has the last level as bytes, one row of the table after the other, padded to 64 columns."""
    bits = packed.level_bits[packed.first + packed.levels - 1].view(np.uint8)
    columns = np.unpackbits(bits, axis=1, count=packed.n_rows, bitorder="little")
    rows = np.zeros((packed.n_rows, -(-len(columns) // 64) * 64), np.uint8)
    rows[:, : len(columns)] = columns.T
    return rows


class _Blankets:
    """Finds blankets, in the room of one thread."""

    def __init__(self, test: BoundBayesianTest, rows: NDArray[np.uint8]) -> None:
        self._test, self._rows = test, rows
        n_rows, width = rows.shape
        n_slots = 1 << max(4, (2 * n_rows - 1).bit_length())
        self._room = _gsmn.BlanketWorkspace(
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
            np.empty(len(test.counts.cardinalities), np.uint8),
            np.empty(n_rows, np.uint64),
            np.empty((2, n_rows), np.int64),
            np.empty(n_slots, np.int64),
            np.empty(n_rows, np.int64),
            np.empty(n_rows + 1),
        )

    def find(self, x: int) -> Found:
        """Return the blanket of x and the number of tests."""
        from ibmap.learners.gsmn import blanket

        test, room = self._test, self._room
        packed, n = test.counts.packed, len(test.counts.cardinalities)
        candidates, independent = ranked(test, x, n)
        if packed is None or independent.all():
            return [], len(candidates)
        threshold = float(test.log_threshold(x, candidates[:1])[0])
        first = int(np.argmin(independent))
        n_members, grown = _gsmn.grow(test.context.numbers, self._rows, room, x, candidates, first, threshold)
        if n_members > _gsmn.MOST:  # a blanket beyond all measure
            return blanket(test, x, n)
        n_members, shrunk = _gsmn.shrink(test.context.numbers, self._rows, room, x, n_members, threshold)
        return room.members[:n_members].tolist(), len(candidates) + grown + shrunk
