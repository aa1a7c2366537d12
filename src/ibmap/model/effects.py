"""How strong an edge is, and in which direction: with standard errors, everything else equal.

Of numbers, they are partial correlations (``partial_correlations.py``). Effects of categories
are those of the pseudo-likelihood fit.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.criteria.coding import contrasts
from ibmap.engines import Engine
from ibmap.errors import DataError
from ibmap.graph import Graph
from ibmap.model.blanket_counts import BlanketCounts, blanket_counts
from ibmap.model.dependent_effects import Dependence, dependent_effects
from ibmap.model.effect_errors import EffectErrors
from ibmap.model.effect_size import (
    correlation_slopes,
    cramers_v,
    log_odds_ratio,
    score_correlation,
    slopes,
    with_margins,
)
from ibmap.model.interactions import interactions_in
from ibmap.model.layout import Layout
from ibmap.model.mixed_effects import MixedEffects, is_curve, mixed_effects
from ibmap.model.partial_correlations import COLUMNS as CORRELATIONS
from ibmap.model.partial_correlations import PartialCorrelations, partial_correlations_of
from ibmap.model.pseudo_likelihood import maximise, pseudo_likelihood

EFFECT_VARIANCE = 4.0
MOST_PARAMETERS = 200_000  #: beyond which nobody waits for the effects

NUMBERS = ("log_odds_ratio", "log_odds_ratio_se", "strength", "strength_se")
ORDERED = ("score_correlation", "score_correlation_se")  #: where levels have an order
AVERAGED = ("averaged_log_odds_ratio", "averaged_low", "averaged_high")  #: where edges have posteriors
EVERY = (*NUMBERS, *ORDERED, *AVERAGED)

Labels = tuple[Hashable, ...]


@dataclass(frozen=True, eq=False)
class EdgeEffects:
    """The strength of every edge, in the order of ``graph.pairs``.

    Attributes
    ----------
    log_odds_ratio, log_odds_ratio_se : ndarray
        Of two binary variables: the logarithm of the odds ratio given all other neighbours, and its standard
        error; NaN for others.
    strength, strength_se : ndarray
        Cramér's V of the table with the observed margins and the odds ratios of the edge, everything else
        equal, from 0 to 1. Of two binary variables it has the sign of the log odds ratio, of two ordinal ones
        that of the correlation; of others it has none.
    score_correlation, score_correlation_se : ndarray
        Of two ordinal variables, or an ordinal and a binary one: the correlation of their levels, numbered in
        order, in the same table, and its standard error; NaN for others.
    averaged_log_odds_ratio, averaged_low, averaged_high : ndarray
        Of two binary variables, averaged over networks with and without the edge (``averaged_effects.py``):
        the mean of the log odds ratio, and the ends of a 95 % interval; NaN if there is no posterior.
    tables : tuple of arrays
        The log tables of the edges, rows and columns adding up to zero; empty if read from a file.
    dependences : mapping of int to Dependence
        The edges whose effect depends on another variable, and how. They have no odds ratio, as no number is
        right everywhere; their strength is the mean over the rows, without a sign.
    """

    log_odds_ratio: Floats
    log_odds_ratio_se: Floats
    strength: Floats
    strength_se: Floats
    score_correlation: Floats
    score_correlation_se: Floats
    averaged_log_odds_ratio: Floats
    averaged_low: Floats
    averaged_high: Floats
    tables: tuple[Floats, ...] = field(default=(), repr=False)
    dependences: Mapping[int, Dependence] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the numbers; those of ordered levels, and averages, where there are any."""
        ordered = () if np.isnan(self.score_correlation).all() else ORDERED
        averaged = () if np.isnan(self.averaged_log_odds_ratio).all() else AVERAGED
        return (*NUMBERS, *ordered, *averaged)

    def numbers(self, e: int) -> dict[str, float]:
        """Return the numbers of an edge that are known, by name."""
        found = {name: float(getattr(self, name)[e]) for name in EVERY}
        return {name: value for name, value in found.items() if not np.isnan(value)}

    def in_short(self, e: int) -> str:
        """Return the effect as a short text; odds that depend on no other variable have a 95 % interval."""
        if e in self.dependences:
            return self.dependences[e].in_short()
        ratio, error = self.log_odds_ratio[e], self.log_odds_ratio_se[e]
        if not np.isnan(ratio):
            low, high = (_times(np.exp(ratio + side * 1.96 * error)) for side in (-1, 1))
            return f"odds × {_times(np.exp(ratio))} ({low} to {high})"
        if not np.isnan(r := self.score_correlation[e]):
            return f"r {r:+.2f} ± {self.score_correlation_se[e]:.1g}"
        return "" if np.isnan(self.strength[e]) else f"V {self.strength[e]:.2f} ± {self.strength_se[e]:.1g}"

    @property
    def sign(self) -> Floats:
        """1 or -1 where two variables have a log odds ratio, or a correlation, 0 elsewhere."""
        both = self.log_odds_ratio, self.score_correlation
        return np.asarray(sum(np.nan_to_num(np.sign(one)) for one in both))

    def in_words(self, e: int, names: tuple[str, str], levels: tuple[Labels, Labels]) -> str:
        """Return the effect of an edge as a sentence; "" if it is not known."""
        if e in self.dependences:
            return self.dependences[e].in_words(names, levels)
        (x, y), ratio = names, self.log_odds_ratio[e]
        if not np.isnan(ratio):
            low, high = (_times(np.exp(ratio + side * 1.96 * self.log_odds_ratio_se[e])) for side in (-1, 1))
            return (
                f"The odds of {y}={levels[1][1]} are {_times(np.exp(ratio))} times as high with "
                f"{x}={levels[0][1]} as with {x}={levels[0][0]}, everything else equal (95 % interval "
                f"{low} to {high}).{self._average_in_words(e)}"
            )
        if np.isnan(self.strength[e]):
            return ""
        if not np.isnan(self.score_correlation[e]):
            return self._correlation_in_words(e, names, levels)
        said = f"Cramér's V is {self.strength[e]:.2f} ± {self.strength_se[e]:.1g}, everything else equal"
        if self.tables:
            a, b = np.unravel_index(self.tables[e].argmax(), self.tables[e].shape)
            said += f"; {x}={levels[0][a]} and {y}={levels[1][b]} go together most"
        return f"{said}."

    def _average_in_words(self, e: int) -> str:
        """Return the average over networks as a sentence; "" where it is not known, or says the same."""
        numbers = [getattr(self, name)[e] for name in AVERAGED]
        if np.isnan(numbers).any() or abs(numbers[0] - self.log_odds_ratio[e]) < 0.02:
            return ""
        mean, low, high = (_times(np.exp(number)) for number in numbers)
        return (
            f" Averaged over networks, some without the edge: {mean} times (95 % interval {low} to {high})."
        )

    def _correlation_in_words(self, e: int, names: tuple[str, str], levels: tuple[Labels, Labels]) -> str:
        """Return how ordered levels go together."""
        r, (x, y) = self.score_correlation[e], names
        together = f"{x} and {y} rise together" if r >= 0 else f"{x} falls where {y} rises"
        for (one, other), named in (((x, y), levels[0]), ((y, x), levels[1])):
            if len(named) == 2:
                how = "higher" if r >= 0 else "lower"
                together = f"{other} is {how} with {one}={named[1]} than with {one}={named[0]}"
        return (
            f"{together}, everything else equal: the correlation of their levels, numbered in order, is "
            f"{r:+.2f} ± {self.score_correlation_se[e]:.1g}."
        )


