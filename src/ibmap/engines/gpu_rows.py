"""Rows of binary variables with arrays of another library, as on a GPU: conditionals by matrices.

Every question of a batch has k members and so 2^k slices. A product of matrices counts the rows of each
slice and level of x where y is 1, for all y: whole numbers, exact in 16 bits of up to 2,048 rows at a time.
Everything that decides is in 64 bits. Blankets themselves, which are small, are judged by the core.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from math import log, log1p
from typing import Any, cast

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines.model import VAGUE, Model
from ibmap.engines.rows import Lists, Rows, as_lists, no_lists

EXACT = 2048  #: rows of which numbers of 16 bits hold all counts without rounding
MEMBERS = 6  #: of a blanket, up to which slices are counted on the device
MODELS = 4096  #: blankets whose models are fitted together
NUMBERS = 6  #: of 64 bits that the evidence of one y given one slice takes, at most
NEWTON = 60  #: steps, at most
CLOSE = 1e-20  #: squared length of a step, in standard deviations, that is not taken
HOPELESS = -1e6  #: log odds of full tables that would have more cells than rows
CONTRAST = 0.5**0.5  #: of the second of two levels; that of the first is the opposite
SQRT_TWO = 2.0 * CONTRAST

InMemory = Callable[..., Rows]  #: rows that the core makes


class DeviceRows:
    """Rows of a model; ``rows`` lists what matters in them on the device.

    Parameters
    ----------
    xp : module
        What has the arrays.
    columns : array of shape (variables, rows)
        Where each variable has its second level, on the device.
    levels : ndarray
        One, of constants, or two.
    model : Model
        The conditionals; the prior of edges is taken from each question.
    budget : float
        Bytes to work with.
    in_memory : callable
        ``rows`` of the engine in memory.
    """

    def __init__(
        self, xp: Any, columns: Any, levels: Ints, model: Model, budget: float, in_memory: InMemory
    ) -> None:
        self._xp, self._columns, self._budget, self._in_memory = xp, columns, budget, in_memory
        self._varies, self._n, self._log_levels = levels == 2, len(levels), np.log(np.maximum(levels, 1))
        n_rows = columns.shape[1]
        self._log_rows, self._tables = log(max(n_rows, 1)), xp.asarray(_rising(model.prior_count, n_rows))
        self._mixture = fused(xp, _mixture)
        neutral = replace(model, log_odds=np.zeros((1, 1)))
        self._model = model
        self._families = [replace(neutral, family=name) for name in ("pairwise", "saturated")]
        values = self._of_blankets(np.arange(self._n), no_lists(self._n))[0]
        self._ahead = values[1] - values[0]  # of full tables without neighbours, where both are one model

    def rows(self, log_odds: Floats, xs: Ints, blankets: Lists, floor: float, also: Lists) -> Rows:
        """Return what is above a floor in the rows of some x, beside members and those that are asked for."""
        xp, found = self._xp, []
        order: list[Ints] = []
        odds = xp.asarray(log_odds)
        for which, both, values in self._batches(xs, blankets):
            evidence, value = self._mixed(xs[which], _some(blankets, which), both, values)
            evidence += odds if len(log_odds) == 1 else odds[xp.asarray(xs[which])]
            mine = _some(blankets, which)
            owner = np.repeat(np.arange(len(which)), np.diff(mine.start))
            prior = log_odds[0, 0] if len(log_odds) == 1 else log_odds[xs[which][owner], mine.members]
            value = (value + np.bincount(owner, prior * np.ones(len(owner)), len(which))) / 2
            found.append(self._listed(evidence, value, xs[which], mine, floor, _some(also, which)))
            order.append(which)
        return _in_order(found, order)

    def _mixed(self, xs: Ints, blankets: Lists, both: Any, values: Floats) -> tuple[Any, Floats]:
        """Return evidence and values of the family; of the mixture see ``conditionals.cpp``."""
        if self._model.family != "adaptive":
            family = 0 if self._model.family == "pairwise" else 1
            return both[family], values[family]
        xp, (main, full), share = self._xp, both, self._model.saturated_share
        a, b = log1p(-share) + values[0] + self._ahead[xs], log(share) + values[1]
        owner = np.repeat(np.arange(len(xs)), np.diff(blankets.start))
        cells = self._log_levels[xs] + np.bincount(owner, self._log_levels[blankets.members], len(xs))
        now = _softplus(np, np.where(cells > self._log_rows, HOPELESS, b - a))
        who = xp.asarray(owner), xp.asarray(blankets.members)
        without = xp.asarray((b - a)[owner]) - (full[who] - main[who])
        few = xp.asarray((cells[owner] - self._log_levels[blankets.members]) <= self._log_rows)
        inside = main[who] + xp.asarray(now[owner]) - _softplus(xp, xp.where(few, without, HOPELESS))
        room = xp.asarray(self._log_rows - cells)[:, None] - xp.asarray(self._log_levels)
        odds = self._mixture(main, full, xp.asarray(b - a)[:, None], xp.asarray(now)[:, None], room)
        odds[who] = inside
        return odds, a + now

    def _listed(
        self, evidence: Any, values: Floats, xs: Ints, blankets: Lists, floor: float, also: Lists
    ) -> Rows:
        """Return what matters in rows on the device."""
        xp, listed = self._xp, evidence > floor
        for some in (blankets, also):
            owner = np.repeat(np.arange(len(xs)), np.diff(some.start))
            listed[xp.asarray(owner), xp.asarray(some.members)] = True
        own = xp.asarray(np.arange(len(xs))), xp.asarray(xs)
        listed[own] = True
        rest = xp.where(listed, 0.0, xp.exp(xp.minimum(evidence, 0.0))).sum(axis=1)
        listed[own] = False
        where, ys = xp.nonzero(listed)
        start = np.searchsorted(to_host(where), np.arange(len(xs) + 1))
        return Rows(
            start,
            to_host(ys).astype(np.int32),
            to_host(evidence[where, ys]),
            to_host(rest),
            np.asarray(values),
        )

    def _batches(self, xs: Ints, blankets: Lists) -> Iterator[tuple[Ints, tuple[Any, Any], Floats]]:
        """Yield which questions, t of both families on the device, and s_x(B), a few at a time.

        That of x itself and of constants is 0.
        """
        values, inside = self._of_blankets(xs, blankets)
        lists = blankets.one_by_one()
        varying = [blanket[self._varies[blanket]] for blanket in lists]  # constants have no effect
        sizes = np.array([len(blanket) for blanket in varying], np.int64)
        for size in np.unique(sizes).tolist():
            for which in np.array_split(same := np.flatnonzero(sizes == size), -(-len(same) // MODELS)):
                for some, *both in self._outside(which, xs, varying, size):
                    self._put_inside(some, xs, blankets, inside, both)
                    yield some, (both[0], both[1]), values[:, some]

    def _of_blankets(self, xs: Ints, blankets: Lists) -> tuple[Floats, Floats]:
        """Return s_x(B), and t of the members of each blanket, of both families, from memory."""
        found = [self._in_memory(model, xs, blankets, floor=np.inf) for model in self._families]
        return np.stack([2 * rows.value for rows in found]), np.stack([rows.t for rows in found])

    def _put_inside(self, some: Ints, xs: Ints, blankets: Lists, inside: Floats, both: list[Any]) -> None:
        """Put t of members, of constants and of x itself into rows."""
        xp, constant, of, mine = self._xp, np.flatnonzero(~self._varies), xs[some], _some(blankets, some)
        own = xp.asarray(np.arange(len(some))), xp.asarray(of)
        row = xp.asarray(np.repeat(np.arange(len(some)), np.diff(mine.start)))
        at = _positions(blankets, some)
        for family, rows in enumerate(both):
            if len(constant):
                rows[:, xp.asarray(constant)] = 0.0
                rows[xp.asarray(np.flatnonzero(~self._varies[of]))] = 0.0
            rows[own] = 0.0
            if len(at):
                rows[row, xp.asarray(mine.members)] = xp.asarray(inside[family, at])

    def _outside(
        self, which: Ints, xs: Ints, blankets: list[Ints], size: int
    ) -> Iterator[tuple[Ints, Any, Any]]:
        """Yield which questions, and t of both families for all y outside, of blankets of one size."""
        if size > MEMBERS:  # few variables have so large ones: the core makes their rows
            at_once = max(1, int(self._budget // (64 * self._n)))
            for some in (which[k : k + at_once] for k in range(0, len(which), at_once)):
                mine = as_lists([blankets[q] for q in some.tolist()])
                found = [self._in_memory(model, xs[some], mine).matrix(self._n) for model in self._families]
                yield some, self._xp.asarray(found[0]), self._xp.asarray(found[1])
            return
        xp, n_sets = self._xp, 2 << size
        of = xp.asarray(xs[which])
        members = xp.asarray(
            np.array([blankets[q] for q in which.tolist()], np.int64).reshape(len(which), size)
        )
        cell = self._columns[of].astype(np.int32)  # 2 · slice + level of x, of every row
        for j in range(size):
            cell += self._columns[members[:, j]].astype(np.int32) << (j + 1)
        n_rows = cell.shape[1]
        keys = cell + n_sets * xp.arange(len(which))[:, None]
        sizes = xp.bincount(keys.ravel(), minlength=len(which) * n_sets).reshape(-1, n_sets).astype(float)
        model = Models(xp, sizes, size, self._model.precision)
        at_once = max(1, int(self._budget // (8 * NUMBERS * n_sets * (self._n + n_rows))))
        for first in range(0, len(which), at_once):
            part = slice(first, first + at_once)
            counts = self._counted(cell[part], n_sets)
            yield (
                which[part],
                model.evidence(part, counts),
                full_tables(xp, self._tables, sizes[part], counts),
            )

    def _counted(self, cell: Any, n_sets: int) -> Any:
        """Count the rows of each slice and level of x where y is 1, for all y."""
        sets, found = self._xp.arange(n_sets)[None, :, None], cast(Any, None)
        for first in range(0, cell.shape[1], EXACT):
            columns = self._columns[:, first : first + EXACT]
            masks = (cell[:, None, first : first + EXACT] == sets).astype(columns.dtype)
            counts = masks.reshape(-1, columns.shape[1]) @ columns.T
            found = counts if found is None else found + counts.astype(np.float32)
        return found.reshape(-1, n_sets, self._n)


def _rising(prior_count: float, n_rows: int) -> Floats:
    """Return log Γ(a + n) - log Γ(a) up to n rows, for a cell and for the two levels of x together."""
    counts = np.arange(n_rows)
    logs = [np.log(a + counts) for a in (prior_count, 2.0 * prior_count)]
    return np.stack([np.concatenate([[0.0], np.cumsum(one)]) for one in logs])


def fused(xp: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of arrays that goes through memory once, where the library can make one."""

    @wraps(function)
    def of_arrays(*arrays: Any) -> Any:
        return function(xp, *arrays)

    fuse = getattr(xp, "fuse", None)
    return of_arrays if fuse is None else fuse()(of_arrays)


