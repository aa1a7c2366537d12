"""A Markov network of levels and numbers: a homogeneous conditional Gaussian."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._checks import is_number, mapping, whole
from ibmap._random import RandomState, generator
from ibmap._text import in_short
from ibmap._types import Bools, Floats, Ints
from ibmap.data import Table
from ibmap.data.schema import CONTINUOUS
from ibmap.engines import Engine
from ibmap.engines.mixed import MixedEngine
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.model.coding import code_of, standard_rows
from ibmap.model.conditioning import known_fields, part_around
from ibmap.model.fitting import DIRECTED, LIKELIHOOD, PSEUDO, by, graph_for, missing_values_in
from ibmap.model.gaussian_part import LOG_2PI, Collapsed, GaussianPart
from ibmap.model.junction_tree import JunctionTree, tree_of
from ibmap.model.layout import Layout
from ibmap.model.likelihood import log_weights
from ibmap.model.markov_network import MarkovNetwork, as_codes
from ibmap.model.missing_mixed import missing_mixed
from ibmap.model.mixed_fitting import Parameters, fit_mixed, fit_numbers, precision_of
from ibmap.model.number_answer import Mixture, NumberAnswer, number_answer
from ibmap.model.query import SAMPLES, Answer, marginal
from ibmap.model.sampling import exact_rows, gibbs_rows
from ibmap.model.scales import Scale, labels_of
from ibmap.synthetic.gibbs import SWEEPS


@dataclass(frozen=True, eq=False, repr=False)
class MixedNetwork(MarkovNetwork):
    """A network in which some variables are numbers; :meth:`ibmap.MarkovNetwork.fit` makes one.

    log p = Σ_i field_i(x_i) + Σ_ij factor_ij(x_i, x_j) - log Z over levels, plus, of a number z in standard
    scores, z times what the levels around it say, less ½ zᵀKz.

    Parameters
    ----------
    levels : sequence of tuples
        The labels of each variable; of a number ``()``.
    fields, factors : sequence of arrays
        As in :class:`MarkovNetwork`. The field of a number is its slope and its precision, K_jj; a factor has
        one entry along a number: shape (levels, 1), or (1, 1), which is -K_ij.
    scales : mapping of str to Scale
        How standard scores become values, for every number.
    ordinal : tuple of str
        The variables whose levels have an order.
    straight : tuple of (str, str)
        Edges whose effect is curved in the data, and linear in this model.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> coin = np.repeat(["no", "yes"], 500)
    >>> days = rng.normal(20, 2, size=1000) - 3 * (coin == "yes")
    >>> data = load({"treated": coin, "days": days}, continuous="auto")
    >>> network = MarkovNetwork.fit(Graph(data.names, [("treated", "days")]), data)
    >>> network
    MixedNetwork(2 variables, 1 edge, fitted by pseudo-likelihood)
    >>> answer = network.query("days", {"treated": "yes"})
    >>> round(answer.mean), answer.method
    (17, 'exact')
    """

    scales: Mapping[str, Scale] = field(default_factory=dict)
    ordinal: tuple[str, ...] = ()
    straight: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "scales", mapping(self.scales, "scales"))
        object.__setattr__(self, "ordinal", tuple(self.ordinal))
        object.__setattr__(self, "straight", tuple((x, y) for x, y in self.straight))
        numbers = [name for name, labels in zip(self.names, self.levels, strict=True) if not labels]
        if not numbers or list(self.scales) != numbers or self.interactions:
            raise RequestError("a mixed model has a scale for every number, and no interactions")
        if not all(isinstance(scale, Scale) for scale in self.scales.values()):
            raise RequestError("scales must be Scale objects by name")
        if not all(np.isfinite(table).all() for table in (*self.fields, *self.factors)):
            raise RequestError("the parameters of a mixed model must be finite")
        k = self.gaussian.precision
        if not (np.diagonal(k) > 0).all() or np.linalg.eigvalsh(k)[0] <= 0:
            raise RequestError("the precisions of the numbers must be a positive definite matrix")

    def _shapes(self, sizes: list[int]) -> tuple[list[int], list[int]]:
        """Return the length of every field, and of a factor along every variable."""
        return [size or 2 for size in sizes], [size or 1 for size in sizes]

    @cached_property
    def is_number(self) -> Bools:
        """Which variables are numbers."""
        return np.array([not labels for labels in self.levels], bool)

    @cached_property
    def _place(self) -> Ints:
        """The place of every variable among the numbers, or among the variables with levels."""
        return np.where(self.is_number, np.cumsum(self.is_number), np.cumsum(~self.is_number)) - 1

    @cached_property
    def layout(self) -> Layout:
        """Where the parameters of the variables with levels are in ``gaussian.theta``."""
        return self.gaussian.layout

    @cached_property
    def theta(self) -> Floats:
        """All parameters in one array."""
        return np.concatenate([np.empty(0), *self.fields, *(table.ravel() for table in self.factors)])

    @cached_property
    def gaussian(self) -> GaussianPart:
        """The parameters as arrays: of levels, of numbers, and of both."""
        place, numbers = self._place, self.is_number
        coded = np.flatnonzero(~numbers)
        sizes = np.array([len(self.levels[v]) for v in coded.tolist()], np.int64)
        pairs, factors = self.graph.pairs.tolist(), self.factors
        among = [(place[i], place[j]) for i, j in pairs if not (numbers[i] or numbers[j])]
        graph = Graph.from_pairs(
            np.array(among, np.int64).reshape(-1, 2), [self.names[v] for v in coded.tolist()]
        )
        layout = Layout(graph, sizes)
        tables = [f for (i, j), f in zip(pairs, factors, strict=True) if not (numbers[i] or numbers[j])]
        theta = layout.flat([self.fields[v] for v in coded.tolist()], tables)
        shift = np.zeros((int(layout.field_start[-1]), int(numbers.sum())))
        for (i, j), factor in zip(pairs, factors, strict=True):
            if numbers[i] != numbers[j]:
                level, number = (j, i) if numbers[i] else (i, j)
                start = layout.field_start[place[level]]
                shift[start : start + len(self.levels[level]), place[number]] = factor.ravel()
        slope = np.array([self.fields[v][0] for v in np.flatnonzero(numbers).tolist()])
        k = precision_of(self.graph, numbers, Parameters(list(self.fields), list(factors)))
        return GaussianPart(layout, theta, shift, slope, k)

    @cached_property
    def _alone(self) -> Collapsed:
        """The levels when no number is known."""
        nothing = np.zeros(len(self.gaussian.slope), bool)
        return self.gaussian.collapsed(nothing, np.empty((0, 1)))

    @cached_property
    def tree(self) -> JunctionTree | None:
        """The junction tree of the levels when no number is known; None if it would be too large."""
        return tree_of(self._alone.layout)

    @cached_property
    def log_partition(self) -> float:
        """The logarithm of the integral of all weights."""
        found = self._tree("the log partition function").log_partition(self._alone.theta(0))
        return found + float(self._alone.constant[0])

    @property
    def terms_in_words(self) -> str:
        """What the model leaves out, if anything."""
        some = [f"{x} - {y}" for x, y in self.straight[:3]]
        more = f" and {len(self.straight) - 3:,} more" if len(self.straight) > 3 else ""
        said = f"with linear effects (curved in the table: {', '.join(some)}{more})"
        return said if some else ""

    def query(  # type: ignore[override]
        self, x: str, given: Mapping[str, Hashable] | None = None, *, random_state: RandomState = 0
    ) -> Answer | NumberAnswer:
        """Return the distribution of a variable, given values of others.

        Unknown numbers are integrated out, which leaves a model of levels; the answer is exact if that is
        small. The distribution of a number is a mixture of normal ones, over the levels.

        Parameters
        ----------
        x : str
            A variable.
        given : mapping
            Values by name; numbers in their units.
        random_state : int, numpy.random.Generator or None
            Seed or source of randomness of the sampler.
        """
        i, row = self.graph.index(x), self._known(mapping({} if given is None else given, "given"))
        if not np.isnan(row[i]):
            raise RequestError(f"variable {x!r} is both asked about and given")
        numbers = self.is_number
        known = ~np.isnan(row[numbers])
        rest = self.gaussian.collapsed(known, row[numbers][known][:, None])
        codes = as_codes(row[~numbers])
        said = {
            self.names[v]: self.labels(v, row[v : v + 1])[0] for v in np.flatnonzero(~np.isnan(row)).tolist()
        }
        place = int(self._place[i])
        if numbers[i]:
            at = place - int(known[:place].sum())
            mixture, sampled = _mixture(rest, at, codes, random_state)
            return number_answer(x, said, self.scales[x], mixture, sampled, self.terms_in_words)
        evidence = {v: int(code) for v, code in enumerate(codes.tolist()) if code >= 0}
        tree = tree_of(rest.layout)
        shares, errors = marginal(tree, rest.layout, rest.theta(0), place, evidence, random_state)
        found = dict(zip(self.levels[i], shares.tolist(), strict=True))
        bars = None if errors is None else dict(zip(self.levels[i], errors.tolist(), strict=True))
        return Answer(x, said, found, bars, self.terms_in_words)

    def _known(self, given: Mapping[str, Hashable]) -> Floats:
        """Return one row that knows what is given."""
        row = np.full(len(self.names), np.nan)
        for name, value in given.items():
            v = self.graph.index(name)
            if self.is_number[v]:
                row[v] = self.scales[name].scores(np.array([_number(name, value)]))[0]
            else:
                row[v] = code_of(name, self.levels[v], value)
        return row

    def marginals(self) -> dict[str, Any]:
        """Return the distribution of every variable: shares by level, and an answer for a number."""
        self._tree("the set of all marginals")
        return {name: dict(a) if isinstance(a := self.query(name), Answer) else a for name in self.names}

    def sample_cells(self, n_rows: int, sweeps: int = SWEEPS, random_state: RandomState = None) -> Floats:
        """Draw the cells of rows: of levels as :meth:`sample` does, of numbers given these."""
        n_rows, sweeps, rng = whole(n_rows, "n_rows", 1), whole(sweeps, "sweeps", 1), generator(random_state)
        layout, theta = self._alone.layout, self._alone.theta(0)
        if not len(layout.levels):
            codes: Any = np.empty((0, n_rows), np.int64)
        elif self.tree is not None:
            codes = exact_rows(self.tree, theta, n_rows, rng).T
        else:
            codes = gibbs_rows(layout, theta, n_rows, sweeps, rng).T.astype(np.int64)
        noise = np.linalg.cholesky(self._alone.spread) @ rng.normal(size=(len(self.scales), n_rows))
        rows = np.empty((len(self.names), n_rows))
        rows[~self.is_number] = codes
        rows[self.is_number] = self._alone.spread @ self.gaussian.slopes(codes) + noise
        return rows

    def cells(self, data: Any, unseen: str = "error") -> Floats:
        """Return codes of levels and standard scores of numbers (variables, rows) of a table."""
        return standard_rows(self, data, unseen, self.scales)

    def table_of(self, cells: Floats) -> Table:
        """Return a table from cells."""
        scored = zip(self.scales.values(), cells[self.is_number], strict=True)
        values = [scale.values_at(row) for scale, row in scored]
        codes = as_codes(cells[~self.is_number]).astype(np.int16)
        numbers = "ranks" if any(scale.values for scale in self.scales.values()) else "values"
        about: dict[str, Any] = {"ordinal": self.ordinal, "values": np.array(values), "numbers": numbers}
        return Table(codes, self.names, self.levels, **about)

    def labels(self, v: int, cells: Floats) -> list[Any]:
        """Return the values that some cells of a variable stand for; None where there is none."""
        return labels_of(self.scales[self.names[v]], cells) if self.is_number[v] else super().labels(v, cells)

    def log_likelihoods(self, cells: Floats) -> Floats:
        """Return the log density of every row of cells."""
        rows = cells
        known = ~np.isnan(rows[self.is_number])
        found = np.empty(rows.shape[1])
        patterns, of_row = np.unique(known, axis=1, return_inverse=True)
        for k, pattern in enumerate(patterns.T):
            some = np.flatnonzero(of_row.ravel() == k)
            rest = self.gaussian.collapsed(pattern, rows[self.is_number][:, some][pattern])
            codes = as_codes(rows[~self.is_number][:, some])
            found[some] = _log_weights(rest, codes) + rest.constant
        return found - self.log_partition

    def log_conditionals(self, cells: Floats, partly: bool = False) -> Floats:
        """Return log p(x | neighbours) of cells; NaN where one of them is not known, or x, if ``partly``."""
        rows = cells
        found = np.full(rows.shape, np.nan)
        for v, is_a_number in enumerate(self.is_number.tolist()):
            needed = [v] if partly else [v, *self.graph.neighbours(v).tolist()]
            asked = ~np.isnan(rows[needed]).any(axis=0)
            pulls, mine = self.pulls(v, rows[:, asked]), rows[v, asked]
            if is_a_number:
                k = self.fields[v][1]
                found[v, asked] = 0.5 * (np.log(k) - LOG_2PI) - 0.5 * k * (mine - pulls[0] / k) ** 2
            else:
                top = pulls.max(axis=0, initial=-np.inf)
                sums = top + np.log(np.exp(pulls - top).sum(axis=0))
                found[v, asked] = pulls[mine.astype(np.int64), np.arange(len(mine))] - sums
        return found

    @cached_property
    def around(self) -> list[list[tuple[int, Floats]]]:
        """For every variable its neighbours, each with a table whose last dimension is the variable's own."""
        found: list[list[tuple[int, Floats]]] = [[] for _ in self.names]
        for (i, j), factor in zip(self.graph.pairs.tolist(), self.factors, strict=True):
            found[i].append((j, factor.T))
            found[j].append((i, factor))
        return found

    def edges_among(self, variables: Sequence[int]) -> list[tuple[int, int, Floats]]:
        """Return the edges that join some variables, with their factors."""
        some = set(variables)
        pairs = zip(self.graph.pairs.tolist(), self.factors, strict=True)
        return [(i, j, factor) for (i, j), factor in pairs if i in some and j in some]

    def pulls(self, v: int, rows: Floats) -> Floats:
        """Return the log weights (levels, rows) of a variable, of a number its slope (1, rows), given others.

        Neighbours that a row does not know (NaN) add nothing.
        """
        own = self.fields[v][:1] if self.is_number[v] else self.fields[v]
        found = np.repeat(own[:, None], rows.shape[1], axis=1)
        for u, table in self.around[v]:
            known = ~np.isnan(rows[u])
            other = np.nan_to_num(rows[u])
            said = table.T * other if self.is_number[u] else table[other.astype(np.int64)].T
            found += np.where(known, said, 0.0)
        return found

    def filled(self, cells: Floats, random_state: RandomState = 0) -> Floats:
        """Fill missing cells with the most probable level, or the median."""
        filled = cells.copy()
        for v, where, found in missing_mixed(self, cells, random_state):
            filled[v, where] = found if self.is_number[v] else found.argmax(axis=1)
        return filled

    def predict_probabilities(self, x: str, data: Any, *, unseen: str = "missing") -> Floats:
        """Return the distribution (rows, levels) of a variable, given the known values of each row."""
        i, rows = self.graph.index(x), self.cells(data, unseen)
        if self.is_number[i]:
            raise RequestError(f"{x!r} is a number, which has no levels: use predict")
        rows[i] = np.nan
        shares = np.empty((rows.shape[1], len(self.levels[i])))
        for v, where, found in missing_mixed(self, rows, 0):
            if v == i:
                shares[where] = found
        return shares


