"""Search: from a table to a graph. One algorithm a file; ``estimators`` dresses them for scikit-learn."""

from ibmap.learners.ibmap_hc import ibmap_hc
from ibmap.learners.learned import Learned, Step

__all__ = ["Learned", "Step", "ibmap_hc"]
