"""Parameters of a network of levels and numbers: homogeneous conditional Gaussians.

log p(x, z) = Σ fields(x) + Σ tables(x_u, x_v) + Σ_j z_j (h_j + Σ_v shift_vj(x_v)) - ½ zᵀKz + const, for
levels x and standard scores z. Given its neighbours a number is normal, a variable with levels log-linear;
both conditionals have the same coupling of an edge. All conditionals are fitted at once (pseudo-likelihood),
with the blocks of the evidence that learns: contrasts of levels, scores of ordered ones, z / √2 of a number;
and with its prior, by which a coupling has precision 4 / variance, of a number in units of what is left of
it. Numbers alone have the covariance of maximum likelihood.
"""

import warnings
from typing import NamedTuple

import numpy as np

from ibmap._types import Bools, Floats, Ints
from ibmap.criteria.coding import coding, contrasts
from ibmap.errors import DataWarning
from ibmap.graph import Graph
from ibmap.model.pseudo_likelihood import CLOSE, warn_of

VAGUE = 0.02  #: precision of the prior of a field, as in the evidence
LEAST_VARIANCE = 1e-6  #: of a number given its neighbours, as a share: copies have none
LEAST_EIGENVALUE = 1e-3  #: of K with ones on its diagonal: K must be positive definite
ENOUGH = 1e-10  #: by which a covariance may still change


class Parameters(NamedTuple):
    """The parameters of a model, as :class:`ibmap.model.MixedNetwork` holds them."""

    fields: list[Floats]
    factors: list[Floats]


def fit_mixed(
    graph: Graph,
    rows: Floats,
    sizes: Ints,
    ordinal: Bools,
    *,
    effect_variance: float = 4.0,
    max_iter: int = 1000,
) -> Parameters:
    """Return the parameters with the highest penalised pseudo-likelihood.

    Parameters
    ----------
    graph : Graph
        The structure.
    rows : ndarray of shape (variables, rows)
        Codes of levels and standard scores of numbers; NaN is missing. A row that does not know a variable or
        one of its neighbours is left out of that conditional.
    sizes : ndarray of int
        Number of levels; 0 of numbers.
    ordinal : ndarray of bool
        Which levels have an order: those of more than two enter by their scores.
    effect_variance : float
        Prior variance of a log odds ratio of two fair coins.
    max_iter : int
        Iterations, at most; a fit that has not converged warns.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> coin = np.repeat([0.0, 1.0], 500)
    >>> rows = np.stack([coin, rng.normal(size=1000) + coin - 0.5])
    >>> found = fit_mixed(Graph("ab", [("a", "b")]), rows, np.array([2, 0]), np.zeros(2, bool))
    >>> low, high = found.factors[0][:, 0]
    >>> float(round((high - low) / found.fields[1][1], 1))
    1.0
    """
    from scipy.optimize import minimize

    problem = _Problem(graph, rows, sizes, ordinal, 4.0 / effect_variance)
    start = problem.start()
    scale = 1 / np.sqrt(problem.information(start))

    def goal(steps: Floats) -> tuple[float, Floats]:
        value, slope = problem.value_and_slope(start + scale * steps)
        return -value, -scale * slope

    about = {"maxiter": max_iter, "maxfun": 2 * max_iter, "gtol": CLOSE, "ftol": 1e-13, "maxcor": 20}
    found = minimize(goal, np.zeros(len(start)), jac=True, method="L-BFGS-B", options=about)
    if len(start) and (left := float(np.abs(found.jac).max())) > 100 * CLOSE:
        warn_of(found.nit, left)
    return problem.parameters(start + scale * found.x)


