"""Random landscapes: NK, spin glasses and maximum cuts."""

import numpy as np

from ibmap._random import RandomState, generator
from ibmap.eda.problems.additive import additive
from ibmap.eda.problems.problem import Problem, check_number, check_size
from ibmap.errors import RequestError
from ibmap.synthetic import ising_lattice

_EQUAL, _UNEQUAL = np.array([1.0, 0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0])


def nk_landscape(n: int, k: int = 2, *, random_state: RandomState = None) -> Problem:
    """Nearest-neighbour NK: each bit and the k that follow it (in a ring) have a table of uniform numbers.

    Examples
    --------
    >>> nk_landscape(12, 2, random_state=0).graph
    Graph(12 variables, 24 edges)
    """
    size = check_size(n, "nk")
    k = check_number(k, "k", 0, 8)
    if size <= k:
        raise RequestError(f"nk needs more than k = {k} bits, not {size}")
    scopes = (np.arange(size)[:, None] + np.arange(k + 1)) % size
    return additive("nk", size, scopes, generator(random_state).random((size, 2 ** (k + 1))))


def spin_glass(n: int, *, boundary: str = "open", random_state: RandomState = None) -> Problem:
    """Ising spin glass: spins on a lattice, couplings +1 or -1 at random; minus the energy is maximised.

    The optimum is exact where the lattice is narrow enough: sides up to 19 if open, 9 if periodic.

    Examples
    --------
    >>> spin_glass(9, random_state=0)
    Problem(spin-glass, 9 bits, 12 interactions, optimum 8)
    """
    size = check_size(n, "spin-glass")
    options = {"boundary": boundary, "random_state": generator(random_state)}
    model = ising_lattice(size, couplings="plus-minus", strength=1.0, **options)  # type: ignore[arg-type]
    couplings = np.sign(model.couplings)
    tables = couplings[:, None] * (_EQUAL - _UNEQUAL)
    return additive("spin-glass", size, model.graph.pairs, tables)


def max_cut(n: int, degree: float = 3.0, *, random_state: RandomState = None) -> Problem:
    """Cut a random graph with n · degree / 2 edges in two: count the edges between the parts.

    Examples
    --------
    >>> max_cut(20, random_state=0)
    Problem(max-cut, 20 bits, 30 interactions, optimum 27)
    """
    size = check_size(n, "max-cut")
    if isinstance(degree, bool | str) or not isinstance(degree, int | float) or not 0 <= degree <= size - 1:
        raise RequestError(f"degree must lie between 0 and n - 1 = {size - 1}, not {degree!r}")
    pairs = np.stack(np.triu_indices(size, k=1), axis=1)
    chosen = generator(random_state).permutation(len(pairs))[: round(size * degree / 2)]
    edges = pairs[np.sort(chosen)]
    return additive("max-cut", size, edges, np.tile(_UNEQUAL, (len(edges), 1)))
