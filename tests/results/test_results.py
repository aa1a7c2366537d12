"""What a fitted learner holds: edges with posteriors, history, provenance; and what a callback may do."""

import math
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ibmap import IBMAP, BayesianTest, FunctionTest, Graph, Learned
from ibmap.errors import IbmapError, RequestError, UnknownVariableError
from ibmap.learners import Step, ibmap_hc
from ibmap.model.effects import unknown_effects
from ibmap.results.edges import EdgeTable, edge_table
from ibmap.results.provenance import Provenance
from tests.engines.partitioned import data_of
from tests.reference.bayesian import log_posterior
from tests.reference.tables import random_table

CODES, CARDS = random_table(400, 7, 3, 0.0, seed=2)
NAMES = [f"v{i}" for i in range(7)]
COLUMNS = dict(zip(NAMES, CODES, strict=True))


@pytest.fixture(scope="module")
def net() -> IBMAP:
    return IBMAP().fit(pl.DataFrame(COLUMNS))


def test_edges_hold_the_posterior_of_an_edge_for_every_pair(net: IBMAP) -> None:
    rows = net.edges_.rows(named=True)
    expected = ["x", "y", "posterior", "log_posterior_xy", "log_posterior_yx", "in_graph", "log_bayes_factor"]
    assert list(rows[0])[:9] == [*expected, "strength", "sign"]
    assert {(row["x"], row["y"]) for row in rows} == set(combinations(NAMES, 2))
    assert {(row["x"], row["y"]) for row in rows if row["in_graph"]} == set(net.graph_.edges)
    for row in rows:
        for one, other, key in ((row["x"], row["y"], "xy"), (row["y"], row["x"], "yx")):
            blanket = [NAMES.index(z) for z in net.graph_.blanket(one) if z != other]
            twin = log_posterior(CODES, CARDS, NAMES.index(one), NAMES.index(other), blanket)
            assert row[f"log_posterior_{key}"] == pytest.approx(twin.log_dependent, rel=1e-6, abs=1e-12)
        mean = (row["log_posterior_xy"] + row["log_posterior_yx"]) / 2
        assert row["posterior"] == pytest.approx(math.exp(mean))


def test_edges_come_first_then_near_misses_each_by_falling_posterior(net: IBMAP) -> None:
    edges = net.edges_
    assert 0 < net.graph_.n_edges < len(edges)
    assert edges["in_graph"].to_list() == sorted(edges["in_graph"], reverse=True)
    for group in edges.partition_by("in_graph"):
        posterior = group["posterior"].to_list()
        assert posterior == sorted(posterior, reverse=True)


@pytest.mark.parametrize("wanted", [0, 1, 3, 10_000])
def test_as_many_near_misses_as_wanted_the_best_ones(net: IBMAP, wanted: int) -> None:
    everything, some = net.edges_, edge_table(net.graph_, net.pair_scores_, wanted)
    n = net.graph_.n_edges + wanted
    for name, column in some.columns.items():
        assert list(column) == everything[name].to_list()[:n]
    assert net.edges_ is everything  # the second time costs nothing


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        (pl.DataFrame(COLUMNS), pl.DataFrame),
        (pd.DataFrame(COLUMNS), pd.DataFrame),
        (pa.table(COLUMNS), pa.Table),
        (CODES.T, pl.DataFrame),
        (COLUMNS, pl.DataFrame),
    ],
    ids=["polars", "pandas", "arrow", "numpy", "dict"],
)
def test_frames_come_back_in_the_library_they_came_from(source: Any, kind: type, net: IBMAP) -> None:
    fitted = IBMAP().fit(source)
    assert isinstance(fitted.edges_, kind)
    assert isinstance(fitted.history_, kind)
    assert np.array_equal(fitted.adjacency_, net.adjacency_)
    edges = nw.from_native(fitted.edges_, eager_only=True)
    assert edges["posterior"].to_list() == net.edges_["posterior"].to_list()
    if kind is not pl.DataFrame or isinstance(source, pl.DataFrame):
        assert fitted.feature_names_in_.tolist() == NAMES


