"""Tables of counts → how probable is independence: one protocol, several tests."""

from ibmap.independence.base import Answers, BoundTest, FunctionTest, IndependenceTest, TableTest
from ibmap.independence.bayesian import BayesianTest
from ibmap.independence.contingency import ChiSquareTest, GSquareTest, MutualInformationTest
from ibmap.independence.gaussian import FisherZTest, GaussianTest
from ibmap.independence.oracle import OracleTest
from ibmap.independence.ordinal import OrdinalEvidenceTest, OrdinalTest
from ibmap.independence.registry import as_test

__all__ = [
    "Answers",
    "BayesianTest",
    "BoundTest",
    "ChiSquareTest",
    "FisherZTest",
    "FunctionTest",
    "GSquareTest",
    "GaussianTest",
    "IndependenceTest",
    "MutualInformationTest",
    "OracleTest",
    "OrdinalEvidenceTest",
    "OrdinalTest",
    "TableTest",
    "as_test",
]
