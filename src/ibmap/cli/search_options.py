"""The options of a search and what they become: the same for every verb that learns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options
from ibmap.cli.knowledge import read_knowledge
from ibmap.cli.variable_lists import pair
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data import CategoricalData
    from ibmap.engines import Source
    from ibmap.learners import Learned

Learner = Annotated[str, typer.Option(metavar="NAME", help="The search: ibmap-hc, gsmn, hhc-mn or mi.")]
Test = Annotated[str | None, typer.Option(metavar="NAME", help=f"{options.TESTS} [bayesian].")]
Symmetry = Annotated[
    str | None, typer.Option(metavar="KIND", help="An edge needs one end (or) or both (and).")
]
MaxCondition = Annotated[
    int | None, typer.Option(metavar="N", help="hhc-mn: largest conditioning set [any].")
]
MaxNeighbours = Annotated[
    int | None, typer.Option(metavar="K", help="mi: neighbours that a variable may choose [any].")
]
Factor = Annotated[
    float | None, typer.Option(metavar="F", help="mi: threshold, in mean mutual informations [1.5].")
]
Patience = Annotated[int | None, typer.Option(metavar="K", help="Try K more pairs before giving up [0].")]
Start = Annotated[Path | None, typer.Option(metavar="GRAPH.json", help="Where to start [no edges].")]
Require = Annotated[list[str] | None, typer.Option(metavar="X,Y", help="An edge that must be there; repeat.")]
Forbid = Annotated[list[str] | None, typer.Option(metavar="X,Y", help="An edge that must not; repeat.")]

OPTIONS = ("symmetry", "max_condition", "max_neighbours", "factor", "patience")
#: options of a search that do not change what it finds, and those that a result keeps elsewhere
_ELSEWHERE = ("test", "required", "forbidden", "n_jobs", "checkpoint")


@dataclass(frozen=True)
class Search:
    """A learner with the options that were given; call it with a table.

    Attributes
    ----------
    function : callable
        The learner.
    test : IndependenceTest or None
        Whom it asks; None for a learner that asks no test.
    options : dict
        All that the learner is told.
    """

    function: Callable[..., "Learned"]
    test: object
    options: dict[str, Any] = field(repr=False)

    def __call__(self, data: "Source", callback: Any = None) -> "Learned":
        """Learn; a learner without callbacks runs without."""
        more = {"callback": callback} if "callback" in signature(self.function).parameters else {}
        return self.function(data, **self.options, **more)

    @property
    def said(self) -> dict[str, Any]:
        """The options that decide what is found, as JSON holds them."""
        kept = {name: value for name, value in self.options.items() if name not in _ELSEWHERE}
        return {name: True if name == "start" else value for name, value in kept.items()}


def chosen_search(given: Mapping[str, Any], data: "CategoricalData", **more: Any) -> Search:
    """Return the search that a verb's options (``given``, by name) ask for; ``more`` is for the learner only.

    Examples
    --------
    >>> from ibmap.data import load
    >>> names = ("test", *options.OF_TESTS, *OPTIONS, "start", "require", "forbid", "knowledge")
    >>> given = dict.fromkeys(names) | {"learner": "gsmn", "symmetry": "and", "ties": "dependent"}
    >>> search = chosen_search(given, load({"a": [0, 1], "b": [1, 0]}))
    >>> search.said, search.test.name
    ({'symmetry': 'and'}, 'bayesian(ties=dependent)')
    """
    function = options.chosen_learner(given["learner"])
    known = read_knowledge(given["knowledge"], data)
    of_test = options.of_test(given) | {"prior": known.prior(given["prior"], data)}
    wishes, test = {"test": given["test"], **of_test}, None
    if "test" in signature(function).parameters:
        test = options.chosen_test(given["test"] or "bayesian", data, **of_test)
        wishes = {"test": test}
    wishes |= {name: given[name] for name in OPTIONS}
    wishes["start"] = options.read_graph(given["start"]) if given["start"] is not None else None
    for kind, option in (("required", "require"), ("forbidden", "forbid")):
        edges = [pair(text, f"--{option}", data) for text in given[option] or []]
        wishes[kind] = [*known.edges(kind), *edges] or None
    return Search(function, test, _supported(function, given["learner"], {**wishes, **more}))


def _supported(function: Callable[..., Any], name: str, wishes: dict[str, Any]) -> dict[str, Any]:
    """Return the wishes that are not None; one that the learner does not know is an error."""
    known = signature(function).parameters
    words = {"required": "require", "forbidden": "forbid", "n_jobs": "jobs"}
    wanted = {wish: value for wish, value in wishes.items() if value is not None}
    for wish in wanted:
        if wish not in known:
            raise RequestError(f"{name} has no option --{words.get(wish, wish).replace('_', '-')}")
    return wanted
