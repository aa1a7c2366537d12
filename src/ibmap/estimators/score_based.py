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
        """σ_ij: log posterior of what the network says about i and j, given the blanket of i."""
        return self.learned_.pair_scores

    @property
    def history_(self) -> Any:
        """The steps of the search, as a frame: n, x, y, added, gain, score."""
        steps = self.learned_.history
        columns = {name: [step[k] for step in steps] for k, name in enumerate(Step._fields)}
        return frame(columns, self.learned_.backend)

    @property
    def dag_(self) -> tuple[tuple[str, str], ...] | None:
        """The arcs (parent, child) of the directed graph whose moral graph this is; None if there is none."""
        arcs = self.learned_.arcs
        return None if arcs is None else tuple(arcs)


class IBMAP(ScoredLearner):
    """Learn a Markov network by IBMAP-HC, the algorithm of the paper; its posteriors only rank edges.

    Parameters
    ----------
    test : IndependenceTest, str, callable or None
        Test of independence; None is :class:`BayesianTest` with its defaults. "gaussian"
        (:class:`GaussianTest`) uses numbers as they are, and mixed tables by ranks.
    criterion : Score, str or None
        Score to maximise: "ib", the paper's (the default), or the log evidence of each variable given its
        neighbours: "pairwise", "saturated" (the marginal pseudo-likelihood), "adaptive", or "gaussian" (for
        numbers).
    search : Search, str or None
        Search algorithm: "climb", the paper's (the default), "steepest" or "rounds".
    patience : int
        Number of further pairs to try if the least credible one does not raise the score; 0 as in the paper.
    start : Graph or None
        Where the search starts; None is the graph without edges.
    required, forbidden : iterable of (str, str)
        Edges that must, or must not, be in the network.
    drop_untested : bool
        Leave out the edges that neither end could test, because too few rows are left given its neighbours. A
        warning lists them anyway; the score is that of the network without them.
    missing : {"error", "drop", "category", "testwise"}
        What to do with missing values: refuse them, drop incomplete rows, make them a level of their own, or
        use in each test the rows that are complete in its own columns.
    discretize : {"equal-width", "quantile"} or None
        How to cut continuous columns; None refuses them, unless the test or the score takes numbers.
    bins : int, mapping or None
        Number of bins, or a dict from columns to numbers of bins or to edges; None: 1 + log2 of the rows.
    engine : Engine, callable, str or None
        Engine that counts; None counts in the memory of this process, see :func:`ibmap.engines.as_engine`.
    n_jobs : int or None
        Threads; None is one, -1 all cores. The result does not depend on it.
    callback : callable or None
        Called with a :class:`Step` after every ascent; the search ends when it returns True.
    checkpoint : path, Checkpoint or None
        A file in which the search is saved every ten seconds, or as often as :class:`Checkpoint` says. If it
        exists when ``fit`` begins, the search goes on from it, to the same result. It stays when the search
        is over, and is refused with another table or other options.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner.
    score_ : float
        The score of the network; the IB-score is the log posterior of its closure.
    pair_scores_ : ndarray of shape (n_variables, n_variables)
        ``pair_scores_[i, j]`` is σ_ij, the log posterior of what the network says about i and j given the
        blanket of i. The diagonal is 0. None beyond 10,000 variables, where no matrix is kept.
    history_ : frame
        The steps of the search: n, x, y, added, gain, score.

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
    """Learn the Markov network that has the most evidence. Recommended: no option needs to be set.

    Each variable is modelled given its neighbours: by main effects or by a full table, whichever the data
    prefer. The network is the one under which these models have the most evidence. If the data look like
    those of a directed graph with common children, such a graph is searched, too; its moral graph is returned
    if it predicts better.

    Parameters
    ----------
    criterion : FamilyScore, str or None
        Model whose evidence is maximised: "adaptive" (the default if all columns are categories), "pairwise"
        or "saturated"; "mixed" (the default if some columns are numbers, or values are missing); "gaussian",
        linear regressions for numbers alone.
    search : Search, str or None
        Search algorithm: "swaps" (the default), "rounds", "steepest" or "climb".
    view : {"undirected", "directed"} or None
        Kind of graph that is searched. None searches undirected graphs, and directed ones, too, if some
        variables depend on their neighbours by more than main effects; the kind that predicts better wins. Of
        a directed graph, the network is the moral graph.
    posterior : {"averaged"} or None
        How posteriors are computed. None compares each edge with its alternatives, and averages over sampled
        graphs if these are very many. "averaged" always averages over sampled graphs, and keeps the pairs
        that have an edge in most of them; it searches undirected graphs only (up to 2000 variables), and
        takes several times as long.
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None learns it from the data.
    prior : array of shape (n_variables, n_variables), float or None
        Prior probability of independence of each pair; where it is NaN, ``expected_neighbours`` decides.
    missing : {"auto", "question", "impute", "error", "drop", "category"}
        What to do with missing values: "question" uses, for each question, the rows where its columns are
        known; "impute" completes the table five times by the network itself, and each copy counts a fifth;
        "auto" imputes if more than 5 % of the cells are missing. Others as in :class:`IBMAP`.
    imputation_seed : int
        The seed of the values that are imputed.
    start, required, forbidden, discretize, bins, engine, n_jobs, callback, checkpoint
        As in :class:`IBMAP`.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. The posterior of an edge averages over graphs in which another variable takes the
        place of one of its ends: if another edge would do as well, neither looks certain.
    score_, pair_scores_, history_
        As in :class:`IBMAP`; no matrix is kept beyond 2000 variables if all are binary and complete.
    dag_ : tuple of (str, str) or None
        The arcs (parent, child) if the directed graph predicted better; otherwise None.

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
        Score to maximise: the Bayesian information criterion (the default), the marginal likelihood, or the
        quotient normalised maximum likelihood, which has no parameter.
    equivalent_sample_size : float
        Sum of the prior counts of BDeu.
    expected_neighbours : float or None
        Prior mean number of neighbours of a variable; None makes all graphs equally likely, which brings many
        false edges if there are many variables and few rows.
    max_parents : int or None
        Most parents of a variable; None: no limit.
    tabu : int
        Moves to make beyond an optimum, none of them back to a structure seen before; the best structure is
        kept. 0 is plain hill climbing.
    shakes : int
        Passes over all variables, as long as they help: the arcs of each are reversed, and the search goes on
        from there. A pass takes several times as long as the search itself, and finds far better optima.
    required : iterable of (str, str)
        Edges that must be in the network: the directed graph has an arc between each of these pairs, in the
        direction that the score prefers. It is an error if that needs a cycle, a forbidden edge between two
        parents, or more than ``max_parents``.
    forbidden : iterable of (str, str)
        Edges that must not be in the network: such pairs get no arc and no common child.
    missing, discretize, bins, engine
        As in :class:`ibmap.IBMAP`.
    n_jobs : int or None
        As in every learner; more than one is of no use here, as one move follows the other.
    callback : callable or None
        Called with a :class:`Step` for every arc that is added or removed; the search ends when it returns
        True.

    Attributes
    ----------
    graph_, adjacency_, edges_, n_tests_, n_iter_, fit_seconds_, n_features_in_, feature_names_in_
        As in every learner. The log odds of an edge are what the score would lose without its arc, and
        without one of the two arcs to each common child; those of other pairs are what an arc would gain.
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