def _mixture(xp: Any, main: Any, full: Any, ahead: Any, now: Any, room: Any) -> Any:
    """Return t of the mixture of two families; full tables are hopeless where there is no room."""
    return main + _softplus(xp, xp.where(room < 0.0, HOPELESS, full - main + ahead)) - now


def _softplus(xp: Any, values: Any) -> Any:
    """Return log(1 + e^values)."""
    return xp.maximum(values, 0.0) + xp.log1p(xp.exp(-xp.abs(values)))


def _positions(lists: Lists, which: Ints) -> Ints:
    """Return where the members of some lists stand among all members."""
    sizes = np.diff(lists.start)[which]
    first = np.repeat(lists.start[which] - np.cumsum(sizes) + sizes, sizes)
    return np.asarray(first + np.arange(int(sizes.sum())))


def _some(lists: Lists, which: Ints) -> Lists:
    """Return some lists."""
    sizes = np.diff(lists.start)[which]
    return Lists(np.concatenate([[0], np.cumsum(sizes)]), lists.members[_positions(lists, which)])


def _in_order(parts: list[Rows], order: list[Ints]) -> Rows:
    """Return rows in the order in which they were asked for."""
    from ibmap.engines.rows import joined_rows

    rows, where = joined_rows(parts), np.argsort(np.concatenate([np.empty(0, np.int64), *order]))
    at = _positions(Lists(rows.start, np.empty(0, np.int64)), where)
    start = np.concatenate([[0], np.cumsum(np.diff(rows.start)[where])])
    return Rows(start, rows.y[at], rows.t[at], rows.rest[where], rows.value[where])


