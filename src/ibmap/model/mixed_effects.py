"""How strong the edges of a table of any columns are, everything else equal, and in which direction.

Each end is modelled given its neighbours. What an edge says depends on the kinds of its ends: an odds ratio,
odds per standard deviation, a difference of means in standard deviations, a partial correlation. One scale
serves all: ``strength``, the correlation that two numbers would need to know as much of each other
(√(1 - e^(-2 I)), I the conditional mutual information).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ibmap._types import Floats
from ibmap.criteria.coding import coding
from ibmap.data.schema import CONTINUOUS, ORDINAL
from ibmap.engines.mixed import MixedEngine
from ibmap.graph import Graph

MEASURES = ("strength", "log_odds_ratio", "log_odds_per_sd", "mean_difference", "partial_correlation")
#: numbers that an edge may have
CURVE = ("turning_point", "turning_end", "curvature")
NAMES = (*(name + end for name in MEASURES for end in ("", "_se")), "direction", "highest", *CURVE)
SURE = 3.0  #: standard errors of a curvature that is told
FAR = 2.0  #: standard deviations from the middle, beyond which hardly a row is
#: standard deviations from the middle, below which a turning point leaves more to the curve than to the line
MAINLY = 0.5**0.5


@dataclass(frozen=True, eq=False)
class MixedEffects:
    """The effects of every edge, in the order of ``graph.pairs``, by name.

    Attributes
    ----------
    by_edge : tuple of mappings
        Of each edge: "strength"; "direction", 1 if both rise together and -1 if one falls, where there is
        one; "log_odds_ratio" of two binary variables; "mean_difference", in standard deviations, of a number
        between two levels, the last and the first of ordered ones, or the "highest" and the lowest one;
        "log_odds_per_sd" of a binary variable; "partial_correlation" of two numbers. Of a curved effect, the
        "turning_point" of the number at one end ("turning_end": 0 the first, 1 the second), in standard
        deviations from its middle, and the "curvature", above 0 if it is a trough and below if it is a peak.
        Where the curve says more than the line there is no direction. Measures have standard errors.
    """

    by_edge: tuple[Mapping[str, float], ...]

    columns = NAMES  #: names of the numbers

    @property
    def strength(self) -> Floats:
        """What an edge is drawn by, from -1 to 1."""
        size = np.array([found.get("strength", np.nan) for found in self.by_edge])
        return np.where(self.sign < 0, -size, size)

    @property
    def sign(self) -> Floats:
        """1 if two variables rise together, -1 if one falls; 0 where there is no order."""
        return np.array([found.get("direction", 0.0) for found in self.by_edge])

    def numbers(self, e: int) -> dict[str, float]:
        """Return the numbers of an edge that are known, by name."""
        return dict(self.by_edge[e])

    def in_short(self, e: int) -> str:
        """Return the effect as a short text."""
        found = self.by_edge[e]
        if is_curve(found):
            return f"curved, strength {_with_error(found, 'strength')}"
        for name, after in (("log_odds_ratio", ""), ("log_odds_per_sd", " per SD")):
            if name in found:
                middle, low, high = _times(found, name)
                return f"odds × {middle} ({low} to {high}){after}"
        if "partial_correlation" in found:
            return f"r {_with_error(found, 'partial_correlation', '+')}"
        if "mean_difference" in found:
            ordered = "" if "highest" in found else "+"
            return f"differs by {_with_error(found, 'mean_difference', ordered)} SD"
        if "direction" in found:
            return f"r {found['direction'] * found['strength']:+.2f} ± {found['strength_se']:.1g}"
        return f"strength {_with_error(found, 'strength')}" if found else ""

    def in_words(self, e: int, names: tuple[str, str], levels: tuple[Any, Any] = ((), ())) -> str:
        """Return the effect of an edge as a sentence or two; "" if it is not known."""
        found = self.by_edge[e]
        if not found:
            return ""
        said = ["" if is_curve(found) else _in_words(found, names, levels)]
        if "turning_point" in found:
            said.append(_turn(found, names, levels))
        whole = f"In all, the association is as strong as a correlation of {found['strength']:.2f}."
        return " ".join(filter(None, [*said, whole]))


def _in_words(found: Mapping[str, float], names: tuple[str, str], levels: tuple[Any, Any]) -> str:
    """Return what can be said of two variables of these kinds; "" where labels are not known."""
    x, y = names
    if "partial_correlation" in found:
        together = f"{x} and {y} rise together" if found["direction"] >= 0 else f"{x} falls where {y} rises"
        r = _with_error(found, "partial_correlation", "+")
        return f"{together}, everything else equal: their partial correlation is {r}."
    if "log_odds_ratio" in found and all(levels):
        middle, low, high = _times(found, "log_odds_ratio")
        return (
            f"The odds of {y}={levels[1][1]} are {middle} times as high with {x}={levels[0][1]} as with "
            f"{x}={levels[0][0]}, everything else equal (95 % interval {low} to {high})."
        )
    if "mean_difference" not in found or not any(levels):
        return ""
    (level, number), labels = ((x, y), levels[0]) if levels[0] else ((y, x), levels[1])
    apart = f"by {_with_error(found, 'mean_difference')} standard deviations"
    if "highest" in found:
        best = labels[int(found["highest"])]
        return f"{number} is highest with {level}={best}, {apart} above the lowest, everything else equal."
    how = "higher" if found["direction"] >= 0 else "lower"
    said = f"{number} is {how} {apart} with {level}={labels[-1]} than with {level}={labels[0]}"
    if "log_odds_per_sd" not in found:
        return f"{said}, everything else equal."
    middle, low, high = _times(found, "log_odds_per_sd")
    return (
        f"{said}, everything else equal; one standard deviation more of {number} multiplies the odds of "
        f"{level}={labels[-1]} by {middle} (95 % interval {low} to {high})."
    )


def is_curve(found: Mapping[str, float]) -> bool:
    """Whether an effect is a peak or a trough more than a slope."""
    return abs(found.get("turning_point", np.inf)) < MAINLY


def _turn(found: Mapping[str, float], names: tuple[str, str], levels: tuple[Any, Any]) -> str:
    """Return where a curved effect has its peak or trough."""
    end, at = int(found["turning_end"]), found["turning_point"]
    turning, other, labels = names[end], names[1 - end], levels[1 - end]
    what = f"the odds of {other}={labels[-1]} are" if labels else f"{other} is"
    how = "lowest" if found["curvature"] > 0 else "highest"
    side = "above" if at >= 0 else "below"
    where = f"{abs(at):.2g} standard deviations {side} its middle"
    said = f"{what} {how} where {turning} is {where}, everything else equal."
    return said[0].upper() + said[1:] if labels else said


def _times(found: Mapping[str, float], name: str) -> tuple[str, str, str]:
    """Return a ratio of odds with a 95 % interval, in two digits."""
    value, error = found[name], found[f"{name}_se"]
    shown = [float(f"{np.exp(np.clip(value + side * 1.96 * error, -50, 50)):.2g}") for side in (0, -1, 1)]
    middle, low, high = (f"{one:.0f}" if 10 <= one < 1e5 else f"{one:.2g}" for one in shown)
    return middle, low, high


def _with_error(found: Mapping[str, float], name: str, sign: str = "") -> str:
    """Return a number with its standard error; without its sign, unless it is asked for."""
    value = found[name] if sign else abs(found[name])
    return f"{value:{sign}.2f} ± {found[f'{name}_se']:.1g}"


class Block(NamedTuple):
    """What x says of its neighbour y."""

    effect: Floats  #: (functions of x, columns of y)
    covariance: Floats  #: of these, one after the other
    n_rows: float


def mixed_effects(engine: MixedEngine, graph: Graph) -> MixedEffects:
    """Return the effects of all edges.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> size = rng.normal(size=400)
    >>> columns = {"size": size, "weight": size + rng.normal(size=400), "tall": size > 0.3}
    >>> data = load(columns, continuous="auto")
    >>> found = mixed_effects(MixedEngine(data), Graph(data.names, [("size", "weight"), ("size", "tall")]))
    >>> found.in_short(0)
    'r +0.55 ± 0.04'
    """
    blocks = blocks_of_edges(engine, graph)
    kinds = engine.schema.kinds
    sizes = [len(labels) for labels in engine.schema.levels]
    found: list[dict[str, float]] = []
    for i, j in graph.pairs.tolist():
        there, back = blocks[i, j], blocks[j, i]
        if not (there.effect.size and back.effect.size):
            found.append({})
            continue
        shapes = (kinds[i], sizes[i]), (kinds[j], sizes[j])
        found.append(_numbers(shapes, there, back))
    return MixedEffects(tuple(found))


def blocks_of_edges(engine: MixedEngine, graph: Graph) -> dict[tuple[int, int], Block]:
    """Return what both ends of every edge say of each other."""
    blocks: dict[tuple[int, int], Block] = {}
    for x in range(graph.n_variables):
        members = np.asarray(graph.neighbours(x), np.int64)
        if len(members):
            blocks |= _blocks(engine, x, members)
    return blocks


def _blocks(engine: MixedEngine, x: int, members: Any) -> dict[tuple[int, int], Block]:
    """Return what a variable says of each of its neighbours."""
    columns, effect, covariance, _, n_rows = engine.mixed_table.effects(x, members)
    width = int(columns.sum())
    n_functions = len(effect) // width if width else 0
    by_function = effect.reshape(n_functions, width)
    found, first, at = {}, 0, 0
    for y, r in zip(members.tolist(), columns.tolist(), strict=True):
        size = n_functions * r
        of_member = covariance[at : at + size * size].reshape(size, size)
        found[x, y] = Block(by_function[:, first : first + r], of_member, n_rows)
        first, at = first + r, at + size * size
    return found


def _numbers(shapes: Sequence[tuple[str, int]], there: Block, back: Block) -> dict[str, float]:
    """Return the numbers of an edge, from what both ends say."""
    (kind_x, r_x), (kind_y, r_y) = shapes
    free = np.sqrt(max(min(there.n_rows, back.n_rows) - 1, 1.0))
    strength = (_strength(there) + _strength(back)) / 2
    found = {"strength": strength, "strength_se": (1 - strength**2) / free}
    direction = there.effect[0, 0] + back.effect[0, 0]
    if kind_x == kind_y == CONTINUOUS:
        size = min(np.sqrt(abs(there.effect[0, 0] * back.effect[0, 0]) / 2), 1.0)  # z is √2 times a column
        r = float(np.copysign(size, direction))
        found |= {"partial_correlation": r, "partial_correlation_se": (1 - r**2) / free}
    elif CONTINUOUS in (kind_x, kind_y):
        number, level = (there, back) if kind_x == CONTINUOUS else (back, there)
        n_levels = max(r_x, r_y)
        found |= _of_level_and_number(number, n_levels, ORDINAL in (kind_x, kind_y))
        direction = found["mean_difference"]
        if n_levels == 2:
            error = float(np.sqrt(level.covariance[0, 0]))
            found |= {"log_odds_per_sd": float(level.effect[0, 0]), "log_odds_per_sd_se": error}
    elif r_x == r_y == 2:
        error = sum(float(np.sqrt(block.covariance[0, 0])) for block in (there, back))
        found |= {"log_odds_ratio": direction, "log_odds_ratio_se": error}  # twice the mean of both ends
    if all(kind in (CONTINUOUS, ORDINAL) or r == 2 for kind, r in shapes):
        found["direction"] = float(np.sign(direction))
    for end, block, kind in ((1, there, kind_y), (0, back, kind_x)):
        if kind == CONTINUOUS and block.effect.shape == (1, 2):
            line, curve = block.effect[0]
            at = -line / (np.sqrt(2) * curve) if curve else np.inf
            is_sure = abs(curve) > SURE * np.sqrt(block.covariance[1, 1])
            if is_sure and abs(at) < FAR and abs(curve) > abs(found.get("curvature", 0.0)):
                found |= {"turning_point": at, "turning_end": end, "curvature": curve}
    if is_curve(found):
        found.pop("direction", None)
        strength = max(_strength(there), _strength(back))  # a curve seen from its other end is no curve
        found |= {"strength": strength, "strength_se": (1 - strength**2) / free}
    return {name: float(value) for name, value in found.items()}


def _strength(block: Block) -> float:
    """Return the correlation that two numbers would need to know as much of each other."""
    flat = block.effect.ravel()
    wald = float(flat @ np.linalg.solve(block.covariance, flat))
    return float(np.sqrt(wald / (wald + max(block.n_rows, 1.0))))


def _of_level_and_number(number: Block, n_levels: int, ordinal: bool) -> dict[str, float]:
    """Return the difference between the means of a number in two levels."""
    columns = coding(n_levels, 1 if ordinal else n_levels - 1)
    means = columns @ number.effect[0]
    is_ordered = n_levels == 2 or ordinal
    low, high = (0, n_levels - 1) if is_ordered else (int(means.argmin()), int(means.argmax()))
    apart = columns[high] - columns[low]
    error = float(np.sqrt(apart @ number.covariance @ apart))
    found = {"mean_difference": float(apart @ number.effect[0]), "mean_difference_se": error}
    return found if is_ordered else {**found, "highest": float(high)}
