"""Pairwise models of variables with any number of levels."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.synthetic.pairwise import PairwiseModel

MOST_LEVELS = 256  #: a sample is an array of bytes


@dataclass(frozen=True, eq=False)
class FactorModel:
    """A Markov network with one table per variable and per edge, for any number of levels.

    log p(x) = Σ_i field_i(x_i) + Σ_ij factor_ij(x_i, x_j) + const.

    Parameters
    ----------
    graph : Graph
        The structure.
    fields : sequence of arrays of shape (levels,)
        One log table per variable; its length is the number of levels, from 1 to 256.
    factors : sequence of arrays of shape (levels of x, levels of y)
        One log table per edge, in the order of ``graph.edges``; x is the variable that comes first.

    Examples
    --------
    >>> model = FactorModel(Graph("ab", [("a", "b")]), [[0, 1], [0, 0, 2]], [[[0, 0, 0], [0, 0, 5]]])
    >>> model.cardinalities
    array([2, 3])
    >>> model.log_weight([[0, 0], [1, 0], [1, 2]]).tolist()
    [0.0, 1.0, 8.0]
    """

    graph: Graph
    fields: tuple[NDArray[np.float64], ...]
    factors: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        fields, factors = _tables("fields", self.fields, 1), _tables("factors", self.factors, 2)
        sizes = self.graph.n_variables, self.graph.n_edges
        if (len(fields), len(factors)) != sizes:
            given = f"{len(fields)} and {len(factors)}"
            raise RequestError(f"this graph needs {sizes[0]} fields and {sizes[1]} factors: got {given}")
        for name, field in zip(self.graph.names, fields, strict=True):
            if not 1 <= len(field) <= MOST_LEVELS:
                raise RequestError(f"variable {name!r} has {len(field)} levels, not 1 to {MOST_LEVELS}")
        for (i, j), factor in zip(self.graph.pairs.tolist(), factors, strict=True):
            if factor.shape != (expected := (len(fields[i]), len(fields[j]))):
                edge = self.graph.names[i], self.graph.names[j]
                raise RequestError(f"the factor of {edge} must have shape {expected}, not {factor.shape}")
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "factors", factors)

    @classmethod
    def from_pairwise(cls, model: PairwiseModel) -> Self:
        """Write a binary model as tables."""
        fields = np.stack([np.zeros_like(model.fields), model.fields], axis=1)
        factors = np.zeros((len(model.couplings), 2, 2))
        factors[:, 1, 1] = model.couplings
        return cls(model.graph, tuple(fields), tuple(factors))

    @property
    def cardinalities(self) -> NDArray[np.int64]:
        """Number of levels of each variable."""
        return np.array([len(field) for field in self.fields], dtype=np.int64)

    def log_weight(self, states: ArrayLike) -> NDArray[np.float64]:
        """Return the logarithm of the unnormalised probability of each row of levels."""
        x = np.asarray(states, dtype=np.int64)
        total = np.zeros(len(x))
        for i, field in enumerate(self.fields):
            total += field[x[:, i]]
        for (i, j), factor in zip(self.graph.pairs.tolist(), self.factors, strict=True):
            total += factor[x[:, i], x[:, j]]
        return total


def _tables(name: str, tables: Iterable[ArrayLike], n_dim: int) -> tuple[NDArray[np.float64], ...]:
    """Return read-only copies of finite tables."""
    copies = tuple(np.array(table, dtype=np.float64) for table in tables)
    for copy in copies:
        if copy.ndim != n_dim or not np.isfinite(copy).all():
            raise RequestError(f"{name} must be {n_dim}-D tables of finite numbers")
        copy.flags.writeable = False
    return copies