Effects = EdgeEffects | MixedEffects | PartialCorrelations


def effects_in(engine: Engine, graph: Graph) -> Effects:
    """Return the effects of all edges, of whichever kind the variables are."""
    if not engine.schema.is_continuous:
        return edge_effects(engine, graph)
    found, moments = mixed_effects(engine.row_by_row, graph), engine.gaussian_moments
    curved = any(map(is_curve, found.by_edge))
    return found if moments is None or curved else partial_correlations_of(moments, graph)


def edge_effects(engine: Engine, graph: Graph) -> EdgeEffects:
    """Return the effects of all edges.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> rows = [("no", 0)] * 40 + [("no", 1)] * 10 + [("yes", 0)] * 20 + [("yes", 1)] * 30
    >>> data = load({"smokes": [s for s, _ in rows], "coughs": [c for _, c in rows]})
    >>> found = edge_effects(as_engine(data), Graph(data.names, [("smokes", "coughs")]))
    >>> found.in_short(0), float(found.strength[0].round(2))
    ('odds × 5.7 (2.4 to 14)', 0.4)
    """
    layout = Layout(graph, engine.schema.cardinalities)
    if layout.size > MOST_PARAMETERS:
        return unknown_effects(graph.n_edges)
    counts, theta, errors = _fitted(engine, layout)
    found, schema, pairs = unknown_effects(graph.n_edges), engine.schema, graph.pairs
    has_order = schema.ordinal | (schema.cardinalities == 2)
    for edges in _alike(layout):
        i, j = pairs[edges].T
        r_i, r_j = layout.levels[pairs[edges[0]]].tolist()
        margins = (
            _parts(counts.shares, layout.field_start[i], r_i),
            _parts(counts.shares, layout.field_start[j], r_j),
        )
        tables = _parts(theta, layout.table_start[edges], r_i * r_j).reshape(-1, r_i, r_j)
        shares = with_margins(tables, *margins)
        strength = cramers_v(shares, *margins)
        found.strength_se[edges] = errors.of_slopes(edges, slopes(shares, *margins))
        if r_i == r_j == 2:
            ratio = found.log_odds_ratio[edges] = log_odds_ratio(tables)
            strength = np.where(ratio < 0, -strength, strength)
            two = np.full((len(edges), 1, 1), 2.0)  # along the contrasts, which have length one
            found.log_odds_ratio_se[edges] = errors.of_slopes(edges, two)
        elif (ordered := has_order[pairs[edges]].all(axis=1)).any():
            r = np.where(ordered, score_correlation(shares, *margins), np.nan)
            found.score_correlation[edges] = r
            strength = np.where(r < 0, -strength, strength)
            r_se = errors.of_slopes(edges, correlation_slopes(shares, *margins))
            found.score_correlation_se[edges] = np.where(ordered, r_se, np.nan)
        found.strength[edges] = strength
    dependences = dependent_effects(engine, graph, interactions_in(engine, graph), found.strength)
    for e, one in dependences.items():
        for name in EVERY:
            getattr(found, name)[e] = np.nan
        found.strength[e] = one.strength
    return replace(found, tables=tuple(layout.factors(theta)), dependences=dependences)


