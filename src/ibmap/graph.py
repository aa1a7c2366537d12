"""Graph: immutable, labelled and undirected; what every learner returns and every comparison takes."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap import _checks
from ibmap import _graph_parts as parts
from ibmap._text import in_short
from ibmap.errors import RequestError

Group = str | Iterable[str]


class Graph:
    """An undirected, immutable graph over named variables.

    Neighbours are stored sparsely, so 20,000 variables take little memory; the dense matrix is built when
    :attr:`adjacency` is first used. Two graphs are equal, and have the same hash, if they have the same
    variables and edges, in whatever order.

    Parameters
    ----------
    names : iterable of str
        The variables, in their order.
    edges : iterable of (str, str)
        Unordered pairs of names; repeated pairs count once.

    Attributes
    ----------
    names : tuple of str
        The variables.
    pairs : ndarray of shape (n_edges, 2)
        Edges as positions (i, j), i < j, in order; read-only.

    Examples
    --------
    >>> graph = Graph(["rain", "sprinkler", "grass"], [("grass", "rain"), ("sprinkler", "grass")])
    >>> graph
    Graph(3 variables, 2 edges)
    >>> graph.blanket("grass")
    ('rain', 'sprinkler')
    >>> graph.separated("rain", "sprinkler", given="grass")
    True
    """

    __slots__ = ("_adjacency", "_index", "_neighbours", "_offsets", "names", "pairs")
    names: tuple[str, ...]
    pairs: NDArray[np.int64]
    _index: dict[str, int]
    _offsets: NDArray[np.int64]  # neighbours of i: _neighbours[_offsets[i]:_offsets[i + 1]], ascending
    _neighbours: NDArray[np.int64]
    _adjacency: NDArray[np.bool_] | None

    def __init__(self, names: Iterable[str], edges: Iterable[tuple[str, str]] = ()) -> None:
        labels, index = parts.numbered(names)
        pairs = [parts.pair_of(index, edge) for edge in _checks.names_in(edges, "edges")]
        self._fill(labels, index, np.array(pairs, dtype=np.int64).reshape(-1, 2))

    def _fill(self, names: tuple[str, ...], index: dict[str, int], pairs: NDArray[np.int64]) -> None:
        pairs, offsets, neighbours = parts.compressed(pairs, names)
        values = (None, index, neighbours, offsets, names, pairs)
        for slot, value in zip(Graph.__slots__, values, strict=True):
            object.__setattr__(self, slot, value)

    # Other ways to build one

    @classmethod
    def from_pairs(cls, pairs: ArrayLike, names: Iterable[str]) -> Self:
        """Build from an integer array of shape (edges, 2) that holds positions in ``names``."""
        labels, index = parts.numbered(names)
        graph = cls.__new__(cls)
        graph._fill(labels, index, parts.checked_pairs(pairs, len(labels)))
        return graph

    @classmethod
    def from_adjacency(cls, adjacency: ArrayLike, names: Iterable[str] | None = None) -> Self:
        """Build from a symmetric matrix of 0 and 1 with an empty diagonal; default names are x0, x1, ...

        Examples
        --------
        >>> Graph.from_adjacency([[0, 1], [1, 0]]).edges
        (('x0', 'x1'),)
        """
        return cls.from_pairs(*parts.pairs_of_adjacency(adjacency, names))

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """Build from an undirected networkx graph; nodes become strings, in their order."""
        if not all(hasattr(graph, name) for name in ("is_directed", "nodes", "edges")) or isinstance(
            graph, type
        ):
            raise RequestError(f"expected a graph of networkx, not {in_short(graph)}")
        if graph.is_directed():
            raise RequestError("the networkx graph is directed: pass graph.to_undirected()")
        return cls(map(str, graph.nodes), ((str(x), str(y)) for x, y in graph.edges()))

    @classmethod
    def from_json(cls, source: str | bytes | Mapping[str, Any]) -> Self:
        """Build from what :meth:`to_json` wrote, or from the same as a dict; other keys are ignored."""
        return cls(*parts.parts_of_json(source))

    @classmethod
    def complete(cls, names: Iterable[str]) -> Self:
        """Build the graph with every edge."""
        labels = parts.numbered(names)[0]
        return cls.from_pairs(np.stack(np.triu_indices(len(labels), k=1), axis=1), labels)

    # What it holds

    @property
    def n_variables(self) -> int:
        """Number of variables."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self.pairs)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """Edges as pairs of names, in the order of ``pairs``."""
        return tuple((self.names[i], self.names[j]) for i, j in self.pairs.tolist())

    @property
    def adjacency(self) -> NDArray[np.bool_]:
        """The dense, read-only boolean matrix; built once, n² bytes."""
        if self._adjacency is None:
            matrix = np.zeros((self.n_variables, self.n_variables), dtype=np.bool_)
            matrix[self.pairs, self.pairs[:, ::-1]] = True
            matrix.flags.writeable = False
            object.__setattr__(self, "_adjacency", matrix)
        return cast(NDArray[np.bool_], self._adjacency)

    def index(self, name: str) -> int:
        """Return the position of ``name``; an unknown one raises, with the nearest names as advice."""
        return parts.position(self._index, name)

    def neighbours(self, i: int) -> NDArray[np.int64]:
        """Return the positions of the neighbours of the variable at position ``i``, ascending, read-only."""
        if not _checks.is_whole(i) or not 0 <= i < len(self.names):
            raise RequestError(f"there is no variable at position {in_short(i)} of {len(self.names)}")
        return self._neighbours[self._offsets[i] : self._offsets[i + 1]]

    def blanket(self, x: str) -> tuple[str, ...]:
        """Return the Markov blanket of ``x``, its neighbours, in the order of the variables."""
        return tuple(self.names[j] for j in self.neighbours(self.index(x)).tolist())

    def degree(self, x: str) -> int:
        """Return the number of neighbours of ``x``."""
        return len(self.neighbours(self.index(x)))

    def has_edge(self, x: str, y: str) -> bool:
        """Return whether ``x`` and ``y`` are adjacent."""
        return self.index(y) in self.neighbours(self.index(x))

    def reachable(self, sources: Iterable[int], blocked: Iterable[int] = ()) -> NDArray[np.bool_]:
        """Mark the positions that paths from ``sources`` reach without passing through ``blocked``."""
        return parts.reached(self._offsets, self._neighbours, sources, blocked)

    def separated(self, x: Group, y: Group, given: Group = ()) -> bool:
        """Return whether every path between ``x`` and ``y`` passes through ``given``.

        Parameters
        ----------
        x, y, given : str or iterable of str
            A name or several; the three groups must not overlap, and only ``given`` may be empty.

        Examples
        --------
        >>> chain = Graph("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
        >>> chain.separated("a", ["c", "d"], given="b"), chain.separated("a", "d")
        (True, False)
        """
        groups = (_checks.names_in(group, "x, y and given") for group in (x, y, given))
        xs, ys, zs = ([self.index(name) for name in group] for group in groups)
        if not xs or not ys:
            raise RequestError("separation needs at least one variable on each side")
        if shared := set(xs) & set(ys):
            raise RequestError(f"variable {self.names[min(shared)]!r} is on both sides")
        if shared := set(xs + ys) & set(zs):
            raise RequestError(f"variable {self.names[min(shared)]!r} is both tested and conditioned on")
        return not self.reachable(xs, zs)[ys].any()

    def flip(self, x: str, y: str) -> Self:
        """Return the graph with the edge between ``x`` and ``y`` removed if there, added if not."""
        pair = np.array([sorted((self.index(x), self.index(y)))])
        kept = self.pairs[(self.pairs != pair).any(axis=1)]
        added = pair[: 1 + len(kept) - self.n_edges]
        return type(self).from_pairs(np.concatenate([kept, added]), self.names)

    def permute(self, names: Iterable[str]) -> Self:
        """Return the same graph with its variables in the order of ``names``."""
        labels, index = parts.numbered(names)
        for name in labels:
            self.index(name)
        if missing := self._index.keys() - index.keys():
            raise RequestError(f"a new order must name every variable: {min(missing)!r} is missing")
        rank = np.array([index[name] for name in self.names], dtype=np.int64)
        return type(self).from_pairs(rank[self.pairs], labels)

    # Conversions

    def to_numpy(self) -> NDArray[np.int8]:
        """Return a new adjacency matrix of 0 and 1."""
        return self.adjacency.astype(np.int8)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the edges as a frame with columns x and y: "polars" (default), "pandas" or "pyarrow".

        Examples
        --------
        >>> Graph("abc", [("a", "c")]).to_frame().rows()
        [('a', 'c')]
        """
        return parts.frame_of_edges(self.edges, backend)

    def to_networkx(self) -> Any:
        """Return a ``networkx.Graph`` with the names as nodes."""
        import networkx as nx

        graph = nx.empty_graph(self.names)
        graph.add_edges_from(self.edges)
        return graph

    def to_json(self) -> str:
        """Return ``{"variables": [...], "edges": [[x, y], ...]}`` as text."""
        return json.dumps({"variables": self.names, "edges": self.edges}, ensure_ascii=False)

    def __contains__(self, what: object) -> bool:
        """Whether there is a variable of this name, or an edge between these two."""
        if isinstance(what, tuple) and len(what) == 2 and all(name in self for name in what):
            return self.has_edge(*what)
        return isinstance(what, str) and what in self._index

    def __len__(self) -> int:
        return self.n_variables

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getitem__(self, x: str) -> tuple[str, ...]:
        """The neighbours of a variable: its Markov blanket."""
        return self.blanket(x)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        if self.n_edges != other.n_edges or self._index.keys() != other._index.keys():
            return False
        return np.array_equal(self.pairs, other.permute(self.names).pairs)

    def __hash__(self) -> int:
        return hash((frozenset(self.names), frozenset(map(frozenset, self.edges))))

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        from ibmap.drawing.html import summary_html
        from ibmap.drawing.svg import network_svg

        return summary_html(repr(self)[6:-1], [], "", network_svg(self))

    def __repr__(self) -> str:
        n, m = self.n_variables, self.n_edges
        return f"Graph({n} variable{'s' * (n != 1)}, {m} edge{'s' * (m != 1)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).from_pairs, (self.pairs, self.names)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Graph does not change: cannot set {name!r}; flip() returns a new one")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Graph does not change: cannot delete {name!r}")