def mixed_network(
    source: Any,
    engine: Engine,
    method: str,
    interactions: Any,
    effect_variance: float,
    pseudo_rows: float,
    max_iter: int,
) -> MixedNetwork:
    """Return the model of a table with numbers behind an engine; see :meth:`ibmap.MarkovNetwork.fit`."""
    engine = engine.row_by_row
    if method == DIRECTED or (method == LIKELIHOOD and set(engine.schema.kinds) != {CONTINUOUS}):
        raise RequestError(f"{method} does not work for categories and numbers together: pass method='auto'")
    data, schema, graph = engine.data, engine.schema, graph_for(source, engine.schema.names)
    if interactions is not None and list(interactions):
        raise RequestError("a model with numbers has no interactions: leave them out")
    if not schema.n_rows:
        raise RequestError("a model needs rows, and this table has none")
    scales = scales_of(data)
    rows = standard_cells(data, scales)
    is_exact = data.is_number.all() and not np.isnan(rows).any() and method != PSEUDO
    if method == LIKELIHOOD and not is_exact:
        raise RequestError("maximum likelihood needs complete rows: pass method='pseudo-likelihood'")
    if is_exact:
        found = fit_numbers(graph, rows, pseudo_rows=pseudo_rows, max_iter=max_iter)
    else:
        about: dict[str, Any] = {"effect_variance": effect_variance, "max_iter": max_iter}
        found = fit_mixed(graph, rows, schema.cardinalities, schema.ordinal, **about)
    return MixedNetwork(
        graph,
        schema.levels,
        tuple(found.fields),
        tuple(found.factors),
        fitted_by=by(engine, LIKELIHOOD if is_exact else PSEUDO),
        missing_values=missing_values_in(schema),
        scales=scales,
        ordinal=data.ordinal,
        straight=_bent(engine, graph),
    )


