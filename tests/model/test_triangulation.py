"""The tree of cliques: that of the textbook's elimination, no larger than it must be, and bounded."""

from itertools import combinations, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.model.triangulation import TooLargeError, clique_tree
from tests.reference.triangulation import elimination


def drawn(seed: int, largest: int = 9) -> tuple[np.ndarray, np.ndarray]:
    """Edges and levels; powers of two have logarithms whose sums are exact, so that ties are the same."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, largest + 1))
    pairs = [pair for pair in combinations(range(n), 2) if rng.random() < rng.choice([0.2, 0.5])]
    return np.array(pairs, np.int64).reshape(-1, 2), 2 ** rng.integers(1, 3, n)


def largest(cliques: list[set[int]]) -> set[frozenset[int]]:
    """Those that lie in no other."""
    return {frozenset(one) for one in cliques if not any(one < other for other in cliques)}


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 10**6))
def test_the_cliques_are_those_of_elimination_by_definition(seed: int) -> None:
    pairs, levels = drawn(seed)
    cliques, _ = clique_tree(pairs, levels)
    _, expected = elimination(pairs.tolist(), levels.tolist())
    found = [set(one.variables) for one in cliques]
    assert largest(found) == largest(expected)
    assert len(found) == len(largest(expected)), "no clique of the tree lies in another one"


@pytest.mark.parametrize("n", [3, 4, 9])
def test_trees_have_no_triangles_and_a_cycle_has_two_less_than_edges(n: int) -> None:
    path = np.array(list(pairwise(range(n))))
    cycle = np.vstack([path, [[0, n - 1]]])
    sizes = {len(one.variables) for one in clique_tree(path, np.full(n, 2))[0]}
    assert sizes == {2}
    cliques, _ = clique_tree(cycle, np.full(n, 2))
    assert [len(one.variables) for one in cliques] == [3] * (n - 2)


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10**6))
def test_as_many_cells_as_there_are_suffice_and_fewer_do_not(seed: int) -> None:
    pairs, levels = drawn(seed)
    cells = sum(prod(levels[list(one)].tolist()) for one in elimination(pairs.tolist(), levels.tolist())[1])
    clique_tree(pairs, levels, cells + 0.5)
    with pytest.raises(TooLargeError):
        clique_tree(pairs, levels, cells - 0.5)
