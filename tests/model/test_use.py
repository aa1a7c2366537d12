"""Samples, missing cells, scores, and tables that are not those of the model."""

import numpy as np
import pytest
from hypothesis import given, settings

from ibmap.data import Table, load
from ibmap.errors import DataError, RequestError, UnknownVariableError
from ibmap.graph import Graph
from ibmap.model import MarkovNetwork
from ibmap.model.likelihood import row_scores
from tests.model.models import random_network, seeds
from tests.reference import enumeration


def parts(network: MarkovNetwork) -> tuple[object, object, object]:
    return network.layout.scopes, network.fields, (*network.factors, *network.tables)


def dense(n: int = 24, scale: float = 0.15) -> MarkovNetwork:
    """A network that is too large for exact inference."""
    rng = np.random.default_rng(0)
    graph = Graph.complete([f"x{i}" for i in range(n)])
    tables = [scale * rng.normal(size=(2, 2)) for _ in range(graph.n_edges)]
    return MarkovNetwork(graph, ((0, 1),) * n, tuple(rng.normal(size=(n, 2))), tuple(tables))


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_samples_have_the_probabilities_of_enumeration(seed: int) -> None:
    network = random_network(seed, largest=4)
    data = network.sample(20_000, random_state=seed)
    expected = enumeration.weights(*parts(network))
    total = sum(expected.values())
    rows, counts = np.unique(data.codes.T, axis=0, return_counts=True)
    seen = dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))
    for x, weight in expected.items():
        p = weight / total
        assert abs(seen.get(x, 0) / 20_000 - p) < 5 * np.sqrt(p * (1 - p) / 20_000) + 1e-9


def test_samples_repeat_with_their_seed_and_know_all_levels() -> None:
    network = random_network(3)
    one, other = (network.sample(50, random_state=7) for _ in range(2))
    assert (one.codes == other.codes).all()
    assert one.levels == network.levels
    with pytest.raises(RequestError, match="n_rows must be 1 or more"):
        network.sample(0)


def test_a_network_that_is_too_large_answers_by_gibbs_sampling_with_an_error_bar() -> None:
    network = dense()
    assert not network.is_tractable
    answer = network.query("x0", {"x1": 1})
    assert answer.method == "gibbs"
    assert "Gibbs" in str(answer)
    again = network.query("x0", {"x1": 1}, random_state=1)
    assert abs(answer[1] - again[1]) < 5 * (answer.errors[1] + again.errors[1])
    assert network.sample(10, random_state=0).n_rows == 10
    with pytest.raises(RequestError, match="not tractable"):
        network.marginals()
    with pytest.raises(RequestError, match="not tractable"):
        network.log_likelihood(network.sample(2, random_state=0))


def test_what_is_given_makes_a_large_network_tractable() -> None:
    network = dense()
    known = {f"x{i}": i % 2 for i in range(8, 24)}
    answer = network.query("x0", known)
    assert answer.method == "exact"
    keep = [k for k, (_, j) in enumerate(network.graph.pairs.tolist()) if j < 8]
    fields = [f.copy() for f in network.fields[:8]]
    for (i, j), table in zip(network.graph.pairs.tolist(), network.factors, strict=True):
        if i < 8 <= j:
            fields[i] += table[:, j % 2]
    small = [network.graph.pairs[k].tolist() for k in keep]
    wanted = enumeration.marginal(small, fields, [network.factors[k] for k in keep], 0)
    assert list(answer.values()) == pytest.approx(wanted)


def test_the_error_bar_covers_the_truth() -> None:
    network = dense(12, 0.3)
    from ibmap.model.query import SAMPLES, conditional
    from ibmap.model.sampling import gibbs_rows

    truth = network.query("x3")[1]
    rows = gibbs_rows(network.layout, network.theta, SAMPLES, random_state=4)
    shares = conditional(network.layout, network.theta, 3, rows.T.astype(np.int64))[:, 1]
    assert abs(shares.mean() - truth) < 4 * shares.std() / np.sqrt(SAMPLES)


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_likelihoods_are_those_of_enumeration_also_of_incomplete_rows(seed: int) -> None:
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    codes = network.sample(8, random_state=seed).codes.copy()
    codes[rng.random(codes.shape) < 0.3] = -1
    data = Table(codes, network.names, network.levels)
    weights = enumeration.weights(*parts(network))
    for row, found in zip(codes.T.tolist(), network.log_likelihood(data).tolist(), strict=True):
        fits = [
            w for x, w in weights.items() if all(c in (-1, level) for c, level in zip(row, x, strict=True))
        ]
        assert found == pytest.approx(np.log(sum(fits) / sum(weights.values())), abs=1e-9)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_missing_cells_get_the_most_probable_level(seed: int) -> None:
    network = random_network(seed, largest=6)
    rng = np.random.default_rng(seed)
    codes = network.sample(10, random_state=seed).codes.copy()
    codes[rng.random(codes.shape) < 0.5] = -1
    data = Table(codes, network.names, network.levels)
    filled = network.impute(data).codes
    assert (filled[codes >= 0] == codes[codes >= 0]).all()
    for v, row in np.argwhere(codes < 0).tolist():
        known = {u: int(c) for u, c in enumerate(codes[:, row]) if c >= 0}
        shares = enumeration.marginal(*parts(network), v, known)
        assert shares[filled[v, row]] == pytest.approx(max(shares))