class _Problem:
    """The penalised pseudo-likelihood, as a function of one array: own parameters by variable, then
    couplings.

    A variable with levels has contrasts of its field; a number h, and the logarithm of its precision.
    """

    def __init__(self, graph: Graph, rows: Floats, sizes: Ints, ordinal: Bools, precision: float) -> None:
        self.graph, self.precision, self.n_rows = graph, precision, rows.shape[1]
        self.is_number = sizes == 0
        self.codings = [
            np.full((1, 1), np.sqrt(0.5)) if r == 0 else coding(r, 1 if ordered and r > 2 else r - 1)
            for r, ordered in zip(sizes.tolist(), ordinal.tolist(), strict=True)
        ]
        known = ~np.isnan(rows)
        self.rows = np.where(known, rows, 0.0)
        self.codes = [row.astype(np.int64) for row in self.rows]
        self.columns = [
            (code * row if is_number else code[codes].T) * here
            for code, row, codes, is_number, here in zip(
                self.codings, self.rows, self.codes, self.is_number.tolist(), known, strict=True
            )
        ]
        self.asked = [
            known[v] & known[graph.neighbours(v)].all(axis=0) for v in range(len(rows))
        ]  # the rows of each conditional
        own = [2 if r == 0 else max(r - 1, 0) for r in sizes.tolist()]
        self.own_start = np.concatenate([[0], np.cumsum(own, dtype=np.int64)])
        shapes = [(self.codings[i].shape[1], self.codings[j].shape[1]) for i, j in graph.pairs.tolist()]
        ends = np.cumsum([self.own_start[-1], *(a * b for a, b in shapes)]).tolist()
        self.edges = [
            (i, j, slice(first, last), shape)
            for (i, j), first, last, shape in zip(graph.pairs.tolist(), ends, ends[1:], shapes, strict=False)
        ]
        self.size = int(ends[-1])

    def own(self, theta: Floats, v: int) -> Floats:
        """Return a variable's own parameters, as a view."""
        return theta[self.own_start[v] : self.own_start[v + 1]]

    def start(self) -> Floats:
        """Return where to begin: log shares of levels, and the regressions of numbers on their neighbours."""
        theta, ends = np.zeros(self.size), np.zeros(self.size)
        for v, is_number in enumerate(self.is_number.tolist()):
            asked = self.asked[v]
            if not is_number:
                r = len(self.codings[v])
                shares = np.bincount(self.codes[v][asked], minlength=r) + 0.5
                self.own(theta, v)[:] = contrasts(r).T @ np.log(shares / shares.sum())
                continue
            around = [edge for edge in self.edges if v in edge[:2]] if len(self.graph.neighbours(v)) else []
            others = [self.columns[j if i == v else i][:, asked] for i, j, _, _ in around]
            design, z = np.concatenate([np.ones((1, asked.sum())), *others]), self.rows[v][asked]
            ridge = np.full(len(design), 2 * self.precision)
            ridge[0] = 1e-9
            slopes = np.linalg.solve(design @ design.T + np.diag(ridge), design @ z)
            left = float(((z - slopes @ design) ** 2).sum() + 1) / (asked.sum() + 1)
            precision = 1 / max(left, LEAST_VARIANCE)
            self.own(theta, v)[:] = precision * slopes[0], np.log(precision)
            at = 1
            for i, j, where, shape in around:
                size = shape[0] * shape[1]
                both = self.is_number[i] and self.is_number[j]
                theta[where] += np.sqrt(2) * precision * slopes[at : at + size] / (2 if both else 1)
                ends[where] += 1
                at += size
        return theta

    def information(self, theta: Floats) -> Floats:
        """Return roughly what the rows say about each parameter alone."""
        found = np.zeros(self.size)
        weights = []  # of a row, by which the block of a neighbour counts
        for v, is_number in enumerate(self.is_number.tolist()):
            n_asked = self.asked[v].sum() + 1.0
            if is_number:
                k = np.exp(self.own(theta, v)[1])
                self.own(found, v)[:] = n_asked / k, n_asked / 2
                weights.append(n_asked / (2 * k))
            else:
                self.own(found, v)[:] = VAGUE + n_asked / len(self.codings[v])
                weights.append(n_asked / len(self.codings[v]))
        spreads = [column.var(axis=1) for column in self.columns]
        for i, j, where, _ in self.edges:
            said = weights[i] * spreads[j][None, :] + weights[j] * spreads[i][:, None]
            found[where] = (said + self.precision * self._share(theta, i, j)).ravel()
        return found

    def _share(self, theta: Floats, i: int, j: int) -> float:
        """Return by what the prior precision of a coupling is multiplied: what is left of its numbers."""
        left = [np.exp(-self.own(theta, v)[1]) for v in (i, j) if self.is_number[v]]
        return float(np.mean(left)) if left else 1.0

    def value_and_slope(self, theta: Floats) -> tuple[float, Floats]:
        """Return the penalised log pseudo-likelihood, and its slope."""
        slope, value = np.zeros(self.size), 0.0
        blocks = [theta[where].reshape(shape) for _, _, where, shape in self.edges]
        sums = [np.zeros((code.shape[1], self.n_rows)) for code in self.codings]
        for (i, j, _, _), block in zip(self.edges, blocks, strict=True):
            sums[i] += block @ self.columns[j]
            sums[j] += block.T @ self.columns[i]
        pulls = []
        for v, is_number in enumerate(self.is_number.tolist()):
            of_variable = self._number if is_number else self._levels
            found, pull = of_variable(theta, v, sums[v], self.own(slope, v))
            value += found
            pulls.append(pull)
        for (i, j, where, _), block in zip(self.edges, blocks, strict=True):
            pull = pulls[i] @ self.columns[j].T + self.columns[i] @ pulls[j].T
            precision = self.precision * self._share(theta, i, j)
            size = float((block**2).sum())
            value -= precision * size / 2
            slope[where] = (pull - precision * block).ravel()
            ends = [v for v in (i, j) if self.is_number[v]]
            for v in ends:
                left = np.exp(-self.own(theta, v)[1])
                self.own(slope, v)[1] += self.precision * size * left / (2 * len(ends))
        return value, slope

    def _levels(self, theta: Floats, v: int, sums: Floats, slope: Floats) -> tuple[float, Floats]:
        """Return the log pseudo-likelihood of levels, and its slope by what their neighbours add up to."""
        code, asked, own = self.codings[v], self.asked[v], self.own(theta, v)
        basis = contrasts(len(code))
        logs = (basis @ own)[:, None] + code @ sums
        logs -= logs.max(axis=0)
        shares = np.exp(logs)
        whole = shares.sum(axis=0)
        places = np.arange(self.n_rows)
        value = float((logs[self.codes[v], places] - np.log(whole))[asked].sum())
        left = -shares / whole
        left[self.codes[v], places] += 1.0
        left *= asked
        slope[:] = basis.T @ left.sum(axis=1) - VAGUE * own
        return value - VAGUE * float(own @ own) / 2, code.T @ left

    def _number(self, theta: Floats, v: int, sums: Floats, slope: Floats) -> tuple[float, Floats]:
        """Return the same of a number."""
        asked, z = self.asked[v], self.rows[v]
        h, log_k = self.own(theta, v)
        k, n_asked = np.exp(log_k), int(asked.sum())
        pull = h + sums[0] * self.codings[v][0, 0]
        left = np.where(asked, z - pull / k, 0.0)
        least = LEAST_VARIANCE * (n_asked + 1)
        value = 0.5 * ((n_asked + 1) * log_k - k * (float(left @ left) + least))
        turned = k * float(((z**2 - (pull / k) ** 2) * asked).sum() + least)
        slope[:] = left.sum(), 0.5 * (n_asked + 1 - turned)
        return value, left[None, :] * self.codings[v][0, 0]

    def parameters(self, theta: Floats) -> Parameters:
        """Return tables: fields, of numbers h and the precision; factors of levels, shifts, and minus K."""
        fields = [
            np.array([self.own(theta, v)[0], np.exp(self.own(theta, v)[1])])
            if is_number
            else contrasts(len(self.codings[v])) @ self.own(theta, v)
            for v, is_number in enumerate(self.is_number.tolist())
        ]
        factors = [
            self.codings[i] @ theta[where].reshape(shape) @ self.codings[j].T
            for i, j, where, shape in self.edges
        ]
        return positive(self.graph, self.is_number, Parameters(fields, factors))


