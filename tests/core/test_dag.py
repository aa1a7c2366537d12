"""The directed graph of a search: ancestors, allowed moves, the best of them; what is no graph is refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap import _core
from tests.reference import dag as twin

ADD, DELETE, REVERSE, NONE = range(4)
TOLERANCE = 1e-9


def pairs(rng: np.random.Generator, n: int, share: float) -> np.ndarray:
    some = np.triu(rng.random((n, n)) < share, 1)
    return np.ascontiguousarray(some | some.T)


def put_all(dag: Any, evidence: np.ndarray) -> None:
    n = len(evidence)
    start, y = np.arange(n + 1) * n, np.tile(np.arange(n, dtype=np.int32), n)
    dag.put(np.arange(n), start, y, evidence.ravel(), keeps=False)


def random_dag(rng: np.random.Generator, n: int, share: float) -> twin.Dag:
    order = rng.permutation(n)
    return frozenset(
        (int(order[a]), int(order[b])) for a in range(n) for b in range(a) if rng.random() < share
    )


@settings(max_examples=80, deadline=None)
@given(n=st.integers(2, 9), seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.2, 0.5]))
def test_moves_are_those_of_the_twin(n: int, seed: int, share: float) -> None:
    """Evidence that changes with every move, with ties and zeros; pairs that are required or forbidden."""
    rng = np.random.default_rng(seed)
    required, forbidden = pairs(rng, n, 0.1), pairs(rng, n, share / 2)
    most = int(rng.integers(1, n + 1))
    native = _core.Dag(required, forbidden, most, TOLERANCE, 0)
    arcs = random_dag(rng, n, share)
    for parent, child in arcs:
        native.move(ADD, child, parent)
    native.begin()
    seen = {arcs}

    def may_be(after: twin.Dag, new: twin.Dag) -> bool:
        gone = arcs - after
        lost = any(required[x, y] for y, x in gone if (x, y) not in new)
        joined = any(
            forbidden[y, other] or forbidden[x, y] for y, x in new for other in twin.parents_of(after, x)
        )
        crowded = any(len(twin.parents_of(after, x)) > most for _, x in new)
        return not (twin.has_cycle(after, n) or lost or joined or crowded)

    for _ in range(8):
        t = rng.integers(-3, 4, (n, n)) * 1.5 + rng.choice([0.0, 1e-12, 1e-3], (n, n))
        put_all(native, t)

        def gain_of(_: twin.Dag, gone: twin.Dag, new: twin.Dag, t: np.ndarray = t) -> float:
            return float(sum(t[x, y] for y, x in new) - sum(t[x, y] for y, x in gone))

        expected = twin.best_move(n, arcs, seen, may_be, gain_of, TOLERANCE)
        kind, x, y = native.best_move()
        if expected is None:
            assert kind == NONE
            return
        _, gone, new = expected
        assert kind == (ADD if not gone else REVERSE if new else DELETE)
        assert (y, x) in (gone or new)
        for v in range(n):
            assert native.can_reverse(x, v) == (
                (v, x) in arcs and may_be((arcs - {(v, x)}) | {(x, v)}, frozenset([(x, v)]))
            )
        native.move(kind, x, y)
        native.remember()
        arcs = (arcs - gone) | new
        seen.add(arcs)
        assert native.arcs().tolist() == sorted([child, parent] for parent, child in arcs)
        assert native.parents(x).tolist() == list(twin.parents_of(arcs, x))


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 70), seed=st.integers(0, 10**6))
def test_ancestors_follow_arcs_that_come_and_go(n: int, seed: int) -> None:
    rng, none = np.random.default_rng(seed), np.zeros((n, n), bool)
    dag, arcs = _core.Dag(none, none, n, TOLERANCE, 0), np.zeros((n, n), bool)
    first = dag.mark
    for x, y in rng.integers(n, size=(60, 2)).tolist():
        above = dag.ancestors().astype(bool)
        if arcs[x, y]:
            kind = REVERSE if dag.can_reverse(x, y) and rng.random() < 0.5 else DELETE
            arcs[x, y] = False
            arcs[y, x] |= kind == REVERSE
        elif x != y and not above[y, x]:
            kind = ADD
            arcs[x, y] = True
        else:
            with pytest.raises(ValueError, match="no such move"):
                dag.move(ADD, x, y)
            continue
        dag.move(kind, x, y)
        paths = np.linalg.matrix_power(np.eye(n) + arcs, n) > 0
        assert np.array_equal(dag.ancestors().astype(bool), paths & ~np.eye(n, dtype=bool))
    for x, y in dag.arcs().tolist():
        assert dag.mark != first
        dag.move(DELETE, x, y)
    assert dag.mark == first
    assert not dag.ancestors().any()


def test_rows_are_kept_for_families_that_come_back() -> None:
    none = np.zeros((3, 3), bool)
    dag = _core.Dag(none, none, 3, TOLERANCE, 100)
    put_all(dag, np.full((3, 3), 1.0))
    assert not dag.look_up(0)
    dag.move(ADD, 0, 1)
    assert not dag.look_up(0)
    dag.put(np.array([0]), np.array([0, 2]), np.array([1, 2], np.int32), np.array([5.0, 6.0]))
    dag.move(ADD, 0, 2)
    assert not dag.look_up(0)
    dag.put(np.array([0]), np.array([0, 1]), np.array([2], np.int32), np.array([7.0]))
    assert dag.gain(0, 2) == 7.0
    dag.move(DELETE, 0, 2)
    assert dag.look_up(0)
    assert [dag.gain(0, y) for y in (1, 2)] == [5.0, 6.0]
    assert dag.evidence()[0].tolist() == [1.0, 5.0, 6.0]


def test_nobody_has_no_move() -> None:
    none = np.zeros((0, 0), bool)
    dag = _core.Dag(none, none, 0, TOLERANCE, 0)
    assert dag.best_move()[0] == NONE
    assert dag.arcs().shape == (0, 2)


@pytest.mark.parametrize(
    "move", [(ADD, 0, 0), (ADD, 0, 3), (ADD, -1, 0), (DELETE, 0, 1), (REVERSE, 0, 1), (3, 1, 0), (ADD, 0, 1)]
)
def test_moves_that_lead_nowhere_are_refused(move: tuple[int, int, int]) -> None:
    none = np.zeros((3, 3), bool)
    dag = _core.Dag(none, none, 3, TOLERANCE, 0)
    dag.move(ADD, 1, 0)
    dag.move(ADD, 2, 1)
    with pytest.raises(ValueError, match="no such"):
        dag.move(*move)
    with pytest.raises(ValueError, match="no such"):
        dag.move(ADD, 0, 2)  # a cycle


def test_arrays_that_do_not_fit_are_refused() -> None:
    none = np.zeros((3, 3), bool)
    with pytest.raises(ValueError, match="one row and one column"):
        _core.Dag(none, np.zeros((2, 2), bool), 3, TOLERANCE, 0)
    dag = _core.Dag(none, none, 3, TOLERANCE, 0)
    one, two = np.array([1], np.int32), np.array([1.0, 2.0])
    for xs, start, y, t in (
        ([3], [0, 1], one, two[:1]),
        ([0], [0, 2], one, two[:1]),
        ([0], [0, 1], one, two),
        ([0], [0, 1], one + 2, two[:1]),
        ([0, 1], [0, 2, 1], one, two[:1]),
        ([0], [1, 1], one, two[:1]),
    ):
        with pytest.raises(ValueError, match=r"not rows|not a variable"):
            dag.put(np.array(xs), np.array(start), y, t)
    for outside in (lambda: dag.parents(3), lambda: dag.gain(0, -1), lambda: dag.look_up(7)):
        with pytest.raises(ValueError, match="no such variable"):
            outside()
