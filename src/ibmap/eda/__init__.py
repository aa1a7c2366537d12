"""Optimisation with learned networks: MOA (ask / tell), problems with a known optimum, critical sizes."""

from ibmap.eda.critical import CriticalSize, critical_population_size
from ibmap.eda.maximize import Optimised, maximize
from ibmap.eda.moa import MOA
from ibmap.eda.problems import Problem, make_problem, problem_names
from ibmap.eda.run import Best, Stop
from ibmap.eda.structure import OwnNeighbours

__all__ = [
    "MOA",
    "Best",
    "CriticalSize",
    "Optimised",
    "OwnNeighbours",
    "Problem",
    "Stop",
    "critical_population_size",
    "make_problem",
    "maximize",
    "problem_names",
]
