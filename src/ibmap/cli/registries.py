"""Names that help texts show: a text has ``{learners}``, and ``LEARNERS`` has the names."""

from importlib import import_module

#: what may stand in braces in a help text, and where its names are: a dict, or a tuple of words
REGISTRIES = {
    "boundaries": "ibmap.synthetic.ising:BOUNDARIES",
    "combinations": "ibmap.independence.bayesian:COMBINATIONS",
    "couplings": "ibmap.synthetic.ising:COUPLINGS",
    "degrees_of_freedom": "ibmap.independence.contingency:DEGREES_OF_FREEDOM",
    "engines": "ibmap.engines.registry:ENGINES",
    "scores": "ibmap.criteria.registry:SCORES",
    "searches": "ibmap.search.registry:SEARCHES",
    "discretizations": "ibmap.data.discretize:METHODS",
    "directed_scores": "ibmap.engines.model:DIRECTED",
    "formats": "ibmap.exchange.formats:FORMATS",
    "layouts": "ibmap.drawing.layouts:LAYOUTS",
    "fits": "ibmap.model.fitting:METHODS",
    "learners": "ibmap.learners.registry:LEARNERS",
    "numbers": "ibmap.data.numbers:NUMBERS",
    "policies": "ibmap.data.missing:POLICIES",
    "posteriors": "ibmap.search.averaging:POSTERIORS",
    "potentials": "ibmap.synthetic.random_networks:POTENTIALS",
    "presets": "ibmap.paper.presets:PRESETS",
    "prior_counts": "ibmap.independence.bayesian:PRIOR_COUNTS",
    "problems": "ibmap.eda.problems.registry:PROBLEMS",
    "queries": "ibmap.metrics:QUERIES",
    "sampling": "ibmap.eda.conditionals:SAMPLING",
    "slices": "ibmap.independence.bayesian:SLICES",
    "symmetries": "ibmap.learners.local_to_global:SYMMETRIES",
    "tables": "ibmap.cli.simulate:FORMATS",
    "tests": "ibmap.independence.registry:TESTS",
    "views": "ibmap.learners.views:VIEWS",
    "unseen": "ibmap.model.coding:UNSEEN",
    "weights": "ibmap.data.weights:KINDS",
    "ties": "ibmap.independence.bayesian:TIES",
}


class Names(dict[str, str]):
    """What stands for ``{key}`` in a help text: the names in a registry.

    Examples
    --------
    >>> "Cut: {discretizations}.".format_map(Names())
    'Cut: equal-width, quantile.'
    """

    def __missing__(self, key: str) -> str:
        module, _, name = REGISTRIES[key].partition(":")
        return ", ".join(getattr(import_module(module), name))
