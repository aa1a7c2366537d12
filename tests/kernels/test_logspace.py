"""exp, log1p, log-gamma and their kin against forty decimal digits."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

from ibmap.independence.base import log_one_minus_exp as array_log_one_minus_exp
from ibmap.kernels import logspace
from ibmap.kernels.jit import kernel


def one_argument(function: Callable[[float], float]) -> Callable[[float], float]:
    return kernel(lambda value: function(value))


def two_arguments(function: Callable[[float, int], float]) -> Callable[[float, int], float]:
    return kernel(lambda value, n: function(value, n))


class kernels:  # noqa: N801
    """What kernels call, called from Python."""

    exp, log1p, softplus = map(one_argument, (logspace.exp, logspace.log1p, logspace.softplus))
    log1p_of_share, log_one_minus_exp = map(
        one_argument, (logspace.log1p_of_share, logspace.log_one_minus_exp)
    )
    log_rising = two_arguments(logspace.log_rising)


EPS = float(np.finfo(float).eps)
NEGATIVE = [0.0, *(-np.logspace(-320, 2.85, 700)).tolist(), -707.9, *np.linspace(-708, 0, 400).tolist()]
POSITIVE = [0.0, *np.logspace(-300, 250, 900).tolist(), *np.linspace(0, 4, 500).tolist()]


def exactly(function: Callable[[Decimal], Decimal], value: float) -> float:
    with localcontext(Context(prec=40, Emin=-99999, Emax=99999)):
        return float(function(Decimal(value)))


def long_log1p(value: float) -> float:
    with localcontext(Context(prec=700, Emin=-99999, Emax=99999)):
        short = Context(prec=40, Emin=-99999, Emax=99999)
        if abs(value) < 1e-25:  # log(1 + m) = m - m²/2 + ...
            return float(Decimal(value) - Decimal(value) ** 2 / 2)
        return float(short.ln(short.create_decimal(Decimal(value) + 1) if value < 1e30 else Decimal(value)))


def test_exp() -> None:
    for value in NEGATIVE:
        assert kernels.exp(value) == pytest.approx(exactly(Decimal.exp, value), rel=4 * EPS, abs=1e-307)
    assert kernels.exp(-750.0) == kernels.exp(-1e9) == kernels.exp(-math.inf) == 0.0
    assert kernels.exp(0.0) == 1.0


def test_log1p() -> None:
    for value in POSITIVE:
        expected = pytest.approx(long_log1p(value), rel=4 * EPS, abs=1e-307)
        assert kernels.log1p(value) == expected
        assert value > 1 or kernels.log1p_of_share(value) == expected


def test_softplus() -> None:
    for t in [*NEGATIVE, *(-value for value in NEGATIVE)]:
        e = exactly(Decimal.exp, -abs(t))
        expected = max(t, 0.0) + (e - e * e / 2 if e < 1e-9 else long_log1p(e))
        assert kernels.softplus(t) == pytest.approx(expected, rel=4 * EPS, abs=1e-306)
    assert kernels.softplus(-1e6) == 0.0
    assert kernels.softplus(1e6) == 1e6
    assert kernels.softplus(-math.inf) == 0.0


def log_rising_exactly(a: float, n: int) -> float:
    with localcontext(Context(prec=60, Emin=-999999, Emax=999999)):
        product = Decimal(1)
        for i in range(n):
            product *= Decimal(a) + i
        return float(product.ln())


SIZES = [0, 1, 2, 3, 10, 63, 64, 65, 66, 100, 500, 5000]


@pytest.mark.parametrize("a", [1 / 144, 1 / 12, 0.25, 0.5, 1.0, 2.0, 2.5, 12.0, 144.0, 1728.0])
def test_log_rising_of_ordinary_tables(a: float) -> None:
    for n in SIZES:
        assert kernels.log_rising(a, n) == pytest.approx(log_rising_exactly(a, n), rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("a", [1e-6, 1e-3, 1e5, 1e6, 9e6])
def test_log_rising_of_thousands_of_levels_keeps_ten_digits_after_the_point(a: float) -> None:
    # an error of d is a relative error of a posterior near certainty: 1e-9 is all that may be lost
    for n in SIZES:
        assert kernels.log_rising(a, n) == pytest.approx(log_rising_exactly(a, n), rel=1e-14, abs=3e-10)


def test_log_one_minus_exp_at_both_ends() -> None:
    logs = [-x for x in np.logspace(-300, 2.8, 900).tolist()] + [-math.log(2), -0.6931, -0.6932]
    for value in logs:
        if value > -1e-25:
            expected = math.log(-value)
        else:
            with localcontext(Context(prec=400, Emin=-99999, Emax=99999)):
                inside = 1 - Context(prec=360, Emin=-99999, Emax=99999).exp(Decimal(value))
                expected = float(Context(prec=340, Emin=-99999, Emax=99999).ln(inside))
        assert kernels.log_one_minus_exp(value) == pytest.approx(expected, rel=8 * EPS, abs=1e-306)
        assert array_log_one_minus_exp(np.array([value]))[0] == pytest.approx(
            expected, rel=8 * EPS, abs=1e-306
        )
