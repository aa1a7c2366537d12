"""Groups of options that verbs share, and what they become: a test, a search (tables: ``table_options.py``).

A new option is a new field. A field of :class:`TestOptions` goes to the constructor of the test, a field of
:class:`SearchOptions` to the learner, under its own name; where one has no such argument, it is refused.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from ibmap._text import listed
from ibmap.cli.knowledge import Knowledge, read_graph, read_knowledge
from ibmap.cli.table_options import DrawingOptions as DrawingOptions
from ibmap.cli.table_options import DrawingTableOptions as DrawingTableOptions
from ibmap.cli.table_options import EngineName as EngineName
from ibmap.cli.table_options import ReadingOptions as ReadingOptions
from ibmap.cli.table_options import TableOptions as TableOptions
from ibmap.cli.table_options import named_in as named_in
from ibmap.cli.variable_lists import pair
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data import Schema
    from ibmap.engines import Source
    from ibmap.independence import IndependenceTest
    from ibmap.learners import Learned

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="CSV (or other delimited text, perhaps gzipped), Parquet, Arrow, Feather, SPSS, Stata, SAS, "
        "Excel (FILE.xlsx#SHEET), or a packed table; a folder of Parquet or Arrow files; - is stdin.",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON only.")]
SafeCsv = Annotated[
    bool,
    typer.Option("--safe-csv", help="In CSV, put ' before names that a spreadsheet would run as formulas."),
]
Seed = Annotated[
    int, typer.Option(metavar="SEED", min=0, help="Random seed; the same seed gives the same result.")
]


@dataclass(frozen=True)
class TestOptions:
    """A test and the arguments of its constructor; None is the test's own default."""

    test: Annotated[
        str | None, typer.Option(metavar="NAME", help="Independence test: {tests} [bayesian].")
    ] = None
    prior: Annotated[
        str | None,
        typer.Option(
            metavar="P",
            help="Prior probability of independence, or a CSV with the columns x, y, prior [0.5].",
        ),
    ] = None
    prior_counts: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Prior counts added to each cell: {prior_counts}, or a number [ones]."
        ),
    ] = None
    combine: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="Compare hypotheses within each slice, or over all slices at once: {combinations} [slices].",
        ),
    ] = None
    slices: Annotated[
        str | None, typer.Option(metavar="KIND", help="Slices that have a prior: {slices} [observed].")
    ] = None
    ties: Annotated[
        str | None,
        typer.Option(
            metavar="KIND", help="Decision if the posterior equals the prior: {ties} [independent]."
        ),
    ] = None
    alpha: Annotated[
        float | None, typer.Option(metavar="A", help="Significance level of tests with p-values [0.05].")
    ] = None
    dof: Annotated[
        str | None, typer.Option(metavar="KIND", help="Degrees of freedom: {degrees_of_freedom} [adjusted].")
    ] = None
    threshold: Annotated[
        float | None,
        typer.Option(
            "--min-information",
            metavar="I",
            help="Least mutual information of dependent variables, in nats [0.01].",
        ),
    ] = None

    def given(self) -> dict[str, Any]:
        """Return the options that were given, without the test itself."""
        found = {option.name: getattr(self, option.name) for option in fields(self) if option.name != "test"}
        return {option: value for option, value in found.items() if value is not None}

    def make(self, schema: "Schema", known: Knowledge | None = None) -> "IndependenceTest":
        """Return the test for a table; ``known`` may hold priors of single pairs.

        Examples
        --------
        >>> from ibmap.data import load
        >>> TestOptions(prior_counts="0.5").make(load({"a": [0, 1], "b": [1, 0]}).schema).name
        'bayesian(prior_counts=0.5)'
        """
        from ibmap.independence.registry import TESTS, as_test

        as_test(self.test)  # raises if there is no such test
        name = self.test or next(iter(TESTS))
        if self.test is None and schema.is_continuous:
            name = next(name for name, test in TESTS.items() if getattr(test, "continuous", False))
        options = self.given()
        prior = (known or Knowledge()).prior(self.prior, schema)
        options |= {"prior": prior} if prior is not None else {}
        if self.prior_counts is not None:
            options["prior_counts"] = _number_or_word(self.prior_counts)
        refuse_unknown(options, name, TESTS, TESTS.__getitem__)
        return TESTS[name](**options)


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class SearchOptions:
    """A learner and its plain arguments; None is the learner's own default."""

    learner: Annotated[str, typer.Option(metavar="NAME", help="Learning algorithm: {learners}.")] = (
        "evidence-map"
    )
    score: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Score to maximise: {scores} [adaptive]; of a directed graph: {directed_scores} [bic].",
        ),
    ] = None
    search: Annotated[str | None, typer.Option(metavar="NAME", help="Search: {searches} [swaps].")] = None
    view: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Kind of graph that is searched: {views} [the one that predicts better]."
        ),
    ] = None
    posterior: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Posteriors as shares of sampled graphs: {posteriors} [only if very many are as good].",
        ),
    ] = None
    expected_neighbours: Annotated[
        float | None,
        typer.Option(
            metavar="C", help="Prior mean number of neighbours of a variable [learned from the data]."
        ),
    ] = None
    symmetry: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="Whether one end must choose an edge, or both: {symmetries}."),
    ] = None
    max_condition: Annotated[
        int | None, typer.Option(metavar="N", help="Largest conditioning set [no limit].")
    ] = None
    max_neighbours: Annotated[
        int | None, typer.Option(metavar="K", help="Most neighbours that a variable may choose [no limit].")
    ] = None
    factor: Annotated[
        float | None,
        typer.Option(metavar="F", help="Threshold, as a multiple of the mean mutual information [1.5]."),
    ] = None
    patience: Annotated[
        int | None, typer.Option(metavar="K", help="Try K more pairs before giving up [0].")
    ] = None

    drop_untested: Annotated[
        bool | None,
        typer.Option("--drop-untested", help="Leave out edges that neither end had enough rows to test."),
    ] = None

    tabu: Annotated[int | None, typer.Option(metavar="K", help="Moves to make beyond each optimum [10].")] = (
        None
    )
    shakes: Annotated[
        int | None,
        typer.Option(
            metavar="K", help="Restarts with the arcs of each variable reversed: number of passes [0]."
        ),
    ] = None
    max_parents: Annotated[
        int | None, typer.Option(metavar="K", help="Most parents of a variable [no limit].")
    ] = None
    equivalent_sample_size: Annotated[
        float | None,
        typer.Option(metavar="A", help="Equivalent sample size of the BDeu prior [1]."),
    ] = None

    def function(self) -> Callable[..., "Learned"]:
        """Return the learner itself: a function of a table and options."""
        from ibmap.learners.registry import find_learner

        return find_learner(self.learner)

    def given(self) -> dict[str, Any]:
        """Return the plain arguments that were given."""
        found = {option.name: getattr(self, option.name) for option in fields(SearchOptions)}
        return {name: value for name, value in found.items() if value is not None and name != "learner"}


