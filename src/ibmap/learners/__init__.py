"""Search: from a table to a graph. One algorithm a file; ``estimators`` and ``rivals`` have classes."""

from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.explanation import Explanation, explain
from ibmap.learners.gsmn import gsmn
from ibmap.learners.hhc_mn import hhc_mn
from ibmap.learners.ibmap_hc import ibmap_hc
from ibmap.learners.learned import Learned, Step
from ibmap.learners.local import Visit
from ibmap.learners.mutual_information import mutual_information
from ibmap.learners.registry import LEARNERS, find_learner

__all__ = [
    "LEARNERS",
    "Checkpoint",
    "Explanation",
    "Learned",
    "Step",
    "Visit",
    "explain",
    "find_learner",
    "gsmn",
    "hhc_mn",
    "ibmap_hc",
    "mutual_information",
]
