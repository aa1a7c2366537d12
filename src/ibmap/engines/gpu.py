"""The engine for a table that a GPU holds, too: rows of evidence are made there, all else in memory."""

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ibmap._libraries import library
from ibmap._text import in_bytes
from ibmap._types import Ints
from ibmap.data import Table
from ibmap.data.table import LevelBits
from ibmap.engines.arrangement import Arrangement, arranged_data
from ibmap.engines.gpu_rows import DeviceRows
from ibmap.engines.memory import MemoryEngine, drawn_rows
from ibmap.engines.model import DIRECTED, Model
from ibmap.engines.rows import ManyVariables, Rows, as_lists, joined_rows, no_lists
from ibmap.errors import DataWarning, EngineError, RequestError

MOST_ROWS = 1 << 24  #: up to which numbers of 32 bits count without rounding
OF_MEMORY = 0.5  #: share of the free memory of a GPU that the table may take
AT_ONCE = 1 << 29  #: numbers in rows that are asked for at once; made are as many as memory has room for
IN_TESTS = 1 << 26  #: bytes to work with where NumPy stands in for a GPU


class GpuEngine(MemoryEngine):
    """Count in memory, and make rows of evidence of binary variables on a GPU.

    Tables with more levels or missing values are counted in memory alone, with a warning: the answers are the
    same.

    Parameters
    ----------
    data : Table
        The table.
    arrays : str
        The library that has the arrays; "numpy" runs the same code without a GPU.

    Examples
    --------
    >>> from ibmap.data import load
    >>> GpuEngine(load({"a": [0, 1], "b": [1, 0]}), "numpy").columns.shape
    (2, 2)
    """

    def __init__(self, data: Table, arrays: str = "cupy") -> None:
        super().__init__(data)
        self.arrays: Any = cupy_with_a_device() if arrays == "cupy" else library(arrays)
        regular = bool((self.bits.complete & (self.bits.levels <= 2)).all())
        self.columns: Any = None  #: (variables, rows) on the GPU: where each variable has its second level
        if not regular or data.n_rows >= MOST_ROWS:
            why = "it has" if not regular else f"with {data.n_rows:,} rows it is too long for"
            what = " variables of more than two levels, or missing values" if not regular else " one GPU"
            warnings.warn(
                f"this table is counted in memory, not on the GPU: {why}{what}", DataWarning, stacklevel=2
            )
            return
        kind = np.dtype(np.float32 if self.arrays is np else np.float16)
        needed, free = kind.itemsize * data.n_variables * data.n_rows, self.free_memory()
        if needed > OF_MEMORY * free:
            raise EngineError(
                f"the table takes {in_bytes(needed)} on the GPU, which has {in_bytes(free)} free: use the "
                "engine in memory (leave out engine), or fewer columns"
            )
        self.columns = self.arrays.asarray(second_levels(self.bits), dtype=kind)

    def __reduce__(self) -> tuple[Any, ...]:
        return GpuEngine, (self.data, self.arrays.__name__)

    def free_memory(self) -> float:
        """Return how many bytes there are to work with."""
        if self.arrays is np:
            return float(IN_TESTS)
        self.arrays.get_default_memory_pool().free_all_blocks()
        return float(self.arrays.cuda.runtime.memGetInfo()[0])

    def rows(
        self,
        model: Model,
        xs: Sequence[int] | Ints,
        blankets: ManyVariables,
        *,
        floor: float = -np.inf,
        also: ManyVariables | None = None,
        exact: bool = False,
    ) -> Rows:
        """Return rows of evidence for some x, given their blankets, from the GPU; see :class:`Engine`."""
        if (
            self.columns is None
            or model.family in (*DIRECTED, "mixed")
            or exact
            or (floor == np.inf and also is None)
        ):
            return super().rows(model, xs, blankets, floor=floor, also=also, exact=exact)
        device = self._devices.get(model.key)
        if device is None:
            levels, budget = np.array(self.schema.cardinalities), self.free_memory() / 2
            arguments = (self.arrays, self.columns, levels, model, budget, super().rows)
            device = self._devices[model.key] = DeviceRows(*arguments)
        which, given = np.asarray(xs, np.int64), as_lists(blankets)
        others, at_once = as_lists(also or no_lists(len(which))), max(64, AT_ONCE // self.schema.n_variables)
        parts = []
        for first in range(0, len(which), at_once):
            some = slice(first, first + at_once)
            lists = given.some(some), floor, others.some(some)
            parts.append(device.rows(model.log_odds, which[some], *lists))
        return joined_rows(parts)

    @cached_property
    def _devices(self) -> dict[tuple[str, float, float, float], DeviceRows]:
        return {}

    def arranged(self, arrangement: Arrangement) -> "MemoryEngine":
        """Return the table with its columns and levels in another order."""
        data = arranged_data(self.data, arrangement)
        return MemoryEngine(data) if self.columns is None else GpuEngine(data, self.arrays.__name__)

    def resampled(self, rng: np.random.Generator, share: float | None = None) -> "MemoryEngine":
        """Resample the rows: as many with replacement, or a share without; all levels stay."""
        drawn = self.data.rows(drawn_rows(rng, self.data.n_rows, share, self.data.clusters, self.data.strata))
        return MemoryEngine(drawn) if self.columns is None else GpuEngine(drawn, self.arrays.__name__)


def cupy_with_a_device() -> Any:
    """Return CuPy, if there is a GPU that it can use."""
    try:
        arrays = library("cupy")
    except RequestError:
        raise RequestError(
            "engine='gpu' needs CuPy, which is not installed: pip install \"ibmap[gpu]\""
        ) from None
    try:
        n_devices = int(arrays.cuda.runtime.getDeviceCount())
    except arrays.cuda.runtime.CUDARuntimeError as error:
        raise RequestError(f"no GPU can be used here ({error}): leave out engine='gpu'") from None
    if not n_devices:
        raise RequestError("there is no GPU here: leave out engine='gpu'")
    return arrays


def second_levels(table: LevelBits) -> Any:
    """Return which rows have the second level of each variable, as bytes; constants have none."""
    bits = table.bits[np.minimum(table.first + 1, len(table.bits) - 1)]
    rows = np.unpackbits(bits.view(np.uint8), axis=1, count=table.n_rows, bitorder="little")
    rows[table.levels < 2] = 0
    return rows
