"""Ising models on rectangular lattices: the paper's second synthetic world."""

from math import isqrt

import numpy as np
from numpy.typing import NDArray

from ibmap._checks import finite, known, whole
from ibmap._random import RandomState, generator
from ibmap.graph import Graph
from ibmap.synthetic.gibbs import SWEEPS, sample
from ibmap.synthetic.pairwise import PairwiseModel
from ibmap.synthetic.world import World

BOUNDARIES = ("open", "periodic")
COUPLINGS = ("ferromagnetic", "plus-minus", "gaussian")
STRENGTH = 0.25  #: log-odds ratio 1, as in the random networks; a large square lattice is critical at 0.4407
_LONGEST = 2  # a full rectangle may be so many times as long as wide


def lattice_shape(n_variables: int) -> tuple[int, int]:
    """Return the rows and columns of the lattice of n sites, as square as possible.

    If n is a product of two numbers of which one is at most twice the other, they are the sides. Otherwise
    the columns are √n, rounded up, and the last row is shorter than the others: a prime number of sites is
    no chain. Site i stands in row ``i // columns`` and column ``i % columns``.

    Examples
    --------
    >>> [lattice_shape(n) for n in (100, 200, 500, 750)]
    [(10, 10), (10, 20), (20, 25), (25, 30)]
    >>> lattice_shape(11)  # 4 + 4 + 3
    (3, 4)
    """
    whole(n_variables, "n_variables", 1, 10**7)
    root = isqrt(n_variables)
    for rows in range(root, 0, -1):
        if n_variables % rows == 0 and n_variables <= _LONGEST * rows * rows:
            return rows, n_variables // rows
    columns = isqrt(n_variables - 1) + 1
    return -(-n_variables // columns), columns


def ising_lattice(
    n_variables: int,
    *,
    boundary: str = "open",
    couplings: str = "ferromagnetic",
    strength: float = STRENGTH,
    field: float = 0.0,
    random_state: RandomState = None,
) -> PairwiseModel:
    """Build an Ising model on a rectangular lattice.

    p(s) ∝ exp(Σ J_ij s_i s_j + field · Σ s_i) for spins s = ±1. The model that is returned has
    x = (s + 1) / 2, 0 or 1: the log-odds ratio of an edge is 4 J_ij.

    Parameters
    ----------
    n_variables : int
        Number of spins, named x0, x1, ... row by row; any number (see :func:`lattice_shape`).
    boundary : {"open", "periodic"}
        "periodic" also joins both ends of every row and of every column, however many sites they have; no
        pair is joined twice, so two sites in a row are one edge.
    couplings : {"ferromagnetic", "plus-minus", "gaussian"}
        J_ij is ``strength``, ``strength`` with a random sign, or normal with mean 0 and standard deviation
        ``strength``.
    strength : float
        The default, 0.25, has log-odds ratio 1, as the random networks have. With 750 spins the mean energy
        no longer changes after 50 sweeps there, after 200 at 0.4; from 0.44 on, where a large ferromagnet
        orders, not even after 800. Random couplings forget sooner.
    field : float
        What every spin feels.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness; a ferromagnet uses none.

    Examples
    --------
    >>> ising_lattice(12).graph, ising_lattice(12, boundary="periodic").graph
    (Graph(12 variables, 17 edges), Graph(12 variables, 24 edges))
    """
    known(boundary, "boundary", BOUNDARIES)
    known(couplings, "couplings", COUPLINGS)
    strength, field = finite(strength, "strength"), finite(field, "field")
    rng = generator(random_state)
    pairs = _lattice_pairs(n_variables, boundary == "periodic")
    graph = Graph.from_pairs(pairs, [f"x{i}" for i in range(n_variables)])
    J = strength * _unit_couplings(couplings, graph.n_edges, rng)
    around = np.zeros(n_variables)
    np.add.at(around, graph.pairs.ravel(), np.repeat(J, 2))
    return PairwiseModel(graph, 2 * field - 2 * around, 4 * J)  # s_i s_j = 4 x_i x_j - 2 x_i - 2 x_j + 1


def simulate_ising(
    n_variables: int,
    n_rows: int,
    *,
    boundary: str = "open",
    couplings: str = "ferromagnetic",
    strength: float = STRENGTH,
    field: float = 0.0,
    sweeps: int = SWEEPS,
    thin: int | None = None,
    random_state: RandomState = None,
) -> World:
    """Build an Ising model on a lattice, and draw rows from it.

    Parameters
    ----------
    n_variables, boundary, couplings, strength, field, random_state
        As in :func:`ising_lattice`.
    n_rows, sweeps, thin
        As in :func:`ibmap.synthetic.sample`. More rows from the same seed begin with the same rows.

    Examples
    --------
    >>> simulate_ising(30, 100, couplings="plus-minus", random_state=0)
    World(100 rows, Graph(30 variables, 49 edges))
    """
    rng = generator(random_state)
    model = ising_lattice(
        n_variables,
        boundary=boundary,
        couplings=couplings,
        strength=strength,
        field=field,
        random_state=rng,
    )
    return World(sample(model, n_rows, sweeps=sweeps, thin=thin, random_state=rng), model)


def _lattice_pairs(n: int, periodic: bool) -> NDArray[np.int64]:
    """Return the pairs of neighbouring sites."""
    columns = lattice_shape(n)[1]
    site = np.arange(n)
    right = site[(site % columns < columns - 1) & (site + 1 < n)]
    below = site[: max(n - columns, 0)]
    pairs = [np.stack([right, right + 1], axis=1), np.stack([below, below + columns], axis=1)]
    if periodic:
        first = site[site % columns == 0]
        top = site[:columns]
        ends = np.minimum(first + columns - 1, n - 1), top + (n - 1 - top) // columns * columns
        pairs += [np.stack([first, ends[0]], axis=1), np.stack([top, ends[1]], axis=1)]
    joined = np.concatenate(pairs)
    return np.asarray(joined[joined[:, 0] != joined[:, 1]])


def _unit_couplings(kind: str, n_edges: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if kind == "ferromagnetic":
        return np.ones(n_edges)
    if kind == "plus-minus":
        return rng.choice([-1.0, 1.0], size=n_edges)
    return rng.standard_normal(n_edges)
