"""Pairwise models of binary variables: the truth behind synthetic data."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.errors import RequestError
from ibmap.graph import Graph


@dataclass(frozen=True, eq=False)
class PairwiseModel:
    """A Markov network of binary variables, log p(x) = Σ_i field_i x_i + Σ_ij coupling_ij x_i x_j + const.

    Parameters
    ----------
    graph : Graph
        The structure; one coupling per edge.
    fields : array of shape (n_variables,)
        Log-odds of each variable when all its neighbours are 0.
    couplings : array of shape (n_edges,)
        Log-odds ratio of each edge, in the order of ``graph.edges``.

    Examples
    --------
    >>> model = PairwiseModel(Graph("ab", [("a", "b")]), fields=[-1.0, 0.5], couplings=[2.0])
    >>> model.log_weight([[0, 0], [1, 0], [1, 1]]).tolist()
    [0.0, -1.0, 1.5]
    """

    graph: Graph
    fields: NDArray[np.float64]
    couplings: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name, size in (("fields", self.graph.n_variables), ("couplings", self.graph.n_edges)):
            values = np.array(getattr(self, name), dtype=np.float64)
            if values.shape != (size,) or not np.isfinite(values).all():
                raise RequestError(f"{name} must be {size} finite numbers")
            values.flags.writeable = False
            object.__setattr__(self, name, values)

    @classmethod
    def from_log_factors(cls, graph: Graph, log_factors: ArrayLike) -> Self:
        """Build from one table log φ(x, y) per edge, x the variable that comes first.

        Parameters
        ----------
        graph : Graph
            The structure.
        log_factors : array of shape (n_edges, 2, 2)
            Entry ``[e, x, y]`` belongs to edge ``e`` of ``graph.edges``.
        """
        log_phi = np.asarray(log_factors, dtype=np.float64)
        if log_phi.shape != (graph.n_edges, 2, 2):
            raise RequestError(f"log_factors must have shape ({graph.n_edges}, 2, 2), not {log_phi.shape}")
        fields = np.zeros(graph.n_variables)
        np.add.at(fields, graph.pairs[:, 0], log_phi[:, 1, 0] - log_phi[:, 0, 0])
        np.add.at(fields, graph.pairs[:, 1], log_phi[:, 0, 1] - log_phi[:, 0, 0])
        couplings = (log_phi[:, 0, 0] - log_phi[:, 0, 1]) + (log_phi[:, 1, 1] - log_phi[:, 1, 0])
        return cls(graph, fields, couplings)

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of levels of each variable: two."""
        return np.full(self.graph.n_variables, 2, dtype=np.int64)

    def log_weight(self, states: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the unnormalised probability of each row of 0s and 1s."""
        x = np.asarray(states, dtype=np.float64)
        i, j = self.graph.pairs.T
        return np.asarray(x @ self.fields + (x[:, i] * x[:, j]) @ self.couplings)
