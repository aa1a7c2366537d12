"""How well the rest of a row predicts each of its values, by models that were made without that row.

The leave-one-out log pseudo-likelihood, Σ_rows log p(x | the other values of the row), makes undirected and
directed graphs comparable: both say how x depends on its Markov blanket, and neither has seen the row. It is
a sum over the slices of the blanket, so it comes from counts, and takes no second fit for any row. Variables
of too many levels, which have no edges, say nothing.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.engines import Engine, Questions, ask
from ibmap.engines.engine import conditionals_of
from ibmap.engines.model import Model
from ibmap.scores.families import is_modelled

AT_ONCE = 1 << 22  #: rows times variables of a trip, at most
DENSE = 1 << 20  #: combinations of levels that are counted without looking which of them occur
NONE = np.empty(0, np.int64)


class Blanket:
    """The observed configurations of x with its blanket: levels (x first), and how many rows have each."""

    def __init__(self, variables: Ints, levels: Ints, counts: Ints) -> None:
        self.variables, self.levels, self.counts = variables, levels, counts

    @property
    def n_rows(self) -> int:
        """Rows that know x and all of its blanket."""
        return int(self.counts.sum())


def best_left_out(
    engine: Engine, blankets: Sequence[Ints], effect_variance: float = 1.0, prior_count: float = 0.5
) -> Floats:
    """Return, for every x, what its blanket says: by main effects or by a full table, whichever is better.

    Main effects by the log likelihood at the mode, less the number of parameters that the data and not the
    prior have set (Takeuchi's criterion), which is what leaving out each row in turn would cost to first
    order; full tables by their counts without the row.
    """
    out = np.zeros(len(blankets))
    conditionals = conditionals_of(engine, Model("adaptive", effect_variance, prior_count))
    for xs in _trips(engine, blankets):
        asked, slices = ask(engine, Questions.of([(x, NONE, blankets[x]) for x in xs])).answered()
        found = conditionals.left_out(
            *(asked.x, asked.given, asked.given_start, slices.start, slices.keys, slices.set_start),
            *(slices.sets, 1),
        )
        owner = np.repeat(np.arange(len(xs)), np.diff(slices.set_start))
        n_rows = np.bincount(owner, slices.sets[2], minlength=len(xs))
        out[xs] = found.max(axis=0) * _scale(engine, n_rows)
    return out


def directed_left_out(engine: Engine, arcs: Bools, size: float) -> Floats:
    """Return, for every x, what a directed graph says: p(x | parents) Π p(child | its parents), normalised.

    ``arcs[x, y]`` is y → x; every family has the prior counts of BDeu, which add up to ``size``.
    """
    out, levels = np.zeros(len(arcs)), np.asarray(engine.schema.cardinalities)
    blankets = [blanket_of(arcs, x) for x in range(len(arcs))]
    for xs in _trips(engine, blankets):
        for x, blanket in zip(xs, _blankets(engine, xs, blankets), strict=True):
            logs = np.zeros((len(blanket.counts), levels[x]))
            for child in (x, *np.flatnonzero(arcs[:, x]).tolist()):
                logs += _of_family(blanket, child, np.flatnonzero(arcs[child]), levels, size)
            seen = logs[np.arange(len(logs)), blanket.levels[:, 0]] - np.logaddexp.reduce(logs, axis=1)
            out[x] = float(blanket.counts @ seen) * _scale(engine, np.array(blanket.n_rows))
    return out


def blanket_of(arcs: Bools, x: int) -> Ints:
    """Return the Markov blanket of x in a directed graph: parents, children, and their other parents."""
    children = arcs[:, x]
    mine = arcs[x] | children | arcs[children].any(axis=0)
    mine[x] = False
    return np.flatnonzero(mine)


def _of_family(blanket: Blanket, child: int, parents: Ints, levels: Ints, size: float) -> Floats:
    """Return log p(child | parents) for every configuration and every level of x, without one of its rows.

    A row that is left out is in the counts where x has its own level; where x is the child, it is in those
    of the parents at all levels.
    """
    x, r, n = int(blanket.variables[0]), int(levels[blanket.variables[0]]), len(blanket.counts)
    every = np.tile(np.arange(r), n)  # x has all its levels, in every configuration
    column = dict(zip(blanket.variables.tolist(), blanket.levels.T, strict=True))
    both = {v: np.append(c, every if v == x else np.repeat(c, r)) for v, c in column.items()}
    code, most = _coded([both[v] for v in parents.tolist()], levels[parents], np.zeros(n + n * r, np.int64))
    in_slice = np.bincount(code[:n], blanket.counts, minlength=most)[code[n:]].reshape(n, r)
    code, most = _coded([both[child]], levels[[child]], code, most)
    in_cell = np.bincount(code[:n], blanket.counts, minlength=most)[code[n:]].reshape(n, r)
    own = blanket.levels[:, :1] == np.arange(r)
    count = size / float(np.prod(levels[[child, *parents]].astype(float)))
    rest = in_slice - (1 if x == child else own)
    return np.asarray(np.log((in_cell - own + count) / (rest + count * levels[child])))


def _coded(columns: Sequence[Ints], levels: Ints, code: Ints, most: int = 1) -> tuple[Ints, int]:
    """Return one number for every combination of what it was so far with some columns, and their bound."""
    for column, r in zip(columns, levels.tolist(), strict=True):
        code, most = code * r + column, most * r
        if most > DENSE:
            distinct, code = np.unique(code, return_inverse=True)
            most = len(distinct)
    return code, most


def _blankets(engine: Engine, xs: Sequence[int], blankets: Sequence[Ints]) -> Iterator[Blanket]:
    """Yield the configurations of some variables with their blankets: one trip."""
    tables = ask(engine, Questions.of([(x, NONE, blankets[x]) for x in xs]))
    for one in tables.one_by_one():
        k, level, size = tables.answered()[1].sets[:, one.sets]
        yield Blanket(np.append(one.x, blankets[one.x]), np.column_stack([level, one.keys[k]]), size)


def _trips(engine: Engine, blankets: Sequence[Ints]) -> Iterator[list[int]]:
    """Yield the variables that are modelled, some at a time, so that no answer is large."""
    trip: list[int] = []
    large = 0
    for x in np.flatnonzero(is_modelled(engine.schema)).tolist():
        trip.append(x)
        large += engine.schema.n_rows * (len(blankets[x]) + 3)
        if large >= AT_ONCE:
            yield trip
            trip, large = [], 0
    if trip:
        yield trip


def _scale(engine: Engine, rows: Ints) -> Floats:
    """Return by how much to raise sums over rows that know enough, so that they stand for all rows."""
    return np.asarray(engine.schema.n_rows / np.maximum(rows, 1))
