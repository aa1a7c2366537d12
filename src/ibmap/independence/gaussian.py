"""Tests of continuous variables: partial correlations, a Bayes factor in closed form, and Fisher's z.

All they need is a correlation matrix and the number of rows. With r the partial correlation of x and y given
z, and m = rows - 1 - |z|, the data about the pair are the scatter matrix m [[1, r], [r, 1]]. Dependence: its
covariance has an inverse Wishart prior with 3 degrees of freedom, under which correlations are uniform.
Independence: the two variances have the inverse gamma priors that are its margins.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ibmap import _checks
from ibmap._types import Bools, Floats, Ints
from ibmap.engines import Engine
from ibmap.engines.moments import Moments, gaussian_moments
from ibmap.independence.base import Answers, BoundTest, Parameters, log_one_minus_exp
from ibmap.independence.bayesian import log_prior_of

SINGULAR = 1e-9  #: share of a variance that is left, below which a variable follows from what is given
MOST_NUMBERS = 1 << 16  #: of matrices of correlations that are inverted together
DEGREES = 3.0  #: of freedom, of the inverse Wishart prior


class GaussianTest(Parameters):
    """Posterior probability that two numbers are independent given others, by linear regressions.

    Parameters
    ----------
    prior : float or array of shape (n_variables, n_variables)
        Prior probability of independence: one for all pairs, or one for each.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines.mixed import MixedEngine
    >>> x = np.random.default_rng(0).normal(size=(2, 100))
    >>> engine = MixedEngine(load({"a": x[0], "b": x[0] + x[1]}, continuous="all"))
    >>> GaussianTest().bind(engine).fixed(0, np.array([1]), np.array([], int)).independent
    array([False])
    """

    has_posteriors = continuous = True

    def __init__(self, prior: float | ArrayLike = 0.5) -> None:
        self.prior = prior

    @property
    def name(self) -> str:
        """The name, with its options."""
        shown = f"{self.prior:g}" if isinstance(self.prior, int | float) else "per pair"
        return "gaussian" if shown == "0.5" else f"gaussian(prior={shown})"

    def bind(self, engine: Engine) -> "BoundGaussian":
        """Bind the test to an engine of continuous variables."""
        yes = log_prior_of(self.prior, engine.schema.n_variables)
        return BoundGaussian(gaussian_moments(engine), _by_evidence, log_one_minus_exp(yes) - yes)


class FisherZTest(Parameters):
    """Fisher's z: a partial correlation is zero if z = atanh(r) √(m - 2) is small.

    Parameters
    ----------
    alpha : float
        Significance level: variables count as independent if the p-value exceeds it.

    Examples
    --------
    >>> FisherZTest().name
    'fisher-z(alpha=0.05)'
    """

    has_posteriors, continuous = False, True

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = alpha

    @property
    def name(self) -> str:
        """The name, with its options."""
        return f"fisher-z(alpha={self.alpha})"

    def bind(self, engine: Engine) -> "BoundGaussian":
        """Bind the test to an engine of continuous variables."""
        from scipy.special import ndtr

        _checks.between(self.alpha, "alpha", 0, 1)

        def judge(r: Floats, m: Floats, odds: Floats) -> Answers:
            inside = np.clip(np.abs(r), 0.0, 1 - 1e-15)
            z = np.arctanh(inside) * np.sqrt(np.maximum(m - 2, 0.0))
            p = 2 * ndtr(-z)
            return Answers(p > self.alpha, z, statistic=z, p_value=p)

        return BoundGaussian(gaussian_moments(engine), judge, np.zeros((1, 1)))


def _by_evidence(r: Floats, m: Floats, odds: Floats) -> Answers:
    """Answer by the Bayes factor and the prior odds of dependence."""
    evidence = log_bayes_factor(r, m) + odds
    no, yes = -np.logaddexp(0.0, -evidence), -np.logaddexp(0.0, evidence)
    return Answers(evidence <= 0, evidence, log_independent=yes, log_dependent=no)


def log_bayes_factor(r: Floats, m: Floats) -> Floats:
    """Return the log Bayes factor of dependence, from partial correlations and degrees of freedom.

    Examples
    --------
    >>> log_bayes_factor(np.array([0.0, 0.5]), np.array([100.0, 100.0])).round(2)
    array([-2.53, 11.95])
    """
    from scipy.special import gammaln, multigammaln

    m = np.maximum(m, 0.0)
    a = (DEGREES + m) / 2
    joint = -a * np.log((1 + m) ** 2 - (m * r) ** 2) + gammaln(a) + gammaln(a - 0.5) + 0.5 * np.log(np.pi)
    joint = joint - multigammaln(DEGREES / 2, 2)
    b = (DEGREES - 1 + m) / 2
    single = -b * np.log1p(m) + gammaln(b) - gammaln((DEGREES - 1) / 2)
    return np.asarray(joint - 2 * single)


class BoundGaussian(BoundTest):
    """A test of partial correlations, bound to moments; it answers the three shapes of question.

    ``judge`` answers from correlations, degrees of freedom and prior odds of dependence, one entry each.
    """

    def __init__(
        self, moments: Moments, judge: Callable[[Floats, Floats, Floats], Answers], odds: Floats
    ) -> None:
        self._correlation, self._judge, self._odds = moments.correlation, judge, odds
        self._n_rows = moments.n_rows

    def _answers(self, r: Floats, size: int, xs: int | Ints, ys: Ints) -> Answers:
        odds = self._odds[0] if len(self._odds) == 1 else self._odds[xs, ys]
        return self._judge(r, np.full(len(r), float(self._n_rows - 1 - size)), odds)

    def fixed(self, x: int, ys: Ints, given: Ints) -> Answers:
        """Test x against each of many ys, one conditioning set."""
        ys, given = np.asarray(ys, np.int64), np.asarray(given, np.int64)
        return self._answers(partial_correlations(self._correlation, x, ys, given), len(given), x, ys)

    def round_robin(self, x: int, members: Ints) -> Answers:
        """Test x against each member, given the other members."""
        members = np.asarray(members, np.int64)
        all_of = np.append(members, x)
        inverse = inverse_of(self._correlation[np.ix_(all_of, all_of)])
        return self._answers(_from_precision(inverse)[:-1, -1], max(len(members) - 1, 0), x, members)

    def each(self, xs: Ints, ys: Ints, given: Ints, sizes: Ints) -> Bools:
        """Decide about pairs; conditioning sets of one size together, some at a time."""
        out = np.empty(len(xs), np.bool_)
        for size in np.unique(sizes).tolist():
            same, at_once = np.flatnonzero(sizes == size), max(1, MOST_NUMBERS // (size + 2) ** 2)
            for first in range(0, len(same), at_once):
                some = same[first : first + at_once]
                places = np.column_stack([xs[some], ys[some], given[some, :size]])
                inverse = inverse_of(self._correlation[places[:, :, None], places[:, None, :]])
                r = _from_precision(inverse)[:, 0, 1]
                out[some] = self._answers(r, size, xs[some], ys[some]).independent
        return out


def partial_correlations(correlation: Floats, x: int, ys: Ints, given: Ints) -> Floats:
    """Return the correlations of x with each y given others; 0 where one of the two follows from them."""
    left, left_x, left_y = correlation[x, ys], 1.0, np.ones(len(ys))
    if len(given):
        inverse = inverse_of(correlation[np.ix_(given, given)])
        weights = inverse @ correlation[given, x]
        to_ys = correlation[np.ix_(given, ys)]
        left = left - weights @ to_ys
        left_x = 1.0 - float(weights @ correlation[given, x])
        left_y = 1.0 - np.einsum("ky,ky->y", to_ys, inverse @ to_ys)
    known = (left_x > SINGULAR) & (left_y > SINGULAR)
    scale = np.sqrt(np.where(known, left_x * left_y, 1.0))
    return np.asarray(np.where(known, np.clip(left / scale, -1.0, 1.0), 0.0))


def partial_correlation(engine: Engine, x: int, y: int, given: Ints) -> float:
    """Return the correlation of two continuous variables given others."""
    ys, others = np.array([y]), np.asarray(given, np.int64)
    return float(partial_correlations(gaussian_moments(engine).correlation, x, ys, others)[0])


def inverse_of(matrices: Floats) -> Floats:
    """Return inverses of correlation matrices; of singular ones, those of matrices next to them."""
    size = matrices.shape[-1]
    return np.asarray(np.linalg.inv(matrices + SINGULAR * np.eye(size)))


def _from_precision(inverse: Floats) -> Floats:
    """Return partial correlations, each pair given all others, from inverse correlation matrices."""
    spread = np.sqrt(np.maximum(np.diagonal(inverse, axis1=-2, axis2=-1), 1e-300))
    return np.asarray(np.clip(-inverse / (spread[..., :, None] * spread[..., None, :]), -1.0, 1.0))