def _fitted(engine: Engine, layout: Layout) -> tuple[BlanketCounts, Floats, EffectErrors]:
    """Return what was counted, the parameters, and what says how sure they are."""
    counts = blanket_counts(engine, layout)
    goal = pseudo_likelihood(counts, EFFECT_VARIANCE)
    theta = maximise(goal)
    return counts, theta, EffectErrors(goal, counts, theta, EFFECT_VARIANCE)


def _alike(layout: Layout) -> list[Ints]:
    """Return the edges whose ends have the same numbers of levels, where both have more than one."""
    levels = layout.levels[layout.graph.pairs]
    shapes, shape_of_edge = np.unique(levels @ [levels.max(initial=0) + 1, 1], return_inverse=True)
    edges = [np.flatnonzero(shape_of_edge == shape) for shape in range(len(shapes))]
    return [some for some in edges if levels[some[0]].min() > 1]


def _parts(flat: Floats, starts: Ints, size: int) -> Floats:
    """Return parts of an array (starts, size)."""
    return np.asarray(flat[starts[:, None] + np.arange(size)])


def contrast_effects(engine: Engine, graph: Graph) -> list[tuple[Floats, Floats]]:
    """Return the effects of every edge along the contrasts of its ends, and their standard errors."""
    layout = Layout(graph, engine.schema.cardinalities)
    if layout.size > MOST_PARAMETERS:
        raise DataError(
            f"the network has {layout.size:,} parameters, more than {MOST_PARAMETERS:,}: group levels, or "
            "leave out columns"
        )
    _, theta, errors = _fitted(engine, layout)
    codings = {r: contrasts(r) for r in np.unique(layout.levels).tolist()}
    return [
        (codings[len(table)].T @ table @ codings[table.shape[1]], errors.along_contrasts(e))
        for e, table in enumerate(layout.factors(theta))
    ]


def effects_of(
    numbers: Sequence[Mapping[str, float]], dependences: Mapping[int, Dependence] | None = None
) -> Effects | None:
    """Return the effects that edges have as numbers, or that depend on others; None if there are none."""
    if any("correlation" in named for named in numbers):
        return PartialCorrelations(
            *(np.array([named.get(name, np.nan) for named in numbers]) for name in CORRELATIONS)
        )
    if any(name in named for named in numbers for name in ("direction", "mean_difference")):
        return MixedEffects(tuple(numbers))
    found = unknown_effects(len(numbers))
    for e, named in enumerate(numbers):
        for name in EVERY:
            getattr(found, name)[e] = named.get(name, np.nan)
    return None if np.isnan(found.strength).all() else replace(found, dependences=dependences or {})


def unknown_effects(n_edges: int) -> EdgeEffects:
    """Return effects that are not known."""
    numbers = {name: np.full(n_edges, np.nan) for name in EVERY}
    return EdgeEffects(**numbers)  # type: ignore[arg-type]


def _times(ratio: float) -> str:
    """Return a ratio in two digits.

    Examples
    --------
    >>> _times(4.234), _times(0.0312), _times(1234.0)
    ('4.2', '0.031', '1200')
    """
    shown = float(f"{ratio:.2g}")
    return f"{shown:.0f}" if shown >= 10 else f"{shown:.2g}"
