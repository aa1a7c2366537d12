"""The three shapes of question, compiled: the Bayesian test on bits in memory."""

import numpy as np

from ibmap.kernels.bayes_model import log_slices, records_of
from ibmap.kernels.blocks import independence_block
from ibmap.kernels.cells import posterior_one
from ibmap.kernels.jit import allocating_kernel
from ibmap.kernels.logspace import log_one_minus_exp
from ibmap.kernels.partition import slices_of
from ibmap.kernels.records import Floats, Ints
from ibmap.kernels.round_robin import round_robin_posteriors


@allocating_kernel
def fixed_posteriors(
    context: Ints,
    x: int,
    ys: Ints,
    given: Ints,
    independent: Floats,
    dependent: Floats,
) -> None:
    """Posteriors of x against each of many ys, one conditioning set."""
    packed, sets, model, scratch = records_of(context)
    here, n_slices = slices_of(packed, sets, x, given)
    log_possible = log_slices(packed, model, given, np.int64(-1), n_slices)
    row = np.full(packed.levels.size, np.nan)
    if 8 * ys.size > packed.levels.size:
        for block in range(packed.blocks.shape[0]):
            independence_block(packed, sets, model, scratch, x, n_slices, log_possible, block, row)
    for i in range(ys.size):
        if row[ys[i]] < -1e-290:
            independent[i], dependent[i] = row[ys[i]], log_one_minus_exp(row[ys[i]])
        else:  # not scored with a block, or so certain that only the slow route keeps the digits
            independent[i], dependent[i] = posterior_one(
                packed, sets, model, scratch, x, ys[i], n_slices, log_possible, 1 - here
            )


@allocating_kernel
def round_robin(
    context: Ints,
    x: int,
    members: Ints,
    independent: Floats,
    dependent: Floats,
) -> None:
    """Posteriors of x against each member given the others."""
    packed, sets, model, scratch = records_of(context)
    here, n_slices = slices_of(packed, sets, x, members)
    round_robin_posteriors(packed, sets, model, scratch, x, members, here, n_slices)
    for j in range(members.size):
        independent[j], dependent[j] = scratch.yes[j], scratch.no[j]


@allocating_kernel
def first_separating(
    context: Ints,
    x: int,
    y: int,
    subsets: Ints,
    threshold: Floats,
) -> int:
    """Return the first row of ``subsets`` given which log Pr(x ⊥ y) exceeds the threshold; -1 if none."""
    packed, sets, model, scratch = records_of(context)
    for i in range(subsets.shape[0]):
        here, n_slices = slices_of(packed, sets, x, subsets[i])
        log_possible = log_slices(packed, model, subsets[i], np.int64(-1), n_slices)
        log_p, _ = posterior_one(packed, sets, model, scratch, x, y, n_slices, log_possible, 1 - here)
        if log_p > threshold[0]:
            return i
    return -1
