"""From rows of evidence to a graph: searches, which know no statistics."""

from ibmap.search.climb import Climb
from ibmap.search.gains import Rounds, Steepest, Swaps
from ibmap.search.registry import SEARCHES, as_search
from ibmap.search.running import Flip, Running, Search

__all__ = ["SEARCHES", "Climb", "Flip", "Rounds", "Running", "Search", "Steepest", "Swaps", "as_search"]
