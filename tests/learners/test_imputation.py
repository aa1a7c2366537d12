"""Missing values: per question while they are few, imputed where they are many; no score of other rows."""

import os
from pathlib import Path

import numpy as np
import pytest

from ibmap import EvidenceMAP
from ibmap.data import load
from ibmap.data.kinds import note
from ibmap.engines import as_engine
from ibmap.engines.mixed import MixedEngine
from ibmap.errors import DataError, RequestError
from ibmap.learners import evidence_map
from ibmap.learners.imputation import COPIES, completed
from ibmap.results.explain import explain
from tests.learners.test_mixed import EDGES, edges, people

DATA = Path(os.environ.get("IBMAP_DATA", Path(__file__).parents[3] / "shared" / "data")) / "mixed"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="no data folder: set IBMAP_DATA")


def load_any(source, **how):
    return load(source, **{"missing": "auto", "continuous": "auto", **how})


def with_holes(table, share, seed=2):
    rng = np.random.default_rng(seed)
    return {
        name: [None if gone else v for v, gone in zip(values, rng.random(len(values)) < share, strict=True)]
        for name, values in table.items()
    }


def test_the_share_of_missing_cells_decides():
    few, many = (EvidenceMAP().fit(with_holes(people(), share)) for share in (0.03, 0.15))
    assert few.engine_.schema.reading["missing"] == "question"
    assert "each question uses the rows where its columns are known" in note(few.engine_.schema, 0.03)
    assert many.engine_.schema.reading["missing"] == "impute"
    assert "they are imputed five times (seed 0)" in note(many.engine_.schema, 0.15)
    assert many.learned_.n_rows == 600
    assert {frozenset(edge) for edge in EDGES} <= edges(many.learned_)
    forced = EvidenceMAP(missing="impute", imputation_seed=3).fit(with_holes(people(), 0.03))
    assert forced.engine_.schema.reading["imputation_seed"] == 3
    assert EvidenceMAP().fit(people()).engine_.schema.reading["missing"] == "error"
    by_question = EvidenceMAP(missing="question").fit(with_holes(people(), 0.15))
    assert by_question.engine_.filled is None


def test_what_is_known_stays_and_what_is_missing_is_like_the_column():
    data = load_any(with_holes(people(), 0.2), missing="impute")
    engine = completed(as_engine(data))
    assert engine.filled.codes.shape == (COPIES, *data.codes.shape)
    for codes, numbers in zip(*engine.filled, strict=True):
        known = data.codes >= 0
        assert np.array_equal(codes[known], data.codes[known])
        known = ~np.isnan(data.values)
        np.testing.assert_allclose(numbers[known], np.sqrt(2) * engine.columns[0][known], atol=1e-6)
        assert np.isfinite(numbers).all()
        assert codes.min() >= 0
        shares = [np.bincount(row, minlength=3) / len(row) for row in codes]
        of_known = [np.bincount(row[row >= 0], minlength=3) / (row >= 0).sum() for row in data.codes]
        np.testing.assert_allclose(shares, of_known, atol=0.06)
        assert np.abs(numbers.std(axis=1) - 1).max() < 0.1
    assert completed(engine) is engine


def test_imputed_values_depend_on_the_others_of_their_row():
    table = people(1000)
    gone = np.random.default_rng(0).random(1000) < 0.4
    holes = {**table, "weight": np.where(gone, np.nan, table["weight"])}
    engine = completed(as_engine(load_any(holes, missing="impute")))
    place = [name for name in holes if name in ("size", "weight", "age")]
    size, weight = (engine.filled.numbers[:, place.index(name)][:, gone] for name in ("size", "weight"))
    true = np.corrcoef(table["size"][~gone], table["weight"][~gone])[0, 1]
    assert abs(np.corrcoef(size.ravel(), weight.ravel())[0, 1] - true) < 0.1
    other = completed(as_engine(load_any(holes, missing="impute", imputation_seed=1)))
    assert not np.array_equal(engine.filled.numbers, other.filled.numbers)


def test_order_of_rows_columns_and_labels_changes_no_draw():
    table = with_holes(people(300), 0.15)
    rng = np.random.default_rng(1)
    names, rows = rng.permutation(list(table)).tolist(), rng.permutation(300)
    turned = {"none": "z", "much": "y", "little": "x", None: None}
    other = {name: [table[name][i] for i in rows] for name in names}
    other["diet"] = [turned[label] for label in other["diet"]]
    one, two = (completed(as_engine(load_any(t, missing="impute"))) for t in (table, other))
    numbers = [[name for name in t if name in ("size", "weight", "age")] for t in (table, other)]
    places = [numbers[1].index(name) for name in numbers[0]]
    np.testing.assert_allclose(one.filled.numbers[:, :, rows], two.filled.numbers[:, places], atol=1e-5)
    labels = []
    for t, engine in ((table, one), (other, two)):
        k = [name for name in t if name in ("sex", "diet", "risk")].index("diet")
        levels = np.array(engine.schema.levels[list(t).index("diet")])
        labels.append(levels[engine.filled.codes[:, k]])
    assert [[turned[label] for label in copy[rows]] for copy in labels[0]] == labels[1].tolist()
    learned = [evidence_map(engine) for engine in (one, two)]
    assert edges(learned[0]) == edges(learned[1])


