"""Sums and products of strided tables of logarithms: what inference in a junction tree is made of.

A program is a list of steps. A step goes over all cells of a table, adds up the entries of its operands
there, and adds the exponentials into its target, as logarithms. Step s has the dimensions
``size[shape[s]:shape[s + 1]]``. An operand or a target is a place in ``work``, and a stride for every
dimension; a stride of 0 leaves a dimension out. The slow twin is in ``tests/reference/sum_product.py``.
"""

import numpy as np

from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.logspace import exp
from ibmap.kernels.records import Floats, Ints


@inline
def _next_line(
    digit: Ints, position: Ints, size: Ints, first: int, last: int, stride: Ints, one: int
) -> None:
    """Go to the next line: of all dimensions but the last one, which is the line, the last runs fastest."""
    d, n, n_dims = last - 2, position.size, last - first
    while d >= first:
        j = d - first
        digit[j] += 1
        turned = digit[j] == size[d]
        for o in range(n):
            position[o] += stride[one + o * n_dims + j] * (1 - size[d] * turned)
        if not turned:
            return
        digit[j] = 0
        d -= 1


@kernel
def run_steps(
    first_step: int,
    last_step: int,
    shape: Ints,
    size: Ints,
    places: Ints,
    place: Ints,
    stride_start: Ints,
    stride: Ints,
    work: Floats,
    scratch: Floats,
    peak: Floats,
    digits: Ints,
    positions: Ints,
) -> None:
    """Run some steps of a program.

    The places of step s are ``place[places[s]:places[s + 1]]``, the target last; their strides begin at
    ``stride_start[s]``. ``scratch`` and ``peak`` have an entry for every cell of the largest table.
    """
    for s in range(first_step, last_step):
        first, last, one = shape[s], shape[s + 1], stride_start[s]
        n, n_dims, line = places[s + 1] - places[s] - 1, last - first, size[last - 1]
        digit, position = digits[:n_dims], positions[: n + 1]
        target, along = place[places[s] + n], stride[one + (n + 1) * n_dims - 1]
        n_cells, n_targets = 1, 1
        for d in range(n_dims):
            n_cells *= size[first + d]
            digit[d] = 0
            if stride[one + n * n_dims + d] != 0:
                n_targets *= size[first + d]
        for o in range(n + 1):
            position[o] = place[places[s] + o]
        for t in range(n_targets):
            peak[t] = -np.inf
        for cell in range(0, n_cells, line):
            for j in range(line):
                scratch[cell + j] = 0.0
            for o in range(n):
                at, step = position[o], stride[one + (o + 1) * n_dims - 1]
                for j in range(line):
                    scratch[cell + j] += work[at + j * step]
            at = position[n] - target
            for j in range(line):
                peak[at + j * along] = max(peak[at + j * along], scratch[cell + j])
            _next_line(digit, position, size, first, last, stride, one)
        if n_cells == n_targets:  # nothing is added up
            for t in range(n_targets):
                work[target + t] = peak[t]
            continue
        for t in range(n_targets):
            work[target + t] = 0.0
        for d in range(n_dims):
            digit[d] = 0
        position[0] = target
        for cell in range(0, n_cells, line):
            at = position[0] - target
            for j in range(line):
                if peak[at + j * along] > -np.inf:
                    work[target + at + j * along] += exp(scratch[cell + j] - peak[at + j * along])
            _next_line(digit, position[:1], size, first, last, stride, one + n * n_dims)
        for t in range(n_targets):
            work[target + t] = peak[t] + np.log(work[target + t]) if peak[t] > -np.inf else -np.inf
