"""Scales: scores rise with values and have mean 0 and variance 1, and values come back.

And what is told of numbers: their quantiles, bars and digits.
"""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ibmap.errors import DataError
from ibmap.model.number_answer import FINE, NumberAnswer, histogram, number_answer, quantiles
from ibmap.model.scales import MOST_ROWS, MOST_VALUES, Scale, labels_of

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
        {"decimals": 7},
        {"spread": -1.0},
        {"spread": np.inf},
        {"values": (1.0, np.inf), "counts": (1, 1)},
        {"values": (1.0, 1.0), "counts": (1, 1)},
        {"values": (1.0, 2.0), "counts": (1, MOST_ROWS)},
        {"counts": (1,)},
    ],
)
def test_odd_scales_are_refused(how):
    with pytest.raises(DataError, match="scale"):
        Scale(**{"mean": 0.0, "spread": 1.0, "decimals": None, **how})


def test_scales_at_the_limits_are_taken():
    for decimals in (0, 6, None):
        assert Scale(0.0, 1.0, decimals, (1.0, 2.0), (1, MOST_ROWS - 2)).decimals == decimals


@pytest.mark.parametrize(
    ("values", "decimals"),
    [([3.0, 8.0], 0), ([0.5, 8.0], 1), ([0.000001], 6), ([0.0000001], None), ([1 / 3, 2.0], None), ([], 0)],
)
def test_decimals_are_as_many_as_the_values_have_up_to_six(values, decimals):
    for numbers in ("ranks", "values"):
        assert Scale.of(np.array(values), numbers).decimals == decimals


@pytest.mark.parametrize("numbers", ["ranks", "values"])
def test_columns_that_do_not_vary_have_a_spread_of_one(numbers):
    for values in ([7.0, 7.0, 7.0], [7.0], [np.nan, 7.0]):
        scale = Scale.of(np.array(values), numbers)
        assert (scale.spread, scale.scores(np.array([7.0])).tolist()) == (1, [0])
    for values in ([], [np.nan, np.nan]):
        scale = Scale.of(np.array(values), numbers)
        assert (scale.mean, scale.spread) == (0, 1)
    assert Scale.of(np.array([1.0, 1.0 + 1e-15]), "values").spread == 1, "that is rounding"
    assert Scale.of(np.array([-2.0, -2.0, 4.0, 4.0]), "values") == Scale(1.0, 3.0, 0)
    assert Scale.of(np.array([-1e300, 1e300]), "values").spread == pytest.approx(1e300)
    assert Scale.of(np.array([0.0, 0.0]), "values") == Scale(0.0, 1.0, 0)


def test_two_thousand_different_values_are_all_kept():
    column = np.arange(MOST_VALUES + 1) ** 2 / 8
    kept = Scale.of(column[:-1])
    assert (kept.values, set(kept.counts)) == (tuple(column[:-1].tolist()), {1})
    thinned = Scale.of(column)
    assert (len(thinned.values), thinned.values[0], thinned.values[-1]) == (MOST_VALUES, 0, column[-1])


def test_scores_are_normal_scores_of_ranks_and_ties_share_the_middle():
    scale = Scale.of(np.array([1.0, 2.0, 2.0, 2.0, 5.0]))
    raw = np.array([-1.2815515655446004, 0.0, 1.2815515655446004])  # of .1, .5 and .9
    np.testing.assert_allclose(
        scale.scores(np.array([1.0, 2.0, 5.0])), raw / np.sqrt(2 / 5 * raw[2] ** 2), atol=1e-9
    )
    assert scale.scores(np.array([1.5]))[0] == pytest.approx(-0.5244005127080409 / scale.spread)  # of .3
    assert scale.scores(np.array([-99.0, 99.0])).tolist() == scale.scores(np.array([1.0, 5.0])).tolist()
    assert labels_of(scale, np.array([-9.0, 0.0, 9.0, np.nan])) == [1, 2, 5, None]
    assert labels_of(Scale(0.5, 2.0, 1), np.array([1.0, np.nan])) == [2.5, None]


@given(
    st.floats(-100, 100),
    st.floats(0.1, 1e4),
    st.sampled_from([0.5, 1.0, 3.0]),
    st.booleans(),
    st.integers(0, 9),
)
def test_bars_are_about_ten_as_wide_as_round_numbers_and_share_out_all_values(low, width, skew, whole, seed):
    values = np.sort(low + width * np.random.default_rng(seed).random(300) ** skew)
    first, last = values[2], values[-3]
    bars = histogram(values, first, last, whole)
    widths = [b - a for a, b, _ in bars]
    step = widths[0]
    mantissa = step / 10.0 ** np.floor(np.log10(step) + 1e-9)
    assert min(abs(mantissa - round_number) for round_number in (1, 2, 5)) < 1e-6
    np.testing.assert_allclose(widths, step, rtol=1e-6)
    np.testing.assert_allclose(
        [a / step for a, _, _ in bars], np.round([a / step for a, _, _ in bars]), atol=1e-6
    )
    assert all(a[1] == b[0] for a, b in pairwise(bars))
    if whole:
        assert step >= 1
    if not whole or width > 50:
        assert (last - first) / step <= 10 + 1e-9 < (last - first) / step * 2.5 + 1e-6
    assert bars[0][2] > 0 < bars[-1][2]
    assert bars[0][0] <= first < bars[0][1]
    assert bars[-1][0] <= last <= bars[-1][1]
    for a, b, share in bars:
        inside = (values >= a) & (values < b if b != bars[-1][1] else values <= b)
        assert share == pytest.approx(inside.mean())


