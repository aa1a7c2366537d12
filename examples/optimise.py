"""Maximise a function of your own: a knapsack whose items are worth more in pairs.

Run it with ``python examples/optimise.py``.
"""

import numpy as np
from numpy.typing import NDArray

from ibmap.eda import MOA, Stop, maximize

N = 40
RNG = np.random.default_rng(0)
WEIGHTS, VALUES = RNG.integers(1, 20, size=(2, N))
TOGETHER = RNG.integers(10, 40, size=N // 2)  # added if both items of a pair (0, 1), (2, 3), ... are packed
ROOM = WEIGHTS.sum() // 3


def worth(rows: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the worth of every row of zeros and ones; what is too heavy loses a lot."""
    pairs = rows[:, 0::2] * rows[:, 1::2]
    too_heavy = np.maximum(rows @ WEIGHTS - ROOM, 0)
    return rows @ VALUES + pairs @ TOGETHER - 100.0 * too_heavy


def main() -> None:
    # In one call: without edges every item is judged for itself.
    for learner in ("none", "ibmap-hc"):
        found = maximize(worth, N, 1000, learner=learner, stop=Stop(stall=15), random_state=0)
        print(f"{learner}: worth {found.fitness:g} after {found.evaluations:,} evaluations")

    # Or with the loop in your own hands; moa.save(path) and MOA.load(path) go on where you stopped.
    moa = MOA(N, 1000, stop=Stop(generations=20), random_state=0)
    while not moa.should_stop():
        solutions = moa.ask()
        moa.tell(solutions, worth(solutions))
    print(moa)
    print(moa.history_.tail(3))


if __name__ == "__main__":
    main()
