"""Positive definite systems: the Cholesky factor, and what is solved with it, in place."""

import math

from ibmap.kernels.jit import inline
from ibmap.kernels.records import Floats, FloatTable

SWEEPS = 50  #: of rotations, at most; six are usual


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


@inline
def eigen(matrix: FloatTable, vectors: FloatTable, values: Floats) -> None:
    """Eigenvectors (columns) and eigenvalues of a symmetric matrix, by Jacobi's rotations; it is used up."""
    n = values.size
    for i in range(n):
        for j in range(n):
            vectors[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        off, size = 0.0, 0.0
        for i in range(n):
            size += matrix[i, i] * matrix[i, i]
            for j in range(i):
                off += matrix[i, j] * matrix[i, j]
        if off <= 1e-24 * size:
            break
        for i in range(1, n):
            for j in range(i):
                rotate(matrix, vectors, i, j)
    for i in range(n):
        values[i] = max(matrix[i, i], 0.0)


@inline
def rotate(matrix: FloatTable, vectors: FloatTable, i: int, j: int) -> None:
    """Make an entry of a symmetric matrix zero by a rotation, and turn the vectors with it."""
    entry = matrix[i, j]
    if entry == 0.0:
        return
    turn = (matrix[j, j] - matrix[i, i]) / (2.0 * entry)
    tangent = (1.0 if turn >= 0.0 else -1.0) / (abs(turn) + math.sqrt(turn * turn + 1.0))
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    sine = tangent * cosine
    for k in range(vectors.shape[0]):
        a, b = matrix[k, i], matrix[k, j]
        matrix[k, i], matrix[k, j] = cosine * a - sine * b, sine * a + cosine * b
    for k in range(vectors.shape[0]):
        a, b = matrix[i, k], matrix[j, k]
        matrix[i, k], matrix[j, k] = cosine * a - sine * b, sine * a + cosine * b
        a, b = vectors[k, i], vectors[k, j]
        vectors[k, i], vectors[k, j] = cosine * a - sine * b, sine * a + cosine * b