@dataclass(frozen=True)
class LearnerOptions(SearchOptions):
    """A learner and all its arguments, with what is known beforehand."""

    learner: Annotated[
        str | None, typer.Option(metavar="NAME", help="Learning algorithm: {learners} [evidence-map].")
    ] = None  # type: ignore[assignment]
    start: Annotated[
        Path | None, typer.Option(metavar="GRAPH.json", help="Graph to start from [no edges].")
    ] = None
    require: Annotated[
        list[str] | None,
        typer.Option(metavar="X,Y", help="Edge that must be in the network; may be repeated."),
    ] = None
    forbid: Annotated[
        list[str] | None,
        typer.Option(metavar="X,Y", help="Edge that must not be in the network; may be repeated."),
    ] = None
    knowledge: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TOML or CSV file with required edges, forbidden edges and priors."
        ),
    ] = None

    def settled(self, test: TestOptions) -> Self:
        """Return the same with a learner, if none was chosen: a test of numbers has one that asks it.

        Examples
        --------
        >>> LearnerOptions().settled(TestOptions()).learner
        'evidence-map'
        >>> [LearnerOptions().settled(TestOptions(name)).learner for name in ("gaussian", "fisher-z")]
        ['ibmap-hc', 'gsmn']
        """
        usual = USUAL
        if self.learner is None and test.test is not None:
            from ibmap.independence.registry import as_test

            asked = as_test(test.test)
            if getattr(asked, "continuous", False):
                usual = "ibmap-hc" if asked.has_posteriors else "gsmn"
        return replace(self, learner=self.learner or usual)

    def prepared(self, test: TestOptions, schema: "Schema", **more: Any) -> "Learning":
        """Return the learner for this table; ``more`` are further arguments of it.

        Examples
        --------
        >>> from ibmap.data import load
        >>> schema = load({"a": [0, 1], "b": [1, 0]}).schema
        >>> learning = LearnerOptions("gsmn", symmetry="and").prepared(TestOptions(ties="dependent"), schema)
        >>> learning.options["symmetry"], learning.options["test"].name
        ('and', 'bayesian(ties=dependent)')
        """
        from ibmap.learners.registry import LEARNERS, find_learner

        function, known = self.function(), read_knowledge(self.knowledge, schema)
        arguments = signature(function).parameters
        if "test" in arguments and self.asks_test():
            requested: dict[str, Any] = {"test": test.make(schema, known)}
        elif "prior" in arguments:  # where no prior is given, the expected neighbours decide
            for option in ("test", *test.given()):
                if option != "prior" and getattr(test, option) is not None:
                    raise RequestError(
                        f"{self.learner} uses no test: leave out {typed(option)}, or choose --learner "
                        "ibmap-hc, gsmn or hhc-mn, which do"
                    )
            requested = {"prior": known.prior(test.prior, schema, usual=float("nan"))}
        else:
            requested = {"test": test.test, **test.given(), "prior": known.prior(test.prior, schema)}
            given = [name for name, value in requested.items() if value is not None]
            if given and self.score is not None:
                raise RequestError(f"the score {self.score} uses no test: leave out {typed(given[0])}")
        requested |= self.given()
        requested["start"] = None if self.start is None else read_graph(self.start)
        for kind, option, texts in (
            ("required", "--require", self.require),
            ("forbidden", "--forbid", self.forbid),
        ):
            requested[kind] = [
                *known.edges(kind),
                *(pair(text, option, schema) for text in texts or ()),
            ] or None
        requested = {name: value for name, value in {**requested, **more}.items() if value is not None}
        refuse_unknown(requested, self.learner or USUAL, LEARNERS, find_learner)
        return Learning(function, requested)

    def asks_test(self) -> bool:
        """Whether the score that was chosen asks a test."""
        from ibmap.criteria import as_score

        return as_score(self.score).uses_test


