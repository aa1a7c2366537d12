import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import IBMAP, BayesianTest, Bootstrap, Checkpoint, EvidenceMAP, FunctionTest, Graph, load
from ibmap.errors import DataError, DataWarning, RequestError
from ibmap.learners import ibmap_hc
from ibmap.learners.checkpoint import Keeper, fingerprint
from ibmap.results.provenance import Provenance
from ibmap.search.climb import Climbing
from tests.chains import noisy_chain
from tests.reference.tables import random_table


def same(one, two):
    assert one.graph == two.graph
    assert one.score == two.score  # to the last bit
    assert tuple(one.history) == tuple(two.history)
    assert (one.n_tests, one.n_iter) == (two.n_tests, two.n_iter)
    assert np.array_equal(one.pair_scores, two.pair_scores)


def stop_after(n):
    return lambda step: step.n >= n


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    stop=st.integers(1, 12),
    patience=st.integers(0, 3),
    jobs=st.sampled_from([None, 2]),
    options=st.sampled_from([{}, {"prior": 0.3}, {"prior_counts": "jeffreys"}]),
    start=st.booleans(),
)
def test_a_search_that_stops_anywhere_goes_on_as_if_it_had_not(
    tmp_path_factory, seed, stop, patience, jobs, options, start
):
    codes, _ = random_table(80, 7, 3, 0.1 * (seed % 2), seed=seed)
    data = load(codes.T.astype(float) * np.where(codes.T < 0, np.nan, 1), missing="testwise")
    more = {"patience": patience, "n_jobs": jobs, "required": [("x0", "x1")] if start else []}
    test = BayesianTest(**options)
    file = tmp_path_factory.mktemp("saved") / "search"
    ibmap_hc(data, test, **more, callback=stop_after(stop), checkpoint=Checkpoint(file, every=0))
    same(ibmap_hc(data, test, **more, checkpoint=file), ibmap_hc(data, test, **more))
    assert json.loads(file.read_text())["finished"]
    same(ibmap_hc(data, test, **more, checkpoint=file), ibmap_hc(data, test, **more))


