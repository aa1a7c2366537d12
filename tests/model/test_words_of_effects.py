"""What is said of effects is what was computed: intervals, signs, and which edges are worked out together."""

import re
from dataclasses import replace

import numpy as np
import pytest

from ibmap import Graph
from ibmap.data import load
from ibmap.engines import as_engine
from ibmap.model.dependent_effects import Dependence
from ibmap.model.effects import AVERAGED, EVERY, NUMBERS, EdgeEffects, _alike, edge_effects, unknown_effects
from ibmap.model.layout import Layout
from ibmap.model.mixed_effects import MixedEffects, mixed_effects
from ibmap.model.tables import network_of_tables

RNG = np.random.default_rng(0)


def test_an_interval_of_odds_reaches_two_standard_errors_to_either_side() -> None:
    a = RNG.integers(2, size=300)
    data = load({"a": a, "b": a ^ (RNG.random(300) < 0.2)})
    found = edge_effects(as_engine(data), Graph("ab", [("a", "b")]))
    words = found.in_words(0, ("a", "b"), data.levels)
    times, low, high = re.findall(r"are ([\d.]+) times .*interval ([\d.]+) to ([\d.]+)\)", words)[0]
    ratio, error = found.log_odds_ratio[0], found.log_odds_ratio_se[0]
    expected = np.exp(ratio + np.array([0, -1.96, 1.96]) * error)
    assert [float(times), float(low), float(high)] == pytest.approx(expected, rel=0.06)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_between_ordered_levels_has_a_sign(sign: int) -> None:
    grade = RNG.integers(3, size=400)
    table = {"grade": grade, "size": sign * grade + RNG.normal(size=400)}
    engine = as_engine(load(table, ordinal=["grade"], continuous=["size"]))
    found = mixed_effects(engine, Graph(("grade", "size"), [("grade", "size")]))
    assert np.sign(found.strength[0]) == sign
    assert ("differs by -" in found.in_short(0)) is (sign < 0)


def test_edges_whose_ends_have_as_many_levels_are_worked_out_together() -> None:
    levels = np.array([2, 3, 4, 5, 6, 7, 1])
    groups = _alike(Layout(Graph.complete("abcdefg"), levels))
    pairs = Graph.complete("abcdefg").pairs
    shapes = [{tuple(levels[pair].tolist()) for pair in pairs[group]} for group in groups]
    assert all(len(one) == 1 for one in shapes)
    assert sum(map(len, groups)) == 15  # those of the constant are not worked out


def test_a_table_of_two_variables_is_an_edge_whatever_it_holds() -> None:
    flat = [([0, 1], np.ones((2, 2))), ([0, 1, 2], np.ones((2, 2, 2)))]
    network = network_of_tables("abc", [(0, 1)] * 3, flat)
    assert network.graph.edges == (("a", "b"),)
    assert network.interactions == ()


def odds(*ratios: float, strength: float = 0.0) -> Dependence:
    levels = tuple((str(k),) for k in range(len(ratios)))
    return Dependence(("z",), levels, "log_odds_ratio", tuple(np.log(ratios)), (0.1,) * len(ratios), strength)


def strengths(*values: float, strength: float = 0.0) -> Dependence:
    levels = tuple((str(k),) for k in range(len(values)))
    return Dependence(("z",), levels, "strength", values, (0.1,) * len(values), strength)


def test_effects_are_told_by_level_where_they_differ_by_a_factor_of_two() -> None:
    assert odds(2.1, 1.0).is_large(0.0)
    assert odds(0.7, 1.0, 1.45).is_large(0.0)
    assert not odds(1.0, 1.9).is_large(0.9)
    assert not odds(1.0, 1.9, strength=0.9).is_large(0.0), "only Cramér's V has a strength that may hide"


def test_strengths_are_told_by_level_where_they_differ_much_or_the_average_hides_them() -> None:
    assert strengths(0.61, 0.3).is_large(0.9), "twice as large, and more"
    assert not strengths(0.59, 0.3).is_large(0.9)
    assert strengths(0.05, 0.26).is_large(0.9), ".2 larger, and more"
    assert not strengths(0.05, 0.24).is_large(0.9)
    assert strengths(0.5, 0.5, strength=0.46).is_large(0.3), "half as large again as the average"
    assert not strengths(0.5, 0.5, strength=0.44).is_large(0.3)
    assert strengths(0.2, 0.2, strength=0.21).is_large(0.0)
    assert not strengths(0.2, 0.2, strength=0.19).is_large(0.0)


