"""Random tables for hypothesis: mixed arity, constant and duplicate columns, noisy copies.

Hypothesis draws the shape and a seed; NumPy draws the cells, fast enough for 5000 rows × 75 columns. Every
level below the cardinality of a column occurs in it, so encoding the same table again changes nothing.
"""

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

Codes = tuple[NDArray[np.int64], list[int]]
"""codes of shape (n_columns, n_rows), and the cardinality of each column"""

Question = tuple[int, int, tuple[int, ...]]


def categorical_tables(
    min_rows: int = 1,
    max_rows: int = 200,
    min_columns: int = 2,
    max_columns: int = 6,
    max_levels: int = 12,
    missing: bool = False,
) -> st.SearchStrategy[Codes]:
    """Tables within these bounds; with `missing`, up to a third of the cells are -1."""
    return st.builds(
        random_table,
        st.integers(min_rows, max_rows),
        st.integers(min_columns, max_columns),
        st.integers(1, max_levels),
        st.sampled_from([0.0, 0.02, 0.33]) if missing else st.just(0.0),
        st.integers(0, 2**32 - 1),
    )


@st.composite
def questions(draw: st.DrawFn, n_columns: int, max_given: int | None = None) -> Question:
    """(x, y, given): different columns, in any order."""
    order = draw(st.permutations(range(n_columns)))
    most = n_columns - 2 if max_given is None else min(max_given, n_columns - 2)
    size = draw(st.integers(0, most))
    return order[0], order[1], tuple(order[2 : 2 + size])


def random_table(n_rows: int, n_columns: int, max_levels: int, missing_rate: float, seed: int) -> Codes:
    """One table; the same arguments always give the same one."""
    rng = np.random.default_rng(seed)
    columns: list[NDArray[np.int64]] = []
    for _ in range(n_columns):
        columns.append(_random_column(rng, columns, n_rows, max_levels))
    codes = np.empty((n_columns, n_rows), dtype=np.int64)
    cardinalities = []
    for code, column in zip(codes, columns, strict=True):
        present = rng.random(n_rows) >= missing_rate
        present[rng.integers(n_rows)] = True  # no column is missing altogether
        levels, code[present] = np.unique(column[present], return_inverse=True)
        code[~present] = -1
        cardinalities.append(len(levels))
    return codes, cardinalities


def _random_column(
    rng: np.random.Generator, earlier: list[NDArray[np.int64]], n_rows: int, max_levels: int
) -> NDArray[np.int64]:
    """A fresh column, or one made from an earlier one."""
    kind = rng.choice(
        ["even", "skewed", "constant", "duplicate", "noisy copy"], p=[0.25, 0.25, 0.05, 0.1, 0.35]
    )
    n_levels = int(rng.integers(min(2, max_levels), max_levels + 1))
    fresh = rng.integers(n_levels, size=n_rows)
    if kind == "constant":
        return np.zeros(n_rows, dtype=np.int64)
    if kind == "skewed":
        return rng.choice(n_levels, size=n_rows, p=rng.dirichlet(np.full(n_levels, 0.5)))
    if kind == "even" or not earlier:
        return fresh
    source = earlier[rng.integers(len(earlier))]
    copy = rng.permutation(max_levels)[source]  # the same column under other names
    if kind == "duplicate":
        return copy
    return np.where(rng.random(n_rows) < rng.uniform(0.02, 0.7), fresh, copy)
