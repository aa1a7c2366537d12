"""What the compiled GSMN and HHC-MN take of the Bayesian test; it goes with them."""

from typing import TYPE_CHECKING

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.engines.memory import new_sets
from ibmap.kernels.bayes_model import Model, Scratch, fill_table
from ibmap.kernels.context import Context
from ibmap.kernels.records import Sets

if TYPE_CHECKING:
    from ibmap.independence.bayesian import CompiledBayesianTest

COUNTS = 1 << 16  #: counts that are made before they are scored
MOST_TOTALS = 1 << 21  #: numbers that tables of log Γ may hold for the sake of the totals of slices


def context_of(test: "CompiledBayesianTest") -> Context:
    """Return what kernels need, with a workspace for one thread."""
    sets, scratch = workspace_of(test)
    return Context(test.engine.packed, sets, model_of(test), scratch)


def workspace_of(test: "CompiledBayesianTest") -> tuple[Sets, Scratch]:
    """Return new buffers for one thread."""
    packed = test.engine.packed
    blocks, n_rows = packed.blocks, packed.n_rows
    widest, stride = 8, 8
    if len(blocks):
        widest += int(((blocks[:, 0] - 1) * blocks[:, 4]).max())
        stride += int(blocks[:, 4].max())
    n_levels = int(test.levels.max(initial=1))
    return new_sets(n_rows), _scratch(len(test.levels), n_levels, n_rows, widest, stride)


def _scratch(n: int, n_levels: int, n_rows: int = 1, widest: int = 8, stride: int = 8) -> Scratch:
    """Return buffers for n variables; for tables of cells the defaults do, for bits a block must fit."""
    n_sets = max(2, COUNTS // (widest + 64)) if n_rows > 1 else 1
    return Scratch(
        np.empty((n_sets, widest + 64), np.int32),
        np.empty(n_sets, np.int64),
        np.zeros(2, np.int64),
        np.empty(widest, np.int32),
        np.empty(widest, np.int32),
        np.empty(stride, np.int32),
        np.empty(stride),
        np.empty(stride),
        np.empty(stride),
        np.empty(stride),
        np.zeros(n_levels, np.int64),
        np.empty(n, np.int64),
        np.empty(max(1, n_rows)),
        np.empty(n),
        np.empty(n),
    )


def model_of(test: "CompiledBayesianTest") -> Model:
    """Number the distinct cardinalities and tabulate log Γ for every prior count that they need."""
    from ibmap.independence.bayesian import prior_counts_of

    levels, n_rows = test.levels, test.engine.schema.n_rows
    distinct, kind = np.unique(levels, return_inverse=True)
    rows = np.repeat(distinct[:, None].astype(float), len(distinct), axis=1)
    columns = rows.T
    cell, margin = prior_counts_of(test.test, levels)
    totals = (cell * rows * columns, margin * rows)
    parameters = {*cell.ravel().tolist(), *margin.ravel().tolist()}
    with_totals = parameters.union(totals[0].ravel().tolist(), totals[1].ravel().tolist())
    if len(with_totals) * n_rows <= MOST_TOTALS:
        parameters = with_totals
    ascending = sorted(parameters)
    tables = np.empty((len(ascending), n_rows + 1))
    for parameter, table in zip(ascending, tables, strict=True):
        fill_table(parameter, table)

    position = {parameter: k for k, parameter in enumerate(ascending)}

    def which(values: Floats) -> Ints:
        found = [position.get(value, -1) for value in values.ravel().tolist()]
        return np.array(found, np.int64).reshape(values.shape)

    of_totals = which(totals[0]), which(totals[1])
    if parameters is not with_totals:
        of_totals = np.full_like(of_totals[0], -1), np.full_like(of_totals[1], -1)
    return Model(
        kind.reshape(-1).astype(np.int64),
        distinct.astype(np.int64),
        tables,
        which(cell),
        which(margin),
        *totals,
        *of_totals,
        test.log_prior,
        test.test.slices == "all",
        test.test.combine == "global",
    )
