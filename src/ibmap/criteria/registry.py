"""Scores by name."""

from collections.abc import Callable

from ibmap.criteria.adaptive import AdaptiveScore
from ibmap.criteria.bjp import BJPScore
from ibmap.criteria.gaussian import GaussianScore
from ibmap.criteria.ib import IBScore
from ibmap.criteria.local_score import Score
from ibmap.criteria.mixed import MixedScore
from ibmap.criteria.pairwise import PairwiseScore
from ibmap.criteria.saturated import SaturatedScore
from ibmap.errors import RequestError

SCORES: dict[str, Callable[..., Score]] = {
    "ib": IBScore,
    "bjp": BJPScore,
    "pairwise": PairwiseScore,
    "saturated": SaturatedScore,
    "adaptive": AdaptiveScore,
    "gaussian": GaussianScore,
    "mixed": MixedScore,
}
ALIASES = {"mpl": "saturated"}  #: other names that people know a score by


def as_score(choice: object) -> Score:
    """Return the score for an object, a name, or None (the IB-score).

    Examples
    --------
    >>> as_score("mpl").name
    'saturated'
    """
    if choice is None:
        return IBScore()
    if isinstance(choice, str):
        choice = ALIASES.get(choice, choice)
        if choice not in SCORES:
            raise RequestError(f"unknown score {choice!r}; there are {', '.join(SCORES)}")
        return SCORES[choice]()
    if not isinstance(choice, Score):
        raise RequestError(f"{choice!r} is not a score: give a name, or an object of a subclass of Score")
    return choice