def precision_of(graph: Graph, is_number: Bools, parameters: Parameters) -> Floats:
    """Return K, of the numbers in their order."""
    place = np.cumsum(is_number) - 1
    found = np.diag([parameters.fields[v][1] for v in np.flatnonzero(is_number).tolist()])
    for (i, j), factor in zip(graph.pairs.tolist(), parameters.factors, strict=True):
        if is_number[i] and is_number[j]:
            found[place[i], place[j]] = found[place[j], place[i]] = -factor[0, 0]
    return found.reshape(is_number.sum(), is_number.sum())


def positive(graph: Graph, is_number: Bools, parameters: Parameters) -> Parameters:
    """Return parameters whose K is positive definite: too large couplings of numbers are made smaller."""
    if not is_number.any():
        return parameters
    k = precision_of(graph, is_number, parameters)
    scale = 1 / np.sqrt(np.diagonal(k))
    least = float(np.linalg.eigvalsh(k * scale * scale[:, None])[0])
    if least >= LEAST_EIGENVALUE:
        return parameters
    share = (1 - LEAST_EIGENVALUE) / (1 - least)
    if share < 0.99:
        warnings.warn(
            f"effects between numbers were shrunk to {share:.0%}, as no normal distribution has all of them; "
            f"drop columns that nearly follow from others",
            DataWarning,
            stacklevel=6,
        )
    factors = [
        factor * share if is_number[i] and is_number[j] else factor
        for (i, j), factor in zip(graph.pairs.tolist(), parameters.factors, strict=True)
    ]
    return Parameters(parameters.fields, factors)


