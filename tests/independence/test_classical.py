"""χ², G² and mutual information against their slow twins and SciPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ibmap import ChiSquareTest, GSquareTest, MutualInformationTest
from ibmap.engines import MemoryEngine
from tests.engines.partitioned import HiddenEngine, PartitionedEngine, data_of
from tests.reference.contingency import chi_square, g_square, mutual_information
from tests.reference.tables import Codes, categorical_tables, questions, random_table

TWINS = {ChiSquareTest: chi_square, GSquareTest: g_square}
CLOSE = {"rel": 1e-9, "abs": 1e-9}


@pytest.mark.parametrize("kind", [ChiSquareTest, GSquareTest])
@settings(max_examples=40)
@given(
    table=categorical_tables(max_rows=400, max_columns=6, missing=True),
    data=st.data(),
    dof=st.sampled_from(["adjusted", "full"]),
)
def test_statistics_and_p_values_agree_with_the_twins(
    kind: type[ChiSquareTest], table: Codes, data: st.DataObject, dof: str
) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    members = [y, *z]
    for engine in (MemoryEngine, HiddenEngine, PartitionedEngine):
        test = kind(dof=dof, alpha=0.1).bind(engine(data_of(codes, cards)))
        one, robin = test.fixed(x, np.array([y]), np.array(z, int)), test.round_robin(x, np.array(members))
        for t, (answers, v) in enumerate([(one, y), *((robin, member) for member in members)]):
            at = max(t - 1, 0)
            twin = TWINS[kind](codes, cards, x, v, [w for w in members if w != v], dof)
            assert answers.statistic[at] == pytest.approx(twin.statistic, **CLOSE)
            assert answers.p_value[at] == pytest.approx(twin.p_value, rel=1e-7, abs=1e-9)
            assert answers.independent[at] == (answers.p_value[at] > 0.1)
            assert answers.log_independent is None


@settings(max_examples=40)
@given(table=categorical_tables(max_rows=400, max_columns=6, missing=True), data=st.data())
def test_mutual_information_agrees_with_the_twin(table: Codes, data: st.DataObject) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    answers = MutualInformationTest(threshold=0.05).bind(MemoryEngine(data_of(codes, cards))).fixed(x, [y], z)
    assert answers.statistic[0] == pytest.approx(mutual_information(codes, cards, x, y, z), **CLOSE)
    assert answers.independent[0] == (answers.statistic[0] < 0.05)
    assert answers.strength[0] == answers.statistic[0]


@pytest.mark.parametrize("seed", range(5))
def test_scipy_says_the_same(seed: int) -> None:
    codes, cards = random_table(500, 2, 6, 0.0, seed=[0, 1, 3, 5, 8][seed])
    counts = MemoryEngine(data_of(codes, cards))
    table = np.zeros(cards, int)
    np.add.at(table, tuple(codes), 1)
    for kind, name in ((ChiSquareTest, "pearson"), (GSquareTest, "log-likelihood")):
        answers = kind().bind(counts).fixed(0, [1], [])
        scipy = stats.chi2_contingency(table, correction=False, lambda_=name)
        assert answers.statistic[0] == pytest.approx(scipy.statistic, **CLOSE)
        assert answers.p_value[0] == pytest.approx(scipy.pvalue, rel=1e-7)


def test_without_degrees_of_freedom_nothing_is_refuted() -> None:
    codes, cards = np.array([[0, 0, 0, 0], [0, 1, 2, 0], [0, 1, 2, 3]]), [2, 3, 4]
    answers = ChiSquareTest().bind(MemoryEngine(data_of(codes, cards))).fixed(0, [1, 2], [])
    assert answers.p_value.tolist() == [1.0, 1.0]
    assert answers.independent.all()


def test_the_first_separating_subset_is_found_by_any_test() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=600)
    b, c = a ^ (rng.random((2, 600)) < 0.1)
    counts = MemoryEngine(data_of(np.array([b, c, rng.integers(2, size=600), a]), [2] * 4))
    for test in (ChiSquareTest(), GSquareTest(), MutualInformationTest()):
        assert test.bind(counts).all_subsets(0, 1, np.array([2, 3])).tolist() == [3]
        assert test.bind(counts).all_subsets(0, 1, np.array([2])) is None
        assert test.bind(counts).all_subsets(0, 1, np.array([2, 3]), 0) is None
