"""Why is there an edge, or why not? Words first, numbers after."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from ibmap._text import counted, listed, probability
from ibmap.results.learned import Step

LIKELY = 0.1  #: rivals with a smaller probability are not told
LEVELS = 12  #: tables with more levels on a side are not drawn


@dataclass(frozen=True)
class View:
    """The pair as one end sees it: given the other neighbours of ``x``, or its other parents."""

    x: str
    y: str
    given: tuple[str, ...]
    n_rows: int
    n_slices: int | None  #: None if the variables are continuous
    independent: bool
    numbers: dict[str, float]  #: log posteriors, or statistic and p-value; a partial correlation
    others: str = "neighbours"  #: what is given: other neighbours, or other parents

    def sentence(self) -> str:
        """Say what the test found."""
        others = f" given {listed(self.given)}" if self.given else f" (no other {self.others})"
        verdict = "independent of" if self.independent else "dependent on"
        return f"{self.x} is {verdict} {self.y}{others}: {self._number()}."

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; JSON knows no infinite numbers."""
        numbers = {name: value if isfinite(value) else None for name, value in self.numbers.items()}
        return {**vars(self), "given": list(self.given), "numbers": numbers}

    def _number(self) -> str:
        if "log_independent" in self.numbers:
            log_p = self.numbers["log_independent" if self.independent else "log_dependent"]
            return f"P = {probability(log_p)}"
        name = "p_value" if "p_value" in self.numbers else "statistic"
        return f"{name.replace('_', '-')} = {self.numbers[name]:.3g}"