def test_replicates_keep_the_copies_of_a_row_together():
    engine = completed(as_engine(load_any(with_holes(people(200), 0.15), missing="impute")))
    drawn = engine.resampled(np.random.default_rng(0), 0.5)
    assert drawn.data.n_rows == 100
    assert drawn.filled.numbers.shape[2] == 100
    known = ~np.isnan(drawn.data.values)
    for numbers in drawn.filled.numbers:
        orders = [np.argsort(row[there]) for row, there in zip(numbers, known, strict=True)]
        values = [row[there] for row, there in zip(drawn.data.values, known, strict=True)]
        assert all((np.diff(v[o]) >= 0).all() for v, o in zip(values, orders, strict=True))


@pytest.mark.parametrize("missing", ["question", "impute"])
def test_history_explanation_and_posteriors_agree(missing):
    net = EvidenceMAP(missing=missing).fit(with_holes(people(500), 0.12))
    agree(net.learned_, net.engine_)


def agree(learned, engine):
    """No pair flips again and again, and flipping a pair now would not raise the score (much)."""
    flips = [frozenset((step.x, step.y)) for step in learned.history]
    assert all(flips.count(pair) <= 3 for pair in flips)
    names = learned.graph.names
    left_out = {frozenset((s.x, s.y)) for s in learned.history if not s.added and s.gain < 0}
    for i, x in enumerate(names):
        for y in names[:i]:
            found = explain(engine, learned, x, y)
            if frozenset((x, y)) not in left_out:
                assert found.gain_of_flip < 1.0, (x, y)
            p = np.exp(found.log_posterior)
            assert (p > 0.5) == found.joined or frozenset((x, y)) in left_out or abs(p - 0.5) < 0.3


@needs_data
@pytest.mark.parametrize("policy", ["testwise", "impute"])
def test_chile_does_not_go_round(policy):
    """TRUST.md, A4: age - income was added and removed twice, and adding it would have gained 51."""
    how = {"missing": policy, "discretize": "quantile", "bins": 4, "continuous": None}
    data = load_any(DATA / "Chile.csv", **how, drop=["column_0"])
    engine = completed(as_engine(data))
    learned = evidence_map(engine)
    agree(learned, engine)
    steps = [s for s in learned.history if {s.x, s.y} == {"age", "income"}]
    assert len(steps) <= 1
    assert explain(engine, learned, "age", "income").gain_of_flip < 0


@needs_data
@pytest.mark.slow
def test_bfi_says_the_same_of_a_pair_everywhere():
    """TRUST.md, A4: not adjacent, posterior .944, independent with P = .78, adding it would gain 17.67."""
    data = load_any(DATA / "bfi.csv", missing="testwise", nominal=["age"])
    engine = as_engine(data)
    learned = evidence_map(engine)
    found = explain(engine, learned, "N5", "O2")
    assert found.joined == (np.exp(found.log_posterior) > 0.5)
    posterior, names = -np.expm1(learned.pair_scores), learned.graph.names
    likely = np.argwhere(np.triu(posterior > 0.5, 1) & ~learned.graph.adjacency).tolist()
    gains = [explain(engine, learned, names[x], names[y]).gain_of_flip for x, y in likely]
    assert min(gains, default=1.0) > 0


def test_counted_scores_refuse_missing_values():
    table = {name: with_holes(people(), 0.1)[name] for name in ("sex", "diet", "risk")}
    for score in ("adaptive", "pairwise", "saturated"):
        with pytest.raises(RequestError, match="scores from different rows cannot be compared"):
            EvidenceMAP(criterion=score, missing="testwise").fit(table)
    assert EvidenceMAP(missing="testwise").fit(table).learned_.provenance.score.name == "mixed"
    with pytest.raises(DataError, match="missing values"):
        EvidenceMAP(missing="error").fit(table)


@pytest.mark.parametrize("seed", [-1, 1.5, True, "x"])
def test_bad_seeds(seed):
    with pytest.raises(RequestError, match="imputation_seed must be"):
        EvidenceMAP(imputation_seed=seed).fit(with_holes(people(50), 0.2))


def test_all_rows_of_a_pair_may_be_missing():
    table = people(120)
    table["size"] = [None if k % 2 else v for k, v in enumerate(table["size"])]
    table["weight"] = [v if k % 2 else None for k, v in enumerate(table["weight"])]
    net = EvidenceMAP().fit(table)
    assert net.engine_.schema.reading["missing"] == "impute"
    assert np.isfinite(net.score_)


def test_engines_without_missing_values_are_left_alone():
    engine = as_engine(load_any(people(60), missing="impute"))
    assert isinstance(engine, MixedEngine)
    assert completed(engine) is engine
