"""Effects that depend on another variable are told so, everywhere; others stay as they are."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats.contingency import association

from ibmap import EvidenceMAP, Graph, read_result
from ibmap.engines import as_engine
from ibmap.model.dependent_effects import Dependence, dependent_effects
from ibmap.model.effects import edge_effects
from ibmap.results.result_file import result_of, result_of_learned, result_text
from ibmap.synthetic import simulate_random
from tests.engines.partitioned import HiddenEngine, data_of
from tests.model.test_interactions import exclusive_or


def test_odds_by_level_are_those_of_counting() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (3, 2000))
    codes[2] = codes[0] ^ codes[1] ^ (rng.random(2000) < 0.2)
    data = data_of(codes, [2, 2, 2])
    for engine in (as_engine(data), HiddenEngine(data)):
        found = edge_effects(engine, Graph.complete(data.names))
        assert sorted(found.dependences) == [0, 1, 2]
        for e, (i, j) in enumerate(combinations(range(3), 2)):
            z, one = 3 - i - j, found.dependences[e]
            assert one.on == (f"v{z}",)
            for level, value, error in zip((0, 1), one.values, one.errors, strict=True):
                some = codes[:, codes[z] == level]
                n = np.array(
                    [[((some[i] == a) & (some[j] == b)).sum() + 0.5 for b in (0, 1)] for a in (0, 1)]
                )
                assert value == pytest.approx(np.log(n[1, 1] * n[0, 0] / (n[0, 1] * n[1, 0])))
                assert error == pytest.approx(np.sqrt((1 / n).sum()))


def test_no_certain_edge_has_an_odds_ratio_of_one() -> None:
    data = exclusive_or()
    learned = EvidenceMAP().fit(data).learned_.with_effects(data)
    shown = learned.effect_in_short
    assert shown["a", "y"].startswith("odds × ")
    assert shown["a", "y"].endswith(" if b")
    assert " if not b, × 0.0" in shown["a", "y"]
    effects = learned.effects
    assert effects is not None
    assert np.isnan(effects.log_odds_ratio[[0, 2, 4]]).all()
    assert (effects.strength[[0, 2, 4]] > 0.4).all()
    assert not effects.sign[[0, 2, 4]].any()
    assert "The effect depends on b." in effects.in_words(2, ("a", "y"), ((False, True), (False, True)))
    assert learned.edges_frame["depends_on"][0] in ("b", "a", "y")


def test_parity_of_four_depends_on_two() -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (4, 3000))
    codes[3] = codes[:3].sum(axis=0) % 2 ^ (rng.random(3000) < 0.1)
    data = data_of(codes, [2] * 4)
    found = dependent_effects(as_engine(data), Graph.complete(data.names), [(0, 1, 2, 3)], np.zeros(6))
    assert found[0].on == ("v2", "v3")
    low, high = found[0].in_short().removeprefix("odds × ").removesuffix(", by v2 and v3").split(" to ")
    assert float(low) < 0.1
    assert float(high) > 10


def test_tables_of_several_levels_have_a_strength_by_level() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, (3, 3000))
    codes[2] = np.where(codes[1] == 0, codes[0], rng.integers(0, 3, 3000))
    data = data_of(codes, [3] * 3)
    found = edge_effects(as_engine(data), Graph.complete(data.names))
    assert found.in_short(1).startswith("V 1.00 if v1=0, 0.0")


def test_pairwise_worlds_depend_on_nothing() -> None:
    world = simulate_random(10, 3, 2000, potentials="symmetric", random_state=3)
    assert not edge_effects(as_engine(world.to_table()), world.graph).dependences


def test_files_keep_them(tmp_path) -> None:
    data = exclusive_or(600)
    learned = EvidenceMAP().fit(data).learned_.with_effects(data)
    result = result_of_learned(learned, data)
    (tmp_path / "result.json").write_text(result_text(result), encoding="utf-8")
    again = read_result(tmp_path).learned
    assert again.effects.dependences == learned.effects.dependences
    assert again.effect_in_short == learned.effect_in_short
    broken = {**result.content, "dependent_effects": [{"x": "a", "y": "y", "on": ["b"]}]}
    with pytest.raises(LookupError):
        result_of(broken)


def test_one_level_is_no_dependence() -> None:
    one = {"on": ["b"], "levels": [["1"]], "measure": "strength", "values": [1], "errors": [0], "strength": 1}
    with pytest.raises(ValueError, match="no levels"):
        Dependence.from_dict(one)


def test_strengths_by_level_are_cramers_v_of_the_rows_of_each_level() -> None:
    """Of three levels each, by the third variable; the strength of all is the mean over the rows."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, (3, 2000))
    codes[1] = rng.choice(3, 2000, p=[0.6, 0.3, 0.1])
    codes[2] = np.where((codes[1] == 0) | (rng.random(2000) < 0.3 * codes[1]), codes[0], codes[2])
    found = edge_effects(as_engine(data_of(codes, [3] * 3)), Graph.complete(["v0", "v1", "v2"]))
    one = found.dependences[1]
    assert (one.on, one.levels, one.measure) == (("v1",), (("0",), ("1",), ("2",)), "strength")
    sizes, expected = [], []
    for level in range(3):
        x, y = codes[0, codes[1] == level], codes[2, codes[1] == level]
        table = np.array([[((x == a) & (y == b)).sum() for b in range(3)] for a in range(3)])
        sizes.append(len(x))
        expected.append(association(table, correction=False))
    assert one.values == pytest.approx(expected, abs=1e-6)
    assert one.errors == pytest.approx(np.sqrt((1 - np.square(expected)).clip(1e-4) / sizes), abs=1e-6)
    assert one.strength == pytest.approx(np.average(expected, weights=sizes), abs=1e-6)


