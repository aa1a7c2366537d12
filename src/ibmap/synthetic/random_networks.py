"""Random networks of a given mean degree: the paper's synthetic worlds."""

import numpy as np
from numpy.typing import NDArray

from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.synthetic.gibbs import SWEEPS, RandomState, generator, sample
from ibmap.synthetic.pairwise import PairwiseModel
from ibmap.synthetic.world import World

_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])  # of log φ00, φ01, φ10, φ11 in the log-odds ratio


def random_network(
    n_variables: int,
    tau: float,
    *,
    potentials: str = "random",
    log_odds: float = 1.0,
    random_state: RandomState = None,
) -> PairwiseModel:
    """Draw a network with n·tau/2 edges (rounded down), every set of so many pairs equally likely.

    Parameters
    ----------
    n_variables : int
        Number of binary variables, named x0, x1, ...
    tau : float
        Mean number of neighbours of a variable.
    potentials : {"random", "symmetric"}
        "random": three of the four entries of φ(X, Y) are uniform in (0, 1] and the other one, drawn at
        random, is solved; this brings strong node fields. "symmetric": φ00 = φ11 and φ01 = φ10, so that
        every variable is a fair coin.
    log_odds : float
        log(φ00 φ11 / (φ01 φ10)), the same for every edge.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.

    Examples
    --------
    >>> model = random_network(10, 3, random_state=0)
    >>> model.graph
    Graph(10 variables, 15 edges)
    """
    if potentials not in ("random", "symmetric"):
        raise RequestError(f"unknown potentials {potentials!r}: use 'random' or 'symmetric'")
    if not np.isfinite(log_odds):
        raise RequestError(f"log_odds must be finite, not {log_odds}")
    rng = generator(random_state)
    pairs = _random_pairs(n_variables, tau, rng)
    graph = Graph.from_pairs(pairs, [f"x{i}" for i in range(n_variables)])
    if potentials == "random":
        log_factors = _random_log_factors(graph.n_edges, log_odds, rng)
    else:
        log_factors = np.tile(_SIGNS * log_odds / 4, (graph.n_edges, 1))
    return PairwiseModel.from_log_factors(graph, log_factors.reshape(-1, 2, 2))


def simulate_random(
    n_variables: int,
    tau: float,
    n_rows: int,
    *,
    potentials: str = "random",
    log_odds: float = 1.0,
    sweeps: int = SWEEPS,
    random_state: RandomState = 0,
) -> World:
    """Draw a random network and independent rows from it.

    Parameters
    ----------
    n_variables, tau, potentials, log_odds, random_state
        As in :func:`random_network`.
    n_rows, sweeps
        As in :func:`ibmap.synthetic.sample`. More rows from the same seed begin with the same rows.

    Examples
    --------
    >>> world = simulate_random(20, 2, n_rows=100, random_state=1)
    >>> world
    World(100 rows, Graph(20 variables, 20 edges))
    >>> world.data.shape
    (100, 20)
    """
    rng = generator(random_state)
    model = random_network(n_variables, tau, potentials=potentials, log_odds=log_odds, random_state=rng)
    return World(sample(model, n_rows, sweeps=sweeps, random_state=rng), model)


def _random_pairs(n: int, tau: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw pairs by rank in the order (0, 1), (0, 2), ...: all n(n-1)/2 of them are never listed."""
    if n < 1 or not 0 <= tau <= n - 1:
        raise RequestError(f"tau must lie between 0 and n_variables - 1: got tau={tau}, n_variables={n}")
    ranks = rng.choice(n * (n - 1) // 2, size=int(n * tau / 2), replace=False)
    rows = np.arange(n)
    first_rank = rows * (2 * n - rows - 1) // 2  # of pair (i, i + 1)
    i = np.searchsorted(first_rank[: n - 1], ranks, side="right") - 1
    return np.stack([i, ranks - first_rank[i] + i + 1], axis=1)


def _random_log_factors(n_edges: int, log_odds: float, rng: np.random.Generator) -> NDArray[np.float64]:
    log_phi = np.log(1.0 - rng.random((n_edges, 4)))  # 1 - u is never 0
    solved = (np.arange(n_edges), rng.integers(4, size=n_edges))
    log_phi[solved] = 0.0
    log_phi[solved] = _SIGNS[solved[1]] * (log_odds - log_phi @ _SIGNS)
    return log_phi
