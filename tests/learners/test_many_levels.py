"""Columns with hundreds of levels: they have no edges, cost nothing, and the learner says so."""

import re

import numpy as np
import pytest

from ibmap import EvidenceMAP
from ibmap._parallel import OneBlasThread, _libraries
from ibmap.criteria import AdaptiveScore, PairwiseScore, SaturatedScore
from ibmap.data import Table, load
from ibmap.engines import MemoryEngine
from ibmap.engines.model import MOST_LEVELS
from ibmap.errors import DataWarning, RequestError, SearchWarning
from ibmap.learners import dag_hc, evidence_map, explain, ibmap_hc
from tests.engines.partitioned import ENGINES
from tests.rows import whole

RNG = np.random.default_rng(3)
A = RNG.integers(0, 3, 900)
TABLE = {
    "a": A,
    "b": (A + (RNG.random(900) < 0.2)) % 3,
    "id": np.arange(900),
    "c": A ^ (RNG.random(900) < 0.1),
    "place": RNG.integers(0, MOST_LEVELS + 30, 900),
}


@pytest.fixture(scope="module")
def data():
    with pytest.warns(DataWarning, match="too many levels"):
        return load(TABLE)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("view", [None, "directed"])
def test_they_have_no_edges_and_the_rest_is_as_without_them(data, engine, view):
    learned = evidence_map(engine(data), view=view, expected_neighbours=2.0)
    said = "\n".join(learned.warnings)
    assert re.search(r"more than 100 levels: 'id' \(900\), 'place' \(13.\) have no edges", said)
    rest = evidence_map(
        load({name: TABLE[name] for name in "abc"}), view=view, expected_neighbours=2.0 * 2 / 4
    )
    assert learned.graph.edges == rest.graph.edges
    assert learned.graph.n_edges >= 2


def test_explanations_know_them(data):
    learned = evidence_map(data)
    assert "not directly associated" in str(explain(data, learned, "a", "id"))


@pytest.mark.parametrize("score", [PairwiseScore, SaturatedScore, AdaptiveScore])
def test_their_evidence_is_against_every_edge(data, score):
    bound = score().bind(MemoryEngine(data), None)
    rows = whole(bound, range(5), [np.array([1]), np.array([0]), *[np.empty(0, np.int64)] * 3])
    others = [0, 1, 3]
    assert (rows.evidence[np.ix_(others, [2, 4])] < -1e6 / 2).all()
    assert (rows.evidence[[2, 2, 2, 4], [0, 1, 4, 3]] < -1e6 / 2).all()
    assert (rows.evidence[np.ix_(others, others)] > -1e6 / 2).all()


def test_a_required_edge_of_one_is_refused(data):
    with pytest.raises(RequestError, match="'id' has 900 levels and will have no edges"):
        evidence_map(data, required=[("a", "id")])


def test_the_estimator_warns(data):
    with pytest.warns(SearchWarning, match="no edges"):
        net = EvidenceMAP().fit(data)
    assert ("a", "b") in net.graph_.edges


def test_blocks_with_one_blas_thread_may_overlap():
    def threads():
        return [one.num_threads for one in _libraries().select(user_api="blas").lib_controllers]

    before = threads()
    one, other = OneBlasThread(), OneBlasThread()
    one.__enter__()
    other.__enter__()
    one.__exit__(None, None, None)
    assert set(threads()) <= {1}
    other.__exit__(None, None, None)
    assert threads() == before


@pytest.mark.parametrize(("levels", "rows"), [(8, 32), (12, 72), (20, 200), (20, 1000)])
def test_independent_columns_of_many_levels_stay_apart(levels: int, rows: int) -> None:
    """With one other column an edge is as likely as not beforehand: some are found, none is likely."""
    found = 0
    for seed in range(10):
        codes = np.random.default_rng(seed).integers(0, levels, (2, rows)).astype(np.int8)
        table = Table(codes, ("a", "b"), (tuple(range(levels)),) * 2)
        found += sum(p > 0.7 for p in evidence_map(table).posteriors or ())
    assert found <= 1


def test_dependent_columns_of_many_levels_do_not() -> None:
    rng = np.random.default_rng(0)
    a = rng.integers(0, 20, 200)
    b = np.where(rng.random(200) < 0.5, a, rng.integers(0, 20, 200))
    table = Table(np.array([a, b], np.int8), ("a", "b"), (tuple(range(20)),) * 2)
    assert evidence_map(table).graph.n_edges == 1


@pytest.mark.parametrize("learn", [evidence_map, ibmap_hc, dag_hc])
@pytest.mark.filterwarnings("ignore::ibmap.DataWarning")
def test_required_edges_may_be_an_iterator(data, learn):
    """Who looks at the levels used it up, and the edge was not required."""
    assert learn(data, required=iter([("a", "c")])).required == (("a", "c"),)


def test_estimators_refuse_an_iterator_which_a_second_fit_would_find_empty():
    for name in ("required", "forbidden"):
        with pytest.raises(RequestError, match=f"{name} must be a list"):
            EvidenceMAP(**{name: iter([("a", "b")])}).fit({"a": [0, 1] * 9, "b": [0, 1] * 9})
