"""How far the fast route may stray from the slow twin: 1e-9 relative, in log space, both ways."""

from typing import Any

import pytest
from hypothesis import strategies as st

from ibmap.engines import Engine
from ibmap.independence import Answers, BayesianTest
from tests.reference.bayesian import Posterior

OPTIONS = st.fixed_dictionaries(
    {
        "prior_counts": st.sampled_from(["ones", "consistent", "jeffreys", "bdeu", 2.5]),
        "combine": st.sampled_from(["slices", "global"]),
        "slices": st.sampled_from(["observed", "all"]),
    }
)
SMALLEST = 1e-300  # below it, a float has lost its digits


def assert_agrees(answers: Answers, t: int, twin: Posterior, rel: float = 1e-9) -> None:
    assert answers.log_independent is not None
    assert answers.log_dependent is not None
    assert answers.log_independent[t] == pytest.approx(twin.log_independent, rel=rel, abs=SMALLEST)
    assert answers.log_dependent[t] == pytest.approx(twin.log_dependent, rel=rel, abs=SMALLEST)


def assert_same(one: Answers, other: Answers, rel: float = 1e-12) -> None:
    assert one.log_independent == pytest.approx(other.log_independent, rel=rel, abs=SMALLEST)
    assert one.log_dependent == pytest.approx(other.log_dependent, rel=rel, abs=SMALLEST)
    assert one.independent.tolist() == other.independent.tolist()


def bound(engine: Engine, **options: Any) -> Any:
    return BayesianTest(**options).bind(engine)