def fit_numbers(graph: Graph, rows: Floats, *, pseudo_rows: float = 1.0, max_iter: int = 1000) -> Parameters:
    """Return the parameters of numbers alone, of which no value is missing, by maximum likelihood.

    The covariances of variables that are joined are those of the table, and K is zero elsewhere; so many
    rows are added in which all are independent. Each variable is regressed on its neighbours again and again,
    with the covariances as they are now (Hastie, Tibshirani and Friedman, 2009, algorithm 17.1).

    Examples
    --------
    >>> rows = np.array([[1.0, -1.0, 1.0, -1.0], [1.0, -1.0, -1.0, 1.0], [1.0, -1.0, 1.0, -1.0]])
    >>> found = fit_numbers(Graph("abc", [("a", "c")]), rows, pseudo_rows=1)
    >>> [round(float(field[1]), 2) for field in found.fields], found.factors[0].round(2).tolist()
    ([2.78, 1.0, 2.78], [[2.22]])
    """
    n, n_rows = rows.shape
    total = n_rows + pseudo_rows
    means = rows.mean(axis=1)
    centred = rows - means[:, None]
    covariance = (centred @ centred.T + pseudo_rows * np.eye(n)) / total
    covariance += LEAST_VARIANCE * np.eye(n) * (pseudo_rows == 0)
    around = [graph.neighbours(v) for v in range(n)]
    now, slopes = covariance.copy(), [np.zeros(len(some)) for some in around]
    for _ in range(max_iter):
        change = 0.0
        for v, some in enumerate(around):
            slopes[v] = np.linalg.solve(now[np.ix_(some, some)], covariance[some, v])
            others = np.delete(np.arange(n), v)
            found = now[np.ix_(others, some)] @ slopes[v]
            change = max(change, float(np.abs(now[others, v] - found).max(initial=0.0)))
            now[others, v] = now[v, others] = found
        if change < ENOUGH:
            break
    else:
        warn_of(max_iter, change)
    left = [covariance[v, v] - now[v, some] @ slopes[v] for v, some in enumerate(around)]
    fields, factors = [np.array([mean / one, 1 / one]) for mean, one in zip(means, left, strict=True)], []
    for i, j in graph.pairs.tolist():
        there = slopes[i][np.searchsorted(around[i], j)] / left[i]
        back = slopes[j][np.searchsorted(around[j], i)] / left[j]
        factors.append(np.full((1, 1), (there + back) / 2))
        fields[i][0] -= factors[-1][0, 0] * means[j]
        fields[j][0] -= factors[-1][0, 0] * means[i]
    return Parameters(fields, factors)
