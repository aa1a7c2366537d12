"""Models of levels and numbers: answers are sums over a grid, and numbers come back in their units."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from ibmap import Graph, MarkovNetwork
from ibmap.data import load
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.model import MixedNetwork, model_of, model_text
from ibmap.model.number_answer import NumberAnswer
from ibmap.model.query import Answer
from ibmap.model.scales import Scale
from tests.reference.mixed_models import log_conditional, log_weight

GRID = np.linspace(-9, 9, 181)
SIZES = [2, 3, 0, 0, 2]
EDGES = [("a", "b"), ("a", "y"), ("b", "z"), ("y", "z"), ("b", "c"), ("c", "z")]


def small(seed=0):
    """A network of three variables with levels and two numbers, whose parameters are drawn."""
    rng, graph = np.random.default_rng(seed), Graph("abyzc", EDGES)
    factors = []
    for i, j in graph.pairs.tolist():
        shape = max(SIZES[i], 1), max(SIZES[j], 1)
        factors.append(np.full((1, 1), 0.6) if shape == (1, 1) else rng.normal(scale=0.7, size=shape))
    fields = [rng.normal(size=r) if r else np.array([rng.normal(), 1.5]) for r in SIZES]
    scales = {"y": Scale(0.0, 1.0, None), "z": Scale(100.0, 15.0, None)}
    levels = [tuple(f"{name}{k}" for k in range(r)) for name, r in zip("abyzc", SIZES, strict=True)]
    return MixedNetwork(graph, tuple(levels), tuple(fields), tuple(factors), scales=scales)


def weights(network, known):
    """The weights on the grid of every configuration of the levels, if it agrees with what is known."""
    free = [GRID if v in (2, 3) else range(r) for v, r in enumerate(SIZES)]
    points = [np.array([known[v]] if v in known else values) for v, values in enumerate(free)]
    found = {}
    for row in product(*(points[v].tolist() for v in (0, 1, 4))):
        y, z = np.meshgrid(points[2], points[3], indexing="ij")
        cells = [row[0], row[1], y, z, row[2]]
        found[row] = np.exp(log_weight(network.graph, network.fields, network.factors, cells, SIZES))
    return found, points


@pytest.mark.parametrize("known", [{}, {2: 0.5}, {4: 1}, {1: 2, 3: -1.0}, {0: 0, 1: 0, 4: 0}])
def test_answers_are_sums_over_the_grid(known):
    network = small()
    found, points = weights(network, known)
    total = sum(table.sum() for table in found.values())
    given = {
        network.names[v]: network.levels[v][value] if SIZES[v] else network.labels(v, np.array([value]))[0]
        for v, value in known.items()
    }
    for place, v in enumerate((0, 1, 4)):
        if v not in known:
            answer = network.query(network.names[v], given)
            shares = [
                sum(t.sum() for row, t in found.items() if row[place] == k) / total for k in range(SIZES[v])
            ]
            assert answer.method == "exact"
            np.testing.assert_allclose(list(answer.values()), shares, atol=1e-9)
    for axis, v in ((0, 2), (1, 3)):
        if v not in known:
            shares = sum(t.sum(axis=1 - axis) for t in found.values()) / total
            mean = float(shares @ points[v])
            spread = np.sqrt(shares @ (points[v] - mean) ** 2)
            scale, answer = network.scales[network.names[v]], network.query(network.names[v], given)
            assert isinstance(answer, NumberAnswer)
            assert answer.method == "exact"
            assert answer.mean == pytest.approx(mean * scale.spread + scale.mean, abs=1e-9)
            assert answer.deviation == pytest.approx(spread * scale.spread)
            below = float(
                np.interp(
                    answer.median, points[v] * scale.spread + scale.mean, np.cumsum(shares) - shares / 2
                )
            )
            assert below == pytest.approx(0.5, abs=2e-3)
            assert sum(share for _, _, share in answer.histogram) > 0.98


def test_log_likelihoods_are_those_of_the_grid():
    network, step = small(), GRID[1] - GRID[0]
    rows = np.array([[1, 2, 0.3, -0.5, 0], [0, 0, np.nan, 0.2, 1], [np.nan, 1, 0.1, np.nan, np.nan]]).T
    total = sum(table.sum() for table in weights(network, {})[0].values()) * step**2
    expected = []
    for row in rows.T:
        known = {v: int(value) if SIZES[v] else value for v, value in enumerate(row) if value == value}
        over = step ** (2 - sum(v in known for v in (2, 3)))
        expected.append(
            np.log(sum(table.sum() for table in weights(network, known)[0].values()) * over / total)
        )
    np.testing.assert_allclose(network.log_likelihoods(rows), expected, atol=1e-8)
    logs = network.log_conditionals(rows)
    for v, size in enumerate(SIZES):
        mine = log_conditional(network.graph, network.fields, network.factors, rows[:, 0], SIZES, v)
        assert logs[v, 0] == pytest.approx(mine), size
    assert np.isnan(logs[0, 1])  # a neighbour of it is missing


def test_missing_cells_are_the_likeliest_level_and_the_median():
    network = small()
    rows = np.array(
        [
            [1, 2, 0.3, -0.5, 0],
            [0, 0, np.nan, 0.2, 1],
            [np.nan, 1, 0.1, np.nan, np.nan],
            [0, 1, np.nan, np.nan, 1],
        ]
    ).T
    filled = network.filled(rows, 0)
    assert (filled[~np.isnan(rows)] == rows[~np.isnan(rows)]).all()
    for r, v in np.argwhere(np.isnan(rows).T).tolist():
        given = {
            network.names[u]: network.labels(u, rows[u : u + 1, r])[0]
            for u in range(5)
            if not np.isnan(rows[u, r])
        }
        answer = network.query(network.names[v], given)
        if isinstance(answer, Answer):
            assert network.levels[v][int(filled[v, r])] == max(answer, key=answer.get)
        else:
            scale = network.scales[network.names[v]]
            assert scale.values_at(filled[v, r]) == pytest.approx(answer.median, abs=1e-3 * scale.spread)


def test_gibbs_answers_are_near_the_exact_ones(monkeypatch):
    network = small()
    exact = network.query("z"), network.query("a")
    monkeypatch.setattr("ibmap.model.mixed_network.tree_of", lambda layout: None)
    monkeypatch.setattr("ibmap.model.query.tree_of", lambda layout: None)
    number, level = network.query("z"), network.query("a")
    assert number.method == level.method == "gibbs"
    assert abs(number.mean - exact[0].mean) < 5 * number.error + 1e-9
    assert number.deviation == pytest.approx(exact[0].deviation, rel=0.05)
    assert number.error < 0.03 * number.deviation
    for name, p in level.items():
        assert abs(p - exact[1][name]) < 5 * level.errors[name] + 1e-9


def test_samples_have_the_moments_of_the_model():
    network = small()
    rows = network.cells(network.sample(40_000, random_state=0))
    for v in (2, 3):
        answer, scale = network.query(network.names[v]), network.scales[network.names[v]]
        assert rows[v].mean() * scale.spread + scale.mean == pytest.approx(
            answer.mean, abs=0.03 * scale.spread
        )
    shares = np.bincount(rows[1].astype(int)) / rows.shape[1]
    np.testing.assert_allclose(shares, list(network.query("b").values()), atol=0.01)
    logs = network.log_likelihood(network.sample(2000, random_state=1))
    again = network.log_likelihood(network.sample(2000, random_state=2))
    assert logs.mean() == pytest.approx(again.mean(), abs=0.15)


def table(rng, n_rows=400):
    sex = rng.choice(["f", "m"], n_rows)
    height = rng.normal(165, 7, n_rows) + 12 * (sex == "m")
    age = rng.integers(18, 80, n_rows)
    zeros = np.where(rng.random(n_rows) < 0.4, 0, np.round(rng.exponential(20, n_rows), 1))
    return {"sex": sex, "height": height.round(1), "age": age, "visits": zeros}


@pytest.fixture(scope="module")
def people():
    columns = table(np.random.default_rng(0))
    data = load(columns, continuous="auto")
    return columns, MarkovNetwork.fit(Graph(data.names, [("sex", "height"), ("age", "visits")]), data)


def test_numbers_come_back_in_their_units(people):
    columns, network = people
    drawn = network.sample(4000, random_state=0)
    height, age, visits = drawn.values
    assert abs(height.mean() - columns["height"].mean()) < 1
    assert (age == age.round()).all()
    assert (age.min(), age.max()) == (18, 79)
    assert abs((visits == 0).mean() - 0.4) < 0.05  # as frequent as in the table
    assert isinstance(network.predict("age", columns)[0], int)
    assert network.query("height", {"sex": "m"}).mean > network.query("height", {"sex": "f"}).mean + 8


def test_tables_with_holes_are_filled(people):
    columns, network = people
    gaps = {name: list(values) for name, values in columns.items()}
    gaps["height"][3], gaps["sex"][3], gaps["age"][5] = None, None, None
    filled = network.impute(gaps)
    assert not filled.schema.has_missing
    assert filled.values[0][4] == columns["height"][4]


@pytest.mark.parametrize("numbers", ["ranks", "values"])
def test_files_keep_the_model(numbers):
    data = load(table(np.random.default_rng(1)), continuous="auto", numbers=numbers)
    network = MarkovNetwork.fit(Graph.complete(data.names), data)
    text = model_text(network)
    again = model_of(text)
    assert isinstance(again, MixedNetwork)
    assert model_text(again) == text
    assert str(again.query("visits", {"sex": "m"})) == str(network.query("visits", {"sex": "m"}))


def test_odd_models_are_refused():
    network = small()
    fields = list(network.fields)
    fields[2] = np.array([0.0, 0.1])  # 0.1 * 1.5 < 0.6²
    with pytest.raises(RequestError, match="positive definite"):
        replace(network, fields=tuple(fields))
    with pytest.raises(RequestError, match="a scale for every number"):
        replace(network, scales={})
    with pytest.raises(RequestError, match="finite"):
        replace(network, fields=(np.array([-np.inf, 0.0]), *network.fields[1:]))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"y": "tall"}, "is a number"),
        ({"y": np.inf}, "is a number"),
        ({"a": "a7"}, "no level"),
        ({"q": 1}, "'q'"),
    ],
)
def test_odd_evidence_is_refused(given, words):
    with pytest.raises(IbmapError, match=words):
        small().query("z", given)


def test_odd_tables_are_refused(people):
    columns, network = people
    with pytest.raises(DataError, match="is a number in the model"):
        network.impute({**columns, "height": ["tall"] * 400})
    with pytest.raises(DataError, match="no column 'age'"):
        network.impute({name: values for name, values in columns.items() if name != "age"})


def test_mixed_models_cannot_be_written_as_tables(people, tmp_path):
    from ibmap.model import to_pgmpy, uai

    for export in (uai.dumps, to_pgmpy):
        with pytest.raises(RequestError, match="numbers"):
            export(people[1])


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"method": "conditional-tables"}, "categories and numbers"),
        ({"method": "maximum-likelihood"}, "categories and numbers"),
        ({"interactions": [("sex", "height", "age")]}, "no interactions"),
    ],
)
def test_fits_that_there_are_not_are_refused(how, words):
    data = load(table(np.random.default_rng(0)), continuous="auto")
    with pytest.raises(RequestError, match=words):
        MarkovNetwork.fit(Graph.complete(data.names), data, **how)


def test_levels_of_large_parts_are_drawn_and_numbers_have_medians_of_draws(monkeypatch):
    network = small()
    rows = np.array([[np.nan, 2, np.nan, -0.5, np.nan], [0, np.nan, 0.3, np.nan, 1]]).T
    exact = {name: network.predict_probabilities(name, network.table_of(rows)) for name in "abc"}
    filled = network.filled(rows, 0)
    monkeypatch.setattr("ibmap.model.missing_mixed.MOST", 0)
    for name, shares in exact.items():
        drawn = network.predict_probabilities(name, network.table_of(rows))
        np.testing.assert_allclose(drawn.sum(axis=1), 1)
        np.testing.assert_allclose(drawn, shares, atol=0.15)
    again = network.filled(rows, 0)
    for v in (2, 3):
        np.testing.assert_allclose(again[v], filled[v], atol=0.3)


@pytest.mark.filterwarnings("ignore::ibmap.errors.DataWarning")
def test_numbers_come_as_text_or_levels_as_well(people):
    columns, network = people
    plain = {name: list(values[:30]) for name, values in columns.items()}
    plain["age"][3] = None
    expected = network.cells(plain)
    assert np.isnan(expected[list(network.names).index("age"), 3])
    others = (
        {**plain, "age": np.array(plain["age"], object)},
        load(plain, ordinal=["age"], continuous=["height", "visits"], missing="testwise"),
        load(plain, ordinal=["age"], continuous=["height", "visits"], missing="category"),
        load(plain, continuous=["age", "height", "visits"], missing="testwise"),
    )
    for other in others:
        np.testing.assert_allclose(network.cells(other), expected)
    with pytest.raises(DataError, match="infinite"):
        network.cells({**columns, "height": [np.inf, *columns["height"][1:]]})


def test_likelihoods_of_rows_with_a_known_first_level_count_it():
    network = small()
    every = network.log_likelihoods(np.array([[0, 0, np.nan, np.nan, 0]]).T)
    total = sum(
        np.exp(network.log_likelihoods(np.array([[a, b, np.nan, np.nan, c]], float).T))[0]
        for a in range(2)
        for b in range(3)
        for c in range(2)
    )
    assert total == pytest.approx(1)
    assert -5 < every[0] < 0


def test_numbers_of_rows_and_sweeps_are_one_or_more():
    for how in ({"n_rows": 0}, {"n_rows": 2, "sweeps": 0}):
        with pytest.raises(RequestError, match="must be"):
            small().sample(**how)
    assert small().sample(1, sweeps=1, random_state=0).n_rows == 1


def test_questions_about_levels_are_not_asked_of_numbers():
    network = small()
    with pytest.raises(RequestError, match="'y' is a number, which has no levels: use predict"):
        network.predict_probabilities("y", network.sample(2, random_state=0))


def test_rows_with_gaps_are_predicted_as_questions_are_answered():
    network = small()
    rows = np.array([[1, 2, 0.3, -0.5, 0], [0, np.nan, np.nan, 0.2, 1], [1, np.nan, 0.1, np.nan, np.nan]]).T
    data = network.table_of(rows)
    for v, name in enumerate("abyzc"):
        predicted = network.predict(name, data)
        for r in range(3):
            given = {
                network.names[u]: network.labels(u, rows[u : u + 1, r])[0]
                for u in range(5)
                if u != v and not np.isnan(rows[u, r])
            }
            answer = network.query(name, given)
            if SIZES[v]:
                shares = network.predict_probabilities(name, data)[r]
                np.testing.assert_allclose(shares, list(answer.values()), atol=1e-9)
                assert predicted[r] == max(answer, key=answer.get)
            else:
                scale = network.scales[name]
                assert predicted[r] == pytest.approx(answer.median, abs=2e-3 * scale.spread)
