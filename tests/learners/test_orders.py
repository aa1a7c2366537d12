"""The order of columns, levels and rows, and their names, change nothing; copies are learned as one."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import Graph, Learned, read_result
from ibmap.data import Table, load
from ibmap.engines import MemoryEngine, as_engine
from ibmap.engines.arrangement import arranged_data, arrangement_of, colour_sums_of_rows
from ibmap.errors import SearchWarning
from ibmap.learners import (
    dag_hc,
    evidence_map,
    explain,
    gsmn,
    hhc_mn,
    ibmap_hc,
    mutual_information,
)
from ibmap.learners.bootstrap import bootstrap
from ibmap.learners.comparison import compare_groups
from ibmap.results.arranged import arranged_table
from ibmap.results.result_file import result_of_learned, result_text
from tests.engines.partitioned import ENGINES, HiddenEngine
from tests.learners.test_comparing import groups_of

ARRANGED: dict[str, Callable[..., Learned]] = {
    "evidence-map": evidence_map,
    "directed view": partial(evidence_map, view="directed"),
    "undirected view": partial(evidence_map, view="undirected"),
    "averaged": partial(evidence_map, posterior="averaged"),
    "pairwise": partial(evidence_map, score="pairwise"),
    "dag-hc": dag_hc,
    "dag-hc, bdeu, shaken": partial(dag_hc, score="bdeu", shakes=1, expected_neighbours=2.0),
    "dag-hc, qnml": partial(dag_hc, score="qnml", tabu=0),
}
OTHERS: dict[str, Callable[..., Learned]] = {
    "ibmap-hc": ibmap_hc,
    "gsmn": gsmn,
    "hhc-mn": hhc_mn,
    "mi": partial(mutual_information, max_neighbours=2),
}


def network(
    n_rows: int, n: int, seed: int, missing: float = 0.0, ordinal: bool = False, copies: bool = False
) -> Table:
    """Columns of two to five levels, each of which follows some of those before it, some alike in counts."""
    rng = np.random.default_rng(seed)
    levels = rng.integers(2, 6, n)
    codes = np.zeros((n, n_rows), np.int64)
    for x in range(n):
        parents = rng.permutation(x)[: rng.integers(3)]
        codes[x] = rng.integers(levels[x], size=n_rows)
        follows = rng.random(n_rows) < 0.7
        codes[x, follows] = (codes[parents].sum(axis=0) % levels[x])[follows]
    if copies:
        codes[n - 1], levels[n - 1] = (levels[0] - 1) - codes[0], levels[0]
        codes[n - 2], levels[n - 2] = codes[1], levels[1]
    codes[rng.random(codes.shape) < missing] = -1
    names = tuple(f"v{x}" for x in range(n))
    labels = tuple(tuple(range(r)) for r in levels.tolist())
    return Table(codes, names, labels, ordinal=names[:2] if ordinal else ())


def shuffled(data: Table, seed: int) -> tuple[Table, dict[str, str]]:
    """The same rows: columns, levels without an order and rows in another order, other names."""
    rng = np.random.default_rng(seed)
    columns, rows = rng.permutation(data.n_variables).tolist(), rng.permutation(data.n_rows)
    codes, levels, names = [], [], {}
    for place, v in enumerate(columns):
        size = len(data.levels[v])
        order = np.arange(size) if data.names[v] in data.ordinal else rng.permutation(size)
        codes.append(np.append(order, -1)[data.codes_of(v)][rows])
        levels.append(tuple(f"{place}:{k}" for k in range(size)))
        names[data.names[v]] = f"column {place}"
    ordinal = tuple(names[name] for name in data.ordinal)
    renamed = tuple(names[data.names[v]] for v in columns)
    return Table(np.array(codes), renamed, tuple(levels), ordinal=ordinal), names


def edges(graph: Graph, names: dict[str, str] | None = None) -> set[frozenset[str]]:
    return {frozenset(names[x] if names else x for x in edge) for edge in graph.edges}


def assert_same(one: Learned, other: Learned, names: dict[str, str]) -> None:
    """All numbers to the last bit."""
    assert edges(one.graph, names) == edges(other.graph)
    index = [other.graph.index(names[name]) for name in one.graph.names]
    assert one.pair_scores is not None
    assert other.pair_scores is not None
    assert np.array_equal(one.pair_scores, other.pair_scores[np.ix_(index, index)])
    assert one.score == other.score
    assert one.view_scores == other.view_scores
    assert one.arc_score == other.arc_score
    if one.arcs is not None:
        assert {(names[x], names[y]) for x, y in one.arcs} == set(other.arcs or ())
    assert {frozenset(names[x] for x in g) for g in one.copies} == {frozenset(g) for g in other.copies}
    if one.rivals is not None:  # a rival that has copies goes by the name of the first of them
        first = {name: min(group) for group in other.copies for name in group}
        mine = {
            frozenset((names[x], names[y])): {
                (_first(names[a], first), _first(names[b], first), p) for a, b, p in who
            }
            for (x, y), who in one.rivals.items()
        }
        yours = {
            frozenset(edge): {(_first(a, first), _first(b, first), p) for a, b, p in who}
            for edge, who in (other.rivals or {}).items()
        }
        assert mine == yours


def _first(name: str, first: dict[str, str]) -> str:
    return first.get(name, name)


@pytest.mark.parametrize("learner", ARRANGED)
@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(4, 9),
    missing=st.sampled_from([0.0, 0.05]),
    ordinal=st.booleans(),
    copies=st.booleans(),
)
def test_orders_and_names_change_nothing(
    learner: str, seed: int, n: int, missing: float, ordinal: bool, copies: bool
) -> None:
    if learner == "pairwise":  # it counts tables, which must be complete
        missing = 0.0
    data = network(150, n, seed, missing, ordinal, copies)
    other, names = shuffled(data, seed + 1)
    assert_same(ARRANGED[learner](data), ARRANGED[learner](other), names)


@pytest.mark.parametrize("learner", OTHERS)
@pytest.mark.parametrize("seed", range(4))
def test_the_learners_of_the_paper_permute_their_graph_and_merge_nothing(learner: str, seed: int) -> None:
    data = network(300, 7, seed, copies=seed % 2 == 1 and learner == "ibmap-hc")
    other, names = shuffled(data, seed + 1)
    one = OTHERS[learner](data)
    assert one.copies == ()
    if not (seed % 2 == 1 and learner == "ibmap-hc"):  # copies tie exactly: the first column wins
        assert edges(one.graph, names) == edges(OTHERS[learner](other).graph)


def test_fair_coins_whose_levels_tie() -> None:
    """Rows and their opposites: no count tells a level from the other, until one of them has a colour."""
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=(5, 200))
    a[1] = a[0] ^ (rng.random(200) < 0.2)
    a[2] = a[1] ^ (rng.random(200) < 0.2)
    codes = np.concatenate([a, 1 - a], axis=1)
    data = Table(codes, tuple("abcde"), ((0, 1),) * 5)
    for seed in range(5):
        other, names = shuffled(data, seed)
        assert_same(evidence_map(data), evidence_map(other), names)


def test_columns_that_were_all_cut_at_their_quantiles() -> None:
    """All have the same counts, so that rows say nothing: tables of pairs do."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(10, 300))
    values[3] += values[0] + values[1]
    values[4] += values[3]
    codes = values.argsort(axis=1).argsort(axis=1) // 100
    codes[9] = 2 - codes[5]
    data = Table(codes, tuple("abcdefghij"), ((0, 1, 2),) * 10)
    for seed in range(5):
        other, names = shuffled(data, seed)
        found = evidence_map(data)
        assert_same(found, evidence_map(other), names)
        assert found.copies == (("f", "j"),)


