"""Ascents of a score, compiled: the search of IBMAP-HC, which knows the score by its rows only.

One ascent is one proposal (Algorithm 2 of the paper), two new rows of σ, and, if they raise the score, the
mending of the row minima. ``search/climb.py`` holds the same steps in Python, for any score.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import inline, kernel, part
from ibmap.kernels.pointers import Layout
from ibmap.kernels.records import ByteTable, Floats, FloatTable, Ints
from ibmap.kernels.rows import call_row

EDGE, LOCKED, TRIED = 1, 2, 4
TIE = 1e-9  #: rounding must not decide: what is closer than this is equal


class State(NamedTuple):
    """Where the search stands."""

    sigma: FloatTable  #: (n, n): σ_xy, diagonal 0
    flags: ByteTable  #: (n, n): EDGE | LOCKED | TRIED
    row_sum: Floats  #: Σ_y σ_xy
    lowest: Floats  #: of each x, the smallest σ_xy + σ_yx among the pairs that may be flipped
    rows: FloatTable  #: (2, n): the rows of x and y after a flip that is being tried


LAYOUT = Layout(State)
state_of = LAYOUT.reader(0, 1)  #: what kernels make of the numbers of a state: (state,)


@inline
def blanket_of(flags: NDArray[np.uint8], x: int, buffer: Ints) -> int:
    """Put the neighbours of x into ``buffer``, in order. Returns how many."""
    n = 0
    for y in range(flags.shape[0]):
        if flags[x, y] & EDGE:
            buffer[n] = y
            n += 1
    return n


@kernel
def sum_rows(numbers: Ints, first: int, last: int, symmetric: bool) -> None:
    """Σ_y σ_xy of some x; and their least credible pairs if σ_xy = σ_yx, as in the graph without edges."""
    (state,) = state_of(numbers)
    for x in range(first, last):
        row, flags = state.sigma[x], state.flags[x]
        state.row_sum[x] = total(row)
        if symmetric:
            lowest = np.inf
            for y in range(row.size):
                if row[y] < lowest and flags[y] < LOCKED and y != x:
                    lowest = row[y]
            state.lowest[x] = lowest + lowest


@kernel
def all_minima(numbers: Ints) -> None:
    """Find the least credible pair of every variable, tile by tile."""
    (state,) = state_of(numbers)
    n = state.lowest.size
    state.lowest[:] = np.inf
    for i0 in range(0, n, 64):
        for j0 in range(i0, n, 64):
            for i in range(i0, min(i0 + 64, n)):
                for j in range(max(i + 1, j0), min(j0 + 64, n)):
                    if state.flags[i, j] < LOCKED:
                        pair = state.sigma[i, j] + state.sigma[j, i]
                        state.lowest[i] = min(state.lowest[i], pair)
                        state.lowest[j] = min(state.lowest[j], pair)


@inline
def minimum_of_row(state: State, i: int) -> None:
    """Find the least credible pair of one variable."""
    lowest = np.inf
    for j in range(state.lowest.size):
        if j != i and state.flags[i, j] < LOCKED:
            lowest = min(lowest, state.sigma[i, j] + state.sigma[j, i])
    state.lowest[i] = lowest


@inline
def least_credible_pair(state: State) -> tuple[int, int]:
    """Algorithm 2, line 1: the smallest (x, y) among the pairs with the smallest σ_xy + σ_yx; or (-1, -1)."""
    n = state.lowest.size
    lowest = np.inf
    for i in range(n):
        lowest = min(lowest, state.lowest[i])
    if lowest == np.inf:
        return -1, -1
    limit = lowest + TIE * max(1.0, abs(lowest))
    for i in range(n):
        if state.lowest[i] <= limit:
            for j in range(i + 1, n):
                if state.flags[i, j] < LOCKED and state.sigma[i, j] + state.sigma[j, i] <= limit:
                    return i, j
    return -1, -1


@inline
def total(row: Floats) -> float:
    """Sum in one fixed order: four sums side by side, as each addition waits for the one before."""
    a, b, c, d, end = 0.0, 0.0, 0.0, 0.0, row.size // 4 * 4
    for i in range(0, end, 4):
        a += row[i]
        b += row[i + 1]
        c += row[i + 2]
        d += row[i + 3]
    for i in range(end, row.size):
        a += row[i]
    return (a + b) + (c + d)


@inline
def flip(state: State, x: int, y: int) -> None:
    """Algorithm 2, line 2."""
    state.flags[x, y] ^= EDGE
    state.flags[y, x] ^= EDGE


@inline
def keep(state: State, x: int, y: int, tried: Ints) -> None:
    """Make the rows that were tried the current ones, and mend the minima that they touch."""
    sigma, rows, lowest = state.sigma, state.rows, state.lowest
    for i in range(lowest.size):
        to_x, to_y = sigma[i, x], sigma[i, y]
        if to_x + sigma[x, i] <= lowest[i] or to_y + sigma[y, i] <= lowest[i]:
            lowest[i] = -np.inf  # one of the two was the minimum, and is no more
        else:
            if state.flags[i, x] < LOCKED:
                lowest[i] = min(lowest[i], to_x + rows[0, i])
            if state.flags[i, y] < LOCKED:
                lowest[i] = min(lowest[i], to_y + rows[1, i])
    for j in range(lowest.size):
        sigma[x, j] = rows[0, j]
        sigma[y, j] = rows[1, j]
    lowest[x], lowest[y] = -np.inf, -np.inf
    state.row_sum[x], state.row_sum[y] = total(rows[0]), total(rows[1])
    clear_tried(state, tried)
    for i in range(lowest.size):
        if lowest[i] == -np.inf:
            minimum_of_row(state, i)


@inline
def clear_tried(state: State, tried: Ints) -> None:
    """Let the pairs that were tried in vain be proposed again."""
    for k in range(0, tried.size, 2):
        state.flags[tried[k], tried[k + 1]] &= ~np.uint8(TRIED)
        state.flags[tried[k + 1], tried[k]] &= ~np.uint8(TRIED)
    for v in tried:
        minimum_of_row(state, v)


@inline
def reject(state: State, x: int, y: int) -> None:
    """Take a flip back and do not propose the pair again before the next ascent."""
    flip(state, x, y)
    state.flags[x, y] |= TRIED
    state.flags[y, x] |= TRIED
    minimum_of_row(state, x)
    minimum_of_row(state, y)


@inline
def gain_of(state: State, x: int, y: int) -> float:
    """How much the rows that are being tried raise the score."""
    return total(state.rows[0]) + total(state.rows[1]) - (state.row_sum[x] + state.row_sum[y])


@part
def next_proposal(state: State, tried: Ints, n_tried: int) -> tuple[int, int]:
    """Flip the least credible pair and return it; (-1, -1) at a maximum: no pair is left, or patience is."""
    x, y = least_credible_pair(state)  # Algorithm 2, line 1
    if x < 0 or 2 * n_tried >= tried.size:
        clear_tried(state, tried[: 2 * n_tried])
        return -1, -1  # Algorithm 1, line 7
    flip(state, x, y)  # Algorithm 2, line 2
    return x, y


@part
def accepted(state: State, x: int, y: int, tried: Ints, n_tried: int) -> float:
    """Keep the flip of a proposal if the rows that were tried raise the score: the gain; otherwise 0."""
    return settle(state, x, y, gain_of(state, x, y), tried, n_tried)  # Algorithm 1, line 5


@inline
def settle(state: State, x: int, y: int, gain: float, tried: Ints, n_tried: int) -> float:
    """Keep a flip if it gains: the gain; otherwise take it back, and remember that it was tried: 0."""
    if gain > TIE:
        keep(state, x, y, tried[: 2 * n_tried])  # Algorithm 1, lines 9 and 10
        return gain
    reject(state, x, y)
    tried[2 * n_tried], tried[2 * n_tried + 1] = x, y
    return 0.0


@kernel
def ascend(
    row: int,
    context: Ints,
    numbers: Ints,
    buffer: Ints,
    tried: Ints,
    n_tried: int,
    budget: int,
    log: Ints,
    gains: Floats,
) -> tuple[int, int, int]:
    """Do up to ``len(log)`` ascents by up to ``budget`` proposals.

    ``row`` is the address of a function that fills a row of σ (``rows.py``), and ``context`` what it takes;
    ``numbers`` stand for the state, and ``buffer`` holds the blanket of a variable. ``tried`` has a place for
    each pair that may be proposed in one ascent: 2 (patience + 1) indices; ``n_tried`` pairs have been, by an
    earlier call. Returns (ascents, proposals, pairs tried since the last ascent), the last of them -1 at a
    maximum.
    """
    (state,) = state_of(numbers)
    step = n_proposals = np.int64(0)
    while step < log.shape[0] and n_proposals < budget:
        x, y = next_proposal(state, tried, n_tried)
        if x < 0:
            return step, n_proposals, np.int64(-1)
        for which, v in enumerate((x, y)):
            call_row(row, context, v, buffer[: blanket_of(state.flags, v, buffer)], state.rows[which])
        n_proposals += 1
        gain = accepted(state, x, y, tried, n_tried)
        if gain > 0.0:
            log[step, 0], log[step, 1], log[step, 2] = x, y, state.flags[x, y] & EDGE
            gains[step, 0], gains[step, 1] = gain, total(state.row_sum)
            step, n_tried = step + 1, np.int64(0)
        else:
            n_tried += 1
    return step, n_proposals, n_tried


# The same steps one by one, for rows that come from Python


@kernel
def propose(numbers: Ints, tried: Ints, n_tried: int) -> tuple[int, int]:
    """Flip the least credible pair; see ``next_proposal``."""
    (state,) = state_of(numbers)
    return next_proposal(state, tried, n_tried)


@kernel
def decide(numbers: Ints, x: int, y: int, gain: float, tried: Ints, n_tried: int) -> float:
    """Keep a flip or take it back; see ``settle``."""
    (state,) = state_of(numbers)
    return settle(state, x, y, gain, tried, n_tried)


@kernel
def sum_of(row: Floats) -> float:
    """Return the sum, in the order of ``total``."""
    return total(row)
