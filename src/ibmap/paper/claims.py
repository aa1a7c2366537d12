"""The paper's sentences, as something that rows can contradict.

A claim is about cases (cells of a grid, mostly), and the answer is in how many of them it holds. A difference
that is smaller than its standard error speaks for nobody: it is no case against a sentence, and no case for
one that says "significantly".
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ibmap.paper.results import ENOUGH, Cell, Results, cell_in_words

HOLDS, MOSTLY, FAILS, OPEN = "holds", "mostly holds", "does not hold", "not enough runs"
MOST = 0.85  #: share of the cases in which a claim must hold to hold mostly
NEARLY_ALL = 0.95  #: share of the cases that must have been run before a claim can hold


class Case(NamedTuple):
    """One case of a claim."""

    where: str
    agrees: bool | None  #: None: not run often enough
    words: str = ""  #: our numbers
    gap: float = 0.0  #: how far it is from agreeing; the worst case is shown
    tied: bool = False  #: agrees only because the difference is below its standard error


class Verdict(NamedTuple):
    """What the rows say about a claim."""

    status: str  #: "holds", "mostly holds", "does not hold" or "not enough runs"
    words: str
    agreeing: int = 0  #: cases in which it holds
    run: int = 0  #: cases that were run often enough


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    Parameters
    ----------
    quote : str
        The paper's words; "…" stands for what is left out.
    cases : function of results
        The cases that it is about.
    reading : str
        How the words are read, where they can be read in several ways.
    place : str
        Where in the paper they are.
    why : str
        What prevents the claim where it does not hold.
    """

    quote: str
    cases: Callable[[Results], Iterable[Case]]
    reading: str = ""
    place: str = ""
    why: str = ""

    def judge(self, results: Results) -> Verdict:
        """Hold the claim against rows."""
        return verdict(list(self.cases(results)))


def verdict(cases: Sequence[Case]) -> Verdict:
    """Return what the cases say together.

    Examples
    --------
    >>> verdict([Case("n = 1", True), Case("n = 2", False, "5.0 against 4.0", gap=1.0)]).words
    'holds in 1 of 2 cases; worst at n = 2: 5.0 against 4.0'
    >>> verdict([Case("n = 1", True, "3.0 against 4.0"), Case("n = 2", None)]).status
    'not enough runs'
    """
    run = [case for case in cases if case.agrees is not None]
    true = sum(bool(case.agrees) for case in run)
    if not run:
        return Verdict(OPEN, f"none of {len(cases)} cases has been run often enough")
    status = _status(true, len(run), len(cases))
    words = _counted(run, true, len(cases)) if len(cases) > 1 else _said(run[0])
    if len(cases) > 1 and status in (MOSTLY, FAILS):
        worst = max((case for case in run if not case.agrees), key=lambda case: case.gap)
        words += f"; worst at {_said(worst)}"
    elif len(cases) > 1 and status == HOLDS:
        closest = max(run, key=lambda case: case.gap)
        words += f"; closest at {_said(closest)}" if closest.words else ""
    return Verdict(status, words, true, len(run))


def _status(true: int, run: int, cases: int) -> str:
    if true < MOST * run:
        return FAILS
    if run < NEARLY_ALL * cases:
        return OPEN
    return HOLDS if true == run else MOSTLY


def _counted(run: Sequence[Case], true: int, cases: int) -> str:
    words = f"holds in {true} of {len(run)} cases"
    if len(run) < cases:
        words += f" so far; {cases - len(run)} not run often enough"
    tied = sum(case.tied for case in run)
    return words + (f" ({tied} within one standard error)" if tied else "")


def _said(case: Case) -> str:
    return f"{case.where}: {case.words}" if case.where and case.words else case.where or case.words


def compare(
    measure: str,
    cells: Iterable[Cell],
    first: Cell,
    second: Cell,
    *,
    lower: bool = True,
    margin: float = 0.0,
    strictly: bool = True,
    clearly: bool = False,
    digits: int = 1,
    enough: int = ENOUGH,
) -> Callable[[Results], list[Case]]:
    """Make the cases of "the first is lower (or higher) than the second", in every one of the cells.

    Parameters
    ----------
    measure : str
        What is compared, by its mean.
    cells : iterable of dict
        Where.
    first, second : dict
        What is added to each cell on either side, e.g. ``{"learner": "gsmn"}``.
    margin : float
        How much worse the first may be, in parts of the second.
    strictly : bool
        Whether being equal is not enough.
    clearly : bool
        Whether the difference must exceed its standard error; otherwise it must not be against the claim by
        more than that.
    """
    where = list(cells)
    sign = 1 if lower else -1

    def cases(results: Results) -> list[Case]:
        found = []
        for cell in where:
            sides = results.difference({**cell, **first}, {**cell, **second}, measure, enough)
            if sides is None:
                found.append(Case(cell_in_words(cell), None))
                continue
            a, b, error = sides
            gap = sign * (a - b) - margin * abs(b)
            plainly = gap < 0 or (gap <= 0 and not strictly)
            tied = abs(gap) < error
            agrees = plainly and not tied if clearly else plainly or tied
            words = (
                f"{a:,.{digits}f} ({cell_in_words(first)}) against {b:,.{digits}f} ({cell_in_words(second)})"
            )
            size = max(abs(a), abs(b), 1e-12)
            found.append(Case(cell_in_words(cell), agrees, words, gap / size, agrees and not plainly))
        return found

    return cases
