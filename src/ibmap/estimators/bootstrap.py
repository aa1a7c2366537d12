"""The bootstrap as a scikit-learn estimator around a learner."""

from typing import Any, Self

from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from ibmap._random import RandomState
from ibmap.engines import Engine
from ibmap.errors import RequestError
from ibmap.estimators.base import StructureLearner, counted_rows
from ibmap.estimators.score_based import EvidenceMAP
from ibmap.graph import Graph
from ibmap.learners.bootstrap import SHARE, bootstrap
from ibmap.results.bootstrap import Bootstrapped
from ibmap.results.learned import Learned


class Bootstrap(BaseEstimator):  # type: ignore[misc]
    """Learn from resampled rows, many times, and count how often each edge is found.

    Parameters
    ----------
    learner : StructureLearner or None
        The learner; it is copied, never changed. None is :class:`EvidenceMAP` with its defaults. Only the
        search in the whole table uses its checkpoint.
    n_replicates : int
        Number of tables to draw.
    random_state : int, Generator or None
        Seed or source of randomness.
    n_jobs : int or None
        Replicates to learn at the same time; None: 1, -1: one for each core. The result does not depend on
        it.
    subsample : float or None
        Share of the rows in each replicate, drawn without replacement. None draws as many rows as the table
        has, with replacement; repeated rows look like dependence, and bring false edges.
    stability : bool
        Whether to compute ``centrality_stability_``, too, for which ten times as many tables are drawn.

    Attributes
    ----------
    learner_ : StructureLearner
        The copy, fitted to the whole table.
    support_ : frame
        x, y, support (the share of replicates with this edge), in_graph; the best supported first.
    graph_ : Graph
        The averaged network: the edges of more than half of the replicates.
    centrality_stability_ : float or None
        The CS coefficient: the largest share of rows that can be dropped so that, in 95 % of the tables,
        strength centralities correlate above 0.7 with those of the whole table. Above 0.5 they are stable.
    n_features_in_, feature_names_in_
        As in every learner.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke = rng.integers(2, size=300)
    >>> cough = smoke ^ (rng.random(300) < 0.2)
    >>> table = {"smoke": smoke, "cough": cough, "tea": rng.integers(2, size=300)}
    >>> Bootstrap(EvidenceMAP(), n_replicates=20, random_state=1).fit(table).averaged(0.9).edges
    (('smoke', 'cough'),)
    """

    bootstrapped_: Bootstrapped

    def __init__(
        self,
        learner: StructureLearner | None = None,
        n_replicates: int = 100,
        *,
        random_state: RandomState = None,
        n_jobs: int | None = None,
        subsample: float | None = SHARE,
        stability: bool = False,
    ) -> None:
        self.learner = learner
        self.n_replicates = n_replicates
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.subsample = subsample
        self.stability = stability

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        weights_are: Any = None,
        strata: Any = None,
    ) -> Self:
        """Learn from the table and from its replicates.

        Parameters
        ----------
        X : frame, array, path, Table or Engine
            The table, see :func:`ibmap.load`; or an engine that holds it.
        y : None
            Ignored; there is no target.
        sample_weight : array of shape (rows,), optional
            As in every learner; rows are resampled with their weights.
        groups : array of shape (rows,), optional
            The cluster of each row: clusters are drawn whole.
        weights_are : {"frequency", "sampling"} or None
            Kind of ``sample_weight``.
        strata : array of shape (rows,), optional
            The stratum of each row: of every stratum a replicate has as many rows, or the same share.
        """
        learner = EvidenceMAP() if self.learner is None else self.learner
        if not isinstance(learner, StructureLearner):
            raise RequestError(
                f"learner must be one of ibmap's learners, such as EvidenceMAP(), not {learner!r}"
            )

        def learn(engine: Engine, callback: object = None) -> Learned:
            copy: Any = clone(learner)
            if getattr(copy, "callback", "none") is None:
                copy.callback = callback
            if hasattr(copy, "checkpoint"):
                copy.checkpoint = None  # a file holds one search
            return copy._learn(engine)  # type: ignore[no-any-return]

        rows = counted_rows(X, sample_weight, groups, weights_are, strata)
        self.learner_ = clone(learner)._fit(*rows)
        self.bootstrapped_ = bootstrap(
            self.learner_.engine_,
            learn,
            n_replicates=self.n_replicates,
            random_state=self.random_state,
            subsample=self.subsample,
            n_jobs=self.n_jobs,
            stability=self.stability,
        )
        self.n_features_in_ = self.learner_.n_features_in_
        if hasattr(self.learner_, "feature_names_in_"):
            self.feature_names_in_ = self.learner_.feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def __getattr__(self, name: str) -> Any:
        if name in ("bootstrapped_", "learner_", "support_", "graph_", "centrality_stability_"):
            raise NotFittedError("this Bootstrap has not learned anything yet: call fit first")
        raise AttributeError(f"'Bootstrap' object has no attribute {name!r}")

    @property
    def support_(self) -> Any:
        """Every pair with an edge in some replicate: x, y, support, in_graph; the best supported first."""
        return self.bootstrapped_.support()

    @property
    def graph_(self) -> Graph:
        """The averaged network at a threshold of one half."""
        return self.bootstrapped_.averaged()

    @property
    def centrality_stability_(self) -> float | None:
        """The CS coefficient of strength centrality; None without ``stability=True``."""
        return self.bootstrapped_.centrality_stability

    def averaged(self, threshold: float = 0.5) -> Graph:
        """Return the network of the edges that are in more than ``threshold`` of the replicates."""
        return self.bootstrapped_.averaged(threshold)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """Return what notebooks show: the averaged network, if there is one, or else the options."""
        if "bootstrapped_" not in vars(self):
            return dict(super()._repr_mimebundle_(**kwargs))
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _repr_html_(self) -> str:
        """Return the averaged network for notebooks."""
        return self.bootstrapped_._repr_html_()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = EvidenceMAP() if self.learner is None else self.learner
        tags.input_tags = learner.__sklearn_tags__().input_tags
        return tags
