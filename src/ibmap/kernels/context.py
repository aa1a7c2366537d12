"""What kernels take: the records of a test as one array, and the addresses of rarely used functions."""

from typing import Any

from ibmap.kernels.bayes_model import LAYOUT, Model, Scratch
from ibmap.kernels.cells import irregular_columns
from ibmap.kernels.partition import split_wide
from ibmap.kernels.records import Ints, Packed, Routes, Sets


def counting_context(packed: Packed, sets: Sets) -> tuple[Ints, list[Any]]:
    """Return what kernels that only count need, and the arrays that must be kept."""
    routes = Routes(split_wide.address if len(packed.wide_codes) else 0, 0)
    return LAYOUT.numbers(packed, sets, None, None, routes)


class Context:
    """What the kernels of the Bayesian test need, in the workspace of one thread.

    ``numbers`` is what they take: the addresses and shapes of all arrays, which the context keeps alive. An
    engine that keeps its rows elsewhere has no packed table; kernels that need one must not be called then.
    """

    def __init__(self, packed: Packed | None, sets: Sets | None, model: Model, scratch: Scratch) -> None:
        self._records = (packed, sets, model, scratch)
        routes = Routes(0, 0)
        if packed is not None:
            routes = Routes(
                split_wide.address if len(packed.wide_codes) else 0,
                irregular_columns.address if packed.irregular.size else 0,
            )
        self.numbers, self._arrays = LAYOUT.numbers(packed, sets, model, scratch, routes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, self._records  # addresses mean nothing elsewhere
