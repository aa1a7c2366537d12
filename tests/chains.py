"""Tables whose truth is a chain: each variable copies the one before it, with some noise."""

import numpy as np

from ibmap.data import Table, load


def noisy_chain(n_variables: int, n_rows: int, noise: float = 0.2, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    columns = [rng.integers(2, size=n_rows)]
    for _ in range(n_variables - 1):
        columns.append(columns[-1] ^ (rng.random(n_rows) < noise))
    return load({f"v{i}": column for i, column in enumerate(columns)})
