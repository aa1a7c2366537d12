"""Strength and sign of edges: against simple tables, against the truth, and wherever edges are shown."""

import json
import subprocess
import sys
from decimal import Decimal, getcontext
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from ibmap.criteria.coding import contrasts
from ibmap.data import Table, load
from ibmap.engines import as_engine
from ibmap.exchange import as_network
from ibmap.graph import Graph
from ibmap.learners import evidence_map
from ibmap.model.effect_size import (
    correlation_slopes,
    cramers_v,
    score_correlation,
    slopes,
    with_margins,
)
from ibmap.model.effects import _fitted, edge_effects, unknown_effects
from ibmap.model.layout import Layout
from ibmap.plots import plot
from ibmap.results.explain import explain
from ibmap.results.result_file import read_result, result_of_learned, result_text
from ibmap.synthetic import simulate_random
from tests.engines.partitioned import PartitionedEngine


def table_of(counts: np.ndarray) -> Table:
    a, b = (np.repeat(axis.ravel(), counts.ravel()) for axis in np.indices(counts.shape))
    levels = tuple(tuple(range(r)) for r in counts.shape)
    return Table(np.stack([a, b]), ("a", "b"), levels)


def test_two_variables_have_the_textbook_odds_ratio_and_its_error() -> None:
    counts = np.array([[400, 100], [200, 300]])
    found = edge_effects(as_engine(table_of(counts)), Graph("ab", [("a", "b")]))
    assert found.log_odds_ratio[0] == pytest.approx(np.log(6), rel=0.02)
    assert found.log_odds_ratio_se[0] == pytest.approx(np.sqrt((1 / counts).sum()), rel=0.03)


def test_two_variables_have_cramers_v_of_their_table() -> None:
    counts = np.array([[300, 50, 40], [60, 200, 70], [30, 60, 190]])
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    v = np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / 2)
    found = edge_effects(as_engine(table_of(counts)), Graph("ab", [("a", "b")]))
    assert found.strength[0] == pytest.approx(v, rel=0.01)
    assert np.isnan(found.log_odds_ratio[0])
    drawn = np.random.default_rng(0).multinomial(counts.sum(), counts.ravel() / counts.sum(), 300)
    again = []
    for one in drawn.reshape(-1, 3, 3):
        e = np.outer(one.sum(1), one.sum(0)) / one.sum()
        again.append(np.sqrt(((one - e) ** 2 / e).sum() / one.sum() / 2))
    assert found.strength_se[0] == pytest.approx(np.std(again), rel=0.2)


def test_strength_does_not_depend_on_the_order_of_levels_and_has_the_sign_of_the_odds() -> None:
    counts = np.array([[40, 10], [20, 30]])
    graph = Graph("ab", [("a", "b")])
    one = edge_effects(as_engine(table_of(counts)), graph)
    other = edge_effects(as_engine(table_of(counts[::-1])), graph)
    assert one.strength[0] == pytest.approx(-other.strength[0], rel=1e-3)
    assert one.strength[0] > 0 > other.log_odds_ratio[0]


