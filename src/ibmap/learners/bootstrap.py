"""How often is a pair adjacent in networks learned from resampled rows?

Replicates are subsamples: rows that are drawn twice look like dependence in small slices, and full tables
then look better than they are. Of the shares 0.5, 0.63, 0.8 and 0.9 the third has the fewest errors together
with the second smallest Brier score (``benchmarks/support.py``). Levels that a replicate lacks stay levels.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from inspect import signature
from threading import Event
from typing import Any

import numpy as np

from ibmap._checks import flag, whole
from ibmap._parallel import in_order, n_threads
from ibmap._random import RandomState, generator
from ibmap._types import Floats, Ints
from ibmap.engines import Engine, Source, as_engine
from ibmap.engines.memory import n_drawn
from ibmap.errors import DataError, RequestError
from ibmap.results.bootstrap import Bootstrapped
from ibmap.results.learned import Learned

SHARE = 0.8  #: of the rows that a replicate has


def bootstrap(
    data: Source,
    learn: Callable[[Engine], Learned],
    *,
    engine: Any = None,
    n_replicates: int = 100,
    random_state: RandomState = None,
    subsample: float | None = SHARE,
    n_jobs: int | None = None,
    advance: Callable[[int, int], object] | None = None,
    stability: bool = False,
) -> Bootstrapped:
    """Learn from the table, and from tables whose rows are resampled from it.

    Every replicate keeps the levels of the whole table, also those that none of its rows has: the number of
    levels is part of the question, not of the sample.

    Support is no probability, but it is nearer to one with subsamples: rows that are drawn twice look like
    dependence, above all in small slices, so that replicates with replacement have false edges that the whole
    table has not, and take longer. They rank the edges of the paper's learners a little better
    (``benchmarks/support.py``, where the truth is known).

    Parameters
    ----------
    data : Table or Engine
        The table, or an engine that holds it.
    learn : callable
        A learner: from an engine to what it has learned. If it takes a ``callback``, as ibmap's learners do,
        Ctrl-C does not wait for the replicates that other threads are at.
    engine : Engine, callable, str or None
        Who counts, and resamples; see :func:`ibmap.engines.as_engine`.
    n_replicates : int
        How many tables to draw.
    random_state : int, Generator or None
        The seed. The result does not depend on ``n_jobs``.
    subsample : float or None
        A share of the rows, none of them twice (stability selection, Meinshausen and Bühlmann 2010). None
        draws as many rows as there are, with replacement (the bootstrap to the letter).
    n_jobs : int or None
        Replicates at a time; None is one, -1 as many as there are cores.
    advance : callable or None
        Called with the number of replicates that are done, and of all, when another one is.
    stability : bool
        Whether to find the CS coefficient, too (:func:`centrality_stability`), by ten times as many tables.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.learners import ibmap_hc
    >>> data = load({"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1] * 40})
    >>> bootstrap(data, ibmap_hc, n_replicates=20, random_state=0).averaged(0.9).edges
    (('a', 'b'),)
    """
    n_replicates = whole(n_replicates, "n_replicates", 1, 10**6)
    counting, stability = as_engine(data, engine), flag(stability, "stability")
    if not counting.schema.n_rows:
        raise DataError("there are no rows to draw from")
    _check_share(subsample, counting.schema.n_rows)
    seeds = generator(random_state).spawn(n_replicates)
    threads = min(n_threads(n_jobs), n_replicates)
    learned, found = learn(counting), []
    with closing(_replicates(counting, learn, seeds, threads, subsample)) as replicates:
        for pairs in replicates:
            found.append(pairs)
            if advance:
                advance(len(found), int(n_replicates))
    n = max(counting.schema.n_variables, 1)
    keys, hits = np.unique(np.concatenate(found) @ np.array([n, 1]), return_counts=True)
    pairs = np.stack(np.divmod(keys, n), axis=1)
    more: dict[str, Any] = {"n_replicates": n_replicates, "random_state": random_state, "n_jobs": n_jobs}
    stable = centrality_stability(counting, learn, **more, advance=advance) if stability else None
    return Bootstrapped(learned, int(n_replicates), pairs, hits, subsample, stable)


DROPPED = tuple(np.linspace(0.05, 0.75, 10).round(3).tolist())  #: shares of the rows that are dropped
ENOUGH, PROBABLY = 0.7, 0.95  #: the correlation that must remain, and in which share of tables


def centrality_stability(
    data: Source,
    learn: Callable[..., Learned],
    *,
    engine: Any = None,
    n_replicates: int = 100,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    advance: Callable[[int, int], object] | None = None,
) -> float:
    """Return the CS coefficient of strength centrality: how many rows one can do without.

    The largest share of the rows that can be dropped so that the strength centralities (the strengths of the
    edges of each variable, added up) of 95 % of the tables correlate above 0.7 with those of the whole table.
    Above 0.5 the order of variables is stable; below 0.25 it says little (Epskamp, Borsboom and Fried 2018).

    Parameters
    ----------
    data, learn, engine, random_state, n_jobs, advance
        As of :func:`bootstrap`.
    n_replicates : int
        How many tables to draw for each of ten shares, from 5 % to 75 % of the rows dropped.
    """
    counting, n_replicates = as_engine(data, engine), whole(n_replicates, "n_replicates", 1, 10**6)
    goal, over = centrality(learn(counting).with_effects(counting)), Event()

    def correlation(_: int, draw: tuple[float, np.random.Generator]) -> float:
        if over.is_set():
            raise KeyboardInterrupt
        share, rng = draw
        some = counting.resampled(rng, 1 - share)
        found = centrality(learn(some).with_effects(some))
        varies = np.ptp(found) > 0 and np.ptp(goal) > 0
        return float(np.corrcoef(found, goal)[0, 1]) if varies else 0.0

    seeds, found = generator(random_state).spawn(n_replicates * len(DROPPED)), []
    draws = list(zip(np.repeat(DROPPED, n_replicates).tolist(), seeds, strict=True))
    for one in in_order(correlation, draws, min(n_threads(n_jobs), len(draws)), stop=over.set):
        found.append(one)
        if advance:
            advance(len(found), len(draws))
    return largest_drop(np.array(found).reshape(len(DROPPED), -1))


def centrality(learned: Learned) -> Floats:
    """Return the strength centrality of every variable."""
    graph, found = learned.graph, np.zeros(learned.graph.n_variables)
    strengths = [0.0] * graph.n_edges if learned.effects is None else learned.effects.strength
    for end in graph.pairs.T:
        np.add.at(found, end, np.nan_to_num(np.abs(strengths)))
    return found


def largest_drop(correlations: Floats, dropped: Sequence[float] = DROPPED) -> float:
    """Return the largest share of dropped rows up to which enough correlations are high enough; 0 if none.

    Examples
    --------
    >>> largest_drop(np.array([[0.9, 0.8], [0.9, 0.75], [0.9, 0.6], [0.8, 0.8]]), [0.1, 0.2, 0.3, 0.4])
    0.2
    """
    kept = np.logical_and.accumulate((correlations > ENOUGH).mean(axis=1) >= PROBABLY)
    return max((share for share, enough in zip(dropped, kept.tolist(), strict=True) if enough), default=0.0)


def _replicates(
    engine: Engine,
    learn: Callable[..., Learned],
    seeds: Sequence[np.random.Generator],
    threads: int,
    subsample: float | None,
) -> Generator[Ints]:
    """Yield the edges of every replicate, in the order of the seeds."""
    over = Event()
    callback = signature(learn).parameters.get("callback")
    heard = {} if callback is None or callback.default is not None else {"callback": lambda _: over.is_set()}

    def edges_of(_: int, rng: np.random.Generator) -> Ints:
        return learn(engine.resampled(rng, subsample), **heard).graph.pairs

    yield from in_order(edges_of, seeds, threads, stop=over.set)


def _check_share(subsample: float | None, n_rows: int) -> None:
    if subsample is None:
        return
    if isinstance(subsample, bool) or not isinstance(subsample, float | np.floating) or not 0 < subsample < 1:
        raise RequestError(f"subsample must lie between 0 and 1, such as 0.63, not {subsample!r}")
    if n_drawn(subsample, n_rows) < min(2, max(n_rows - 1, 1)):
        raise RequestError(
            f"subsample={subsample!r} leaves fewer than 2 of {n_rows} rows: take more, or draw with "
            "replacement (subsample=None, --with-replacement)"
        )
