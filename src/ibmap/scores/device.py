"""Rows of binary variables with arrays of another library, as on a GPU; ``binary_evidence.py`` by matrices.

Every question of a batch has k members and so 2^k slices. A product of matrices counts the rows of each
slice and level of x where y is 1, for all y: whole numbers, exact in 32 bits. Everything that decides is in
64 bits. Blankets themselves, which are small, are judged by the compiled code in memory.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ibmap._libraries import library
from ibmap._types import Floats, Ints
from ibmap.engines import MemoryEngine
from ibmap.engines.gpu import GpuEngine, to_host
from ibmap.kernels.binary_evidence import CONTRAST
from ibmap.kernels.loglinear import CLOSE
from ibmap.scores.binary import VAGUE, BinaryRows
from ibmap.scores.likely import Asked, LikelyRow
from ibmap.scores.local_score import NONE, Rows
from ibmap.scores.rising import rising_tables

MEMBERS = 6  #: of a blanket, up to which slices are counted on the device
MODELS = 4096  #: blankets whose models are fitted together
NUMBERS = 6  #: of 64 bits that the evidence of one y given one slice takes, at most
NEWTON = 60  #: steps, at most
SQRT_TWO = 2.0 * CONTRAST
NOTHING_SO_STRONG = 1e9  #: members are looked at, by quadratics


class DeviceRows(BinaryRows):
    """Rows of the pairwise and the saturated family; ``rows`` and ``batches`` return arrays of the device.

    Parameters
    ----------
    engine : GpuEngine
        Where the rows are.
    precision, prior_count, n_threads
        See :class:`~ibmap.scores.binary.BinaryRows`.
    """

    def __init__(self, engine: GpuEngine, precision: float, prior_count: float, n_threads: int = 1) -> None:
        super().__init__(engine, precision, prior_count, n_threads)
        self.xp, self._columns = engine.arrays, engine.columns
        self._binary = engine.packed.levels == 2
        parameters = self.prior_count, 2.0 * self.prior_count
        self._tables = self.xp.asarray(rising_tables(parameters, engine.schema.n_rows))
        self._budget = engine.free_memory() / 2

    def batches(
        self, xs: Sequence[int], blankets: Sequence[Ints]
    ) -> Iterator[tuple[Ints, tuple[Rows, Rows]]]:
        """Yield which questions, and the rows of both families, a few at a time.

        Evidence is on the device, that of x itself and of constants is 0; values are in memory.
        """
        values, inside = self._of_blankets(xs, blankets)
        varying = [blanket[self._binary[blanket]] for blanket in blankets]  # constants have no effect
        sizes = np.array([len(blanket) for blanket in varying], np.int64)
        for size in np.unique(sizes).tolist():
            for which in np.array_split(same := np.flatnonzero(sizes == size), -(-len(same) // MODELS)):
                for some, main, full in self._outside(which, xs, varying, size):
                    self._put_inside(some, xs, blankets, inside, main, full)
                    yield some, (Rows(main, values[some, 0]), Rows(full, values[some, 1]))

    def rows(self, xs: Sequence[int], blankets: Sequence[Ints], strong: float) -> tuple[Rows, Rows]:
        """Return t_xy and s_x(B) of the pairwise and of the saturated family."""
        if strong != np.inf:
            return super().rows(xs, blankets, strong)
        evidence, values = self.xp.empty((2, len(xs), self._n)), np.empty((2, len(xs)))
        for some, both in self.batches(xs, blankets):
            for family, rows in enumerate(both):
                evidence[family][self.xp.asarray(some)] = rows.evidence
                values[family, some] = rows.values
        return Rows(evidence[0], values[0]), Rows(evidence[1], values[1])

    def _of_blankets(self, xs: Sequence[int], blankets: Sequence[Ints]) -> tuple[Floats, list[Floats]]:
        """Return s_x(B), and t of the members of each blanket, of both families, from memory."""
        ends = np.cumsum([0, *(len(blanket) for blanket in blankets)])
        values, inside = np.empty((len(xs), 2)), np.empty((2, int(ends[-1])))

        def use(_: int, first: int, *both: Rows) -> None:
            last = first + len(both[0].values)
            members = np.repeat(np.arange(last - first), np.diff(ends[first : last + 1]))
            who = np.concatenate([NONE, *blankets[first:last]])
            for family, rows in enumerate(both):
                values[first:last, family] = rows.values
                inside[family, ends[first] : ends[last]] = rows.evidence[members, who]

        self.pass_by(xs, blankets, NOTHING_SO_STRONG, use)
        first = ends.tolist()
        return values, [inside[:, first[q] : first[q + 1]] for q in range(len(xs))]

    def _put_inside(
        self,
        some: Ints,
        xs: Sequence[int],
        blankets: Sequence[Ints],
        inside: list[Floats],
        main: Any,
        full: Any,
    ) -> None:
        """Put t of members, of constants and of x itself into rows."""
        xp, constant = self.xp, np.flatnonzero(~self._binary)
        of = np.array([xs[q] for q in some.tolist()], np.int64)
        own = np.arange(len(some)), of
        row = np.repeat(own[0], [len(blankets[q]) for q in some.tolist()])
        who = np.concatenate([NONE, *(blankets[q] for q in some.tolist())])
        members = np.concatenate([inside[q] for q in some.tolist()], axis=1)
        for family, rows in enumerate((main, full)):
            if len(constant):
                rows[:, xp.asarray(constant)] = 0.0
                rows[xp.asarray(np.flatnonzero(~self._binary[of]))] = 0.0
            rows[xp.asarray(own[0]), xp.asarray(own[1])] = 0.0
            if len(who):
                rows[xp.asarray(row), xp.asarray(who)] = xp.asarray(members[family])

    def _outside(
        self, which: Ints, xs: Sequence[int], blankets: Sequence[Ints], size: int
    ) -> Iterator[tuple[Ints, Any, Any]]:
        """Yield which questions, and t of both families for all y outside, of blankets of one size."""
        if size > MEMBERS:
            yield from self._in_memory(which, xs, blankets)
            return
        xp, n_sets = self.xp, 2 << size
        of = xp.asarray(np.array([xs[q] for q in which.tolist()], np.int64))
        members = xp.asarray(
            np.array([blankets[q] for q in which.tolist()], np.int64).reshape(len(which), size)
        )
        cell = self._columns[of].astype(np.int32)  # 2 · slice + level of x, of every row
        for j in range(size):
            cell += self._columns[members[:, j]].astype(np.int32) << (j + 1)
        n_rows = cell.shape[1]
        keys = cell + n_sets * xp.arange(len(which))[:, None]
        sizes = xp.bincount(keys.ravel(), minlength=len(which) * n_sets).reshape(-1, n_sets).astype(float)
        model = Models(xp, sizes, size, self.precision)
        at_once = int(self._budget // (8 * NUMBERS * n_sets * (self._n + n_rows)))
        for first in range(0, len(which), max(1, at_once)):
            some = slice(first, first + max(1, at_once))
            counts = self._counted(cell[some], n_sets)
            full = full_tables(xp, self._tables, sizes[some], counts)
            yield which[some], model.evidence(some, counts), full

    def _counted(self, cell: Any, n_sets: int) -> Any:
        """Count the rows of each slice and level of x where y is 1, for all y."""
        masks = (cell[:, None, :] == self.xp.arange(n_sets)[None, :, None]).astype(np.float32)
        return (masks.reshape(-1, cell.shape[1]) @ self._columns.T).reshape(-1, n_sets, self._n)

    def _in_memory(
        self, which: Ints, xs: Sequence[int], blankets: Sequence[Ints]
    ) -> Iterator[tuple[Ints, Any, Any]]:
        """Yield the same for large blankets, which few variables have, by the compiled code."""
        at_once = max(1, int(self._budget // (64 * self._n)))
        for first in range(0, len(which), at_once):
            some = which[first : first + at_once]
            found = super().rows([xs[q] for q in some], [blankets[q] for q in some], np.inf)
            yield some, *(self.xp.asarray(rows.evidence) for rows in found)


def full_tables(xp: Any, rising: Any, sizes: Any, counts: Any) -> Any:
    """Return t of the saturated family: log Γ of counts, looked up, slice by slice.

    Parameters
    ----------
    xp : module
        What has the arrays.
    rising : array
        log Γ(a + n) - log Γ(a), for a cell and for the two levels of x together.
    sizes : array of shape (questions, sets)
        Rows of every slice and level of x.
    counts : array of shape (questions, sets, variables)
        Those of them where y is 1.
    """
    cell, total = rising
    out = xp.zeros((len(sizes), counts.shape[2]))
    for s in range(0, sizes.shape[1], 2):
        n = sizes[:, s : s + 2].astype(np.int32)
        c, d = counts[:, s].astype(np.int32), counts[:, s + 1].astype(np.int32)
        out += xp.take(cell, c) + xp.take(cell, n[:, :1] - c)
        out += xp.take(cell, d) + xp.take(cell, n[:, 1:] - d)
        c += d
        out -= xp.take(total, c) + xp.take(total, n.sum(axis=1, keepdims=True) - c)
        out += (total[n.sum(axis=1)] - cell[n[:, 0]] - cell[n[:, 1]])[:, None]
    return out


def binary_rows_of(
    engine: MemoryEngine, precision: float, prior_count: float, n_threads: int = 1
) -> BinaryRows:
    """Return what makes rows of binary variables: on a GPU if the engine has one."""
    if isinstance(engine, GpuEngine) and engine.columns is not None:
        return DeviceRows(engine, precision, prior_count, n_threads)
    return BinaryRows(engine, precision, prior_count, n_threads)


def arrays_of(array: Any) -> Any:
    """Return the library that an array belongs to.

    Examples
    --------
    >>> arrays_of(np.zeros(1)).__name__
    'numpy'
    """
    return np if isinstance(array, np.ndarray) else library(type(array).__module__.partition(".")[0])


def likely_of(arrays: Any, rows: Rows, asked: Asked) -> list[LikelyRow]:
    """Return what is likely in rows on a device: members, what is wanted, and what is above the floor."""
    xp, evidence, xs = arrays, rows.evidence, np.asarray(asked.xs, np.int64)
    each, listed = np.arange(len(xs)), evidence > asked.floor
    for some in (asked.blankets, asked.wanted):
        row = np.repeat(each, [len(ys) for ys in some])
        ys = np.fromiter(chain.from_iterable(some), np.int64, len(row))
        listed[xp.asarray(row), xp.asarray(ys)] = True
    own = xp.asarray(each), xp.asarray(xs)
    listed[own] = True
    rest = xp.where(listed, 0.0, xp.exp(xp.minimum(evidence, 0.0))).sum(axis=1)
    listed[own] = False
    where, ys = xp.nonzero(listed)
    ts = to_host(evidence[where, ys])
    ends = np.searchsorted(to_host(where), np.arange(len(xs) + 1)).tolist()
    who, sums, values = to_host(ys).astype(np.int32), to_host(rest).tolist(), rows.values.tolist()
    return [
        LikelyRow(who[ends[q] : ends[q + 1]], ts[ends[q] : ends[q + 1]], sums[q], values[q])
        for q in range(len(xs))
    ]


class Models:
    """Log-linear models of many binary variables, each given as many members: modes and curvatures.

    Parameters
    ----------
    xp : module
        What has the arrays.
    sizes : array of shape (models, 2^(members + 1))
        Rows of every slice and level of x.
    n_members : int
        Members of each blanket.
    precision : float
        Of effects.
    """

    def __init__(self, xp: Any, sizes: Any, n_members: int, precision: float) -> None:
        self.xp, self._precision = xp, precision
        slices = np.arange(1 << n_members)
        bits = (slices[:, None] >> np.arange(n_members)) & 1
        design = np.column_stack([np.ones(len(slices)), np.where(bits, CONTRAST, -CONTRAST)])
        self._design = xp.asarray(design)
        self._prior = xp.asarray(np.array([VAGUE, *[precision] * n_members]))
        self._counts = sizes.reshape(len(sizes), -1, 2)
        self._rows = self._counts.sum(axis=2)
        self._theta = xp.zeros((len(sizes), n_members + 1))
        self._climb()
        share = self._share(self._theta)
        self._mean, self._spread = CONTRAST * (2.0 * share - 1.0), 2.0 * share * (1.0 - share)
        self._inverse = xp.linalg.inv(self._curvature(share))

    def evidence(self, some: slice, counts: Any) -> Any:
        """Return t of every y, from the rows of each slice and level of x where it is 1."""
        xp, mean, spread = self.xp, self._mean[some], self._spread[some]
        left = xp.stack([-CONTRAST - mean, CONTRAST - mean], axis=2).reshape(len(mean), 1, -1)
        weighed = xp.repeat((spread[:, :, None] * self._design).transpose(0, 2, 1), 2, axis=2)
        weights = xp.concatenate([left, weighed], axis=1)
        sizes = self._counts[some].reshape(len(mean), -1, 1)
        sums = CONTRAST * (2.0 * (weights @ counts.astype(float)) - weights @ sizes)
        score, cross = sums[:, 0], sums[:, 1:]
        inner = 0.5 * (spread * self._rows[some]).sum(axis=1)[:, None] + self._precision
        inner = inner - (cross * (self._inverse[some] @ cross)).sum(axis=1)
        return 0.5 * (score * score / inner - xp.log(inner / self._precision))

    def _climb(self) -> None:
        """Climb to the modes by Newton's method; steps that do not pay are halved."""
        xp, value = self.xp, self._log_posterior(self._theta)
        for _ in range(NEWTON):
            share = self._share(self._theta)
            pull = SQRT_TWO * (self._counts[:, :, 1] - self._rows * share)
            gradient = pull @ self._design - self._prior * self._theta
            step = xp.linalg.solve(self._curvature(share), gradient[:, :, None])[:, :, 0]
            if float((gradient * step).sum(axis=1).max()) < CLOSE:  # as the compiled code does
                return
            reached = self._log_posterior(self._theta + step)
            for _ in range(NEWTON):
                worse = reached < value - 1e-9 * xp.abs(value)
                if not bool(worse.any()):
                    break
                step[worse] *= 0.5
                reached = self._log_posterior(self._theta + step)
            self._theta, value = self._theta + step, reached

    def _odds(self, theta: Any) -> Any:
        return SQRT_TWO * (theta @ self._design.T)

    def _share(self, theta: Any) -> Any:
        """Return the probability of the second level of x in every slice."""
        odds = self._odds(theta)
        small = self.xp.exp(-self.xp.abs(odds))
        return self.xp.where(odds >= 0, 1.0, small) / (1.0 + small)

    def _log_posterior(self, theta: Any) -> Any:
        xp, odds = self.xp, self._odds(theta)
        logs = xp.maximum(odds, 0.0) + xp.log1p(xp.exp(-xp.abs(odds)))
        found = (self._counts[:, :, 1] * odds - self._rows * logs).sum(axis=1)
        return found - 0.5 * (self._prior * theta * theta).sum(axis=1)

    def _curvature(self, share: Any) -> Any:
        """Return H."""
        weights = 2.0 * self._rows * share * (1.0 - share)
        weighed = (weights[:, :, None] * self._design).transpose(0, 2, 1)
        return weighed @ self._design + self.xp.diag(self._prior)