@pytest.mark.parametrize("ratio", [0.0, 1e-9, 3.0, 13.0, 40.0, 800.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_two_binary_variables_have_the_odds_ratio_and_the_margins(ratio: float, sign: int) -> None:
    table = sign * ratio / 4 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    for rows, columns in (
        ([0.5, 0.5], [0.5, 0.5]),
        ([0.047, 0.953], [0.048, 0.952]),
        ([0.9, 0.1], [0.2, 0.8]),
    ):
        found = with_margins(table, np.array(rows), np.array(columns))
        assert found.sum(axis=1) == pytest.approx(rows)
        assert found.sum(axis=0) == pytest.approx(columns)
        assert found.min() >= 0
        if ratio < 20:
            odds = found[0, 0] * found[1, 1] / (found[0, 1] * found[1, 0])
            assert np.log(odds) == pytest.approx(sign * ratio, abs=1e-8)


def test_near_certain_effects_have_the_errors_of_exact_arithmetic() -> None:
    """Proportional fitting of margins, 500 steps of it, had this slope 28 % too small."""
    rows, columns = np.array([[0.04694531, 0.95305469]]), np.array([[0.04734527, 0.95265473]])
    table = np.array([[[1.0, -1.0], [-1.0, 1.0]]]) * 12.985591256859863 / 4

    def v_of(log_ratio: float) -> Decimal:
        getcontext().prec = 60
        more, a, b = Decimal(log_ratio).exp() - 1, Decimal(rows[0, 0]), Decimal(columns[0, 0])
        total = 1 + (a + b) * more
        p = (total - (total**2 - 4 * (more + 1) * more * a * b).sqrt()) / (2 * more)
        return (p - a * b) / (a * (1 - a) * b * (1 - b)).sqrt()

    shares, step = with_margins(table, rows, columns), 1e-6
    ahead, behind = (v_of(12.985591256859863 + side * step) for side in (1, -1))
    assert cramers_v(shares, rows, columns)[0] == pytest.approx(float(v_of(12.985591256859863)), rel=1e-12)
    slope = slopes(shares, rows, columns)[0, 0, 0]
    assert slope == pytest.approx(2 * float((ahead - behind) / Decimal(2 * step)), rel=1e-6)


@pytest.mark.parametrize("shape", [(2, 2), (3, 2), (3, 4)])
def test_slopes_are_those_of_finite_differences_along_contrasts(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(1)
    tables = rng.normal(size=(2, *shape))
    rows, columns = (rng.dirichlet(np.full(r, 5.0), 2) for r in shape)
    assert with_margins(tables, rows, columns).sum(axis=2) == pytest.approx(rows)
    for size, its_slopes in ((cramers_v, slopes), (score_correlation, correlation_slopes)):
        found, step = its_slopes(with_margins(tables, rows, columns), rows, columns), 1e-4
        for k, c in enumerate(contrasts(shape[0]).T):
            for j, d in enumerate(contrasts(shape[1]).T):
                move = step * np.outer(c, d)
                around = (with_margins(tables + side * move, rows, columns) for side in (1, -1))
                ahead, behind = (size(shares, rows, columns) for shares in around)
                assert found[:, k, j] == pytest.approx((ahead - behind) / (2 * step), abs=1e-5)


def test_hundreds_of_levels_take_no_time() -> None:
    codes = np.random.default_rng(0).integers(200, size=(2, 500))
    levels = (tuple(range(200)),) * 2
    found = edge_effects(as_engine(Table(codes, ("a", "b"), levels)), Graph("ab", [("a", "b")]))
    assert 0 < found.strength[0] < 1
    assert found.strength_se[0] > 0


def test_intervals_cover_the_truth() -> None:
    covered = []
    for seed in range(30):
        world = simulate_random(8, 2, 500, potentials="symmetric", random_state=seed)
        found = edge_effects(as_engine(world.to_table()), world.graph)
        covered += (np.abs(found.log_odds_ratio - 1.0) < 1.96 * found.log_odds_ratio_se).tolist()
    assert 0.91 <= np.mean(covered) <= 0.99


def test_large_variables_have_about_the_errors_of_the_exact_way(monkeypatch: pytest.MonkeyPatch) -> None:
    world = simulate_random(6, 2, 800, levels=4, random_state=2)
    engine = as_engine(world.to_table())
    exact = edge_effects(engine, world.graph)
    monkeypatch.setattr("ibmap.model.effect_errors.EXACT", 0)
    rough = edge_effects(engine, world.graph)
    assert rough.strength_se == pytest.approx(exact.strength_se, rel=0.25)


def test_partitions_constants_and_too_much_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    world = simulate_random(6, 2, 200, random_state=2)
    data = world.to_table()
    one, other = (edge_effects(engine, world.graph) for engine in (as_engine(data), PartitionedEngine(data)))
    assert one.strength == pytest.approx(other.strength)
    constant = load({"a": [0, 0, 0], "b": [0, 1, 1]})
    assert np.isnan(edge_effects(as_engine(constant), Graph("ab", [("a", "b")])).strength[0])
    monkeypatch.setattr("ibmap.model.effects.MOST_PARAMETERS", 3)
    assert np.isnan(edge_effects(as_engine(data), world.graph).strength).all()


def test_sentences() -> None:
    graph = Graph("ab", [("a", "b")])
    binary = edge_effects(as_engine(table_of(np.array([[40, 10], [20, 30]]))), graph)
    words = binary.in_words(0, ("a", "b"), (("no", "yes"), (0, 1)))
    assert words.startswith("The odds of b=1 are 5.7 times as high with a=yes as with a=no, everything else")
    three = edge_effects(as_engine(table_of(np.array([[40, 10, 5], [20, 30, 5]]))), graph)
    assert "go together most" in three.in_words(0, ("a", "b"), ((0, 1), (0, 1, 2)))
    assert unknown_effects(1).in_words(0, ("a", "b"), ((0, 1), (0, 1))) == ""
    assert unknown_effects(1).in_short(0) == ""


@pytest.fixture(scope="module")
def survey() -> Table:
    rng = np.random.default_rng(0)
    smoke = rng.integers(2, size=400)
    sport = np.where(rng.random(400) < 0.2, smoke, 1 - smoke)
    tea = (smoke + rng.integers(2, size=400)) % 3
    return load({"smoke": smoke, "sport": sport, "tea": tea})


def test_results_keep_the_effects(survey: Table, tmp_path: Path) -> None:
    learned = evidence_map(survey).with_effects(survey)
    frame = learned.edges_frame
    edges = frame.filter(pl.col("in_graph"))
    assert edges["strength"].is_not_nan().all()
    assert frame.filter(~pl.col("in_graph"))["strength"].is_nan().all()
    signed = dict(zip(map(tuple, edges.select("x", "y").rows()), edges["log_odds_ratio"], strict=True))
    assert signed["smoke", "sport"] < 0
    file = tmp_path / "result.json"
    file.write_text(result_text(result_of_learned(learned, survey)))
    back = read_result(file).learned
    assert back.effects is not None
    assert back.effects.strength == pytest.approx(learned.effects.strength)
    assert back.effect_in_short == learned.effect_in_short
    assert "strength" in as_network(back).columns
    older = json.loads(file.read_text())
    for name in ("strength", "strength_se", "log_odds_ratio", "log_odds_ratio_se"):
        del older["numbers"][name]
    file.write_text(json.dumps(older))
    assert read_result(file).learned.effects is None


def test_pictures_are_coloured_by_sign_and_drawn_by_strength(survey: Table) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    pyplot.switch_backend("Agg")
    learned = evidence_map(survey).with_effects(survey)
    lines = plot(learned).collections[0]
    plain = plot(evidence_map(survey)).collections[0]
    assert len({tuple(colour) for colour in lines.get_colors().tolist()}) == 2
    assert len({tuple(colour) for colour in plain.get_colors().tolist()}) == 1
    assert len(set(np.round(lines.get_linewidths(), 6))) == learned.graph.n_edges
    pyplot.close("all")


def test_an_explanation_has_a_sentence_about_the_effect(survey: Table) -> None:
    learned = evidence_map(survey)
    assert "times as high with smoke=1" in explain(survey, learned, "sport", "smoke").words()
    assert explain(survey, learned, "tea", "sport").effect == ""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory")
def test_effects_of_very_many_levels_fit_into_little_memory() -> None:
    """300 by 300 levels: a matrix of the covariances of all effects would take 64 GB."""
    code = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
import numpy as np
from ibmap import Graph
from ibmap.data.table import Table
from ibmap.engines import as_engine
from ibmap.model.effects import edge_effects
codes = np.arange(602).reshape(2, 301) % 300
data = Table(codes, ("a", "b"), (tuple(range(300)),) * 2)
print(edge_effects(as_engine(data), Graph("ab", [("a", "b")])).in_short(0))
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.stdout.startswith("V "), ran.stderr


def test_standard_errors_are_those_of_both_ends() -> None:
    """They are the mean of two different ones, so that the order of the columns does not matter."""
    rng = np.random.default_rng(0)
    a, c = rng.integers(2, size=(2, 150))
    b = (rng.random(150) < np.where(a & c, 0.9, np.where(a | c, 0.5, 0.1))).astype(int)
    columns, edges = {"a": a, "b": b, "c": c}, [("a", "b"), ("b", "c")]
    found = {}
    for names in ("abc", "bca", "cba"):
        data = load({name: columns[name] for name in names})
        effects = edge_effects(as_engine(data), Graph(data.names, edges))
        named = [frozenset(edge) for edge in Graph(data.names, edges).edges]
        both = zip(effects.log_odds_ratio_se, effects.strength_se, strict=True)
        found[names] = dict(zip(named, both, strict=True))
    for names in ("bca", "cba"):
        for edge, errors in found["abc"].items():
            assert found[names][edge] == pytest.approx(errors, rel=1e-6)
    data = load(columns)
    _, _, errors = _fitted(as_engine(data), Layout(Graph(data.names, edges), data.cardinalities))
    two = np.full((2, 1, 1), 2.0)
    first, second = (errors._of_ends(np.arange(2), side, two) for side in (0, 1))
    assert (np.abs(first / second - 1) > 0.05).all()
    assert errors.of_slopes(np.arange(2), two) == pytest.approx((first + second) / 2)


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize("swapped", [False, True])
def test_ordered_levels_beside_two_are_said_to_be_higher_or_lower(falls: bool, swapped: bool) -> None:
    rng = np.random.default_rng(0)
    sex = rng.integers(0, 2, 400)
    mood = np.clip(rng.integers(0, 3, 400) + (1 - 2 * falls) * sex, 0, 2)
    codes = np.array([mood, sex] if swapped else [sex, mood])
    names, levels = ("sex", "mood"), (("man", "woman"), ("low", "mid", "high"))
    names, levels = (names[::-1], levels[::-1]) if swapped else (names, levels)
    data = Table(codes, names, levels, ordinal=["mood"])
    found = edge_effects(as_engine(data), Graph.complete(names))
    how = "lower" if falls else "higher"
    said = found.in_words(0, names, levels)
    assert said.startswith(f"mood is {how} with sex=woman than with sex=man, everything else equal: ")
    assert found.sign.tolist() == [-1.0 if falls else 1.0]


def test_errors_of_single_contrasts_are_those_of_their_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exactly or by the approximation for large variables, which one level and one neighbour do not need."""
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(3, 400))
    codes[1] = np.where(rng.random(400) < 0.4, codes[0], codes[1])
    data = Table(codes[:, :], ("a", "b", "c"), ((0, 1, 2),) * 3)
    layout = Layout(Graph("abc", [("a", "b"), ("b", "c")]), data.cardinalities)
    exact = []
    for most in (400, 0):
        monkeypatch.setattr("ibmap.model.effect_errors.EXACT", most)
        _, _, errors = _fitted(as_engine(data), layout)
        for e in range(2):
            found = errors.along_contrasts(e)
            assert found.shape == (2, 2)
            for k in range(2):
                for j in range(2):
                    along = np.zeros((1, 2, 2))
                    along[0, k, j] = 1
                    ends = [
                        errors._of_ends(np.array([e]), side, turned)[0]
                        for side, turned in ((0, along), (1, along.swapaxes(1, 2)))
                    ]
                    assert found[k, j] == pytest.approx(np.mean(ends))
            exact.append(found)
    for one, rough in zip(exact[:2], exact[2:], strict=True):
        assert rough == pytest.approx(one, rel=0.1)
