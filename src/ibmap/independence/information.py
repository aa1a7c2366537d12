"""Mutual information of every pair of variables, for any engine."""

import numpy as np

from ibmap._parallel import spread
from ibmap._types import Floats
from ibmap.engines import Engine, MemoryEngine, Questions
from ibmap.engines.engine import checked
from ibmap.independence.base import BoundTableTest
from ibmap.independence.contingency import MutualInformationTest
from ibmap.kernels.information import information_of_row


def information_matrix(engine: Engine, n_threads: int = 1) -> Floats:
    """Return the mutual information of every pair of variables, in nats; the diagonal is 0.

    Each pair uses the rows that know both.

    Examples
    --------
    >>> from ibmap.data import load
    >>> engine = MemoryEngine(load(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])))
    >>> information_matrix(engine).round(4)
    array([[0.    , 0.6931, 0.    ],
           [0.6931, 0.    , 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    n = engine.schema.n_variables
    out = np.zeros((n, n))
    if isinstance(engine, MemoryEngine):
        _by_bits(engine, out, n_threads)
    else:
        test = BoundTableTest(MutualInformationTest(), engine)
        for tables in engine.pairs():
            answers = test.evaluate(checked(tables, engine.schema))
            out[tables.x, tables.y] = answers.strength
    return out + out.T


def _by_bits(engine: MemoryEngine, out: Floats, n_threads: int) -> None:
    """Fill the upper triangle; pairs with a variable of very many levels are counted as cells."""
    packed, n = engine.packed, engine.schema.n_variables
    test = BoundTableTest(MutualInformationTest(), engine)
    size = np.arange(packed.n_rows + 1, dtype=float)
    n_log_n = size * np.log(np.maximum(size, 1.0))

    def fill(_: int, x: int) -> None:
        others = np.arange(x + 1, n)
        if packed.first[x] >= 0:
            margins = np.empty(int(packed.levels.max()), np.int64)
            information_of_row(packed, n_log_n, margins, x, out[x])
            others = others[packed.first[others] < 0]
        if len(others):
            out[x, others] = test.answers(Questions.fixed(x, others, ())).strength

    spread(fill, range(n), n_threads)
