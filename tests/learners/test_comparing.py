"""Two groups, compared: what differs is found, what does not is not; exact laws of the permutation test."""

import json

import numpy as np
import pytest

from ibmap import IBMAP, Graph, compare
from ibmap.data import Table, load
from ibmap.data.frames import open_source
from ibmap.data.joined import joined
from ibmap.engines import as_engine
from ibmap.errors import IbmapError
from ibmap.learners import evidence_map
from ibmap.learners.comparison import _judged, compare_groups, deviations, split_by
from ibmap.model.effects import contrast_effects, edge_effects
from ibmap.model.mixed_effects import blocks_of_edges
from ibmap.report.comparison import comparison_page
from ibmap.synthetic import simulate_random


def smokers(n: int, strength: float, seed: int, share: float = 0.5) -> dict[str, np.ndarray]:
    """Smokers cough more, by a strength; tea and cake go together; tall goes alone."""
    rng = np.random.default_rng(seed)
    smokes, tea = rng.random(n) < share, rng.random(n) < share
    coughs = rng.random(n) < 0.3 + strength * smokes
    cake = rng.random(n) < 0.2 + 0.6 * tea
    return {"smokes": smokes, "coughs": coughs, "tea": tea, "cake": cake, "tall": rng.random(n) < 0.5}


def groups_of(one: object, two: object) -> tuple[Table, Table]:
    """Two tables as groups: the same levels."""
    both, by = joined(open_source(one), open_source(two), ("one", "two"))
    return split_by(load(both), by)[0]


def test_an_edge_that_differs_is_found_and_the_others_are_not():
    found = compare(smokers(800, 0.0, 1), smokers(600, 0.5, 2, 0.3), n_permutations=99, random_state=0)
    by_edge = dict(zip(found.edges, found.p_adjusted, strict=True))
    assert by_edge["smokes", "coughs"] == 0.01
    assert by_edge["tea", "cake"] > 0.05
    assert found.largest.p_value == found.overall.p_value == 0.01
    assert next(iter(found.frame["x"])) == "smokes"
    assert "The networks differ: the largest difference of an edge is" in str(found)
    assert "1 edge differs" in str(found)
    assert found.learned[1].graph.has_edge("smokes", "coughs")


def test_groups_that_are_alike_do_not_differ():
    rows = simulate_random(12, 2, 800, random_state=3).data
    found = compare(rows[:400], rows[400:], n_permutations=99, random_state=0)
    assert found.largest.p_value > 0.05
    assert "do not differ by more than chance" in str(found)


def test_mixing_groups_of_other_margins_makes_no_difference():
    found = compare(smokers(800, 0.4, 1, 0.2), smokers(800, 0.4, 2, 0.8), n_permutations=99, random_state=0)
    assert found.largest.p_value > 0.05


def test_the_seed_decides_and_the_threads_do_not():
    groups = groups_of(smokers(200, 0.1, 1), smokers(200, 0.4, 2))
    one, two, other = (
        compare_groups(groups, evidence_map, n_permutations=30, random_state=seed, n_jobs=jobs).p_value
        for seed, jobs in ((5, 1), (5, 2), (6, 1))
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)


def test_groups_swapped_swap_the_signs():
    groups = groups_of(smokers(200, 0.1, 1), smokers(200, 0.4, 2))
    found, swapped = (
        compare_groups(both, evidence_map, n_permutations=5, random_state=0)
        for both in (groups, groups[::-1])
    )
    np.testing.assert_allclose(found.difference, -swapped.difference, rtol=0.02)
    np.testing.assert_allclose(found.deviation, swapped.deviation, atol=1e-9)


def test_p_values_count_permutations():
    """By hand: every permutation is fitted again, and those that differ as much are counted."""
    groups = groups_of(smokers(60, 0.1, 1), smokers(40, 0.5, 2))
    found = compare_groups(groups, evidence_map, n_permutations=20, random_state=7)
    codes = np.concatenate([group.codes for group in groups], axis=1)
    chance = []
    for rng in np.random.default_rng(7).spawn(20):
        rows = rng.permutation(100)
        parts = [Table(codes[:, part], groups[0].names, groups[0].levels) for part in (rows[:60], rows[60:])]
        union = Graph(groups[0].names, [edge for part in parts for edge in evidence_map(part).graph.edges])
        chance.append(dict(zip(union.edges, deviations(parts, union), strict=True)))
    for edge, seen, p_value in zip(found.edges, found.deviation, found.p_value, strict=True):
        assert p_value == (1 + sum(one.get(edge, 0.0) >= seen - 1e-9 for one in chance)) / 21
    largest = np.array([max(one.values(), default=0.0) for one in chance])
    assert found.largest.p_value == (1 + (largest >= found.deviation.max() - 1e-9).sum()) / 21