USUAL = "evidence-map"  #: the learner of those who ask for none

#: arguments of learners and tests whose option has another name
RENAMED = {"required": "require", "forbidden": "forbid", "n_jobs": "jobs", "threshold": "min-information"}


def refuse_unknown(
    options: Iterable[str], name: str, names: Iterable[str], find: Callable[[str], Callable[..., Any]]
) -> None:
    """Raise if an option is no argument of ``find(name)``; name those for which it is one."""
    known = signature(find(name)).parameters
    for option in options:
        if option not in known:
            others = [other for other in names if option in signature(find(other)).parameters]
            raise RequestError(f"{name} has no option {typed(option)}{'; ' * bool(others)}{_have(others)}")


def typed(argument: str) -> str:
    """Return the option that sets an argument of a learner or a test.

    Examples
    --------
    >>> typed("max_condition"), typed("required")
    ('--max-condition', '--require')
    """
    return f"--{RENAMED.get(argument, argument).replace('_', '-')}"


def _have(names: Sequence[str]) -> str:
    """Return "a has", "a and b have", or ""."""
    return f"{listed(names)} {'has' if len(names) == 1 else 'have'}" if names else ""


@dataclass(frozen=True)
class Learning:
    """A learner with the options that were given; call it with a table, or with an engine.

    Attributes
    ----------
    function : callable
        The learner.
    options : dict
        All that it is told.
    """

    function: Callable[..., "Learned"]
    options: dict[str, Any] = field(repr=False)

    def __call__(self, data: "Source", callback: Any = None) -> "Learned":
        """Learn; a learner without callbacks runs without."""
        more = {"callback": callback} if "callback" in signature(self.function).parameters else {}
        return self.function(data, **self.options, **more)


@dataclass(frozen=True)
class OutputOptions:
    """What becomes of a result: files in a folder, JSON, or words on the screen."""

    out: Annotated[Path | None, typer.Option(metavar="DIR", help="Folder for the result: {files}.")] = None
    force: Force = False
    as_json: Json = False
    safe_csv: SafeCsv = False
