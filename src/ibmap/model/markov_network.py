"""A Markov network: a graph with parameters, and what can be asked of it."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from ibmap import _checks
from ibmap._checks import mapping, whole
from ibmap._random import RandomState, generator
from ibmap._text import in_short, listed
from ibmap._types import Floats, Ints
from ibmap.data import Table
from ibmap.data.table import tuples
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model.cell_program import CellProgram, cell_program
from ibmap.model.coding import code_of, standard_rows
from ibmap.model.fitting import METHODS, FittedBy, engine_for, fitted, missing_values_in
from ibmap.model.interactions import require_cliques
from ibmap.model.junction_tree import JunctionTree, tree_of
from ibmap.model.layout import Layout
from ibmap.model.likelihood import check_possible, log_conditionals, log_likelihoods
from ibmap.model.missing_cells import missing_cells
from ibmap.model.missing_draws import SWEEPS as DRAW_SWEEPS
from ibmap.model.missing_draws import fill_missing
from ibmap.model.query import Answer, marginal
from ibmap.model.sampling import exact_rows, gibbs_rows
from ibmap.synthetic.gibbs import SWEEPS


@dataclass(frozen=True, eq=False)
class MarkovNetwork:
    """A graph with parameters: a log table for every variable, every edge and every interaction.

    log p(x) = Σ_i field_i(x_i) + Σ_ij factor_ij(x_i, x_j) + Σ_C table_C(x_C) - log Z, where C are cliques of
    three variables or more. Make one with :meth:`fit`.

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
        Values that mean missing, by column.
    interactions : sequence of tuples of str
        Sets of three variables or more that have a table together, in the order of the variables.
    tables : sequence of arrays
        One log table per interaction, a dimension for every variable.

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
    interactions: tuple[tuple[str, ...], ...] = ()
    tables: tuple[Floats, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.graph, Graph):
            raise RequestError(f"a model needs a Graph, not {in_short(self.graph)}")
        labels = tuples(self.levels, "levels")
        require_distinct(labels)
        parts = {what: _tables(getattr(self, what), what) for what in ("fields", "factors", "tables")}
        for name in ("bin_edges", "missing_values"):
            object.__setattr__(self, name, mapping(getattr(self, name), name))
        own, sizes = self._shapes([len(one) for one in labels])
        shapes: dict[str, list[Any]] = {
            "fields": [(size,) for size in own],
            "factors": [(sizes[i], sizes[j]) for i, j in self._pairs(len(sizes))],
            "tables": [tuple(sizes[v] for v in scope) for scope in self._scopes()],
        }
        for what, tables in parts.items():
            if [table.shape for table in tables] != shapes[what]:
                raise RequestError(
                    f"{what} do not fit the graph and the levels: this needs {shapes[what][:5]}"
                )
            for table in tables:
                if np.isnan(table).any() or (table == np.inf).any() or not (table > -np.inf).any():
                    raise RequestError(
                        f"{what} must be logarithms: finite, or -inf where a cell is impossible"
                    )
            object.__setattr__(self, what, tables)
        object.__setattr__(self, "levels", labels)
        object.__setattr__(self, "interactions", tuple(map(tuple, self.interactions)))

    def _scopes(self) -> list[tuple[int, ...]]:
        """Return the interactions as indices, if they are cliques, each once."""
        graph = self.graph
        scopes = [tuple(map(graph.index, names)) for names in self.interactions]
        for scope in scopes:
            if len(scope) < 3 or list(scope) != sorted(set(scope)):
                raise RequestError("an interaction has three variables or more, in the order of the graph")
        require_cliques(scopes, graph)
        if len(set(scopes)) < len(scopes):
            raise RequestError("an interaction is there twice")
        return scopes

    def _shapes(self, sizes: list[int]) -> tuple[list[int], list[int]]:
        """Return the length of every field, and of a table along every variable."""
        if not all(sizes):
            raise RequestError(f"levels must be given for each of {self.graph.n_variables} variables")
        return sizes, sizes

    def _pairs(self, n: int) -> list[list[int]]:
        if n != self.graph.n_variables:
            raise RequestError(f"levels must be given for each of {self.graph.n_variables} variables")
        return self.graph.pairs.tolist()  # type: ignore[no-any-return]

    @classmethod
    def fit(
        cls,
        graph: Any,
        data: Any,
        *,
        method: str = "auto",
        interactions: Iterable[Iterable[str]] | None = None,
        effect_variance: float = 4.0,
        pseudo_rows: float = 1.0,
        max_iter: int = 1000,
    ) -> Self:
        """Estimate the parameters of a graph from a table.

        Parameters
        ----------
        graph : Graph, Learned or estimator
            The structure; its variables are those of the table, in any order.
        data : table, Table or Engine
            The table, anything that :func:`ibmap.load` reads (missing values may stay), or an engine that
            holds it.
        method : {"auto", "maximum-likelihood", "pseudo-likelihood", "conditional-tables"}
            Exact maximum likelihood by iterative proportional fitting, for complete rows and graphs of small
            treewidth; regularised pseudo-likelihood, for every table and graph; tables of each variable given
            its parents, for directed graphs. "auto" takes the third if a directed graph was learned, else the
            first if it is cheap, else the second.
        interactions : sequence of sets of str, or None
            Cliques of three variables or more that have a table together; None lets the evidence choose
            them, ``()`` leaves pairs alone.
        effect_variance : float
            Prior variance of a log odds ratio (pseudo-likelihood).
        pseudo_rows : float
            Rows to add, spread evenly over all configurations (maximum likelihood).
        max_iter : int
            Most iterations; a fit that has not converged warns.

        Examples
        --------
        >>> from ibmap.data import load
        >>> data = load({"a": [0, 1] * 50, "b": [0, 1] * 50, "c": [0, 0, 1, 1] * 25})
        >>> MarkovNetwork.fit(Graph("abc", [("a", "b")]), data, method="pseudo-likelihood")
        MarkovNetwork(3 variables, 1 edge, fitted by pseudo-likelihood)
        """
        _checks.word(method, "method", METHODS)
        effect_variance = _checks.positive(effect_variance, "effect_variance")
        max_iter = whole(max_iter, "max_iter", 1)
        if not _checks.is_number(pseudo_rows) or not 0 <= pseudo_rows < np.inf:
            raise RequestError(f"pseudo_rows must be 0 or a positive number, not {in_short(pseudo_rows)}")
        engine = engine_for(data)
        about = method, interactions, effect_variance, pseudo_rows, max_iter
        if engine.schema.is_continuous:
            from ibmap.model.mixed_network import mixed_network

            return mixed_network(graph, engine, *about)  # type: ignore[return-value]
        layout, theta, how = fitted(graph, data, engine, *about)
        tables = tuple(layout.fields(theta)), tuple(layout.factors(theta))
        schema = engine.schema
        more: dict[str, Any] = {"bin_edges": dict(schema.bin_edges), "fitted_by": how}
        more["missing_values"] = missing_values_in(schema)
        more["interactions"] = tuple(tuple(schema.names[v] for v in scope) for scope in layout.interactions)
        more["tables"] = tuple(layout.tables(theta))
        return cls(layout.graph, schema.levels, *tables, **more)

    def __repr__(self) -> str:
        how = "" if self.fitted_by is None else f", fitted by {self.fitted_by.method}"
        return f"{type(self).__name__}({repr(self.graph)[6:-1]}{how})"

    @cached_property
    def terms_in_words(self) -> str:
        """Which interactions the model has; "" if its graph has no three variables that could interact."""
        if len(self.interactions) > 3:
            return f"with {len(self.interactions):,} interactions"
        if self.interactions:
            return f"with interactions of {'; '.join(map(listed, self.interactions))}"
        around = self.graph.neighbours
        triangles = (np.intersect1d(around(i), around(j)).size for i, j in self.graph.pairs.tolist())
        return "without interactions" if any(triangles) else ""

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.graph.names

    @cached_property
    def layout(self) -> Layout:
        """Where the parameters are in ``theta``."""
        levels = np.array([len(labels) for labels in self.levels], np.int64)
        return Layout(self.graph, levels, self._scopes())

    @cached_property
    def theta(self) -> Floats:
        """All parameters in one read-only array."""
        return _frozen(self.layout.flat(self.fields, (*self.factors, *self.tables)))

    @cached_property
    def cell_program(self) -> CellProgram:
        """The model as the sampler of single cells takes it."""
        scopes = [*map(tuple, self.graph.pairs.tolist()), *self._scopes()]
        sizes = [len(labels) for labels in self.levels]
        return cell_program(sizes, self.fields, scopes, (*self.factors, *self.tables))

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

        It is exact if the graph, without the variables that are given, has a small treewidth; otherwise it is
        estimated by Gibbs sampling, and has standard errors.

        Parameters
        ----------
        x : str
            A variable.
        given : mapping
            Values by name.
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness of the sampler.
        """
        i, evidence = self.graph.index(x), self._evidence({} if given is None else mapping(given, "given"))
        if i in evidence:
            raise RequestError(f"variable {x!r} is both asked about and given")
        shares, errors = marginal(self.tree, self.layout, self.theta, i, evidence, random_state)
        known = {self.names[v]: self.levels[v][code] for v, code in evidence.items()}
        found = dict(zip(self.levels[i], shares.tolist(), strict=True))
        bars = None if errors is None else dict(zip(self.levels[i], errors.tolist(), strict=True))
        return Answer(x, known, found, bars, self.terms_in_words)

    def _evidence(self, given: Mapping[str, Hashable]) -> dict[int, int]:
        places = {name: self.graph.index(name) for name in given}
        return {v: code_of(name, self.levels[v], given[name]) for name, v in places.items()}

    def marginals(self) -> dict[str, dict[Hashable, float]]:
        """Return the distribution of every variable; the network must be tractable."""
        tree = self._tree("the set of all marginals")
        check_possible(self.log_partition)
        found = tree.marginals(self.theta)
        parts = zip(self.names, self.levels, found, strict=True)
        return {name: dict(zip(labels, p.tolist(), strict=True)) for name, labels, p in parts}

    def sample(self, n_rows: int, *, sweeps: int = SWEEPS, random_state: RandomState = None) -> Table:
        """Draw rows: exact and independent where the network is tractable, elsewhere by Gibbs sampling.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        sweeps : int
            Updates of every variable before a row is drawn (Gibbs sampling).
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness.
        """
        return self.table_of(self.sample_cells(n_rows, sweeps, random_state))

    def sample_cells(self, n_rows: int, sweeps: int = SWEEPS, random_state: RandomState = None) -> Floats:
        """Draw the cells of rows (variables, rows), as :meth:`sample` does."""
        n_rows, sweeps = whole(n_rows, "n_rows", 1), whole(sweeps, "sweeps", 1)
        if self.tree is not None:
            check_possible(self.log_partition)
            rows: Any = exact_rows(self.tree, self.theta, n_rows, random_state)
        else:
            rows = gibbs_rows(self.layout, self.theta, n_rows, sweeps, random_state)
        return np.asarray(rows.T.astype(np.float64))

    def cells(self, data: Any, unseen: str = "error") -> Floats:
        """Return codes of levels and standard scores of numbers (variables, rows) of a table; NaN is missing.

        Parameters
        ----------
        data : table
            Anything that :func:`ibmap.load` reads, with the columns and levels of the model.
        unseen : {"error", "missing"}
            Refuse levels that the model does not know, or treat them as missing.
        """
        return standard_rows(self, data, unseen)

    def labels(self, v: int, cells: Floats) -> list[Any]:
        """Return the values that some cells of a variable stand for; None where there is none."""
        labels = self.levels[v]
        return [None if code != code else labels[int(code)] for code in cells.tolist()]

    def table_of(self, cells: Floats) -> Table:
        """Return a table from cells, as :meth:`cells` makes them."""
        codes = as_codes(cells)
        return Table(codes, self.names, self.levels, self.bin_edges)

    def log_likelihood(self, data: Any, *, unseen: str = "error") -> Floats:
        """Return the log probability of every row; in a row with missing values, of the known ones.

        Numbers count by the density of their standard scores.

        Parameters
        ----------
        data : table
            Anything that :func:`ibmap.load` reads, with the columns and levels of the model.
        unseen : {"error", "missing"}
            Refuse levels that the model does not know, or treat them as missing.
        """
        self._tree("the likelihood")
        return self.log_likelihoods(self.cells(data, unseen))

    def log_likelihoods(self, cells: Floats) -> Floats:
        """Return the log probability of every row of cells."""
        tree = self._tree("the likelihood")
        return log_likelihoods(tree, self.theta, self.log_partition, as_codes(cells))

    def log_pseudo_likelihood(self, data: Any, *, unseen: str = "error") -> Floats:
        """Return Σ_x log p(x | neighbours) of every row, over the values whose neighbours are known, too."""
        return np.asarray(np.nansum(self.log_conditionals(self.cells(data, unseen)), axis=0))

    def log_conditionals(self, cells: Floats) -> Floats:
        """Return log p(x | neighbours) of cells; NaN where one of them is not known."""
        return log_conditionals(self.layout, self.theta, as_codes(cells))

    def impute(self, data: Any, *, unseen: str = "missing", random_state: RandomState = 0) -> Table:
        """Fill missing values with the most probable level, or the median, given the rest of the row.

        Parameters
        ----------
        data : table
            Anything that :func:`ibmap.load` reads, with the columns and levels of the model.
        unseen : {"error", "missing"}
            Refuse levels that the model does not know, or fill them, too.
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness of the Gibbs sampler, for rows with too many missing values.
        """
        return self.table_of(self.filled(self.cells(data, unseen), random_state))

    def impute_draws(
        self,
        data: Any,
        n_draws: int,
        *,
        unseen: str = "missing",
        sweeps: int = DRAW_SWEEPS,
        random_state: RandomState = None,
    ) -> list[Table]:
        """Return tables in which missing values are drawn, given the rest of the row: multiple imputation.

        Estimates differ between these tables by as much as the missing values matter. Parameters are those
        of the model, the same in all draws.

        Parameters
        ----------
        data : table
            Anything that :func:`ibmap.load` reads, with the columns and levels of the model.
        n_draws : int
            Number of tables.
        unseen : {"error", "missing"}
            Refuse levels that the model does not know, or fill them, too.
        sweeps : int
            Updates of every missing value (Gibbs sampling).
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness.
        """
        cells, rng = self.cells(data, unseen), generator(random_state)
        return [self.table_of(self.drawn(cells, sweeps, rng)) for _ in range(whole(n_draws, "n_draws", 1))]

    def filled(self, cells: Floats, random_state: RandomState = 0) -> Floats:
        """Fill missing cells with the most probable value, given the rest of their row."""
        filled = cells.copy()
        for v, rows, shares in missing_cells(self.layout, self.theta, as_codes(cells), random_state):
            filled[v, rows] = shares.argmax(axis=1)
        return filled

    def drawn(self, cells: Floats, sweeps: int = DRAW_SWEEPS, random_state: RandomState = None) -> Floats:
        """Fill missing cells with draws, given the rest of their row."""
        sweeps = whole(sweeps, "sweeps", 1)
        return fill_missing(self.cell_program, cells, sweeps=sweeps, random_state=random_state)

    def predict(self, x: str, data: Any, *, unseen: str = "missing") -> list[Hashable]:
        """Return the most probable level, or the median, of a variable in every row, given all else."""
        i, cells = self.graph.index(x), self.cells(data, unseen)
        cells[i] = np.nan
        return self.labels(i, self.filled(cells)[i])

    def predict_probabilities(self, x: str, data: Any, *, unseen: str = "missing") -> Floats:
        """Return the distribution (rows, levels) of a variable, given the known values of each row."""
        i, codes = self.graph.index(x), as_codes(self.cells(data, unseen))
        codes[i] = -1
        shares = np.empty((codes.shape[1], len(self.levels[i])))
        for v, rows, found in missing_cells(self.layout, self.theta, codes, 0):
            if v == i:
                shares[rows] = found
        return shares


def as_codes(cells: Floats) -> Ints:
    """Return the codes of levels that cells stand for; -1 is missing."""
    return np.where(np.isnan(cells), -1, cells).astype(np.int64)


def _tables(tables: Any, name: str) -> tuple[Floats, ...]:
    """Return log tables, if they are arrays of numbers."""
    try:
        return tuple(_frozen(table) for table in tables)
    except (TypeError, ValueError):
        raise RequestError(f"{name} must be a list of arrays of numbers, not {in_short(tables)}") from None


def _frozen(table: Any) -> Floats:
    copy = np.array(table, dtype=np.float64)
    copy.flags.writeable = False
    return copy


def require_distinct(levels: Iterable[Sequence[Hashable]]) -> None:
    """Refuse levels of a variable that are the same, or nothing that a table can hold."""
    for labels in levels:
        try:
            distinct = len(set(labels)) == len(labels)
        except TypeError:
            distinct = False
        if not distinct:
            raise RequestError(f"levels must be different words or numbers, not {in_short(labels)}")
