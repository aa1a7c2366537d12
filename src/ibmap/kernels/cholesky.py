"""Positive definite systems: the Cholesky factor, and what is solved with it, in place."""

import math

from ibmap.kernels.jit import inline
from ibmap.kernels.records import Floats, FloatTable


@inline
def cholesky(matrix: FloatTable, n: int) -> float:
    """Replace the lower triangle of a positive definite matrix by its factor. Returns the log determinant."""
    log_det = 0.0
    for i in range(n):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= matrix[i, k] * matrix[j, k]
            if i == j:
                matrix[i, i] = math.sqrt(max(total, 1e-300))
                log_det += math.log(max(total, 1e-300))
            else:
                matrix[i, j] = total / matrix[j, j]
    return log_det


@inline
def solve_lower(factor: FloatTable, n: int, vector: Floats) -> None:
    """Replace a vector v by L⁻¹ v."""
    for i in range(n):
        total = vector[i]
        for k in range(i):
            total -= factor[i, k] * vector[k]
        vector[i] = total / factor[i, i]


@inline
def solve_upper(factor: FloatTable, n: int, vector: Floats) -> None:
    """Replace a vector v by L⁻ᵀ v."""
    for i in range(n - 1, -1, -1):
        total = vector[i]
        for k in range(i + 1, n):
            total -= factor[k, i] * vector[k]
        vector[i] = total / factor[i, i]


@inline
def diagonal_of_inverse(factor: FloatTable, n: int, i: int, unit: Floats) -> float:
    """Return an entry on the diagonal of (L Lᵀ)⁻¹; ``unit`` is scratch."""
    for j in range(n):
        unit[j] = 0.0
    unit[i] = 1.0
    solve_lower(factor, n, unit)
    total = 0.0
    for j in range(n):
        total += unit[j] * unit[j]
    return total
