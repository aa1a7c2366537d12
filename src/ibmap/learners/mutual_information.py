"""Neighbours by mutual information: the structure learner of MOA (Shakya and Santana 2008)."""

from time import perf_counter
from typing import Any

import numpy as np

from ibmap._parallel import n_threads
from ibmap._types import Floats, Ints
from ibmap.engines import Source, as_engine
from ibmap.errors import RequestError
from ibmap.independence import Answers
from ibmap.independence.information import information_matrix
from ibmap.learners.local_to_global import Callback, check_symmetry, joined, strongest_first, visit_all
from ibmap.results.learned import Learned, learned_from
from ibmap.results.provenance import Provenance

TIE, ZERO = 1e-9, 1e-12  #: what is closer to the threshold, relative or absolute, is not above it


def mutual_information(
    data: Source,
    *,
    factor: float = 1.5,
    max_neighbours: int | None = None,
    symmetry: str = "or",
    n_jobs: int | None = None,
    callback: Callback = None,
    engine: Any = None,
) -> Learned:
    """Connect each variable to those with which its mutual information is well above the mean.

    The options are those of :class:`ibmap.MutualInformation`; ``data`` is a table, or an engine that
    holds one. ``n_tests`` is the number of pairs, ``n_iter`` the number of variables.

    Examples
    --------
    >>> from ibmap.data import load
    >>> rng = np.random.default_rng(0)
    >>> a = rng.integers(2, size=200)
    >>> table = load({"a": a, "b": a ^ (rng.random(200) < 0.1), "c": rng.integers(2, size=200)})
    >>> mutual_information(table).graph.edges
    (('a', 'b'),)
    """
    began = perf_counter()
    check_symmetry(symmetry)
    check_options(factor, max_neighbours)
    counting = as_engine(data, engine)
    schema, n = counting.schema, counting.schema.n_variables
    information = information_matrix(counting, min(n_threads(n_jobs), max(n, 1)))
    chosen = neighbourhoods(information, factor=factor, max_neighbours=max_neighbours)
    visited = visit_all(schema, lambda x: (chosen[x].tolist(), 0), 1, callback)
    said = {"factor": factor, "max_neighbours": max_neighbours, "symmetry": symmetry}
    default = {"factor": 1.5, "max_neighbours": None, "symmetry": "or"}
    return learned_from(
        schema,
        joined([neighbours for neighbours, _ in visited], n, symmetry),
        Provenance("mi", {name: value for name, value in said.items() if value != default[name]}),
        n_tests=n * (n - 1) // 2,
        n_iter=len(visited),
        seconds=perf_counter() - began,
    )


def neighbourhoods(
    information: Floats, *, factor: float = 1.5, max_neighbours: int | None = None
) -> list[Ints]:
    """Return the neighbours that each variable chooses for itself, the strongest first.

    They have more mutual information with it than ``factor`` times the mean of all pairs; at most
    ``max_neighbours`` are kept. Nothing makes the choices of two variables agree.

    Examples
    --------
    >>> information = np.array([[0.0, 0.5, 0.4], [0.5, 0.0, 0.1], [0.4, 0.1, 0.0]])
    >>> [chosen.tolist() for chosen in neighbourhoods(information, factor=1.0, max_neighbours=1)]
    [[1], [0], [0]]
    """
    check_options(factor, max_neighbours)
    n = len(information)
    threshold = factor * information.sum() / max(n * (n - 1), 1)  # the diagonal is 0
    chosen = []
    for row in information:
        above = np.flatnonzero(row > threshold * (1 + TIE) + ZERO)
        best = strongest_first(Answers(np.zeros(len(above), bool), row[above]))
        chosen.append(above[best][:max_neighbours])
    return chosen


def check_options(factor: float, max_neighbours: int | None) -> None:
    """Refuse a factor that is no number of 0 or more, and a number of neighbours that is no count."""
    if not isinstance(factor, int | float | np.number) or not 0 <= factor < np.inf:
        raise RequestError(f"factor must be a number, 0 or more, not {factor!r}")
    if max_neighbours is not None and (
        not isinstance(max_neighbours, int | np.integer)
        or isinstance(max_neighbours, bool)
        or max_neighbours < 0
    ):
        raise RequestError(
            f"max_neighbours must be 0 or more, a whole number, or None, not {max_neighbours!r}"
        )