def test_effects_by_level_are_told_the_largest_first_with_their_intervals() -> None:
    one, labels = odds(0.5, 20.0, 3.0), (("no", "yes"), ("off", "on"))
    times = [20.0, 3.0, 0.5]
    around = [[float(f"{t * np.exp(side * 0.196):.2g}") for side in (-1, 1)] for t in times]
    parts = [
        f"{t:g} times as high (95 % interval {low:g} to {high:g}) if z={k}"
        for t, k, (low, high) in zip(times, (1, 2, 0), around, strict=True)
    ]
    assert one.in_words(("x", "y"), labels) == (
        "The effect depends on z. With x=yes, not no, the odds of y=on are "
        f"{parts[0]}, {parts[1]} and {parts[2]}."
    )
    assert one.in_short() == "odds × 20 if z=1, × 0.5 if z=0"
    assert "The odds of y by x are 20 times" in one.in_words(("x", "y"), (("no", "yes"), ("a", "b", "c")))
    assert "The odds of y by x are 20 times" in one.in_words(("x", "y"), (("a", "b", "c"), ("no", "yes")))
    of_tables = strengths(0.25, 0.5)
    assert of_tables.in_words(("x", "y"), labels) == (
        "The effect depends on z. Cramér's V of x and y is 0.50 if z=1 and 0.25 if z=0."
    )
    assert of_tables.in_short() == "V 0.50 if z=1, 0.25 if z=0"
    both = replace(odds(9.5, 0.3), on=("z", "w"), levels=(("0", "a"), ("1", "b")))
    assert both.in_short() == "odds × 0.3 to 9.5, by z and w"
    assert "if z=0 and w=a" in both.in_words(("x", "y"), labels)


def test_a_dependence_comes_back_from_its_dictionary_and_lists_of_other_lengths_are_refused() -> None:
    one = odds(0.5, 20.0, 3.0)
    assert Dependence.from_dict(one.to_dict()) == one
    for wrong in (
        {"values": [1.0, 2.0]},
        {"errors": [1.0]},
        {"levels": [["0"], ["1"]]},
        {"levels": [["0"], ["1"], []]},
        {"on": []},
    ):
        with pytest.raises(ValueError, match="no levels"):
            Dependence.from_dict({**one.to_dict(), **wrong})


#: what may be known of an edge of each kind, and how it is said
SAID = [
    (
        {"partial_correlation": 0.5, "partial_correlation_se": 0.04, "direction": 1.0, "strength": 0.5},
        ((), ()),
        "r +0.50 ± 0.04",
        "x and y rise together, everything else equal: their partial correlation is +0.50 ± 0.04.",
    ),
    (
        {"partial_correlation": -0.5, "partial_correlation_se": 0.04, "direction": -1.0, "strength": 0.5},
        ((), ()),
        "r -0.50 ± 0.04",
        "x falls where y rises, everything else equal: their partial correlation is -0.50 ± 0.04.",
    ),
    (
        {"log_odds_ratio": np.log(3), "log_odds_ratio_se": 0.1, "direction": 1.0, "strength": 0.25},
        (("no", "yes"), ("off", "on")),
        "odds × 3 (2.5 to 3.6)",
        "The odds of y=on are 3 times as high with x=yes as with x=no, everything else equal (95 % interval "
        "2.5 to 3.6).",
    ),
    (
        {"mean_difference": 0.75, "mean_difference_se": 0.2, "direction": 1.0, "strength": 0.25},
        (("low", "mid", "high"), ()),
        "differs by +0.75 ± 0.2 SD",
        "y is higher by 0.75 ± 0.2 standard deviations with x=high than with x=low, everything else equal.",
    ),
    (
        {"mean_difference": -0.75, "mean_difference_se": 0.2, "direction": -1.0, "strength": 0.25},
        ((), ("low", "mid", "high")),
        "differs by -0.75 ± 0.2 SD",
        "x is lower by 0.75 ± 0.2 standard deviations with y=high than with y=low, everything else equal.",
    ),
    (
        {"mean_difference": 0.75, "mean_difference_se": 0.2, "highest": 1.0, "strength": 0.25},
        (("red", "green", "blue"), ()),
        "differs by 0.75 ± 0.2 SD",
        "y is highest with x=green, by 0.75 ± 0.2 standard deviations above the lowest, everything else "
        "equal.",
    ),
    (
        {
            "mean_difference": 0.75,
            "mean_difference_se": 0.2,
            "direction": 1.0,
            "strength": 0.25,
            "log_odds_per_sd": np.log(12.4),
            "log_odds_per_sd_se": 0.1,
        },
        (("no", "yes"), ()),
        "odds × 12 (10 to 15) per SD",
        "y is higher by 0.75 ± 0.2 standard deviations with x=yes than with x=no, everything else equal; one "
        "standard deviation more of y multiplies the odds of x=yes by 12 (95 % interval 10 to 15).",
    ),
    (
        {"strength": 0.25, "strength_se": 0.03, "direction": -1.0},
        (("low", "mid", "high"), ("a", "b", "c")),
        "r -0.25 ± 0.03",
        "",
    ),
    (
        {"strength": 0.25, "strength_se": 0.03},
        (("low", "mid", "high"), ("a", "b")),
        "strength 0.25 ± 0.03",
        "",
    ),
    ({}, ((), ()), "", ""),
]


