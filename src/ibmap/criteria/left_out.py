"""How well the rest of a row predicts each of its values, by models that were made without that row.

The leave-one-out log pseudo-likelihood, Σ_rows log p(x | the other values of the row), makes undirected and
directed graphs comparable: both say how x depends on its Markov blanket, and neither has seen the row. It is
a sum over the slices of the blanket, so it comes from counts, and takes no second fit for any row. Variables
of too many levels, which have no edges, say nothing.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ibmap import _core
from ibmap._types import Bools, Floats, Ints
from ibmap.criteria.families import is_modelled
from ibmap.engines import Engine, Questions, ask
from ibmap.engines.engine import conditionals_of
from ibmap.engines.model import Model

AT_ONCE = 1 << 22  #: rows times variables of a trip, at most
NONE = np.empty(0, np.int64)


class Counted(NamedTuple):
    """Some x with the slices of their blankets, as the core takes them; see ``engines/tables.py``."""

    x: Ints
    given: Ints
    given_start: Ints
    slice_start: Ints
    keys: Ints
    set_start: Ints
    sets: Ints

    @property
    def n_rows(self) -> Ints:
        """Rows that know x and all of its blanket."""
        return np.diff(np.append(0, np.cumsum(self.sets[2]))[self.set_start])


def best_left_out(
    engine: Engine, blankets: Sequence[Ints], effect_variance: float = 1.0, prior_count: float = 0.5
) -> Floats:
    """Return, for every x, what its blanket says: by main effects or by a full table, whichever is better.

    Main effects by the log likelihood at the mode, less the number of parameters that the data and not the
    prior have set (Takeuchi's criterion), which is what leaving out each row in turn would cost to first
    order; full tables by their counts without the row.
    """
    conditionals = conditionals_of(engine, Model("adaptive", effect_variance, prior_count))
    out = np.zeros(len(blankets))
    for counted in _trips(engine, blankets):
        logs = conditionals.left_out(*counted, 1).max(axis=0)
        out[counted.x] = logs * engine.schema.n_rows / np.maximum(counted.n_rows, 1)
    return out


def shares_left_out(engine: Engine, blankets: Sequence[Ints]) -> Floats:
    """Return which share of the deviance of every x its blanket takes away, each row left out in turn.

    The deviance without a blanket is that of the same rows. NaN where x is not predicted, or never varies.
    """
    conditionals = conditionals_of(engine, Model("adaptive"))
    out, levels = np.full(len(blankets), np.nan), np.asarray(engine.schema.cardinalities, np.int64)
    for counted in _trips(engine, blankets):
        logs = conditionals.left_out(*counted, 1).max(axis=0)
        counts = np.zeros((len(counted.x), levels[counted.x].max(initial=1)))
        question = np.repeat(np.arange(len(counted.x)), np.diff(counted.set_start))
        np.add.at(counts, (question, counted.sets[1]), counted.sets[2])
        before = log_left_out(counts, levels[counted.x])
        out[counted.x] = 1 - np.divide(logs, before, out=np.full(len(logs), np.nan), where=before < 0)
    return out


def log_left_out(counts: Floats, levels: Ints, prior_count: float = 0.5) -> Floats:
    """Return the log likelihood of rows by the shares of the levels in the other rows, of all counts.

    Examples
    --------
    >>> log_left_out(np.array([[3.0, 1.0]]), np.array([2])).round(3).tolist()  # 3 log(2.5 / 4) + log(0.5 / 4)
    [-3.489]
    """
    others = np.maximum(counts.sum(axis=1) - 1 + prior_count * levels, prior_count)
    shares = np.maximum(counts - 1 + prior_count, prior_count) / others[:, None]
    return np.asarray((counts * np.log(shares)).sum(axis=1))


def directed_left_out(
    engine: Engine, arcs: Bools, size: float, known: tuple[Bools, Floats] | None = None
) -> Floats:
    """Return, for every x, what a directed graph says: p(x | parents) Π p(child | its parents), normalised.

    ``arcs[x, y]`` is y → x; every family has the prior counts of BDeu, which add up to ``size``. ``known``
    are other arcs, and what was returned for them: it holds for variables whose families are the same.
    """
    out, changed = np.zeros(len(arcs)), np.ones(len(arcs), bool)
    if known is not None:
        other, out = known[0], known[1].copy()
        families = (arcs != other).any(axis=1)
        changed = families | (arcs | other)[families].any(axis=0)
    levels, blankets = np.array(engine.schema.cardinalities, np.int64), [NONE] * len(arcs)
    for x in np.flatnonzero(changed).tolist():
        blankets[x] = blanket_of(arcs, x)
    for counted in _trips(engine, blankets, changed):
        out[counted.x] = _core.directed_left_out(levels, *counted, arcs, size) * engine.schema.n_rows
    return out


def blanket_of(arcs: Bools, x: int) -> Ints:
    """Return the Markov blanket of x in a directed graph: parents, children, and their other parents."""
    children = arcs[:, x]
    mine = arcs[x] | children | arcs[children].any(axis=0)
    mine[x] = False
    return np.flatnonzero(mine)


def _trips(engine: Engine, blankets: Sequence[Ints], which: Bools | None = None) -> Iterator[Counted]:
    """Yield the variables that are modelled, or which of them, some at a time: no answer is large."""
    modelled = is_modelled(engine.schema)
    every = np.flatnonzero(modelled if which is None else modelled & which)
    numbers = np.cumsum([engine.schema.n_rows * (len(blankets[x]) + 3) for x in every.tolist()])
    for xs in np.split(every, np.flatnonzero(np.diff(numbers // AT_ONCE)) + 1):
        asked, slices = ask(engine, Questions.of([(x, NONE, blankets[x]) for x in xs.tolist()])).answered()
        sets = slices.start, slices.keys, slices.set_start, slices.sets
        yield Counted(asked.x, asked.given, asked.given_start, *sets)