def test_draws_keep_what_is_known_and_have_the_probabilities_of_what_is_not() -> None:
    network = random_network(3, largest=6)
    codes = network.sample(1, random_state=0).codes.copy()
    codes[0] = -1
    tables = network.impute_draws(Table(codes, network.names, network.levels), 400, random_state=1)
    drawn = np.array([table.codes[:, 0] for table in tables])
    assert (drawn[:, 1:] == codes[1:, 0]).all()
    shares = enumeration.marginal(
        *parts(network), 0, {u: int(c) for u, c in enumerate(codes[1:, 0], start=1)}
    )
    np.testing.assert_allclose(np.bincount(drawn[:, 0], minlength=len(shares)) / 400, shares, atol=0.1)
    assert len(network.impute_draws(Table(codes, network.names, network.levels), 1, random_state=1)) == 1


def test_gaps_of_a_network_that_is_too_large_are_filled() -> None:
    network = dense(24, 2.0)
    rows = network.sample(4, random_state=0).codes.copy()
    rows[:2, 0] = -1
    rows[:, 1] = -1
    filled = network.impute(Table(rows, network.names, network.levels))
    assert not filled.has_missing


def test_predictions_hide_the_variable_itself() -> None:
    table = {"a": ["x", "y"] * 40, "b": ["x", "y"] * 40}
    network = MarkovNetwork.fit(Graph("ab", [("a", "b")]), load(table))
    wrong = {"a": ["x", "y"], "b": ["y", "x"]}
    assert network.predict("b", wrong) == ["x", "y"]
    assert network.predict_probabilities("b", wrong).sum(axis=1) == pytest.approx(1.0)


SURVEY = {
    "smokes": ["no", "yes", "no", "yes"] * 10,
    "age": [18.5, 30.0, 44.25, 60.0] * 10,
    "n": [0, 1, 2, 1] * 10,
}


@pytest.fixture(scope="module")
def survey() -> MarkovNetwork:
    data = load(SURVEY, discretize="quantile", bins={"age": 2, "n": 3})
    return MarkovNetwork.fit(Graph(data.names, [("smokes", "age"), ("age", "n")]), data)


def test_tables_are_read_with_the_bins_and_levels_of_the_model(survey: MarkovNetwork) -> None:
    other = {"n": ["1", "0"], "extra": [5, 6], "smokes": ["yes", None], "age": [2.0, 99.0]}
    filled = survey.impute(other)
    assert filled.names == survey.names
    assert filled.codes[:, 0].tolist() == [1, 0, 1]
    assert filled.codes[1:, 1].tolist() == [1, 0]


def test_levels_that_the_model_has_not_seen(survey: MarkovNetwork) -> None:
    strange = {"smokes": ["no", "cigars"], "age": [20.0, 30.0], "n": [0, 1]}
    with pytest.raises(DataError, match=r"column 'smokes' has the level 'cigars'.*unseen='missing'"):
        survey.log_likelihood(strange)
    assert np.isfinite(survey.log_likelihood(strange, unseen="missing")).all()
    assert not survey.impute(strange).has_missing
    with pytest.raises(RequestError, match="unseen must be"):
        survey.impute(strange, unseen="drop")


def test_a_table_without_a_column_of_the_model(survey: MarkovNetwork) -> None:
    with pytest.raises(DataError, match="no column 'age'"):
        survey.impute({"smokes": ["no"], "n": [1]})


