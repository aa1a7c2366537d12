"""What a search must offer: it begins with a score and a graph, and is advanced step by step."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ibmap._types import Floats, Ints
from ibmap.criteria import LocalScore
from ibmap.errors import RequestError

Pairs = Iterable[tuple[int, int]]

TIE = 1e-9  #: rounding must not decide: what is closer than this is equal


class Flip(NamedTuple):
    """One step: the pair that was flipped, and the change of the score."""

    x: int
    y: int
    added: bool  #: whether the edge was added or removed
    gain: float  #: by how much the score rose
    score: float  #: the score after the step


class Running(Protocol):
    """A search that has begun."""

    finished: bool  #: whether nothing that it would try raises the score

    @property
    def n_tests(self) -> int:
        """Pairs that were scored so far."""
        ...

    @property
    def total(self) -> float:
        """The score of the graph as it stands."""
        ...

    @property
    def pairs(self) -> Ints:
        """The edges as they stand, (x, y), x < y, in order."""
        ...

    @property
    def pair_scores(self) -> Floats | None:
        """σ_xy: the log posterior of what the graph says about x and y, given the blanket of x.

        None if there are too many pairs; then ``listed`` has those that matter.
        """
        ...

    def listed(self, wanted: int) -> tuple[Ints, Floats, Ints, Floats]:
        """Return the edges with σ_xy and σ_yx, and the most probable pairs without an edge."""
        ...

    def advance(self, limit: int, budget: int | None = None) -> list[Flip]:
        """Do up to ``limit`` steps by up to ``budget`` proposals, and return the flips."""
        ...

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint needs beside the flips."""
        ...

    def restore(self, flips: Sequence[tuple[int, int]], saved: Mapping[str, Any]) -> None:
        """Do the flips of a search that was saved, and go on from there."""
        ...


class Search:
    """A search and its options: subclass it, and write ``begin``.

    Attributes
    ----------
    name : str
        What it is called in ``SEARCHES``.
    trusts_gains : bool
        Whether it flips by what rows of evidence promise, without trying.
    """

    name: str
    trusts_gains = False

    def options(self) -> Mapping[str, Any]:
        """Return its options, as JSON can hold them."""
        return dict(vars(self))

    def begin(self, score: LocalScore, edges: Pairs = (), locked: Pairs = ()) -> Running:
        """Score the graph with these edges; locked pairs are never flipped."""
        raise TypeError(f"{type(self).__name__} must define begin(score, edges, locked)")


def require_additive(search: Search, score: LocalScore) -> None:
    """Refuse a score whose evidence is not what it gains."""
    if not score.additive:
        raise RequestError(
            f"search {search.name!r} needs an additive score, and this one is not: use search='climb', or "
            f"score='saturated'"
        )