def test_the_effects_along_contrasts_are_those_that_are_shown():
    data = load(smokers(500, 0.4, 1))
    graph = Graph(data.names, [("smokes", "coughs"), ("tea", "cake"), ("tea", "tall")])
    shown, engine = edge_effects(as_engine(data), graph), as_engine(data)
    for e, (effect, error) in enumerate(contrast_effects(engine, graph)):
        assert 2 * effect[0, 0] == pytest.approx(shown.log_odds_ratio[e])
        assert 2 * error[0, 0] == pytest.approx(shown.log_odds_ratio_se[e])


def test_several_levels_and_levels_that_one_group_lacks():
    rng = np.random.default_rng(0)
    first, second = ({"a": rng.integers(0, 4, 400)} for _ in range(2))
    first["b"] = (first["a"] + (rng.random(400) < 0.2)) % 4
    second["b"] = (3 - second["a"] + (rng.random(400) < 0.2)) % 4
    second["a"] = np.where(second["a"] == 3, 5, second["a"])
    found = compare(first, second, n_permutations=19, random_state=0)
    assert found.p_adjusted.tolist() == [0.05]
    assert not found.signed.any()
    assert found.rows()[0][2][0] != "+"
    one, two = groups_of(first, second)
    assert one.levels == two.levels == ((0, 1, 2, 3, 5), (0, 1, 2, 3))


def test_a_column_tells_groups_apart_and_the_page_shows_them():
    one, two = smokers(300, 0.0, 1), smokers(300, 0.6, 2)
    table = {name: np.concatenate([one[name], two[name]]) for name in one}
    table["<sex>"] = np.repeat(["f", "m"], 300)
    found = compare(table, by="<sex>", learner=IBMAP(), n_permutations=39, random_state=0)
    assert found.labels == ("<sex>=f", "<sex>=m")
    page = comparison_page(found)
    assert "&lt;sex&gt;=f" in page
    assert "<sex>" not in page
    assert found.svg(760) in page
    assert json.loads(json.dumps(found.to_dict()))["edges"][0]["x"] == "smokes"
    (first, second), _ = split_by(load(table), "<sex>")
    assert first.n_rows == second.n_rows == 300
    assert "<sex>" not in first.names


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "two tables, or one and by="),
        ({"second": {"a": [0, 1], "b": [0, 1]}, "by": "a"}, "two tables, or one and by="),
        ({"second": {"a": [0, 1], "c": [0, 1]}}, "'second' has no column 'b'"),
        ({"second": {"a": [0, 1], "b": [0, 1]}, "n_permutations": 0}, "n_permutations must be between 1 and"),
        (
            {"second": {"a": [0, 1], "b": [0, 1]}, "learner": "ibmap"},
            "learner must be one of ibmap's learners",
        ),
        ({"by": "b"}, "'b' must have two values to tell two groups apart, not 3: '0', '1', '2'"),
        ({"by": "d"}, "there is no variable 'd'"),
    ],
)
def test_bad_input(arguments, words):
    with pytest.raises(IbmapError, match=words.replace("(", r"\(")):
        compare({"a": [0, 1, 0], "b": [0, 1, 2]}, **arguments)


def test_adjusted_p_values_are_shares_of_the_largest_difference_of_any_edge():
    """A worked example of two edges and four permutations, one of which lacks an edge."""
    data = load(smokers(50, 0.5, 1))
    both = (evidence_map(data), evidence_map(data))
    observed = {(0, 1): 3.0, (2, 3): 1.0}
    chance = [{(0, 1): 1.0, (2, 3): 2.0}, {(0, 1): 4.0}, {(0, 1): 0.5, (2, 3): 0.5}, {(1, 4): 3.5}]
    found = _judged(("one", "two"), both, np.array([0.3, 0.1]), observed, chance)
    assert found.p_value.tolist() == [(1 + 1) / 5, (1 + 1) / 5]  # one permutation each
    assert found.p_adjusted.tolist() == [(1 + 2) / 5, (1 + 3) / 5]  # 4 and 3.5; 2, 4 and 3.5
    assert found.largest == (3.0, (1 + 2) / 5)
    assert found.overall == (10.0, (1 + 2) / 5)  # 16 and 12.25, of 5, 16, 0.5 and 12.25


@pytest.mark.parametrize("seed", range(3))
def test_adjusted_p_values_are_never_below_raw_ones(seed):
    found = compare(smokers(200, 0.2, seed), smokers(200, 0.5, 9), n_permutations=30, random_state=seed)
    assert (found.p_adjusted >= found.p_value).all()
    assert len(found.edges) == 1 or (found.p_adjusted > found.p_value).any()