def test_a_bootstrap_draws_the_same_networks() -> None:
    data = network(200, 6, 3, copies=True)
    rng = np.random.default_rng(1)
    order = rng.permutation(6)
    other = data.variables(order.tolist())
    one, two = (bootstrap(table, evidence_map, n_replicates=8, random_state=0) for table in (data, other))
    for threshold in (0.0, 0.5, 0.9):
        assert edges(one.averaged(threshold)) == edges(two.averaged(threshold))


def test_comparisons_of_groups_are_the_same() -> None:
    """Copies in both groups, in one, and a permutation test that draws the same rows."""
    one, two = network(150, 6, 3, copies=True), network(130, 6, 4)
    groups = groups_of(one, two)
    order = np.random.default_rng(1).permutation(6).tolist()
    others = groups[0].variables(order), groups[1].variables(order)
    with pytest.warns(SearchWarning, match="are the same in all 150 rows"):
        found, other = (
            compare_groups(both, evidence_map, n_permutations=9, random_state=0) for both in (groups, others)
        )
    for learned, again in zip(found.learned, other.learned, strict=True):
        assert_same(learned, again, {name: name for name in one.names})
    values = [
        {
            frozenset(edge): (p, adjusted, abs(difference))
            for edge, p, adjusted, difference in zip(
                each.edges, each.p_value, each.p_adjusted, each.difference, strict=True
            )
        }
        for each in (found, other)
    ]
    assert values[0].keys() == values[1].keys()
    for edge, numbers in values[0].items():
        assert numbers == pytest.approx(values[1][edge], abs=1e-9)


