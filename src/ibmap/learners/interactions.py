"""Interactions: three variables that say something only together, wherever they are in a table.

A search that adds one neighbour at a time does not see an exclusive or: no pair shows it. This looks at all
triples (``engines/triples.py``). What it finds are candidates: of the triples of known networks that are
beyond their prior, 11 to 83 % are cliques, the others shadows of other variables.
"""

import warnings
from dataclasses import dataclass
from math import comb, exp, log, log1p
from typing import Any

import numpy as np

from ibmap import _checks
from ibmap._parallel import n_threads
from ibmap._text import listing
from ibmap.data import Schema, Table, load
from ibmap.data.schema import CONTINUOUS
from ibmap.engines import Engine, as_engine
from ibmap.engines.engine import is_engine
from ibmap.engines.model import MOST_LEVELS
from ibmap.errors import DataWarning, RequestError

TIE = 1e-9  #: evidence that may come from rounding
LONGEST = 6 * 3600.0  #: seconds that all threads together may take


@dataclass(frozen=True)
class Interaction:
    """Three variables that are informative only together.

    Attributes
    ----------
    variables : tuple of str
        Their names, in the order of the columns.
    log_evidence : float
        Log Bayes factor of the joint table of the three against those of the pairs.
    log_prior_odds : float
        Log prior odds of an interaction: one of all triples is expected to interact.
    """

    variables: tuple[str, str, str]
    log_evidence: float
    log_prior_odds: float

    @property
    def log_posterior(self) -> float:
        """The logarithm of the posterior probability of an interaction."""
        odds = self.log_evidence + self.log_prior_odds
        return -log1p(exp(-odds)) if odds > 0 else odds - log1p(exp(odds))

    @property
    def posterior(self) -> float:
        """The posterior probability of an interaction."""
        return exp(self.log_posterior)

    def to_dict(self) -> dict[str, Any]:
        """Return names and numbers, as JSON and tables have them."""
        x, y, z = self.variables
        return {"x": x, "y": y, "z": z, "log_evidence": self.log_evidence, "posterior": self.posterior}


def find_interactions(
    data: Any,
    *,
    least_posterior: float = 0.5,
    most: int = 1000,
    n_jobs: int | None = None,
    engine: Any = None,
) -> list[Interaction]:
    """Find the triples of variables that are informative only together, such as an exclusive or.

    The evidence of a triple compares the joint table of the three with those of its pairs, on the rows that
    know all three; its prior is that one triple of all is expected to interact. An interaction need not be
    direct: like a correlation, it may be the shadow of other variables. Columns of more than 100 levels, and
    triples with more cells than there are rows, are not looked at; nor are numbers, which a warning names:
    cut them when the table is loaded (``discretize="quantile"``).

    Parameters
    ----------
    data : table, Table or Engine
        The table, anything that :func:`ibmap.load` reads (missing values may stay), or an engine that
        holds it.
    least_posterior : float
        The smallest posterior that is listed.
    most : int
        Most triples that are listed; those with the most evidence come first.
    n_jobs : int or None
        Threads; -1 is all cores.
    engine : Engine, callable, str or None
        Engine that counts; None counts in the memory of this process.

    Returns
    -------
    list of Interaction
        Those of most evidence first.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b, c = rng.integers(2, size=(3, 500))
    >>> table = {"a": a, "b": b, "c": c, "d": a ^ b ^ (rng.random(500) < 0.2)}
    >>> [(one.variables, round(one.posterior, 3)) for one in find_interactions(table)]
    [(('a', 'b', 'd'), 1.0)]
    """
    least_posterior = _checks.between(least_posterior, "least_posterior", 0, 1)
    most = _checks.whole(most, "most", 1)
    threads = n_threads(n_jobs)
    if not isinstance(data, Table) and not is_engine(data):
        data = load(data, missing="testwise", continuous="auto")
    counting = as_engine(data, engine)
    check_time(counting, threads)
    levels = np.asarray(counting.schema.cardinalities)
    n = int(((levels > 1) & (levels <= MOST_LEVELS)).sum())
    leave_out_numbers(counting.schema, n)
    odds, names = -log(max(comb(n, 3), 1)), counting.schema.names
    least = log(least_posterior / (1 - least_posterior)) - odds
    found = counting.triples(least + TIE, most, threads)
    return [
        Interaction((names[x], names[y], names[z]), evidence, odds)
        for (x, y, z), evidence in zip(found.which.tolist(), found.evidence.tolist(), strict=True)
    ]


def leave_out_numbers(schema: Schema, n_counted: int) -> None:
    """Say which columns are numbers and are not looked at; refuse a table that has hardly others."""
    columns = zip(schema.names, schema.kinds, strict=True)
    numbers = [name for name, kind in columns if kind == CONTINUOUS]
    if not numbers:
        return
    words = "is numbers" if len(numbers) == 1 else "are numbers"
    said = f"{listing(numbers)} {words}, and interactions are those of levels: "
    if n_counted < 3:
        raise RequestError(f"{said}cut numbers (discretize='quantile'), or use other columns")
    warnings.warn(
        f"{said}left out; discretize='quantile' cuts numbers into levels", DataWarning, stacklevel=3
    )


def check_time(engine: Engine, threads: int) -> None:
    """Refuse a scan that would take too long."""
    seconds, n = engine.seconds_for_triples / threads, engine.schema.n_variables
    if seconds > LONGEST:
        hours = seconds / 3600
        about = f"{hours:,.0f} hours" if hours < 72 else f"{hours / 24:,.0f} days"
        raise RequestError(
            f"{n:,} columns have {comb(n, 3):.2g} triples, which would take about {about} "
            f"({LONGEST / 3600:.0f} hours at most): choose fewer columns (drop=), or more threads (n_jobs=)"
        )
