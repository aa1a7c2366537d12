"""What all estimators share: constructors store, ``fit`` calls a pure function and assigns."""

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from ibmap.criteria.whole_numbers import with_kinds
from ibmap.data import Schema, Table, load
from ibmap.data.files import open_frame
from ibmap.data.schema import CONTINUOUS, NOMINAL, ORDINAL
from ibmap.data.weights import (
    CountedRows,
    cluster_numbers,
    n_rows_of,
    row_weights,
    some_rows,
    stratum_numbers,
)
from ibmap.engines import Engine, as_engine
from ibmap.engines.engine import is_engine
from ibmap.errors import RequestError, SearchWarning
from ibmap.graph import Graph
from ibmap.learners.imputation import completed
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
                "score= is now called criterion=; the old name will go in the next version",
                FutureWarning,
                stacklevel=2,
            )
            options["criterion"] = options.pop("score")
        init(self, *given, **options)

    return constructor


def counted_rows(
    X: Any, weights: Any = None, groups: Any = None, weights_are: Any = None, strata: Any = None
) -> tuple[Any, CountedRows | None]:
    """Return a table without rows of weight zero, and how often the others count; None if each does once."""
    if weights is None and weights_are is not None and groups is None:
        raise RequestError("weights_are says what sample_weight is: give both")
    if weights is None and groups is None and strata is None:
        return X, None
    if is_engine(X):
        raise RequestError("an engine holds its rows already: give weights and groups with a table")
    if isinstance(X, str | PathLike):
        X = open_frame(Path(X)).frame
    is_coded = isinstance(X, Table)
    n_rows = X.n_rows if is_coded else n_rows_of(X)
    counts = None if weights is None else row_weights(weights, n_rows, "sample_weight", weights_are)
    clusters = None if groups is None else cluster_numbers(groups, n_rows, "groups")
    of_strata = None if strata is None else stratum_numbers(strata, n_rows, clusters, "strata")
    rows = CountedRows(counts, clusters, strata=of_strata)
    if rows.kept is not None:
        kept = np.flatnonzero(rows.kept)
        X = replace(X.rows(kept), warnings=X.warnings, reading=X.reading) if is_coded else some_rows(X, kept)
    return X, rows.some(rows.kept)


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
        What was learned, with its provenance.
    described_ : Learned
        The same with the effects of its edges and ``predictability_``; worked out when first asked for.
    predictability_ : mapping
        Which share of every variable its neighbours predict in rows that are left out in turn: of the
        deviance of levels, of the variance of numbers.
    """

    learned_: Learned
    engine_: Engine
    takes_any_table = False  #: or categories alone, unless a test or a criterion is about numbers

    def __getattr__(self, name: str) -> Any:
        if name in ("learned_", "engine_") or (name in dir(type(self)) and "learned_" not in vars(self)):
            raise NotFittedError(f"this {type(self).__name__} has not learned anything yet: call fit first")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None, weights_are: Any = None
    ) -> Self:
        """Learn a network.

        Parameters
        ----------
        X : frame, array, path, Table or Engine
            The table, see :func:`ibmap.load`; or an engine that holds it.
        y : None
            Ignored; there is no target.
        sample_weight : array of shape (rows,), optional
            Weight of each row. Whole numbers are frequencies, exactly like repeated rows. Others are sampling
            weights: the table counts as (Σw)² / Σw² rows, its effective sample size.
        groups : array of shape (rows,), optional
            The cluster of each row, if rows belong together (visits of a patient, pupils of a school). The
            table counts as fewer rows, by an estimated design effect (``ibmap.data.weights``); the bootstrap
            draws whole clusters.
        weights_are : {"frequency", "sampling"} or None
            Kind of ``sample_weight``; None: frequencies if all are whole numbers.
        """
        for name in ("required", "forbidden"):
            if isinstance(getattr(self, name, None), Iterator):
                raise RequestError(f"{name} must be a list of edges: an iterator is empty at a second fit")
        return self._fit(*counted_rows(X, sample_weight, groups, weights_are))

    def _fit(self, X: Any, rows: CountedRows | None) -> Self:
        """Learn from a table of which more is known than its columns."""
        engine = self._engine(X, self.bins, rows=rows)
        schema = engine.schema
        self.__dict__.pop("_described", None)
        self.learned_, self.engine_ = self._learn(engine), engine
        for words in self.learned_.warnings[len(schema.warnings) :]:  # those were said before
            warnings.warn(words, SearchWarning, stacklevel=2)
        self.n_features_in_ = X.shape[1] if isinstance(X, np.ndarray) else schema.n_variables
        self.bin_edges_ = dict(schema.bin_edges)
        named = schema.backend is not None or isinstance(X, str | PathLike | Mapping | Table)
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
        X : frame, array, path, Table or Engine
            Rows that were not learned from. Columns are cut at the same edges as before.
        y : None
            Ignored; there is no target.
        """
        columns = np.shape(X)[1:] if isinstance(X, np.ndarray) else ()
        if columns not in ((), (self.n_features_in_,)):
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise RequestError(f"X has {columns[0]} features, but {expected}")
        return log_score(self.graph_, self._engine(X, self.bin_edges_ or self.bins, self.engine_.schema))

    def _engine(
        self, X: Any, bins: Any, like: Schema | None = None, rows: CountedRows | None = None
    ) -> Engine:
        """Return who counts: X itself, if it is an engine, or one made of the table, with kinds as before."""
        if is_engine(X):
            return as_engine(X, self.engine)
        if isinstance(X, str | PathLike) and is_engine(self.engine):
            path = getattr(self.engine, "path", None)  # an engine that has read a folder itself
            if path is not None and Path(X).absolute() == path.absolute():
                return as_engine(self.engine)
        how = self._reading(bins)
        if like is not None and how.get("continuous") == "auto":
            of_kind: dict[str, list[str]] = {kind: [] for kind in (NOMINAL, ORDINAL, CONTINUOUS)}
            for name, kind in zip(like.names, like.kinds, strict=True):
                of_kind[kind] += [name] if name not in like.bin_edges else []
            how |= {"only": like.names, **of_kind, "continuous": of_kind[CONTINUOUS] or None}
        data = load(X, **how)
        if rows is not None:
            data, _ = rows.of(data, X, how)
        if like is not None:
            return as_engine(data, self.engine)
        return completed(as_engine(with_kinds(data), self.engine))

    def _reading(self, bins: Any) -> dict[str, Any]:
        """Return how a table is read, as arguments of :func:`ibmap.load`."""
        how: dict[str, Any] = {"missing": self.missing, "discretize": self.discretize, "bins": bins}
        judges = getattr(self, "test", None), getattr(self, "criterion", None)
        if self.takes_any_table and (judges[1] is None or _is(judges[1], "mixed")):
            how["continuous"] = "auto"
            how["imputation_seed"] = getattr(self, "imputation_seed", 0)
        elif takes_numbers(*judges):
            if self.discretize is not None or bins is not None:
                raise RequestError("numbers are taken as they are: leave out discretize and bins")
            how["continuous"] = "all"
        if _is(self.missing, "auto") and how.get("continuous") != "auto":
            how["missing"] = "error"
        return how

    def _learn(self, engine: Engine) -> Learned:
        raise TypeError(f"{type(self).__name__} must define _learn(engine)")

    @property
    def graph_(self) -> Graph:
        """The learned network."""
        return self.learned_.graph

    @property
    def adjacency_(self) -> NDArray[np.bool_]:
        """The learned network as a symmetric boolean matrix."""
        return self.learned_.graph.adjacency

    @property
    def edges_(self) -> Any:
        """A frame of edges, then near misses: posterior, in_graph, log Bayes factor, strength, sign, ..."""
        return self.described_.edges_frame

    @property
    def described_(self) -> Learned:
        """The result, with the effects of edges and the predictability of variables."""
        if "_described" not in vars(self):
            self._described = self.learned_.described(self.engine_)
        return self._described

    @property
    def predictability_(self) -> Mapping[str, float]:
        """The share of each variable, from 0 to 1, that its neighbours predict in rows left out in turn."""
        return dict(self.described_.predictability or {})

    def explain(self, x: str, y: str) -> Explanation:
        """Explain why ``x`` and ``y`` are adjacent, or why not: print it, or read its numbers.

        Parameters
        ----------
        x, y : str
            Two variables.
        """
        return explain(self.engine_, self.learned_, x, y)

    @property
    def n_tests_(self) -> int:
        """Number of tests, or of pairs scored."""
        return self.learned_.n_tests

    @property
    def n_iter_(self) -> int:
        """Number of iterations: steps of the search, or variables visited."""
        return self.learned_.n_iter

    @property
    def fit_seconds_(self) -> float:
        """Wall time of the search, in seconds."""
        return self.learned_.seconds

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show: the network, if there is one, or else the options."""
        if "learned_" not in vars(self):
            return dict(super()._repr_mimebundle_(**kwargs))
        return {"text/plain": str(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        """Return the network for notebooks."""
        return self.described_._repr_html_()

    def __str__(self) -> str:
        return self.learned_.summary() if hasattr(self, "learned_") else repr(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        return tags


def _is(value: Any, word: str) -> bool:
    """Whether an option is a word; arrays and the like are refused by whoever takes it."""
    return isinstance(value, str) and value == word
