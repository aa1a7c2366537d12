"""Scales: scores rise with values and have mean 0 and variance 1, and values come back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ibmap.errors import DataError
from ibmap.model.scales import MOST_VALUES, Scale, labels_of

COLUMNS = arrays(np.float64, st.integers(2, 40), elements=st.integers(-50, 50).map(lambda k: k / 4))


@given(COLUMNS, st.sampled_from(["ranks", "values"]))
def test_values_come_back(column, numbers):
    scale = Scale.of(column, numbers)
    scores = scale.scores(column)
    np.testing.assert_allclose(scale.values_at(scores), column, atol=1e-9)
    if len(np.unique(column)) > 1:
        assert scores.mean() == pytest.approx(0, abs=1e-9)
        assert scores.std() == pytest.approx(1)
    order = np.argsort(column, kind="stable")
    assert (np.diff(scores[order]) >= -1e-12).all()
    assert Scale.from_dict(scale.to_dict()) == scale


def test_ties_keep_their_share_and_nothing_lies_beyond_the_column():
    column = np.concatenate([np.zeros(40), np.arange(1.0, 61.0)])
    drawn = Scale.of(column).values_at(np.random.default_rng(0).normal(size=20_000))
    assert abs((drawn == 0).mean() - 0.4) < 0.05  # with ties scores are not quite normal
    assert (drawn.min(), drawn.max()) == (0, 60)
    assert all(isinstance(value, int) for value in labels_of(Scale.of(column), np.array([-1.0, 0.5])))


def test_many_values_are_kept_as_quantiles():
    column = np.random.default_rng(0).exponential(size=50_000)
    scale = Scale.of(column)
    assert len(scale.values) == MOST_VALUES
    drawn = scale.values_at(np.random.default_rng(1).normal(size=50_000))
    np.testing.assert_allclose(
        np.quantile(drawn, [0.1, 0.5, 0.9]), np.quantile(column, [0.1, 0.5, 0.9]), rtol=0.05
    )


def test_decimals_are_those_of_the_column():
    scale = Scale.of(np.array([1.5, 2.25, 8.0, 9.5]), "values")
    assert scale.decimals == 2
    assert scale.values_at(np.array([0.1234])) == np.round(scale.values_at(np.array([0.1234])), 2)


@pytest.mark.parametrize(
    "how",
    [
        {"spread": 0.0},
        {"mean": np.nan},
        {"values": (2.0, 1.0), "counts": (1, 1)},
        {"values": (1.0,), "counts": ()},
        {"values": (1.0,), "counts": (0,)},
        {"decimals": -1},
    ],
)
def test_odd_scales_are_refused(how):
    with pytest.raises(DataError, match="scale"):
        Scale(**{"mean": 0.0, "spread": 1.0, "decimals": None, **how})
