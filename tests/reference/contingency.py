"""Pearson's chi-square, the likelihood ratio G² and mutual information, conditional on Z.

Each statistic is a sum over the observed slices. Degrees of freedom: "adjusted" counts, in each slice, only
the rows and columns that are not empty, Σ_k (r_k - 1)(c_k - 1); "full" is (I - 1)(J - 1) per observed slice.
Without degrees of freedom nothing can be refuted: p = 1.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from scipy.special import chdtrc

from tests.reference.slices import Codes, SliceTables, margins, slice_tables


class Contingency(NamedTuple):
    """A statistic, its degrees of freedom, and the probability of one as large under independence."""

    statistic: float
    dof: int
    p_value: float


def chi_square(
    codes: Codes, cardinalities: Sequence[int], x: int, y: int, given: Sequence[int], dof: str = "adjusted"
) -> Contingency:
    """X² = Σ (observed - expected)² / expected

    >>> import numpy as np
    >>> chi_square(np.array([[0, 0, 1, 1], [0, 0, 1, 1]]), [2, 2], 0, 1, [])[:2]
    (4.0, 1)
    """
    tables = slice_tables(codes, x, y, given)
    terms: list[float] = []
    for table in tables.values():
        x_sums, y_sums = margins(table)
        for i in x_sums:
            for j in y_sums:
                expected = x_sums[i] * y_sums[j] / table.total()
                terms.append((table[i, j] - expected) ** 2 / expected)
    return judge(math.fsum(terms), tables, int(cardinalities[x]), int(cardinalities[y]), dof)


def g_square(
    codes: Codes, cardinalities: Sequence[int], x: int, y: int, given: Sequence[int], dof: str = "adjusted"
) -> Contingency:
    """G² = 2 Σ observed · log(observed / expected)"""
    tables = slice_tables(codes, x, y, given)
    statistic = 2 * math.fsum(term for table in tables.values() for term in information_terms(table))
    return judge(max(statistic, 0.0), tables, int(cardinalities[x]), int(cardinalities[y]), dof)


def mutual_information(
    codes: Codes, cardinalities: Sequence[int], x: int, y: int, given: Sequence[int]
) -> float:
    """I(X; Y | Z) in nats, from relative frequencies: G² / 2N. No rows tell nothing: 0.

    `cardinalities` is there for the common signature; levels never seen change nothing.
    """
    tables = slice_tables(codes, x, y, given)
    n_rows = sum(table.total() for table in tables.values())
    if n_rows == 0:
        return 0.0
    return max(
        math.fsum(term for table in tables.values() for term in information_terms(table)) / n_rows, 0.0
    )


def information_terms(table: Counter[tuple[int, int]]) -> list[float]:
    """observed · log(observed / expected), for every cell with rows."""
    x_sums, y_sums = margins(table)
    n = table.total()
    return [count * math.log(count * n / (x_sums[i] * y_sums[j])) for (i, j), count in table.items()]


def judge(statistic: float, tables: SliceTables, n_x: int, n_y: int, dof: str) -> Contingency:
    """Compare the statistic with the chi-square distribution."""
    if dof == "full":
        freedom = max(n_x - 1, 0) * max(n_y - 1, 0) * len(tables)
    elif dof == "adjusted":
        freedom = 0
        for table in tables.values():
            x_sums, y_sums = margins(table)
            freedom += (len(x_sums) - 1) * (len(y_sums) - 1)
    else:
        raise ValueError(f"dof must be 'adjusted' or 'full', not {dof!r}")
    p_value = float(chdtrc(freedom, statistic)) if freedom > 0 else 1.0
    return Contingency(statistic, freedom, p_value)
