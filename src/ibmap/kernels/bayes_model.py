"""The Bayesian test as numbers: its options as arrays, and how slices combine (SPEC section 1).

``log_odds`` is t_k = lq - lp + d_k, the log odds of dependence in slice k, and
L = log Pr(X ⊥ Y | Z) = -Σ_k softplus(t_k) + (K - K_observed) lp.
"""

import math
from typing import NamedTuple

import numpy as np

from ibmap.kernels.jit import inline, kernel
from ibmap.kernels.logspace import exp, log1p_of_share, log_one_minus_exp, log_rising, softplus
from ibmap.kernels.pointers import Layout
from ibmap.kernels.records import (
    Counts,
    CountTable,
    Floats,
    FloatTable,
    Ints,
    IntTable,
    Packed,
    Routes,
    Sets,
)


class Model(NamedTuple):
    """The options of the Bayesian test, as arrays. Kinds number the distinct cardinalities."""

    kind: Ints  #: kind of each variable
    levels: Ints  #: number of levels of each kind
    tables: FloatTable  #: (parameters, rows + 1): log Γ(a + c) - log Γ(a)
    cell: IntTable  #: (kinds, kinds): which table serves γ for an I × J table
    margin: IntTable  #: (kinds, kinds): which table serves α, the prior counts of the first variable
    cell_total: FloatTable  #: (kinds, kinds): Σ γ
    margin_total: FloatTable  #: (kinds, kinds): Σ α
    of_cell_total: IntTable  #: (kinds, kinds): which table serves Σ γ; -1 where it would take too much memory
    of_margin_total: IntTable  #: (kinds, kinds): the same for Σ α
    log_prior: FloatTable  #: (1, 1) or (variables, variables): log prior of independence
    every_slice: bool  #: slices="all"
    one_factor: bool  #: combine="global"


class Scratch(NamedTuple):
    """The workspace of one thread: for one block of variables, and for one blanket."""

    counts: CountTable  #: (sets, columns and more): counts of some sets in the columns of a block
    cursor: Ints  #: (sets,): for counting them
    window: Ints  #: first set that has been counted, and the one after the last
    cells: Counts  #: counts of one set in the columns of a block
    margins: Counts  #: the same, summed over the levels of x
    rest: Counts
    bayes: Floats  #: d_k, the log Bayes factor of the slice
    offset: Floats  #: lq - lp
    above: Floats  #: Σ max(t_k, 0)
    product: Floats  #: Π (1 + e^-|t_k|) - 1
    by_level: Ints  #: counts by level of one variable
    members: Ints  #: the blanket of one variable
    factors: Floats  #: (rows,): log Bayes factors of slices
    yes: Floats  #: (variables,): posteriors of the members
    no: Floats


LAYOUT = Layout(Packed, Sets, Model, Scratch, Routes)  #: of a context (``context.py``)

#: what kernels make of a context: (packed, sets, model, scratch), and (routes,)
records_of, routes_of = LAYOUT.reader(0, 4), LAYOUT.reader(4, 5)
context_of = LAYOUT.address_of(0)  #: the address of a context, from its packed table


@kernel
def fill_table(parameter: float, out: Floats) -> None:
    """``out[c] = log Γ(parameter + c) - log Γ(parameter)``: a sum of logs, with what rounding loses."""
    total, lost = 0.0, 0.0
    for c in range(out.size):
        out[c] = total + lost
        term = math.log(parameter + c)
        longer = total + term
        lost += (total - longer) + term if abs(total) >= abs(term) else (term - longer) + total
        total = longer


@kernel
def rising_of(parameters: Floats, counts: Ints, out: Floats) -> None:
    """``out[i] = log Γ(a + n) - log Γ(a)`` of some parameters a and counts n."""
    for i in range(counts.size):
        out[i] = log_rising(parameters[i], counts[i])


class Priors(NamedTuple):
    """The prior counts of the table of x and y: which rows of ``model.tables`` serve them."""

    kind_x: int
    kind_y: int
    cell: int  #: γ
    row: int  #: α of the levels of x
    column: int  #: α of the levels of y
    cell_total: int  #: Σ γ; -1 if there is no row for the totals
    row_total: int
    column_total: int


@inline
def priors_of(model: Model, x: int, y: int) -> Priors:
    """Look up the prior counts of a pair."""
    a, b = model.kind[x], model.kind[y]
    margins = model.margin[a, b], model.margin[b, a]
    totals = model.of_cell_total[a, b], model.of_margin_total[a, b], model.of_margin_total[b, a]
    return Priors(a, b, model.cell[a, b], *margins, *totals)


