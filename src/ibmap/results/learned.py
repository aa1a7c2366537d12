"""What every learner returns, and how it is shown."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap.data import CategoricalData
from ibmap.graph import Graph
from ibmap.results.edges import most_credible

Floats = NDArray[np.float64]

NEAR_MISSES = 100_000  #: at most this many pairs without an edge are listed beside the edges


class Step(NamedTuple):
    """One ascent: the pair that was flipped, and what it did to the score."""

    n: int
    x: str
    y: str
    added: bool
    gain: float
    score: float


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned network and where it comes from.

    Attributes
    ----------
    graph : Graph
        The structure.
    learner, test : str
        What found it, with the options that matter.
    n_rows, n_tests, n_iter : int
        Rows of the table, tests performed, iterations: ascents, or variables visited by learners without a
        score.
    seconds : float
        Wall time of the search.
    backend : str or None
        Library of the frames that results come back in (polars if None).
    score : float
        The IB-score; NaN for learners without a score.
    pair_scores : ndarray or None
        σ_xy: log posterior of what the graph asserts about x and y, seen from x.
    history : sequence of Step
        The ascents.
    required, forbidden : sequence of (str, str)
        Edges that the search was told to keep in, or to keep out.
    """

    graph: Graph
    learner: str
    test: str
    n_rows: int
    n_tests: int
    n_iter: int
    seconds: float
    backend: str | None = None
    score: float = float("nan")
    pair_scores: Floats | None = field(default=None, repr=False)
    history: Sequence[Step] = field(default=(), repr=False)
    required: Sequence[tuple[str, str]] = field(default=(), repr=False)
    forbidden: Sequence[tuple[str, str]] = field(default=(), repr=False)

    @property
    def iterations(self) -> str:
        """What ``n_iter`` counts: "ascent", or "variable" for learners without a score."""
        return "variable" if np.isnan(self.score) else "ascent"

    def edges(self, near_misses: int = NEAR_MISSES) -> Any:
        """Return a frame of edges and near misses, the most credible first.

        ``posterior`` is the probability of an edge, the geometric mean of what the two ends say;
        ``log_posterior_xy`` and ``log_posterior_yx`` are the two (x given its blanket, y given its own).
        """
        if self.pair_scores is None:
            columns = _without_posteriors(self.graph)
        else:
            columns = most_credible(self.graph, self.pair_scores, near_misses)
        return frame(columns, self.backend)

    def summary(self) -> str:
        """Provenance in a few lines: what was learned, from what, how, and how long it took."""
        graph = self.graph
        lines = [
            f"Markov network of {graph.n_variables} variables and {graph.n_edges} edges",
            f"  learned by   {self.learner}",
            f"  with test    {self.test}",
            f"  from         {self.n_rows} rows",
            f"  performed    {self.n_tests} tests, {self.n_iter} {self.iterations}s",
            f"  took         {self.seconds:.3g} s",
        ]
        if not np.isnan(self.score):
            lines.insert(4, f"  score        {self.score:.6f}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form of the command line."""
        return {
            "variables": list(self.graph.names),
            "edges": [list(edge) for edge in self.graph.edges],
            "score": None if np.isnan(self.score) else self.score,
            "n_tests": self.n_tests,
            "n_iter": self.n_iter,
            "seconds": self.seconds,
            "learner": self.learner,
            "test": self.test,
        }


def learned_from(data: CategoricalData, pairs: NDArray[np.int64], **provenance: Any) -> Learned:
    """Put names on a result; ``pairs`` are the edges as indices."""
    graph = Graph.from_pairs(pairs, data.names)
    return Learned(graph, n_rows=data.n_rows, backend=data.backend, **provenance)


def frame(columns: dict[str, Any], backend: str | None) -> Any:
    """Make a frame of the library that the user brought, or of polars."""
    import narwhals as nw

    library: Any = backend or "polars"
    return nw.from_dict(columns, backend=library).to_native()


def _without_posteriors(graph: Graph) -> dict[str, Any]:
    x, y = zip(*graph.edges, strict=True) if graph.n_edges else ((), ())
    unknown = np.full(graph.n_edges, np.nan)
    return {
        "x": list(x),
        "y": list(y),
        "posterior": unknown,
        "log_posterior_xy": unknown,
        "log_posterior_yx": unknown,
        "in_graph": np.ones(graph.n_edges, bool),
    }