def test_numbers_of_a_fitted_learner(net: IBMAP) -> None:
    assert net.n_features_in_ == 7
    assert net.feature_names_in_.tolist() == NAMES
    assert net.score_ == pytest.approx(net.pair_scores_.sum(), rel=1e-12)
    assert not net.pair_scores_.diagonal().any()
    assert not net.pair_scores_.flags.writeable
    assert net.n_iter_ == len(net.history_) == len(net.learned_.history)
    assert net.history_.columns == ["n", "x", "y", "added", "gain", "score"]
    assert net.history_["score"].to_list()[-1] == net.score_
    assert net.fit_seconds_ > 0
    assert np.array_equal(net.adjacency_, net.graph_.adjacency)


@pytest.mark.parametrize("patience", [0, 2])
@pytest.mark.parametrize("compiled", [True, False])
def test_n_tests_is_what_was_asked(patience: int, compiled: bool) -> None:
    asked, n = 0, 7

    def count(x: int, y: int, given: tuple[int, ...]) -> float:
        nonlocal asked
        asked += 1
        return log_posterior(CODES, CARDS, x, y, given).log_independent

    counted = ibmap_hc(data_of(CODES, CARDS), FunctionTest(count), patience=patience)
    learned = ibmap_hc(data_of(CODES, CARDS), patience=patience) if compiled else counted
    assert learned.n_tests == asked
    proposals, rest = divmod(learned.n_tests - n * (n - 1), 2 * (n - 1))
    assert rest == 0
    assert proposals >= learned.n_iter + 1 + patience


def test_printing_a_fitted_learner_gives_its_provenance(net: IBMAP) -> None:
    said = str(IBMAP(BayesianTest(prior_counts="bdeu"), patience=1).fit(CODES.T))
    for part in (
        "7 variables",
        "learned from 400 rows",
        "ibmap-hc(patience=1)",
        "bayesian(prior_counts=bdeu)",
    ):
        assert part.lower() in said.lower()
    assert str(net).startswith(f"{net.graph_.n_edges} direct associations")
    assert repr(net) == "IBMAP()"
    assert str(IBMAP(patience=1)) == repr(IBMAP(patience=1)) == "IBMAP(patience=1)"


def test_a_callback_sees_every_ascent_and_may_stop_the_search() -> None:
    data, seen = data_of(CODES, CARDS), list[Step]()
    whole = ibmap_hc(data, patience=1, callback=seen.append)
    assert tuple(seen) == whole.history == ibmap_hc(data, patience=1).history
    assert whole.n_tests == ibmap_hc(data, patience=1).n_tests
    stopped = ibmap_hc(data, callback=lambda step: step.n == 2)
    assert stopped.history == whole.history[:2]
    assert stopped.graph == Graph(NAMES, [(step.x, step.y) for step in whole.history[:2]])
    assert stopped.score == whole.history[1].score


