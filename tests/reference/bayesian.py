"""The Bayesian test of conditional independence (Margaritis and Bromberg 2009), one slice at a time.

All sums are `math.fsum`, which rounds once: the answer does not depend on the order of the rows, on the
names of the levels, or on which variable is called X.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tests.reference.slices import Codes, margins, slice_tables

PriorCounts = str | float | tuple[str, float]


@dataclass(frozen=True)
class Posterior:
    """log Pr(X ⊥ Y | Z, D) and log Pr(X not⊥ Y | Z, D), with the rows and observed slices behind them."""

    log_independent: float
    log_dependent: float
    n_rows: int
    n_slices: int


IndependenceTest = Callable[[int, int, tuple[int, ...]], Posterior]
"""(x, y, given) -> Posterior: all that the score and the search know of a test."""


def log_posterior(
    codes: Codes,
    cardinalities: Sequence[int],
    x: int,
    y: int,
    given: Sequence[int],
    *,
    prior_counts: PriorCounts = "ones",
    combine: str = "slices",
    slices: str = "observed",
    prior: float = 0.5,
) -> Posterior:
    """How probable is it that X and Y are independent given Z, after seeing the data?

    >>> import numpy as np
    >>> x_equals_y = np.array([[0, 0, 1, 1], [0, 0, 1, 1]])
    >>> answer = log_posterior(x_equals_y, [2, 2], 0, 1, [])
    >>> round(math.exp(answer.log_independent) * 37, 12)
    7.0
    """
    if not 0 < prior < 1:
        raise ValueError(f"prior must lie strictly between 0 and 1, not {prior}")
    if combine not in ("slices", "global") or slices not in ("observed", "all"):
        raise ValueError(f"unknown option: combine={combine!r}, slices={slices!r}")
    tables = slice_tables(codes, x, y, given)
    n_rows = sum(table.total() for table in tables.values())
    if n_rows == 0:  # nothing seen: the prior stands
        return Posterior(math.log(prior), math.log1p(-prior), 0, 0)

    n_x, n_y = int(cardinalities[x]), int(cardinalities[y])  # of the whole table, never of the slice
    alpha, beta, gamma = dirichlet_parameters(prior_counts, n_x, n_y)
    log_factors = [log_bayes_factor(table, n_x, n_y, alpha, beta, gamma) for table in tables.values()]

    if combine == "global":
        log_factors = [math.fsum(log_factors)]
        n_possible = 1
    elif slices == "observed":
        n_possible = len(tables)
    else:
        n_possible = math.prod(int(cardinalities[z]) for z in given)  # a Python int: it never overflows

    prior_odds = log_prior_odds(prior, n_possible)
    odds = [prior_odds + d for d in log_factors]  # lq - lp + d_k
    # (K - K_observed) · lp, written so that no huge K becomes a float
    unseen = math.log(prior) * ((n_possible - len(odds)) / n_possible)
    total = math.fsum([*map(softplus, odds), -unseen])  # -L, kept positive so that it stays accurate near 0
    # a tiny total has no unseen slices in it, and there softplus(t) = e^t
    log_dependent = log_one_minus_exp(-total) if total > 1e-30 else log_sum_exp(odds)
    return Posterior(-total, log_dependent, n_rows, len(tables))


def dirichlet_parameters(
    prior_counts: PriorCounts, n_x: int, n_y: int
) -> tuple[Fraction, Fraction, Fraction]:
    """(α, β, γ): the Dirichlet parameter of each level of X, of each level of Y and of each cell."""
    if prior_counts == "bdeu":
        prior_counts = ("bdeu", 1)
    match prior_counts:
        case "ones":
            return Fraction(1), Fraction(1), Fraction(1)
        case "consistent":  # the margins of a table of ones
            return Fraction(n_y), Fraction(n_x), Fraction(1)
        case "jeffreys":
            return Fraction(1, 2), Fraction(1, 2), Fraction(1, 2)
        case ("bdeu", float() | int() as size) if size > 0:
            s = Fraction(size)
            return s / n_x, s / n_y, s / (n_x * n_y)
        case float() | int() if prior_counts > 0:
            a = Fraction(prior_counts)
            return a, a, a
    raise ValueError(f"unknown prior_counts: {prior_counts!r}")


def log_bayes_factor(
    table: Counter[tuple[int, int]], n_x: int, n_y: int, alpha: Fraction, beta: Fraction, gamma: Fraction
) -> float:
    """d = log h - log g: how much better dependence explains the table of one slice."""
    x_sums, y_sums = margins(table)
    log_h = log_dm_terms(table.values(), gamma, n_x * n_y)
    log_g = [*log_dm_terms(x_sums.values(), alpha, n_x), *log_dm_terms(y_sums.values(), beta, n_y)]
    return math.fsum([*log_h, *(-term for term in log_g)])


def log_dm_terms(counts: Iterable[int], a: Fraction, n_cells: int) -> list[float]:
    """The terms of log DM(c; a) = lnΓ(a.) - lnΓ(a. + N) + Σ_r lnΓ(a + c_r) - lnΓ(a); empty cells add 0."""
    counts = list(counts)
    a_cell, a_total = float(a), float(a * n_cells)
    terms = [math.lgamma(a_total), -math.lgamma(a_total + sum(counts))]
    for count in counts:
        terms += [math.lgamma(a_cell + count), -math.lgamma(a_cell)]
    return terms


def log_prior_odds(prior: float, n_slices: int) -> float:
    """lq - lp, where the K slices share one prior p with p^K = prior and q = 1 - p; any K, however large."""
    if n_slices < 10**15:
        log_p = math.log(prior) / n_slices
        return log_one_minus_exp(log_p) - log_p
    return math.log(-math.log(prior)) - math.log(n_slices)  # q = -log p there, and log p = 0


def softplus(t: float) -> float:
    """log(1 + e^t)"""
    return max(t, 0.0) + math.log1p(math.exp(-abs(t)))


def log_one_minus_exp(log_p: float) -> float:
    """log(1 - e^log_p) for log_p < 0, accurate at both ends."""
    if log_p > -math.log(2):
        return math.log(-math.expm1(log_p))
    return math.log1p(-math.exp(log_p))


def log_sum_exp(terms: Sequence[float]) -> float:
    """log Σ e^t"""
    largest = max(terms)
    return largest + math.log(math.fsum(math.exp(t - largest) for t in terms))
