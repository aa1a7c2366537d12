"""Scores of a variable given its parents by the book: one configuration of the parents after the other."""

from collections import Counter
from collections.abc import Sequence
from math import lgamma, log, prod, sqrt

from tests.reference.saturated import complete
from tests.reference.slices import Codes

Size = float | str | None  #: of BDeu; "qnml"; None for BIC


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


def qnml(codes: Codes, cards: Sequence[int], rows: Sequence[int], x: int, parents: Sequence[int]) -> float:
    """Log-likelihood, less what tables of x and its parents can fit beyond those of the parents alone."""
    counted = counts_of(codes, rows, x, parents)
    likelihood = sum(n * log(n / counter.total()) for counter in counted for n in counter.values())
    q = prod(cards[p] for p in parents)
    return likelihood - regret(len(rows), q * cards[x]) + regret(len(rows), q)


def regret(rows: int, cells: int) -> float:
    """Log of the sum of the largest likelihoods of all tables, as Szpankowski and Weinberger have it."""
    if rows == 0 or cells <= 1:
        return 0.0
    if rows == 1:
        return log(cells)  # to the letter: every cell can have the row
    a = cells / rows
    c = 1 / 2 + sqrt(1 + 4 / a) / 2
    return rows * (log(a) + (a + 2) * log(c) - 1 / c) - log(c + 2 / a) / 2


def family(
    codes: Codes,
    cards: Sequence[int],
    rows: Sequence[int],
    x: int,
    parents: Sequence[int],
    size: Size,
) -> float:
    """BIC, qNML, or BDeu with an equivalent sample size."""
    if isinstance(size, str):
        return qnml(codes, cards, rows, x, parents)
    if size is None:
        return bic(codes, cards, rows, x, parents)
    return bdeu(codes, cards, rows, x, parents, size)


def evidence(codes: Codes, cards: Sequence[int], x: int, y: int, parents: Sequence[int], size: Size) -> float:
    """What y gains as a parent of x beside the others, on the rows that know all of them."""
    rest = [p for p in parents if p != y]
    rows = complete(codes, [x, y, *rest])
    with_y, without = (family(codes, cards, rows, x, given, size) for given in ([*rest, y], rest))
    return with_y - without


def total(codes: Codes, cards: Sequence[int], parents: Sequence[Sequence[int]], size: Size) -> float:
    """The score of a directed graph."""
    return sum(
        family(codes, cards, complete(codes, [x, *mine]), x, mine, size) for x, mine in enumerate(parents)
    )


def lead(
    codes: Codes,
    cards: Sequence[int],
    parents: Sequence[Sequence[int]],
    others: Sequence[Sequence[int]],
    size: float | None,
) -> float:
    """How far one directed graph is ahead of another, each variable on the rows that know it in both."""
    ahead = 0.0
    for x, (mine, theirs) in enumerate(zip(parents, others, strict=True)):
        rows = complete(codes, [x, *mine, *theirs])
        ahead += family(codes, cards, rows, x, mine, size) - family(codes, cards, rows, x, theirs, size)
    return ahead