@pytest.mark.parametrize("jobs", [None, 2])
def test_pairs_that_were_tried_in_vain_are_kept_too(tmp_path, monkeypatch, jobs):
    """A search with much patience spends its time on proposals that do not pay: they are saved as well."""
    data, file = noisy_chain(9, 60, noise=0.35), tmp_path / "search"
    whole = ibmap_hc(data, patience=30)
    monkeypatch.setattr("ibmap.learners.score_based.BATCH", 1)  # a proposal at a time
    save, saved = Keeper.save, []

    def killed(self, score, *more, **how):
        save(self, score, *more, **how)
        saved.append(len(score.saved()["tried"]))
        if saved[-1] == 20:
            raise KeyboardInterrupt

    monkeypatch.setattr(Keeper, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        ibmap_hc(data, patience=30, n_jobs=jobs, checkpoint=Checkpoint(file, every=0))
    assert len(json.loads(file.read_text())["tried"]) == 20
    monkeypatch.setattr(Keeper, "save", save)
    tries = []
    monkeypatch.setattr(
        Climbing,
        "advance",
        lambda self, *a, advance=Climbing.advance, **k: tries.append(1) or advance(self, *a, **k),
    )
    same(ibmap_hc(data, patience=30, checkpoint=Checkpoint(file, every=0)), whole)
    assert len(tries) < len(saved)


def test_estimators_go_on_too(tmp_path):
    data, file = noisy_chain(6, 200), tmp_path / "search"
    whole = IBMAP(patience=1).fit(data)
    stopped = IBMAP(patience=1, callback=stop_after(2), checkpoint=Checkpoint(file, every=0)).fit(data)
    assert stopped.n_iter_ == 2 < whole.n_iter_
    heard = []
    net = IBMAP(patience=1, callback=heard.append, checkpoint=file).fit(data)
    same(net.learned_, whole.learned_)
    assert [step.n for step in heard] == list(range(3, whole.n_iter_ + 1))
    with pytest.raises(RequestError, match="belongs to another table or to other options"):
        IBMAP(checkpoint=str(file)).fit(data)
    support = Bootstrap(net, 3, random_state=0, n_jobs=2).fit(data).support_
    assert support.equals(Bootstrap(IBMAP(patience=1), 3, random_state=0).fit(data).support_)


def test_tests_in_python_go_on_too(tmp_path):
    data = noisy_chain(5, 100)
    truth = Graph(data.names, [("v0", "v1"), ("v1", "v2"), ("v3", "v4")])

    def oracle(x, y, given):
        names = data.names
        apart = truth.separated(names[x], names[y], [names[z] for z in given])
        return float(np.log(0.9 if apart else 0.2))

    test = FunctionTest(oracle)
    ibmap_hc(data, test, callback=stop_after(1), checkpoint=tmp_path / "s")
    same(ibmap_hc(data, test, checkpoint=tmp_path / "s"), ibmap_hc(data, test))


SCRIPT = """
import sys, time
import numpy as np
from tests.chains import noisy_chain
from ibmap import Checkpoint
from ibmap.learners import ibmap_hc
ibmap_hc(noisy_chain(40, 300), patience=2, checkpoint=Checkpoint(sys.argv[1], every=0),
         callback=lambda step: time.sleep(0.05))
"""


def has_steps(wanted, saved):
    return len(saved["steps"]) >= wanted


def run_until_saved(command, file, ready, **how):
    """Start a process, and kill it when the file says enough; return whether it was killed."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, **how) as process:
        while process.poll() is None:
            try:
                if ready(json.loads(file.read_text())):
                    process.send_signal(signal.SIGKILL)
                    break
            except FileNotFoundError:
                pass
            time.sleep(0.01)
        process.wait()
    return process.returncode == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_killed_search_goes_on(tmp_path):
    file = tmp_path / "search"
    tests = os.path.dirname(os.path.dirname(__file__))
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    command = [sys.executable, "-c", SCRIPT, str(file)]
    for wanted in (3, 9):
        environment = {**os.environ, "PYTHONPATH": path}
        ready = partial(has_steps, wanted)
        assert run_until_saved(command, file, ready, env=environment)
        assert not json.loads(file.read_text())["finished"]
    data = noisy_chain(40, 300)
    whole = ibmap_hc(data, patience=2)
    assert whole.n_iter > 15
    same(ibmap_hc(data, patience=2, checkpoint=file), whole)


def test_it_is_saved_every_so_often_and_at_the_end(tmp_path, monkeypatch):
    times = []
    from ibmap.learners import checkpoint

    write = checkpoint.write_whole
    monkeypatch.setattr(checkpoint, "write_whole", lambda *a, **k: (times.append(1), write(*a, **k)))
    data = noisy_chain(8, 200)
    learned = ibmap_hc(data, callback=lambda _: None, checkpoint=Checkpoint(tmp_path / "a", every=0))
    assert len(times) == learned.n_iter + 1
    times.clear()
    ibmap_hc(data, callback=lambda _: None, checkpoint=Checkpoint(tmp_path / "b", every=3600))
    assert len(times) == 2


def test_other_tables_other_options_and_other_files_are_refused(tmp_path):
    data, file = noisy_chain(5, 100), tmp_path / "search"
    ibmap_hc(data, checkpoint=file)
    before = file.read_text()
    for other in (
        lambda: ibmap_hc(noisy_chain(5, 100, seed=1), checkpoint=file),
        lambda: ibmap_hc(data, patience=1, checkpoint=file),
        lambda: ibmap_hc(data, BayesianTest(prior=np.full((5, 5), 0.4)), checkpoint=file),
        lambda: ibmap_hc(data, forbidden=[("v0", "v1")], checkpoint=file),
    ):
        with pytest.raises(RequestError, match="belongs to another table or to other options"):
            other()
    assert file.read_text() == before
    for text in ("", "{", "[]", "my thesis", before[:-20]):
        file.write_text(text)
        with pytest.raises(DataError, match="is not a checkpoint, or a damaged one"):
            ibmap_hc(data, checkpoint=file)
        assert file.read_text() == text
    whole = json.loads(before)
    for damage in (
        {"steps": [[0, 9, True, 1.0, 2.0]]},
        {"steps": [[0, 1]]},
        {"steps": 3},
        {"n_tests": None},
        {"tried": [[0, 9]]},
    ):
        file.write_text(json.dumps({**whole, **damage}))
        with pytest.raises(DataError, match="a damaged one"):
            ibmap_hc(data, checkpoint=file)
    file.write_text(before.replace('"version": 2', '"version": 3'))
    with pytest.raises(DataError, match="another version"):
        ibmap_hc(data, checkpoint=file)
    with pytest.raises(RequestError, match="no such folder"):
        ibmap_hc(data, checkpoint=tmp_path / "no" / "search")
    with pytest.raises(RequestError, match="is a folder"):
        ibmap_hc(data, checkpoint=tmp_path)


def test_a_search_that_cannot_be_saved_says_so_once_and_goes_on(tmp_path, monkeypatch):
    data, savings = noisy_chain(12, 300), []

    def full(file):
        savings.append(file)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.warns(DataWarning, match="goes on, but is not saved: .*No space left") as caught:
            found = ibmap_hc(
                data, checkpoint=Checkpoint(tmp_path / "saved", every=0), callback=lambda _: None
            )
    assert len(savings) > 1
    assert len(caught) == 1
    same(found, ibmap_hc(data))
    assert os.listdir(tmp_path) == []


def test_the_fingerprint_knows_the_prior_and_the_shape_of_the_table(tmp_path):
    rows = np.arange(24) % 2
    wide, tall = (load(rows.reshape(shape)) for shape in ((4, 6), (6, 4)))
    many = load(np.random.default_rng(0).integers(2, size=(30, 40)))
    even, uneven = np.full((40, 40), 0.5), np.full((40, 40), 0.5)
    uneven[20, 21] = uneven[21, 20] = 0.4  # in the middle, which NumPy leaves out when it prints
    saved = tmp_path / "saved"
    for first, other in [
        ((tall, BayesianTest()), (wide, BayesianTest())),
        ((tall, BayesianTest()), (tall, BayesianTest(prior=0.4))),
        ((many, BayesianTest(prior=even)), (many, BayesianTest(prior=uneven))),
    ]:
        ibmap_hc(*first, checkpoint=saved)
        with pytest.raises(RequestError, match="another table or to other options"):
            ibmap_hc(*other, checkpoint=saved)
        saved.unlink()


def test_the_fingerprint_knows_the_prior_of_a_test_of_ones_own():
    schema = load({"a": [0, 1], "b": [1, 0]}).schema
    own, other = (FunctionTest(lambda x, y, given: True) for _ in range(2))
    other.prior = np.array([[0.5, 0.4], [0.4, 0.5]])
    known = [fingerprint(schema, Provenance("ibmap-hc", test=test)) for test in (own, own, other)]
    assert known[0] == known[1] != known[2]


WRONG = [None, True, -1, 0.5, 10**30, float("inf"), float("nan"), "x", [], {}, [[]], [1], [[0, 0]], [[0, 99]]]
WRONG += [[[0, 1, 2, 3]], [[0.5, 0, 1, 1]], [[0, 1, -1]], [["a", "b"]], [[0, 1, True, 1.0]], [[None] * 5]]


@pytest.mark.parametrize("learner", [EvidenceMAP, IBMAP])
def test_every_field_of_a_checkpoint_is_checked(tmp_path, learner):
    """A field that is gone, or holds something else, is one line, or makes no difference to the end."""
    data, file = load(noisy_chain(7, 200)), tmp_path / "saved"
    learner(callback=stop_after(4), checkpoint=Checkpoint(file, every=0)).fit(data)
    whole = json.loads(file.read_text())
    fields = [name for name in whole if name not in ("format", "version", "fingerprint")]
    assert {"steps", "seconds", "finished", "n_tests"} < set(fields)
    for name in fields:
        for value in ["gone", *WRONG]:
            found = {key: old if key != name else value for key, old in whole.items()}
            if value == "gone":
                del found[name]
            file.write_text(json.dumps(found))
            with suppress(DataError):
                learner(checkpoint=file).fit(data)
    for name in ("seen", "left", "flipped", "steps", "tried"):  # one row of many
        for row in ([0, 99], [0, 1, 2, 99], [[0]], None, 0.5, [0, 0], [0, -1, 1]):
            file.write_text(json.dumps({**whole, "sweeps": 1, name: [*whole.get(name, []), row]}))
            with pytest.raises(DataError, match="a damaged one"):
                learner(checkpoint=file).fit(data)
