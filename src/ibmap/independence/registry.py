"""From what a user says to a test object."""

from collections.abc import Callable

from ibmap._text import in_short
from ibmap.errors import RequestError
from ibmap.independence.base import FunctionTest, IndependenceTest
from ibmap.independence.bayesian import BayesianTest
from ibmap.independence.contingency import ChiSquareTest, GSquareTest, MutualInformationTest
from ibmap.independence.gaussian import FisherZTest, GaussianTest
from ibmap.independence.ordinal import OrdinalEvidenceTest, OrdinalTest

TESTS: dict[str, Callable[..., IndependenceTest]] = {
    "bayesian": BayesianTest,
    "chi-square": ChiSquareTest,
    "g-square": GSquareTest,
    "mutual-information": MutualInformationTest,
    "ordinal": OrdinalTest,
    "ordinal-evidence": OrdinalEvidenceTest,
    "gaussian": GaussianTest,
    "fisher-z": FisherZTest,
}


def as_test(choice: object) -> IndependenceTest:
    """Return the test that is meant: an object, a name, a function of (x, y, given), or None for the default.

    Examples
    --------
    >>> as_test(None).name, as_test("g-square").name
    ('bayesian', 'g-square(alpha=0.05, dof=adjusted)')
    """
    if choice is None:
        return BayesianTest()
    if isinstance(choice, str):
        if choice not in TESTS:
            raise RequestError(f"unknown test {choice!r}; there are {', '.join(TESTS)}")
        return TESTS[choice]()
    if isinstance(choice, IndependenceTest) and not isinstance(choice, type):
        return choice
    if callable(choice) and not isinstance(choice, type):
        return FunctionTest(choice)
    raise RequestError(
        f"{in_short(choice)} is not a test: "
        "give a name, an object with bind(engine), or a function of (x, y, given)"
    )
