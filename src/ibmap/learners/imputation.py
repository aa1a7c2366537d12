"""Tables with many missing cells, completed several times by the network that is being learned.

Up to 5 % of missing cells, each question uses the rows where its columns are known; beyond, that loses too
much (``benchmarks/results/missing.csv``). Then a network is learned per question, missing cells begin as
draws from what is known of their column, and twice a model of the network fills them
(``model/missing_draws.py``) and the network is learned again from five copies, each of which counts as a
fifth of a table. The model joins more pairs than the network does, those that are not much likelier without
an edge: what it leaves out is weaker in the copies than in the table (20 % missing at random, eight tables:
170 errors with the edges alone, 156 with pairs of log odds above -1, 161 and 165 above -2 and -3, where false
edges come).

Draws depend on the seed and on the contents of the table alone: columns, rows and levels are put into an
order that is made of their contents first.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ibmap._random import generator
from ibmap._types import Floats, Ints
from ibmap.criteria import MixedScore
from ibmap.data.schema import NOMINAL
from ibmap.data.weights import repeated
from ibmap.engines import Engine
from ibmap.engines.mixed import Filled, MixedEngine
from ibmap.errors import DataWarning
from ibmap.graph import Graph
from ibmap.learners.score_based import raise_score
from ibmap.model.cell_program import cell_program
from ibmap.model.missing_draws import fill_missing
from ibmap.model.mixed_fitting import fit_mixed
from ibmap.results.provenance import Provenance
from ibmap.search import Swaps
from ibmap.search.gains import whole_evidence

COPIES = 5
ROUNDS = 2  #: of learning and filling
REFITS = 2  #: of the model in a round
SWEEPS = 10  #: over the missing cells of a row
LIKELY = -1.0  #: log odds of an edge from which on the model has it


def completed(engine: Engine) -> Engine:
    """Return an engine whose missing cells are filled, several times, if its table is to be imputed.

    Examples
    --------
    >>> from ibmap.data import load
    >>> table = {"a": [0, 0, 1, 1, None] * 20, "b": [0, 0, 1, 1, 1] * 20}
    >>> engine = completed(MixedEngine(load(table, missing="impute")))
    >>> [row.codes[0, :5].tolist() for row in [engine.data]], engine.filled.codes[:, 0, :4].tolist()[0]
    ([[0, 0, 1, 1, -1]], [0, 0, 1, 1])
    """
    if engine.schema.reading.get("missing") != "impute" or not engine.schema.has_missing:
        return engine
    engine = engine.row_by_row
    if engine.filled is not None:
        return engine
    seed = engine.data.reading.get("imputation_seed", 0)
    arrangement = engine.arrangement()
    arranged = engine.arranged(arrangement)
    rows, orders = np.argsort(arranged.colours[1], kind="stable"), _level_orders(arranged)
    data = arranged.data.rows(rows)
    data = replace(data, codes=_recoded(data.codes, [np.argsort(order) for order in orders]))
    filled = _copies(engine.of(data), seed)
    copies = [_recoded(codes, orders) for codes in filled.codes]
    filled = Filled(np.array(copies, np.int16).reshape(filled.codes.shape), filled.numbers)
    place, is_number = np.argsort(arrangement.columns), engine.data.is_number
    coded, numbers = (np.argsort(np.argsort(place[is_number == kind])) for kind in (False, True))
    return engine.of(engine.data, filled.some(coded, numbers, np.argsort(rows)))


def _level_orders(engine: MixedEngine) -> list[Ints]:
    """Return the levels of each variable in an order: as they are, or by the rows that have them."""
    out = []
    coded = np.flatnonzero(~engine.data.is_number).tolist()
    for codes, v in zip(engine.data.codes, coded, strict=True):
        order = np.arange(len(engine.schema.levels[v]))
        if engine.schema.kinds[v] == NOMINAL:
            sums = np.zeros(len(order) + 1, np.uint64)  # the last is of what is missing
            np.add.at(sums, codes, engine.colours[1])
            order = np.argsort(sums[:-1], kind="stable")
        out.append(order)
    return out


def _recoded(codes: Any, orders: list[Ints]) -> Any:
    """Return codes in place of codes: of each variable those of a list; -1 stays."""
    parts = [np.append(order, -1)[row] for order, row in zip(orders, codes, strict=True)]
    return np.array(parts, np.int16).reshape(codes.shape)


def _copies(engine: MixedEngine, seed: int) -> Filled:
    """Return the copies of a table whose columns, rows and levels are in order."""
    data, rng, n = engine.data, generator(seed), len(engine.data.names)
    is_number = data.is_number
    rows = np.empty((n, data.n_rows))
    rows[~is_number] = np.where(data.codes < 0, np.nan, data.codes)
    rows[is_number] = np.sqrt(2) * engine.columns[0]
    rows = np.tile(rows, (1, COPIES))
    weights = None if data.weights is None else np.tile(data.weights, COPIES)
    counting = slice(None) if weights is None else repeated(weights)
    filled = rows.copy()
    for row in filled:
        absent = np.isnan(row)
        p = None if weights is None else weights[~absent] / weights[~absent].sum()
        row[absent] = rng.choice(row[~absent], int(absent.sum()), p=p)
    sizes = np.array([len(labels) for labels in data.levels], np.int64)
    for k in range(ROUNDS):
        graph = _likely(engine.of(data, _stacked(filled, is_number)) if k else engine)
        for _ in range(REFITS):
            with warnings.catch_warnings():  # these draws need no perfect model
                warnings.simplefilter("ignore", DataWarning)
                model = fit_mixed(graph, filled[:, counting], sizes, engine.schema.ordinal, max_iter=100)
            pairs = [(i, j) for i, j in graph.pairs.tolist()]
            program = cell_program(sizes.tolist(), model.fields, pairs, model.factors)
            filled = fill_missing(program, rows, sweeps=SWEEPS, random_state=rng)
    return _stacked(filled, is_number)


def _stacked(filled: Floats, is_number: Any) -> Filled:
    parts = np.stack(np.split(filled, COPIES, axis=1))
    return Filled(parts[:, ~is_number].astype(np.int16), parts[:, is_number])


def _likely(engine: MixedEngine) -> Graph:
    """Return the network of a table, and the pairs that are not much likelier without an edge."""
    how = Provenance("evidence-map", {}, None, MixedScore(expected_neighbours=None), Swaps())
    learned, running = raise_score(engine, how)
    adjacency = learned.graph.adjacency.copy()
    odds: Any = whole_evidence(running.state)  # type: ignore[attr-defined]
    if odds is not None:
        adjacency |= (odds + odds.T) / 2 > LIKELY
        np.fill_diagonal(adjacency, val=False)
    return Graph.from_pairs(np.argwhere(np.triu(adjacency)), learned.graph.names)
