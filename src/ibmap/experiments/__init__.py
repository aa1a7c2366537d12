"""The paper as data: one description per figure or table, one runner, ours beside the paper's."""

from ibmap.experiments.claims import Case, Claim, Verdict
from ibmap.experiments.experiment import Experiment, Landscape, Measure, Panels, Setup, Study
from ibmap.experiments.registry import experiment_names, find_experiment
from ibmap.experiments.results import Results, Row, Summary
from ibmap.experiments.runner import reproduce
from ibmap.experiments.store import Store

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