def scales_of(data: Table) -> dict[str, Scale]:
    """Return the scale of every number of a table."""
    numbers = np.array(data.names)[data.is_number].tolist()
    return {name: Scale.of(row, data.numbers) for name, row in zip(numbers, data.values, strict=True)}


def standard_cells(data: Table, scales: Mapping[str, Scale]) -> Floats:
    """Return the codes and standard scores (variables, rows) of a table; NaN is missing."""
    rows = np.full((len(data.names), data.n_rows), np.nan)
    rows[~data.is_number] = np.where(data.codes < 0, np.nan, data.codes)
    for v, scale, row in zip(np.flatnonzero(data.is_number), scales.values(), data.values, strict=True):
        rows[v] = scale.scores(row)
    return rows


def _bent(engine: MixedEngine, graph: Graph) -> tuple[tuple[str, str], ...]:
    """Return the edges of which the evidence of one end has the square of a number."""
    found = set()
    for x in range(graph.n_variables):
        members = np.asarray(graph.neighbours(x), np.int64)
        found |= {(min(x, y), max(x, y)) for y in engine.curved(x, members).tolist()}
    return tuple((graph.names[i], graph.names[j]) for i, j in sorted(found))


def _number(name: str, value: Any) -> float:
    """Return a number that is given, perhaps as text."""
    try:
        found = float(value) if isinstance(value, str) else value
    except ValueError:
        found = None
    if not is_number(found) or not -np.inf < found < np.inf:
        raise RequestError(f"{name!r} is a number, and what is given is none: {in_short(value)}")
    return float(found)


