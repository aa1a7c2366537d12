"""Gibbs sampling: one independent chain per row."""

import numpy as np
from numpy.typing import NDArray

from ibmap.errors import RequestError
from ibmap.synthetic.pairwise import PairwiseModel

RandomState = int | np.random.Generator | None

SWEEPS = 200
_LARGEST_LOG = 700.0  # exp() of this and of its negative are ordinary float64 numbers


def sample(
    model: PairwiseModel, n_rows: int, *, sweeps: int = SWEEPS, random_state: RandomState = None
) -> NDArray[np.uint8]:
    """Draw rows from a model, each the end of its own chain from a uniform random start.

    Row r depends on the model, the seed, ``sweeps`` and r alone: a longer sample begins with the shorter.

    Parameters
    ----------
    model : PairwiseModel
        The distribution.
    n_rows : int
        Number of chains.
    sweeps : int
        Updates of every variable before a chain is read. The default, 200, is at least twice what the paper's
        random networks need to forget their start (n up to 5000, log-odds 1); stronger couplings need more.
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
    from ibmap.synthetic._kernels import LANES, run_chains

    seed = generator(random_state).integers(2**64, dtype=np.uint64)
    parts = _neighbourhoods(model)
    rows = np.empty((n_rows, model.graph.n_variables), dtype=np.uint8)
    for first in range(0, n_rows, LANES):
        run_chains(seed, first, sweeps, model.fields, *parts, rows[first : first + LANES])
    return rows


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator that a seed stands for, or the generator itself."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise RequestError(
            f"random_state must be a non-negative integer, a numpy Generator or None: got {random_state!r}"
        ) from None


def _neighbourhoods(
    model: PairwiseModel,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return offsets, neighbours and couplings by variable, and where products of odds cannot overflow."""
    n = model.graph.n_variables
    pairs = model.graph.pairs
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    offsets = np.searchsorted(ends[order, 0], np.arange(n + 1))
    weights = np.tile(model.couplings, 2)[order]
    largest = np.abs(model.fields) + np.bincount(ends[order, 0], np.abs(weights), minlength=n)
    return offsets, np.ascontiguousarray(ends[order, 1]), weights, largest < _LARGEST_LOG
