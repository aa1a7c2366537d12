"""Local-to-global learning: neighbours of each variable on its own, then one step that makes them agree."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ibmap import _checks
from ibmap._parallel import in_order, n_threads
from ibmap._types import Ints
from ibmap.data import Schema
from ibmap.engines import Source, as_engine
from ibmap.independence import Answers, BoundTest, as_test
from ibmap.results.learned import Learned, learned_from
from ibmap.results.provenance import Provenance

SYMMETRIES = ("or", "and")  #: an edge needs one end, or both
TIE = 1e-9  #: rounding must not decide: strengths that are closer than this are equal


class Visit(NamedTuple):
    """Progress of a learner: number of variables done, the last one, and the neighbours that it chose."""

    n: int
    x: str
    neighbours: tuple[str, ...]


Callback = Callable[[Visit], object] | None
Found = tuple[Sequence[int], int]  #: the neighbours of a variable, and the tests that it took to find them


def learn_locally(
    data: Source,
    test: object,
    find: Callable[[BoundTest, int, int], Found],
    *,
    learner: str,
    options: Mapping[str, object],
    symmetry: str,
    n_jobs: int | None,
    callback: Callback,
    engine: object,
) -> Learned:
    """Ask every variable for its neighbours, and join what they say.

    ``find(test, x, n)`` returns the neighbours of x among n variables, and the number of tests that it took.
    ``options`` are those of the learner that are not the default.
    """
    began = perf_counter()
    check_symmetry(symmetry)
    asked, counting = as_test(test), as_engine(data, engine)
    schema = counting.schema
    threads = min(n_threads(n_jobs), max(schema.n_variables, 1))
    bound, n = asked.bind(counting), schema.n_variables
    if not bound.takes_threads:
        threads = 1
    found = visit_all(schema, lambda x: find(bound, x, n), threads, callback)
    return learned_from(
        schema,
        joined([neighbours for neighbours, _ in found], n, symmetry),
        Provenance(learner, dict(options), asked),
        n_tests=sum(n_tests for _, n_tests in found),
        n_iter=len(found),
        seconds=perf_counter() - began,
    )


def check_symmetry(symmetry: str) -> str:
    """Return the symmetry, if it is "or" or "and"."""
    _checks.word(symmetry, "symmetry", SYMMETRIES)
    return symmetry


def joined(neighbourhoods: Iterable[Sequence[int]], n: int, symmetry: str) -> Ints:
    """Return the edges (x, y), x < y, that one end ("or") or both ends ("and") have chosen.

    Examples
    --------
    >>> joined([[1, 2], [0], []], 3, "or").tolist(), joined([[1, 2], [0], []], 3, "and").tolist()
    ([[0, 1], [0, 2]], [[0, 1]])
    """
    codes = [min(x, y) * n + max(x, y) for x, chosen in enumerate(neighbourhoods) for y in map(int, chosen)]
    pairs, ends = np.unique(np.array(codes, np.int64), return_counts=True)
    if symmetry == "and":
        pairs = pairs[ends == 2]
    return np.stack([pairs // max(n, 1), pairs % max(n, 1)], axis=1)


def ranked(test: BoundTest, x: int, n: int) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the other variables, the strongest unconditional association first, and who is independent."""
    others = np.delete(np.arange(n), x)
    if not len(others):
        return others, np.empty(0, bool)
    answers = test.fixed(x, others, np.empty(0, np.int64))
    order = strongest_first(answers)
    return others[order], answers.independent[order]


def strongest_first(answers: Answers) -> Ints:
    """Return positions by falling strength; strengths that differ by rounding only keep their order.

    Log odds that are closer than 1e-9 are equal, and so are strengths of other tests (p-values may be tiny)
    that are closer than that relative to themselves.

    Examples
    --------
    >>> strongest_first(Answers(np.ones(4, bool), np.array([1.0, 5.0 - 1e-15, 7.0, 5.0])))
    array([2, 1, 3, 0])
    """
    order = np.argsort(-answers.strength, kind="stable")
    falling = answers.strength[order]
    size = np.abs(falling[1:])
    with np.errstate(invalid="ignore"):  # two infinite strengths are equal
        gap = falling[:-1] - falling[1:]
        smaller = gap > TIE * (size if answers.log_independent is None else np.maximum(size, 1.0))
    rank = np.concatenate([[0], np.cumsum(smaller)])[: len(order)]
    return order[np.lexsort((order, rank))]


def visit_all(schema: Schema, find: Callable[[int], Found], threads: int, callback: Callback) -> list[Found]:
    """Visit the variables; the callback hears of them in their order, and may end it by returning True."""
    _checks.function(callback, "callback")
    found: list[Found] = []
    each = in_order(lambda _, x: find(x), range(schema.n_variables), threads)
    for x, result in enumerate(each):
        found.append(result)
        if callback:
            neighbours = tuple(schema.names[y] for y in sorted(map(int, result[0])))
            if _checks.is_true(callback(Visit(x + 1, schema.names[x], neighbours))):
                break
    return found
