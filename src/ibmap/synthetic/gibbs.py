"""Gibbs sampling: one independent chain per row, or one chain that is read again and again."""

import numpy as np
from numpy.typing import NDArray

from ibmap._random import RandomState, generator
from ibmap.errors import RequestError
from ibmap.synthetic.factors import FactorModel
from ibmap.synthetic.pairwise import PairwiseModel

Model = PairwiseModel | FactorModel
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
FlatTables = tuple[Ints, Floats, Ints, Ints, Ints, Floats, Ints, NDArray[np.bool_]]

SWEEPS = 200
_LARGEST_LOG = 700.0  # exp() of this and of its negative are ordinary float64 numbers
_ROWS_AT_ONCE = 256  # of one chain, before Python may answer Ctrl-C


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
    if n_rows < 1 or sweeps < 1:
        raise RequestError(f"n_rows and sweeps must be at least 1: got {n_rows} and {sweeps}")
    if thin is not None and thin < 1:
        raise RequestError(f"thin must be at least 1, or None for independent chains: got {thin}")
    seed = generator(random_state).integers(2**64, dtype=np.uint64)
    rows = np.empty((n_rows, model.graph.n_variables), dtype=np.uint8)
    if thin is not None:
        tables = model if isinstance(model, FactorModel) else FactorModel.from_pairwise(model)
        _fill_from_one_chain(tables, seed, sweeps, thin, rows)
    elif isinstance(model, PairwiseModel):
        _fill_binary(model, seed, sweeps, rows)
    else:
        _fill_tables(model, seed, sweeps, rows)
    return rows


def _fill_binary(model: PairwiseModel, seed: np.uint64, sweeps: int, rows: NDArray[np.uint8]) -> None:
    from ibmap.kernels.gibbs_binary import LANES, run_chains

    parts = _neighbourhoods(model)
    for first in range(0, len(rows), LANES):
        run_chains(seed, first, sweeps, model.fields, *parts, rows[first : first + LANES])


def _fill_tables(model: FactorModel, seed: np.uint64, sweeps: int, rows: NDArray[np.uint8]) -> None:
    from ibmap.kernels.gibbs_binary import LANES
    from ibmap.kernels.gibbs_levels import run_tables

    parts = _flat_tables(model)
    for first in range(0, len(rows), LANES):
        run_tables(seed, first, sweeps, *parts, rows[first : first + LANES])


def _fill_from_one_chain(
    model: FactorModel, seed: np.uint64, sweeps: int, thin: int, rows: NDArray[np.uint8]
) -> None:
    from ibmap.kernels.gibbs_chain import start_walk, walk

    parts = _flat_tables(model)
    state, stream = np.empty(model.graph.n_variables, dtype=np.uint8), np.empty(2, dtype=np.uint64)
    start_walk(seed, parts[0], state, stream)
    walk(sweeps, *parts, state, stream, rows[:1])
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        walk(thin, *parts, state, stream, rows[first : first + _ROWS_AT_ONCE])


def _neighbourhoods(model: PairwiseModel) -> tuple[Ints, Ints, Floats, NDArray[np.bool_]]:
    """Return offsets, neighbours and couplings by variable, and where products of odds cannot overflow."""
    n = model.graph.n_variables
    pairs = model.graph.pairs
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    offsets = np.searchsorted(ends[order, 0], np.arange(n + 1))
    weights = np.tile(model.couplings, 2)[order]
    largest = np.abs(model.fields) + np.bincount(ends[order, 0], np.abs(weights), minlength=n)
    return offsets, np.ascontiguousarray(ends[order, 1]), weights, largest < _LARGEST_LOG


def _flat_tables(model: FactorModel) -> FlatTables:
    """Return levels, fields, neighbours and tables as the kernels want them: flat, the largest weight 1.

    Where products could underflow, the tables hold logarithms.
    """
    n, pairs = model.graph.n_variables, model.graph.pairs
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    offsets = np.searchsorted(ends[order, 0], np.arange(n + 1))
    both = [factor.T for factor in model.factors] + list(model.factors)  # row: level of the neighbour
    tables = [both[k] - both[k].max() for k in order.tolist()]
    fields = [field - field.max() for field in model.fields]
    spread = -np.array([field.min() for field in fields])
    np.subtract.at(spread, ends[order, 0], [table.min() for table in tables])
    by_product = spread < _LARGEST_LOG
    flat: list[tuple[Floats, Ints]] = []
    for parts, owner in ((fields, np.arange(n)), (tables, ends[order, 0])):
        start = np.cumsum([0] + [part.size for part in parts], dtype=np.int64)
        logs = np.concatenate([np.empty(0), *(part.ravel() for part in parts)])
        linear = np.repeat(by_product[owner], np.diff(start))
        flat.append((np.where(linear, np.exp(np.where(linear, logs, 0.0)), logs), start))
    return model.cardinalities, *flat[0], offsets, ends[order, 1].copy(), *flat[1], by_product
