import pickle
import signal
import subprocess
import sys
from functools import partial
from time import sleep

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from ibmap import GSMN, IBMAP, BayesianTest, Bootstrap, Graph, Table
from ibmap.data import load
from ibmap.engines import MemoryEngine
from ibmap.errors import RequestError
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.learners.bootstrap import SHARE, bootstrap
from tests.chains import noisy_chain
from tests.learners.sklearn_checks import unfit_checks


@parametrize_with_checks([Bootstrap(n_replicates=3)], expected_failed_checks=unfit_checks)
@pytest.mark.filterwarnings("ignore:too many levels", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_finds_nothing_to_object_to(estimator, check):
    check(estimator)


@pytest.mark.parametrize("share", [None, SHARE])
def test_support_is_the_share_of_replicates_that_are_learned_one_by_one(share):
    data = noisy_chain(5, 60, noise=0.3)
    found = bootstrap(data, ibmap_hc, n_replicates=12, random_state=3, subsample=share)
    engine = MemoryEngine(data)
    graphs = [ibmap_hc(engine.resampled(rng, share)).graph for rng in np.random.default_rng(3).spawn(12)]
    rows = found.support().rows()
    shares = {(x, y): share for x, y, share, _ in rows}
    own = ibmap_hc(data).graph
    for i, x in enumerate(data.names):
        for y in data.names[i + 1 :]:
            assert shares.get((x, y), 0.0) == sum(graph.has_edge(x, y) for graph in graphs) / 12
    assert {row[:2] for row in rows if row[3]} == set(own.edges)
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)
    for threshold in (0, 0.25, 0.5, 1):
        kept = found.averaged(threshold)
        expected = [e for e, share in shares.items() if share > threshold or (share == 1)]
        assert kept == Graph(data.names, expected)


@pytest.mark.parametrize(("share", "n_drawn"), [(0.63, 38), (0.5, 30), (0.999, 59), (0.04, 2)])
def test_subsamples_hold_that_share_of_the_rows_none_twice(share, n_drawn):
    numbers = np.arange(60)
    levels = tuple(range(60)), (0, 1, 2)  # nobody has the last level
    data = Table(np.stack([numbers, numbers % 2]), ("row", "b"), levels)
    seen = []

    def learn(engine):
        seen.append(engine.data)
        return ibmap_hc(engine)

    found = bootstrap(data, learn, n_replicates=8, random_state=0, subsample=share)
    assert found.subsample == share
    assert seen[0] is data
    for table in seen[1:]:
        assert len(set(table.codes[0].tolist())) == table.n_rows == n_drawn
        assert (table.codes[1] == table.codes[0] % 2).all()
        assert table.levels == data.levels
    assert len({tuple(table.codes[0].tolist()) for table in seen[1:]}) == 8


@pytest.mark.parametrize("share", [None, 0.63])
def test_seeds_decide_and_threads_do_not(share):
    data = noisy_chain(5, 60, noise=0.3)
    one, two, other = (
        Bootstrap(IBMAP(), 10, random_state=seed, n_jobs=jobs, subsample=share).fit(data).support_.rows()
        for seed, jobs in ((1, None), (1, 2), (2, None))
    )
    assert one == two
    assert one != other


def test_replicates_that_lose_a_level_keep_it_in_the_question():
    rare = np.zeros(40, int)
    rare[0] = 2
    other = np.arange(40) % 2
    data = Table(np.stack([rare, other]), ("rare", "other"), ((0, 1, 2), (0, 1)))
    seen = []

    def learn(engine):
        seen.append(engine.data)
        return ibmap_hc(engine, BayesianTest(prior_counts="bdeu"))

    bootstrap(data, learn, n_replicates=20, random_state=0, subsample=None)
    assert any(table.codes[0].max() == 0 for table in seen)
    assert all(table.levels == data.levels and table.n_rows == 40 for table in seen)


def test_by_default_no_row_is_drawn_twice():
    data = noisy_chain(3, 50)
    assert bootstrap(data, ibmap_hc, n_replicates=2, random_state=0).subsample == 0.8
    assert Bootstrap(IBMAP(), 2, random_state=0).fit(data).bootstrapped_.subsample == 0.8


@pytest.mark.parametrize("n_rows", [1, 2, 3])
def test_a_handful_of_rows(n_rows):
    data = noisy_chain(3, n_rows)
    found = bootstrap(data, evidence_map, n_replicates=2, random_state=0)
    assert found.n_replicates == 2
    alike = evidence_map(data).copies  # two columns of two rows are often the same
    assert len(found.pairs) <= (3 if n_rows == 3 else len(alike))


def test_repeated_rows_bring_false_edges_and_subsamples_do_not():
    data = load(np.random.default_rng(0).integers(0, 2, (150, 12)))
    kept, repeated = (
        bootstrap(data, evidence_map, n_replicates=10, random_state=0, subsample=share).hits.sum()
        for share in (SHARE, None)
    )
    assert kept < repeated / 3


