"""The exceptions of ibmap: one line of words for users, no traceback needed.

Every error that a user's data or request can cause is an :class:`IbmapError`; the command line prints
its message on one line and leaves with exit code 2 if the command makes no sense, 1 if a table does not do.
"""

import re
from typing import Any


class IbmapError(ValueError):
    """Base of all errors that a user can mend; its message is one line."""

    def __init__(self, *words: object) -> None:
        super().__init__(*(re.sub(r"\s*\n\s*", " ", one) if isinstance(one, str) else one for one in words))


class DataError(IbmapError):
    """The table cannot be used as it is: unreadable, empty, ragged, missing values, continuous columns."""


class ContinuousError(DataError):
    """Columns are continuous, and nobody said how to read them: what was found, and what to do about it."""

    def __init__(self, found: str, advice: str) -> None:
        super().__init__(f"{found}: {advice}")
        self.found, self.advice = found, advice


class TimeColumnError(DataError):
    """A column holds dates, times or durations, which are neither numbers nor categories."""


class UnknownVariableError(IbmapError, KeyError):
    """A variable was named that the table or the graph does not have."""

    def __str__(self) -> str:
        """Return the plain message (``KeyError`` would show its repr)."""
        return str(self.args[0])


class RequestError(IbmapError):
    """The question makes no sense: X = Y, X in Z, contradictory edges, an unknown option."""


class EngineError(IbmapError):
    """An engine does not answer what it was asked: another table, a partition that is gone."""


class CoreError(IbmapError, ImportError):
    """The native core is not built, or was built for another processor, Python or version of the package."""


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C, while a search was under way: what it had found so far.

    Attributes
    ----------
    graph : Graph
        The best network so far; ``start=graph`` goes on from there.
    n_steps : int
        The ascents that led there.
    """

    def __init__(self, graph: Any, n_steps: int) -> None:
        super().__init__(f"interrupted after {n_steps} ascents")
        self.graph, self.n_steps = graph, n_steps


class DataWarning(UserWarning):
    """The table is usable, but something in it is probably not what the user meant."""


class SearchWarning(UserWarning):
    """A network was found, but the search for it ended too early to be relied on."""
