"""Tables of several partitions of the rows → their sum, by places that every possible cell has.

The tables of a batch stand one after the other in one array, each with a place for (slice, level of x, level
of y). Slices of two partitions that have the same key have the same number there.
"""

from ibmap.kernels.jit import kernel
from ibmap.kernels.records import Ints


@kernel
def add_to_places(
    start: Ints, cells: Ints, number: Ints, first_slice: Ints, sizes: Ints, offset: Ints, places: Ints
) -> None:
    """Add the cells of a partition to their places.

    ``number`` is the number of each slice of this partition in the sum; those of table t begin at
    ``first_slice[t]``. ``sizes`` are, of each table, the levels of x and those of y; ``offset`` is its first
    place.
    """
    by_slice, by_x, by_y, counts = cells[0], cells[1], cells[2], cells[3]
    for t in range(start.size - 1):
        n_x, n_y, base, first = sizes[0, t], sizes[1, t], offset[t], first_slice[t]
        for c in range(start[t], start[t + 1]):
            places[base + (number[first + by_slice[c]] * n_x + by_x[c]) * n_y + by_y[c]] += counts[c]


@kernel
def cells_of_places(places: Ints, sizes: Ints, offset: Ints, start: Ints, cells: Ints) -> None:
    """List the cells that are not empty, table by table: slice, level of x, level of y, count."""
    by_slice, by_x, by_y, counts = cells[0], cells[1], cells[2], cells[3]
    n = 0
    start[0] = 0
    for t in range(sizes.shape[1]):
        n_x, n_y, place = sizes[0, t], sizes[1, t], offset[t]
        k = 0
        while place < offset[t + 1]:
            for x in range(n_x):
                for y in range(n_y):
                    if places[place]:
                        by_slice[n], by_x[n], by_y[n], counts[n] = k, x, y, places[place]
                        n += 1
                    place += 1
            k += 1
        start[t + 1] = n
