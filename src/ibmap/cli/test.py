"""``ibmap test``: are two variables independent given others?"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data import Schema
    from ibmap.engines import Engine
    from ibmap.independence import Answers, IndependenceTest


def answer(
    file: options.File,
    x: Annotated[str, typer.Argument(metavar="X", help="Variable.")],
    y: Annotated[str, typer.Argument(metavar="Y", help="Other variable.")],
    *,
    given: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Variables that are known; repeat it for names with commas."),
    ] = None,
    how: options.TestOptions,
    table: options.TableOptions,
    as_json: options.Json = False,
) -> None:
    """Ask one question of a file and show the answer."""
    from ibmap.engines.engine import looks_at_rows
    from ibmap.independence.mixed import MixedTest

    any_kind = how.test is None and not how.given() and table.continuous is None
    if any_kind:
        table = table.suited_to(None, None, "evidence-map")
        table = replace(table, missing="question" if table.missing == "auto" else table.missing)
        if not (x == y or table.only or table.drop):  # those that are asked about are never left out
            table = replace(table, only=[x, y, *(given or ())])
    engine, _ = table.suited_to(how.test).read(file)
    by_rows = any_kind and looks_at_rows(engine.schema)
    chosen = MixedTest() if by_rows else how.make(engine.schema)
    known = options.named_in(given, engine.schema.names) or []
    check_question(x, y, known, engine.schema)
    outcome = ask(engine, chosen, x, y, known)
    if as_json:
        screen.tell_json(outcome.to_dict())
    else:
        console = screen.console()
        console.print(outcome.sentence(), style="bold")
        console.print(outcome.numbers(), style="dim")


def check_question(x: str, y: str, given: Sequence[str], schema: "Schema") -> None:
    """Refuse a question that makes no sense."""
    schema.indices([x, y])
    if x == y:
        raise RequestError(f"X and Y are both {x!r}: name two different variables")
    for name in (x, y):
        if name in given:
            raise RequestError(f"variable {name!r} is both tested and given: leave it out of --given")
    twice = [name for k, name in enumerate(given) if name in given[:k]]
    if twice:
        raise RequestError(f"variable {twice[0]!r} is given twice")


@dataclass(frozen=True)
class Outcome:
    """A question and the answer of the test."""

    x: str
    y: str
    given: list[str]
    test: str
    answers: "Answers"
    n_rows: int
    n_slices: int | None  #: None if rows are not counted
    correlation: float | None = None  #: of continuous variables, given the others

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: log posteriors of a Bayesian test, statistic and p-value of others."""
        answers = self.answers
        if answers.log_independent is not None:
            found = {
                "log_p_independent": _first(answers.log_independent),
                "log_p_dependent": _first(answers.log_dependent),
            }
        else:
            found = {"statistic": _first(answers.statistic), "p_value": _first(answers.p_value)}
        verdict = {"independent": bool(answers.independent[0]), "test": self.test}
        question = {"x": self.x, "y": self.y, "given": self.given, **verdict}
        if self.correlation is not None:
            return {**question, **found, "partial_correlation": self.correlation, "n_rows": self.n_rows}
        slices = {} if self.n_slices is None else {"n_slices": self.n_slices}
        return {**question, **found, "n_rows": self.n_rows, **slices}

    def sentence(self) -> str:
        """Return the answer in words."""
        answers, given = self.answers, f" given {', '.join(self.given)}" if self.given else ""
        verdict = "independent" if answers.independent[0] else "dependent"
        if answers.log_independent is not None:
            logs = answers.log_independent if answers.independent[0] else answers.log_dependent
            number = f"P = {screen.probability(float(logs[0]))}"  # type: ignore[index]
        elif answers.p_value is not None:
            number = f"p-value = {float(answers.p_value[0]):.3g}"
        else:
            what = "information" if self.test.startswith("mutual-information") else "statistic"
            number = f"{what} = {_first(answers.statistic):.3g}{' nats' * (what == 'information')}"
        return f"{self.x} and {self.y} are {verdict}{given}: {number}"

    def numbers(self) -> str:
        """Return the numbers behind the words."""
        found = [(name, value) for name, value in self.to_dict().items() if isinstance(value, float)]
        words = [f"{name.replace('_', ' ')} {value:.6g}" for name, value in found]
        slices = [] if self.n_slices is None else [screen.counted(self.n_slices, "slice")]
        where = [screen.counted(self.n_rows, "row"), *slices]
        return "; ".join([*words, *where, f"test {self.test}"])


def ask(engine: "Engine", test: "IndependenceTest", x: str, y: str, given: list[str]) -> Outcome:
    """Put the question to the test."""
    import numpy as np

    from ibmap.engines import Questions
    from ibmap.independence.gaussian import partial_correlation
    from ibmap.independence.mixed import MixedTest

    schema = engine.schema
    question = (schema.index(x), [schema.index(y)], list(schema.indices(given)))
    answers = test.bind(engine).fixed(*question)  # type: ignore[arg-type]
    if test.name == MixedTest.name:
        n_rows = engine.row_by_row.n_complete([question[0], *question[1], *question[2]])
        return Outcome(x, y, given, test.name, answers, n_rows, None)
    if schema.is_continuous:
        r = partial_correlation(engine, question[0], question[1][0], np.array(question[2]))
        return Outcome(x, y, given, test.name, answers, schema.n_rows, None, r)
    tables = engine.tables(Questions.fixed(*question))
    return Outcome(x, y, given, test.name, answers, int(tables.n_rows[0]), int(tables.n_slices[0]))


def _first(values: Any) -> float | None:
    """Return the only entry; None if there is none, or none that JSON can hold."""
    number = math.nan if values is None else float(values[0])
    return number if math.isfinite(number) else None
