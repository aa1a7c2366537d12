"""The shapes that the paper's claims have: one learner against others, growth, convergence."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from statistics import fmean

from ibmap.paper.claims import MOST, Case, compare
from ibmap.paper.results import Cell, Grid, Results, Value, cell_in_words, cells_of

Cases = Callable[[Results], list[Case]]
Levels = Mapping[str, Sequence[Value]]


def versus(
    measure: str,
    cells: Iterable[Cell],
    learner: str,
    rivals: str | Sequence[str],
    *,
    lower: bool = True,
    margin: float = 0.0,
    clearly: bool = False,
    digits: int = 1,
) -> Cases:
    """Compare the means of a learner with those of its rivals, cell by cell.

    With a margin, being that much worse (in parts of the rival's mean) still counts as agreement.
    ``clearly``: by more than the standard error of the difference.
    """
    where = list(cells)
    others = (rivals,) if isinstance(rivals, str) else rivals
    parts = [
        compare(
            measure,
            where,
            {"learner": learner},
            {"learner": rival},
            lower=lower,
            margin=margin,
            clearly=clearly,
            digits=digits,
        )
        for rival in others
    ]
    return lambda results: [case for part in parts for case in part(results)]


def grows(measure: str, factor: str, grid: Grid, only: Levels) -> Cases:
    """Compare neighbouring levels of a factor, everything else equal: the mean must rise every time."""
    levels = grid[factor]
    rest = list(_others(grid, factor, only))
    parts = [compare(measure, rest, {factor: small}, {factor: large}) for small, large in pairwise(levels)]
    return lambda results: [case for part in parts for case in part(results)]


def falls(measure: str, factor: str, grid: Grid, *, strictly: bool = True) -> Cases:
    """Compare neighbouring levels of a factor, everything else equal: the mean must fall (or not rise)."""
    levels = grid[factor]
    rest = list(_others(grid, factor, {}))
    parts = [
        compare(measure, rest, {factor: large}, {factor: small}, strictly=strictly, digits=2)
        for small, large in pairwise(levels)
    ]
    return lambda results: [case for part in parts for case in part(results)]


def slowest_convergence(
    measure: str, learner: str, rivals: Sequence[str], grid: Grid, worlds: Sequence[str]
) -> Cases:
    """Average the means over the D that all were run with: the largest average comes down most slowly."""

    def cases(results: Results) -> list[Case]:
        found = []
        for world in cells_of({name: grid[name] for name in worlds}):
            everyone = (learner, *rivals)
            means = [
                [results.mean({**world, "D": rows, "learner": who}, measure) for who in everyone]
                for rows in grid["D"]
            ]
            known = [[m for m in row if m is not None] for row in means if None not in row]
            if len(known) < MOST * len(means):
                found.append(Case(cell_in_words(world), None))
                continue
            areas = dict(zip(everyone, (fmean(column) for column in zip(*known, strict=True)), strict=True))
            words = ", ".join(f"{who} {area:,.1f}" for who, area in areas.items())
            own, best_rival = areas[learner], max(areas[who] for who in rivals)
            found.append(
                Case(cell_in_words(world), own > best_rival, words, 1 - own / max(best_rival, 1e-12))
            )
        return found

    return cases


def sublinear(measure: str, factor: str, grid: Grid, only: Levels) -> Cases:
    """Fit mean = a · level^b by least squares in the logarithms: b must be below 1."""
    return grows_like(measure, factor, grid, only, 1.0)


def grows_like(measure: str, factor: str, grid: Grid, only: Levels, power: float) -> Cases:
    """Fit mean = a · level^b by least squares in the logarithms: b must be below a number."""
    rest = list(_others(grid, factor, only))

    def cases(results: Results) -> list[Case]:
        found = []
        for cell in rest:
            means = [results.mean({**cell, factor: level}, measure) for level in grid[factor]]
            points = [(float(x), y) for x, y in zip(grid[factor], means, strict=True) if y]
            if None in means:
                found.append(Case(cell_in_words(cell), None))
                continue
            if len(points) < 2:  # nothing grows where there is next to nothing
                most = max((y for _, y in points), default=0.0)
                found.append(Case(cell_in_words(cell), most < 1, f"at most {most:.1f}"))
                continue
            b = exponent(points)
            ends = f"{points[0][1]:,.1f} at {points[0][0]:.0f}, {points[-1][1]:,.1f} at {points[-1][0]:.0f}"
            found.append(Case(cell_in_words(cell), b < power, f"{factor}^{b:.2f} ({ends})", b))
        return found

    return cases


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """Return b of the least-squares fit y = a · x^b.

    Examples
    --------
    >>> round(exponent([(1, 3), (2, 12), (4, 48)]), 6)
    2.0
    """
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    above = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys, strict=True))
    return above / sum((x - mean_x) ** 2 for x in xs)


def _others(grid: Grid, factor: str, only: Levels) -> Iterable[Cell]:
    return cells_of({name: tuple(only.get(name, levels)) for name, levels in grid.items() if name != factor})
