"""What all searches obey, with every score that can drive them."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from ibmap import IBMAP, Checkpoint, Graph
from ibmap.criteria import SCORES, IBScore, SaturatedScore
from ibmap.data import Table
from ibmap.engines import MemoryEngine
from ibmap.errors import RequestError
from ibmap.learners import ibmap_hc
from ibmap.search import SEARCHES, Climb
from tests.chains import noisy_chain
from tests.engines.partitioned import data_of
from tests.number_tables import table_of_numbers
from tests.reference import saturated as twin
from tests.reference.tables import random_table

#: scores whose evidence is not what a flip gains; only the climb takes them
NOT_ADDITIVE = ("ib", "bjp")
COMBINATIONS = [
    (score, search)
    for score in SCORES
    for search in SEARCHES
    if score not in NOT_ADDITIVE or search == "climb"
]
TRUSTING = [search for search in SEARCHES if search != "climb"]  #: they trust gains without trying them


def chain_of(score: str, *shape: Any, **more: Any) -> Any:
    """A chain as the score takes it: categories, or the same as numbers."""
    data = noisy_chain(*shape, **more)
    return as_numbers(data) if getattr(SCORES[score], "continuous", False) else data


def as_numbers(data: Table) -> Table:
    return table_of_numbers(data.codes.astype(float), data.names)


def bound(table: Any) -> Any:
    return SaturatedScore().bind(MemoryEngine(data_of(*table)), None)


def total(codes: Any, cards: Any, edges: Any) -> float:
    """The score of a graph by the slow twin."""
    blankets = [[y for pair in edges for y in pair if x in pair and y != x] for x in range(len(cards))]
    return sum(twin.value(codes, cards, x, blanket) for x, blanket in enumerate(blankets))


@pytest.mark.parametrize("search", [*(SEARCHES[name]() for name in TRUSTING), Climb(5)])
@pytest.mark.parametrize("seed", range(4))
def test_ends_where_no_single_flip_gains(search: Any, seed: int) -> None:
    codes, cards = random_table(300, 7, 3, 0.0, seed=seed)
    running = search.begin(bound((codes, cards)))
    while not running.finished:
        running.advance(10)
    edges = {tuple(pair) for pair in running.pairs.tolist()}
    best = total(codes, cards, edges)
    assert running.total == pytest.approx(best, rel=1e-9)
    gains = {pair: total(codes, cards, edges ^ {pair}) - best for pair in combinations(range(7), 2)}
    if not isinstance(search, Climb):  # the climb gives up after some proposals
        assert max(gains.values()) <= 1e-7
    sigma = running.pair_scores
    for (x, y), gain in gains.items():  # the log odds against what is asserted are what a flip gains
        odds = [np.log(-np.expm1(s)) - s for s in (sigma[x, y], sigma[y, x])]
        assert np.mean(odds) == pytest.approx(gain, abs=1e-6)


@pytest.mark.parametrize("search", [SEARCHES[name]() for name in TRUSTING])
def test_gains_add_up_to_the_score(search: Any) -> None:
    codes, cards = random_table(400, 9, 3, 0.0, seed=11)
    running = search.begin(bound((codes, cards)))
    height, flips = running.total, running.advance(10_000)
    assert running.finished
    assert flips
    for flip in flips:
        height += flip.gain
        assert flip.gain > 1e-9
        assert flip.score == pytest.approx(height, rel=1e-9)
    assert running.total == pytest.approx(height, rel=1e-9)
    assert running.advance(5) == []


def test_steepest_takes_the_largest_gain_first() -> None:
    codes, cards = random_table(300, 7, 3, 0.0, seed=5)
    running, empty = SEARCHES["steepest"]().begin(bound((codes, cards))), total(codes, cards, set())
    (flip,) = running.advance(1)
    gains = {pair: total(codes, cards, {pair}) - empty for pair in combinations(range(7), 2)}
    assert gains[flip.x, flip.y] == pytest.approx(max(gains.values()))


def test_pairs_of_a_round_have_no_common_end() -> None:
    codes, cards = random_table(500, 12, 2, 0.0, seed=2)
    running = SEARCHES["rounds"]().begin(bound((codes, cards)))
    first = running.advance(1)
    ends = [v for flip in first for v in flip[:2]]
    assert len(first) > 1
    assert len(set(ends)) == len(ends)


@pytest.mark.parametrize(("score", "search"), COMBINATIONS)
def test_required_and_forbidden_edges_are_kept(score: str, search: str) -> None:
    data = chain_of(score, 6, 300)
    net = IBMAP(criterion=score, search=search, required=[("v0", "v4")], forbidden=[("v0", "v1")]).fit(data)
    assert net.graph_.has_edge("v0", "v4")
    assert not net.graph_.has_edge("v0", "v1")
    assert net.graph_.has_edge("v1", "v2")


@pytest.mark.parametrize(("score", "search"), COMBINATIONS)
@pytest.mark.parametrize("stop", [1, 2, 4])
def test_a_search_that_was_stopped_goes_on_as_if_it_had_not(
    tmp_path: Any, score: str, search: str, stop: int
) -> None:
    data, file = chain_of(score, 8, 300), tmp_path / "search.json"
    whole = ibmap_hc(data, score=score, search=search)
    told = []
    stopped = ibmap_hc(
        data,
        score=score,
        search=search,
        callback=lambda step: told.append(step) or len(told) >= stop,
        checkpoint=Checkpoint(file, every=0),
    )
    assert stopped.n_iter >= stop
    again = ibmap_hc(data, score=score, search=search, checkpoint=file)
    assert again.graph == whole.graph
    assert again.n_tests == whole.n_tests
    assert [step[:4] for step in again.history] == [step[:4] for step in whole.history]
    assert again.score == pytest.approx(whole.score, rel=1e-12)
    with pytest.raises(RequestError, match="other options"):
        ibmap_hc(data, score=score, search="climb", patience=7, checkpoint=file)


@pytest.mark.parametrize(("score", "search"), COMBINATIONS)
def test_from_the_truth_or_from_nothing_a_chain_is_found(score: str, search: str) -> None:
    data = chain_of(score, 6, 2000, noise=0.1)
    truth = Graph(data.names, zip(data.names, data.names[1:], strict=False))
    assert ibmap_hc(data, score=score, search=search).graph == truth
    assert ibmap_hc(data, score=score, search=search, start=truth).graph == truth


@pytest.mark.parametrize(("score", "search"), [pair for pair in COMBINATIONS if pair[0] != "bjp"])
def test_permuting_columns_permutes_the_graph(score: str, search: str) -> None:
    """But not by the BJP score: of two blankets of one size, that of the first variable counts."""
    data = chain_of(score, 7, 250, noise=0.25, seed=3)
    order = np.random.default_rng(0).permutation(7)
    values = data.values if len(data.values) else data.codes
    columns = {data.names[i]: values[i] for i in order}
    one, other = (IBMAP(criterion=score, search=search).fit(table) for table in (data, columns))
    assert one.graph_ == other.graph_


@pytest.mark.parametrize("search", TRUSTING)
def test_a_search_that_the_score_cannot_drive_is_an_error(search: str) -> None:
    with pytest.raises(RequestError, match="additive"):
        ibmap_hc(noisy_chain(3, 50), search=search)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"score": "no-such-score"}, "unknown score 'no-such-score'; there are ib, bjp, pairwise"),
        ({"search": "random"}, "unknown search 'random'; there are climb, steepest, rounds"),
        ({"score": IBScore}, "is not a score"),
        ({"search": Climb}, "is not a search"),
        ({"score": "saturated", "test": "bayesian"}, "uses no test"),
        ({"score": "saturated", "search": "rounds", "patience": 3}, "'rounds' has none"),
        ({"test": "chi-square"}, "chi-square.* has none"),
        ({"test": "g-square", "score": "ib"}, "g-square.* has none"),
    ],
)
def test_what_cannot_be_combined_says_what_is_missing(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        ibmap_hc(noisy_chain(3, 50), **options)


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize(("score", "search"), COMBINATIONS)
def test_hardly_any_variables(n: int, score: str, search: str) -> None:
    data: Any = data_of(np.zeros((n, 5), int), [1] * n)
    data = as_numbers(data) if score == "gaussian" else data
    assert ibmap_hc(data, score=score, search=search).graph.n_edges == 0
