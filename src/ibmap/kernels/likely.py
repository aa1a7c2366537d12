"""What is likely in rows of evidence of both families of conditionals, mixed; see ``scores/adaptive.py``."""

import numpy as np
from numpy.typing import NDArray

from ibmap.kernels.jit import kernel
from ibmap.kernels.logspace import exp, log1p_of_share
from ibmap.kernels.records import Floats, FloatTable, Ints

HOPELESS = -1e6  #: log odds of full tables that are not looked at


@kernel
def take_likely(
    main: Floats,
    full: Floats,
    x: int,
    members: Ints,
    wanted: Ints,
    full_odds: float,
    cells: float,
    log_levels: Floats,
    log_rows: float,
    prior_odds: float,
    floor: float,
    scratch: FloatTable,
    ys: NDArray[np.int32],
    ts: Floats,
) -> tuple[int, float]:
    """List the y whose evidence is above a floor, or that are wanted, in order.

    Parameters
    ----------
    main, full : array
        t_xy of the two families.
    full_odds : float
        Log odds of the full table of x and its members against main effects.
    cells : float
        Logarithm of the number of cells of that table. A table of more cells than rows is not looked at.
    scratch : array of shape (3, variables)
        Place for work.

    Returns
    -------
    int
        How many are listed.
    float
        Σ e^t over all y that are not listed.
    """
    rest, mixed, marks = scratch[0], scratch[1], scratch[2]
    hopeful = full_odds if cells <= log_rows else HOPELESS
    now = max(hopeful, 0.0) + log1p_of_share(exp(-abs(hopeful)))
    for y in range(main.size):
        then = full_odds + (full[y] - main[y]) if cells + log_levels[y] <= log_rows else HOPELESS
        small = exp(-abs(then))
        base = main[y] + prior_odds - now + max(then, 0.0)
        rest[y] = exp(min(base, 0.0)) * (1.0 + small)
        mixed[y] = base + log1p_of_share(small)
        marks[y] = 0.0
    for y in wanted:
        marks[y] = 1.0
    for y in members:  # their rows are those of the blanket without them
        then = full_odds - (full[y] - main[y]) if cells - log_levels[y] <= log_rows else HOPELESS
        mixed[y] = main[y] + prior_odds + now - (max(then, 0.0) + log1p_of_share(exp(-abs(then))))
        marks[y] = 1.0
    mixed[x], rest[x], marks[x] = -np.inf, 0.0, 0.0
    n, elsewhere = 0, 0.0
    for y in range(main.size):
        if mixed[y] > floor or marks[y] > 0.0:
            ys[n], ts[n] = y, mixed[y]
            n += 1
        else:
            elsewhere += rest[y]
    return n, elsewhere
