"""A Markov network: a graph with parameters, and what can be asked of it."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from ibmap._random import RandomState
from ibmap._types import Floats, Ints
from ibmap.data import CategoricalData
from ibmap.errors import DataError, RequestError
from ibmap.graph import Graph
from ibmap.model.coding import code_of, coded
from ibmap.model.fitting import FittedBy, fitted
from ibmap.model.junction_tree import JunctionTree, tree_of
from ibmap.model.layout import Layout
from ibmap.model.likelihood import log_conditionals, log_likelihoods
from ibmap.model.missing_cells import missing_cells
from ibmap.model.query import Answer, marginal
from ibmap.model.sampling import exact_rows, gibbs_rows
from ibmap.synthetic.gibbs import SWEEPS


@dataclass(frozen=True, eq=False)
class MarkovNetwork:
    """A graph with a log table for every variable and every edge.

    log p(x) = Σ_i field_i(x_i) + Σ_ij factor_ij(x_i, x_j) - log Z. Make one with :meth:`fit`.

    Parameters
    ----------
    graph : Graph
        The structure.
    levels : sequence of tuples
        The labels of each variable.
    fields : sequence of arrays of shape (levels,)
        One log table per variable.
    factors : sequence of arrays of shape (levels of x, levels of y)
        One log table per edge, in the order of ``graph.edges``; -inf is the logarithm of an impossible cell.
    bin_edges : mapping of str to tuple of float
        The edges of variables that were discretised.
    fitted_by : FittedBy or None
        How the parameters were found, and from what.
    missing_values : mapping of str to tuple
        Values that stood for missing ones in the table, and do so in others.

    Examples
    --------
    >>> from ibmap.data import load
    >>> table = {"smokes": ["no", "no", "yes", "yes"] * 25, "coughs": ["no", "no", "no", "yes"] * 25}
    >>> network = MarkovNetwork.fit(Graph(["smokes", "coughs"], [("smokes", "coughs")]), load(table))
    >>> network
    MarkovNetwork(2 variables, 1 edge, fitted by maximum-likelihood)
    >>> print(network.query("coughs", given={"smokes": "yes"}))
    P(coughs | smokes=yes), exact
      no: 0.5000
      yes: 0.5000
    """

    graph: Graph
    levels: tuple[tuple[Hashable, ...], ...]
    fields: tuple[Floats, ...]
    factors: tuple[Floats, ...]
    bin_edges: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    fitted_by: FittedBy | None = None
    missing_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = tuple(map(tuple, self.levels))
        fields, factors = (tuple(_frozen(table) for table in part) for part in (self.fields, self.factors))
        sizes = [len(one) for one in labels]
        of_edges: list[Any] = [(sizes[i], sizes[j]) for i, j in self._pairs(len(sizes))]
        of_variables: list[Any] = [(size,) for size in sizes]
        for what, tables, shapes in (("fields", fields, of_variables), ("factors", factors, of_edges)):
            if [table.shape for table in tables] != shapes:
                raise RequestError(f"{what} do not fit the graph and the levels: this needs {shapes[:5]}")
            for table in tables:
                if np.isnan(table).any() or (table == np.inf).any() or not (table > -np.inf).any():
                    raise RequestError(
                        f"{what} must be logarithms: finite, or -inf where a cell is impossible"
                    )
        object.__setattr__(self, "levels", labels)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "factors", factors)

    def _pairs(self, n: int) -> list[list[int]]:
        if n != self.graph.n_variables or any(not labels for labels in self.levels):
            raise RequestError(f"levels must be given for each of {self.graph.n_variables} variables")
        return self.graph.pairs.tolist()  # type: ignore[no-any-return]

    @classmethod
    def fit(
        cls,
        graph: Any,
        data: Any,
        *,
        method: str = "auto",
        effect_variance: float = 4.0,
        pseudo_rows: float = 1.0,
        max_iter: int = 1000,
    ) -> Self:
        """Estimate the parameters of a graph from a table.

        Parameters
        ----------
        graph : Graph, Learned or estimator
            The structure; its variables are those of the table, in any order.
        data : table, CategoricalData or Engine
            The table, anything that :func:`ibmap.load` reads (missing values may stay), or an engine that
            holds it.
        method : {"auto", "maximum-likelihood", "pseudo-likelihood"}
            Exact maximum likelihood by iterative proportional fitting, which needs complete rows and a graph
            of small treewidth; regularised pseudo-likelihood, which serves every table and graph; or the
            first where that is cheap, the second elsewhere.
        effect_variance : float
            Of the pseudo-likelihood: prior variance of a log odds ratio.
        pseudo_rows : float
            Of the likelihood: rows that are added, spread evenly over all configurations.
        max_iter : int
            Iterations, at most; a fit that has not converged warns.

        Examples
        --------
        >>> from ibmap.data import load
        >>> data = load({"a": [0, 1] * 50, "b": [0, 1] * 50, "c": [0, 0, 1, 1] * 25})
        >>> MarkovNetwork.fit(Graph("abc", [("a", "b")]), data, method="pseudo-likelihood")
        MarkovNetwork(3 variables, 1 edge, fitted by pseudo-likelihood)
        """
        engine, layout, theta, how = fitted(graph, data, method, effect_variance, pseudo_rows, max_iter)
        tables = tuple(layout.fields(theta)), tuple(layout.factors(theta))
        schema = engine.schema
        said = schema.reading.get("missing_values") or {}
        by_name = said if isinstance(said, Mapping) else dict.fromkeys(schema.names, said)
        more: dict[str, Any] = {"bin_edges": dict(schema.bin_edges), "fitted_by": how}
        more["missing_values"] = {name: tuple(values) for name, values in by_name.items()}
        return cls(layout.graph, schema.levels, *tables, **more)

    def __repr__(self) -> str:
        how = "" if self.fitted_by is None else f", fitted by {self.fitted_by.method}"
        return f"MarkovNetwork({repr(self.graph)[6:-1]}{how})"

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.graph.names

    @cached_property
    def layout(self) -> Layout:
        """Where the parameters are in ``theta``."""
        return Layout(self.graph, np.array([len(labels) for labels in self.levels], np.int64))

    @cached_property
    def theta(self) -> Floats:
        """All parameters in one read-only array."""
        return _frozen(self.layout.flat(self.fields, self.factors))

    @cached_property
    def tree(self) -> JunctionTree | None:
        """The junction tree, for exact inference; None if it would be too large."""
        return tree_of(self.layout)

    @property
    def is_tractable(self) -> bool:
        """Whether inference is exact."""
        return self.tree is not None

    @cached_property
    def log_partition(self) -> float:
        """The logarithm of the sum of all weights."""
        return self._tree("the log partition function").log_partition(self.theta)

    def _tree(self, what: str) -> JunctionTree:
        if self.tree is None:
            raise RequestError(f"{what} is not tractable: the graph has too large cliques for that")
        return self.tree

    def query(
        self, x: str, given: Mapping[str, Hashable] | None = None, *, random_state: RandomState = 0
    ) -> Answer:
        """Return the distribution of a variable, given values of others.

        It is exact where the treewidth allows, if need be after what is given has been taken out of the
        graph; elsewhere it is estimated by Gibbs sampling, and has standard errors.

        Parameters
        ----------
        x : str
            A variable.
        given : mapping
            Values by name.
        random_state : int, numpy.random.Generator or None
            Of the sampler.
        """
        i, evidence = self.graph.index(x), self._evidence(given or {})
        if i in evidence:
            raise RequestError(f"variable {x!r} is both asked about and given")
        shares, errors = marginal(self.tree, self.layout, self.theta, i, evidence, random_state)
        known = {self.names[v]: self.levels[v][code] for v, code in evidence.items()}
        found = dict(zip(self.levels[i], shares.tolist(), strict=True))
        bars = None if errors is None else dict(zip(self.levels[i], errors.tolist(), strict=True))
        return Answer(x, known, found, bars)

    def _evidence(self, given: Mapping[str, Hashable]) -> dict[int, int]:
        places = {name: self.graph.index(name) for name in given}
        return {v: code_of(name, self.levels[v], given[name]) for name, v in places.items()}

    def marginals(self) -> dict[str, dict[Hashable, float]]:
        """Return the distribution of every variable; the network must be tractable."""
        found = self._tree("the set of all marginals").marginals(self.theta)
        parts = zip(self.names, self.levels, found, strict=True)
        return {name: dict(zip(labels, p.tolist(), strict=True)) for name, labels, p in parts}

    def sample(
        self, n_rows: int, *, sweeps: int = SWEEPS, random_state: RandomState = None
    ) -> CategoricalData:
        """Draw rows: exact and independent where the network is tractable, elsewhere by Gibbs sampling.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        sweeps : int
            Of the Gibbs sampler: updates of every variable before a row is read.
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness.
        """
        if n_rows < 1:
            raise RequestError(f"n_rows must be at least 1: got {n_rows}")
        if self.tree is not None:
            if self.log_partition == -np.inf:
                raise RequestError("no configuration is possible in this model")
            rows: Any = exact_rows(self.tree, self.theta, n_rows, random_state)
        else:
            rows = gibbs_rows(self.layout, self.theta, n_rows, sweeps, random_state)
        return self._table(rows.T.astype(np.int64))

    def _table(self, codes: Ints) -> CategoricalData:
        return CategoricalData(codes, self.names, self.levels, self.bin_edges)

    def log_likelihood(self, data: Any, *, unseen: str = "error") -> Floats:
        """Return the log probability of every row; of a row with missing values, that of what is known.

        Parameters
        ----------
        data : table
            Anything that :func:`ibmap.load` reads, with the columns and levels of the model.
        unseen : {"error", "missing"}
            Refuse levels that the model does not know, or take them for missing values.
        """
        tree = self._tree("the likelihood")
        return log_likelihoods(tree, self.theta, self.log_partition, coded(self, data, unseen))

    def log_pseudo_likelihood(self, data: Any, *, unseen: str = "error") -> Floats:
        """Return Σ_x log p(x | neighbours) of every row, over the values whose neighbours are known, too."""
        logs = log_conditionals(self.layout, self.theta, coded(self, data, unseen))
        return np.asarray(np.nansum(logs, axis=0))

    def impute(self, data: Any, *, unseen: str = "missing", random_state: RandomState = 0) -> CategoricalData:
        """Fill every missing value with its most probable level, given what its row knows.

        Parameters
        ----------
        data : table
            Anything that :func:`ibmap.load` reads, with the columns and levels of the model.
        unseen : {"error", "missing"}
            Refuse levels that the model does not know, or fill them, too.
        random_state : int, numpy.random.Generator or None
            Of the Gibbs sampler, which serves rows of which too much is missing.
        """
        codes = coded(self, data, unseen)
        filled = codes.copy()
        for v, rows, shares in missing_cells(self.layout, self.theta, codes, random_state):
            if np.isnan(shares).any():
                raise DataError(
                    f"row {rows[np.isnan(shares).any(axis=1)][0]} has probability zero in the model"
                )
            filled[v, rows] = shares.argmax(axis=1)
        return self._table(filled)

    def predict(self, x: str, data: Any, *, unseen: str = "missing") -> list[Hashable]:
        """Return the most probable level of a variable in every row, given all else that the row knows."""
        i = self.graph.index(x)
        shares = self.predict_probabilities(x, data, unseen=unseen)
        return [self.levels[i][code] for code in shares.argmax(axis=1).tolist()]

    def predict_probabilities(self, x: str, data: Any, *, unseen: str = "missing") -> Floats:
        """Return the distribution (rows, levels) of a variable in every row, given all else that it knows."""
        i, codes = self.graph.index(x), coded(self, data, unseen)
        codes[i] = -1
        shares = np.empty((codes.shape[1], len(self.levels[i])))
        for v, rows, found in missing_cells(self.layout, self.theta, codes, 0):
            if v == i:
                shares[rows] = found
        return shares


def _frozen(table: Any) -> Floats:
    copy = np.array(table, dtype=np.float64)
    copy.flags.writeable = False
    return copy
