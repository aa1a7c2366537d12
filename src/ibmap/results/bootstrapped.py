"""What resampling says about every edge."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._text import counted
from ibmap.drawing.html import summary_html, table_html
from ibmap.drawing.svg import Line, network_svg, width_of
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.results.learned import STRONGEST, Learned, frame

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Bootstrapped:
    """Edges and how many replicates have them.

    Attributes
    ----------
    learned : Learned
        What the whole table says.
    n_replicates : int
        How many tables were drawn.
    pairs : ndarray of shape (m, 2)
        Every pair that is an edge of some replicate, as positions.
    hits : ndarray of shape (m,)
        The number of replicates with that edge.
    subsample : float or None
        The share of the rows in a replicate, none of them twice; None if as many rows as the table has were
        drawn with replacement.
    """

    learned: Learned
    n_replicates: int
    pairs: Ints = field(repr=False)
    hits: Ints = field(repr=False)
    subsample: float | None = None

    def support(self) -> Any:
        """Return a frame: x, y, support (the share of replicates), in_graph; the best supported first.

        It lists every pair that is an edge of a replicate or of the network of the whole table.
        """
        return frame(self._columns(), self.learned.backend)

    def _columns(self) -> dict[str, Any]:
        n, names = self.learned.graph.n_variables, self.learned.graph.names
        own = self.learned.graph.pairs @ np.array([n, 1])
        drawn = self.pairs @ np.array([n, 1])
        keys = np.union1d(drawn, own).astype(np.int64)
        hits = np.zeros(len(keys), np.int64)
        hits[np.searchsorted(keys, drawn)] = self.hits
        order = np.argsort(-hits, kind="stable")
        keys, hits = keys[order], hits[order]
        return {
            "x": [names[i] for i in (keys // max(n, 1)).tolist()],
            "y": [names[j] for j in (keys % max(n, 1)).tolist()],
            "support": hits / self.n_replicates,
            "in_graph": np.isin(keys, own),
        }

    def _repr_html_(self) -> str:
        """Return what notebooks show: the best supported pairs, and the averaged network."""
        graph, found = self.averaged(), list(zip(*self._columns().values(), strict=True))
        rows = [[x, y, f"{share:.2f}", "yes" if there else "no"] for x, y, share, there in found[:STRONGEST]]
        table = table_html(["", "", "support", "whole table"], rows, len(found) - len(rows))
        share = {(x, y): value for x, y, value, _ in found}
        lines = {edge: Line(width_of(share[edge] ** 2)) for edge in graph.edges}
        headline = (
            f"{counted(graph.n_edges, 'edge')} in more than half of {self.n_replicates:,} resampled tables"
        )
        return summary_html(headline, [], table, network_svg(graph, lines))

    def averaged(self, threshold: float = 0.5) -> Graph:
        """Return the network of the edges that more than ``threshold`` of the replicates have.

        With a threshold of 1 an edge must be in all of them.
        """
        if not 0 <= threshold <= 1:
            raise RequestError(f"threshold must lie between 0 and 1, not {threshold!r}")
        share = self.hits / self.n_replicates
        kept = (share > threshold) | (share == 1)
        return Graph.from_pairs(self.pairs[kept], self.learned.graph.names)
