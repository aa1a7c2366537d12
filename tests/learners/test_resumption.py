"""A fit of EvidenceMAP that is stopped at any moment, and taken up again, ends in the same result."""

import json
import sys
from dataclasses import fields

import numpy as np
import pytest

from ibmap import Checkpoint, EvidenceMAP, Graph, load
from ibmap.errors import RequestError
from ibmap.learners import evidence_map
from ibmap.learners.checkpoint import Keeper
from ibmap.results.learned import Learned
from tests.chains import noisy_chain


class KilledError(Exception):
    """Stands for a kill: whatever was going on is lost, but for the files."""


def full_tables(seed=0, n=14, rows=1000):
    """Each variable is drawn given three others, by a full table: the directed view wins."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, 2, rows) for _ in range(5)]
    for x in range(5, n):
        parents = rng.choice(x, 3, replace=False)
        table = rng.random((2, 2, 2)) < 0.5
        chance = np.where(table[tuple(columns[p] for p in parents)], 0.93, 0.07)
        columns.append((rng.random(rows) < chance).astype(int))
    return load({f"v{i}": values for i, values in enumerate(columns)})


def three_way(seed=0, rows=300):
    """Coins, of which every third is the exclusive or of two others, nine times in ten."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, 2, (12, rows))
    columns[2::3] = columns[::3] ^ columns[1::3] ^ (rng.random((4, rows)) < 0.1)
    return load({f"v{i}": values for i, values in enumerate(columns)})


TABLES = {
    "directed": full_tables,
    "undirected": lambda: noisy_chain(14, 250, noise=0.3),
    "three-way": three_way,
}


def same(one: Learned, two: Learned) -> None:
    """Everything but the clock is the same, to the last bit."""
    for field in fields(Learned):
        here, there = getattr(one, field.name), getattr(two, field.name)
        if field.name in ("pair_scores", "known_edges") and here is not None:
            assert np.array_equal(here, there)
        elif field.name == "provenance":
            assert here.to_dict(one.graph.names) == there.to_dict(two.graph.names)
        elif field.name not in ("seconds",):
            assert here == there, field.name


@pytest.mark.parametrize("world", TABLES)
def test_fitting_twice_with_one_checkpoint_changes_nothing(tmp_path, world):
    """A file that holds a finished search must not make the second fit skip what follows the search."""
    data, file = TABLES[world](), tmp_path / "search"
    whole = EvidenceMAP().fit(data).learned_
    assert (whole.arcs is not None) == (world == "directed")
    for _ in range(2):
        same(EvidenceMAP(checkpoint=file).fit(data).learned_, whole)
    assert json.loads(file.read_text())["finished"]


@pytest.mark.parametrize("world", TABLES)
@pytest.mark.parametrize("stop", [1, 2, 5, 9, 14])
def test_a_search_that_stops_after_any_step_ends_alike(tmp_path, world, stop):
    data, file = TABLES[world](), tmp_path / "search"
    evidence_map(data, callback=lambda step: step.n >= stop, checkpoint=Checkpoint(file, every=0))
    same(evidence_map(data, checkpoint=file), evidence_map(data))


@pytest.mark.parametrize("world", TABLES)
@pytest.mark.parametrize("moment", ["best_view", "with_rivals"])
def test_a_fit_that_is_killed_after_its_search_ends_alike(tmp_path, monkeypatch, world, moment):
    data, file = TABLES[world](), tmp_path / "search"
    whole = evidence_map(data)
    if moment == "with_rivals" and whole.arcs is not None:
        moment = "best_view"  # the directed view has no rivals

    def kill(*_, **__):
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(sys.modules["ibmap.learners.evidence_map"], moment, kill)
        with pytest.raises(KilledError):
            evidence_map(data, checkpoint=file)
    assert json.loads(file.read_text())["finished"]
    same(evidence_map(data, checkpoint=file), whole)


@pytest.mark.parametrize("world", TABLES)
def test_a_fit_that_is_killed_between_any_two_savings_ends_alike(tmp_path, monkeypatch, world):
    data, file = TABLES[world](), tmp_path / "search"
    whole, saved = evidence_map(data), Keeper.save
    monkeypatch.setattr("ibmap.learners.score_based.BATCH", 1)

    def killed_after(self, *args, **options):
        saved(self, *args, **options)
        raise KilledError

    kills = 0
    monkeypatch.setattr(Keeper, "save", killed_after)
    for _ in range(100):
        try:
            found = evidence_map(data, checkpoint=Checkpoint(file, every=0))
            break
        except KilledError:
            kills += 1
    assert kills > 2
    same(found, whole)


def test_a_start_that_is_another_is_another_search(tmp_path):
    data, file = noisy_chain(6, 100), tmp_path / "search"
    evidence_map(data, checkpoint=file)
    with pytest.raises(RequestError, match="other options"):
        evidence_map(data, start=Graph(data.names, [("v0", "v5")]), checkpoint=file)


def test_a_prior_of_one_half_is_another_prior_than_none(tmp_path):
    """What a checkpoint stands for is hashed from the values, not from what a file shows of them."""
    data, file = load(np.random.default_rng(0).integers(2, size=(60, 16))), tmp_path / "search"
    unknown, even = np.full((16, 16), np.nan), np.full((16, 16), 0.5)
    np.fill_diagonal(even, np.nan)
    one = evidence_map(data, prior=even, checkpoint=file)
    with pytest.raises(RequestError, match="other options"):
        evidence_map(data, prior=unknown, checkpoint=file)
    assert one.graph != evidence_map(data, prior=unknown).graph
    same(evidence_map(data, prior=even, checkpoint=file), one)
