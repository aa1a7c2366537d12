"""Cutting agrees with pandas, and what must not be cut is not."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import load
from ibmap.data.discretize import interval_labels
from ibmap.errors import DataError, RequestError

SKEWED = np.random.default_rng(5).lognormal(size=400)
LUMPY = np.round(np.random.default_rng(6).normal(size=400), 1)


def dense(codes: np.ndarray) -> np.ndarray:
    """Codes without gaps: bins that no row falls in are no levels of ours."""
    return np.unique(codes, return_inverse=True)[1]


@pytest.mark.parametrize("values", [SKEWED, LUMPY], ids=["skewed", "lumpy"])
@pytest.mark.parametrize("k", [2, 3, 5, 10])
def test_agrees_with_numpy_and_pandas(values: np.ndarray, k: int) -> None:
    table = {"x": values, "y": np.zeros(len(values), int)}
    quantile = load(table, discretize="quantile", bins=k)
    edges = np.unique(np.quantile(values, np.linspace(0, 1, k + 1)))
    assert np.array_equal(quantile.codes[0], dense(np.digitize(values, edges[1:-1])))
    assert np.array_equal(np.bincount(np.digitize(values, edges[1:-1])), np.histogram(values, edges)[0])
    assert np.allclose(quantile.bin_edges["x"], pd.qcut(values, k, retbins=True, duplicates="drop")[1])
    width = load(table, discretize="equal-width", bins=k)
    assert np.array_equal(width.codes[0], dense(pd.cut(values, k, labels=False, right=False)))
    assert width.bin_edges["x"][0] == values.min()
    assert width.bin_edges["x"][-1] == values.max()
    assert list(width.bin_edges) == ["x"]


@settings(deadline=None)
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda v: v + 0.5), min_size=2, max_size=60),
    st.integers(2, 8),
    st.sampled_from(["equal-width", "quantile"]),
)
def test_every_value_lies_in_its_interval(values: list[float], k: int, method: str) -> None:
    values = [*values, 0.25]
    data = load({"x": values, "y": [0] * len(values)}, discretize=method, bins=k)
    edges = np.array(data.bin_edges["x"])
    assert len(edges) - 1 <= k
    assert len(set(data.levels[0])) == len(data.levels[0])
    codes = data.codes[0].astype(int)
    bins = dict(zip(interval_labels(data.bin_edges["x"]), pairwise(edges), strict=True))
    for value, code in zip(values, codes, strict=True):
        low, high = bins[data.levels[0][code]]
        assert low <= value < high or value == high == edges[-1]
    order = np.argsort(values)
    assert (np.diff(codes[order]) >= 0).all()
    assert set(codes) == set(range(len(data.levels[0])))


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0.0] * 6 + [0.5, 1.5, 2.0, 3.0, 7.25]), min_size=2, max_size=60),
    st.lists(st.floats(-10, 10), max_size=30),
    st.integers(2, 12),
)
def test_repeated_values_swallow_no_quantiles(lumps: list[float], others: list[float], k: int) -> None:
    values = np.array([*lumps, *others, 0.125])
    table = {"x": values, "y": [0] * len(values)}
    data = load(table, discretize="quantile", bins=k)
    codes, edges = data.codes[0], data.bin_edges["x"]
    assert data.cardinalities[0] <= min(k, len(edges) - 1)
    assert data.cardinalities[0] > 1 or (values == 0.125).all()
    assert set(codes.tolist()) == set(range(data.cardinalities[0]))
    assert (np.diff(codes[np.argsort(values)]) >= 0).all()
    assert (np.diff(edges[:-1]) > 0).all()
    assert edges[-2] <= edges[-1] == values.max()
    again = load(table, bins={"x": edges})
    assert (again.levels, again.codes.tolist()) == (data.levels, data.codes.tolist())
    quantiles = np.quantile(values, np.linspace(0, 1, k + 1))
    if (np.diff(quantiles) > 0).all():
        assert edges == tuple(quantiles.tolist())
    for value in quantiles[1:][np.diff(quantiles) == 0]:  # those have a bin of their own
        assert len(set(values[codes == codes[values == value][0]])) == 1


@pytest.mark.parametrize(
    ("values", "k", "levels"),
    [
        ([0] * 95 + [1, 2, 3, 4, 5], 4, ("[0, 1)", "[1, 2.33333)", "[2.33333, 3.66667)", "[3.66667, 5]")),
        ([0] * 95 + [1, 2, 3, 4, 5], 2, ("[0, 1)", "[1, 5]")),
        ([9] * 95 + [1, 2, 3, 4, 5], 2, ("[1, 9)", "[9, 9]")),
        ([40] * 60 + [*range(20)] + [*range(50, 80)], 4, ("[0, 40)", "[40, 50)", "[50, 64.5)", "[64.5, 79]")),
        ([0.5] * 9 + [0.75], 4, ("[0.5, 0.75)", "[0.75, 0.75]")),
        ([0] * 50 + [7] * 40 + [*range(10)], 3, ("[0, 1)", "[1, 7)", "[7, 9]")),
    ],
)
def test_a_frequent_value_is_a_bin_of_its_own(values: list[float], k: int, levels: tuple[str, ...]) -> None:
    data = load({"x": values, "y": [0] * len(values)}, discretize="quantile", bins=k)
    assert data.levels[0] == levels


def test_number_of_bins_by_default() -> None:
    data = load({"x": SKEWED, "y": SKEWED > 1}, discretize="quantile")
    assert data.cardinalities.tolist() == [int(1 + np.log2(400)), 2]


def test_only_numbers_with_many_values_are_cut() -> None:
    n = 60
    frame = pd.DataFrame(
        {
            "few": np.arange(n) % 4,
            "few floats": np.arange(n) % 4 * 1.0,
            "many": np.arange(n) // 2,
            "many floats": np.arange(n) // 2 * 1.0,
            "halves": np.arange(n) % 2 / 2,
            "flag": np.arange(n) % 2 == 0,
            "word": [str(i // 4) for i in range(n)],
            "category": pd.Categorical(np.arange(n) // 2),
        }
    )
    data = load(frame, discretize="equal-width", bins=4)
    assert list(data.bin_edges) == ["many", "many floats", "halves"]
    assert data.cardinalities.tolist() == [4, 4, 4, 4, 2, 2, 15, 30]
    assert data.levels[0] == data.levels[1] == (0, 1, 2, 3)
    array = load(frame[["few", "many"]].to_numpy(), discretize="equal-width", bins=4)
    assert list(array.bin_edges) == ["x1"]


def test_bins_by_name() -> None:
    table = {"a": SKEWED, "b": SKEWED, "c": SKEWED, "d": np.arange(400) % 3}
    data = load(table, discretize="quantile", bins={"a": 2, "b": [1.0], "d": [0, 1, 2]})
    assert data.cardinalities.tolist() == [2, 2, 9, 2]
    assert data.bin_edges["b"] == (-np.inf, 1.0, np.inf)
    assert data.levels[1] == ("(-inf, 1)", "[1, inf)")
    assert data.bin_edges["d"] == (0.0, 1.0, 2.0)
    assert data.levels[3] == ("[0, 1)", "[1, 2]")
    assert np.array_equal(data.codes[1], SKEWED >= 1)


def test_given_edges_need_no_method_and_may_be_inner_or_outer() -> None:
    x = [0.5, 1.5, 2.5, 1.0]
    assert load({"x": x, "y": x}, bins={"x": [0.5, 1, 2.5], "y": [1, 2]}).levels == (
        ("[0.5, 1)", "[1, 2.5]"),
        ("(-inf, 1)", "[1, 2)", "[2, inf)"),
    )


def test_missing_values_stay_out_of_the_edges() -> None:
    x = [0.5, np.nan, 1.5, 2.5]
    data = load({"x": x, "y": [1, 1, 1, 1]}, missing="testwise", discretize="equal-width", bins=2)
    assert data.codes[0].tolist() == [0, -1, 1, 1]
    assert data.bin_edges["x"] == (0.5, 1.5, 2.5)
    data = load({"x": x, "y": [1, 1, 1, 1]}, missing="category", discretize="equal-width", bins=2)
    assert data.levels[0] == ("[0.5, 1.5)", "[1.5, 2.5]", None)


@pytest.mark.parametrize("method", ["equal-width", "quantile"])
def test_a_constant_column_has_one_bin(method: str) -> None:
    data = load({"x": [0.5, 0.5], "y": [0, 1]}, discretize=method)
    assert data.levels[0] == ("[0.5, 0.5]",)
    assert data.codes[0].tolist() == [0, 0]


def test_empty_bins_are_no_levels() -> None:
    data = load({"x": [0.5, 1.0, 10.0], "y": [0, 1, 0]}, discretize="equal-width", bins=10)
    assert data.levels[0] == ("[0.5, 1.45)", "[9.05, 10]")
    assert len(data.bin_edges["x"]) == 11


def test_labels_have_as_many_digits_as_tell_them_apart() -> None:
    edges = (1e6, 1e6 + 0.1, 1e6 + 0.2)
    assert interval_labels(edges) == ("[1000000, 1000000.1)", "[1000000.1, 1000000.2]")


@pytest.mark.parametrize("method", ["equal-width", "quantile"])
def test_a_range_beyond_the_largest_float_is_cut_as_any_other(method):
    largest = np.finfo(float).max
    values = np.array([-1.0, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1.0])
    huge = load({"x": values * largest, "y": [0, 1] * 4}, discretize=method, bins=4)
    plain = load({"x": values, "y": [0, 1] * 4}, discretize=method, bins=4)
    assert huge.codes.tolist() == plain.codes.tolist()
    assert np.isfinite(huge.bin_edges["x"]).all()
    assert huge.bin_edges["x"][0], huge.bin_edges["x"][-1] == (-largest, largest)


def test_a_single_edge_is_an_inner_one_wherever_the_values_lie() -> None:
    for x in ([1.5, 2.5], [0.25, 0.5], [0.5, 1.5], [1.0, 1.0]):
        data = load({"x": x, "y": [0, 1]}, bins={"x": [1.0]})
        assert data.bin_edges["x"] == (-np.inf, 1.0, np.inf)
        assert data.levels[0] == tuple(
            label for label, there in (("(-inf, 1)", min(x) < 1), ("[1, inf)", max(x) >= 1)) if there
        )


def test_edges_at_the_ends_of_the_values_are_outer_ones() -> None:
    for x, edges in (
        ([1.0, 1.5, 2.0], (1.0, 2.0)),
        ([0.5, 1.5, 2.0], (-np.inf, 1.0, 2.0)),
        ([1.0, 1.5, 2.5], (1.0, 2.0, np.inf)),
    ):
        assert load({"x": x, "y": [0, 1, 0]}, bins={"x": [1.0, 2.0]}).bin_edges["x"] == edges


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"discretize": "median"}, "discretize must be None, 'equal-width' or 'quantile', not 'median'"),
        ({"discretize": "quantile", "bins": 1}, "bins must be at least 2, not 1"),
        ({"discretize": "quantile", "bins": 100_001}, "bins must be at most 100,000"),
        ({"bins": 3}, "bins=3 needs a method"),
        ({"bins": {"x": 3}}, "bins=3 needs a method"),
        ({"discretize": "quantile", "bins": True}, "bins must be a whole number, or map names"),
        ({"bins": [1.0, 2.0]}, "bins must be a whole number, or map names"),
        ({"bins": {"x": "12"}}, "bins must be a whole number, or map names"),
        ({"bins": {"x": []}}, "bins must be a whole number, or map names"),
        ({"bins": {"x": [2.0, 1.0]}}, "bins must be a whole number, or map names"),
        ({"bins": {"x": [1.0, 1.0, 2.0]}}, "bins must be a whole number, or map names"),
        ({"bins": {"x": [1.0, np.nan]}}, "bins must be a whole number, or map names"),
        ({"bins": {"x": [[1.0, 2.0]]}}, "bins must be a whole number, or map names"),
        ({"bins": {"x": ["a"]}}, "bins must be a whole number, or map names"),
        ({"bins": {"y": [1.0]}}, "column 'y', which holds no numbers to cut"),
    ],
)
def test_bins_that_make_no_sense_are_refused(how, words):
    with pytest.raises(DataError, match=words):
        load({"x": [0.5, 1.5, 2.5], "y": ["a", "b", "a"]}, **how)


def test_as_many_bins_as_may_be_and_a_last_bin_of_one_value_are_taken():
    table = {"x": [0.5, 1.5, 2.5], "y": ["a", "b", "a"]}
    assert load(table, discretize="equal-width", bins=100_000).cardinalities[0] == 3
    assert load(table, discretize="equal-width", bins=2).cardinalities[0] == 2
    assert load(table, bins={"x": [0.5, 2.5, 2.5]}).levels[0] == ("[0.5, 2.5)", "[2.5, 2.5]")


def test_continuous_columns_are_refused_with_how_many_values_are_not_whole():
    rows = 7
    table = {"x": [0.5, 1.0, 0.5, 2.0, 3.0, 1.0, 1.0], "y": [0.25, 0.5] * 3 + [1.0], "z": [0, 1] * 3 + [1]}
    words = (
        f"column 'x' holds 1 distinct non-integer value in {rows} rows; it looks continuous \\(so do 'y'\\)"
    )
    with pytest.raises(DataError, match=words):
        load(table)
    words = "column 'y' holds 2 distinct non-integer values in 7 rows; it looks continuous(?! \\()"
    with pytest.raises(DataError, match=words):
        load(table, drop=["x"])


def test_tables_that_were_cut_may_be_asked_for_with_the_same_bins_again():
    table = {"x": [0.5, 1.5, 2.5, 3.5], "w": [0.5, 1.5, 2.5, 3.5], "y": ["a", "b", "a", "b"]}
    how = {"discretize": "quantile", "bins": {"x": [1.0, 2.0], "w": 2}}
    data = load(table, **how)
    assert load(data, **how).levels == load(data).levels == data.levels
    for other in ({"x": [1.0, 3.0], "w": 2}, {"x": [1.0, 2.0], "w": 3}, 2):
        with pytest.raises(
            RequestError, match="the table was loaded already, and columns can only be cut then"
        ):
            load(data, discretize="quantile", bins=other)
