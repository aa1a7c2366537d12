"""The learners as scikit-learn estimators."""

from ibmap.estimators.base import StructureLearner
from ibmap.estimators.bootstrap import Bootstrap
from ibmap.estimators.comparison import compare
from ibmap.estimators.constraint_based import GSMN, HHCMN, MutualInformation
from ibmap.estimators.imputer import NetworkImputer
from ibmap.estimators.score_based import DAGHC, IBMAP, EvidenceMAP

__all__ = [
    "DAGHC",
    "GSMN",
    "HHCMN",
    "IBMAP",
    "Bootstrap",
    "EvidenceMAP",
    "MutualInformation",
    "NetworkImputer",
    "StructureLearner",
    "compare",
]
