"""World: synthetic data together with the truth that made it."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ibmap.data import Table
from ibmap.graph import Graph
from ibmap.synthetic.gibbs import Model


@dataclass(frozen=True, eq=False)
class World:
    """Rows and their origin.

    Parameters
    ----------
    data : ndarray of uint8, shape (n_rows, n_variables)
        Column i belongs to variable ``graph.names[i]``.
    model : PairwiseModel or FactorModel
        The distribution that the rows were drawn from.
    """

    data: NDArray[np.uint8]
    model: Model

    def __post_init__(self) -> None:
        frozen = self.data.view()
        frozen.flags.writeable = False
        object.__setattr__(self, "data", frozen)

    @property
    def graph(self) -> Graph:
        """The true structure."""
        return self.model.graph

    def to_table(self) -> Table:
        """Return the rows as a table for learners; it knows the levels that no row happens to have, too."""
        levels = tuple(tuple(range(n)) for n in self.model.cardinalities.tolist())
        return Table(self.data.T.astype(np.int16), self.graph.names, levels)

    def __repr__(self) -> str:
        return f"World({len(self.data)} rows, {self.graph!r})"
