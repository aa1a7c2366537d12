"""Learn the structure of a Markov network from categorical data, and how far to trust each edge.

>>> from ibmap import IBMAP
>>> IBMAP(patience=2)
IBMAP(patience=2)

Names are imported when they are first used: ``import ibmap`` takes milliseconds and compiles nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ibmap.data import CategoricalData as CategoricalData
    from ibmap.data import load as load
    from ibmap.estimators import GSMN as GSMN
    from ibmap.estimators import HHCMN as HHCMN
    from ibmap.estimators import IBMAP as IBMAP
    from ibmap.estimators import Bootstrap as Bootstrap
    from ibmap.estimators import MutualInformation as MutualInformation
    from ibmap.graph import Graph as Graph
    from ibmap.independence import BayesianTest as BayesianTest
    from ibmap.independence import ChiSquareTest as ChiSquareTest
    from ibmap.independence import FunctionTest as FunctionTest
    from ibmap.independence import GSquareTest as GSquareTest
    from ibmap.independence import MutualInformationTest as MutualInformationTest
    from ibmap.independence import OracleTest as OracleTest
    from ibmap.learners import Checkpoint as Checkpoint
    from ibmap.learners import Explanation as Explanation
    from ibmap.learners import Learned as Learned
    from ibmap.learners import Visit as Visit
    from ibmap.learners.gsmn import gsmn as gsmn
    from ibmap.learners.hhc_mn import hhc_mn as hhc_mn
    from ibmap.learners.ibmap_hc import ibmap_hc as ibmap_hc
    from ibmap.learners.mutual_information import mutual_information as mutual_information
    from ibmap.metrics import FMeasure as FMeasure
    from ibmap.metrics import accuracy as accuracy
    from ibmap.metrics import f_measure as f_measure
    from ibmap.metrics import hamming as hamming
    from ibmap.plots import plot as plot
    from ibmap.plots import plot_comparison as plot_comparison
    from ibmap.plots import plot_scores as plot_scores
    from ibmap.report import write_report as write_report
    from ibmap.synthetic import simulate_ising as simulate_ising
    from ibmap.synthetic import simulate_random as simulate_random

_HOME = {
    "GSMN": "ibmap.estimators",
    "HHCMN": "ibmap.estimators",
    "IBMAP": "ibmap.estimators",
    "BayesianTest": "ibmap.independence",
    "Bootstrap": "ibmap.estimators",
    "CategoricalData": "ibmap.data",
    "Checkpoint": "ibmap.learners",
    "ChiSquareTest": "ibmap.independence",
    "Explanation": "ibmap.learners",
    "FMeasure": "ibmap.metrics",
    "FunctionTest": "ibmap.independence",
    "GSquareTest": "ibmap.independence",
    "Graph": "ibmap.graph",
    "Learned": "ibmap.learners",
    "MutualInformation": "ibmap.estimators",
    "MutualInformationTest": "ibmap.independence",
    "OracleTest": "ibmap.independence",
    "Visit": "ibmap.learners",
    "accuracy": "ibmap.metrics",
    "f_measure": "ibmap.metrics",
    "gsmn": "ibmap.learners",
    "hamming": "ibmap.metrics",
    "hhc_mn": "ibmap.learners",
    "ibmap_hc": "ibmap.learners",
    "load": "ibmap.data",
    "mutual_information": "ibmap.learners",
    "plot": "ibmap.plots",
    "plot_comparison": "ibmap.plots",
    "plot_scores": "ibmap.plots",
    "simulate_ising": "ibmap.synthetic",
    "simulate_random": "ibmap.synthetic",
    "write_report": "ibmap.report",
}

_PACKAGES = ("datasets", "eda", "exchange", "synthetic")  # used through them: ``ibmap.datasets.load``

__version__ = "0.1.0"
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return import_module(f"ibmap.{name}")
    raise AttributeError(f"module 'ibmap' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_PACKAGES})
