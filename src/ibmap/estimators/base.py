"""What all estimators share: constructors store, ``fit`` calls a pure function and assigns."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ibmap.data import CategoricalData, load
from ibmap.data.files import open_frame
from ibmap.data.numbers import NumericData, load_numbers
from ibmap.data.weights import n_rows_of, repeat_rows, times_of
from ibmap.engines import Engine, as_engine
from ibmap.engines.engine import is_engine
from ibmap.errors import RequestError, SearchWarning
from ibmap.graph import Graph
from ibmap.learners.registry import takes_numbers
from ibmap.metrics import log_score
from ibmap.results.explain import Explanation, explain
from ibmap.results.learned import Learned


def takes_old_name(init: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor take ``score=``, which is called ``criterion=`` now, with a warning."""

    @wraps(init)
    def constructor(self: Any, *given: Any, **options: Any) -> None:
        if "score" in options:
            warnings.warn(
                "score= is called criterion= now; the old name goes in the next version",
                FutureWarning,
                stacklevel=2,
            )
            options["criterion"] = options.pop("score")
        init(self, *given, **options)

    return constructor


def with_weights(X: Any, weights: Any) -> Any:
    """Return a table in which rows are repeated as their weights say; None leaves it as it is."""
    if weights is None:
        return X
    if is_engine(X):
        raise RequestError("an engine holds its rows already: give weights with a table")
    if isinstance(X, str | PathLike):
        X = open_frame(Path(X)).frame
    if isinstance(X, CategoricalData):
        times = times_of(weights, X.n_rows, "sample_weight").times
        rows = X.rows(np.repeat(np.arange(X.n_rows), times))
        return replace(rows, warnings=X.warnings, reading=X.reading)
    return repeat_rows(X, times_of(weights, n_rows_of(X), "sample_weight").times)


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
    engine_ : Engine
        Who counted; ``explain`` asks it.
    learned_ : Learned
        Everything that is known about the network, with its provenance.
    """

    learned_: Learned
    engine_: Engine

    def __getattr__(self, name: str) -> Any:
        if name in ("learned_", "engine_") or (name in dir(type(self)) and "learned_" not in vars(self)):
            raise NotFittedError(f"this {type(self).__name__} has not learned anything yet: call fit first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn a network.

        Parameters
        ----------
        X : frame, array, path, CategoricalData or Engine
            The table, see :func:`ibmap.load`; or an engine that holds it.
        y : None
            Ignored; there is no target.
        sample_weight : array of shape (rows,), optional
            How often each row counts, if these are whole numbers: the same as repeated rows, exactly. Others
            are sampling weights, and the table counts as its effective sample size, (Σw)² / Σw².
        """
        X = with_weights(X, sample_weight)
        engine = self._engine(X, self.bins)
        schema = engine.schema
        self.learned_, self.engine_ = self._learn(engine), engine
        for words in self.learned_.warnings[len(schema.warnings) :]:  # those were said before
            warnings.warn(words, SearchWarning, stacklevel=2)
        self.n_features_in_ = schema.n_variables
        self.bin_edges_ = dict(schema.bin_edges)
        named = schema.backend is not None or isinstance(
            X, str | PathLike | Mapping | CategoricalData | NumericData
        )
        if named or X is engine:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """Return how well the neighbours of each variable predict it in unseen rows; larger is better.

        The mean log probability of a value given the rest of its row (:func:`ibmap.log_score`), so that
        ``cross_val_score`` and ``GridSearchCV`` can compare learners and options.

        Parameters
        ----------
        X : frame, array, path, CategoricalData or Engine
            Rows that were not learned from. Columns that were cut are cut at the same edges.
        y : None
            Ignored; there is no target.
        """
        columns = np.shape(X)[1:] if isinstance(X, np.ndarray) else ()
        if columns not in ((), (self.n_features_in_,)):
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise RequestError(f"X has {columns[0]} features, but {expected}")
        return log_score(self.graph_, self._engine(X, self.bin_edges_ or self.bins))

    def _engine(self, X: Any, bins: Any) -> Engine:
        """Return who counts: X itself, if it is an engine, or one made of the table."""
        if is_engine(X):
            return as_engine(X, self.engine)
        if isinstance(X, str | PathLike) and is_engine(self.engine):
            path = getattr(self.engine, "path", None)  # an engine that has read a folder itself
            if path is not None and Path(X).absolute() == path.absolute():
                return as_engine(self.engine)
        judges = getattr(self, "test", None), getattr(self, "criterion", None)
        if not isinstance(X, NumericData) and not takes_numbers(*judges):
            return as_engine(
                load(X, missing=self.missing, discretize=self.discretize, bins=bins), self.engine
            )
        if self.discretize is not None or bins is not None:
            raise RequestError("numbers are taken as they are: leave out discretize and bins")
        return as_engine(load_numbers(X, missing=self.missing), self.engine)

    def _learn(self, engine: Engine) -> Learned:
        raise TypeError(f"{type(self).__name__} must define _learn(engine)")

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
        return self.learned_.edges_frame

    def explain(self, x: str, y: str) -> Explanation:
        """Tell why there is an edge between ``x`` and ``y``, or why not: print it, or read its numbers.

        Parameters
        ----------
        x, y : str
            Two variables.
        """
        return explain(self.engine_, self.learned_, x, y)

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

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show: the network, if there is one, or else the options."""
        if "learned_" not in vars(self):
            return dict(super()._repr_mimebundle_(**kwargs))
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        """Return the network for notebooks."""
        return self.learned_.with_effects(self.engine_)._repr_html_()

    def __str__(self) -> str:
        return self.learned_.summary() if hasattr(self, "learned_") else repr(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags
