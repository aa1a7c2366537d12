"""All triples: the evidence of the slow twin, from bits and from cells; threads change nothing."""

from math import comb, log

import numpy as np
import pytest
from hypothesis import example, given, settings

from ibmap import _core
from ibmap.engines import MemoryEngine, ThreadEngine
from ibmap.engines.triples import Triples
from tests.core.interrupting import interrupted
from tests.engines.partitioned import HiddenEngine, data_of, with_wide_columns
from tests.reference import triples as twin
from tests.reference.tables import Codes, categorical_tables, random_table


def by_triple(found: Triples) -> dict[tuple[int, ...], float]:
    which = [tuple(three) for three in found.which.tolist()]
    assert len(set(which)) == len(which)
    assert all(x < y < z for x, y, z in which)
    order = sorted(zip(-np.round(1e6 * found.evidence), which, strict=True))
    assert [three for _, three in order] == which
    return dict(zip(which, found.evidence.tolist(), strict=True))


def agree(table: Codes) -> None:
    codes, cards = table
    data, expected = data_of(codes, cards), twin.triples(codes, cards, -np.inf)
    for engine in (MemoryEngine(data), ThreadEngine(data, 2), HiddenEngine(data)):
        assert by_triple(engine.triples(-np.inf, 10**6)) == pytest.approx(expected, rel=1e-9, abs=1e-8)


@settings(max_examples=80, deadline=None)
@given(table=categorical_tables(max_rows=200, min_columns=1, max_columns=9, missing=True))
@example(table=random_table(1, 5, 2, 0.0, 0))
@example(table=random_table(300, 12, 2, 0.0, 1))
def test_evidence_agrees_with_the_twin(table: Codes) -> None:
    """Up to 12 levels, constants, copies, missing values, one row."""
    agree(table)


@pytest.mark.parametrize("levels", [33, 100, 101])
def test_variables_of_many_levels(levels: int) -> None:
    agree(with_wide_columns(random_table(450, 4, 3, 0.02, 5), levels))


def test_binary_variables_in_several_blocks() -> None:
    """Among 1,100 binary columns, beside others, an exclusive or that spans the blocks is found."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, (1100, 200))
    codes[700] = rng.integers(0, 3, 200)
    codes[1060] = codes[3] ^ codes[1050]
    codes[900] = (codes[700] + codes[800]) % 3
    cards = [2] * 1100
    cards[700] = cards[900] = 3
    found = MemoryEngine(data_of(codes, cards)).triples(log(comb(1100, 3)), 100)
    assert by_triple(found).keys() == {(3, 1050, 1060), (700, 800, 900)}


def test_threads_change_nothing_and_the_best_are_kept() -> None:
    codes, cards = random_table(500, 40, 3, 0.0, 3)
    table = MemoryEngine(data_of(codes, cards)).table
    every = _core.triples(table, 1.0, -np.inf, 10**6, 1)
    for most, threads in ((10**6, 3), (100, 1), (100, 3), (0, 2)):
        some = _core.triples(table, 1.0, -np.inf, most, threads)
        np.testing.assert_array_equal(some[0], every[0][:most])
        np.testing.assert_array_equal(some[1], every[1][:most])


def test_stirling_goes_on_where_the_table_of_log_gammas_ends() -> None:
    """Tables are short where there are many kinds of variables; rows are many."""
    rng = np.random.default_rng(1)
    cards = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
    codes = np.stack([rng.integers(0, r, 20_000) * (rng.random(20_000) < 0.1) for r in cards])
    found = by_triple(MemoryEngine(data_of(codes, cards)).triples(-np.inf, 10**6))
    for three in ((0, 1, 2), (0, 1, 12), (3, 5, 11)):
        assert found[three] == pytest.approx(twin.evidence(codes, cards, three), abs=1e-7)


def test_cells_that_do_not_fit_are_refused() -> None:
    ints = np.array([0], np.int64)
    with pytest.raises(ValueError, match="cells do not fit"):
        _core.triples_of_cells(np.array([2, 2]), ints, np.zeros((4, 0), np.int64), 5, 1.0)
    cells = np.array([[0], [2], [0], [1]])
    with pytest.raises(ValueError, match="no such level"):
        _core.triples_of_cells(np.array([2, 2, 2]), np.array([0, 1]), cells, 5, 1.0)


def test_ctrl_c_ends_it() -> None:
    rng = np.random.default_rng(0)
    table = MemoryEngine(data_of(rng.integers(0, 2, (2000, 5000)), [2] * 2000)).table
    interrupted(lambda: _core.triples(table, 1.0, 20.0, 10, 2))