@pytest.mark.parametrize("view", ["directed", "undirected"])
def test_explanations_are_the_same(view: str) -> None:
    data = network(400, 7, 5, copies=True)
    order = np.random.default_rng(1).permutation(7).tolist()
    other = data.variables(order)
    one, two = (evidence_map(table, view=view) for table in (data, other))
    for x, y in (("v0", "v1"), ("v1", "v2"), ("v6", "v3")):
        mine, yours = explain(data, one, x, y), explain(other, two, x, y)
        words = [
            replace(
                one,
                effect="",
                views=tuple(replace(view, given=tuple(sorted(view.given))) for view in one.views),
            ).words()
            for one in (mine, yours)
        ]
        assert words[0] == words[1]
        assert mine.counts == yours.counts
        assert mine.log_posterior == yours.log_posterior


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_have_the_same_arrangement(engine: Any) -> None:
    for missing in (0.0, 0.1):
        data = network(130, 8, 7, missing, copies=True)
        here, there = arrangement_of(MemoryEngine(data)), arrangement_of(engine(data))
        assert here.copies == there.copies
        assert len(here.copies) == (2 if not missing else 0)
        assert here.columns.tolist() == there.columns.tolist()
        assert all(np.array_equal(a, b) for a, b in zip(here.levels, there.levels, strict=True))
        if not missing:
            assert edges(evidence_map(data).graph) == edges(evidence_map(engine(data)).graph)


def test_colours_of_rows_that_are_alike() -> None:
    data = network(130, 6, 7)
    colours = (
        np.random.default_rng(0).integers(2**63, size=int((data.cardinalities + 1).sum())).astype(np.uint64)
    )
    by_rows = MemoryEngine(data).colour_sums(colours)
    assert np.array_equal(by_rows, colour_sums_of_rows(HiddenEngine(data), colours))


def test_columns_of_numbers() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(6, 300))
    values[1] += values[0]
    values[4] += values[1] - values[2]
    columns = {name: values[k] for k, name in enumerate("abcdef")}
    one = evidence_map(load(columns, continuous="all"))
    other = evidence_map(load({name: columns[name] for name in "dbfeca"}, continuous="all"))
    assert one.graph.n_edges >= 3
    assert_same(one, other, {name: name for name in "abcdef"})


def test_an_arranged_table_has_the_same_rows() -> None:
    data = network(100, 6, 2, missing=0.1)
    arrangement = arrangement_of(MemoryEngine(data))
    found = arranged_data(data, arrangement)
    for place, v in enumerate(arrangement.columns.tolist()):
        assert found.names[place] == data.names[v]
        mine = [data.levels[v][k] if k >= 0 else None for k in data.codes_of(v).tolist()]
        assert mine == [found.levels[place][k] if k >= 0 else None for k in found.codes_of(place).tolist()]


