"""Rows from a model: exactly, clique by clique, or by the compiled Gibbs sampler."""

import numpy as np

from ibmap._random import RandomState, generator
from ibmap._types import Floats, Ints
from ibmap.errors import RequestError
from ibmap.model.cell_program import cell_program
from ibmap.model.junction_tree import JunctionTree
from ibmap.model.layout import Layout
from ibmap.model.missing_draws import fill_missing
from ibmap.synthetic.factors import MOST_LEVELS, FactorModel
from ibmap.synthetic.gibbs import SWEEPS
from ibmap.synthetic.gibbs import sample as gibbs_sample


def gibbs_rows(
    layout: Layout, theta: Floats, n_rows: int, sweeps: int = SWEEPS, random_state: RandomState = None
) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    """Return rows of codes (rows, variables), each the end of a chain of its own."""
    if not np.isfinite(theta).all():
        raise RequestError(
            "the model has impossible configurations, between which a Gibbs sampler could get stuck, and it "
            "is "
            "too large for exact inference: replace zeros in its tables by small numbers"
        )
    if layout.levels.max(initial=1) > MOST_LEVELS:
        raise RequestError(f"the Gibbs sampler takes variables of at most {MOST_LEVELS} levels")
    if layout.interactions:
        program = cell_program(
            layout.levels.tolist(),
            layout.fields(theta),
            layout.scopes,
            layout.factors(theta) + layout.tables(theta),
        )
        nothing = np.full((len(layout.levels), n_rows), np.nan)
        return fill_missing(program, nothing, sweeps=sweeps, random_state=random_state).T.astype(np.uint8)
    model = FactorModel(layout.graph, tuple(layout.fields(theta)), tuple(layout.factors(theta)))
    return gibbs_sample(model, n_rows, sweeps=sweeps, random_state=random_state)


def exact_rows(tree: JunctionTree, theta: Floats, n_rows: int, random_state: RandomState = None) -> Ints:
    """Return independent rows of codes (rows, variables).

    A clique is drawn given what it shares with its parent, from its belief.
    """
    rng, layout = generator(random_state), tree.layout
    work = tree.started(theta)
    tree.run(work, 0, tree.step_belief[-1] + 1)
    rows = np.empty((n_rows, len(layout.levels)), np.int64)
    for k, clique in enumerate(tree.cliques):
        logs = work[tree.belief[k] : tree.belief[k] + tree.n_cells[k]]
        shared, own = clique.variables[: clique.n_shared], clique.variables[clique.n_shared :]
        sizes = tree.sizes[k][: clique.n_shared]
        table = logs.reshape(int(np.prod(sizes)), -1)
        peak = table.max(axis=1, keepdims=True)
        shares = np.exp(table - np.where(np.isfinite(peak), peak, 0.0))
        sums = np.cumsum(shares, axis=1)
        sums /= np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
        slot = np.ravel_multi_index(tuple(rows[:, shared].T), sizes) if shared else np.zeros(n_rows, np.int64)
        flat = (sums + np.arange(len(sums))[:, None]).ravel()
        cell = np.searchsorted(flat, slot + rng.random(n_rows), side="right") - slot * sums.shape[1]
        rows[:, own] = np.stack(np.unravel_index(cell, tree.sizes[k][clique.n_shared :]), axis=1)
    return rows
