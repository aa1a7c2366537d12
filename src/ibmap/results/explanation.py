"""Why is there an edge, or why not? Words first, numbers after."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

import numpy as np

from ibmap._text import counted, listed, probability
from ibmap.data import CategoricalData
from ibmap.engines import LocalCounts, Tables
from ibmap.errors import RequestError
from ibmap.independence import BoundTest, as_test
from ibmap.results.learned import Learned, Step
from ibmap.scores.closure import closure_row

LEVELS = 12  #: tables with more levels on a side are not drawn


@dataclass(frozen=True)
class View:
    """The pair as one end sees it: the test given the other neighbours of ``x``."""

    x: str
    y: str
    given: tuple[str, ...]
    n_rows: int
    n_slices: int
    independent: bool
    numbers: dict[str, float]  #: log posteriors, or statistic and p-value

    def sentence(self) -> str:
        """Say what the test found."""
        others = f" given {listed(self.given)}" if self.given else " (no other neighbours)"
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

    @property
    def log_posterior(self) -> float | None:
        """Log posterior of an edge: the mean of what the two ends say; None if the test has no posteriors."""
        logs = [view.numbers.get("log_dependent") for view in self.views]
        return None if None in logs else float(np.mean(logs))  # type: ignore[arg-type]

    def words(self) -> str:
        """Return the explanation in a few sentences."""
        head = f"{self.x} and {self.y} are {'adjacent' if self.joined else 'not adjacent'}"
        if self._told:
            head += f" because the edge was {self._told}"
        if self.log_posterior is not None:
            head += f"; posterior of an edge: {probability(self.log_posterior)}"
        return "\n".join([f"{head}.", *(view.sentence() for view in self.views), *self._search()])

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
            f"the score rose by {step.gain:.4g} to {step.score:.6g}."
            for step in self.flips
        ] or [f"The search {'was not free to flip' if self._told else 'never flipped'} this pair."]
        if self.gain_of_flip is not None:
            verb = "Removing" if self.joined else "Adding"
            lines.append(f"{verb} it now would change the score by {self.gain_of_flip:+.4g}.")
        return lines

    def __str__(self) -> str:
        numbers = [f"test {self.test}"]
        for view in self.views:
            found = [f"{name.replace('_', ' ')} {value:.6g}" for name, value in view.numbers.items()]
            sizes = [counted(view.n_rows, "row"), counted(view.n_slices, "slice")]
            numbers.append(f"seen from {view.x}: {'; '.join([*found, *sizes])}")
        return "\n".join([self.words(), "", *numbers, "", *self._table()])

    def _table(self) -> list[str]:
        """Draw the counts."""
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
            "views": [view.to_dict() for view in self.views],
            "flips": [step._asdict() for step in self.flips],
            "n_ascents": self.n_ascents,
            "gain_of_flip": self.gain_of_flip,
            "levels": [[str(level) for level in levels] for levels in self.levels],
            "counts": [list(row) for row in self.counts],
            "test": self.test,
            "words": self.words(),
        }


def explain(data: CategoricalData, learned: Learned, x: str, y: str, test: object = None) -> Explanation:
    """Ask the test about a pair, as the learned network puts the question: given the other neighbours.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.learners import ibmap_hc
    >>> data = load({"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1] * 40})
    >>> print(explain(data, ibmap_hc(data), "a", "c").words())
    a and c are not adjacent; posterior of an edge: 0.173.
    a is independent of c given b: P = 0.896.
    c is independent of a (no other neighbours): P = 0.712.
    The search never flipped this pair.
    Adding it now would change the score by -2.831.
    """
    i, j = data.indices((x, y))
    if i == j:
        raise RequestError(f"X and Y are both {x!r}: name two different variables")
    asked = as_test(test)
    counts = LocalCounts(data)
    bound = asked.bind(counts)
    searched = not np.isnan(learned.score)
    return Explanation(
        x,
        y,
        learned.graph.has_edge(x, y),
        (_view(data, learned, counts, bound, i, j), _view(data, learned, counts, bound, j, i)),
        [step for step in learned.history if {step.x, step.y} == {x, y}],
        learned.n_iter if searched else None,
        _gain(bound, learned, i, j) if searched and asked.has_posteriors else None,
        (data.levels[i], data.levels[j]),
        contingency(counts.fixed(i, [j], []), 0, data),
        asked.name,
        *({x, y} in map(set, edges) for edges in (learned.required, learned.forbidden)),
    )


def _view(
    data: CategoricalData, learned: Learned, counts: LocalCounts, bound: BoundTest, i: int, j: int
) -> View:
    blanket = learned.graph.neighbours(i)
    given = blanket[blanket != j]
    answers = bound.fixed(i, np.array([j]), given)
    tables = counts.fixed(i, [j], given)
    kinds = ("log_independent", "log_dependent", "statistic", "p_value")
    found = {kind: values for kind in kinds if (values := getattr(answers, kind)) is not None}
    return View(
        data.names[i],
        data.names[j],
        tuple(data.names[k] for k in given.tolist()),
        int(tables.n_rows[0]),
        int(tables.n_slices[0]),
        bool(answers.independent[0]),
        {kind: float(values[0]) for kind, values in found.items()},
    )


def _gain(bound: BoundTest, learned: Learned, i: int, j: int) -> float:
    """Return by how much the score would change if the pair were flipped."""
    graph = learned.graph
    flipped = graph.flip(graph.names[i], graph.names[j])
    rows = [
        closure_row(bound, end, which.neighbours(end), graph.n_variables).sum()
        for which in (flipped, graph)
        for end in (i, j)
    ]
    return float(rows[0] + rows[1] - rows[2] - rows[3])


def contingency(tables: Tables, t: int, data: CategoricalData) -> tuple[tuple[int, ...], ...]:
    """Return table ``t``, its slices added up, as rows of counts."""
    _, a, b, n = tables.cells[:, tables.start[t] : tables.start[t + 1]]
    found = np.zeros((len(data.levels[tables.x]), len(data.levels[int(tables.y[t])])), np.int64)
    np.add.at(found, (a, b), n)
    return tuple(map(tuple, found.tolist()))
