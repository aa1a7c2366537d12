"""Learners that decide instead of scoring, as scikit-learn estimators: GSMN, HHC-MN, mutual information."""

from collections.abc import Mapping
from typing import Any

from ibmap.engines import Engine
from ibmap.estimators.base import StructureLearner
from ibmap.learners.gsmn import gsmn
from ibmap.learners.hhc_mn import hhc_mn
from ibmap.learners.local_to_global import Callback
from ibmap.learners.mutual_information import mutual_information
from ibmap.results.learned import Learned


class GSMN(StructureLearner):
    """Learn a Markov network by growing and shrinking the blanket of every variable.

    Parameters
    ----------
    test : IndependenceTest, str, callable or None
        Test of independence; None is :class:`BayesianTest` with its defaults. "gaussian" and
        "fisher-z" take columns of numbers as they are.
    symmetry : {"or", "and"}
        "or": one end that chooses the other makes an edge; "and": both must choose.
    missing, discretize, bins, engine, n_jobs
        As in :class:`ibmap.IBMAP`.
    callback : callable or None
        Called with a :class:`Visit` after every variable; the search ends when it returns True.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. There are no posteriors of edges; ``n_iter_`` counts variables.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke = rng.integers(2, size=300)
    >>> cough = smoke ^ (rng.random(300) < 0.2)
    >>> net = GSMN().fit({"smoke": smoke, "cough": cough, "tea": rng.integers(2, size=300)})
    >>> net.graph_.blanket("cough")
    ('smoke',)
    """

    def __init__(
        self,
        test: Any = None,
        *,
        symmetry: str = "or",
        missing: str = "error",
        discretize: str | None = None,
        bins: int | Mapping[str, Any] | None = None,
        engine: Any = None,
        n_jobs: int | None = None,
        callback: Callback = None,
    ) -> None:
        self.test = test
        self.symmetry = symmetry
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback

    def _learn(self, engine: Engine) -> Learned:
        return gsmn(
            engine,
            self.test,
            symmetry=self.symmetry,
            n_jobs=self.n_jobs,
            callback=self.callback,
        )


class HHCMN(StructureLearner):
    """Learn a Markov network by interleaved HITON-PC, without orienting edges.

    Parameters
    ----------
    test : IndependenceTest, str, callable or None
        Test of independence; None is :class:`BayesianTest` with its defaults.
    max_condition : int or None
        Size of the largest conditioning set; None: no limit.
    symmetry : {"and", "or"}
        "or": one end that chooses the other makes an edge; "and": both must choose.
    missing, discretize, bins, engine, n_jobs
        As in :class:`ibmap.IBMAP`.
    callback : callable or None
        Called with a :class:`Visit` after every variable; the search ends when it returns True.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. There are no posteriors of edges; ``n_iter_`` counts variables.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke = rng.integers(2, size=300)
    >>> cough = smoke ^ (rng.random(300) < 0.2)
    >>> net = HHCMN().fit({"smoke": smoke, "cough": cough, "tea": rng.integers(2, size=300)})
    >>> net.graph_.blanket("cough")
    ('smoke',)
    """

    def __init__(
        self,
        test: Any = None,
        *,
        max_condition: int | None = None,
        symmetry: str = "and",
        missing: str = "error",
        discretize: str | None = None,
        bins: int | Mapping[str, Any] | None = None,
        engine: Any = None,
        n_jobs: int | None = None,
        callback: Callback = None,
    ) -> None:
        self.test = test
        self.max_condition = max_condition
        self.symmetry = symmetry
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback

    def _learn(self, engine: Engine) -> Learned:
        return hhc_mn(
            engine,
            self.test,
            max_condition=self.max_condition,
            symmetry=self.symmetry,
            n_jobs=self.n_jobs,
            callback=self.callback,
        )


class MutualInformation(StructureLearner):
    """Connect each variable to those with which its mutual information is well above the mean.

    Parameters
    ----------
    factor : float
        Neighbours have more mutual information than ``factor`` times the mean of all pairs.
    max_neighbours : int or None
        Most neighbours that a variable may choose, the strongest first; None: no limit.
    symmetry : {"or", "and"}
        "or": one end that chooses the other makes an edge; "and": both must choose.
    missing, discretize, bins, engine, n_jobs
        As in :class:`ibmap.IBMAP`.
    callback : callable or None
        Called with a :class:`Visit` after every variable; the search ends when it returns True.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. There are no posteriors of edges; ``n_iter_`` counts variables.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke = rng.integers(2, size=300)
    >>> cough = smoke ^ (rng.random(300) < 0.2)
    >>> net = MutualInformation().fit({"smoke": smoke, "cough": cough, "tea": rng.integers(2, size=300)})
    >>> net.graph_.blanket("cough")
    ('smoke',)
    """

    def __init__(
        self,
        *,
        factor: float = 1.5,
        max_neighbours: int | None = None,
        symmetry: str = "or",
        missing: str = "error",
        discretize: str | None = None,
        bins: int | Mapping[str, Any] | None = None,
        engine: Any = None,
        n_jobs: int | None = None,
        callback: Callback = None,
    ) -> None:
        self.factor = factor
        self.max_neighbours = max_neighbours
        self.symmetry = symmetry
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback

    def _learn(self, engine: Engine) -> Learned:
        return mutual_information(
            engine,
            factor=self.factor,
            max_neighbours=self.max_neighbours,
            symmetry=self.symmetry,
            n_jobs=self.n_jobs,
            callback=self.callback,
        )
