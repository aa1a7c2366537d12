"""Each neighbour given the others: all of these tables are margins of one."""

import numpy as np

from ibmap.kernels.bayes_model import Model, Scratch, log_prior_of, log_slices, posterior_from
from ibmap.kernels.cells import factors_of_cells
from ibmap.kernels.hashing import slots_for
from ibmap.kernels.jit import allocating_part
from ibmap.kernels.margins import add_margin, hashes_of
from ibmap.kernels.partition import first_row, level_of
from ibmap.kernels.records import Ints, Packed, Sets


@allocating_part
def round_robin_posteriors(
    packed: Packed,
    sets: Sets,
    model: Model,
    scratch: Scratch,
    x: int,
    members: Ints,
    here: int,
    n_slices: int,
) -> None:
    """Posteriors of x against each member given the others, into ``scratch.yes`` and ``scratch.no``.

    The slices of ``members`` stand in place ``here``, split by x in place 2.
    """
    b, n_sets, n_slots = members.size, sets.child[2, n_slices], slots_for(n_slices)
    code_end, links_end = n_slices * b, n_slices * (b + 3)
    buffer = np.empty(links_end + n_slots + 4 * n_sets, np.int64)  # one allocation: a tenth of a small fit
    code, links = buffer[:code_end].reshape((n_slices, b)), buffer[code_end:links_end].reshape((3, n_slices))
    slots, cells = buffer[links_end : links_end + n_slots], buffer[links_end + n_slots :].reshape((4, n_sets))
    for k in range(n_slices):
        row = first_row(sets, here, k)
        for j in range(b):
            code[k, j] = level_of(packed, members[j], row)
    hashed = hashes_of(code)
    for j in range(b):
        y = members[j]
        end = add_margin(code, j, hashed, slots, links, sets.child[2], sets.code[2], sets.size[2], cells, 0)
        n, n_single = factors_of_cells(model, scratch, x, y, cells, np.int64(0), end, scratch.factors)
        log_possible = log_slices(packed, model, members, y, n + n_single)
        scratch.yes[j], scratch.no[j] = posterior_from(
            model, log_prior_of(model, x, y), scratch.factors, n, n_single, log_possible
        )
