"""Marginal pseudo-likelihood by the book: one configuration of the blanket after the other, in exact logs."""

from collections import Counter
from collections.abc import Sequence
from math import lgamma, log

from tests.reference.slices import Codes


def family(codes: Codes, rows: Sequence[int], x: int, blanket: Sequence[int], levels: int, a: float) -> float:
    """s_x(B) over some rows: a Dirichlet-multinomial for every configuration."""
    counts: dict[tuple[int, ...], Counter[int]] = {}
    for r in rows:
        key = tuple(int(codes[v][r]) for v in blanket)
        counts.setdefault(key, Counter())[int(codes[x][r])] += 1
    total = 0.0
    for counter in counts.values():
        total += lgamma(levels * a) - lgamma(counter.total() + levels * a)
        total += sum(lgamma(n + a) - lgamma(a) for n in counter.values())
    return total


def complete(codes: Codes, variables: Sequence[int]) -> list[int]:
    """The rows where all of some variables are known."""
    return [r for r in range(codes.shape[1]) if all(codes[v][r] >= 0 for v in variables)]


def log_prior_odds(n: int, expected_neighbours: float) -> float:
    share = min(expected_neighbours / max(n - 1, 1), 0.5)
    return log(share / (1 - share))


def evidence(
    codes: Codes, cards: Sequence[int], x: int, y: int, blanket: Sequence[int], a: float = 0.5, c: float = 4.0
) -> float:
    """t_xy = s_x(B and y) - s_x(B without y), on the rows that know all of it, and the prior odds."""
    rest = [v for v in blanket if v != y]
    rows = complete(codes, [x, y, *rest])
    gain = family(codes, rows, x, [*rest, y], cards[x], a) - family(codes, rows, x, rest, cards[x], a)
    return gain + log_prior_odds(len(cards), c)


def value(
    codes: Codes, cards: Sequence[int], x: int, blanket: Sequence[int], a: float = 0.5, c: float = 4.0
) -> float:
    """Half of s_x(B) and of the prior of its edges."""
    rows = complete(codes, [x, *blanket])
    return (family(codes, rows, x, blanket, cards[x], a) + len(blanket) * log_prior_odds(len(cards), c)) / 2