def test_the_page_runs_and_loads_nothing():
    page = comparison_page(compare(smokers(80, 0.2, 1), smokers(80, 0.5, 9), n_permutations=5))
    assert "Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'" in page
    assert "<script" not in page


def patients(n: int, effect: float, seed: int) -> dict[str, np.ndarray]:
    """Dose and pressure, by an effect; pressure by sex; a mood of three levels goes with the dose."""
    rng = np.random.default_rng(seed)
    dose, sex = rng.gamma(2.0, size=n), rng.integers(0, 2, n)
    pressure = 120 - effect * dose + 6 * sex + 3 * rng.normal(size=n)
    mood = np.digitize(dose + rng.normal(size=n), [1.0, 2.5])
    sleep = np.where(rng.random(n) < 0.04, np.nan, rng.normal(size=n))
    words = {"sex": np.array(["f", "m"])[sex], "mood": np.array(["low", "so so", "high"])[mood]}
    return {"dose": dose, "pressure": pressure, **words, "sleep": sleep}


def two_groups(first: float, second: float, seed: int = 0) -> dict[str, np.ndarray]:
    one, two = patients(300, first, seed), patients(250, second, seed + 1)
    both = {name: np.concatenate([one[name], two[name]]) for name in one}
    return {**both, "site": np.repeat(["a", "b"], [300, 250])}


def test_groups_of_numbers_and_categories_with_holes():
    found = compare(two_groups(0.0, 3.0), by="site", n_permutations=39, random_state=0)
    by_edge = {frozenset(edge): k for k, edge in enumerate(found.edges)}
    k = by_edge[frozenset(("dose", "pressure"))]
    assert found.p_adjusted[k] == 1 / 40
    assert found.difference[k] < -0.3
    assert found.labels == ("site=a", "site=b")
    assert found.p_adjusted[by_edge[frozenset(("dose", "mood"))]] > 0.05
    assert "The networks differ" in str(found)
    assert comparison_page(found)
    alike = compare(two_groups(2.0, 2.0), by="site", n_permutations=39, random_state=0)
    assert alike.largest.p_value > 0.05
    assert {frozenset(edge) for edge in alike.edges} >= {frozenset(("dose", "pressure"))}


def test_two_tables_of_any_columns_are_one_table_with_a_column():
    both = two_groups(0.0, 3.0)
    tables = [{name: both[name][both["site"] == site] for name in both if name != "site"} for site in "ab"]
    found = compare(*tables, n_permutations=9, random_state=0)
    assert (
        found.to_dict()["edges"]
        == compare(both, by="site", n_permutations=9, random_state=0).to_dict()["edges"]
    )
    assert found.labels == ("first", "second")
    loaded = [load(table, continuous="auto", missing="question") for table in tables]
    assert compare(*loaded, n_permutations=9, random_state=0).edges == found.edges
    numbers = [{name: table[name] for name in ("dose", "pressure")} for table in tables]
    assert compare(*numbers, IBMAP(criterion="gaussian"), n_permutations=9, random_state=0).edges == (
        ("dose", "pressure"),
    )


def test_deviations_of_numbers_are_those_of_their_slopes():
    """Of two numbers: (b - a) / sqrt(va + vb), the mean of both ends; a group against itself is 0."""
    table = load(two_groups(0.5, 1.5), continuous="auto", missing="question")
    groups, _ = split_by(table, "site")
    graph = Graph(groups[0].names, [("dose", "pressure"), ("sex", "pressure"), ("dose", "mood")])
    assert deviations((groups[0], groups[0]), graph) == pytest.approx(np.zeros(3), abs=1e-6)
    blocks = [blocks_of_edges(as_engine(group).row_by_row, graph) for group in groups]
    i, j = graph.index("dose"), graph.index("pressure")
    ends = [
        abs(b.effect[0, 0] - a.effect[0, 0]) / np.sqrt(a.covariance[0, 0] + b.covariance[0, 0])
        for a, b in ((blocks[0][end], blocks[1][end]) for end in ((i, j), (j, i)))
        if min(a.effect.shape, b.effect.shape) == (1, 1)  # bent in one of the groups at most
    ]
    at = [tuple(pair) for pair in graph.pairs.tolist()].index((i, j))
    assert len(ends) == 2
    assert deviations(groups, graph)[at] == pytest.approx(np.mean(ends), rel=1e-6)


def test_numbers_do_not_tell_groups_apart():
    with pytest.raises(IbmapError, match="'dose' must have two values to tell two groups apart, and holds"):
        compare(two_groups(0.0, 1.0), by="dose")