def test_missing_values_and_bins_are_treated_once():
    rng = np.random.default_rng(0)
    a = rng.normal(size=120)
    frame = pd.DataFrame({"a": a, "b": np.where(rng.random(120) < 0.1, np.nan, (a > 0) * 1.0)})
    net = Bootstrap(
        IBMAP(missing="category", discretize="quantile", bins=2), 15, random_state=0, n_jobs=2
    ).fit(frame)
    assert net.graph_.edges == (("a", "b"),)
    assert isinstance(net.support_, pd.DataFrame)
    assert net.feature_names_in_.tolist() == ["a", "b"]
    assert net.learner_.bin_edges_.keys() == {"a"}


def test_any_learner_clones_and_pickles():
    data = noisy_chain(4, 200)
    net = Bootstrap(GSMN(symmetry="and"), n_replicates=5, random_state=0).fit(data)
    assert net.averaged(0.9).n_edges >= 2
    assert clone(net).get_params()["learner__symmetry"] == "and"
    assert pickle.loads(pickle.dumps(net)).graph_ == net.graph_
    assert not hasattr(net.learner, "learned_")


def test_bad_requests():
    data = noisy_chain(3, 20)
    with pytest.raises(RequestError, match="n_replicates must be between 1 and"):
        Bootstrap(IBMAP(), 0).fit(data)
    with pytest.raises(RequestError, match="one of ibmap's learners"):
        Bootstrap("gsmn").fit(data)
    with pytest.raises(RequestError, match="random_state"):
        Bootstrap(IBMAP(), 2, random_state="x").fit(data)
    with pytest.raises(RequestError, match="between 0 and 1"):
        Bootstrap(IBMAP(), 2).fit(data).averaged(1.5)
    for share in (0.0, 1.0, -0.5, 63, True, "half", np.nan):
        with pytest.raises(RequestError, match=r"subsample must lie between 0 and 1"):
            Bootstrap(IBMAP(), 2, subsample=share).fit(data)
    with pytest.raises(RequestError, match=r"subsample=0.05 leaves fewer than 2 of 20 rows"):
        Bootstrap(IBMAP(), 2, subsample=0.05).fit(data)
    with pytest.raises(NotFittedError):
        Bootstrap(IBMAP()).graph_  # noqa: B018


def test_no_edges_anywhere():
    data = noisy_chain(3, 10, noise=0.5)
    found = bootstrap(data, lambda d: ibmap_hc(d, BayesianTest(prior=1 - 1e-9)), n_replicates=3)
    assert found.averaged(0) == Graph(data.names)
    assert found.support().rows() == []


@pytest.mark.parametrize("jobs", [1, 3])
def test_progress_is_told(jobs):
    told = []
    data, advance = noisy_chain(3, 20), lambda *now: told.append(now)
    bootstrap(data, ibmap_hc, n_replicates=5, n_jobs=jobs, advance=advance)
    assert told == [(done, 5) for done in range(1, 6)]


def test_who_stops_does_not_wait_for_replicates_that_other_threads_are_at():
    data = noisy_chain(3, 20)
    first = MemoryEngine(data).resampled(np.random.default_rng(7).spawn(1)[0]).data

    def learn(engine, callback=None):
        table = engine.data
        if table is not data and not np.array_equal(table.codes, first.codes):
            while not callback(None):  # for ever, if nobody says stop
                sleep(0.001)
        return ibmap_hc(table)

    def interrupted(done, n):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bootstrap(data, learn, n_replicates=9, n_jobs=3, random_state=7, subsample=None, advance=interrupted)


DEAF = """
import polars  # takes over Ctrl-C
from tests.chains import noisy_chain
from ibmap import Graph, Learned
from ibmap.learners.bootstrap import bootstrap
from ibmap.results.provenance import Provenance

def learn(engine, callback=None):
    if callback is not None:
        time.sleep(0.5)  # till all wait
        os.write(1, b"ready\\n")  # in one piece: two threads say it
        while not callback(None):  # for ever, if Ctrl-C is not heard
            time.sleep(0.01)
    return Learned(Graph(engine.schema.names), Provenance("none"), 20, 0, 0, 0.0)

try:
    bootstrap(noisy_chain(3, 20), learn, n_replicates=4, n_jobs=2)
except KeyboardInterrupt:
    print("heard")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
def test_ctrl_c_is_heard_while_all_replicates_are_at_work():
    command = [sys.executable, "-c", f"import os, sys, time; sys.path[:] = {sys.path!r}\n{DEAF}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "ready\n"
            process.send_signal(signal.SIGINT)
            assert process.communicate(timeout=60)[0].endswith("heard\n")
        finally:
            process.kill()


def test_own_callbacks_stay():
    heard = []
    data = noisy_chain(4, 200)
    Bootstrap(IBMAP(callback=heard.append), 3, n_jobs=2, random_state=0).fit(data)
    assert len(heard) > 8
    heard.clear()
    bootstrap(data, partial(ibmap_hc, callback=heard.append), n_replicates=3, n_jobs=2, random_state=0)
    assert len(heard) > 4
