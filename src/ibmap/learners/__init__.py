"""Search: from a table to a graph. One algorithm a file."""

from ibmap.learners.ibmap_hc import IBMAP, ibmap_hc

__all__ = ["IBMAP", "ibmap_hc"]
