"""The experiments by name; each is imported when it is asked for."""

from difflib import get_close_matches
from importlib import import_module

from ibmap.errors import RequestError
from ibmap.paper.experiment import Experiment

_HOME = {
    "random-hamming": "ibmap.paper.experiments.random:HAMMING",
    "random-fmeasure": "ibmap.paper.experiments.random:FMEASURE",
    "random-errors": "ibmap.paper.experiments.random:ERRORS",
    "random-runtime": "ibmap.paper.experiments.random:RUNTIME",
    "ascents": "ibmap.paper.experiments.ascents:ASCENTS",
    "ising": "ibmap.paper.experiments.ising:ISING",
    "table-real": "ibmap.paper.experiments.real_tables:TABLE_REAL",
    "table-onemax": "ibmap.paper.experiments.eda_tables:TABLE_ONEMAX",
    "table-royal-road": "ibmap.paper.experiments.eda_tables:TABLE_ROYAL_ROAD",
    "mi-hamming": "ibmap.paper.experiments.mi_hamming:MI_HAMMING",
    "landscape-6": "ibmap.paper.experiments.landscape:LANDSCAPE_6",
    "landscape-20": "ibmap.paper.experiments.landscape:LANDSCAPE_20",
    "eda-problems": "ibmap.paper.experiments.eda_problems:EDA_PROBLEMS",
}


def experiment_names() -> tuple[str, ...]:
    """Return the names, in the paper's order."""
    return tuple(_HOME)


def find_experiment(name: str) -> Experiment:
    """Return the experiment of a name.

    Examples
    --------
    >>> find_experiment("random-haming")
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: there is no experiment 'random-haming'; did you mean 'random-hamming'?
    """
    if name not in _HOME:
        close = get_close_matches(name, _HOME, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(_HOME)}"
        raise RequestError(f"there is no experiment {name!r}; {hint}")
    module, _, attribute = _HOME[name].partition(":")
    found: Experiment = getattr(import_module(module), attribute)
    return found
