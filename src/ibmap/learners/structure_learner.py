"""What all estimators share: constructors store, ``fit`` calls a pure function and assigns."""

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ibmap.data import CategoricalData, load
from ibmap.graph import Graph
from ibmap.results.explanation import Explanation, explain
from ibmap.results.learned import Learned


class StructureLearner(BaseEstimator):  # type: ignore[misc]
    """What all learners share: reading the table, and the fitted attributes.

    Attributes
    ----------
    graph_ : Graph
        The learned network.
    adjacency_ : ndarray of bool
        The same as a matrix.
    edges_ : frame
        Edges and near misses with their posteriors.
    n_tests_, n_iter_ : int
        Tests performed; iterations (ascents, or variables visited).
    fit_seconds_ : float
        Wall time.
    data_ : CategoricalData
        The table as it was understood; ``explain`` counts in it.
    """

    learned_: Learned
    data_: CategoricalData

    def __getattr__(self, name: str) -> Any:
        if name in ("learned_", "data_") or (name in dir(type(self)) and "learned_" not in vars(self)):
            raise NotFittedError(f"this {type(self).__name__} has not learned anything yet: call fit first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn a network.

        Parameters
        ----------
        X : frame, array, path or CategoricalData
            The table; see :func:`ibmap.load`.
        y : None
            Ignored; there is no target.
        """
        data = load(X, missing=self.missing, discretize=self.discretize, bins=self.bins)
        self.learned_ = self._learn(data)
        self.n_features_in_ = data.n_variables
        self.bin_edges_ = data.bin_edges
        self.data_ = data
        if data.backend is not None or isinstance(X, str | PathLike | Mapping | CategoricalData):
            self.feature_names_in_ = np.array(data.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _learn(self, data: CategoricalData) -> Learned:
        raise TypeError(f"{type(self).__name__} must define _learn(data)")

    @property
    def graph_(self) -> Graph:
        """The learned network."""
        return self.learned_.graph

    @property
    def adjacency_(self) -> NDArray[np.bool_]:
        """The learned network as a matrix."""
        return self.learned_.graph.adjacency

    @property
    def edges_(self) -> Any:
        """Edges, then near misses: x, y, posterior, log posterior both ways, in_graph."""
        return self.learned_.edges()

    def explain(self, x: str, y: str) -> Explanation:
        """Tell why there is an edge between ``x`` and ``y``, or why not: print it, or read its numbers.

        Parameters
        ----------
        x, y : str
            Two variables.
        """
        test = getattr(self, "test", "mutual-information")
        return explain(self.data_, self.learned_, x, y, test)

    @property
    def n_tests_(self) -> int:
        """Tests performed."""
        return self.learned_.n_tests

    @property
    def n_iter_(self) -> int:
        """Iterations."""
        return self.learned_.n_iter

    @property
    def fit_seconds_(self) -> float:
        """Wall time of the search."""
        return self.learned_.seconds

    def __str__(self) -> str:
        return self.learned_.summary() if hasattr(self, "learned_") else repr(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
