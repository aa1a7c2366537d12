"""Problems with a known optimum and a known interaction graph. A function of your own needs no class."""

from ibmap.eda.problems.additive import additive
from ibmap.eda.problems.blocks import leading_ones, onemax, royal_road, trap
from ibmap.eda.problems.problem import Problem
from ibmap.eda.problems.random import max_cut, nk_landscape, spin_glass
from ibmap.eda.problems.registry import make_problem, problem_names

__all__ = [
    "Problem",
    "additive",
    "leading_ones",
    "make_problem",
    "max_cut",
    "nk_landscape",
    "onemax",
    "problem_names",
    "royal_road",
    "spin_glass",
    "trap",
]
