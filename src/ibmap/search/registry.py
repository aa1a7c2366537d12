"""Searches by name."""

from collections.abc import Callable

from ibmap._checks import is_whole
from ibmap._text import in_short
from ibmap.errors import RequestError
from ibmap.search.climb import Climb
from ibmap.search.gains import Rounds, Steepest, Swaps
from ibmap.search.running import Search

SEARCHES: dict[str, Callable[..., Search]] = {
    "climb": Climb,
    "steepest": Steepest,
    "rounds": Rounds,
    "swaps": Swaps,
}


def as_search(choice: object, patience: int = 0) -> Search:
    """Return the search for an object, a name, or None (the paper's climb).

    Examples
    --------
    >>> as_search(None, patience=2).options()
    {'patience': 2}
    >>> as_search("rounds", patience=2)
    Traceback (most recent call last):
        ...
    ibmap.errors.RequestError: patience is an option of search='climb'; 'rounds' has none
    """
    if not is_whole(patience) or patience < 0:
        raise RequestError(f"patience must be 0 or more, a whole number, not {in_short(patience)}")
    if choice is None:
        choice = "climb"
    if isinstance(choice, str):
        if choice not in SEARCHES:
            raise RequestError(f"unknown search {choice!r}; there are {', '.join(SEARCHES)}")
        choice = Climb(patience) if choice == "climb" else SEARCHES[choice]()
    if not isinstance(choice, Search):
        raise RequestError(
            f"{in_short(choice)} is not a search: give a name, or an object of a subclass of Search"
        )
    if patience and "patience" not in choice.options():
        raise RequestError(f"patience is an option of search='climb'; {choice.name!r} has none")
    return choice
