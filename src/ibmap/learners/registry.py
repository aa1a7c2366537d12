"""Learners by name, imported when they are first used."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ibmap import _checks

if TYPE_CHECKING:
    from ibmap.results.learned import Learned

#: each is a function of (data, test) and keyword-only options that returns a ``Learned``; some take no test.
#: The first is the one that we recommend.
LEARNERS = {
    "evidence-map": "ibmap.learners:evidence_map",
    "ibmap-hc": "ibmap.learners:ibmap_hc",
    "gsmn": "ibmap.learners:gsmn",
    "hhc-mn": "ibmap.learners:hhc_mn",
    "mi": "ibmap.learners:mutual_information",
    "dag-hc": "ibmap.learners:dag_hc",
}


def find_learner(name: str) -> Callable[..., "Learned"]:
    """Return the function behind a name.

    Examples
    --------
    >>> find_learner("hhc-mn").__name__
    'hhc_mn'
    """
    _checks.known(name, "learner", LEARNERS)
    module, _, function = LEARNERS[name].partition(":")
    return getattr(import_module(module), function)  # type: ignore[no-any-return]


def takes_numbers(test: object = None, score: object = None) -> bool:
    """Whether a test or a score, by name or as an object, is about numbers instead of categories.

    Examples
    --------
    >>> takes_numbers("gaussian"), takes_numbers("bayesian"), takes_numbers(score="gaussian")
    (True, False, True)
    """
    from ibmap.criteria.registry import SCORES
    from ibmap.independence.registry import TESTS

    chosen = [
        registry.get(choice) if isinstance(choice, str) else choice
        for choice, registry in ((test, TESTS), (score, SCORES))
    ]
    return any(getattr(choice, "continuous", False) for choice in chosen)
