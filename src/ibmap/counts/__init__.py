"""Rows → tables of counts: the only room that sees rows."""

from ibmap.counts.engine import Counts, Tables
from ibmap.counts.local import LocalCounts

__all__ = ["Counts", "LocalCounts", "Tables"]