# Copies


def with_copies(n_rows: int = 600) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=n_rows)
    z = np.where(rng.random(n_rows) < 0.7, a, rng.integers(3, size=n_rows))
    w = np.where(rng.random(n_rows) < 0.6, z, rng.integers(3, size=n_rows))
    return {"a": a, "z": z, "b": np.array(["x", "y", "w"])[a], "w": w, "c": 2 - a}


@pytest.mark.parametrize("view", ["directed", "undirected"])
def test_copies_share_their_edges(view: str) -> None:
    learned = evidence_map(load(with_copies()), view=view)
    assert learned.copies == (("a", "b", "c"),)
    posterior = dict(zip(learned.graph.edges, learned.posteriors or (), strict=True))
    for edge in (("a", "b"), ("a", "c"), ("b", "c")):
        assert posterior[edge] == pytest.approx(2 / 3)  # a tree joins the three
    shared = {frozenset(edge): p for edge, p in posterior.items() if "z" in edge and "w" not in edge}
    assert set(shared) == {frozenset(edge) for edge in ("az", "bz", "cz")}
    assert all(p == pytest.approx(1 / 3, abs=0.01) for p in shared.values())
    assert {rival[:2] for rival in (learned.rivals or {})["a", "z"]} >= {("z", "b"), ("z", "c")}
    assert learned.warnings[-1] == (
        "a, b and c are the same in all 600 rows: edges of one are edges of all, and share their posteriors"
    )


def test_copies_are_in_files_and_explained(tmp_path: Any) -> None:
    data = load(with_copies())
    learned = evidence_map(data)
    (tmp_path / "result.json").write_text(result_text(result_of_learned(learned, data)), encoding="utf-8")
    again = read_result(tmp_path).learned
    assert again.copies == learned.copies
    for found in (learned, again):
        assert "a and b are the same in all 600 rows" in explain(data, found, "a", "b").words()
        told = explain(data, found, "c", "z")
        assert told.words().startswith("c and z are directly associated; posterior of an edge: 0.333")
        assert told.log_bayes_factor is None  # copies share the posterior, and not the evidence
        assert "given w" in told.details() or "no other" in told.details()


def test_constraints_of_copies() -> None:
    data = load(with_copies())
    learned = evidence_map(data, forbidden=[("a", "z"), ("b", "c")], required=[("c", "w")])
    assert not learned.graph.has_edge("a", "z")
    assert not learned.graph.has_edge("b", "c")
    assert learned.graph.has_edge("b", "z")
    assert all(learned.graph.has_edge(x, "w") for x in "abc")
    none = evidence_map(data, forbidden=[("a", "z"), ("b", "z"), ("c", "z")])
    assert not any(none.graph.has_edge(x, "z") for x in "abc")
    prior = np.full((5, 5), np.nan)
    prior[0, 1] = prior[1, 0] = 0.9
    by_pair = evidence_map(data, prior=prior)
    assert np.array_equal(by_pair.provenance.score.prior, prior, equal_nan=True)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("columns", "n_edges", "n_groups"),
    [
        ({f"x{k}": [0, 1] * 50 for k in range(40)}, 0, 1),  # all columns are copies of one
        ({f"x{k}": [0, 1] * 50 for k in range(500)}, 0, 1),
        ({"a": [0, 1, 1], "b": [1, 0, 0], "c": [0, 0, 1]}, 0, 1),  # three rows: a copy by chance
        ({"a": [0] * 50, "b": [1] * 50, "c": [0, 1] * 25}, 0, 0),  # constants are nobody's copies
        ({"a": [0, 1] * 50, "b": [0, 1] * 49 + [1, 0]}, 1, 0),  # the same but for two rows
    ],
)
def test_odd_tables(columns: dict[str, list[int]], n_edges: int, n_groups: int) -> None:
    learned = evidence_map(load(columns))
    assert learned.graph.n_edges == n_edges
    assert len(learned.copies) == n_groups
    assert np.isfinite(learned.posteriors or [0.0]).all()


