"""Scores by name."""

from collections.abc import Callable

from ibmap.errors import RequestError
from ibmap.scores.ib import IBScore
from ibmap.scores.local_score import Score
from ibmap.scores.mpl import MPLScore

SCORES: dict[str, Callable[..., Score]] = {"ib": IBScore, "mpl": MPLScore}


def as_score(choice: object) -> Score:
    """Return the score that is meant: an object, a name, or None for the IB-score.

    Examples
    --------
    >>> as_score("mpl").name
    'mpl'
    """
    if choice is None:
        return IBScore()
    if isinstance(choice, str):
        if choice not in SCORES:
            raise RequestError(f"unknown score {choice!r}; there are {', '.join(SCORES)}")
        return SCORES[choice]()
    if isinstance(choice, type) or not all(
        hasattr(choice, a) for a in ("name", "uses_test", "options", "bind")
    ):
        raise RequestError(f"{choice!r} is not a score: give a name, or an object with bind(engine, test)")
    return choice  # type: ignore[return-value]
