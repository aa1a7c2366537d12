"""Tables of numbers."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ibmap.data import Table


def table_of_numbers(values: Any, names: Sequence[str], **about: Any) -> Table:
    """Return numbers that count by their values; a row of ``values`` per variable."""
    codes = np.empty((0, np.shape(values)[1]), np.int8)
    return Table(codes, tuple(names), ((),) * len(names), values=values, numbers="values", **about)
