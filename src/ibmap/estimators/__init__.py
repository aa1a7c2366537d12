"""The learners as scikit-learn estimators."""

from ibmap.estimators.base import StructureLearner
from ibmap.estimators.comparing import compare
from ibmap.estimators.deciding import GSMN, HHCMN, MutualInformation
from ibmap.estimators.imputing import NetworkImputer
from ibmap.estimators.resampling import Bootstrap
from ibmap.estimators.scored import DAGHC, IBMAP, EvidenceMAP

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
