"""Codes or amounts? Of whole numbers with few values only the evidence can say.

Such a column enters a network as categories (contrasts of its levels) or as ordered levels (one column of
scores). Both are taken into one table, and each in turn is explained by a few others: of its neighbours
that are undecided, too, whichever of both says more. s_x(B) of the two is the probability of the same
levels, so their difference is the log odds of the kinds. How many of the undecided columns are amounts is
learned, as the prior of edges is: columns of one table are often alike.
"""

from collections.abc import Sequence

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.criteria.families import FIRST_GUESS, log_prior_odds
from ibmap.data import Table
from ibmap.engines import Engine, as_engine
from ibmap.engines.mixed import MixedEngine
from ibmap.engines.model import Model

MEMBERS = 3  #: neighbours that explain a column, at most
REVISIONS = 20  #: of the share of amounts, at most


def probability_of_amounts(engine: Engine, undecided: Sequence[str], n_threads: int = 1) -> dict[str, float]:
    """Return how probable it is, for each of some columns, that its levels are amounts and not codes.

    Above one half a column is better taken as ordinal, otherwise as nominal. A column of two levels or fewer
    is the same either way, and gets no entry.

    Parameters
    ----------
    engine : MemoryEngine or MixedEngine
        Where the rows are. What kind the undecided columns have there changes nothing.
    undecided : sequence of str
        Columns of whole numbers whose kind nobody has declared; their levels stand in ascending order.
    n_threads : int
        Threads that make rows.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> rng = np.random.default_rng(0)
    >>> age = rng.integers(5, size=400)
    >>> colour = rng.integers(5, size=400)
    >>> mood = np.clip(age + rng.integers(-1, 2, size=400), 0, 4)
    >>> taste = np.where(rng.random(400) < 0.7, np.array([3, 0, 4, 1, 2])[colour], rng.integers(5, size=400))
    >>> table = MemoryEngine(load({"age": age, "mood": mood, "colour": colour, "taste": taste}))
    >>> found = probability_of_amounts(table, table.schema.names)
    >>> [name for name, share in found.items() if share > 0.5]
    ['age', 'mood']
    """
    mixed = engine.row_by_row
    names = [name for name in undecided if len(mixed.schema.levels[mixed.schema.index(name)]) > 2]
    if not names:
        return {}
    twins = mixed.in_both_kinds(names)
    codes, n = np.array(mixed.schema.indices(names), np.int64), twins.schema.n_variables
    amounts, twin = np.arange(n - len(names), n), np.arange(n)
    twin[codes], twin[amounts] = amounts, codes
    found = explained(twins, np.concatenate([codes, amounts]), twin, n_threads)
    odds = found[len(names) :] - found[: len(names)]
    return dict(zip(names, with_learned_share(odds).tolist(), strict=True))


def with_kinds(table: Table, n_threads: int = 1) -> Table:
    """Return a table in which columns of few whole numbers are ordinal where that has more evidence.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> mood = rng.normal(size=400)
    >>> answers = {name: np.clip(np.round(mood + rng.normal(size=400)), -2, 2) for name in ("q0", "q1", "q2")}
    >>> found = with_kinds(load(answers, continuous="auto"))
    >>> found.ordinal, found.reading["ordinal"], found.undecided
    (('q0', 'q1', 'q2'), ['q0', 'q1', 'q2'], ())
    """
    if not table.undecided:
        return table
    shares = probability_of_amounts(as_engine(table), table.undecided, n_threads)
    amounts = [name for name, share in shares.items() if share > 0.5]
    if not amounts:
        return table.with_description(undecided=())
    ordinal = [*(table.reading.get("ordinal") or ()), *amounts]
    found = table.with_ordinal((*table.ordinal, *amounts))
    return found.with_description(undecided=(), reading={**table.reading, "ordinal": ordinal})


def explained(engine: MixedEngine, xs: Ints, twin: Ints, n_threads: int = 1) -> Floats:
    """Return s_x(B) of some variables, of which each takes the best neighbours one after the other.

    Neither its own twin nor that of a neighbour is one.
    """
    n = len(twin)
    odds = log_prior_odds(max(n - len(xs) // 2, 2), FIRST_GUESS)
    model = Model("mixed", log_odds=odds, n_threads=n_threads)
    blankets: list[list[int]] = [[] for _ in xs]
    values, growing = np.zeros(len(xs)), np.arange(len(xs))
    for size in range(MEMBERS + 1):
        floor = 0.0 if size < MEMBERS else np.inf
        rows = engine.rows(model, xs[growing], [blankets[k] for k in growing], floor=floor)
        values[growing] = 2 * rows.value
        evidence = rows.matrix(n)
        for row, k in enumerate(growing.tolist()):
            taken = [int(xs[k]), *blankets[k]]
            evidence[row, taken] = evidence[row, twin[taken]] = 0.0
            if size < MEMBERS and evidence[row].max() > 0.0:
                blankets[k] = sorted([*blankets[k], int(evidence[row].argmax())])
        growing = np.array([k for k in growing.tolist() if len(blankets[k]) > size], np.int64)
        if not len(growing):
            break
    return values


def with_learned_share(odds: Floats) -> Floats:
    """Return probabilities whose mean is their prior.

    Examples
    --------
    >>> with_learned_share(np.array([9.0, 8.0, 7.0, 0.0])).round(2).tolist()
    [1.0, 1.0, 1.0, 0.8]
    """
    found = np.full(len(odds), 0.5)
    for _ in range(REVISIONS):
        share = (found.sum() + 1.0) / (len(odds) + 2.0)
        found = np.exp(-np.logaddexp(0.0, -odds - np.log(share / (1.0 - share))))
    return np.asarray(found)
