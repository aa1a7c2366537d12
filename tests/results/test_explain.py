import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from ibmap import GSMN, IBMAP, BayesianTest, Graph, Learned, MutualInformation
from ibmap.data import load
from ibmap.engines import as_engine
from ibmap.errors import RequestError, UnknownVariableError
from ibmap.learners import evidence_map, explain, ibmap_hc
from ibmap.results.directed import Directed
from ibmap.results.explain import Explanation, View, judging_test
from ibmap.results.learned import Step
from ibmap.results.provenance import Provenance
from ibmap.results.result_file import result_of, result_of_learned, result_text
from tests.chains import noisy_chain


@pytest.fixture(scope="module")
def chain():
    return noisy_chain(6, 400)


def test_both_views_are_the_pair_scores_of_the_search(chain):
    learned = ibmap_hc(chain)
    names = chain.names
    for i, x in enumerate(names):
        for j, y in enumerate(names):
            if i == j:
                continue
            found = explain(chain, learned, x, y)
            side = "log_dependent" if found.joined else "log_independent"
            assert found.joined == learned.graph.has_edge(x, y)
            assert found.views[0].numbers[side] == pytest.approx(learned.pair_scores[i, j], rel=1e-9)
            assert found.views[1].numbers[side] == pytest.approx(learned.pair_scores[j, i], rel=1e-9)
            assert set(found.views[0].given) == set(learned.graph.blanket(x)) - {y}


def test_evidence_map_is_explained_with_the_posteriors_that_it_shows():
    table = noisy_chain(5, 300, noise=0.3)
    learned = evidence_map(table)
    from_file = result_of(json.loads(result_text(result_of_learned(learned, table)))).learned
    shown = learned.edge_table.first()
    assert len(shown) == 10
    for x, y, one, other in shown:
        for network in (learned, from_file):
            assert explain(table, network, y, x).log_posterior == pytest.approx((one + other) / 2)


def test_both_ends_of_a_strong_edge_are_judged_by_exact_evidence():
    table = noisy_chain(3, 4000)
    found = explain(table, evidence_map(table), "v0", "v1")
    odds = [view.numbers["log_dependent"] - view.numbers["log_independent"] for view in found.views]
    assert found.gain_of_flip == pytest.approx(-np.mean(odds), rel=1e-3)
    assert found.gain_of_flip < -100


def test_the_history_of_the_pair_and_what_a_flip_would_do(chain):
    learned = ibmap_hc(chain)
    step = learned.history[0]
    found = explain(chain, learned, step.y, step.x)
    assert step in found.flips
    assert f"Ascent 1 of {learned.n_iter} added the edge" in found.details()
    assert "Ascent" not in str(found)
    for x, y in (learned.graph.edges[0], (chain.names[0], chain.names[-1])):
        gain = explain(chain, learned, x, y).gain_of_flip
        flipped = ibmap_hc(chain, start=learned.graph.flip(x, y), callback=lambda _: True)
        before = flipped.history[0].score - flipped.history[0].gain if flipped.history else flipped.score
        assert gain == pytest.approx(before - learned.score, rel=1e-9, abs=1e-9)


def test_counts_are_those_of_the_table(chain):
    found = explain(chain, ibmap_hc(chain), "v0", "v1")
    a, b = chain.codes[0], chain.codes[1]
    expected = [[int(((a == i) & (b == j)).sum()) for j in range(2)] for i in range(2)]
    assert [list(row) for row in found.counts] == expected
    assert found.views[0].n_rows == chain.n_rows
    text = str(found)
    assert str(expected[0][0]) in text.splitlines()[-2]
    assert text.startswith(found.words())


def test_estimators_explain(chain):
    net = IBMAP(BayesianTest(prior=0.7)).fit(chain)
    found = net.explain("v0", "v5")
    assert not found.joined
    assert found.test == "bayesian(prior=0.7)"
    assert json.loads(json.dumps(found.to_dict()))["x"] == "v0"
    with pytest.raises(NotFittedError):
        IBMAP().explain("v0", "v1")


def test_required_and_forbidden_edges_say_so(chain):
    edges = [("v4", "v0"), ("v0", "v4")]
    net = IBMAP(required=edges, forbidden=[("v0", "v1")]).fit(chain)
    assert (net.learned_.required, net.learned_.forbidden) == ((("v0", "v4"),), (("v0", "v1"),))
    there, gone, free = (net.explain(x, y) for x, y in (("v0", "v4"), ("v1", "v0"), ("v1", "v2")))
    assert (there.required, there.forbidden, gone.required, gone.forbidden) == (True, False, False, True)
    assert re.match("v0 and v4 are (?!not).* because the edge was required; posterior", there.words())
    assert re.match("v1 and v0 are not .* because the edge was forbidden; posterior", gone.words())
    assert "was not free to flip this pair" in there.details()
    assert not free.required
    assert "because" not in free.words()


