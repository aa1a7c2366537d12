"""How much three variables say only together, by the book: marginal likelihoods of joint tables."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import lgamma, prod

from tests.reference.saturated import complete
from tests.reference.slices import Codes


def joint(
    codes: Codes, cards: Sequence[int], rows: Sequence[int], variables: Sequence[int], size: float
) -> float:
    """S: the log marginal likelihood of a joint table, prior counts size / cells in every cell."""
    counts = Counter(tuple(int(codes[v][r]) for v in variables) for r in rows)
    a = size / prod(cards[v] for v in variables)
    cells = sum(lgamma(a + n) - lgamma(a) for n in counts.values())
    return cells - lgamma(size + len(rows)) + lgamma(size)


def evidence(codes: Codes, cards: Sequence[int], triple: Sequence[int], size: float = 1.0) -> float:
    """e = S(xyz) - S(xy) - S(xz) - S(yz) + S(x) + S(y) + S(z), on the rows that know all three."""
    rows = complete(codes, triple)
    signs = {3: 1, 2: -1, 1: 1}
    return sum(
        signs[k] * joint(codes, cards, rows, some, size)
        for k in (1, 2, 3)
        for some in combinations(triple, k)
    )


def triples(
    codes: Codes, cards: Sequence[int], threshold: float, size: float = 1.0
) -> dict[tuple[int, ...], float]:
    """All triples above a threshold; constants, and tables of more cells than rows (or 8), say nothing."""
    most = max(codes.shape[1], 8)
    modelled = [v for v, r in enumerate(cards) if 2 <= r <= 100]
    some = [three for three in combinations(modelled, 3) if prod(cards[v] for v in three) <= most]
    found = {three: evidence(codes, cards, three, size) for three in some}
    return {three: e for three, e in found.items() if e > threshold}