def test_questions_that_make_no_sense(survey: MarkovNetwork) -> None:
    with pytest.raises(UnknownVariableError, match="smoke"):
        survey.query("smoke")
    with pytest.raises(RequestError, match="'smokes' is both asked about and given"):
        survey.query("smokes", {"smokes": "no"})
    with pytest.raises(RequestError, match="no level 'maybe': it has 'no', 'yes'"):
        survey.query("n", {"smokes": "maybe"})
    with pytest.raises(RequestError, match="no level"):
        survey.query("n", {"smokes": ["no"]})


def test_all_values_of_a_column_may_be_missing(survey: MarkovNetwork) -> None:
    assert not survey.impute({"smokes": [None, None], "age": [None, 20.0], "n": [1, None]}).has_missing


@pytest.mark.parametrize(
    ("fields", "factors"),
    [([[0, 0]], [[[0, 0], [0, 0]]]), ([[0, 0], [0, 0]], []), ([[0, np.nan], [0, 0]], [[[0, 0], [0, 0]]])],
)
def test_parameters_that_do_not_fit_are_refused(fields: list[object], factors: list[object]) -> None:
    with pytest.raises(RequestError):
        MarkovNetwork(Graph("ab", [("a", "b")]), ((0, 1), (0, 1)), tuple(fields), tuple(factors))


def impossible() -> MarkovNetwork:
    """a and b are never 0 and 1 together; c is alone."""
    never = np.array([[0.0, -np.inf], [0.0, 0.0]])
    return MarkovNetwork(Graph("abc", [("a", "b")]), ((0, 1),) * 3, (np.zeros(2),) * 3, (never,))


def test_no_answer_follows_from_what_is_impossible() -> None:
    network = impossible()
    assert network.query("a", {"b": 1})[1] == 1.0
    with pytest.raises(RequestError, match="probability zero"):
        network.query("c", {"a": 0, "b": 1})
    row = {"a": [0, 1], "b": [1, 1], "c": [0, None]}
    for call in (lambda: network.predict("c", row), lambda: network.predict_probabilities("c", row)):
        with pytest.raises(DataError, match="row 0 has probability zero"):
            call()
    with pytest.raises(DataError, match="row 0 has probability zero"):
        network.impute(row)
    assert network.log_likelihood(row)[0] == network.log_pseudo_likelihood(row)[0] == -np.inf
    assert row_scores(network, row).columns["oddest_variable"][0] in ("a", "b")
    assert network.predict("c", {"a": [1], "b": [1], "c": [0]}) == [0]


def test_what_is_impossible_is_found_in_parts_of_a_large_model() -> None:
    """The model is too large for exact inference; what is given leaves two parts, one of them impossible."""
    whole = dense()
    names = (*whole.names, "p", "q", "r")
    never = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    pairs = [*whole.graph.edges, ("p", "q"), ("q", "r")]
    network = MarkovNetwork(
        Graph(names, pairs),
        ((0, 1),) * len(names),
        (*whole.fields, *(np.zeros(2),) * 3),
        (*whole.factors, never, never),
    )
    known = {f"x{i}": i % 2 for i in range(8, 24)}
    wanted = whole.query("x0", known)
    assert dict(network.query("x0", {**known, "p": 1, "r": 1})) == pytest.approx(dict(wanted))
    for more in ({"p": 0, "r": 1}, {"p": 0, "q": 1}):
        with pytest.raises(RequestError, match="probability zero"):
            network.query("x0", {**known, **more})
    with pytest.raises(RequestError, match="too large to tell"):
        network.query("p", {"r": 1})


def test_a_model_in_which_nothing_is_possible_has_no_probabilities() -> None:
    never = np.array([[-np.inf, 0.0], [-np.inf, -np.inf]])
    graph, fields = Graph("abc", [("a", "b"), ("b", "c")]), (np.zeros(2),) * 3
    network = MarkovNetwork(graph, ((0, 1),) * 3, fields, (never, never))
    table = {"a": [0], "b": [1], "c": [0]}
    for call in (
        network.marginals,
        lambda: network.sample(3),
        lambda: network.log_likelihood(table),
        lambda: row_scores(network, table),
    ):
        with pytest.raises(RequestError, match="no configuration is possible"):
            call()
    with pytest.raises(RequestError, match="probability zero"):
        network.query("a")
    assert network.log_pseudo_likelihood(table)[0] == -np.inf


def test_means_of_scores_are_those_of_rows_and_of_values() -> None:
    network = random_network(2, largest=5)
    codes = network.sample(7, random_state=0).codes.copy()
    codes[0, :3] = -1
    scores = row_scores(network, Table(codes, network.names, network.levels))
    rows = scores.columns["log_pseudo_likelihood"]
    known = scores.conditionals[~np.isnan(scores.conditionals)]
    means = scores.means
    assert means["log_pseudo_likelihood"] == pytest.approx(sum(rows) / 7)
    assert means["log_pseudo_likelihood_per_value"] == pytest.approx(known.mean())
    assert means["log_likelihood"] == pytest.approx(np.mean(scores.columns["log_likelihood"]))