@pytest.mark.parametrize("learner", [GSMN(), GSMN("chi-square"), MutualInformation()])
def test_learners_without_a_score_explain_too(chain, learner):
    found = learner.fit(chain).explain("v0", "v1")
    assert found.joined
    assert found.gain_of_flip is None
    assert "scent" not in found.words()
    assert "v0 is dependent on v1" in found.words()


def test_many_levels_and_one_level():
    rng = np.random.default_rng(0)
    data = load({"a": rng.integers(30, size=300), "b": rng.integers(2, size=300), "c": [1] * 300})
    learned = ibmap_hc(data)
    assert "too many to show" in str(explain(data, learned, "a", "b"))
    assert "b and c are not " in str(explain(data, learned, "b", "c"))


@pytest.mark.parametrize(("levels", "drawn"), [(12, True), (13, False)])
def test_counts_of_up_to_twelve_levels_are_drawn(levels, drawn):
    data = load({"a": [*range(levels)] * 10, "b": [0, 1] * (5 * levels)})
    assert ("too many to show" not in str(explain(data, ibmap_hc(data), "a", "b"))) is drawn


def test_bad_questions(chain):
    learned = ibmap_hc(chain)
    with pytest.raises(RequestError, match="both 'v0'"):
        explain(chain, learned, "v0", "v0")
    with pytest.raises(UnknownVariableError):
        explain(chain, learned, "v0", "w")


@pytest.mark.parametrize(
    ("gains", "joined", "said"),
    [
        ((2.0, -1.0), False, True),
        ((-1.0,), False, True),
        ((-1.0, 2.0), False, False),
        ((2.0,), False, False),
        ((-1.0, -2.0), True, False),
    ],
)
def test_an_edge_whose_last_flip_cost_something_was_left_out(chain, gains, joined, said):
    steps = [Step(k, "v0", "v3", k % 2 == 0, gain, -100.0) for k, gain in enumerate(gains, start=1)]
    found = replace(explain(chain, ibmap_hc(chain), "v0", "v3"), flips=steps, joined=joined, n_ascents=9)
    assert (
        "was removed again: other variables explain the data as well, seen from both ends" in found.words()
    ) == said
    for step in steps:
        how = ("rose" if step.gain >= 0 else "fell", abs(step.gain))
        line = "Ascent {} of 9 {} the edge: the score {} by {:g} to -100."
        assert line.format(step.n, "added" if step.added else "removed", *how) in found.details()


@pytest.mark.parametrize("turned", [False, True])
def test_means_of_a_number_are_told_by_level(turned):
    sex, size = np.array(["m", "f"] * 30), np.array([3.0, 1.0, 4.0, 2.5] * 15)
    names = ("size", "sex") if turned else ("sex", "size")
    table = {name: {"sex": sex, "size": size}[name] for name in names}
    data = load({**table, "other": size**2 % 3.3}, continuous=["size", "other"])
    found = explain(data, evidence_map(data), *names)
    lines = [line.split() for line in str(found).splitlines()[-3:]]
    assert lines == [
        ["sex", "rows", "mean", "of", "size", "standard", "deviation"],
        ["f", "30", "1.75", f"{size[1::2].std():.3g}"],
        ["m", "30", "3.5", f"{size[::2].std():.3g}"],
    ]


def test_a_pair_is_judged_by_the_test_of_its_network_unless_another_one_is_asked(chain):
    learned = ibmap_hc(chain, BayesianTest(prior=0.7))
    assert judging_test(learned).name == "bayesian(prior=0.7)"
    assert judging_test(learned, "chi-square").name.startswith("chi-square")
    assert judging_test(evidence_map(chain)).name.startswith("mutual-information")
    assert judging_test(evidence_map(chain), BayesianTest()).name == "bayesian"


def test_an_arc_that_would_close_a_cycle_is_worth_nothing():
    """Of a chain of arcs from v0 to v3, only v0 could be a parent of v3; v1 and v2 have an arc."""
    data = noisy_chain(4, 300, noise=0.05)
    names = data.names
    arcs = [(names[k], names[k + 1]) for k in range(3)]
    graph = Graph(names, arcs)
    learned = Learned(graph, Provenance("dag-hc", {"score": "bic"}), 300, 0, 0, 0.0, score=1.0, arcs=arcs)
    directed = Directed(learned, as_engine(data))
    for x, y in ((0, 3), (3, 0)):
        assert directed.pair(x, y).log_odds == pytest.approx(directed.evidence(3, 0))
    assert directed.evidence(0, 3) > directed.evidence(3, 0), "without its parent v0 would be glad of v3"
    assert directed.pair(0, 3).sentences == ("Neither is a parent of the other, and they have no child.",)
    assert directed.pair(1, 2).log_odds == pytest.approx(directed.evidence(2, 1))
    assert directed.parents(2).tolist() == [1]
    married = [("v0", "v2"), ("v1", "v2")]
    both = Learned(Graph(names, [*married, ("v0", "v1")]), learned.provenance, 300, 0, 0, 0.0, arcs=married)
    found = Directed(both, as_engine(data)).pair(0, 1)
    of_child = Directed(both, as_engine(data))
    assert found.log_odds == pytest.approx(min(of_child.evidence(2, 0), of_child.evidence(2, 1)))
    assert found.sentences[-1] == "Both are parents of v2."