@pytest.mark.parametrize(("found", "levels", "short", "words"), SAID)
def test_effects_between_columns_of_all_kinds_are_said_by_what_is_known(
    found: dict[str, float], levels: tuple[tuple[str, ...], tuple[str, ...]], short: str, words: str
) -> None:
    effects = MixedEffects((found,))
    assert effects.in_short(0) == short
    size = found.get("strength", 0.0)
    strength = f"In all, the association is as strong as a correlation of {size:.2f}."
    assert effects.in_words(0, ("x", "y"), levels) == (f"{words} {strength}".strip() if found else "")
    if found:
        curve = {"strength_se": 0.1, "turning_point": -1.234, "turning_end": 1.0, "curvature": -0.2}
        said = MixedEffects(({**found, **curve},)).in_words(0, ("x", "y"), levels)
        what = f"The odds of x={levels[0][-1]} are" if levels[0] else "x is"
        where = f"{what} highest where y is 1.2 standard deviations below its middle, everything else equal."
        assert words in said
        assert where in said
        peak = MixedEffects(({**found, **curve, "turning_point": 0.5, "turning_end": 0.0, "curvature": 1.0},))
        assert peak.in_short(0).startswith("curved, strength")
        assert "lowest where x is 0.5 standard deviations above its middle" in peak.in_words(0, ("x", "y"))
        assert words not in peak.in_words(0, ("x", "y"), levels) or not words
    if found and "partial_correlation" not in found:
        assert effects.in_words(0, ("x", "y")) == strength, "labels are not known"
    expected = found.get("strength", np.nan) * (-1 if found.get("direction", 0) < 0 else 1)
    np.testing.assert_equal(effects.strength, [expected])
    assert effects.sign.tolist() == [found.get("direction", 0.0)]
    assert effects.numbers(0) == found


def test_huge_odds_are_told_in_powers_of_ten() -> None:
    one = {"log_odds_ratio": 100.0, "log_odds_ratio_se": 1.0}
    assert MixedEffects((one,)).in_short(0) == "odds × 5.2e+21 (5.2e+21 to 5.2e+21)"
    one = {"log_odds_ratio": -100.0, "log_odds_ratio_se": 1.0}
    assert MixedEffects((one,)).in_short(0) == "odds × 1.9e-22 (1.9e-22 to 1.9e-22)"
    one = {"log_odds_ratio": np.log(90_000), "log_odds_ratio_se": 0.1}
    assert MixedEffects((one,)).in_short(0) == "odds × 90000 (74000 to 1.1e+05)"


def known(**numbers: float) -> EdgeEffects:
    """The effects of one edge, of which some numbers are known."""
    unknown = unknown_effects(1)
    return replace(unknown, **{name: np.array([value]) for name, value in numbers.items()})


