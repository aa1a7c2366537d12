"""Two views of one table: when a directed graph is tried, which view wins, and what people are told."""

from typing import Any

import numpy as np
import pytest

from ibmap import EvidenceMAP, Learned, read_result, simulate_random
from ibmap.data import CategoricalData, load
from ibmap.engines import MemoryEngine
from ibmap.engines.model import Model
from ibmap.errors import RequestError
from ibmap.learners import evidence_map, explain
from ibmap.learners.views import BEYOND, more_than_main_effects, predicted
from ibmap.report import write_report
from ibmap.results.directed import arcs_of
from ibmap.results.result_file import result_of_learned, result_text
from ibmap.scores.directed import arc_odds, directed_score
from tests.engines.partitioned import ENGINES, data_of


def common_children(n_rows: int = 1500, n: int = 4, seed: int = 0) -> CategoricalData:
    """Pairs of causes, each with a child that is one almost only if both are, and a child of that child."""
    rng, columns = np.random.default_rng(seed), {}
    for k in range(n):
        a, b = rng.random((2, n_rows)) < 0.4
        c = np.where(a & b, rng.random(n_rows) < 0.95, rng.random(n_rows) < 0.1)
        columns |= {f"a{k}": a, f"b{k}": b, f"c{k}": c, f"d{k}": c ^ (rng.random(n_rows) < 0.2)}
    return load({name: column.astype(int) for name, column in columns.items()})


DATA = common_children()


def test_the_directed_view_wins_where_causes_have_common_children() -> None:
    learned = evidence_map(DATA)
    assert learned.arcs is not None
    assert learned.view_scores is not None
    assert learned.view_scores["directed"] > learned.view_scores["undirected"]
    expected = [(f"{x}{k}", f"{y}{k}") for k in range(4) for x, y in ("ab", "ac", "bc", "cd")]
    assert sorted(learned.graph.edges) == sorted(expected)
    assert "predicts each value from the rest of its row better" in learned.view_in_words
    told = explain(DATA, learned, "a0", "b0").words()
    assert "Both are parents of c0." in told
    assert "each row left out in turn" in told


def test_no_directed_view_where_effects_add_up() -> None:
    world = simulate_random(30, 3, 1000, random_state=1)
    learned = evidence_map(load(world.data))
    assert learned.arcs is None
    assert learned.view_scores is None
    assert learned.view_in_words == ""


def test_a_view_can_be_told() -> None:
    world = simulate_random(15, 2, 500, random_state=1)
    data = load(world.data)
    directed, undirected = (evidence_map(data, view=view) for view in ("directed", "undirected"))
    assert directed.arcs is not None
    assert directed.view_scores is not None
    assert directed.view_scores["directed"] < directed.view_scores["undirected"]
    assert "worse" in directed.view_in_words
    assert undirected.view_scores is None
    assert evidence_map(DATA, view="undirected").arcs is None
    assert str(directed.provenance) == "evidence-map(view=directed)"
    with pytest.raises(RequestError, match="view must be 'undirected', 'directed' or None"):
        evidence_map(data, view="both")


def test_constraints_and_priors_hold_in_the_directed_view(tmp_path: Any) -> None:
    prior = np.full((16, 16), np.nan)
    i, j = DATA.names.index("c1"), DATA.names.index("d1")
    prior[i, j] = prior[j, i] = np.nextafter(1.0, 0.0)
    told: Any = {"required": [("a0", "a1")], "forbidden": [("a2", "b2")], "prior": prior}
    learned = evidence_map(DATA, **told, view="directed")
    assert learned.graph.has_edge("a0", "a1")
    assert not learned.graph.has_edge("a2", "b2")
    weaker = explain(DATA, learned, "c1", "d1").log_odds
    assert weaker == pytest.approx(explain(DATA, evidence_map(DATA), "c1", "d1").log_odds - 34, abs=3)
    result = result_of_learned(learned, DATA)
    (tmp_path / "result.json").write_text(result_text(result), encoding="utf-8")
    again = read_result(tmp_path).learned
    assert again.view_scores == learned.view_scores
    assert again.arcs == learned.arcs
    assert explain(DATA, again, "a0", "a1").words() == explain(DATA, learned, "a0", "a1").words()
    write_report(result, tmp_path / "report.html")
    assert "each row left out in turn" in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("engine", ENGINES)
def test_engines_agree(engine: Any) -> None:
    one, other = evidence_map(DATA), evidence_map(engine(DATA))
    assert one.arcs == other.arcs
    assert one.view_scores == pytest.approx(other.view_scores, rel=1e-9)


def test_the_score_of_a_directed_view_has_its_prior() -> None:
    learned = evidence_map(DATA)
    by: Any = learned.provenance.score
    odds = arc_odds(len(DATA.names), by.expected_neighbours, by.prior)
    score = directed_score("bdeu", MemoryEngine(DATA), 1.0, odds)
    arcs = arcs_of(learned)
    assert learned.score == pytest.approx(score.total([np.flatnonzero(row) for row in arcs]), rel=1e-9)
    plain = directed_score("bdeu", MemoryEngine(DATA), 1.0)
    assert score.row(2, np.array([0])) == pytest.approx(
        plain.row(2, np.array([0])) + odds[0, 0] * (np.arange(16) != 2)
    )


def beyond_main_effects(learned: Learned, engine: MemoryEngine) -> dict[int, float]:
    """By how much the evidence of full tables surpasses that of main effects, if they are not too large."""
    out, levels = {}, engine.schema.cardinalities
    for x in range(learned.graph.n_variables):
        blanket = learned.graph.neighbours(x)
        among, alone = (
            [
                2 * engine.rows(Model(family), [x], [given], floor=np.inf).value[0]
                for family in ("pairwise", "saturated")
            ]
            for given in (blanket, [])
        )
        if len(blanket) > 1 and np.prod([levels[v] for v in (x, *blanket)]) <= engine.schema.n_rows:
            out[x] = among[1] - alone[1] - (among[0] - alone[0])
    return out


@pytest.mark.parametrize("seed", range(6))
def test_what_counts_as_more_than_main_effects(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hidden = rng.random((16, 1500)) < 0.02 * (seed % 2)
    codes = np.where(hidden, -1, DATA.codes) if seed else DATA.codes
    codes = np.where(codes < 0, -1, codes + (rng.random(codes.shape) < 0.1 * (seed // 2)))
    data = data_of(codes, (codes.max(axis=1) + 1).tolist())
    engine, learned = MemoryEngine(data), evidence_map(data, view="undirected")
    by: Any = learned.provenance.score
    blankets = [learned.graph.neighbours(x) for x in range(16)]
    values = by.bind(engine, None).rows(np.arange(16), blankets, floor=np.inf).value
    mixed = more_than_main_effects(learned, engine, values)
    expected = [x for x, beyond in beyond_main_effects(learned, engine).items() if beyond > BEYOND]
    assert np.flatnonzero(mixed).tolist() == expected
    assert len(expected) >= 2
    assert (predicted(learned, engine) < 0).all()


def test_stopped_searches_compare_nothing() -> None:
    learned = EvidenceMAP(callback=lambda step: step.n >= 3).fit(DATA).learned_
    assert learned.view_scores is None