def told(joined=True, numbers=None, others="neighbours", **more):
    """An explanation of x and y, as both ends see them."""
    numbers = numbers or {"log_independent": np.log(0.2), "log_dependent": np.log(0.8)}
    views = [
        View(x, y, given, 10, 2, not joined, numbers, others)
        for x, y, given in (("x", "y", ("z",)), ("y", "x", ()))
    ]
    about = {"flips": (), "n_ascents": 3, "gain_of_flip": None, "levels": ((0, 1), (0, 1))}
    about |= {"counts": ((10, 2), (3, 400)), "test": "bayesian"}
    return Explanation("x", "y", joined, tuple(views), **{**about, **more})


def test_an_explanation_says_what_both_ends_say():
    assert told().words().splitlines() == [
        "x and y are directly associated; posterior of an edge: 0.800.",
        "x is dependent on y given z: P = 0.800.",
        "y is dependent on x (no other neighbours): P = 0.800.",
    ]
    assert told(joined=False).words().splitlines()[1] == "x is independent of y given z: P = 0.200."
    by_value = told(numbers={"statistic": 12.3456, "p_value": 0.0123456})
    assert by_value.log_posterior is by_value.posterior_odds() is None
    assert "x is dependent on y given z: p-value = 0.0123." in by_value.words()
    assert "x is dependent on y given z: statistic = 12.3." in told(numbers={"statistic": 12.3456}).words()
    directed = told(others="parents", log_odds=2.0, arcs=("x is a parent of y.",))
    assert directed.words().splitlines() == [
        "x and y are directly associated; posterior of an edge: 0.881.",
        "x is a parent of y.",
    ]
    assert "y is dependent on x (no other parents): P = 0.800." in directed.details()
    assert "dependent on" not in told().details()


def test_the_posterior_of_an_edge_is_over_rivals_or_of_arcs_or_of_both_ends():
    odds = np.log(4)
    for more, log, expected in (
        ({}, np.log(0.8), odds),
        ({"log_odds": 2.0}, -np.log1p(np.exp(-2.0)), 2.0),
        ({"log_odds": 2.0, "over_rivals": np.log(0.6)}, np.log(0.6), np.log(1.5)),
    ):
        found = told(**more)
        assert found.log_posterior == pytest.approx(log)
        assert found.posterior_odds() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (2.9, "The data say little for or against a direct association."),
        (1 / 2.9, "The data say little for or against a direct association."),
        (3.1, "Evidence for a direct association: Bayes factor 3."),
        (1 / 3.6, "Evidence against a direct association: Bayes factor 4."),
        (1234.0, "Evidence for a direct association: Bayes factor 1,200."),
        (0.99e6, "Evidence for a direct association: Bayes factor 990,000."),
        (1e-7, "Evidence against a direct association: Bayes factor above a million."),
    ],
)
def test_evidence_is_told_as_a_bayes_factor(factor, words):
    assert told(log_bayes_factor=float(np.log(factor))).words().splitlines()[1] == words


def test_rivals_that_are_likely_enough_are_told():
    said = told(rivals=[("x", "z", 0.5), ("y", "z", 0.1), ("y", "w", 0.09)]).words().splitlines()
    assert said[-2:] == [
        "Without this edge, x might be directly associated with z instead (probability 0.5).",
        "Without this edge, y might be directly associated with z instead (probability 0.1).",
    ]
    assert "Neither end could test the edge" in told(untested=True).words()


def test_details_tell_what_the_search_did():
    assert told().details().splitlines()[0] == "The search never flipped this pair."
    assert told(required=True).details().splitlines()[0] == "The search was not free to flip this pair."
    assert told(n_ascents=None).details().splitlines()[0] == "test bayesian"
    lines = told(gain_of_flip=-2.5).details().splitlines()
    assert lines[1] == "Removing it now would change the score by -2.5."
    assert told(gain_of_flip=0.0, joined=False).details().splitlines()[1] == (
        "Adding it now would change the score by +0."
    )
    assert lines[3] == "seen from x: log independent -1.60944; log dependent -0.223144; 10 rows; 2 slices"
    step = Step(2, "x", "y", True, 0.0, -7.0)
    assert "Ascent 2 of 3 added the edge: the score rose by 0 to -7." in told(flips=[step]).details()


def test_counts_are_drawn_below_each_other():
    assert str(told()).splitlines()[-3:] == ["x \\ y   0    1", "    0  10    2", "    1   3  400"]
    assert str(told(correlation=-0.25)).splitlines()[-1] == (
        "correlation of x and y, other variables ignored: -0.2500"
    )
    assert "<pre>" in told()._repr_html_()
    infinite = told(numbers={"log_independent": -np.inf, "log_dependent": 0.0}).to_dict()
    assert infinite["views"][0]["numbers"] == {"log_independent": None, "log_dependent": 0.0}
    assert infinite["views"][0]["given"] == ["z"]
