"""Learn the structure of a Markov network from a table, and how far to trust each edge.

>>> from ibmap import IBMAP
>>> IBMAP(patience=2)
IBMAP(patience=2)

Names are imported when they are first used: ``import ibmap`` takes milliseconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ibmap.criteria import AdaptiveScore as AdaptiveScore
    from ibmap.criteria import GaussianScore as GaussianScore
    from ibmap.criteria import IBScore as IBScore
    from ibmap.criteria import PairwiseScore as PairwiseScore
    from ibmap.criteria import SaturatedScore as SaturatedScore
    from ibmap.data import Schema as Schema
    from ibmap.data import Table as Table
    from ibmap.data import load as load
    from ibmap.engines import MemoryEngine as MemoryEngine
    from ibmap.engines import ThreadEngine as ThreadEngine
    from ibmap.engines.dask import DaskEngine as DaskEngine
    from ibmap.engines.dask import DaskRows as DaskRows
    from ibmap.errors import DataWarning as DataWarning
    from ibmap.errors import IbmapError as IbmapError
    from ibmap.errors import SearchWarning as SearchWarning
    from ibmap.estimators import DAGHC as DAGHC
    from ibmap.estimators import GSMN as GSMN
    from ibmap.estimators import HHCMN as HHCMN
    from ibmap.estimators import IBMAP as IBMAP
    from ibmap.estimators import Bootstrap as Bootstrap
    from ibmap.estimators import EvidenceMAP as EvidenceMAP
    from ibmap.estimators import MutualInformation as MutualInformation
    from ibmap.estimators import NetworkImputer as NetworkImputer
    from ibmap.estimators import compare as compare
    from ibmap.graph import Graph as Graph
    from ibmap.independence import BayesianTest as BayesianTest
    from ibmap.independence import ChiSquareTest as ChiSquareTest
    from ibmap.independence import FisherZTest as FisherZTest
    from ibmap.independence import FunctionTest as FunctionTest
    from ibmap.independence import GaussianTest as GaussianTest
    from ibmap.independence import GSquareTest as GSquareTest
    from ibmap.independence import MutualInformationTest as MutualInformationTest
    from ibmap.independence import OracleTest as OracleTest
    from ibmap.independence import OrdinalEvidenceTest as OrdinalEvidenceTest
    from ibmap.independence import OrdinalTest as OrdinalTest
    from ibmap.learners import Checkpoint as Checkpoint
    from ibmap.learners import Interaction as Interaction
    from ibmap.learners import Visit as Visit
    from ibmap.learners import find_interactions as find_interactions
    from ibmap.metrics import FMeasure as FMeasure
    from ibmap.metrics import accuracy as accuracy
    from ibmap.metrics import f_measure as f_measure
    from ibmap.metrics import hamming as hamming
    from ibmap.metrics import log_score as log_score
    from ibmap.model import MarkovNetwork as MarkovNetwork
    from ibmap.plots import plot as plot
    from ibmap.plots import plot_comparison as plot_comparison
    from ibmap.plots import plot_scores as plot_scores
    from ibmap.report import write_report as write_report
    from ibmap.results.comparison import Comparison as Comparison
    from ibmap.results.explain import Explanation as Explanation
    from ibmap.results.learned import Learned as Learned
    from ibmap.results.learned import Step as Step
    from ibmap.results.result_file import read_result as read_result
    from ibmap.synthetic import simulate_ising as simulate_ising
    from ibmap.synthetic import simulate_random as simulate_random

_HOME = {
    "accuracy": "ibmap.metrics",
    "log_score": "ibmap.metrics",
    "AdaptiveScore": "ibmap.criteria",
    "BayesianTest": "ibmap.independence",
    "Bootstrap": "ibmap.estimators",
    "Table": "ibmap.data",
    "Checkpoint": "ibmap.learners",
    "compare": "ibmap.estimators",
    "Comparison": "ibmap.results.comparison",
    "ChiSquareTest": "ibmap.independence",
    "DAGHC": "ibmap.estimators",
    "DaskEngine": "ibmap.engines.dask",
    "DaskRows": "ibmap.engines.dask",
    "DataWarning": "ibmap.errors",
    "SearchWarning": "ibmap.errors",
    "EvidenceMAP": "ibmap.estimators",
    "Explanation": "ibmap.results.explain",
    "f_measure": "ibmap.metrics",
    "FMeasure": "ibmap.metrics",
    "FisherZTest": "ibmap.independence",
    "FunctionTest": "ibmap.independence",
    "GaussianScore": "ibmap.criteria",
    "GaussianTest": "ibmap.independence",
    "Graph": "ibmap.graph",
    "GSMN": "ibmap.estimators",
    "GSquareTest": "ibmap.independence",
    "hamming": "ibmap.metrics",
    "HHCMN": "ibmap.estimators",
    "IBMAP": "ibmap.estimators",
    "IbmapError": "ibmap.errors",
    "IBScore": "ibmap.criteria",
    "find_interactions": "ibmap.learners",
    "Interaction": "ibmap.learners",
    "Learned": "ibmap.results.learned",
    "load": "ibmap.data",
    "MarkovNetwork": "ibmap.model",
    "MemoryEngine": "ibmap.engines",
    "MutualInformation": "ibmap.estimators",
    "MutualInformationTest": "ibmap.independence",
    "NetworkImputer": "ibmap.estimators",
    "OracleTest": "ibmap.independence",
    "OrdinalEvidenceTest": "ibmap.independence",
    "OrdinalTest": "ibmap.independence",
    "PairwiseScore": "ibmap.criteria",
    "plot": "ibmap.plots",
    "plot_comparison": "ibmap.plots",
    "plot_scores": "ibmap.plots",
    "read_result": "ibmap.results.result_file",
    "SaturatedScore": "ibmap.criteria",
    "Schema": "ibmap.data",
    "simulate_ising": "ibmap.synthetic",
    "simulate_random": "ibmap.synthetic",
    "Step": "ibmap.results.learned",
    "ThreadEngine": "ibmap.engines",
    "Visit": "ibmap.learners",
    "write_report": "ibmap.report",
}

_PACKAGES = {  # used through them: ``ibmap.datasets.load``
    **{
        name: f"ibmap.{name}"
        for name in ("criteria", "eda", "engines", "exchange", "learners", "model", "search", "synthetic")
    },
    **{name: f"ibmap.paper.{name}" for name in ("datasets", "presets")},
}

__version__ = "0.2.0"
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return import_module(_PACKAGES[name])
    raise AttributeError(f"module 'ibmap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_PACKAGES})