@settings(deadline=None, max_examples=25)
@given(seeds)
def test_predictions_are_answers_to_questions_about_all_else_that_rows_know(seed: int) -> None:
    network = random_network(seed)
    rng = np.random.default_rng(seed)
    codes = network.sample(4, random_state=seed).codes.copy()
    codes[rng.random(codes.shape) < 0.3] = -1
    data = Table(codes, network.names, network.levels)
    for i, x in enumerate(network.names):
        found = network.predict_probabilities(x, data)
        assert found.shape == (4, len(network.levels[i]))
        for row, shares in zip(codes.T.tolist(), found, strict=True):
            known = {u: code for u, code in enumerate(row) if code >= 0 and u != i}
            assert shares == pytest.approx(enumeration.marginal(*parts(network), i, known))
            labels = {network.names[u]: network.levels[u][code] for u, code in known.items()}
            assert list(network.query(x, labels).values()) == pytest.approx(shares.tolist())
        best = [network.levels[i][k] for k in found.argmax(axis=1)]
        assert network.predict(x, data) == best


def test_gaps_of_a_large_network_have_nearly_the_shares_of_enumeration() -> None:
    """Where a part is too large for exact inference, Gibbs sampling fills it."""
    network = dense(10, 0.5)
    codes = network.sample(2, random_state=0).codes.copy()
    codes[:9, 0] = codes[0, 1] = -1
    data = Table(codes, network.names, network.levels)
    exact = network.predict_probabilities("x0", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ibmap.model.missing_cells.tree_of", lambda layout: None)
        patch.setattr("ibmap.model.query.tree_of", lambda layout: None)
        sampled = network.predict_probabilities("x0", data)
    assert sampled == pytest.approx(exact, abs=0.05)


def test_numbers_of_rows_and_sweeps_are_one_or_more() -> None:
    for network in (dense(), random_network(3)):
        for how in ({"n_rows": 0}, {"n_rows": 1, "sweeps": 0}, {"n_rows": 1.5}):
            with pytest.raises(RequestError, match="must be"):
                network.sample(**how)
        assert network.sample(1, sweeps=1, random_state=0).n_rows == 1


def test_up_to_three_interactions_are_named_and_more_are_counted() -> None:
    graph = Graph.complete("abcde")
    triples = [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "e"), ("c", "d", "e")]
    pairs = tuple(np.zeros((2, 2)) for _ in range(graph.n_edges))

    def network(n: int, of: Graph = graph) -> MarkovNetwork:
        tables = tuple(np.ones((2, 2, 2)) for _ in range(n))
        more = {"interactions": tuple(triples[:n]), "tables": tables}
        return MarkovNetwork(of, ((0, 1),) * 5, (np.zeros(2),) * 5, pairs[: of.n_edges], **more)

    assert network(4).terms_in_words == "with 4 interactions"
    assert network(3).terms_in_words == ("with interactions of a, b and c; a, b and d; a, b and e")
    assert network(0).terms_in_words == "without interactions"
    assert network(0, Graph("abcde", [("a", "b"), ("b", "c")])).terms_in_words == ""


def test_the_oddest_rows_and_values_are_the_least_probable_ones() -> None:
    network = random_network(2, largest=5)
    codes = network.sample(9, random_state=0).codes.copy()
    codes[:, 4] = -1
    codes[0, :2] = -1
    scores = row_scores(network, Table(codes, network.names, network.levels))
    logs = scores.columns["log_likelihood"]
    assert scores.n_rows == 9
    assert scores.columns["row"] == list(range(9))
    assert scores.oddest(3) == sorted(range(9), key=lambda row: logs[row])[:3]
    known = np.where(np.isnan(scores.conditionals), np.inf, scores.conditionals)
    for row in range(9):
        named = [scores.columns[f"oddest_{what}"][row] for what in ("variable", "value", "p")]
        if row == 4 or np.isinf(known[:, row]).all():
            assert named[:2] == [None, None]
            assert np.isnan(named[2])
        else:
            v = int(known[:, row].argmin())
            assert named[:2] == [network.names[v], str(network.levels[v][codes[v, row]])]
            assert named[2] == pytest.approx(np.exp(known[v, row]))
    assert logs[4] == pytest.approx(0)
