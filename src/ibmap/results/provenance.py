"""Where a network comes from, as data: learner, test, score and search, each with its options."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ibmap._types import Floats
from ibmap.criteria import SCORES, Score
from ibmap.independence import IndependenceTest
from ibmap.independence.registry import TESTS
from ibmap.search import SEARCHES, Search

KINDS: dict[str, Mapping[str, Any]] = {"test": TESTS, "score": SCORES, "search": SEARCHES}


@dataclass(frozen=True)
class Foreign:
    """A test, a score or a search that a file can name but not make: it was part of another program."""

    name: str
    label: str = ""
    is_evidence = False

    def options(self) -> Mapping[str, Any]:
        """Return nothing: they are not known."""
        return {}


@dataclass(frozen=True)
class Provenance:
    """What found a network.

    Attributes
    ----------
    learner : str
        Its name in ``LEARNERS``.
    options : mapping
        Options of the learner that are not the default.
    test : IndependenceTest or None
        The test that was asked.
    score : Score or None
        The score that was raised; None for learners that decide instead of scoring.
    search : Search or None
        The search that raised it.

    Examples
    --------
    >>> str(Provenance("gsmn", {"symmetry": "and"}))
    'gsmn(symmetry=and)'
    """

    learner: str
    options: Mapping[str, Any] = field(default_factory=dict)
    test: IndependenceTest | Foreign | None = None
    score: Score | Foreign | None = None
    search: Search | Foreign | None = None

    def __str__(self) -> str:
        said = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.learner}({said})" if said else self.learner

    def expecting(self, neighbours: float) -> "Provenance":
        """Return the same with a score of this prior of edges."""
        score: Any = self.score
        return replace(self, score=type(score)(**{**score.options(), "expected_neighbours": neighbours}))

    @property
    def test_label(self) -> str:
        """What to show of the test."""
        return self.test.name if self.test is not None else "none"

    def to_dict(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Return the JSON form; priors by pair go by the names of the variables."""
        found: dict[str, Any] = {"learner": {"name": self.learner, "options": dict(self.options)}}
        for kind in KINDS:
            part = getattr(self, kind)
            found[kind] = None if part is None else described(kind, part, names)
        return found

    @staticmethod
    def from_dict(found: Mapping[str, Any], names: tuple[str, ...]) -> "Provenance":
        """Return what a file holds."""
        learner = found["learner"]
        parts = {kind: made(kind, found.get(kind), names) for kind in KINDS}
        return Provenance(str(learner["name"]), dict(learner["options"]), **parts)


def described(kind: str, part: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a test, a score or a search as JSON can hold it.

    Examples
    --------
    >>> from ibmap.independence import as_test
    >>> described("test", as_test("chi-square"), ())
    {'name': 'chi-square', 'options': {'alpha': 0.05, 'dof': 'adjusted'}, 'label': \
'chi-square(alpha=0.05, dof=adjusted)'}
    """
    name = next((name for name, maker in KINDS[kind].items() if type(part) is maker), None)
    if name is None:
        return {"name": getattr(part, "name", type(part).__name__), "options": {}, "foreign": True}
    options = dict(vars(part)) if kind == "test" else dict(part.options())
    if np.ndim(options.get("prior", 0)):
        options["prior"] = _by_pair(np.asarray(options["prior"], np.float64), names)
    return {"name": name, "options": options, "label": part.name}


def made(kind: str, found: Any, names: tuple[str, ...]) -> Any:
    """Return the test, the score or the search that a file describes; None if it holds none."""
    if found is None:
        return None
    name, options = found["name"], dict(found["options"])
    if found.get("foreign") or name not in KINDS[kind]:
        return Foreign(str(name))
    if isinstance(options.get("prior"), dict):
        options["prior"] = _matrix(options["prior"], names)
    return KINDS[kind][name](**options)


def _by_pair(matrix: Floats, names: tuple[str, ...]) -> dict[str, Any]:
    """Return a prior by pair as a file holds it: what the pairs that are not listed have, and the others.

    Not a number, null in files, is the prior of a pair that goes by the expected neighbours.
    """
    above = np.triu(np.ones(matrix.shape, bool), 1)
    unknown = np.isnan(matrix)
    listed = above & (~unknown if (unknown & above).any() else matrix != 0.5)
    return {
        "others": None if (unknown & above).any() else 0.5,
        "pairs": [[names[i], names[j], float(matrix[i, j])] for i, j in np.argwhere(listed).tolist()],
    }


def _matrix(prior: dict[str, Any], names: tuple[str, ...]) -> np.ndarray[Any, Any]:
    index = {name: i for i, name in enumerate(names)}
    others = np.nan if prior["others"] is None else float(prior["others"])
    matrix = np.full((len(names), len(names)), others)
    for x, y, p in prior["pairs"]:
        matrix[index[x], index[y]] = matrix[index[y], index[x]] = float(p)
    return matrix
