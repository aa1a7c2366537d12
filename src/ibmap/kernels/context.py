"""What kernels take: the records of a test as one array, and the addresses of rarely used functions."""

from typing import Any

from ibmap.kernels.bayes_model import LAYOUT, Model, Scratch
from ibmap.kernels.partition import split_wide
from ibmap.kernels.records import Ints, Packed, Routes, Sets


def counting_context(packed: Packed, sets: Sets) -> tuple[Ints, list[Any]]:
    """Return what kernels that only count need, and the arrays that must be kept."""
    routes = Routes(split_wide.address if len(packed.wide_codes) else 0)
    return LAYOUT.numbers(packed, sets, None, None, routes)


class Context:
    """What the kernels of the Bayesian test need, in the workspace of one thread.

    ``numbers`` is what they take: the addresses and shapes of all arrays, which the context keeps alive.
    """

    def __init__(self, packed: Packed, sets: Sets, model: Model, scratch: Scratch) -> None:
        self._records = (packed, sets, model, scratch)
        routes = Routes(split_wide.address if len(packed.wide_codes) else 0)
        self.numbers, self._arrays = LAYOUT.numbers(packed, sets, model, scratch, routes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, self._records  # addresses mean nothing elsewhere
