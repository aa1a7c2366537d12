"""A Dask cluster counts: its workers read and pack their pieces of a table (docs/scaling.md)."""

from ibmap.engines.dask.engine import DaskEngine

__all__ = ["DaskEngine"]
