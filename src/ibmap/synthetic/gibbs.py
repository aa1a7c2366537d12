"""Gibbs sampling: one independent chain per row, or one chain that is read again and again."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ibmap import _core
from ibmap._checks import whole
from ibmap._random import RandomState, generator
from ibmap.graph import Graph
from ibmap.synthetic.factors import FactorModel
from ibmap.synthetic.pairwise import PairwiseModel

Model = PairwiseModel | FactorModel
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

SWEEPS = 200


def sample(
    model: Model,
    n_rows: int,
    *,
    sweeps: int = SWEEPS,
    thin: int | None = None,
    random_state: RandomState = None,
) -> NDArray[np.uint8]:
    """Draw rows from a model by Gibbs sampling.

    A row depends on the model, the seed, ``sweeps``, ``thin`` and its place alone: a longer sample begins
    with the shorter.

    Parameters
    ----------
    model : PairwiseModel or FactorModel
        The distribution.
    n_rows : int
        Number of rows.
    sweeps : int
        Updates of every variable before a chain is read. The default, 200, is at least twice what the paper's
        random networks need to forget their start (n up to 5000, log-odds 1); stronger couplings need more.
    thin : int, optional
        Read all rows from one chain, after ``sweeps``, with so many sweeps before each: cheaper, but rows
        that follow each other are alike unless it is large. By default every row is the end of its own chain
        from a uniform random start, and rows are independent.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.

    Returns
    -------
    ndarray of uint8, shape (n_rows, n_variables)

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> coin = PairwiseModel(Graph(["coin"]), fields=[np.log(3)], couplings=[])
    >>> bool(abs(sample(coin, 10_000, random_state=0).mean() - 0.75) < 0.02)
    True
    """
    n_rows, sweeps = whole(n_rows, "n_rows", 1), whole(sweeps, "sweeps", 1)
    thin = None if thin is None else whole(thin, "thin", 1)
    seed = int(generator(random_state).integers(2**64, dtype=np.uint64))
    rows = np.empty((n_rows, model.graph.n_variables), dtype=np.uint8)
    if thin is None and isinstance(model, PairwiseModel):
        _sample_binary(model, seed, sweeps, rows)
    else:
        tables = model if isinstance(model, FactorModel) else FactorModel.from_pairwise(model)
        _sample_tables(tables, seed, sweeps, thin or 0, rows)
    return rows


def _sample_binary(model: PairwiseModel, seed: int, sweeps: int, rows: NDArray[np.uint8]) -> None:
    start, neighbours, order = _neighbourhoods(model.graph)
    couplings = np.tile(model.couplings, 2)[order]
    _core.sample_binary(model.fields, start, neighbours, couplings, seed=seed, sweeps=sweeps, rows=rows)


def _sample_tables(model: FactorModel, seed: int, sweeps: int, thin: int, rows: NDArray[np.uint8]) -> None:
    start, neighbours, order = _neighbourhoods(model.graph)
    both = [factor.T for factor in model.factors] + list(model.factors)  # row: level of the neighbour
    fields, tables = _joined(model.fields), _joined(both[k].ravel() for k in order.tolist())
    _core.sample_tables(
        model.cardinalities, fields, start, neighbours, tables, seed=seed, sweeps=sweeps, thin=thin, rows=rows
    )


def _neighbourhoods(graph: Graph) -> tuple[Ints, Ints, Ints]:
    """Return where the neighbours of each variable start, the neighbours, and their edges.

    Edge k is seen from its first end as k, from its second as k + the number of edges.
    """
    ends = np.concatenate([graph.pairs, graph.pairs[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    start = np.searchsorted(ends[order, 0], np.arange(graph.n_variables + 1))
    return start, np.ascontiguousarray(ends[order, 1]), order


def _joined(arrays: Iterable[Floats]) -> Floats:
    return np.concatenate([np.empty(0), *arrays])