def test_copies_are_joined_as_far_as_their_rows_say_so() -> None:
    rng = np.random.default_rng(0)
    found = []
    for rows in (8, 12, 20, 400):
        a, others = rng.permutation(np.arange(rows) % 2), rng.integers(2, size=(6, rows))
        columns = {"a": a, "b": np.where(a, "u", "v"), **{f"x{k}": one for k, one in enumerate(others)}}
        learned = evidence_map(load(columns))
        assert learned.copies == (("a", "b"),)
        found.append(posterior_of_first_two(learned))
    assert found == sorted(found)
    assert found[0] < 0.8 < 0.99 < found[-1]
    once = np.arange(25) == 3  # a level that one row has says hardly anything
    learned = evidence_map(load({"a": once, "b": once, "c": rng.integers(2, size=25)}))
    assert posterior_of_first_two(learned) < 0.5


def posterior_of_first_two(learned: Learned) -> float:
    place = learned.edge_table.place(0, 1)
    assert place is not None
    return float(np.exp(learned.edge_table.log_posterior[place]))


def test_near_copies_are_named() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=2000)
    near, rare = 2 - a, (rng.random((2, 2000)) < 0.002).astype(int)
    near[:3] = (near[:3] + 1) % 3
    learned = evidence_map(load({"a": a, "near": near, "rare": rare[0], "seldom": rare[1], "copy": a * 2}))
    assert learned.warnings[-1] == (
        "a and near are the same in all but 3 of 2,000 rows (1 pair more like this): which of "
        "them has an edge depends on these"
    )
    alone = evidence_map(load({"a": a, "b": rng.integers(3, size=2000), "copy": a * 2}))
    assert not any("all but" in said for said in alone.warnings)


def test_a_copy_with_other_missing_cells_is_none() -> None:
    data = with_copies()
    codes = np.array([data["a"], data["a"], data["a"], data["z"]])
    codes[1, :5] = codes[2, :5] = -1
    table = Table(codes, ("a", "b", "c", "z"), (tuple(range(3)),) * 4)
    assert evidence_map(table).copies == (("b", "c"),)


@pytest.mark.parametrize("seed", range(3))
def test_copies_leave_the_scores_of_all_others_as_they_are(seed: int) -> None:
    """For pairs without a copy; a copy shares its pairs."""
    alone = network(200, 6, seed)
    codes, names = np.vstack([alone.codes, alone.codes[:1]]), (*alone.names, "again")
    both = Table(codes, names, (*alone.levels, alone.levels[0]))
    one, two = (evidence_map(data, view="undirected").pair_scores for data in (alone, both))
    assert one is not None
    assert two is not None
    assert two[1:6, 1:6] == pytest.approx(one[1:, 1:], rel=1e-12)
    assert np.array_equal(two[0, 1:6], two[6, 1:6])
    assert not np.array_equal(two[0, 1:6], one[0, 1:])


@pytest.mark.parametrize("holes", [False, True])
def test_copies_beside_numbers_are_learned_as_one(holes: bool) -> None:
    """Levels by other names, and a number in another unit."""
    rng = np.random.default_rng(0)
    grade = rng.integers(6, size=500)
    height = rng.normal(size=500) + grade / 2
    if holes:
        height[rng.random(500) < 0.02] = np.nan
    tall = (np.nan_to_num(height) + rng.normal(size=500) > 1).astype(int)
    columns = {
        "grade": np.array(list("abcdef"))[grade],
        "number": (grade * 5) % 7,
        "height": height,
        "tall": tall,
        "depth": 1 - 3 * height,
        "other": rng.normal(size=500),
    }
    one = {name: columns[name] for name in ("grade", "height", "tall", "other")}
    found = evidence_map(load(columns, continuous="auto", missing="question"))
    assert any("grade = number, height = depth" in words for words in found.warnings)
    alone = evidence_map(load(one, continuous="auto", missing="question"))
    assert found.copies == (("grade", "number"), ("height", "depth"))
    assert found.score == pytest.approx(alone.score)
    assert {("height", "tall"), ("tall", "depth")} <= set(found.graph.edges)
    shared = dict(zip(found.graph.edges, found.posteriors or (), strict=True))
    assert shared["height", "tall"] == pytest.approx(shared["tall", "depth"])


