"""Names that help texts show, from where the library itself looks them up.

A help text has ``{learners}``; the names come from ``LEARNERS`` when somebody asks for help. They are read
from the source of the module, because importing it would load Numba (half a second). What is not written
there as a plain dict or tuple is imported all the same.
"""

import ast
import pkgutil
import sys
from importlib import import_module

#: what may stand in braces in a help text, and where its names are: a dict, or a tuple of words
REGISTRIES = {
    "boundaries": "ibmap.synthetic.ising:BOUNDARIES",
    "combinations": "ibmap.independence.bayesian:COMBINATIONS",
    "columns": "ibmap.data.kinds:COLUMNS",
    "couplings": "ibmap.synthetic.ising:COUPLINGS",
    "degrees_of_freedom": "ibmap.independence.contingency:DEGREES_OF_FREEDOM",
    "engines": "ibmap.engines.registry:ENGINES",
    "scores": "ibmap.scores.registry:SCORES",
    "searches": "ibmap.search.registry:SEARCHES",
    "discretizations": "ibmap.data.discretize:METHODS",
    "directed_scores": "ibmap.engines.model:DIRECTED",
    "formats": "ibmap.exchange.formats:FORMATS",
    "layouts": "ibmap.drawing.layouts:LAYOUTS",
    "fits": "ibmap.model.fitting:METHODS",
    "learners": "ibmap.learners.registry:LEARNERS",
    "policies": "ibmap.data.missing:POLICIES",
    "potentials": "ibmap.synthetic.random_networks:POTENTIALS",
    "presets": "ibmap.presets:PRESETS",
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
    "ties": "ibmap.independence.bayesian:TIES",
}


def names_in(registry: str) -> tuple[str, ...]:
    """Return the names in a registry, ``module:NAME``, without importing the module if that can be avoided.

    Examples
    --------
    >>> names_in("ibmap.data.discretize:METHODS")
    ('equal-width', 'quantile')
    """
    module, _, name = registry.partition(":")
    found = None if module in sys.modules else _in_source(module, name)
    return found or tuple(getattr(import_module(module), name))


def _in_source(module: str, name: str) -> tuple[str, ...] | None:
    """Return the words of a tuple, or the keys of a dict, as a module has them; None if it does not."""
    package, *path = module.split(".")
    source = pkgutil.get_data(package, f"{'/'.join(path)}.py")
    for node in ast.parse(source or b"").body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
            continue
        value = getattr(node, "value", None)
        words = value.keys if isinstance(value, ast.Dict) else getattr(value, "elts", [])
        if words and all(isinstance(word, ast.Constant) and isinstance(word.value, str) for word in words):
            return tuple(word.value for word in words)  # type: ignore[union-attr]
    return None


class Names(dict[str, str]):
    """What stands for ``{key}`` in a help text: the names in a registry.

    Examples
    --------
    >>> "Cut: {discretizations}.".format_map(Names())
    'Cut: equal-width, quantile.'
    """

    def __missing__(self, key: str) -> str:
        return ", ".join(names_in(REGISTRIES[key]))