def to_host(array: Any) -> Any:
    """Return an array in the memory of this process."""
    return array.get() if hasattr(array, "get") else array


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
    out, few = xp.zeros((len(sizes), counts.shape[2])), xp.arange(cell.shape[0], dtype=np.int32)
    at = (few.size * xp.arange(len(sizes)))[:, None]  # where the sums of each question begin

    def looked_up(log_gamma: Any, n: Any, where: Any) -> Any:
        both = log_gamma + xp.take(log_gamma, xp.abs(n[:, None] - few))  # of 0, 1, ... of n rows
        return xp.take(both, where)

    for s in range(0, sizes.shape[1], 2):
        n, m = sizes[:, s].astype(np.int32), sizes[:, s + 1].astype(np.int32)
        c, d = counts[:, s].astype(np.int32), counts[:, s + 1].astype(np.int32)
        out += looked_up(cell, n, at + c)
        out += looked_up(cell, m, at + d)
        out -= looked_up(total, n + m, at + (c + d))
        out += (total[n + m] - cell[n] - cell[m])[:, None]
    return out


def _gain(xp: Any, score: Any, inner: Any, shared: Any, precision: float) -> Any:
    """Return the log evidence of one more effect: its slope, its curvature, and what others share of that."""
    left = inner - shared
    return 0.5 * (score * score / left - xp.log(left / precision))


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
        self._root = xp.linalg.cholesky(xp.linalg.inv(self._curvature(share)))
        self._gain = fused(xp, _gain)

    def evidence(self, some: slice, counts: Any) -> Any:
        """Return t of every y, from the rows of each slice and level of x where it is 1."""
        xp, mean, spread = self.xp, self._mean[some], self._spread[some]
        left = xp.stack([-CONTRAST - mean, CONTRAST - mean], axis=2).reshape(len(mean), 1, -1)
        weighed = xp.repeat((spread[:, :, None] * self._design).transpose(0, 2, 1), 2, axis=2)
        weights = SQRT_TWO * xp.concatenate([left, self._root[some].transpose(0, 2, 1) @ weighed], axis=1)
        sizes = self._counts[some].reshape(len(mean), -1, 1)
        sums = weights @ counts.astype(float) - 0.5 * (weights @ sizes)
        score, cross = sums[:, 0], sums[:, 1:]
        inner = 0.5 * (spread * self._rows[some]).sum(axis=1)[:, None] + self._precision
        return self._gain(score, inner, xp.square(cross).sum(axis=1), self._precision)

    def _climb(self) -> None:
        """Climb to the modes by Newton's method; steps that do not pay are halved."""
        xp, value = self.xp, self._log_posterior(self._theta)
        for _ in range(NEWTON):
            share = self._share(self._theta)
            pull = SQRT_TWO * (self._counts[:, :, 1] - self._rows * share)
            gradient = pull @ self._design - self._prior * self._theta
            step = xp.linalg.solve(self._curvature(share), gradient[:, :, None])[:, :, 0]
            if float((gradient * step).sum(axis=1).max()) < CLOSE:
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
