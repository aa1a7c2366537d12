"""Effects that depend on another variable: of an exclusive or, the average says nothing.

The ends of an edge that are in an interaction (``interactions.py``) are looked at by level of each other
variable in it. Of two binary variables, log odds ratios of the strata of what both are adjacent to are pooled
by their precision (Woolf 1955), and an effect depends on a variable if its levels differ by more than chance,
by BIC, and by a factor of two. Of others, Cramér's V by level is told where the triple says more than its
pairs, and V differs much, or patterns do.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

import numpy as np

from ibmap._text import listed
from ibmap._types import Floats
from ibmap.engines import Engine
from ibmap.graph import Graph
from ibmap.model.blanket_counts import table_counts
from ibmap.model.effect_size import cramers_v
from ibmap.model.interactions import Scope, more_than_main_effects

ENOUGH = 4.6  #: log evidence of a full table beyond main effects, on average over three variables
RATIO = 2.0  #: by which the largest effect must surpass the smallest one to be told beside it,
APART = 0.2  #: and by how much Cramér's V; with many rows everything depends a little on everything
HIDDEN = 1.5  #: or by which V within levels must surpass V on average: then patterns differ, not strengths


@dataclass(frozen=True)
class Dependence:
    """How the effect of an edge depends on others.

    Attributes
    ----------
    on : tuple of str
        The variables.
    levels : tuple of tuples of str
        Their levels, one after the other, or the configurations of several variables.
    measure : str
        "log_odds_ratio" or "strength" (Cramér's V).
    values, errors : tuple of float
        The effect at each of them, and its standard error.
    strength : float
        The mean of |V| over the rows.
    """

    on: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    measure: str
    values: tuple[float, ...]
    errors: tuple[float, ...]
    strength: float

    @property
    def order(self) -> list[int]:
        """The levels by falling effect."""
        return sorted(range(len(self.values)), key=lambda k: -self.values[k])

    def is_large(self, average: float) -> bool:
        """Whether the average would mislead, or leave out what matters."""
        high, low = max(self.values), min(self.values)
        if self.measure == "log_odds_ratio":
            return high - low > log(RATIO)
        return high > max(RATIO * low, low + APART) or self.strength > max(HIDDEN * average, APART)

    def in_short(self) -> str:
        """Return the effects in a few letters.

        Examples
        --------
        >>> both = (("False",), ("True",))
        >>> Dependence(("b",), both, "log_odds_ratio", (-3.2, 3.2), (0.1, 0.1), 0.8).in_short()
        'odds × 25 if b, × 0.041 if not b'
        """
        mark = "×" if self.measure == "log_odds_ratio" else "V"
        start = "odds " if self.measure == "log_odds_ratio" else ""
        high, *_, low = self.order
        if len(self.on) > 1:
            return f"{start}{mark} {self._size(low)} to {self._size(high)}, by {listed(self.on)}"
        again = "× " if self.measure == "log_odds_ratio" else ""
        most = f"{mark} {self._size(high)} {self._when(high)}"
        return f"{start}{most}, {again}{self._size(low)} {self._when(low)}"

    def in_words(self, names: tuple[str, str], labels: tuple[Sequence[Hashable], Sequence[Hashable]]) -> str:
        """Return the effects as a sentence."""
        (x, y), parts = names, []
        for k in self.order:
            size = self._size(k)
            if self.measure == "log_odds_ratio":
                low, high = (self._times(self.values[k] + side * 1.96 * self.errors[k]) for side in (-1, 1))
                size = f"{size} times as high (95 % interval {low} to {high})"
            parts.append(f"{size} {self._when(k)}")
        if self.measure == "log_odds_ratio" and len(labels[0]) == len(labels[1]) == 2:
            what = f"With {x}={labels[0][1]}, not {labels[0][0]}, the odds of {y}={labels[1][1]} are "
        elif self.measure == "log_odds_ratio":
            what = f"The odds of {y} by {x} are "
        else:
            what = f"Cramér's V of {x} and {y} is "
        return f"The effect depends on {listed(self.on)}. {what}{listed(parts)}."

    def _size(self, k: int) -> str:
        return self._times(self.values[k]) if self.measure == "log_odds_ratio" else f"{self.values[k]:.2f}"

    @staticmethod
    def _times(log_ratio: float) -> str:
        shown = float(f"{np.exp(log_ratio):.2g}")
        return f"{shown:.0f}" if shown >= 10 else f"{shown:.2g}"

    def _when(self, k: int) -> str:
        if len(self.on) == 1 and {labels[0].lower() for labels in self.levels} == {"true", "false"}:
            return f"if {'' if self.levels[k][0].lower() == 'true' else 'not '}{self.on[0]}"
        pairs = zip(self.on, self.levels[k], strict=True)
        return "if " + " and ".join(f"{name}={level}" for name, level in pairs)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @staticmethod
    def from_dict(found: Mapping[str, Any]) -> "Dependence":
        """Return what a file holds."""
        values, errors = (tuple(map(float, found[name])) for name in ("values", "errors"))
        levels = tuple(tuple(map(str, labels)) for labels in found["levels"])
        on = tuple(map(str, found["on"]))
        sizes = {len(values), len(errors), len(levels)}
        if len(sizes) != 1 or len(values) < 2 or not on or any(len(one) != len(on) for one in levels):
            raise ValueError("a dependent effect has no levels")
        measure = str(found["measure"])
        return Dependence(on, levels, measure, values, errors, float(found["strength"]))


def dependent_effects(
    engine: Engine, graph: Graph, scopes: Sequence[Scope], strength: Floats
) -> dict[int, Dependence]:
    """Return how effects depend on others, of the edges where they do; ``strength`` is V on average.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import as_engine
    >>> a, b, flip = np.random.default_rng(0).integers(0, (2, 2, 5), (1000, 3)).T
    >>> data = load({"a": a == 1, "b": b == 1, "y": a ^ b ^ (flip == 0)})
    >>> found = dependent_effects(as_engine(data), Graph.complete("aby"), [(0, 1, 2)], np.zeros(3))
    >>> found[1].in_short()  # of a and y
    'odds × 14 if not b, × 0.067 if b'
    """
    pairs = {pair: e for e, pair in enumerate(map(tuple, graph.pairs.tolist()))}
    others: dict[Scope, set[int]] = defaultdict(set)
    for scope in scopes:
        for ends in combinations(scope, 2):
            others[ends].update(v for v in scope if v not in ends)
    asked = sorted({tuple(sorted((*pair, z))) for pair, among in others.items() for z in among})
    if not asked:
        return {}
    evidence = more_than_main_effects(engine, asked).reshape(-1, 3).mean(axis=1)
    more = dict(zip(asked, evidence.tolist(), strict=True))
    found = {}
    for pair in sorted(others, key=pairs.__getitem__):
        by = sorted(others[pair], key=lambda z: (-more[tuple(sorted((*pair, z)))], z))
        one = _of_edge(engine, graph, pair, by, more[tuple(sorted((*pair, by[0])))])
        if one is not None and one.is_large(float(abs(strength[pairs[pair]]))):
            found[pairs[pair]] = one
    return found


def _of_edge(
    engine: Engine, graph: Graph, pair: tuple[int, ...], by: list[int], evidence: float
) -> Dependence | None:
    """Return how the effect of an edge depends on the first of some variables, or on all of them."""
    levels = engine.schema.cardinalities
    both = np.intersect1d(graph.neighbours(pair[0]), graph.neighbours(pair[1])).tolist()
    given: list[int] = []
    for v in (
        *by,
        *(v for v in both if v not in by),
    ):  # what both are adjacent to is equal, as far as there are rows for that
        if np.prod(levels[[*pair, *given, v]], dtype=float) <= max(engine.schema.n_rows / 4, 8):
            given.append(v)
    if by[0] not in given:
        return None
    (counts,) = table_counts(engine, [(*pair, *given)])
    if counts.shape[:2] != (2, 2):
        return _of_strengths(engine, by[0], given, counts) if evidence > ENOUGH else None
    single = [_pooled(engine, [z], given, counts) for z in by if z in given]
    best = max(single, key=lambda one: one[0])
    if best[0] > 0:
        return best[1]
    gain, together = _pooled(engine, [z for z in by if z in given], given, counts)
    return together if gain > 0 else None


def _pooled(engine: Engine, on: list[int], given: list[int], counts: Any) -> tuple[float, Dependence | None]:
    """Return how far log odds ratios by level of some variables differ beyond chance, and what they are."""
    schema, cells = engine.schema, counts.reshape(4, -1).astype(float) + 0.5
    both = counts.sum(axis=1).min(axis=0).ravel() > 0, counts.sum(axis=0).min(axis=0).ravel() > 0
    weight = np.where(both[0] & both[1], 1 / (1 / cells).sum(axis=0), 0.0)
    ratio = np.log(cells[3] * cells[0] / (cells[1] * cells[2]))
    sizes = counts.shape[2:]
    axes = [given.index(z) for z in on]
    place = np.stack(np.unravel_index(np.arange(len(weight)), sizes))[axes]
    kinds = [sizes[axis] for axis in axes]
    group = np.ravel_multi_index(tuple(place), kinds)
    n = int(np.prod(kinds))
    sums = np.bincount(group, weight, n)
    seen = np.flatnonzero(sums > 0)
    if len(seen) < 2:
        return 0.0, None
    values = np.bincount(group, weight * ratio, n)[seen] / sums[seen]
    mean = (sums[seen] * values).sum() / sums[seen].sum()
    gain = float((sums[seen] * (values - mean) ** 2).sum() - (len(seen) - 1) * log(max(schema.n_rows, 2)))
    codes = np.stack(np.unravel_index(seen, kinds), axis=1).tolist()
    labels = tuple(tuple(str(schema.levels[z][k]) for z, k in zip(on, code, strict=True)) for code in codes)
    rows = np.bincount(group, counts.reshape(4, -1).sum(axis=0), n)[seen]
    inside = np.stack([counts.reshape(2, 2, -1)[..., group == k].sum(axis=2) for k in seen])
    strength = float((rows * _strengths(inside)).sum() / max(rows.sum(), 1))
    errors = 1 / np.sqrt(sums[seen])
    names = tuple(schema.names[z] for z in on)
    numbers = tuple(values.tolist()), tuple(errors.tolist())
    return gain, Dependence(names, labels, "log_odds_ratio", *numbers, strength)


def _of_strengths(engine: Engine, z: int, given: list[int], counts: Any) -> Dependence | None:
    """Return Cramér's V by level of a variable."""
    schema, axis = engine.schema, 2 + given.index(z)
    inside = np.moveaxis(counts, axis, 0).reshape(counts.shape[axis], *counts.shape[:2], -1).sum(axis=3)
    rows = inside.sum(axis=(1, 2))
    seen = np.flatnonzero(rows)
    if len(seen) < 2:
        return None
    values = _strengths(inside[seen])
    errors = np.sqrt(np.maximum(1 - values**2, 1e-4) / rows[seen])
    labels = tuple((str(schema.levels[z][k]),) for k in seen.tolist())
    strength = float((rows[seen] * values).sum() / rows.sum())
    numbers = tuple(values.tolist()), tuple(errors.tolist())
    return Dependence((schema.names[z],), labels, "strength", *numbers, strength)


def _strengths(counts: Any) -> Floats:
    """Return Cramér's V of tables of counts (tables, rows, columns)."""
    shares = counts + 1e-9
    shares = shares / shares.sum(axis=(1, 2), keepdims=True)
    return cramers_v(shares, shares.sum(axis=2), shares.sum(axis=1))
