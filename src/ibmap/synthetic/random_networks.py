"""Random networks of a given mean degree: the paper's synthetic worlds."""

import numpy as np
from numpy.typing import NDArray

from ibmap._checks import finite, is_number, known, whole
from ibmap._random import RandomState, generator
from ibmap._text import in_short
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.synthetic.factors import MOST_LEVELS, FactorModel
from ibmap.synthetic.gibbs import SWEEPS, Model, sample
from ibmap.synthetic.pairwise import PairwiseModel
from ibmap.synthetic.world import World

POTENTIALS = ("random", "symmetric", "log-uniform")
LARGEST_LOG_ODDS = 2.0  #: of four log-potentials that lie in [0, 1]
_SIGNS = np.array([1.0, -1.0, -1.0, 1.0])  # of log φ00, φ01, φ10, φ11 in the log-odds ratio


def random_network(
    n_variables: int,
    tau: float,
    *,
    levels: int = 2,
    potentials: str = "random",
    log_odds: float = 1.0,
    random_state: RandomState = None,
) -> Model:
    """Draw a network with n·tau/2 edges (rounded down), every set of so many pairs equally likely.

    Parameters
    ----------
    n_variables : int
        Number of variables, named x0, x1, ...
    tau : float
        Mean number of neighbours of a variable.
    levels : int
        Number of levels of every variable.
    potentials : {"random", "symmetric", "log-uniform"}
        How to read the paper's sentence "We then randomly chose 3 parameters in the range [0, 1], and solved
        for the remaining one" (see the notes).
    log_odds : float
        log(φ00 φ11 / (φ01 φ10)), the same for every edge; with more levels log(φaa φbb / (φab φba)), the same
        for every two levels of every edge.
    random_state : int, numpy.random.Generator or None
        Seed or source of randomness.

    Returns
    -------
    PairwiseModel, or FactorModel if there are more than two levels
        The edges do not depend on levels, potentials and log-odds.

    Notes
    -----
    The sentence speaks of the parameters of φ(X, Y), four numbers whose log-odds ratio is given.

    - "random", the letter: three entries of φ are uniform in (0, 1] and the other one, drawn at random, is
      solved. The logarithms of small numbers are large: this brings strong node fields.
    - "log-uniform": the parameters are log φ, the weights of a log-linear model, and all four lie in [0, 1]:
      three are uniform, and drawn again until the solved one lies there, too. The fields are weak. Log-odds
      beyond 2 are impossible.
    - "symmetric" leaves the sentence aside: φ00 = φ11 and φ01 = φ10, so that every variable is a fair coin.

    With more than two levels, of which the paper has none, "symmetric" is φ(a, b) = w if a = b, else 1 (a
    Potts model: all levels are equally likely). "random" multiplies that by u_a v_b, all of them uniform in
    (0, 1]. "log-uniform" does so with logarithms that are uniform from 0 to where all of log φ is in [0, 1].

    Examples
    --------
    >>> model = random_network(10, 3, random_state=0)
    >>> model.graph
    Graph(10 variables, 15 edges)
    """
    known(potentials, "potentials", POTENTIALS)
    log_odds = finite(log_odds, "log_odds")
    if potentials == "log-uniform" and abs(log_odds) > LARGEST_LOG_ODDS:
        raise RequestError(
            f"log_odds must lie between -{LARGEST_LOG_ODDS:g} and {LARGEST_LOG_ODDS:g} with potentials="
            f"'log-uniform', not {log_odds:g}"
        )
    levels = whole(levels, "levels", 2, MOST_LEVELS)
    n_variables = whole(n_variables, "n_variables", 1, 10**7)
    rng = generator(random_state)
    pairs = _random_pairs(n_variables, tau, rng)
    graph = Graph.from_pairs(pairs, [f"x{i}" for i in range(n_variables)])
    if levels > 2:
        factors = _potts_log_factors(graph.n_edges, levels, log_odds, potentials, rng)
        return FactorModel(graph, tuple(np.zeros((n_variables, levels))), tuple(factors))
    if potentials == "random":
        log_factors = _random_log_factors(graph.n_edges, log_odds, rng)
    elif potentials == "log-uniform":
        log_factors = _uniform_log_factors(graph.n_edges, log_odds, rng)
    else:
        log_factors = np.tile(_SIGNS * log_odds / 4, (graph.n_edges, 1))
    return PairwiseModel.from_log_factors(graph, log_factors.reshape(-1, 2, 2))


def simulate_random(
    n_variables: int,
    tau: float,
    n_rows: int,
    *,
    levels: int = 2,
    potentials: str = "random",
    log_odds: float = 1.0,
    sweeps: int = SWEEPS,
    thin: int | None = None,
    random_state: RandomState = None,
) -> World:
    """Draw a random network, and rows from it.

    Parameters
    ----------
    n_variables, tau, levels, potentials, log_odds, random_state
        As in :func:`random_network`.
    n_rows, sweeps, thin
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
    model = random_network(
        n_variables, tau, levels=levels, potentials=potentials, log_odds=log_odds, random_state=rng
    )
    return World(sample(model, n_rows, sweeps=sweeps, thin=thin, random_state=rng), model)


def _random_pairs(n: int, tau: float, rng: np.random.Generator) -> NDArray[np.int64]:
    """Draw pairs by rank in the order (0, 1), (0, 2), ...: all n(n-1)/2 of them are never listed."""
    if not is_number(tau) or not 0 <= tau <= n - 1:
        raise RequestError(f"tau must lie between 0 and n_variables - 1, {n - 1}, not {in_short(tau)}")
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


def _uniform_log_factors(n_edges: int, log_odds: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw log φ in [0, 1]^4, uniform where the log-odds ratio is as given.

    Measured from their extremes (1 where they raise the ratio, 0 where they lower it) the four numbers are
    positive and add up to 2 - |log-odds|: a point of a simplex, drawn again if a number exceeds 1. Whichever
    of the four is solved, the others are uniform, so that it does not matter which.
    """
    total = LARGEST_LOG_ODDS - abs(log_odds)
    below = np.empty((n_edges, 4))
    wanted = np.arange(n_edges)
    while len(wanted):
        below[wanted] = total * rng.dirichlet(np.ones(4), size=len(wanted))
        wanted = wanted[(below[wanted] > 1.0).any(axis=1)]
    raising = _SIGNS * (1.0 if log_odds >= 0 else -1.0) > 0
    return np.asarray(np.where(raising, 1.0 - below, below))


def _potts_log_factors(
    n_edges: int, levels: int, log_odds: float, potentials: str, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return log φ(a, b) = log_odds / 2 if a = b, else 0, plus what the two variables bring of their own."""
    log_phi = np.tile(np.eye(levels) * log_odds / 2, (n_edges, 1, 1))
    if potentials == "symmetric":
        return log_phi
    uniform = rng.random((2, n_edges, levels))
    if potentials == "random":
        log_u, log_v = np.log(1.0 - uniform)
    else:
        log_u, log_v = uniform * (1.0 - abs(log_odds) / 2) / 2
        log_phi -= min(0.0, log_odds / 2)
    log_phi += log_u[:, :, None] + log_v[:, None, :]
    return log_phi
