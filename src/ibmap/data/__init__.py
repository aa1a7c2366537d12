"""Reading: any table becomes a :class:`Table`, of small-integer codes and numbers, with names and labels."""

from ibmap.data.reader import load
from ibmap.data.schema import Schema
from ibmap.data.table import Table

__all__ = ["Schema", "Table", "load"]
