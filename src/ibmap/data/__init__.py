"""Reading: any table becomes :class:`CategoricalData`, small-integer codes with names and labels."""

from ibmap.data.reader import load
from ibmap.data.schema import Schema
from ibmap.data.table import CategoricalData

__all__ = ["CategoricalData", "Schema", "load"]