@dataclass(frozen=True)
class Explanation:
    """Why two variables are adjacent, or not.

    Attributes
    ----------
    x, y : str
        The pair.
    joined : bool
        Whether there is an edge.
    views : pair of View
        The test seen from ``x`` and from ``y``.
    flips : sequence of Step
        The ascents that flipped the pair.
    n_ascents : int or None
        How many ascents there were; None for learners without a score.
    gain_of_flip : float or None
        What flipping the pair would do to the score now.
    levels : pair of tuples
        Labels of ``x`` and of ``y``.
    counts : tuple of tuples of int
        Rows with each label of ``x`` (down) and of ``y`` (across).
    test : str
        Who was asked.
    required, forbidden : bool
        Whether the edge had to be there, or must not be there, whatever the data say.
    over_rivals : float or None
        Log posterior of the edge, averaged over graphs in which another variable stands in for one end.
    rivals : sequence of (str, str, float)
        Who would come at which end if the edge were not there, and with which probability.
    log_odds : float or None
        Of an edge, where the network is the moral graph of a directed one; None elsewhere.
    arcs : tuple of str
        Sentences about the arcs of that directed graph.
    view : str
        Which view of the data won, where two were compared.
    effect : str
        A sentence about strength and sign of the edge.
    untested : bool
        Whether it is an edge that neither end could test.
    correlation : float or None
        Of two continuous variables, whatever else there is; they have no levels and no counts.
    """

    x: str
    y: str
    joined: bool
    views: tuple[View, View]
    flips: Sequence[Step]
    n_ascents: int | None
    gain_of_flip: float | None
    levels: tuple[tuple[Any, ...], tuple[Any, ...]] = field(repr=False)
    counts: tuple[tuple[int, ...], ...] = field(repr=False)
    test: str
    required: bool = False
    forbidden: bool = False
    over_rivals: float | None = None
    rivals: Sequence[tuple[str, str, float]] = ()
    log_odds: float | None = None
    arcs: tuple[str, ...] = ()
    view: str = ""
    effect: str = ""
    untested: bool = False
    correlation: float | None = None

    @property
    def log_posterior(self) -> float | None:
        """Log posterior of an edge: of arcs, over rivals, or the mean of both ends; None if unknown."""
        if self.over_rivals is not None:
            return self.over_rivals
        if self.log_odds is not None:
            return -float(np.logaddexp(0.0, -self.log_odds))
        logs = [view.numbers.get("log_dependent") for view in self.views]
        return None if None in logs else float(np.mean(logs))  # type: ignore[arg-type]

    def words(self) -> str:
        """Return the explanation in a few sentences."""
        head = f"{self.x} and {self.y} are {'adjacent' if self.joined else 'not adjacent'}"
        if self._told:
            head += f" because the edge was {self._told}"
        if self.log_posterior is not None:
            head += f"; posterior of an edge: {probability(self.log_posterior)}"
        views = [view.sentence() for view in self.views]
        if self.untested:
            views.append("Neither end could test the edge: too few rows are left among so many neighbours.")
        view, effect = [self.view] * bool(self.view), [self.effect] * bool(self.effect)
        return "\n".join(
            [f"{head}.", *effect, *self.arcs, *views, *self._stand_ins(), *self._search(), *view]
        )

    def _stand_ins(self) -> list[str]:
        """Tell who could stand in for the edge."""
        return [
            f"Without this edge, {stays} would be adjacent to {comes}, with probability {share:.2g}."
            for stays, comes, share in self.rivals
            if share >= LIKELY
        ]

    @property
    def _told(self) -> str:
        """What the search was told about the edge."""
        return "required" if self.required else "forbidden" if self.forbidden else ""

    def _search(self) -> list[str]:
        """Tell what the search did with the pair."""
        if self.n_ascents is None:
            return []
        lines = [
            f"Ascent {step.n} of {self.n_ascents} {'added' if step.added else 'removed'} the edge: "
            f"the score {'rose' if step.gain >= 0 else 'fell'} by {abs(step.gain):.4g} to {step.score:.6g}."
            for step in self.flips
        ]
        if self.flips and not self.joined and self.flips[-1].gain < 0:
            lines.append("The edge was left out: seen from both ends, other variables could stand in for it.")
        lines = lines or [
            f"The search {'was not free to flip' if self._told else 'never flipped'} this pair."
        ]
        if self.gain_of_flip is not None:
            verb = "Removing" if self.joined else "Adding"
            lines.append(f"{verb} it now would change the score by {self.gain_of_flip:+.4g}.")
        return lines

    def __str__(self) -> str:
        numbers = [f"test {self.test}"]
        for view in self.views:
            found = [f"{name.replace('_', ' ')} {value:.6g}" for name, value in view.numbers.items()]
            slices = [] if view.n_slices is None else [counted(view.n_slices, "slice")]
            sizes = [counted(view.n_rows, "row"), *slices]
            numbers.append(f"seen from {view.x}: {'; '.join([*found, *sizes])}")
        return "\n".join([self.words(), "", *numbers, "", *self._table()])

    def _table(self) -> list[str]:
        """Draw the counts, or tell the correlation."""
        if self.correlation is not None:
            return [f"correlation of {self.x} and {self.y}, whatever else there is: {self.correlation:+.4f}"]
        if max(map(len, self.levels)) > LEVELS:
            return [f"counts: {len(self.levels[0])} by {len(self.levels[1])} levels, too many to show"]
        corner = f"{self.x} \\ {self.y}"
        rows = [[corner, *map(str, self.levels[1])]]
        rows += [[str(level), *map(str, row)] for level, row in zip(self.levels[0], self.counts, strict=True)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of the command line."""
        return {
            "x": self.x,
            "y": self.y,
            "joined": self.joined,
            "required": self.required,
            "forbidden": self.forbidden,
            "log_posterior": self.log_posterior,
            "rivals": [list(rival) for rival in self.rivals],
            "views": [view.to_dict() for view in self.views],
            "flips": [step._asdict() for step in self.flips],
            "n_ascents": self.n_ascents,
            "gain_of_flip": self.gain_of_flip,
            "levels": [[str(level) for level in levels] for levels in self.levels],
            "counts": [list(row) for row in self.counts],
            "correlation": self.correlation,
            "test": self.test,
            "effect": self.effect,
            "untested": self.untested,
            "words": self.words(),
        }
