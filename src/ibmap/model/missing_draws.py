"""Missing cells drawn from a model, given what their rows know: Gibbs sampling of levels and numbers."""

import numpy as np

from ibmap._core import sample_cells
from ibmap._random import RandomState, generator
from ibmap._types import Floats
from ibmap.errors import RequestError
from ibmap.model.cell_program import CellProgram

SWEEPS = 50  #: of the missing cells of a row, which its other cells hold in place


def fill_missing(
    program: CellProgram,
    rows: Floats,
    *,
    sweeps: int = SWEEPS,
    random_state: RandomState = None,
    n_threads: int = 1,
) -> Floats:
    """Return rows with their missing cells drawn from a model, given the other cells.

    What a row gets depends on its place, the seed and what it knows.

    Parameters
    ----------
    program : CellProgram
        The model: :func:`ibmap.model.cell_program.cell_program` of what was fitted.
    rows : ndarray of shape (variables, rows)
        Codes of levels, standard scores of numbers; NaN is missing.
    sweeps : int
        Draws of every missing cell, of which the last stays.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.
    n_threads : int
        Rows at a time; they change nothing.

    Examples
    --------
    >>> from ibmap import Graph
    >>> from ibmap.model.cell_program import cell_program
    >>> from ibmap.model.mixed_fitting import fit_mixed
    >>> copies, coins = np.tile([0.0, 1.0], (2, 500)), np.array([2, 2])
    >>> model = fit_mixed(Graph("ab", [("a", "b")]), copies, coins, np.zeros(2, bool), effect_variance=100.0)
    >>> program = cell_program(coins, model.fields, [(0, 1)], model.factors)
    >>> rows = np.array([[0.0, 1.0, 1.0], [np.nan, np.nan, 0.0]])
    >>> fill_missing(program, rows, random_state=0).tolist()
    [[0.0, 1.0, 1.0], [0.0, 1.0, 0.0]]
    """
    if not (np.isfinite(program.fields).all() and np.isfinite(program.tables).all()):
        raise RequestError(
            "the model has impossible configurations, between which a Gibbs sampler could get stuck: replace "
            "zeros in its tables by small numbers"
        )
    rng = generator(random_state)
    absent = np.ascontiguousarray(np.isnan(rows).T)
    filled = np.array(rows.T, np.float64, order="C")
    for v, r in enumerate(program.levels.tolist()):
        gaps = absent[:, v]
        filled[gaps, v] = rng.integers(r, size=gaps.sum()) if r else rng.normal(size=gaps.sum())
    seed = int(rng.integers(2**64, dtype=np.uint64))
    sample_cells(*program, rows=filled, absent=absent, seed=seed, sweeps=sweeps, n_threads=n_threads)
    return np.ascontiguousarray(filled.T)
