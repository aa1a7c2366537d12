"""Likely rows of the mixture of both families of conditionals (``adaptive.py``), of binary variables."""

from functools import lru_cache
from itertools import chain
from typing import Any, Protocol

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines import MemoryEngine
from ibmap.kernels.likely import take_likely
from ibmap.scores.binary import TABULATED, BinaryRows
from ibmap.scores.device import DeviceRows, Models, full_tables, likely_of
from ibmap.scores.families import Members, members_of
from ibmap.scores.likely import Asked, LikelyRow
from ibmap.scores.local_score import Rows
from ibmap.scores.lone import LoneRows
from ibmap.scores.rising import rising_tables


class Mixture(Protocol):
    """Two families, and their prior probabilities."""

    log_levels: Floats  #: of every variable
    log_rows: float
    logs: tuple[float, float]  #: prior probabilities of the pairwise and the saturated family

    def weighed(self, pairwise: Floats, saturated: Floats, xs: Ints) -> tuple[Floats, Floats]:
        """Return s_x(B) of both families with their prior probabilities."""
        ...

    def softplus_of_likely(self, log_odds: Floats, cells: Floats) -> Floats:
        """Return log(1 + e^log_odds), but 0 for full tables that would have more cells than rows."""
        ...

    def log_cells(self, xs: Ints, members: Members) -> Floats:
        """Return the logarithm of the number of cells of every full table."""
        ...

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the rows of the mixture."""
        ...


class LikelyMixture:
    """What is likely in rows of a mixture, with the prior of edges.

    Parameters
    ----------
    mixture : Mixture
        The families.
    engine : MemoryEngine
        Where the rows are.
    binary : BinaryRows
        What makes rows of both families.
    """

    def __init__(self, mixture: Mixture, engine: MemoryEngine, binary: BinaryRows) -> None:
        self._mixture, self._binary, self._lone = mixture, binary, None
        if not isinstance(binary, DeviceRows) and engine.schema.n_rows <= TABULATED and LoneRows.fits(engine):
            self._lone = LoneRows(engine, binary.n_threads)

    def rows(self, asked: Asked) -> list[LikelyRow]:
        """Return what is likely in the row of each of some x: each kind of row by the fastest way."""
        if isinstance(self._binary, DeviceRows):
            return self._on_device(self._binary, asked)
        if self._lone is None:
            return self._in_memory(asked)
        found: list[Any] = [None] * len(asked.xs)
        alone = np.array([not len(blanket) for blanket in asked.blankets], bool)
        some, others = np.flatnonzero(alone).tolist(), np.flatnonzero(~alone).tolist()
        rows = self._without_neighbours(self._lone, asked.some(some)), self._in_memory(asked.some(others))
        for q, row in zip([*some, *others], chain(*rows), strict=True):
            found[q] = row
        return found

    def _without_neighbours(self, lone: LoneRows, asked: Asked) -> list[LikelyRow]:
        """Return the rows of variables without neighbours, by tables."""
        main, full = self._binary.values(asked.xs, asked.blankets)
        a, b = self._mixture.weighed(main, full, np.asarray(asked.xs, np.int64))
        values = ((a + softplus(b - a)) / 2).tolist()
        evidence = PairEvidence(
            lone.n_rows,
            self._binary.precision,
            self._binary.prior_count,
            self._mixture.logs,
            asked.prior_odds,
        )
        rows = lone.likely(asked.xs, evidence, asked.floor, asked.wanted)
        return [LikelyRow(*row, value) for row, value in zip(rows, values, strict=True)]

    def _in_memory(self, asked: Asked) -> list[LikelyRow]:
        """Return rows by the compiled code."""
        xs, blankets, prior_odds, floor, wanted = asked
        binary, mixture, n = self._binary, self._mixture, len(self._mixture.log_levels)
        found: list[Any] = [None] * len(xs)
        scratch, ts = np.empty((binary.n_threads, 3, n)), np.empty((binary.n_threads, n))
        ys = np.empty((binary.n_threads, n), np.int32)

        def use(thread: int, first: int, pairwise: Rows, saturated: Rows) -> None:
            some = slice(first, first + len(pairwise.values))
            of, members = np.asarray(xs[some], np.int64), members_of(blankets[some])
            a, b = mixture.weighed(pairwise.values, saturated.values, of)
            cells = mixture.log_cells(of, members)
            values = a + mixture.softplus_of_likely(b - a, cells)
            for q, x in enumerate(of.tolist()):
                blanket, also = blankets[first + q], np.asarray(wanted[first + q], np.int64)
                m, elsewhere = take_likely(
                    *(pairwise.evidence[q], saturated.evidence[q], x, blanket, also),
                    *(float(b[q] - a[q]), float(cells[q]), mixture.log_levels, mixture.log_rows),
                    prior_odds,
                    floor,
                    scratch[thread],
                    ys[thread],
                    ts[thread],
                )
                value = float(values[q] + prior_odds * len(blanket)) / 2
                listed = ys[thread, :m].copy(), ts[thread, :m].copy()
                found[first + q] = LikelyRow(*listed, float(elsewhere), value)

        binary.pass_by(xs, blankets, np.inf, use)
        return found

    def _on_device(self, device: DeviceRows, asked: Asked) -> list[LikelyRow]:
        """Return rows by arrays of a device."""
        found: list[Any] = [None] * len(asked.xs)
        for which, both in device.batches(asked.xs, asked.blankets):
            some = asked.some(which.tolist())
            rows = self._mixture.of_both(*both, np.asarray(some.xs, np.int64), members_of(some.blankets))
            evidence = rows.evidence
            evidence += asked.prior_odds
            sizes = np.array([len(blanket) for blanket in some.blankets])
            values = (rows.values + asked.prior_odds * sizes) / 2
            for q, row in zip(
                which.tolist(), likely_of(device.xp, Rows(evidence, values), some), strict=True
            ):
                found[q] = row
        return found


class PairEvidence:
    """t of two binary variables without neighbours, with the prior of edges, from counts.

    Parameters
    ----------
    n_rows : int
        Of the table.
    precision, prior_count : float
        Of effects; of a level in a configuration.
    logs : pair of float
        Log prior probabilities of the pairwise and the saturated family.
    prior_odds : float
        Log prior odds of an edge.

    Examples
    --------
    >>> evidence = PairEvidence(100, 1.0, 0.5, (-0.01, -4.6), -3.0)
    >>> evidence(50, np.array([50, 50]), np.array([25, 40])).round(1).tolist()
    [-4.6, 12.7]
    """

    def __init__(
        self, n_rows: int, precision: float, prior_count: float, logs: tuple[float, float], prior_odds: float
    ) -> None:
        self._n_rows, self._precision, self._prior_odds = n_rows, precision, prior_odds
        self._rising = rising_tables((float(prior_count), 2.0 * prior_count), n_rows)
        self._full_odds = logs[1] - logs[0]
        self._now = float(np.logaddexp(0.0, self._full_odds))
        self._model_of = lru_cache(16)(self._model)

    def _model(self, n: int) -> Models:
        """Return the model of a variable with n ones."""
        return Models(np, np.array([[self._n_rows - n, n]], float), 0, self._precision)

    def __call__(self, n: int, ones: Ints, both: Ints) -> Floats:
        """Return t, given the ones of x, those of some y, and the rows where both are one."""
        sizes, counts = np.array([[self._n_rows - n, n]], float), np.stack([ones - both, both])[None]
        main = self._model_of(n).evidence(slice(None), counts)[0]
        then = self._full_odds + full_tables(np, self._rising, sizes, counts)[0] - main
        return np.asarray(main + self._prior_odds + softplus(then) - self._now)


def softplus(values: Floats) -> Floats:
    """Return log(1 + e^values), by functions that run several at a time.

    Examples
    --------
    >>> softplus(np.array([-1000.0, 0.0, 1000.0])).round(3).tolist()
    [0.0, 0.693, 1000.0]
    """
    out = np.abs(values)
    np.negative(out, out=out)
    np.exp(out, out=out)
    out += 1.0
    np.log(out, out=out)
    out += np.maximum(values, 0.0)
    return out
