"""Tests of ordered levels against their slow twin and SciPy; what learners make of them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ibmap import OrdinalEvidenceTest, OrdinalTest
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.errors import RequestError
from ibmap.learners import gsmn, ibmap_hc
from tests.engines.partitioned import ENGINES, data_of
from tests.reference.contingency import chi_square, g_square
from tests.reference.mantel import mantel
from tests.reference.tables import Codes, categorical_tables, questions

NOTHING = np.array([], dtype=np.int64)


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=30, deadline=None)
@given(
    table=categorical_tables(max_rows=200, max_columns=5, missing=True),
    data=st.data(),
    share=st.sampled_from([0.0, 0.5, 1.0]),
)
def test_statistics_and_posteriors_are_those_of_the_twin(
    engine: Any, table: Codes, data: st.DataObject, share: float
) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    ordinal = [v for v in range(len(cards)) if (v * 7 + 3) % 10 < 10 * share]
    plain = data_of(codes, cards)
    counting = engine(replace(plain, ordinal=tuple(plain.names[v] for v in ordinal)))
    answers = OrdinalTest(alpha=0.1).bind(counting).fixed(x, np.array([y]), np.array(z, int))
    evidence = OrdinalEvidenceTest(prior=0.7).bind(counting).fixed(x, np.array([y]), np.array(z, int))
    found = mantel(codes, cards, ordinal, x, y, z)
    if found is None:
        by_test, by_evidence = (test(codes, cards, x, y, z)[:2] for test in (chi_square, g_square))
    else:
        by_test = by_evidence = found
    statistic, freedom = by_test
    assert answers.statistic[0] == pytest.approx(statistic, rel=1e-7, abs=1e-7)
    p_value = stats.chi2.sf(statistic, freedom) if freedom else 1.0
    assert answers.p_value[0] == pytest.approx(p_value, rel=1e-6, abs=1e-12)
    assert answers.independent[0] == (answers.p_value[0] > 0.1)
    n = int((codes[[x, y, *z]] >= 0).all(axis=0).sum())
    odds = (by_evidence[0] - by_evidence[1] * np.log(max(n, 1))) / 2 + np.log(0.3 / 0.7)
    assert evidence.strength[0] == pytest.approx(odds, rel=1e-7, abs=1e-7)
    assert evidence.log_independent[0] == pytest.approx(-np.logaddexp(0, odds), rel=1e-7, abs=1e-7)


def test_one_slice_is_a_correlation() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(2, 80))
    codes[1] = np.clip(codes[0] + rng.integers(-1, 2, 80), 0, 3)
    data = data_of(codes, [4, 4])
    answers = OrdinalTest().bind(MemoryEngine(replace(data, ordinal=data.names))).fixed(0, [1], NOTHING)
    r = stats.pearsonr(*codes).statistic
    assert answers.statistic[0] == pytest.approx(79 * r**2)


def test_a_reversed_order_is_the_same_and_another_one_is_not() -> None:
    rng = np.random.default_rng(1)
    table = {"a": rng.integers(5, size=300)}
    table["b"] = np.clip(table["a"] + rng.integers(-2, 3, 300), 0, 4)
    found = []
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]):
        engine = MemoryEngine(load(table, ordinal={"a": order, "b": None}))
        found.append(float(OrdinalTest().bind(engine).fixed(0, [1], NOTHING).statistic[0]))  # type: ignore[index]
    assert found[0] == pytest.approx(found[1])
    assert found[2] < found[0] / 2


def test_learners_take_them() -> None:
    rng = np.random.default_rng(3)
    latent = rng.normal(size=(500, 4))
    latent[:, 1] += latent[:, 0]
    latent[:, 2] -= latent[:, 1]
    table = {
        name: np.digitize(column, [-1.2, -0.4, 0.4, 1.2])
        for name, column in zip("abcd", latent.T, strict=True)
    }
    data = load(table, ordinal=list("abcd"))
    chain = (("a", "b"), ("b", "c"))
    assert ibmap_hc(data, OrdinalEvidenceTest()).graph.edges == chain
    assert set(gsmn(data, OrdinalTest(alpha=0.001)).graph.edges) >= set(chain)


@pytest.mark.parametrize("test", [OrdinalTest(alpha=2.0), OrdinalEvidenceTest(prior=1.0)])
def test_options_that_make_no_sense_are_refused(test: Any) -> None:
    with pytest.raises(RequestError, match="between 0 and 1"):
        test.bind(MemoryEngine(data_of(np.zeros((2, 3), int), [2, 2])))


def test_tables_that_say_nothing_are_independent() -> None:
    data = data_of(np.array([[0, 0, 0], [0, 1, 2], [2, 1, 0]]), [1, 3, 3])
    engine = MemoryEngine(replace(data, ordinal=data.names))
    for test in (OrdinalTest(), OrdinalEvidenceTest()):
        assert test.bind(engine).fixed(0, [1, 2], NOTHING).independent.all()
        assert test.bind(engine).fixed(1, [2], np.array([0])).independent.shape == (1,)
