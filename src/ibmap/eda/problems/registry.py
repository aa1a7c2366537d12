"""Problems by name."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from ibmap import _checks
from ibmap._random import RandomState
from ibmap.eda.problems.blocks import leading_ones, onemax, royal_road, trap
from ibmap.eda.problems.problem import Problem
from ibmap.eda.problems.random import max_cut, nk_landscape, spin_glass
from ibmap.errors import RequestError

PROBLEMS: dict[str, Callable[..., Problem]] = {
    "onemax": onemax,
    "royal-road": royal_road,
    "leading-ones": leading_ones,
    "trap": trap,
    "nk": nk_landscape,
    "spin-glass": spin_glass,
    "max-cut": max_cut,
}


def problem_names() -> tuple[str, ...]:
    """Return the names."""
    return tuple(PROBLEMS)


def make_problem(name: str, n: int, /, *, random_state: RandomState = None, **options: Any) -> Problem:
    """Make a problem of n bits; ``random_state`` draws what is random about it, if anything.

    Examples
    --------
    >>> make_problem("royal-road", 16, gamma=8)
    Problem(royal-road, 16 bits, 56 interactions, optimum 16)
    >>> make_problem("onemax", 16, gamma=8)
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: onemax has no option 'gamma'
    """
    _checks.known(name, "problem", PROBLEMS)
    make = PROBLEMS[name]
    parameters = signature(make).parameters
    known = [option for option in parameters if option not in ("n", "random_state")]
    for option in options:
        if option not in known:
            hint = f"; there is {', '.join(known)}" if known else ""
            raise RequestError(f"{name} has no option {option!r}{hint}")
    seeded = {"random_state": random_state} if "random_state" in parameters else {}
    return make(n, **seeded, **options)