def test_a_value_that_does_not_vary_has_one_bar():
    assert histogram(np.full(5, 3.0), 3.0, 3.0, False) == ((3.0, 3.0, 1.0),)
    assert len(histogram(np.array([3.0, 4.0]), 3.0, 4.0, True)) == 2


def test_quantiles_of_mixtures_are_those_of_their_distribution_function():
    from scipy.special import ndtr

    shares, means = np.array([0.2, 0.3, 0.5]), np.array([-3.0, 0.5, 4.0])
    asked = np.array([0.001, 0.025, 0.2, 0.5, 0.975, 0.999])
    for weight in (1.0, 7.0):
        found = quantiles(shares * weight, means, 0.7, asked)
        below = ndtr((found[:, None] - means) / 0.7) @ shares
        np.testing.assert_allclose(below, asked, atol=1e-4)
    np.testing.assert_allclose(quantiles(np.ones(1), np.zeros(1), 2.0, asked[-2:]), [3.92, 6.18], atol=5e-3)
    many = np.random.default_rng(0).gamma(2.0, size=FINE + 1)
    equal = np.full(len(many), 1 / len(many))
    rough, exact = quantiles(equal, many, 0.3, asked), quantiles(equal[:-1], many[:-1], 0.3, asked)
    np.testing.assert_allclose(rough, exact, atol=0.01)
    np.testing.assert_allclose(quantiles(equal, many * 0 + 5, 0.3, np.array([0.5])), [5.0], atol=1e-3)


def test_an_answer_about_a_number_is_in_its_units():
    shares, means = np.array([0.25, 0.75]), np.array([-1.0, 1.0])
    answer = number_answer("y", {"x": 1}, Scale(100.0, 10.0, 0), (shares, means, 0.5), sampled=False)
    assert (answer.mean, answer.error, answer.method, answer.whole) == (105.0, None, "exact", True)
    assert answer.deviation == pytest.approx(10 * np.sqrt(0.25 + 0.75))
    draws = np.random.default_rng(0).normal(size=400)
    answer = number_answer(
        "y", {}, Scale(100.0, 10.0, None), (np.full(400, 1 / 400), draws, 0.5), sampled=True
    )
    assert answer.error == pytest.approx(10 * draws.std(ddof=1) / 20)
    assert (answer.method, answer.whole) == ("gibbs", False)
    ranks = Scale.of(np.random.default_rng(0).normal(50.0, 5.0, size=3000))
    by_rank = number_answer("y", {}, ranks, (np.ones(1), np.zeros(1), 1.0), sampled=False)
    assert by_rank.mean == pytest.approx(50, abs=0.3)
    assert by_rank.deviation == pytest.approx(5, abs=0.3)
    assert (by_rank.low, by_rank.high) == pytest.approx((40.2, 59.8), abs=0.8)
    assert sum(share for _, _, share in by_rank.histogram) >= 0.99


@pytest.mark.parametrize(
    ("deviation", "shown"),
    [
        *[(150.0, "1234"), (15.0, "1234"), (1.5, "1234.3"), (0.15, "1234.25"), (0.0015, "1234.2500")],
        *[(1e-7, "1234"), (1e10, "1234"), (0.0, "1234")],
    ],
)
def test_two_digits_of_the_deviation_are_shown(deviation, shown):
    answer = NumberAnswer("y", {}, 1234.2500001, deviation, 0.0, 0.0, 0.0, ())
    assert str(answer).splitlines()[1].startswith(f"  mean {shown}, ")


def test_an_answer_is_told_with_what_was_known_and_a_bar_for_each_share():
    bars = ((0.0, 1.0, 0.5), (1.0, 2.0, 0.25), (2.0, 4.0, 0.001), (4.0, 5.0, 0.0))
    answer = NumberAnswer("y", {"a": 1, "b": "x"}, 1.25, 0.5, 1.0, 0.25, 3.0, bars, 0.013, True, "of levels")
    lines = str(answer).splitlines()
    assert lines[0].startswith("y given a=1, b=x, by Gibbs sampling of ")
    assert lines[0].endswith(" rows for a model of levels")
    assert lines[1:3] == [
        "  mean 1.25 ± 0.01, standard deviation 0.5",
        "  median 1.00, 95 % between 0.25 and 3.00",
    ]
    assert lines[3:] == [
        f"       0   50.0% {'█' * 40}",
        f"       1   25.0% {'█' * 20}",
        "  2 to 4    0.1% █",
        "       4    0.0% ",
    ]
    assert str(NumberAnswer("y", {}, 1.25, 0.5, 1.0, 0.25, 3.0, bars[:1])).splitlines()[0] == "y, exact"
    assert "  0 to 1 " in str(NumberAnswer("y", {}, 1.25, 0.5, 1.0, 0.25, 3.0, bars[:1]))
    assert "<pre>" in answer._repr_html_()
