"""The IB-score of very many structures at once.

σ_xy depends on x, y and the blanket of x alone. With n variables there are n · 2^(n-1) blankets: each is
asked about once, by two of the three shapes of question, and the score of a structure is a sum of n numbers.
"""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.criteria import LocalScore
    from ibmap.data import Table
    from ibmap.independence import BayesianTest

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
LARGEST = 7  #: variables; 8 have 2^28 structures


def all_structures(n: int) -> tuple[Ints, Ints]:
    """Return the blankets of every variable in every graph, as bit masks, and each graph's own bits.

    Returns
    -------
    blankets : ndarray of shape (2^(n(n-1)/2), n)
        Bit y of ``blankets[g, x]`` says whether graph g has the edge (x, y).
    bits : ndarray of shape (2^(n(n-1)/2),)
        Bit k says whether graph g has the k-th pair of (0, 1), (0, 2), ...: the number of the graph itself.

    Examples
    --------
    >>> blankets, bits = all_structures(3)
    >>> blankets[0b101].tolist()  # the edges (0, 1) and (1, 2)
    [2, 5, 2]
    """
    if n > LARGEST:
        raise RequestError(f"{n} variables have too many structures to score all of them: at most {LARGEST}")
    pairs = list(combinations(range(n), 2))
    bits = np.arange(2 ** len(pairs), dtype=np.int64)
    blankets = np.zeros((len(bits), n), np.int64)
    for k, (x, y) in enumerate(pairs):
        has = bits >> k & 1
        blankets[:, x] |= has << y
        blankets[:, y] |= has << x
    return blankets, bits


def score_all(data: "Table", test: "BayesianTest | None" = None) -> Floats:
    """Return the IB-score of every structure over the variables of a table, in the order of the graphs' bits.

    Examples
    --------
    >>> from ibmap.data import load
    >>> score_all(load({"a": [0, 1, 0, 1], "b": [0, 1, 0, 1]})).round(3).tolist()
    [-3.33, -0.419]
    """
    n = data.n_variables
    blankets, _ = all_structures(n)
    rows = blanket_scores(bound_score(data, test))
    return np.asarray(sum(rows[x, blankets[:, x]] for x in range(n)))


def blanket_scores(score: "LocalScore") -> Floats:
    """Return s_x by x and blanket (as a bit mask); blankets with x itself are NaN."""
    n = score.n
    scores = np.full((n, 2**n), np.nan)
    for x in range(n):
        for mask in range(2**n):
            if not mask >> x & 1:
                scores[x, mask] = score.value(x, np.flatnonzero(mask >> np.arange(n) & 1))
    return scores


def bound_score(data: "Table", test: "BayesianTest | None" = None) -> "LocalScore":
    """Return the IB-score of a table by the Bayesian test, with its defaults unless one is given."""
    from ibmap.criteria import IBScore
    from ibmap.engines import as_engine
    from ibmap.independence import BayesianTest

    return IBScore().bind(as_engine(data), test or BayesianTest())


def bits_of(pairs: Ints, n: int) -> int:
    """Return the number of a graph: which of all pairs it has.

    Examples
    --------
    >>> bin(bits_of(np.array([[0, 1], [1, 2]]), 3))
    '0b101'
    """
    place = {pair: k for k, pair in enumerate(combinations(range(n), 2))}
    return sum(1 << place[int(x), int(y)] for x, y in pairs)


def sample_structures(
    truth: NDArray[np.bool_], each: int, random_state: int
) -> tuple[NDArray[np.bool_], Ints]:
    """Draw structures that differ from the truth in m edges, so many for every m from 0 to n(n-1)/2.

    Returns
    -------
    adjacency : ndarray of bool, shape (number, n, n)
    distance : ndarray of int
        The m of each.
    """
    rng = np.random.default_rng(random_state)
    x, y = np.triu_indices(len(truth), k=1)
    distance = np.repeat(np.arange(len(x) + 1), each)
    flipped = rng.random((len(distance), len(x))).argsort(axis=1).argsort(axis=1) < distance[:, None]
    adjacency = np.zeros((len(distance), *truth.shape), np.bool_)
    adjacency[:, x, y] = adjacency[:, y, x] = truth[x, y] ^ flipped
    return adjacency, distance


def score_structures(
    data: "Table", adjacency: NDArray[np.bool_], test: "BayesianTest | None" = None
) -> Floats:
    """Return the IB-score of each structure; the test is asked once about every blanket."""
    score, n = bound_score(data, test), data.n_variables
    scores = np.zeros(len(adjacency))
    for x in range(n):
        blankets, which = np.unique(adjacency[:, x], axis=0, return_inverse=True)
        rows = [score.value(x, np.flatnonzero(blanket)) for blanket in blankets]
        scores += np.array(rows)[which.ravel()]  # NumPy 2.0 gives a column
    return scores
