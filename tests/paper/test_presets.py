"""Presets: what they set reaches the learners, the worlds and the experiments."""

from inspect import signature

import pytest

from ibmap.errors import RequestError
from ibmap.learners.registry import find_learner
from ibmap.paper import presets
from ibmap.paper.registry import experiment_names, find_experiment
from ibmap.synthetic import simulate_random


def test_the_defaults_it_names_are_the_defaults():
    usual = {setting.name: setting.default for setting in presets.paper().settings}
    for who, option in (("gsmn", "gsmn_symmetry"), ("hhc-mn", "hhc_symmetry")):
        assert signature(find_learner(who)).parameters["symmetry"].default == usual[option]
    world = signature(simulate_random).parameters
    assert (world["potentials"].default, world["log_odds"].default) == (
        usual["potentials"],
        usual["log_odds"],
    )
    test = type(presets.paper().test())()
    assert {name: getattr(test, name) for name in presets.TEST} == {
        name: usual[name] for name in presets.TEST
    }
    for name in experiment_names():
        for setting, value in find_experiment(name).study.settings.items():
            assert setting not in usual or str(value) == str(usual[setting]), (name, setting)


@pytest.mark.parametrize("learner", presets.LEARNERS)
def test_its_options_are_those_of_the_learner(learner):
    options = presets.paper().learner(learner)
    assert set(options) <= set(signature(find_learner(learner)).parameters)
    assert options["test"].prior_counts == 0.25


def test_every_setting_has_a_reason():
    text = presets.paper().describe()
    for setting in presets.paper().settings:
        assert f"{setting.name} = {setting.value}" in text
        assert setting.why in text


def test_it_says_what_it_is_not_about():
    with pytest.raises(RequestError, match="is about ibmap-hc, gsmn, hhc-mn, not about 'dag-hc'"):
        presets.paper().learner("dag-hc")
    with pytest.raises(RequestError, match="there is no preset 'ours'; there are paper"):
        presets.find_preset("ours")
