"""Options that verbs share, and what they become: a graph, a learner, a test."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli.priors import prior_from
from ibmap.cli.startup import import_numba
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data import CategoricalData
    from ibmap.graph import Graph
    from ibmap.independence import IndependenceTest
    from ibmap.learners import Learned

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE", help="CSV (or other delimited text, perhaps gzipped) or Parquet; - is stdin."
    ),
]
TESTS = "bayesian, chi-square, g-square or mutual-information"
Prior = Annotated[
    str | None,
    typer.Option(metavar="P", help="Prior probability of independence, or a CSV with x, y, prior [0.5]."),
]
PriorCounts = Annotated[
    str | None,
    typer.Option(metavar="KIND", help="ones, consistent, jeffreys, bdeu or a number [ones]."),
]
Combine = Annotated[str | None, typer.Option(metavar="KIND", help="slices or global [slices].")]
Slices = Annotated[str | None, typer.Option(metavar="KIND", help="observed or all [observed].")]
Ties = Annotated[
    str | None, typer.Option(metavar="KIND", help="If the data say nothing: independent or dependent.")
]
Alpha = Annotated[float | None, typer.Option(metavar="A", help="Level of chi-square and g-square [0.05].")]
#: the options above, by name
OF_TESTS = ("prior", "prior_counts", "combine", "slices", "ties", "alpha")
Missing = Annotated[
    str, typer.Option(metavar="KIND", help="Missing values: error, drop, category or testwise.")
]
Discretize = Annotated[
    str | None, typer.Option(metavar="KIND", help="Cut continuous columns: equal-width or quantile.")
]
Bins = Annotated[
    str | None,
    typer.Option(
        metavar="K",
        callback=lambda text: bins_of(text),
        help="Number of bins [1 + log2 of the rows], or by column: age=5,pay=3.",
    ),
]
_BINS_OF_ONE = r"([^=]+)=\s*(\d+)\s*(?:,|$)"  # a column and its number
Drop = Annotated[list[str] | None, typer.Option(metavar="A,B", help="Columns to leave out; repeat.")]
Only = Annotated[list[str] | None, typer.Option(metavar="A,B", help="The columns to use [all]; repeat.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]


def bins_of(text: str | None) -> Any:
    """Return the number of bins, or the numbers by column; names may hold commas.

    Examples
    --------
    >>> bins_of("4"), bins_of("age=5, height, cm=3")
    (4, {'age': 5, 'height, cm': 3})
    """
    if text is None or text.strip().removeprefix("-").isdecimal():
        return text and int(text)
    if not re.fullmatch(rf"({_BINS_OF_ONE})+", text):
        raise typer.BadParameter(f"{text!r} is neither a number nor a list such as age=5,pay=3")
    return {name.strip(): int(number) for name, number in re.findall(_BINS_OF_ONE, text)}


def read_graph(path: Path) -> "Graph":
    """Read a graph that an earlier run wrote."""
    from ibmap.graph import Graph

    try:
        return Graph.from_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RequestError(f"there is no file {str(path)!r}") from None
    except ValueError as error:
        raise RequestError(f"{str(path)!r} holds no graph: {error}") from None


def chosen_learner(name: str) -> Callable[..., "Learned"]:
    """Return the learner of this name: a function of a table and options."""
    import_numba()
    from ibmap.learners import find_learner

    return find_learner(name)


def of_test(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of a test among all options of a verb."""
    return {name: given[name] for name in OF_TESTS}


def chosen_test(name: str, data: "CategoricalData", **given: Any) -> "IndependenceTest":
    """Return the test with the options that were given (those that are not None).

    Examples
    --------
    >>> from ibmap.data import load
    >>> chosen_test("bayesian", load({"a": [0, 1], "b": [1, 0]}), prior=None, prior_counts="0.5").name
    'bayesian(prior_counts=0.5)'
    """
    import_numba()
    from ibmap.independence import as_test

    test = as_test(name)
    options = {option: value for option, value in given.items() if value is not None}
    for option in options:
        if not hasattr(test, option):
            raise RequestError(f"the {name} test has no option --{option.replace('_', '-')}")
    if isinstance(options.get("prior"), str):
        options["prior"] = prior_from(options["prior"], data)
    if "prior_counts" in options:
        options["prior_counts"] = _number_or_word(options["prior_counts"])
    return type(test)(**options)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
