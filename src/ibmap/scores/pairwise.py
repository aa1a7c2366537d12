"""Pairwise conditionals: x given its blanket is log-linear, one block of effects per neighbour (SPEC 7)."""

from typing import Any

import numpy as np

from ibmap._parallel import OneBlasThread, spread
from ibmap._types import Bools, Ints
from ibmap.engines import Engine, MemoryEngine, Tables
from ibmap.engines.tables import Answered
from ibmap.kernels.coding import columns_of
from ibmap.kernels.conditionals import loglinear_row
from ibmap.kernels.ordinal_conditionals import ordinal_row
from ibmap.scores.binary import VAGUE, BinaryRows
from ibmap.scores.device import binary_rows_of
from ibmap.scores.families import MOST_LEVELS, FamilyScore, Members
from ibmap.scores.large_model import LargeModel
from ibmap.scores.local_score import Rows

LARGE = 24  #: parameters of the largest effect that x could have, beyond which its model is approximated


class PairwiseScore(FamilyScore):
    """Log-linear evidence: (multinomial) logistic conditionals with main effects of the neighbours.

    Every log odds ratio has the prior N(0, ``effect_variance``), whichever levels it compares, so that
    renaming levels changes nothing. The evidence is Laplace's approximation; that of a variable outside the
    blanket is one Newton step from the model without it. It pays for (r_x - 1)(r_y - 1) effects per
    neighbour, however many neighbours there are, and does not see interactions of three variables.

    A variable whose levels have an order enters by equally spaced scores: it has one effect where others have
    r - 1, so that two of them pay for one (linear-by-linear association, which has a sign).

    Parameters
    ----------
    effect_variance : float
        Prior variance of a log odds ratio.
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None lets the search learn it from the data.
    prior : array or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.

    Examples
    --------
    >>> PairwiseScore().options()
    {'effect_variance': 1.0, 'expected_neighbours': 4.0, 'prior': None}
    """

    name = "pairwise"

    def __init__(
        self, *, effect_variance: float = 1.0, expected_neighbours: float | None = 4.0, prior: Any = None
    ) -> None:
        self.effect_variance, self.expected_neighbours = effect_variance, expected_neighbours
        self.prior = prior

    def family(self, engine: Engine) -> "Pairwise":
        """Return the family, bound to an engine."""
        return Pairwise(self.effect_variance, engine)


class Pairwise:
    """Logistic conditionals; the variance of a log odds ratio is four times that of an effect."""

    def __init__(self, effect_variance: float, engine: Engine) -> None:
        self.precision = 4.0 / effect_variance
        self.columns = columns_of(engine.schema.cardinalities, engine.schema.ordinal)

    def binary(self, engine: MemoryEngine, n_threads: int) -> BinaryRows:
        """Return what makes rows of binary variables in memory."""
        return binary_rows_of(engine, self.precision, 0.5, n_threads)

    def of_both(self, pairwise: Rows, saturated: Rows, xs: Ints, members: Members) -> Rows:
        """Return the pairwise rows."""
        return pairwise

    def rows(self, tables: Tables, strong: float = np.inf, n_threads: int = 1) -> Rows:
        """Return t_xy and s_x(B) for every question."""
        asked, slices = tables.answered()
        outside, inside = np.empty(len(tables)), np.empty(len(asked.given))
        values = np.empty(len(asked))
        levels, columns = np.array(tables.levels), self.columns
        large, ordered = are_large(levels, columns), columns < levels - 1

        def fill(_: int, question: tuple[int, Answered]) -> None:
            q, one = question
            mine = one.tables
            if large[one.x]:
                model = large_model(tables, one, columns, self.precision)
                values[q], inside[one.given] = model.value, large_inside(model, one, strong)
                cells = tables.start[mine.start : mine.stop + 1], tables.cells
                outside[mine] = model.outside(levels[asked.y[mine]], columns[asked.y[mine]], *cells)
                return
            row = ordinal_row if ordered[one.x] else loglinear_row
            values[q] = row(
                *(levels, columns, one.x, asked.given[one.given], one.keys),
                *(slices.sets, one.sets.start, one.sets.stop),
                *(VAGUE, self.precision, strong),
                *(asked.y[mine], tables.start[mine.start : mine.stop + 1], tables.cells),
                *(outside[mine], inside[one.given]),
            )

        with OneBlasThread():
            spread(fill, enumerate(tables.one_by_one()), min(n_threads, len(asked)))
        evidence = np.zeros((len(asked), len(tables.levels)))
        evidence[asked.of_table, asked.y] = outside
        evidence[np.repeat(np.arange(len(asked)), np.diff(asked.given_start)), asked.given] = inside
        return Rows(evidence, values)


def large_model(tables: Tables, one: Answered, columns: Ints, precision: float) -> LargeModel:
    """Return the model of a variable with many levels."""
    asked, slices = tables.answered()
    k, x, size = slices.sets[:, one.sets]
    counts = np.zeros((len(one.keys), tables.levels[one.x]))
    counts[k, x] = size
    members = asked.given[one.given]
    return LargeModel(counts, one.keys, tables.levels[members], columns[members], VAGUE, precision)


def large_inside(model: LargeModel, one: Answered, strong: float) -> list[float]:
    """Return t of every member: of those with strong effects by a fit without them."""
    members = range(one.given.stop - one.given.start)
    return [
        model.inside(j) if model.length(j) <= strong else model.value - model.without(j).value
        for j in members
    ]


def are_large(levels: Ints, columns: Ints) -> Bools:
    """Return whose model is approximated: whatever the blanket, so that evidence can be compared.

    That of a variable with ordered levels never is: it has one effect for a column of a neighbour.
    """
    most = columns[levels <= MOST_LEVELS].max(initial=0)
    return np.asarray((columns * most > LARGE) & (columns == levels - 1))
