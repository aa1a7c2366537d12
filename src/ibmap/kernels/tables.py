"""Sets of rows as a list: what ``splitting.py`` needs of tables."""

from ibmap.kernels.jit import allocating_part
from ibmap.kernels.records import Ints, Sets
from ibmap.kernels.tally import with_place


@allocating_part
def add_sets(sets: Sets, n_slices: int, rows: Ints, n: int) -> tuple[Ints, int]:
    """Append the sets of (slice, level of x) and their numbers of rows."""
    rows = with_place(rows, n + sets.child[2, n_slices])
    for k in range(n_slices):
        for s in range(sets.child[2, k], sets.child[2, k + 1]):
            rows[0, n], rows[1, n], rows[2, n] = k, sets.code[2, s], sets.size[2, s]
            n += 1
    return rows, n
