"""Scores of a variable given its parents by the book: one configuration of the parents after the other."""

from collections import Counter
from collections.abc import Sequence
from math import lgamma, log, prod

from tests.reference.saturated import complete
from tests.reference.slices import Codes


def counts_of(codes: Codes, rows: Sequence[int], x: int, parents: Sequence[int]) -> list[Counter[int]]:
    """How often each level of x occurs, in every observed configuration of the parents."""
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for r in rows:
        key = tuple(int(codes[v][r]) for v in parents)
        counts.setdefault(key, Counter())[int(codes[x][r])] += 1
    return list(counts.values())


def bic(codes: Codes, cards: Sequence[int], rows: Sequence[int], x: int, parents: Sequence[int]) -> float:
    """Log-likelihood, less half the log of the rows for every parameter."""
    counted = counts_of(codes, rows, x, parents)
    likelihood = sum(n * log(n / counter.total()) for counter in counted for n in counter.values())
    return likelihood - log(max(len(rows), 1)) / 2 * (cards[x] - 1) * prod(cards[p] for p in parents)


def bdeu(
    codes: Codes, cards: Sequence[int], rows: Sequence[int], x: int, parents: Sequence[int], size: float
) -> float:
    """Log marginal likelihood; the prior counts of all cells are equal and add up to ``size``."""
    of_slice = size / prod(cards[p] for p in parents)
    of_cell, total = of_slice / cards[x], 0.0
    for counter in counts_of(codes, rows, x, parents):
        total += lgamma(of_slice) - lgamma(of_slice + counter.total())
        total += sum(lgamma(of_cell + n) - lgamma(of_cell) for n in counter.values())
    return total


def family(
    codes: Codes,
    cards: Sequence[int],
    rows: Sequence[int],
    x: int,
    parents: Sequence[int],
    size: float | None,
) -> float:
    """BIC, or BDeu with an equivalent sample size."""
    if size is None:
        return bic(codes, cards, rows, x, parents)
    return bdeu(codes, cards, rows, x, parents, size)


def evidence(
    codes: Codes, cards: Sequence[int], x: int, y: int, parents: Sequence[int], size: float | None
) -> float:
    """What y gains as a parent of x beside the others, on the rows that know all of them."""
    rest = [p for p in parents if p != y]
    rows = complete(codes, [x, y, *rest])
    with_y, without = (family(codes, cards, rows, x, given, size) for given in ([*rest, y], rest))
    return with_y - without


def total(codes: Codes, cards: Sequence[int], parents: Sequence[Sequence[int]], size: float | None) -> float:
    """The score of a directed graph."""
    return sum(
        family(codes, cards, complete(codes, [x, *mine]), x, mine, size) for x, mine in enumerate(parents)
    )
