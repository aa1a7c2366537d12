"""The rows of σ, compiled: the Bayesian test on counts that are in memory."""

import numpy as np

from ibmap.kernels.bayes_model import log_slices, records_of, routes_of
from ibmap.kernels.blocks import independence_block
from ibmap.kernels.cells import call_irregular, posterior_one
from ibmap.kernels.jit import ByAddress, kernel
from ibmap.kernels.partition import slices_of
from ibmap.kernels.pointers import floats_at, ints_at
from ibmap.kernels.records import Floats, Ints
from ibmap.kernels.round_robin import round_robin_posteriors
from ibmap.kernels.rows import ROW


def _closure_row(context: int, x: int, members: int, n_members: int, out: int) -> None:
    """``out[y] = σ_xy``: the log posterior of each assertion about x in the Markov blanket closure."""
    packed, sets, model, scratch = records_of(context)
    blanket, row = ints_at(members, n_members), floats_at(out, packed.levels.size)
    here, n_slices = slices_of(packed, sets, x, blanket)
    log_possible = log_slices(packed, model, blanket, np.int64(-1), n_slices)
    for block in range(packed.blocks.shape[0]):
        independence_block(packed, sets, model, scratch, x, n_slices, log_possible, block, row)
    (routes,) = routes_of(context)
    if routes.irregular:
        call_irregular(routes.irregular, context, x, here, n_slices, log_possible, out, row.size)
    if blanket.size:
        round_robin_posteriors(packed, sets, model, scratch, x, blanket, here, n_slices)
        for j in range(blanket.size):
            row[blanket[j]] = scratch.no[j]
    row[x] = 0.0


closure_row = ByAddress(ROW, _closure_row)


@kernel
def closure_block(context: Ints, x: int, blanket: Ints, block: int, out: Floats) -> None:
    """One block of the row of x, as ``closure_row`` has it; members of the blanket get what means nothing."""
    packed, sets, model, scratch = records_of(context)
    _, n_slices = slices_of(packed, sets, x, blanket)
    log_possible = log_slices(packed, model, blanket, np.int64(-1), n_slices)
    independence_block(packed, sets, model, scratch, x, n_slices, log_possible, block, out)


@kernel
def empty_irregular(context: Ints, y: int, sigma: Floats) -> None:
    """σ of the empty graph: an irregular variable against all regular, and later irregular ones; mirrored."""
    packed, sets, model, scratch = records_of(context)
    none = scratch.members[:0]
    here, n_slices = slices_of(packed, sets, y, none)
    for block in range(packed.blocks.shape[0]):
        independence_block(packed, sets, model, scratch, y, n_slices, 0.0, block, sigma[y])
    for z in packed.irregular:
        if z > y:
            sigma[y, z], _ = posterior_one(packed, sets, model, scratch, y, z, n_slices, 0.0, 1 - here)
            sigma[z, y] = sigma[y, z]
    for x in packed.order:
        sigma[x, y] = sigma[y, x]
    sigma[y, y] = 0.0
