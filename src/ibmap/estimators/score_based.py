"""Learners that raise a score, as scikit-learn estimators: IBMAP, EvidenceMAP and DAG-HC."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ibmap.engines import Engine
from ibmap.estimators.base import StructureLearner, takes_old_name
from ibmap.graph import Graph
from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.dag_hc import dag_hc
from ibmap.learners.evidence_map import evidence_map
from ibmap.learners.ibmap_hc import ibmap_hc
from ibmap.results.learned import Learned, Step, frame


class ScoredLearner(StructureLearner):
    """What learners with a score share: the score, the numbers behind the posteriors, and the ascents."""

    @property
    def score_(self) -> float | None:
        """The score of the network."""
        return self.learned_.score

    @property
    def pair_scores_(self) -> NDArray[np.float64] | None:
        """σ_ij."""
        return self.learned_.pair_scores

    @property
    def history_(self) -> Any:
        """The ascents, as a frame."""
        steps = self.learned_.history
        columns = {name: [step[k] for step in steps] for k, name in enumerate(Step._fields)}
        return frame(columns, self.learned_.backend)

    @property
    def dag_(self) -> tuple[tuple[str, str], ...] | None:
        """The arcs of the directed graph whose moral graph this is, as (parent, child), if there is one."""
        arcs = self.learned_.arcs
        return None if arcs is None else tuple(arcs)


class IBMAP(ScoredLearner):
    """Learn a Markov network by IBMAP-HC, with a posterior for every edge.

    Parameters
    ----------
    test : IndependenceTest, str, callable or None
        Where posteriors come from; None is :class:`BayesianTest` with its defaults. "gaussian"
        (:class:`GaussianTest`) takes columns of numbers as they are, and mixed tables by ranks.
    criterion : Score, str or None
        What is raised: "ib", the paper's score (None is the same), or the log evidence of conditionals:
        "pairwise", "saturated" (the marginal pseudo-likelihood), "adaptive", or "gaussian", of numbers.
    search : Search, str or None
        How: "climb", the paper's (None is the same), "steepest" or "rounds".
    patience : int
        How many more pairs to try when the least credible one does not raise the score; 0 is the paper.
    start : Graph or None
        Where the search starts; None is the graph without edges.
    required, forbidden : iterable of (str, str)
        Edges that must, or must not, be in the network.
    drop_untested : bool
        Leave out the edges that neither end could test, because too few rows are left given its neighbours;
        they are told in a warning anyway. The score is that of the network without them.
    missing : {"error", "drop", "category", "testwise"}
        What to do with missing values: refuse them, drop incomplete rows, make them a level of their own, or
        use in each test the rows that are complete in its own columns.
    discretize : {"equal-width", "quantile"} or None
        How to cut continuous columns; None refuses them, unless the test or the score takes numbers.
    bins : int, mapping or None
        How many bins, or which edges for which column; None lets the number of rows decide.
    engine : Engine, callable, str or None
        Who counts: None is the memory of this process; see :func:`ibmap.engines.as_engine`.
    n_jobs : int or None
        Threads; None is one, -1 all cores. The result does not depend on it.
    callback : callable or None
        Called with a :class:`Step` after every ascent; the search ends when it returns True.
    checkpoint : path, Checkpoint or None
        A file where the search is saved every ten seconds, or as often as :class:`Checkpoint` says. If it is
        there when ``fit`` begins, a search that was killed goes on from it, and ends the same. It stays when
        the search is over, and is refused for another table or with other options.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner.
    score_ : float
        The score of the network; the IB-score is the log posterior of its closure.
    pair_scores_ : ndarray of shape (n_variables, n_variables)
        ``pair_scores_[i, j]`` is σ_ij, the log posterior of what the network asserts about i and j given the
        blanket of i. The diagonal is 0. None beyond 10,000 variables, where no matrix is kept.
    history_ : frame
        The ascents: n, x, y, added, gain, score.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke = rng.integers(2, size=300)
    >>> cough = smoke ^ (rng.random(300) < 0.2)
    >>> net = IBMAP().fit({"smoke": smoke, "cough": cough, "tea": rng.integers(2, size=300)})
    >>> net.graph_.blanket("cough")
    ('smoke',)
    """

    @takes_old_name
    def __init__(
        self,
        test: Any = None,
        *,
        criterion: Any = None,
        search: Any = None,
        patience: int = 0,
        start: Graph | None = None,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        drop_untested: bool = False,
        missing: str = "error",
        discretize: str | None = None,
        bins: int | Mapping[str, Any] | None = None,
        engine: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[Step], object] | None = None,
        checkpoint: Checkpoint | str | PathLike[str] | None = None,
    ) -> None:
        self.test = test
        self.criterion = criterion
        self.search = search
        self.patience = patience
        self.start = start
        self.required = required
        self.forbidden = forbidden
        self.drop_untested = drop_untested
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback
        self.checkpoint = checkpoint

    def _learn(self, engine: Engine) -> Learned:
        return ibmap_hc(
            engine,
            self.test,
            score=self.criterion,
            search=self.search,
            patience=self.patience,
            start=self.start,
            required=self.required,
            forbidden=self.forbidden,
            drop_untested=self.drop_untested,
            n_jobs=self.n_jobs,
            callback=self.callback,
            checkpoint=self.checkpoint,
        )


class EvidenceMAP(ScoredLearner):
    """Learn the Markov network of most evidence: the recommended learner; no option needs to be set.

    Every variable is modelled given its neighbours, by main effects or by a full table, whichever the data
    prefer; the network is the one whose conditionals have most evidence, found by rounds and swaps. Where the
    data look like those of a directed graph with common children, such a graph is found as well, and wins if
    it predicts better.

    Parameters
    ----------
    criterion : FamilyScore, str or None
        Whose evidence is raised: "adaptive" (None, where all columns are categories), "pairwise" or
        "saturated"; "mixed" (None, where some are numbers, or values are missing); "gaussian" raises that of
        linear regressions on numbers alone.
    search : Search, str or None
        How: "swaps" (None is the same), "rounds", "steepest" or "climb".
    view : {"undirected", "directed"} or None
        None also looks for a directed graph, whose moral graph is the network, where some variables depend on
        their neighbours in more than main effects; the view wins that predicts better.
    posterior : {"averaged"} or None
        None compares each edge with what could stand in for it, and averages over sampled graphs where these
        are very many; "averaged" always does, and shows the pairs that most of the graphs join. It looks at
        undirected graphs alone (up to 2000 variables), and takes several times as long.
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None learns it from the data.
    prior : array of shape (n_variables, n_variables), float or None
        Prior probability of independence for each pair; NaN where the expected neighbours decide.
    missing : {"auto", "question", "impute", "error", "drop", "category"}
        What to do with missing values: "question" uses, for each question, the rows that answer it;
        "impute" completes the table five times by the network itself, and each copy counts a fifth; "auto"
        imputes where more than 5 % of the cells are missing. Others as in :class:`IBMAP`.
    imputation_seed : int
        The seed of the values that are imputed.
    start, required, forbidden, discretize, bins, engine, n_jobs, callback, checkpoint
        As in :class:`IBMAP`.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. The posterior of an edge averages over the graphs in which another variable
        stands in for one of its ends: an edge that could as well be another one does not look certain.
    score_, pair_scores_, history_
        As in :class:`IBMAP`; no matrix is kept beyond 2000 variables if all are binary and complete.
    dag_ : tuple of (str, str) or None
        The arcs, as (parent, child), where the directed view has won.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke = rng.integers(2, size=300)
    >>> cough = smoke ^ (rng.random(300) < 0.2)
    >>> net = EvidenceMAP().fit({"smoke": smoke, "cough": cough, "tea": rng.integers(2, size=300)})
    >>> net.graph_.blanket("cough")
    ('smoke',)
    """

    takes_any_table = True

    @takes_old_name
    def __init__(
        self,
        *,
        criterion: Any = None,
        search: Any = None,
        view: str | None = None,
        posterior: str | None = None,
        expected_neighbours: float | None = None,
        prior: Any = None,
        start: Graph | None = None,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        missing: str = "auto",
        imputation_seed: int = 0,
        discretize: str | None = None,
        bins: int | Mapping[str, Any] | None = None,
        engine: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[Step], object] | None = None,
        checkpoint: Checkpoint | str | PathLike[str] | None = None,
    ) -> None:
        self.criterion = criterion
        self.search = search
        self.view = view
        self.posterior = posterior
        self.expected_neighbours = expected_neighbours
        self.prior = prior
        self.start = start
        self.required = required
        self.forbidden = forbidden
        self.missing = missing
        self.imputation_seed = imputation_seed
        self.discretize = discretize
        self.bins = bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback
        self.checkpoint = checkpoint

    def _learn(self, engine: Engine) -> Learned:
        return evidence_map(
            engine,
            score=self.criterion,
            search=self.search,
            view=self.view,
            posterior=self.posterior,
            expected_neighbours=self.expected_neighbours,
            prior=self.prior,
            start=self.start,
            required=self.required,
            forbidden=self.forbidden,
            n_jobs=self.n_jobs,
            callback=self.callback,
            checkpoint=self.checkpoint,
        )


class DAGHC(ScoredLearner):
    """Learn a Markov network as the moral graph of a directed acyclic graph, found by hill climbing.

    Parameters
    ----------
    criterion : {"bic", "bdeu", "qnml"} or None
        What is raised: the Bayesian information criterion (None is the same), the marginal likelihood, or a
        quotient of normalised maximum likelihoods, which has no constant to choose.
    equivalent_sample_size : float
        Of BDeu: what its prior counts add up to.
    expected_neighbours : float or None
        The number of neighbours that a variable has a priori; None lets all graphs be equally likely, and
        makes many false edges where variables are many and rows are few.
    max_parents : int or None
        Parents that a variable may have; None is any number.
    tabu : int
        How many more moves to make where none raises the score, without returning to a structure that was
        seen; the best one is kept. 0 is plain hill climbing.
    shakes : int
        How often to go over all variables, reverse the arcs of each, and search on from there, as long as
        that is of use. A pass takes several times as long as the search itself, and finds far better optima.
    required : iterable of (str, str)
        Edges that must be in the network: the directed graph has an arc between each of these pairs, in
        the direction that the score prefers. Where that needs a cycle, or a marriage that is forbidden, or
        more than ``max_parents``, it is an error.
    forbidden : iterable of (str, str)
        Edges that must not be in the network: such pairs get no arc and no common child.
    missing, discretize, bins, engine
        As in :class:`ibmap.IBMAP`.
    n_jobs : int or None
        As in every learner; one move follows the other, so threads are of no use here.
    callback : callable or None
        Called with a :class:`Step` for every arc that comes or goes; the search ends when it returns True.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. The log odds of an edge are what the score would lose with its arc, and with one
        of the two arcs to every common child; those of other pairs what an arc would gain.
    score_, pair_scores_, history_
        As in :class:`ibmap.IBMAP`; a step of the history is an arc from x to y.
    dag_ : tuple of (str, str)
        The directed graph, as (parent, child).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> smoke, dust = rng.integers(2, size=(2, 400))
    >>> cough = (smoke | dust) ^ (rng.random(400) < 0.1)
    >>> net = DAGHC().fit({"smoke": smoke, "dust": dust, "cough": cough})
    >>> net.dag_
    (('smoke', 'cough'), ('dust', 'cough'))
    >>> net.graph_.blanket("smoke")  # dust helps to tell why somebody coughs
    ('dust', 'cough')
    """

    @takes_old_name
    def __init__(
        self,
        *,
        criterion: str | None = None,
        equivalent_sample_size: float = 1.0,
        expected_neighbours: float | None = None,
        max_parents: int | None = None,
        tabu: int = 10,
        shakes: int = 0,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        missing: str = "error",
        discretize: str | None = None,
        bins: int | Mapping[str, Any] | None = None,
        engine: Any = None,
        n_jobs: int | None = None,
        callback: Callable[[Step], object] | None = None,
    ) -> None:
        self.criterion = criterion
        self.equivalent_sample_size = equivalent_sample_size
        self.expected_neighbours = expected_neighbours
        self.max_parents = max_parents
        self.tabu = tabu
        self.shakes = shakes
        self.required = required
        self.forbidden = forbidden
        self.missing = missing
        self.discretize = discretize
        self.bins = bins
        self.engine = engine
        self.n_jobs = n_jobs
        self.callback = callback

    def _learn(self, engine: Engine) -> Learned:
        return dag_hc(
            engine,
            score="bic" if self.criterion is None else self.criterion,
            equivalent_sample_size=self.equivalent_sample_size,
            expected_neighbours=self.expected_neighbours,
            max_parents=self.max_parents,
            tabu=self.tabu,
            shakes=self.shakes,
            required=self.required,
            forbidden=self.forbidden,
            n_jobs=self.n_jobs,
            callback=self.callback,
        )
