"""Leave-one-out pseudo-likelihoods by the book: a row is taken out, the others are counted again."""

from collections.abc import Sequence
from math import log, prod

import numpy as np
from numpy.typing import NDArray

from tests.reference.loglinear import Fit
from tests.reference.saturated import complete
from tests.reference.slices import Codes


def pairwise(codes: Codes, cards: Sequence[int], x: int, blanket: Sequence[int], variance: float) -> float:
    """Log likelihood at the mode, less Σ (1 - Λ_ii H⁻¹_ii)."""
    fit = Fit(codes, cards, x, blanket, variance)
    likelihood = fit._height(codes, fit.theta) + (fit.prior * fit.theta**2).sum() / 2
    inverse = np.linalg.inv(fit.hessian) if len(fit.prior) else fit.hessian
    found = likelihood - (1 - fit.prior * np.diag(inverse)).sum()
    return float(found) * codes.shape[1] / max(len(fit.rows), 1)


def saturated(codes: Codes, cards: Sequence[int], x: int, blanket: Sequence[int], count: float) -> float:
    """For every row, how often its level occurs in its slice, without it."""
    rows, total = complete(codes, [x, *blanket]), 0.0
    for r in rows:
        others = [s for s in rows if s != r and all(codes[v][s] == codes[v][r] for v in blanket)]
        same = sum(codes[x][s] == codes[x][r] for s in others)
        total += log((same + count) / (len(others) + count * cards[x]))
    return total * codes.shape[1] / max(len(rows), 1)


def directed(
    codes: Codes, cards: Sequence[int], x: int, blanket: Sequence[int], arcs: NDArray[np.bool_], size: float
) -> float:
    """For every row and every level that x could have there, the product of the families that x is in."""
    rows, total = complete(codes, [x, *blanket]), 0.0
    families = [c for c in range(len(cards)) if c == x or arcs[c, x]]
    for r in rows:
        others = [s for s in rows if s != r]
        logs = []
        for level in range(cards[x]):
            values = [level if v == x else codes[v][r] for v in range(len(cards))]
            logs.append(sum(_of_family(codes, cards, c, arcs, values, others, size) for c in families))
        total += logs[codes[x][r]] - np.logaddexp.reduce(logs)
    return float(total) * codes.shape[1] / max(len(rows), 1)


def _of_family(
    codes: Codes,
    cards: Sequence[int],
    child: int,
    arcs: NDArray[np.bool_],
    values: Sequence[int],
    rows: Sequence[int],
    size: float,
) -> float:
    """Log probability of the child's value given its parents', from some rows."""
    parents = np.flatnonzero(arcs[child]).tolist()
    count = size / prod([cards[v] for v in (child, *parents)])
    inside = [r for r in rows if all(codes[p][r] == values[p] for p in parents)]
    same = sum(codes[child][r] == values[child] for r in inside)
    return log((same + count) / (len(inside) + count * cards[child]))
