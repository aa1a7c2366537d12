"""What resampling says about every edge, and averaged.json, which keeps it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap._checks import is_number
from ibmap._text import counted, in_short
from ibmap.drawing.html import summary_html, table_html
from ibmap.drawing.svg import Line, network_svg, width_of
from ibmap.errors import DataError, RequestError
from ibmap.graph import Graph
from ibmap.results.learned import STRONGEST, Learned, frame
from ibmap.results.result_file import DAMAGES, Result, damaged, read_json

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
    centrality_stability : float or None
        The CS coefficient of strength centrality (``learners/bootstrap.py``);
        None if nobody asked for it.
    """

    learned: Learned
    n_replicates: int
    pairs: Ints = field(repr=False)
    hits: Ints = field(repr=False)
    subsample: float | None = None
    centrality_stability: float | None = None

    @property
    def stability_in_words(self) -> str:
        """What the CS coefficient says; "" if it is not known."""
        return stability_in_words(self.centrality_stability)

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
        return summary_html(
            headline, list(filter(None, [self.stability_in_words])), table, network_svg(graph, lines)
        )

    def averaged(self, threshold: float = 0.5) -> Graph:
        """Return the network of the edges that more than ``threshold`` of the replicates have.

        With a threshold of 1 an edge must be in all of them.
        """
        if not is_number(threshold) or not 0 <= threshold <= 1:
            raise RequestError(f"threshold must lie between 0 and 1, not {in_short(threshold)}")
        share = self.hits / self.n_replicates
        kept = (share > threshold) | (share == 1)
        return Graph.from_pairs(self.pairs[kept], self.learned.graph.names)


def stability_in_words(share: float | None) -> str:
    """Return what a CS coefficient says; "" if it is not known.

    Examples
    --------
    >>> stability_in_words(0.594)
    'CS coefficient of strength centrality: 0.59 (stable: above 0.5)'
    """
    if share is None:
        return ""
    kinds = ((0.5, "stable: above 0.5"), (0.25, "moderate: 0.25 to 0.5"), (0.0, "unstable: below 0.25"))
    how = next(words for least, words in kinds if share >= least)
    return f"CS coefficient of strength centrality: {share:.2f} ({how})"


FORMAT = "ibmap-bootstrap"
VERSION = 1
FILE = "averaged.json"
KIND = "the support of edges"


@dataclass(frozen=True)
class Support:
    """How often every edge came back.

    Attributes
    ----------
    frequencies : mapping
        From (x, y) to the share of replicates with that edge; x stands before y in the graph. A pair that is
        missing is an edge of no replicate.
    n_replicates : int
        Tables that were drawn.
    seed : int or None
        Of the draws.
    subsample : float or None
        The share of the rows in a replicate, none twice; None if they were drawn with replacement.
    """

    frequencies: Mapping[tuple[str, str], float]
    n_replicates: int
    seed: int | None = None
    subsample: float | None = None


def replicates(number: int, subsample: float | None) -> str:
    """Tell what was drawn.

    Examples
    --------
    >>> replicates(100, None), replicates(50, 0.63)
    ('100 replicates', '50 replicates of 63% of the rows')
    """
    share = "" if subsample is None else f" of {100 * subsample:.3g}% of the rows"
    return f"{counted(number, 'replicate')}{share}"


def support_content(found: Bootstrapped, threshold: float, seed: int | None = None) -> dict[str, Any]:
    """Return what the file holds: the averaged network, and how often every edge came back."""
    import narwhals as nw

    averaged, learned = found.averaged(threshold), found.learned
    return {
        "format": FORMAT,
        "version": VERSION,
        "variables": list(averaged.names),
        "edges": [list(edge) for edge in averaged.edges],
        "whole": [list(edge) for edge in learned.graph.edges],
        "support": [list(row) for row in nw.from_native(found.support(), eager_only=True).rows()],
        "n_replicates": found.n_replicates,
        "subsample": None if found.subsample is None else float(found.subsample),
        "seed": seed,
        "threshold": threshold,
        "centrality_stability": found.centrality_stability,
        "n_rows": learned.n_rows,
        "learner": learned.learner,
        "test": learned.test,
    }


def read_support(path: str | PathLike[str], result: Result) -> Support:
    """Read how often every edge came back: the file, or the folder that ``ibmap bootstrap --out`` wrote.

    Support of another table or learner than that of the result is refused.
    """
    file, found = read_json(path, FORMAT, VERSION, kind=KIND, name=FILE, verb="bootstrap")
    try:
        return support_of(found, result)
    except MisfitError as error:
        raise DataError(
            f"{str(file)!r} is {KIND} of another table or learner: {error}; bootstrap again, or remove it"
        ) from None
    except DAMAGES as error:
        raise damaged(file, error) from None


def support_of(found: Mapping[str, Any], result: Result) -> Support:
    """Return the support that a file holds, read as JSON, if it belongs to the result."""
    whole = Graph(found["variables"], [(x, y) for x, y in found["whole"]])
    shares = [_checked(whole, *row[:3]) for row in found["support"]]
    seed, share = found["seed"], found.get("subsample")  # older files have no subsample
    about = int(found["n_replicates"]), None if seed is None else int(seed), _share(share)
    _must_fit({name: found[name] for name in ("n_rows", "learner", "test")}, whole, result)
    place = result.learned.graph.index
    return Support({(x, y) if place(x) < place(y) else (y, x): share for x, y, share in shares}, *about)


def as_support(source: Any, result: Result) -> Support | None:
    """Return the support that is meant: None, a Support, a path, or a fitted Bootstrap."""
    if source is None or isinstance(source, Support):
        return source
    if isinstance(source, str | PathLike):
        return read_support(source, result)
    seed = getattr(source, "random_state", None)
    found = getattr(source, "bootstrapped_", source)
    if not isinstance(found, Bootstrapped):
        raise RequestError(f"expected a fitted Bootstrap or its folder, not {type(source).__name__}")
    return support_of(support_content(found, 0.5, seed if isinstance(seed, int) else None), result)


class MisfitError(DataError):
    """The support and the result do not belong together."""


def _checked(graph: Graph, x: Any, y: Any, share: Any) -> tuple[str, str, float]:
    """Return a row of the file if it makes sense."""
    if graph.index(x) == graph.index(y) or not 0 <= share <= 1:
        raise DataError(f"{x!r} and {y!r} cannot have the support {share!r}")
    return x, y, float(share)


def _share(subsample: Any) -> float | None:
    if subsample is not None and not 0 < subsample < 1:
        raise DataError(f"a replicate cannot hold the share {subsample!r} of the rows")
    return None if subsample is None else float(subsample)


def _must_fit(said: dict[str, Any], whole: Graph, result: Result) -> None:
    """Raise if the support and the result do not belong together, and say what is different."""
    learned = result.learned
    for name, there in said.items():
        if there != (here := getattr(learned, name)):
            raise MisfitError(f"{name} is {there!r} there and {here!r} in the result")
    if set(whole.names) != set(learned.graph.names):
        raise MisfitError("the variables have other names")
    if whole != learned.graph:
        raise MisfitError("its network of the whole table has other edges")