@inline
def log_prior_ratio(model: Model, priors: Priors, size: int) -> float:
    """Log of the normalising terms of h / g in a slice of ``size`` rows."""
    if priors.cell_total >= 0:
        margins = model.tables[priors.row_total, size] + model.tables[priors.column_total, size]
        return margins - model.tables[priors.cell_total, size]
    a, b = priors.kind_x, priors.kind_y
    margins = log_rising(model.margin_total[a, b], size) + log_rising(model.margin_total[b, a], size)
    return margins - log_rising(model.cell_total[a, b], size)


@inline
def log_cells(by_cell: Floats, a: int, b: int, c: int, d: int) -> float:
    """Sum of the table values of four cells. Unsigned indices: no look whether they count from the end."""
    some = by_cell[np.uint32(a)] + by_cell[np.uint32(b)]
    return some + (by_cell[np.uint32(c)] + by_cell[np.uint32(d)])


@inline
def log_two_by_two(by_cell: Floats, by_column: Floats, a: int, b: int, c: int, d: int) -> float:
    """Log h / g of the rows (a, b) and (c, d), without what all columns share."""
    columns = by_column[np.uint32(a + c)] + by_column[np.uint32(b + d)]
    return log_cells(by_cell, a, b, c, d) - columns


@inline
def log_prior_of(model: Model, x: int, y: int) -> float:
    """Log prior of independence of a pair."""
    if model.log_prior.shape[0] == 1:
        return model.log_prior[0, 0]
    return model.log_prior[x, y]


@inline
def log_slices(packed: Packed, model: Model, given: Ints, without: int, observed: int) -> float:
    """Log of K: the observed slices, or all configurations of ``given`` but for one of its variables."""
    if not model.every_slice:
        return math.log(max(observed, 1))
    total = 0.0
    for variable in given:
        if variable != without:
            total += math.log(packed.levels[variable])
    return total


@inline
def unseen_share(observed: int, log_possible: float) -> float:
    """Return (K - K_observed) / K; exactly 0 if all slices are observed."""
    if log_possible > 30.0:
        return 1.0 - observed * math.exp(-log_possible)
    possible = math.floor(math.exp(log_possible) + 0.5)
    return (possible - observed) / possible


@inline
def slice_prior(log_prior: float, log_slices: float) -> float:
    """Return lq - lp, where lp = log(prior) / K and lq = log(1 - e^lp); K may exceed every float."""
    lp = log_prior * math.exp(-log_slices)
    if log_slices > 40.0:  # 1 - e^lp = -lp
        return math.log(-log_prior) - log_slices - lp
    return log_one_minus_exp(lp) - lp


@inline
def posterior_from(
    model: Model, log_prior: float, factors: Floats, n_slices: int, n_single: int, log_possible: float
) -> tuple[float, float]:
    """Combine the log Bayes factors of the observed slices into (log Pr ⊥, log Pr not ⊥).

    ``n_single`` slices have one row, and the log Bayes factor 0; they are not among the ``n_slices`` factors.
    """
    offset = slice_prior(log_prior, 0.0 if model.one_factor else log_possible)
    return posterior_at(model, log_prior, offset, factors, n_slices, n_single, log_possible)


@inline
def posterior_at(
    model: Model,
    log_prior: float,
    offset: float,
    factors: Floats,
    n_slices: int,
    n_single: int,
    log_possible: float,
) -> tuple[float, float]:
    """``posterior_from`` for those who know lq - lp already, the log prior odds of dependence in a slice."""
    if n_slices + n_single == 0:
        return log_prior, log_one_minus_exp(log_prior)
    if model.one_factor or (n_slices + n_single == 1 and not model.every_slice):
        total = offset
        for k in range(n_slices):
            total += factors[k]
        both = log1p_of_share(exp(-abs(total)))
        return -(max(total, 0.0) + both), -(max(-total, 0.0) + both)
    against = 0.0
    if model.every_slice:
        against = -log_prior * unseen_share(n_slices + n_single, log_possible)
    largest = -np.inf
    if n_single:
        against += n_single * softplus(offset)
        largest = offset
    for k in range(n_slices):
        against += softplus(offset + factors[k])
        largest = max(largest, offset + factors[k])
    if against > 1e-290:
        return -against, log_one_minus_exp(-against)
    total = n_single * math.exp(offset - largest) if n_single else 0.0
    for k in range(n_slices):
        total += math.exp(offset + factors[k] - largest)
    return -against, largest + math.log(total)