def _mixture(rest: Collapsed, at: int, codes: Ints, random_state: RandomState) -> tuple[Mixture, bool]:
    """Return shares, means and deviation of the mixture that a number has, and whether rows were sampled."""
    layout, theta = rest.layout, rest.theta(0)
    turned, start = rest.shift @ rest.spread[:, at], layout.field_start.tolist()
    mean, deviation = float(rest.spread[at] @ rest.slope[:, 0]), float(np.sqrt(rest.spread[at, at]))
    asked = []
    for v, code in enumerate(codes.tolist()):
        if code >= 0:
            mean += float(turned[start[v] + code])
        elif np.ptp(turned[start[v] : start[v + 1]]) > 0:
            asked.append(v)
    if not asked:
        return (np.ones(1), np.array([mean]), deviation), False
    part = part_around(layout, theta, asked[0], codes >= 0)
    inner = np.searchsorted(part.variables, asked).tolist()
    own, tree = part.parameters(codes[:, None])[0], tree_of(part.layout)
    parts = [turned[start[v] : start[v + 1]] for v in asked]
    if tree is None:
        rows = gibbs_rows(part.layout, own, SAMPLES, random_state=random_state)
        found = sum(values[rows[:, v]] for v, values in zip(inner, parts, strict=True))
        return (np.full(SAMPLES, 1 / SAMPLES), np.asarray(mean + found), deviation), True
    shares = tree.joint(own, inner)
    means = np.full(shares.shape, mean)
    for axis, values in enumerate(parts):
        means += values.reshape([-1 if k == axis else 1 for k in range(len(parts))])
    return (shares.ravel(), means.ravel(), deviation), False


def _log_weights(rest: Collapsed, codes: Ints) -> Floats:
    """Return the log weight of the levels that rows know, the others added up."""
    layout, start = rest.layout, rest.layout.field_start.tolist()
    none = np.zeros(start[-1])
    found = log_weights(layout, np.concatenate([none, rest.tables]), codes)
    places = np.arange(codes.shape[1])
    for v, row in enumerate(codes):
        found += np.where(row >= 0, rest.fields[places, start[v] + np.maximum(row, 0)], 0.0)
    if (gaps := np.flatnonzero((codes < 0).any(axis=0))).size:
        tree = tree_of(layout)
        if tree is None:
            raise RequestError("the likelihood of rows with missing values is not tractable in this network")
        for row in gaps.tolist():
            found[row] = tree.log_partition(known_fields(layout, rest.theta(row), codes[:, row]))
    return found