@pytest.mark.parametrize(
    ("effects", "levels", "short", "words"),
    [
        (
            known(log_odds_ratio=np.log(3), log_odds_ratio_se=0.1, strength=0.25, strength_se=0.02),
            (("no", "yes"), ("off", "on")),
            "odds × 3 (2.5 to 3.6)",
            "The odds of y=on are 3 times as high with x=yes as with x=no, everything else equal "
            "(95 % interval "
            "2.5 to 3.6).",
        ),
        (
            known(score_correlation=0.5, score_correlation_se=0.03, strength=0.6, strength_se=0.02),
            (("low", "mid", "high"), ("a", "b", "c")),
            "r +0.50 ± 0.03",
            "x and y rise together, everything else equal: the correlation of their levels, "
            "numbered in order, is "
            "+0.50 ± 0.03.",
        ),
        (
            known(score_correlation=-0.5, score_correlation_se=0.03, strength=-0.6, strength_se=0.02),
            (("low", "mid", "high"), ("a", "b", "c")),
            "r -0.50 ± 0.03",
            "x falls where y rises, everything else equal: the correlation of their levels, "
            "numbered in order, is "
            "-0.50 ± 0.03.",
        ),
        (
            known(score_correlation=-0.5, score_correlation_se=0.03, strength=-0.6, strength_se=0.02),
            (("low", "mid", "high"), ("off", "on")),
            "r -0.50 ± 0.03",
            "x is lower with y=on than with y=off, everything else equal: the correlation of their "
            "levels, numbered "
            "in order, is -0.50 ± 0.03.",
        ),
        (
            known(score_correlation=0.0, score_correlation_se=0.03, strength=0.0, strength_se=0.02),
            (("off", "on"), ("low", "mid", "high")),
            "r +0.00 ± 0.03",
            "y is higher with x=on than with x=off, everything else equal: the correlation of their "
            "levels, numbered "
            "in order, is +0.00 ± 0.03.",
        ),
        (
            known(strength=0.256, strength_se=0.021),
            (("low", "mid", "high"), ("a", "b", "c")),
            "V 0.26 ± 0.02",
            "Cramér's V is 0.26 ± 0.02, everything else equal.",
        ),
        (known(), (("low", "mid", "high"), ("a", "b", "c")), "", ""),
    ],
)
def test_effects_between_levels_are_said_by_what_is_known(
    effects: EdgeEffects, levels: tuple[tuple[str, ...], tuple[str, ...]], short: str, words: str
) -> None:
    assert effects.in_short(0) == short
    assert effects.in_words(0, ("x", "y"), levels) == words
    numbers = [effects.log_odds_ratio[0], effects.score_correlation[0]]
    assert effects.sign.tolist() == [float(np.sign(np.nan_to_num(numbers)).sum())]
    told = effects.numbers(0)
    assert told == {name: getattr(effects, name)[0] for name in told}
    assert not {name for name in EVERY if name not in told and not np.isnan(getattr(effects, name)[0])}


def test_the_levels_that_go_together_most_are_named() -> None:
    effects = replace(
        known(strength=0.25, strength_se=0.02), tables=(np.array([[0.0, 1.0, 3.0], [2.0, 0.5, 0.1]]),)
    )
    words = effects.in_words(0, ("x", "y"), (("no", "yes"), ("a", "b", "c")))
    assert words.endswith("; x=no and y=c go together most.")


def test_an_average_over_networks_is_told_where_it_says_something_else() -> None:
    one = {"log_odds_ratio": np.log(3), "log_odds_ratio_se": 0.1, "strength": 0.25, "strength_se": 0.02}
    levels = (("no", "yes"), ("off", "on"))
    others = {"averaged_low": 0.0, "averaged_high": np.log(3.5)}
    less = known(**one, **others, averaged_log_odds_ratio=np.log(2))
    assert less.in_words(0, ("x", "y"), levels).endswith(
        ". Averaged over networks, some without the edge: 2 times (95 % interval 1 to 3.5)."
    )
    same = known(**one, **others, averaged_log_odds_ratio=np.log(3) - 0.019)
    assert "Averaged" not in same.in_words(0, ("x", "y"), levels)
    assert less.columns[-3:] == AVERAGED
    assert "Averaged" not in known(**one).in_words(0, ("x", "y"), levels)
    assert known(**one).columns == NUMBERS
