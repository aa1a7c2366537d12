"""What a search without a matrix keeps of σ, from the matrix."""

from collections.abc import Sequence

Matrix = Sequence[Sequence[float]]


def total(row: Sequence[float]) -> float:
    """Four sums by column modulo 4; the columns beyond a multiple of 4 belong to the first."""
    sums, end = [0.0] * 4, len(row) // 4 * 4
    for j, value in enumerate(row):
        sums[j % 4 if j < end else 0] += value
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def below(sigma: Matrix, bar: float) -> list[tuple[int, int, float]]:
    """The pairs (x, y), x < y, with σ_xy below a bar."""
    n = len(sigma)
    return [(i, j, sigma[i][j]) for i in range(n) for j in range(i + 1, n) if sigma[i][j] < bar]


def column_of_lists(
    v: int, lists: dict[int, dict[int, float]], floors: dict[int, float]
) -> dict[int, tuple[float, bool]]:
    """For every owner of a list: what it lists under v and True, or its floor and False."""
    return {i: (mine[v], True) if v in mine else (floors[i], False) for i, mine in lists.items()}
