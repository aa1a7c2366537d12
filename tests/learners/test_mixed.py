"""EvidenceMAP of any table: categories, ordered levels and numbers side by side, with holes."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from ibmap import EvidenceMAP, Graph
from ibmap.data import load
from ibmap.data.kinds import note
from ibmap.data.table import PackedData
from ibmap.engines import Model, as_engine
from ibmap.errors import DataError, DataWarning, SearchWarning
from ibmap.learners import evidence_map
from ibmap.metrics import log_score
from ibmap.results.predictability import predictability

EDGES = {("size", "weight"), ("size", "sex"), ("weight", "diet"), ("size", "diet"), ("age", "risk")}


def people(n_rows: int = 600, seed: int = 0) -> dict[str, Any]:
    """Size by sex, weight by size and diet, and a risk that is highest in the middle ages."""
    rng = np.random.default_rng(seed)
    sex, diet = rng.integers(0, 2, n_rows), rng.integers(0, 3, n_rows)
    size = 170 + 8.0 * sex + 6 * rng.normal(size=n_rows)
    weight = 70 + 0.8 * (size - 172) + np.array([0.0, 6.0, -5.0])[diet] + 5 * rng.normal(size=n_rows)
    age = rng.uniform(20, 80, n_rows)
    risk = rng.random(n_rows) < 1 / (1 + np.exp(0.02 * (age - 50) ** 2 - 3))
    return {
        "size": size,
        "sex": np.array(["f", "m"])[sex],
        "weight": weight,
        "diet": np.array(["none", "much", "little"])[diet],
        "age": age,
        "risk": risk,
    }


def edges(learned: Any) -> set[frozenset[str]]:
    return {frozenset(edge) for edge in learned.graph.edges}


def test_a_frame_of_all_kinds_needs_no_option() -> None:
    net = EvidenceMAP().fit(people())
    assert edges(net.learned_) == {frozenset(edge) for edge in EDGES}
    assert net.engine_.schema.kinds == (*("continuous", "nominal") * 2, "continuous", "nominal")
    said = {
        frozenset(edge): net.learned_.with_effects(net.engine_).effects.in_short(e)
        for e, edge in enumerate(net.graph_.edges)
    }
    assert said[frozenset(("size", "weight"))].startswith("r +0.")
    assert said[frozenset(("weight", "diet"))].startswith("differs by")
    assert "per SD" in said[frozenset(("size", "sex"))]
    assert "where age is" in net.explain("age", "risk").words()
    assert net.explain("size", "sex").means[0][0] > 200
    assert log_score(net.graph_, net.engine_) > log_score(Graph(net.graph_.names), net.engine_) + 0.05


def test_a_peak_is_told_as_one_and_never_as_no_effect() -> None:
    rng = np.random.default_rng(0)
    dose = rng.normal(50, 10, 500)
    response = rng.normal(0, 2, 500) - (dose - 50) ** 2 / 50
    net = EvidenceMAP().fit({"dose": dose, "response": response, "x": rng.normal(size=500)})
    assert net.graph_.edges == (("dose", "response"),)
    effects = net.learned_.with_effects(net.engine_).effects
    assert effects.in_short(0).startswith("curved, strength 0.")
    assert effects.strength[0] > 0.6
    assert effects.sign[0] == 0
    words = net.explain("dose", "response").words()
    assert "response is highest where dose is 0.0" in words
    assert "rise together" not in words
    shares = predictability(net.engine_, net.graph_)
    assert shares[1] > 0.4 > 0.1 > shares[2]


def test_units_labels_rows_and_order_of_columns_change_nothing() -> None:
    table = people()
    rng = np.random.default_rng(1)
    names, rows = rng.permutation(list(table)).tolist(), rng.permutation(600)
    other = {name: np.asarray(table[name])[rows] for name in names}
    other["size"] = np.exp(other["size"] / 30)
    other["weight"] = other["weight"] / 1000 - 7
    other["diet"] = np.array([{"none": "z", "much": "y", "little": "x"}[label] for label in other["diet"]])
    one, two = evidence_map(load(table, continuous="auto")), evidence_map(load(other, continuous="auto"))
    assert edges(one) == edges(two)
    places = [two.graph.names.index(name) for name in one.graph.names]
    assert two.pair_scores is not None
    np.testing.assert_allclose(one.pair_scores, two.pair_scores[np.ix_(places, places)], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("share", [0.03, 0.15])
def test_holes_are_no_obstacle(share: float) -> None:
    rng = np.random.default_rng(2)
    table = {
        name: [None if gone else value for value, gone in zip(values, rng.random(2000) < share, strict=True)]
        for name, values in people(2000).items()
    }
    net = EvidenceMAP().fit(table)
    assert {frozenset(edge) for edge in EDGES} <= edges(net.learned_)
    assert net.engine_.schema.has_missing
    with pytest.raises(DataError, match="missing values"):
        EvidenceMAP(missing="error").fit(table)


def test_levels_with_holes_are_learned_from_the_rows_that_answer() -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 2, 500)
    b = np.where(rng.random(500) < 0.1, 1 - a, a)
    table = {
        "a": [None if gone else str(v) for v, gone in zip(a, rng.random(500) < 0.1, strict=True)],
        "b": [str(v) for v in b],
        "c": [str(v) for v in rng.integers(0, 3, 500)],
    }
    net = EvidenceMAP().fit(table)
    assert net.graph_.edges == (("a", "b"),)
    assert net.learned_.provenance.score.name == "mixed"  # type: ignore[union-attr]


def test_kinds_are_chosen_by_what_a_column_holds() -> None:
    rng = np.random.default_rng(4)
    n = 60
    table = {
        "words": ["a", "b"] * 30,
        "few": [1, 2, 3] * 20,
        "two": [0.5, 2.5] * 30,
        "grades": [1.0, 1.3, 1.7] * 20,
        "many": rng.integers(0, 1000, n),
        "real": rng.normal(size=n),
    }
    data = load(table, continuous="auto")
    assert data.schema.kinds == (*("nominal",) * 3, "ordinal", "continuous", "continuous")
    assert note(data.schema).startswith(
        "'many', 'real' are numeric; 'grades' is ordinal; 'words', 'few', 'two'"
    )
    forced = load(table, continuous=["few"], nominal=["grades"])
    assert forced.schema.kinds[1:4] == ("continuous", "nominal", "nominal")
    assert data.undecided == ("few",)
    few = load({name: table[name] for name in ("words", "few")}, continuous="auto")
    assert isinstance(few, PackedData)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ([1.5, np.inf, 2.5, 3.5] * 5, "infinite"),
        ([1 + 2j] * 20, "Complex data not supported"),
    ],
)
def test_columns_that_cannot_be_used_are_named(column: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        EvidenceMAP().fit({"x": column, "y": np.arange(20) * 1.1, "z": ["a", "b"] * 10})


def test_odd_columns_have_answers() -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(size=200)
    table = {
        "x": x,
        "copy": x * 2 + 1,
        "large": 1e9 * (x + rng.normal(size=200)),
        "tiny": 1e-310 * rng.normal(size=200),
        "same": [2.5] * 200,
        "word": ["a", "b"] * 100,
    }
    table["id"] = [f"row {i}" for i in range(200)]
    table["when"] = np.array(["2020-01-01"] * 200, "datetime64[D]")
    with (
        pytest.warns(SearchWarning, match="x and copy are the same in all 200 rows"),
        pytest.warns(DataWarning) as said,
    ):
        net = EvidenceMAP().fit(table)
    assert np.isfinite(net.score_)
    assert net.graph_.has_edge("x", "copy")
    assert net.graph_.names == ("x", "copy", "large", "tiny", "word")
    words = [str(one.message) for one in said if one.category is DataWarning]
    assert [name in text for name, text in zip(("when", "id", "same"), words, strict=True)] == [True] * 3
    assert [text for text in net.learned_.warnings if "left out" in text] == words
    with pytest.raises(DataError, match="holds no numbers"):
        load(table, continuous=["word"])


def test_interactions_are_found_beside_numbers_and_missing_values() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(2, size=(2, 600))
    either = (a ^ b) ^ (rng.random(600) < 0.1)
    size = rng.normal(size=600) + a
    words = {"a": a, "b": b, "either": either}
    table: dict[str, Any] = {name: np.where(codes, "yes", "no") for name, codes in words.items()}
    table["b"] = np.where(rng.random(600) < 0.05, None, table["b"])
    found = EvidenceMAP().fit({**table, "size": size}).graph_
    assert set(found.edges) >= {("a", "either"), ("b", "either"), ("a", "size")}


def test_threads_of_python_may_ask_at_the_same_time() -> None:
    engine = as_engine(load(people(), continuous="auto"))
    blankets = [sorted({(x + 1) % 6, (x + 2) % 6}) for x in range(6)]

    def ask(_: int) -> Any:
        return [part.tolist() for part in engine.rows(Model("mixed"), range(6), blankets)]

    expected = ask(0)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(ask, range(60)))
