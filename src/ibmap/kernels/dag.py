"""Moves of a search through directed acyclic graphs: which are allowed, and which of them gains most.

Matrices have a row for every child and a column for every parent: ``arcs[x, y]`` is y → x, ``evidence[x, y]``
what y gains as a parent of x beside its other parents. A structure is remembered by its mark, the
exclusive or of a scrambled number for every arc.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import allocating_kernel, inline, kernel
from ibmap.kernels.records import FloatTable
from ibmap.kernels.splitmix import mix

ADD, DELETE, REVERSE, NONE = 0, 1, 2, 3  #: what a move does with an arc; NONE: there is no move

Flags = NDArray[np.bool_]
Marks = NDArray[np.uint64]


@inline
def mark_of(n: int, x: int, y: int) -> np.uint64:
    """Return the scrambled number of the arc y → x."""
    return mix(np.uint64(x * n + y + 1))


@inline
def slot_of(known: Marks, mark: np.uint64) -> np.uint64:
    """Return where a mark stands among those that are known, or the free slot (0) where it belongs."""
    last = np.uint64(known.size - 1)
    slot = mark & last
    while known[slot] != np.uint64(0) and known[slot] != mark:
        slot = (slot + np.uint64(1)) & last
    return slot


@kernel
def remember(known: Marks, marks: Marks) -> None:
    """Add marks to those that are known; there must be twice as many slots, a power of two."""
    for mark in marks:
        known[slot_of(known, mark)] = mark


@inline
def mark_after(n: int, mark: np.uint64, kind: int, x: int, y: int) -> np.uint64:
    """Return the mark of the structure after a move of the arc y → x."""
    after = mark ^ mark_of(n, x, y)
    return after ^ mark_of(n, y, x) if kind == REVERSE else after


@kernel
def moved_mark(n: int, mark: np.uint64, kind: int, x: int, y: int) -> np.uint64:
    """``mark_after``, for Python."""
    return mark_after(n, mark, kind, x, y)


@inline
def gain_of(evidence: FloatTable, tolerance: float, kind: int, x: int, y: int) -> float:
    """Return what a move of the arc y → x gains; an arc about which the data say nothing is never added.

    Beyond an optimum a search would collect such arcs, of constants to everything.
    """
    if kind == ADD:
        return evidence[x, y] if abs(evidence[x, y]) > tolerance else -np.inf
    return -evidence[x, y] if kind == DELETE else evidence[y, x] - evidence[x, y]


@inline
def is_allowed(
    arcs: Flags, ancestors: Flags, blocked: Flags, required: Flags, kind: int, x: int, y: int
) -> bool:
    """Whether a move makes no cycle and no arc that is blocked, and takes away none that is required."""
    if kind == ADD:
        return not blocked[x, y] and not ancestors[y, x]
    if kind == DELETE:
        return not required[x, y]
    another_way = blocked[y, x]
    for p in range(arcs.shape[0]):  # from y to x: it passes through another parent of x
        another_way |= arcs[x, p] and ancestors[p, y]
    return not another_way


@kernel
def best_move(
    evidence: FloatTable,
    arcs: Flags,
    ancestors: Flags,
    blocked: Flags,
    required: Flags,
    known: Marks,
    mark: np.uint64,
    tolerance: float,
) -> tuple[int, int, int]:
    """Return (kind, child x, parent y) of the move of y → x that gains most and leads to no known structure.

    Moves that gain as much, but for the tolerance or 1e-9 of it, tie: the smallest (y, x) comes first.
    """
    n, least, ties = arcs.shape[0], -np.inf, False
    best_kind, best_x, best_y = NONE, 0, n
    for _ in range(2):  # find the largest gain; then the first move that gains as much
        for x in range(n):
            for y in range(n):
                if not arcs[x, y] and not evidence[x, y] > least:
                    continue
                for kind in range(DELETE, NONE) if arcs[x, y] else range(ADD, DELETE):
                    gain = gain_of(evidence, tolerance, kind, x, y)
                    if (
                        gain > least
                        and x != y
                        and not (ties and (y, x, kind) >= (best_y, best_x, best_kind))
                        and is_allowed(arcs, ancestors, blocked, required, kind, x, y)
                        and known[slot_of(known, mark_after(n, mark, kind, x, y))] == np.uint64(0)
                    ):
                        best_kind, best_x, best_y = kind, x, y
                        least = least if ties else gain
        if best_kind == NONE:
            break
        least, ties = least - max(tolerance, 1e-9 * abs(least)), True
    return best_kind, best_x, best_y


@kernel
def can_be_reversed(arcs: Flags, ancestors: Flags, blocked: Flags, x: int, y: int) -> bool:
    """Whether the arc y → x may point the other way."""
    return is_allowed(arcs, ancestors, blocked, blocked, REVERSE, x, y)


@kernel
def add_ancestors(ancestors: Flags, x: int, y: int) -> None:
    """Take in the new arc y → x: x and its descendants have y and its ancestors as ancestors."""
    for v in range(ancestors.shape[0]):
        if v == x or ancestors[v, x]:
            ancestors[v, y] = True
            for a in range(ancestors.shape[0]):
                ancestors[v, a] |= ancestors[y, a]


@allocating_kernel
def fill_ancestors(arcs: Flags, ancestors: Flags) -> bool:
    """``ancestors[v, a]``: whether a directed path leads from a to v. Returns whether there is no cycle."""
    n = arcs.shape[0]
    waits, ready, n_ready, done = np.zeros(n, np.int64), np.empty(n, np.int64), 0, 0
    ancestors[:] = False
    for v in range(n):
        for p in range(n):
            waits[v] += arcs[v, p]
        if waits[v] == 0:
            ready[n_ready] = v
            n_ready += 1
    while done < n_ready:  # parents before children
        v = ready[done]
        done += 1
        for child in range(n):
            if not arcs[child, v]:
                continue
            ancestors[child, v] = True
            for a in range(n):
                ancestors[child, a] |= ancestors[v, a]
            waits[child] -= 1
            if waits[child] == 0:
                ready[n_ready] = child
                n_ready += 1
    return done == n
