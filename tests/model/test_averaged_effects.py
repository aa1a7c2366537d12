"""Effects averaged over networks: quantiles of the mixture, and where they are shown."""

import math

import numpy as np
import pytest

from ibmap import IBMAP, EvidenceMAP, read_result
from ibmap.model.averaged_effects import mixture_quantile, with_averages
from ibmap.model.effects import AVERAGED, unknown_effects
from ibmap.results.result_file import result_of_learned, result_text
from ibmap.synthetic import simulate_random


@pytest.mark.parametrize("p", [0.02, 0.4, 0.97, 1.0])
@pytest.mark.parametrize(("mean", "error"), [(1.0, 0.3), (-0.2, 0.4), (0.0, 1.0)])
def test_quantiles_are_those_of_draws(p: float, mean: float, error: float) -> None:
    rng = np.random.default_rng(0)
    draws = rng.normal(mean, error, 400_000) * (rng.random(400_000) < p)
    for share in (0.025, 0.5, 0.975):
        assert mixture_quantile(p, mean, error, share) == pytest.approx(np.quantile(draws, share), abs=0.02)


def test_no_edge_has_no_effect_and_nothing_known_stays_so() -> None:
    assert mixture_quantile(0.0, 1.0, 0.1, 0.975) == 0.0
    assert math.isnan(mixture_quantile(0.5, math.nan, 0.1, 0.975))
    assert np.isnan(with_averages(unknown_effects(2), np.array([0.5, 1.0])).averaged_high).all()


def test_averages_stand_beside_the_effects_of_the_network(tmp_path) -> None:
    world = simulate_random(8, 2, 120, potentials="symmetric", log_odds=1.0, random_state=1)
    data = world.to_table()
    learned = EvidenceMAP().fit(data).learned_.with_effects(data)
    effects = learned.effects
    assert effects.columns[-3:] == AVERAGED
    posteriors = np.array(learned.posteriors)
    assert posteriors.min() < 0.95
    np.testing.assert_allclose(effects.averaged_log_odds_ratio, posteriors * effects.log_odds_ratio)
    assert (effects.averaged_low <= effects.averaged_log_odds_ratio).all()
    assert (effects.averaged_log_odds_ratio <= effects.averaged_high).all()
    e = int(posteriors.argmin())
    names = tuple(data.names[v] for v in learned.graph.pairs[e])
    assert "Averaged over networks" in effects.in_words(e, names, ((0, 1), (0, 1)))
    (tmp_path / "result.json").write_text(result_text(result_of_learned(learned, data)), encoding="utf-8")
    again = read_result(tmp_path).learned.effects
    np.testing.assert_allclose(again.averaged_low, effects.averaged_low)


def test_posteriors_that_are_no_probabilities_average_nothing() -> None:
    data = simulate_random(6, 2, 300, random_state=1).to_table()
    effects = IBMAP().fit(data).learned_.with_effects(data).effects
    assert np.isnan(effects.averaged_low).all()
    assert not set(AVERAGED) & set(effects.columns)
