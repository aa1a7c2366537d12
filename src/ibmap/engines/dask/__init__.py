"""A Dask cluster counts: its workers read and pack their pieces of a table (docs/scaling.md)."""

from ibmap.engines.dask.engine import DaskEngine
from ibmap.engines.dask.rows import DaskRows

__all__ = ["DaskEngine", "DaskRows"]
