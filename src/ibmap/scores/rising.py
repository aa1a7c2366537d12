"""Tables of log Γ(a + n) - log Γ(a): as long as the table has rows, so whoever needs the same shares it."""

from threading import Lock
from weakref import WeakValueDictionary

import numpy as np

from ibmap._types import Floats
from ibmap.kernels.bayes_model import fill_table

_made: WeakValueDictionary[tuple[int, tuple[float, ...]], Floats] = WeakValueDictionary()
_lock = Lock()


def rising_tables(parameters: tuple[float, ...], n_rows: int) -> Floats:
    """Return log Γ(a + n) - log Γ(a) for n = 0 ... n_rows, a row for every a; do not write to it.

    Examples
    --------
    >>> rising_tables((1.0,), 3).round(3).tolist()
    [[0.0, 0.0, 0.693, 1.792]]
    >>> once = rising_tables((0.5,), 10)
    >>> once is rising_tables((0.5,), 10)
    True
    """
    with _lock:
        found = _made.get((n_rows, parameters))
        if found is None:
            found = np.empty((len(parameters), n_rows + 1))
            for parameter, row in zip(parameters, found, strict=True):
                fill_table(parameter, row)
            _made[n_rows, parameters] = found
        return found
