"""From rows of evidence to a graph: searches, which know no statistics."""

from ibmap.search.climb import Climb
from ibmap.search.registry import SEARCHES, as_search
from ibmap.search.rounds import Rounds
from ibmap.search.running import Flip, Running, Search
from ibmap.search.steepest import Steepest
from ibmap.search.swaps import Swaps

__all__ = ["SEARCHES", "Climb", "Flip", "Rounds", "Running", "Search", "Steepest", "Swaps", "as_search"]
