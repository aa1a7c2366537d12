"""The paper as data: one description per figure or table, one runner, ours beside the paper's."""

from ibmap.paper.claims import Case, Claim, Verdict
from ibmap.paper.experiment import Experiment, Landscape, Measure, Panels, Setup, Study
from ibmap.paper.registry import experiment_names, find_experiment
from ibmap.paper.results import Results, Row, Summary
from ibmap.paper.runner import reproduce
from ibmap.paper.store import Store

__all__ = [
    "Case",
    "Claim",
    "Experiment",
    "Landscape",
    "Measure",
    "Panels",
    "Results",
    "Row",
    "Setup",
    "Store",
    "Study",
    "Summary",
    "Verdict",
    "experiment_names",
    "find_experiment",
    "reproduce",
]
