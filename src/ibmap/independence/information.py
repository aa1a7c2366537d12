"""Mutual information of every pair of variables, for any engine."""

import numpy as np

from ibmap._parallel import spread
from ibmap._types import Floats
from ibmap.engines import Engine
from ibmap.engines.engine import checked, pair_questions
from ibmap.independence.contingency import MutualInformationTest


def information_matrix(engine: Engine, n_threads: int = 1) -> Floats:
    """Return the mutual information of every pair of variables, in nats; the diagonal is 0.

    Each pair uses the rows that know both.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.engines import MemoryEngine
    >>> engine = MemoryEngine(load(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]])))
    >>> information_matrix(engine).round(4)
    array([[0.    , 0.6931, 0.    ],
           [0.6931, 0.    , 0.    ],
           [0.    , 0.    , 0.    ]])
    """
    n, levels, test = engine.schema.n_variables, engine.schema.cardinalities, MutualInformationTest()
    out = np.zeros((n, n))
    table = engine.table
    if table is not None:
        batches = list(pair_questions(n))

        def fill(_: int, q: int) -> None:
            asked = batches[q]
            out[asked.x_of_table, asked.y] = table.information(asked.x, asked.y_start, asked.y)

        spread(fill, range(len(batches)), n_threads)
    else:
        for tables in engine.pairs():
            answers = test.evaluate(checked(tables, engine.schema), levels)
            out[tables.x, tables.y] = answers.strength
    return out + out.T