def test_ends_keep_their_posteriors_where_pairs_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """With more columns than rows are kept whole for, and whatever the order of the columns."""
    rng = np.random.default_rng(1)
    columns = {f"v{k}": rng.integers(2, size=300) for k in range(6)}
    for k in range(5):
        columns[f"v{k + 1}"] ^= columns[f"v{k}"] & (rng.random(300) < 0.6)
    columns["copy"] = 1 - columns["v2"]
    one, other = load(columns), load(dict(reversed(columns.items())))
    whole = ends_of(evidence_map(one, view="undirected"))
    monkeypatch.setattr("ibmap.search.state.WHOLE", 3)
    for table in (one, other):
        listed = ends_of(evidence_map(table, view="undirected"))
        assert {ends: p for ends, p in listed.items() if p > np.log(0.05)} == pytest.approx(
            {ends: p for ends, p in whole.items() if p > np.log(0.05)}
        )


def test_edges_come_first_where_pairs_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the pairs of five copies, of which too few are edges to be drawn."""
    rng = np.random.default_rng(0)
    one, other = rng.integers(2, size=(2, 80))
    columns = {f"copy{k}": other if k % 2 else 1 - other for k in range(5)}
    data = load({**columns, "a": one, "b": one ^ (rng.random(80) < 0.1)})
    monkeypatch.setattr("ibmap.search.state.WHOLE", 0)
    learned = evidence_map(data, view="undirected")
    assert learned.pair_scores is None
    rows = learned.edges_frame.select("x", "y", "in_graph").rows()
    assert rows[0] == ("a", "b", True)
    assert [row[:2] for row in rows[1:11]] == list(combinations(columns, 2))
    assert not any(there for *_, there in rows[1:])


def ends_of(learned: Learned) -> dict[tuple[str, str], float]:
    """The log posterior of every listed pair, as each end sees it."""
    rows = list(learned.edge_table.first())
    return {(x, y): xy for x, y, xy, _ in rows} | {(y, x): yx for x, y, _, yx in rows}


def test_a_prior_by_pair_stands_with_its_columns_and_copies_have_the_smallest() -> None:
    """A prior is one of independence: of copies, the pair of which most is expected counts."""
    rng = np.random.default_rng(0)
    plain = load({name: rng.integers(3, size=60) for name in "dacb"})
    matrix = np.round(rng.random((4, 4)), 3)
    matrix = (matrix + matrix.T) / 2
    table = arranged_table(as_engine(plain))
    names = table.engine.schema.names
    found = table.prior(matrix)
    for i, x in enumerate(plain.names):
        for j, y in enumerate(plain.names):
            assert found[names.index(x), names.index(y)] == matrix[i, j]
    data = load(with_copies())  # a, b and c are the same
    prior = np.full((5, 5), np.nan)
    prior[0, 1], prior[2, 1], prior[1, 3] = 0.9, 0.3, 0.6
    prior = np.fmin(prior, prior.T)
    table = arranged_table(as_engine(data))
    place = {name: int(table.place[k]) for k, name in enumerate(data.names)}
    found = table.prior(prior)
    assert found.shape == (3, 3)
    assert found[place["a"], place["z"]] == found[place["z"], place["a"]] == 0.3
    assert found[place["z"], place["w"]] == 0.6
    assert np.isnan(found[place["a"], place["w"]])
    for odd in (None, 0.5, [[0.5]], np.full((5, 5), "x")):
        assert table.prior(odd) is odd
