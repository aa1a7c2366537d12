"""From a table to a graph: one algorithm a file, as pure functions; ``ibmap.estimators`` has the classes."""

from ibmap.learners.checkpoint import Checkpoint
from ibmap.learners.dag_hc import dag_hc
from ibmap.learners.evidence_map import evidence_map
from ibmap.learners.gsmn import gsmn
from ibmap.learners.hhc_mn import hhc_mn
from ibmap.learners.ibmap_hc import ibmap_hc
from ibmap.learners.interactions import Interaction, find_interactions
from ibmap.learners.local_to_global import Visit
from ibmap.learners.mutual_information import mutual_information
from ibmap.learners.registry import LEARNERS, find_learner
from ibmap.results.explain import Explanation, explain
from ibmap.results.learned import Learned, Step

__all__ = [
    "LEARNERS",
    "Checkpoint",
    "Explanation",
    "Interaction",
    "Learned",
    "Step",
    "Visit",
    "dag_hc",
    "evidence_map",
    "explain",
    "find_interactions",
    "find_learner",
    "gsmn",
    "hhc_mn",
    "ibmap_hc",
    "mutual_information",
]
