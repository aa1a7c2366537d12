"""How well neighbours predict a variable in rows that are left out: against refits without each row."""

import json
import math

import numpy as np
import pytest

from ibmap import EvidenceMAP, Graph
from ibmap.criteria.left_out import best_left_out
from ibmap.data import load
from ibmap.engines import as_engine
from ibmap.results.predictability import predictability
from ibmap.results.result_file import as_result, result_of

RNG = np.random.default_rng(0)
A = RNG.integers(3, size=60)
B = np.where(RNG.random(60) < 0.7, A, RNG.integers(3, size=60))


def test_levels_are_predicted_by_the_other_rows():
    data = load({"a": A, "b": B, "alone": RNG.integers(2, size=60), "one": A * 0})
    engine, graph = as_engine(data), Graph(data.names, [("a", "b")])
    found = predictability(engine, graph)
    blankets = [np.array([1]), np.array([0]), np.array([], int), np.array([], int)]
    logs = best_left_out(engine, blankets)
    for x in (0, 1):
        before = 0.0
        for row, value in enumerate(data.codes[x].tolist()):
            others = np.delete(data.codes[x], row)
            before += math.log(((others == value).sum() + 0.5) / (len(others) + 1.5))
        assert found[x] == pytest.approx(1 - logs[x] / before)
    assert 0.1 < found[0] < 0.9
    assert found[2] < 0.01
    assert math.isnan(found[3])


def test_numbers_are_predicted_by_regressions_on_the_other_rows():
    a = RNG.normal(size=50)
    columns = {"a": a, "b": a + RNG.normal(size=50), "c": RNG.normal(size=50)}
    data = load(columns, continuous="all", numbers="values")
    engine = as_engine(data)
    errors = np.zeros(2)
    for row in range(50):
        y, x = (np.delete(columns[name], row) for name in "ab")
        slope, constant = np.polyfit(x, y, 1)
        errors += (a[row] - constant - slope * columns["b"][row]) ** 2, (a[row] - y.mean()) ** 2
    found = predictability(engine, Graph(data.names, [("a", "b")]))
    assert found[0] == pytest.approx(1 - errors[0] / errors[1])
    assert found[2] == 0


def test_evidence_says_nearly_the_same_where_levels_and_numbers_mix():
    n = 2000
    a, sex = RNG.normal(size=n), RNG.integers(2, size=n)
    b, tall = a + RNG.normal(size=n), np.where(RNG.random(n) < 0.2, 1 - sex, sex)
    names, edges = ("a", "b", "sex", "tall"), [("a", "b"), ("sex", "tall")]
    numbers, levels = {"a": a, "b": b}, {"sex": sex, "tall": tall}
    mixed = predictability(as_engine(load({**numbers, **levels}, continuous="auto")), Graph(names, edges))
    apart = [
        predictability(as_engine(load(some, continuous=how)), Graph(tuple(some), [tuple(some)]))
        for some, how in ((numbers, "all"), (levels, None))
    ]
    assert mixed == pytest.approx(np.concatenate(apart), abs=0.02)


def test_results_keep_it_and_older_ones_do_without():
    net = EvidenceMAP().fit({"a": A, "b": B})
    assert set(net.predictability_) == {"a", "b"}
    content = json.loads(json.dumps(as_result(net).content))
    assert result_of(content).learned.predictability == pytest.approx(net.predictability_)
    assert "a 52%, b 52%" in net.described_.predictability_in_words
    del content["predictability"]
    assert result_of(content).learned.predictability is None
    with pytest.raises(ValueError, match="predictability"):
        result_of({**content, "predictability": {"a": 2.0}})