def test_an_interrupted_search_leaves_no_state() -> None:
    def interrupt(step: Step) -> None:
        raise KeyboardInterrupt

    net = IBMAP(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        net.fit(CODES.T)
    assert [name for name in vars(net) if name.endswith("_")] == []
    before = net.set_params(callback=None).fit(CODES.T).learned_
    with pytest.raises(KeyboardInterrupt):
        net.set_params(callback=interrupt).fit(CODES[:5].T)
    assert net.learned_ is before
    assert net.n_features_in_ == 7


def test_without_posteriors_edges_are_listed_all_the_same() -> None:
    learned = Learned(Graph("abc", [("a", "c")]), Provenance("someone"), 3, 0, 0, 0.0)
    assert learned.edges_frame.rows(named=True)[0]["x"] == "a"
    assert learned.to_dict()["score"] is None


@pytest.mark.parametrize(
    "options",
    [
        {"patience": -1},
        {"n_jobs": 0},
        {"required": [("v0", "v0")]},
        {"required": ["v0"]},
        {"required": [("v0", "v1", "v2")]},
        {"required": [("v0", "v1")], "forbidden": [("v1", "v0")]},
        {"start": Graph(NAMES, [("v0", "v1")]), "forbidden": [("v1", "v0")]},
    ],
    ids=str,
)
def test_requests_that_make_no_sense(options: dict[str, Any]) -> None:
    with pytest.raises(RequestError):
        IBMAP(**options).fit(pl.DataFrame(COLUMNS))


@pytest.mark.parametrize("option", ["required", "forbidden"])
def test_unknown_variables_are_named(option: str) -> None:
    with pytest.raises(UnknownVariableError, match="'v9'"):
        IBMAP(**{option: [("v0", "v9")]}).fit(pl.DataFrame(COLUMNS))
    with pytest.raises(IbmapError, match="'w'"):
        IBMAP(start=Graph(["v0", "w"], [("v0", "w")])).fit(pl.DataFrame(COLUMNS))


def test_a_representation_holds_no_matrix_and_no_history(net: IBMAP) -> None:
    """What is long is left out; what is said is what tells networks apart."""
    learned = net.learned_
    pair = learned.graph.edges[0]
    long = {"pair_scores", "history", "required", "forbidden", "arcs", "view_scores", "known_edges", "copies"}
    long |= {"constant", "warnings", "rivals", "effects"}
    said = {part.partition("=")[0] for part in re.findall(r"\w+=", repr(learned))}
    assert not said & long
    assert {"graph", "provenance", "n_rows", "n_tests", "n_iter", "seconds", "score"} <= said
    why = repr(net.explain(*pair))
    assert "counts=" not in why
    assert "levels=" not in why
    assert "gain_of_flip=" in why


def test_every_pair_is_an_edge_has_none_or_is_undecided() -> None:
    logs = np.log([[0.95, 0.95], [0.6, 0.6], [0.5, 0.5], [0.05, 0.05]])
    table = EdgeTable(("a", "b", "c", "d"), np.array([[0, 1], [0, 2], [1, 2], [2, 3]]), 2, logs)
    assert table.undecided.tolist() == [False, True, True, False]
    assert (table.n_uncertain, table.n_undecided) == (1, 1)
    decided = EdgeTable(table.names, table.pairs[:2], 2, np.full((2, 2), np.nan))
    assert not decided.undecided.any()


def network(**more: Any) -> Learned:
    """A network of three variables and an edge, with more to say about it."""
    return Learned(Graph("abc", [("a", "c")]), Provenance("someone"), 3, 0, 0, 0.0, **more)


@pytest.mark.parametrize(
    ("more", "words", "summarises"),
    [
        ({}, "", False),
        ({"score": 1.0}, "the geometric mean of two, one from each end", True),
        ({"score": 1.0, "arcs": [("a", "c")]}, "by what the score loses without the arcs", False),
        ({"score": 1.0, "rivals": {}}, "lower where another variable would explain the data as well", False),
        (
            {"score": 1.0, "rivals": {}, "arcs": [("a", "c")]},
            "another variable would explain the data",
            False,
        ),
    ],
)
def test_what_a_posterior_means_is_told_by_who_learned(
    more: dict[str, Any], words: str, summarises: bool
) -> None:
    learned = network(**more)
    assert words in learned.posterior_in_words
    assert bool(learned.posterior_in_words) is bool(words)
    assert learned.summarises_ends is summarises
    assert learned.iterations == ("ascent" if more else "variable")


@pytest.mark.parametrize(
    ("arcs", "directed", "words"),
    [
        (
            None,
            -5.0,
            "A directed graph was tried: neighbours predict each value from the rest of its row better",
        ),
        (
            [("a", "c")],
            -3.0,
            "the rest of its row better than neighbours without direction do (log score -3.0",
        ),
        (
            [("a", "c")],
            -4.0,
            "the rest of its row worse than neighbours without direction do (log score -4.0",
        ),
        (
            [("a", "c")],
            -5.0,
            "the rest of its row worse than neighbours without direction do (log score -5.0",
        ),
    ],
)
def test_which_view_won_is_told_with_both_scores(arcs: Any, directed: float, words: str) -> None:
    learned = network(arcs=arcs, view_scores={"undirected": -4.0, "directed": directed})
    assert words in learned.view_in_words
    first, second = (directed, -4.0) if arcs else (-4.0, directed)
    assert (
        f"(log score {first:.1f} against {second:.1f}, each row left out in turn)." in learned.view_in_words
    )
    assert network().view_in_words == ""


def test_five_variables_that_are_predicted_best_are_named_and_the_worst() -> None:
    shares = {"a": 0.1, "b": 0.3, "c": 0.2, "d": 0.05, "e": 0.6}
    start = "Predicted by their neighbours (share explained in rows left out): "
    said = network(predictability=shares).predictability_in_words
    assert said == f"{start}e 60%, b 30%, c 20%, a 10%, d 5%."
    said = network(predictability={**shares, "f": 0.01}).predictability_in_words
    assert said == f"{start}e 60%, b 30%, c 20%, a 10%, d 5%, ..., f 1%."
    assert network(predictability={}).predictability_in_words == ""
    assert network().predictability_in_words == ""
    nobody = Learned(Graph("abc"), Provenance("someone"), 3, 0, 0, 0.0, predictability=shares)
    assert nobody.predictability_in_words == ""


def test_the_order_of_edges_is_told_by_what_is_known() -> None:
    effects = unknown_effects(1)
    of_one = replace(effects, strength=np.array([0.5]))
    assert network().order_in_words == "edges"
    assert network(score=1.0).order_in_words == "most probable edges"
    assert network(score=1.0, effects=effects).order_in_words == "most probable edges"
    assert network(effects=of_one).order_in_words == "strongest edges"
    assert Learned(Graph("abc"), Provenance("someone"), 3, 0, 0, 0.0, score=1.0).order_in_words == ""


def test_the_strongest_edges_come_first_and_unknown_strengths_last() -> None:
    graph = Graph("abcd", [("a", "b"), ("b", "c"), ("c", "d")])
    strength = replace(unknown_effects(3), strength=np.array([np.nan, -0.5, 0.2]))
    learned = Learned(graph, Provenance("someone"), 3, 0, 0, 0.0, effects=strength)
    assert [edge[:2] for edge in learned.strongest(9)] == [("b", "c"), ("c", "d"), ("a", "b")]
    assert [edge[:2] for edge in learned.strongest(1)] == [("b", "c")]
    frame = learned.edges_frame.filter(pl.col("in_graph"))
    assert frame["strength"].to_list() == pytest.approx([math.nan, 0.5, 0.2], nan_ok=True)


def test_stand_ins_are_rivals_of_edges_in_doubt_that_would_rather_come_than_not() -> None:
    rivals = {("a", "c"): (("a", "b", 0.5), ("c", "b", 0.49))}
    for log, found in ((-0.02, (("a", "b", 0.5),)), (-0.0099, ())):
        sigma = np.zeros((3, 3))
        sigma[0, 2], sigma[2, 0] = log, log
        learned = network(score=1.0, rivals=rivals, pair_scores=sigma)
        assert learned.stand_ins("a", "c") == learned.stand_ins("c", "a") == found
    assert network(score=1.0, rivals=rivals, pair_scores=sigma).stand_ins("a", "b") == ()
    assert network().stand_ins("a", "c") == ()


def test_evidence_against_is_strong_from_a_bayes_factor_of_ten_on_where_the_posterior_decides() -> None:
    """With the prior odds of a test at one, a posterior below .1 decides, which is odds of one to nine."""
    made_by = Provenance("ibmap-hc", test=BayesianTest())
    for edge, n_against in ((0.08, 2), (0.0905, 2), (0.0915, 0), (0.2, 0)):
        sigma = np.full((3, 3), math.log(1 - edge))  # of pairs without an edge: of having none
        sigma[0, 2] = sigma[2, 0] = math.log(0.9)
        np.fill_diagonal(sigma, 0)
        learned = Learned(Graph("abc", [("a", "c")]), made_by, 3, 0, 0, 0.0, score=1.0, pair_scores=sigma)
        assert learned.n_against == n_against, edge
        assert learned.log_bayes_factors[1:] == pytest.approx([math.log(edge / (1 - edge))] * 2)
    assert network().n_against is None
    assert network(score=1.0).n_against is None
    made_by = Provenance("ibmap-hc", test=BayesianTest(prior=0.8))
    learned = Learned(Graph("abc", [("a", "c")]), made_by, 3, 0, 0, 0.0, score=1.0, pair_scores=sigma)
    assert learned.log_bayes_factors[1:] == pytest.approx([math.log(0.25 / 0.25)] * 2)
    constant = replace(learned, constant=("b",))
    assert (len(constant.edge_table), constant.n_against) == (1, 0)
