"""The paper's sentences, as something that rows can contradict.

A claim is about cases (cells of a grid, mostly). It does not hold if one case speaks against it; it holds if
every case that the sentence is about has been run often enough and none speaks against it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ibmap.experiments.results import ENOUGH, Cell, Results, cell_in_words

HOLDS, FAILS, OPEN = "holds", "does not hold", "not enough runs"


class Case(NamedTuple):
    """One case of a claim."""

    where: str
    agrees: bool | None  #: None: not run often enough
    words: str = ""  #: our numbers
    gap: float = 0.0  #: how far it is from agreeing; the worst case is shown


class Verdict(NamedTuple):
    """What the rows say about a claim."""

    status: str  #: "holds", "does not hold" or "not enough runs"
    words: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    Parameters
    ----------
    quote : str
        The paper's words.
    cases : function of results
        The cases that it is about.
    reading : str
        How the words are read, where they can be read in several ways.
    """

    quote: str
    cases: Callable[[Results], Iterable[Case]]
    reading: str = ""

    def judge(self, results: Results) -> Verdict:
        """Hold the claim against rows."""
        return verdict(list(self.cases(results)))


def verdict(cases: Sequence[Case]) -> Verdict:
    """Return what the cases say together.

    Examples
    --------
    >>> verdict([Case("n = 1", True), Case("n = 2", False, "5.0 against 4.0", gap=1.0)])
    Verdict(status='does not hold', words='true in 1 of 2 cases; worst at n = 2: 5.0 against 4.0')
    >>> verdict([Case("n = 1", True, "3.0 against 4.0"), Case("n = 2", None)])
    Verdict(status='not enough runs', words='true in 1 of 1 cases so far; 1 not run often enough')
    """
    run = [case for case in cases if case.agrees is not None]
    true = sum(bool(case.agrees) for case in run)
    missing = len(cases) - len(run)
    if not run:
        return Verdict(OPEN, f"none of {len(cases)} cases has been run often enough")
    if len(cases) == 1:
        return Verdict(HOLDS if true else FAILS, _said(run[0]))
    words = f"true in {true} of {len(run)} cases" + (
        f" so far; {missing} not run often enough" if missing else ""
    )
    if true < len(run):
        worst = max((case for case in run if not case.agrees), key=lambda case: case.gap)
        return Verdict(FAILS, f"{words}; worst at {_said(worst)}")
    if missing:
        return Verdict(OPEN, words)
    closest = max(run, key=lambda case: case.gap)
    return Verdict(HOLDS, words + (f"; closest at {_said(closest)}" if closest.words else ""))


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
    """
    where = list(cells)
    sign = 1 if lower else -1

    def cases(results: Results) -> list[Case]:
        found = []
        for cell in where:
            a, b = (results.mean({**cell, **side}, measure, enough) for side in (first, second))
            if a is None or b is None:
                found.append(Case(cell_in_words(cell), None))
                continue
            gap = sign * (a - b)
            allowed = margin * abs(b)
            words = (
                f"{a:,.{digits}f} ({cell_in_words(first)}) against {b:,.{digits}f} ({cell_in_words(second)})"
            )
            agrees = gap < allowed or (gap <= allowed and not strictly)
            found.append(Case(cell_in_words(cell), agrees, words, gap / max(abs(a), abs(b), 1e-12)))
        return found

    return cases
