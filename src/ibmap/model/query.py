"""What a model says about a variable: exactly where it can, otherwise by Gibbs sampling with an error bar."""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from ibmap._random import RandomState
from ibmap._types import Floats, Ints
from ibmap.drawing.html import summary_html, table_html
from ibmap.errors import RequestError
from ibmap.model.conditioning import Part, known_fields, part_around
from ibmap.model.junction_tree import JunctionTree, normalised, tree_of
from ibmap.model.layout import Layout
from ibmap.model.likelihood import log_weights

SAMPLES = 4096  #: rows of the Gibbs sampler behind an answer


@dataclass(frozen=True, eq=False)
class Answer(Mapping[Hashable, float]):
    """The distribution of a variable, by level.

    Attributes
    ----------
    variable : str
        What was asked about.
    given : mapping
        What was known.
    probabilities : mapping
        The probability of each level.
    errors : mapping or None
        Standard errors, if the answer comes from samples; None if it is exact.
    model : str
        What the model has beyond pairs: its interactions.
    """

    variable: str
    given: Mapping[str, Hashable]
    probabilities: Mapping[Hashable, float]
    errors: Mapping[Hashable, float] | None = field(default=None)
    model: str = ""

    @property
    def method(self) -> str:
        """How it was found: "exact" or "gibbs"."""
        return "exact" if self.errors is None else "gibbs"

    def __getitem__(self, level: Hashable) -> float:
        return self.probabilities[level]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.probabilities)

    def __len__(self) -> int:
        return len(self.probabilities)

    def __str__(self) -> str:
        given = ", ".join(f"{name}={level}" for name, level in self.given.items())
        lines = [f"P({self.variable}{' | ' * bool(given)}{given}), {self._how}"]
        for level, p in self.probabilities.items():
            error = "" if self.errors is None else f" ± {self.errors[level]:.1g}"
            lines.append(f"  {level}: {p:.4f}{error}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the question, and a line for each level."""
        head, *lines = str(self).splitlines()
        rows = [line.strip().rpartition(": ") for line in lines]
        return summary_html(head, [], table_html([self.variable, ""], [[level, p] for level, _, p in rows]))

    @property
    def _how(self) -> str:
        how = "exact" if self.errors is None else f"by Gibbs sampling of {SAMPLES:,} rows"
        return f"{how} for a model {self.model}" if self.model else how


def is_possible(tree: JunctionTree | None, layout: Layout, theta: Floats, codes: Ints) -> bool:
    """Whether a row (variables, 1) that is known in part has a probability above zero.

    Of a model that is too large for exact inference, what is not known must be small enough for it.
    """
    if np.isfinite(theta).all():
        return True
    if tree is not None:
        return tree.log_partition(known_fields(layout, theta, codes[:, 0])) > -np.inf
    part = Part(layout, theta, np.flatnonzero(codes[:, 0] < 0))
    rest = tree_of(part.layout)
    if rest is None:
        raise RequestError(
            "the model has impossible configurations, and is too large to tell whether what is given is one "
            "of them: replace zeros in its tables by small numbers"
        )
    among_known = log_weights(layout, theta, codes)[0]
    return bool(among_known + rest.log_partition(part.parameters(codes)[0]) > -np.inf)


def marginal(
    tree: JunctionTree | None,
    layout: Layout,
    theta: Floats,
    x: int,
    evidence: Mapping[int, int],
    random_state: RandomState = None,
) -> tuple[Floats, Floats | None]:
    """Return the distribution of x and its standard errors, None if it is exact."""
    given = np.zeros(len(layout.levels), bool)
    codes = np.full((len(layout.levels), 1), -1)
    for v, level in evidence.items():
        given[v], codes[v] = True, level
    if not is_possible(tree, layout, theta, codes):
        raise RequestError("what is given has probability zero in this model, so there is no answer")
    if tree is not None:
        return tree.marginals(known_fields(layout, theta, codes[:, 0]))[x], None
    part = part_around(layout, theta, x, given)
    inner = int(np.flatnonzero(part.variables == x)[0])
    return of_part(part, part.parameters(codes)[0], inner, random_state)


def of_part(
    part: Part, theta: Floats, x: int, random_state: RandomState = None
) -> tuple[Floats, Floats | None]:
    """Return the distribution of a variable of a part, and its standard errors."""
    tree = tree_of(part.layout)
    if tree is not None:
        return tree.marginals(theta)[x], None
    from ibmap.model.sampling import gibbs_rows

    rows = gibbs_rows(part.layout, theta, SAMPLES, random_state=random_state)
    shares = conditional(part.layout, theta, x, rows.T.astype(np.int64))
    return shares.mean(axis=0), shares.std(axis=0, ddof=1) / np.sqrt(len(shares))


def conditional(layout: Layout, theta: Floats, v: int, codes: Ints) -> Floats:
    """Return the distribution (rows, levels) of a variable given its neighbours, whose codes are known."""
    logs = layout.log_odds(theta, v, codes[layout.graph.neighbours(v)])
    starts = np.arange(0, logs.size, logs.shape[1])
    return normalised(logs.ravel(), starts).reshape(logs.shape) if logs.size else logs
