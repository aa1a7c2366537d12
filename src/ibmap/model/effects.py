"""How strong an edge is, and in which direction: with standard errors, everything else equal.

Of numbers, they are partial correlations (``partial_correlations.py``). Effects of categories
are those of the pseudo-likelihood fit. The standard error of an effect is the mean of the two that its ends
have, each given its own neighbours: right if both ends say the same, an upper bound otherwise.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ibmap._types import Floats, Ints
from ibmap.data.schema import Schema
from ibmap.engines import Engine
from ibmap.engines.moments import gaussian_moments
from ibmap.errors import DataError
from ibmap.graph import Graph
from ibmap.model.blanket_counts import BlanketCounts, blanket_counts
from ibmap.model.layout import Layout
from ibmap.model.partial_correlations import COLUMNS as CORRELATIONS
from ibmap.model.partial_correlations import PartialCorrelations, partial_correlations_of
from ibmap.model.pseudo_likelihood import VAGUE, fit_pseudo_likelihood
from ibmap.model.strength import (
    correlation_slopes,
    cramers_v,
    log_odds_ratio,
    score_correlation,
    slopes,
)
from ibmap.scores.large_model import contrasts

EFFECT_VARIANCE = 4.0
MOST_PARAMETERS = 200_000  #: beyond which nobody waits for the effects
EXACT = 400  #: parameters of a variable up to which its information matrix is not approximated

NUMBERS = ("log_odds_ratio", "log_odds_ratio_se", "strength", "strength_se")
ORDERED = ("score_correlation", "score_correlation_se")  #: where levels have an order

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
    tables : tuple of arrays
        The log tables of the edges, rows and columns adding up to zero; empty if read from a file.
    """

    log_odds_ratio: Floats
    log_odds_ratio_se: Floats
    strength: Floats
    strength_se: Floats
    score_correlation: Floats
    score_correlation_se: Floats
    tables: tuple[Floats, ...] = field(default=(), repr=False)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the numbers; those of ordered levels where there are any."""
        return NUMBERS if np.isnan(self.score_correlation).all() else (*NUMBERS, *ORDERED)

    def numbers(self, e: int) -> dict[str, float]:
        """Return the numbers of an edge that are known, by name."""
        found = {name: float(getattr(self, name)[e]) for name in (*NUMBERS, *ORDERED)}
        return {name: value for name, value in found.items() if not np.isnan(value)}

    def in_short(self, e: int) -> str:
        """Return the effect in a few letters, with an interval of 95 % for odds."""
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
        (x, y), ratio = names, self.log_odds_ratio[e]
        if not np.isnan(ratio):
            low, high = (_times(np.exp(ratio + side * 1.96 * self.log_odds_ratio_se[e])) for side in (-1, 1))
            return (
                f"The odds of {y}={levels[1][1]} are {_times(np.exp(ratio))} times as high with "
                f"{x}={levels[0][1]} as with {x}={levels[0][0]}, everything else equal (95 % between {low} "
                f"and {high})."
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


Effects = EdgeEffects | PartialCorrelations


def effects_in(engine: Engine, graph: Graph) -> Effects:
    """Return the effects of all edges, of whichever kind the variables are."""
    if engine.schema.is_continuous:
        return partial_correlations_of(gaussian_moments(engine), graph)
    return edge_effects(engine, graph)


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
    theta = fit_pseudo_likelihood(engine, layout, EFFECT_VARIANCE)
    counts = blanket_counts(engine, graph)
    ends = [_End(layout, theta, v, one) for v, one in enumerate(counts)]
    shares = [_shares(one) for one in counts]
    tables, pairs = layout.factors(theta), graph.pairs
    found = unknown_effects(graph.n_edges)
    for shape in np.unique(layout.levels[pairs], axis=0).tolist():
        if min(shape) < 2:
            continue
        alike = np.flatnonzero((layout.levels[pairs] == shape).all(axis=1))
        stacked = np.stack([tables[e] for e in alike.tolist()])
        margins = [np.stack([shares[v] for v in pairs[alike, side].tolist()]) for side in (0, 1)]
        strength, slope = cramers_v(stacked, *margins), slopes(stacked, *margins)
        if shape == [2, 2]:
            ratios = found.log_odds_ratio[alike] = log_odds_ratio(stacked)
            strength = np.where(ratios < 0, -strength, strength)
        found.strength[alike] = strength
        _add_correlations(found, alike, pairs, engine.schema, stacked, margins, ends)
        for e, one in zip(alike.tolist(), slope, strict=True):
            i, j = pairs[e].tolist()
            found.strength_se[e] = (ends[i].error(j, one) + ends[j].error(i, one.T)) / 2
            if shape == [2, 2]:
                two = np.full((1, 1), 2.0)  # of a log odds ratio along the contrast, which has length one
                found.log_odds_ratio_se[e] = (ends[i].error(j, two) + ends[j].error(i, two)) / 2
    return replace(found, tables=tuple(table.copy() for table in tables))


def _add_correlations(
    found: EdgeEffects,
    alike: Ints,
    pairs: Ints,
    schema: Schema,
    tables: Floats,
    margins: list[Floats],
    ends: list["_End"],
) -> None:
    """Fill the correlations of edges whose ends both have an order: two levels, or ordinal ones."""
    binary = schema.cardinalities == 2
    ordered = (schema.ordinal | binary)[pairs[alike]].all(axis=1) & ~binary[pairs[alike]].all(axis=1)
    if not ordered.any():
        return
    tables, margins, edges = tables[ordered], [margin[ordered] for margin in margins], alike[ordered]
    r = found.score_correlation[edges] = score_correlation(tables, *margins)
    found.strength[edges] = np.where(r < 0, -found.strength[edges], found.strength[edges])
    for e, slope in zip(edges.tolist(), correlation_slopes(tables, *margins), strict=True):
        i, j = pairs[e].tolist()
        found.score_correlation_se[e] = (ends[i].error(j, slope) + ends[j].error(i, slope.T)) / 2


def contrast_effects(engine: Engine, graph: Graph) -> list[tuple[Floats, Floats]]:
    """Return the effects of every edge along the contrasts of its ends, and their standard errors."""
    layout = Layout(graph, engine.schema.cardinalities)
    if layout.size > MOST_PARAMETERS:
        raise DataError(
            f"the network has {layout.size:,} parameters, more than {MOST_PARAMETERS:,}: group levels, or "
            "leave out columns"
        )
    theta = fit_pseudo_likelihood(engine, layout, EFFECT_VARIANCE)
    ends = [_End(layout, theta, v, one) for v, one in enumerate(blanket_counts(engine, graph))]
    codings = [contrasts(int(r)) for r in layout.levels]
    out = []
    for (i, j), table in zip(graph.pairs.tolist(), layout.factors(theta), strict=True):
        errors = (ends[i].errors(j) + ends[j].errors(i).T) / 2
        out.append((codings[i].T @ table @ codings[j], errors))
    return out


def effects_of(numbers: Sequence[Mapping[str, float]]) -> Effects | None:
    """Return the effects that edges have as numbers; None if there are none."""
    if any("partial_correlation" in named for named in numbers):
        return PartialCorrelations(
            *(np.array([named.get(name, np.nan) for named in numbers]) for name in CORRELATIONS)
        )
    found = unknown_effects(len(numbers))
    for e, named in enumerate(numbers):
        for name in (*NUMBERS, *ORDERED):
            getattr(found, name)[e] = named.get(name, np.nan)
    return None if np.isnan(found.strength).all() else found


def unknown_effects(n_edges: int) -> EdgeEffects:
    """Return effects that are not known."""
    ratio, ratio_se, strength, strength_se, r, r_se = (np.full(n_edges, np.nan) for _ in (*NUMBERS, *ORDERED))
    return EdgeEffects(ratio, ratio_se, strength, strength_se, r, r_se)


def _shares(counts: BlanketCounts) -> Floats:
    seen = counts.counts.sum(axis=0) + 0.5
    return np.asarray(seen / seen.sum())


class _End:
    """A variable given its neighbours: the information about its effects."""

    def __init__(self, layout: Layout, theta: Floats, v: int, counts: BlanketCounts) -> None:
        self._neighbours = layout.graph.neighbours(v).tolist()
        levels = layout.levels[self._neighbours].tolist()
        designs = [contrasts(r)[counts.codes[:, k]] for k, r in enumerate(levels)]
        design = np.concatenate([np.ones((len(counts.codes), 1)), *designs], axis=1)
        self._first = np.cumsum([1, *(r - 1 for r in levels)]).tolist()
        shares = self._probabilities(layout, theta, v, counts)
        n = counts.counts.sum(axis=1).astype(float)
        c = contrasts(int(layout.levels[v]))
        self._q, self._width = c.shape[1], design.shape[1]
        prior = np.full(self._width, 4.0 / EFFECT_VARIANCE)
        prior[0] = VAGUE
        if self._q * self._width <= EXACT:
            self._inverse = _inverse(design, n, shares @ c, c, shares, prior)
            return
        self._inverse = np.empty((0, 0))
        mean = (n[:, None] * shares).sum(axis=0) / max(n.sum(), 1)
        covariance = c.T @ (np.diag(mean) - (n[:, None] * shares).T @ shares / max(n.sum(), 1)) @ c
        self._omega, self._vectors = np.linalg.eigh(covariance)
        self._mu, self._basis = np.linalg.eigh((design.T * n) @ design)

    def _probabilities(self, layout: Layout, theta: Floats, v: int, counts: BlanketCounts) -> Floats:
        codes: Ints = np.full((len(layout.levels), len(counts.codes)), -1)
        codes[self._neighbours] = counts.codes.T
        logs = layout.log_odds(theta, v, codes)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def error(self, neighbour: int, slope: Floats) -> float:
        """Return the standard error of a function of the effects of a neighbour, from its slope.

        ``slope`` has a row for every contrast of the variable, a column for every one of the neighbour.
        """
        k = self._neighbours.index(neighbour)
        whole = np.zeros((self._q, self._width))
        whole[:, self._first[k] : self._first[k + 1]] = slope
        if len(self._inverse):
            return float(np.sqrt(max(float(whole.ravel() @ self._inverse @ whole.ravel()), 0.0)))
        turned = self._vectors.T @ whole @ self._basis
        curvature = np.maximum(np.outer(self._omega, self._mu), 0.0) + 4.0 / EFFECT_VARIANCE
        return float(np.sqrt((turned**2 / curvature).sum()))

    def errors(self, neighbour: int) -> Floats:
        """Return the standard errors of the effects of a neighbour, along all pairs of contrasts."""
        k = self._neighbours.index(neighbour)
        mine = slice(self._first[k], self._first[k + 1])
        if len(self._inverse):
            variances = np.diag(self._inverse).reshape(self._q, self._width)[:, mine]
        else:
            curvature = np.maximum(np.outer(self._omega, self._mu), 0.0) + 4.0 / EFFECT_VARIANCE
            variances = self._vectors**2 @ (1 / curvature) @ (self._basis[mine] ** 2).T
        return np.asarray(np.sqrt(np.maximum(variances, 0.0)))


def _inverse(design: Floats, n: Floats, means: Floats, c: Floats, shares: Floats, prior: Floats) -> Floats:
    """Return the inverse of the information, contrasts of the variable × columns of the design."""
    q, width = c.shape[1], design.shape[1]
    information = np.zeros((q, width, q, width))
    for a in range(q):
        for b in range(a + 1):
            weight = n * (shares @ (c[:, a] * c[:, b]) - means[:, a] * means[:, b])
            information[a, :, b, :] = information[b, :, a, :] = (design.T * weight) @ design
    flat = information.reshape(q * width, q * width)
    flat[np.diag_indices(q * width)] += np.tile(prior, q)
    return np.asarray(np.linalg.inv(flat))


def _times(ratio: float) -> str:
    """Return a ratio in two digits.

    Examples
    --------
    >>> _times(4.234), _times(0.0312), _times(1234.0)
    ('4.2', '0.031', '1200')
    """
    shown = float(f"{ratio:.2g}")
    return f"{shown:.0f}" if shown >= 10 else f"{shown:.2g}"
