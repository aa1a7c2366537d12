"""MOA's individuals: those of the core equal the slow ones bit by bit, are checked, and answer Ctrl-C."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from tests.core.interrupting import interrupted
from tests.reference import gibbs


def blanket_tables(rows, levels, neighbours, **options):
    start = np.cumsum([0, *map(len, neighbours)])
    flat = np.concatenate([np.empty(0, np.int64), *neighbours]).astype(np.int64)
    return _core.BlanketTables(rows, levels, start, flat, **options)


WEIGHTINGS = {  # inverse temperature, joint
    "boltzmann-joint": (3.0, True),
    "boltzmann-conditional": (3.0, False),
    "conditional": (None, False),
}
ONE_HASH_FOR_ALL = {"most_direct": 1, "hash_factor": 0}


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(0, 8),
    n_rows=st.integers(0, 30),
    most=st.sampled_from([2, 3, 4, 300]),
    degree=st.integers(0, 7),
    sampling=st.sampled_from(list(WEIGHTINGS)),
    options=st.sampled_from(
        [{}, {"most_direct": 1}, {"most_direct": 1, "hash_factor": 0}]
    ),  # 0: one hash for all
)
def test_moa_draws_what_the_slow_sampler_draws(seed, n, n_rows, most, degree, sampling, options):
    rng = np.random.default_rng(seed)
    levels = rng.integers(1, most + 1, size=n)
    rows = rng.integers(levels, size=(n_rows, n))
    rows = rows[rng.integers(max(1, n_rows // 2), size=n_rows)] if n_rows else rows  # some come often
    near = [rng.choice(np.delete(np.arange(n), i), min(degree, n - 1), replace=False) for i in range(n)]
    found = blanket_tables(rows, levels, near, **options)
    assert found.hashed.shape == (n,)
    inverse, joint = WEIGHTINGS[sampling]
    drawn = np.empty((3, n), np.int64)
    found.sample(seed=seed, steps=40 if n else 0, rows=drawn, inverse_temperature=inverse, joint=joint)
    lists = [some.tolist() for some in near]
    assert drawn.tolist() == gibbs.sample(rows, levels, lists, 3, 40 if n else 0, seed, sampling, 3.0)
    for i in range(n):
        for state in [*rows[:2], drawn[0]]:
            expected = gibbs.probabilities(rows, i, lists[i], state, levels[i], sampling, 3.0)
            np.testing.assert_allclose(found.probabilities(i, state, inverse, joint), expected, atol=1e-12)


# What makes no sense

START, NONE, TWO = np.zeros(3, np.int64), np.empty(0, np.int64), np.array([2, 2])
ROWS = np.zeros((3, 2), np.int64)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": np.array([2, 0])}, "1 to 2.16 levels"),
        ({"levels": np.array([2, 2**16 + 1])}, "1 to 2.16 levels"),
        ({"rows": ROWS + 2}, "not a level"),
        ({"rows": ROWS - 1}, "not a level"),
        ({"rows": ROWS[:, :1].copy()}, "a column for every variable"),
        ({"start": np.array([0, 1, 0])}, "start must rise"),
        ({"start": np.array([0, 0])}, "start must rise"),
        ({"start": np.array([0, 1, 1]), "neighbours": np.array([2])}, "not a variable"),
    ],
)
def test_tables_are_checked(change, message):
    arguments = {"rows": ROWS, "levels": TWO, "start": START, "neighbours": NONE} | change
    with pytest.raises(ValueError, match=message):
        _core.BlanketTables(**arguments)


def test_requests_are_checked():
    found = _core.BlanketTables(ROWS, TWO, START, NONE)
    for i, state in ((2, [0, 0]), (0, [0]), (0, [0, 2]), (0, [-1, 0])):
        with pytest.raises(ValueError, match=r"i must be a variable|not a level"):
            found.probabilities(i, np.array(state), None, False)
    with pytest.raises(ValueError, match="a column for every variable"):
        found.sample(seed=0, steps=1, rows=ROWS[:, :1].copy(), inverse_temperature=None, joint=False)
    with pytest.raises(TypeError):
        found.sample(seed=0, steps=1, rows=ROWS.astype(np.int32), inverse_temperature=None, joint=False)


def test_an_endless_chain_answers_ctrl_c():
    found = blanket_tables(ROWS, TWO, [[1], [0]])
    rows = np.empty_like(ROWS)
    interrupted(lambda: found.sample(seed=0, steps=2**62, rows=rows, inverse_temperature=1.0, joint=True))
