"""Problems: their optimum and their interactions are what trying all strings says."""

from itertools import product

import numpy as np
import pytest

from ibmap.eda import make_problem, problem_names
from ibmap.eda.problems import additive, max_cut, nk_landscape, spin_glass, trap
from ibmap.errors import RequestError

SMALL = [
    ("onemax", 7, {}),
    ("royal-road", 8, {}),
    ("royal-road", 9, {"gamma": 3}),
    ("leading-ones", 6, {}),
    ("trap", 10, {}),
    ("trap", 9, {"k": 3, "shuffled": True}),
    ("trap", 8, {"k": 4, "shuffled": True}),
    ("nk", 9, {"k": 2}),
    ("nk", 6, {"k": 4}),
    ("nk", 5, {"k": 0}),
    ("spin-glass", 12, {}),
    ("spin-glass", 9, {"boundary": "periodic"}),
    ("spin-glass", 11, {}),
    ("max-cut", 10, {}),
    ("max-cut", 7, {"degree": 4}),
]


@pytest.mark.parametrize(("name", "n", "options"), SMALL)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_optimum_and_the_interactions(name, n, options, seed):
    problem = make_problem(name, n, random_state=seed, **options)
    rows = np.array(list(product([0, 1], repeat=n)))
    values = problem(rows)
    assert problem.optimum == pytest.approx(values.max(), abs=1e-9)
    table = values.reshape((2,) * n)
    for i in range(n):
        for j in range(i + 1, n):
            effect = np.diff(np.diff(table, axis=i), axis=j)  # 0 everywhere: i and j add up
            assert problem.graph.has_edge(f"x{i}", f"x{j}") == (np.abs(effect).max() > 1e-12)


def test_all_are_tried():
    assert {name for name, _, _ in SMALL} == set(problem_names())


def test_seeds_draw_other_landscapes():
    rows = np.random.default_rng(0).integers(2, size=(50, 15))
    for make in (nk_landscape, spin_glass, max_cut):
        one, same, other = (make(15, random_state=seed)(rows).tolist() for seed in (1, 1, 2))
        assert one == same != other
    shuffled = [trap(15, shuffled=True, random_state=seed)(rows).tolist() for seed in (1, 1, 2)]
    assert shuffled[0] == shuffled[1] != shuffled[2]


def test_larger_optima_are_exact_or_unknown():
    assert spin_glass(144).optimum is not None
    assert spin_glass(81, boundary="periodic").optimum is not None
    assert spin_glass(400).optimum is None
    assert nk_landscape(200, 4).optimum is not None
    assert max_cut(40, 30).optimum is None
    assert repr(max_cut(40, 30)).endswith("600 interactions, optimum unknown)")


def test_a_cut_of_a_ring_and_of_a_tree():
    ring = [[i, (i + 1) % 51] for i in range(51)]
    tree = [[(i - 1) // 2, i] for i in range(1, 300)]
    for n, edges, best in ((51, ring, 50), (300, tree, 299)):
        assert additive("cut", n, edges, [[0, 1, 1, 0]] * len(edges)).optimum == best
    assert additive("nothing", 4, np.empty((0, 2)), np.empty((0, 4))).optimum == 0


def test_sums_of_tables_are_checked():
    with pytest.raises(RequestError, match="need tables with 2"):
        additive("mine", 3, [[0, 1]], [[1, 2]])
    with pytest.raises(RequestError, match=r"outside 0\.\.2"):
        additive("mine", 3, [[0, 3]], [[1, 2, 3, 4]])
