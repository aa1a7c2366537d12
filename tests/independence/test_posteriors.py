"""Posteriors agree with the slow twin: every option, every shape of question, every compiled route."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.engines import MemoryEngine
from tests.engines.partitioned import HiddenEngine, PartitionedEngine, data_of, with_wide_columns
from tests.independence.agreement import OPTIONS, assert_agrees, assert_same, bound
from tests.reference.bayesian import log_posterior
from tests.reference.score import bayesian_test
from tests.reference.tables import Codes, categorical_tables, questions, random_table

PRIORS = st.sampled_from([0.5, 0.1, 0.999])
Options = dict[str, Any]


def prior_matrix(n: int, seed: int = 0) -> np.ndarray:
    upper = np.triu(np.random.default_rng(seed).uniform(0.02, 0.98, size=(n, n)), 1)
    return upper + upper.T + np.diag(np.full(n, 0.5))


@settings(max_examples=70)
@given(
    table=categorical_tables(max_rows=400, max_columns=12, missing=True),
    data=st.data(),
    options=OPTIONS,
    prior=PRIORS,
)
def test_fixed_agrees_with_the_twin(
    table: Codes, data: st.DataObject, options: Options, prior: float
) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    ys = [v for v in range(len(cards)) if v != x and v not in z]
    test = bound(MemoryEngine(data_of(codes, cards)), prior=prior, **options)
    many, one = test.fixed(x, ys, z), test.fixed(x, [y], z)  # blocks of variables, and one by one
    for t, v in enumerate(ys):
        twin = log_posterior(codes, cards, x, v, z, prior=prior, **options)
        assert_agrees(many, t, twin)
        if v == y:
            assert_agrees(one, 0, twin)
    assert many.strength == pytest.approx(many.log_dependent - many.log_independent)


@settings(max_examples=50)
@given(
    table=categorical_tables(max_rows=400, max_columns=7, missing=True),
    data=st.data(),
    options=OPTIONS,
    prior=PRIORS,
)
def test_round_robin_agrees_with_the_twin(
    table: Codes, data: st.DataObject, options: Options, prior: float
) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    members = [y, *z]
    answers = bound(MemoryEngine(data_of(codes, cards)), prior=prior, **options).round_robin(x, members)
    for t, member in enumerate(members):
        others = [v for v in members if v != member]
        assert_agrees(answers, t, log_posterior(codes, cards, x, member, others, prior=prior, **options))


@settings(max_examples=40)
@given(table=categorical_tables(max_columns=9, missing=True), data=st.data(), options=OPTIONS)
def test_each_pair_may_have_its_own_prior(table: Codes, data: st.DataObject, options: Options) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    prior = prior_matrix(len(cards))
    twin = bayesian_test(codes, cards, prior=prior, **options)
    for counts in (MemoryEngine(data_of(codes, cards)), HiddenEngine(data_of(codes, cards))):
        test = bound(counts, prior=prior, **options)
        ys = [v for v in range(len(cards)) if v != x and v not in z]
        many = test.fixed(x, ys, z)
        for t, v in enumerate(ys):
            assert_agrees(many, t, twin(x, v, z))
        assert_agrees(test.fixed(x, [y], z), 0, twin(x, y, z))
        assert_agrees(test.round_robin(x, [y, *z]), 0, twin(x, y, z))


@settings(max_examples=40)
@given(table=categorical_tables(max_columns=9, missing=True), data=st.data(), options=OPTIONS)
def test_the_engine_changes_nothing(table: Codes, data: st.DataObject, options: Options) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    ys = [v for v in range(len(cards)) if v != x and v not in z]
    here, plain, parts = (
        bound(engine(data_of(codes, cards)), **options)
        for engine in (MemoryEngine, HiddenEngine, PartitionedEngine)
    )
    for ask in (
        lambda test: test.fixed(x, ys, z),
        lambda test: test.fixed(x, [y], z),
        lambda test: test.round_robin(x, [y, *z]),
    ):
        assert_same(ask(plain), ask(here))
        assert_same(ask(parts), ask(plain))


@pytest.mark.parametrize("max_levels", [2, 12])
@pytest.mark.parametrize("n_rows", [1, 64, 5000])
@pytest.mark.parametrize("slices", ["observed", "all"])
def test_seventy_conditioning_columns(n_rows: int, max_levels: int, slices: str) -> None:
    codes, cards = random_table(n_rows, 82, max_levels, 0.0, seed=n_rows)
    z = list(range(70))
    twins = {y: log_posterior(codes, cards, 70, y, z, slices=slices) for y in (71, 72)}
    twins |= {y: log_posterior(codes, cards, 70, y, [v for v in z if v != y], slices=slices) for y in (0, 69)}
    for engine in (MemoryEngine, HiddenEngine):
        test = bound(engine(data_of(codes, cards)), slices=slices)
        assert_agrees(test.fixed(70, [71], z), 0, twins[71])
        many, robin = test.fixed(70, range(71, 82), z), test.round_robin(70, z)
        for answers, t, y in [(many, 0, 71), (many, 1, 72), (robin, 0, 0), (robin, 69, 69)]:
            assert_agrees(answers, t, twins[y])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("options", [{}, {"combine": "global"}, {"slices": "all", "prior_counts": "bdeu"}])
def test_five_thousand_rows(seed: int, options: Options) -> None:
    max_levels, n_given = (2, 12, 5, 2, 12, 3)[seed], (0, 1, 3, 20, 4, 9)[seed]
    codes, cards = random_table(5000, n_given + 6, max_levels, 0.0, seed)
    z, x, ys = list(range(n_given)), n_given, list(range(n_given + 1, n_given + 6))
    test = bound(MemoryEngine(data_of(codes, cards)), **options)
    answers = test.fixed(x, ys, z)
    for t, y in enumerate(ys):
        assert_agrees(answers, t, log_posterior(codes, cards, x, y, z, **options))
    robin = test.round_robin(x, z)
    for t, y in enumerate(z[:3]):
        assert_agrees(robin, t, log_posterior(codes, cards, x, y, z[:t] + z[t + 1 :], **options))


@settings(max_examples=40)
@given(table=categorical_tables(max_columns=9, missing=True), data=st.data(), options=OPTIONS)
def test_x_and_y_may_change_places(table: Codes, data: st.DataObject, options: Options) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    test = bound(MemoryEngine(data_of(codes, cards)), **options)
    assert_same(test.fixed(x, [y], z), test.fixed(y, [x], z))


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("options", [{}, {"combine": "global"}, {"slices": "all", "prior_counts": "bdeu"}])
def test_columns_of_few_and_of_many_levels_side_by_side(missing: float, options: Options) -> None:
    codes, cards = with_wide_columns(random_table(600, 5, 4, missing, seed=3), 33, 40, 500)
    for engine in (MemoryEngine, HiddenEngine):
        test = bound(engine(data_of(codes, cards)), **options)
        for x, z in [(0, []), (5, []), (7, []), (0, [5]), (6, [1, 7]), (1, [0, 5, 6])]:
            ys = [y for y in range(8) if y != x and y not in z]
            many, robin = test.fixed(x, ys, z), test.round_robin(x, [*z, ys[-1]])
            for t, y in enumerate(ys):
                twin = log_posterior(codes, cards, x, y, z, **options)
                assert_agrees(many, t, twin)
            assert_agrees(robin, len(z), twin)


@pytest.mark.parametrize("noise", [0.02, 0.3, 1.0])
def test_a_thousand_slices_of_a_few_rows(noise: float) -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(2, size=(14, 6000))
    codes[11:] = np.where(rng.random((3, 6000)) < noise, codes[11:], codes[10])
    z = list(range(10))
    test = bound(MemoryEngine(data_of(codes, [2] * 14)))
    many, robin = test.fixed(10, [11, 12, 13], z), test.round_robin(10, [*z, 11])
    for t, y in enumerate([11, 12, 13]):
        assert_agrees(many, t, log_posterior(codes, [2] * 14, 10, y, z))
    assert_agrees(robin, 10, log_posterior(codes, [2] * 14, 10, 11, z))


@pytest.mark.parametrize("n_rare", [255, 256, 257, 511, 600])
def test_more_rows_than_a_byte_can_count(n_rare: int) -> None:
    rng = np.random.default_rng(n_rare)  # a level whose few rows lie in all words is added up in bytes
    codes = rng.integers(3, size=(90, 64 * n_rare // 3))
    codes[:2] = 0
    codes[0, rng.permutation(codes.shape[1])[:n_rare]] = 1
    codes[1, np.flatnonzero(codes[0] == 0)[:40]] = 1
    codes[2:, codes[0] == 1] = 1
    cards = [2, 2, *[3] * 88]
    answers = bound(MemoryEngine(data_of(codes, cards))).fixed(0, np.arange(2, 90), [1])
    for t in (0, 40, 87):
        assert_agrees(answers, t, log_posterior(codes, cards, 0, 2 + t, [1]))


def test_more_variables_than_one_block() -> None:
    rng = np.random.default_rng(0)
    cards = [2 + (v % 3) for v in range(700)]
    codes = np.array([rng.integers(n, size=150) for n in cards])
    answers = bound(MemoryEngine(data_of(codes, cards))).fixed(5, np.arange(6, 700), [0, 1])
    for t in [*range(0, 694, 31), 693]:
        assert_agrees(answers, t, log_posterior(codes, cards, 5, 6 + t, [0, 1]))


@pytest.mark.slow
@settings(max_examples=1500)
@given(table=categorical_tables(max_rows=5000, max_columns=12, missing=True), data=st.data(), options=OPTIONS)
def test_many_more_tables_agree_with_the_twin(table: Codes, data: st.DataObject, options: Options) -> None:
    codes, cards = table
    x, y, z = data.draw(questions(len(cards)))
    test = bound(MemoryEngine(data_of(codes, cards)), **options)
    twin = log_posterior(codes, cards, x, y, z, **options)
    rest = [v for v in range(len(cards)) if v not in (x, y, *z)]
    assert_agrees(test.fixed(x, [y], z), 0, twin)
    assert_agrees(test.fixed(x, [y, *rest], z), 0, twin)
    assert_agrees(test.round_robin(x, [y, *z]), 0, twin)