def dependent(seed: int = 0, n: int = 900, levels: int = 3, chance: float = 0.25) -> np.ndarray:
    """x and y, whose association depends on z, and w, which has to do with all of them."""
    rng = np.random.default_rng(seed)
    x, w = rng.integers(2, size=(2, n))
    z = rng.integers(levels, size=n)
    y = np.where(rng.random(n) < chance, rng.integers(2, size=n), np.where(z == 1, 1 - x, x))
    return np.stack([x, y, z, np.where(rng.random(n) < 0.7, w, x ^ (z > 0))])


@pytest.mark.parametrize("z_levels", [2, 3])
def test_odds_by_level_are_pooled_over_what_both_ends_are_adjacent_to(z_levels: int) -> None:
    codes = dependent(levels=z_levels)
    codes[3, (codes[2] == 0) & (codes[0] == 0)] = (
        0  # with z = 0 and w = 1 there is no x = 0: that tells nothing
    )
    data = data_of(codes, [2, 2, z_levels, 2])
    found = dependent_effects(as_engine(data), Graph.complete(data.names), [(0, 1, 2)], np.zeros(6))
    one = found[0]
    assert (one.on, one.levels) == (("v2",), tuple((str(k),) for k in range(z_levels)))
    strengths, rows = [], []
    for level in range(z_levels):
        weights, ratios = [], []
        for w in range(2):
            some = codes[:2, (codes[2] == level) & (codes[3] == w)]
            table = np.array([[((some[0] == a) & (some[1] == b)).sum() for b in (0, 1)] for a in (0, 1)])
            if table.sum(axis=0).min() > 0 and table.sum(axis=1).min() > 0:
                table = table + 0.5
                weights.append(1 / (1 / table).sum())
                ratios.append(np.log(table[1, 1] * table[0, 0] / (table[0, 1] * table[1, 0])))
        assert one.values[level] == pytest.approx(np.average(ratios, weights=weights))
        assert one.errors[level] == pytest.approx(1 / np.sqrt(sum(weights)))
        some = codes[:2, codes[2] == level]
        whole = np.array([[((some[0] == a) & (some[1] == b)).sum() for b in (0, 1)] for a in (0, 1)])
        strengths.append(association(whole, correction=False))
        rows.append(some.shape[1])
    assert one.strength == pytest.approx(np.average(strengths, weights=rows), abs=1e-6)


def test_what_differs_no_more_than_by_chance_depends_on_nothing() -> None:
    rng = np.random.default_rng(0)
    for n in (50, 500):
        codes = rng.integers(2, size=(3, n))
        data = data_of(codes, [2] * 3)
        assert not dependent_effects(as_engine(data), Graph.complete(data.names), [(0, 1, 2)], np.zeros(3))
    large = 2 * np.ones(3)
    codes = dependent(levels=2)[:3]
    data = data_of(codes, [2] * 3)
    assert set(dependent_effects(as_engine(data), Graph.complete(data.names), [(0, 1, 2)], large)) == {
        0,
        1,
        2,
    }


def test_a_variable_for_which_there_are_too_few_rows_is_not_looked_at() -> None:
    """Each cell of these and of what is given should have four rows; eight cells are never too many."""
    for n, there in ((47, False), (48, True)):
        data = data_of(dependent(n=n, chance=0.0)[:3], [2, 2, 3])
        found = dependent_effects(as_engine(data), Graph.complete(data.names), [(0, 1, 2)], np.zeros(3))
        assert (0 in found) is there
    data = data_of(dependent(n=24, levels=2, chance=0.0)[:3], [2] * 3)
    assert 0 in dependent_effects(as_engine(data), Graph.complete(data.names), [(0, 1, 2)], np.zeros(3))


def test_no_interaction_has_no_dependent_effects() -> None:
    data = data_of(dependent()[:3], [2, 2, 3])
    assert dependent_effects(as_engine(data), Graph.complete(data.names), [], np.zeros(3)) == {}
