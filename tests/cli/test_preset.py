"""``--preset`` and ``ibmap describe``."""

import json

import pytest

from ibmap.paper import presets, registry


def test_describe(ibmap):
    ran = ibmap("describe")
    assert (ran.code, ran.err) == (0, "")
    assert "prior_counts = 0.25 (otherwise ones)" in ran.out
    assert "gsmn_symmetry = or (as always)" in ran.out
    entries = json.loads(ibmap("describe", "paper", "--json").out)["settings"]
    assert {entry["name"]: entry["value"] for entry in entries} == presets.paper().values
    assert ibmap("describe", "papper").refuses("there is no preset 'papper'; did you mean 'paper'?")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([], ["ibmap-hc", "bayesian(prior_counts=0.25)"]),
        (["--learner", "hhc-mn"], ["hhc-mn(symmetry=or)", "bayesian(prior_counts=0.25)"]),
        (["--learner", "gsmn", "--prior-counts", "0.5"], ["gsmn", "bayesian(prior_counts=0.5)"]),
    ],
)
def test_learn(ibmap, survey, given, words):
    ran = ibmap("learn", survey, "--preset", "paper", *given)
    assert (ran.code, ran.err) == (0, "")
    for word in words:
        assert word in ran.out


def test_learners_of_others_are_refused(refused, survey):
    said = refused(survey, "--preset", "paper", "--learner", "dag-hc")
    assert "--preset paper is for ibmap-hc, gsmn, hhc-mn" in said


def test_simulate(ibmap, tmp_path):
    size = ["--variables", 8, "--tau", 2, "--rows", 20]
    ran = ibmap("simulate", "random", *size, "--preset", "paper", "--out", tmp_path / "a", "--json")
    assert json.loads(ran.out)["provenance"]["potentials"] == "log-uniform"
    given = ["--preset", "paper", "--potentials", "symmetric"]
    ran = ibmap("simulate", "random", *size, *given, "--out", tmp_path / "b", "--json")
    assert json.loads(ran.out)["provenance"]["potentials"] == "symmetric"
    ran = ibmap("simulate", "random", *size, "--out", tmp_path / "c", "--json")
    assert json.loads(ran.out)["provenance"]["potentials"] == "random"


def test_reproduce(ibmap, tmp_path, monkeypatch):
    monkeypatch.setitem(registry._HOME, "toy", "tests.toys:EXPERIMENT")
    known = presets.Preset("toys", "for toys", (presets.Setting("seed", 7, 0, "why not"),))
    monkeypatch.setitem(presets.PRESETS, "toys", lambda: known)
    ran = ibmap("reproduce", "toy", "--quick", "--preset", "toys", "--out", tmp_path / "a", "--json")
    assert json.loads(ran.out)["settings"]["seed"] == 7
    both = ["--preset", "toys", "--set", "seed=8"]
    ran = ibmap("reproduce", "toy", "--quick", *both, "--out", tmp_path / "b", "--json")
    assert json.loads(ran.out)["settings"]["seed"] == 8
