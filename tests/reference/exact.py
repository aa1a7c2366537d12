"""The Bayesian test in exact fractions: no logarithm, no rounding. Far too slow for anything but tests.

The prior p of one slice is given instead of the prior p^K of the whole assertion, which keeps it rational.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

from tests.reference.bayesian import PriorCounts, dirichlet_parameters
from tests.reference.slices import Codes, margins, slice_tables


def exact_posterior(
    codes: Codes,
    cardinalities: Sequence[int],
    x: int,
    y: int,
    given: Sequence[int],
    *,
    prior_counts: PriorCounts = "ones",
    combine: str = "slices",
    slices: str = "observed",
    slice_prior: Fraction = Fraction(1, 2),
) -> Fraction:
    """Pr(X ⊥ Y | Z, D) when each slice is independent with prior probability `slice_prior`."""
    n_x, n_y = int(cardinalities[x]), int(cardinalities[y])
    alpha, beta, gamma = dirichlet_parameters(prior_counts, n_x, n_y)
    g: list[Fraction] = []
    h: list[Fraction] = []
    for table in slice_tables(codes, x, y, given).values():
        x_sums, y_sums = margins(table)
        g.append(dm(x_sums.values(), alpha, n_x) * dm(y_sums.values(), beta, n_y))
        h.append(dm(table.values(), gamma, n_x * n_y))
    p, q = slice_prior, 1 - slice_prior
    if combine == "global":
        return p * math.prod(g) / (p * math.prod(g) + q * math.prod(h))
    posterior = math.prod(
        (p * g_k / (p * g_k + q * h_k) for g_k, h_k in zip(g, h, strict=True)), start=Fraction(1)
    )
    n_possible = math.prod(int(cardinalities[z]) for z in given) if slices == "all" else len(g)
    return posterior * p ** (n_possible - len(g))


def dm(counts: Iterable[int], a: Fraction, n_cells: int) -> Fraction:
    """DM(c; a) = Π_r a(a+1)…(a+c_r-1) / a.(a.+1)…(a.+N-1)"""
    counts = list(counts)
    return math.prod((rising(a, c) for c in counts), start=Fraction(1)) / rising(a * n_cells, sum(counts))


def rising(a: Fraction, n: int) -> Fraction:
    """Γ(a + n) / Γ(a)"""
    # numerators and denominator apart: one reduction to lowest terms instead of n
    step = a.denominator
    return Fraction(math.prod(range(a.numerator, a.numerator + n * step, step)), step**n)


def log_of(fraction: Fraction) -> float:
    """Natural logarithm of a positive fraction, to double precision also near 1 and near 0."""
    if fraction > Fraction(1, 2):
        return math.log1p(-float(1 - fraction))
    if float(fraction) > 1e-300:
        return math.log(float(fraction))
    return math.log(fraction.numerator) - math.log(fraction.denominator)
