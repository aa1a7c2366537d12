"""Rows → tables of counts: the only room that sees rows."""

from ibmap.engines.engine import Counts, Tables
from ibmap.engines.memory import LocalCounts

__all__ = ["Counts", "LocalCounts", "Tables"]
