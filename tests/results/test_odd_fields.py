"""A result file with something odd in a field is refused in one sentence, or shown."""

import json
import random
from contextlib import suppress
from itertools import combinations

import numpy as np
import pytest

from ibmap.data import load
from ibmap.errors import DataError, IbmapError
from ibmap.exchange import FORMATS, dumps
from ibmap.learners import evidence_map, ibmap_hc
from ibmap.report.content import header, page_content
from ibmap.results.result_file import read_result, result_of, result_of_learned, result_text

ODD = [float("nan"), float("inf"), -float("inf"), 10**400, 10**20, "x", "\ud800", None, [], {}, True, -1, 0.5]
ODD += [[[[[]]]], [None], {"a": None}]


def places(value, path=()):
    yield path
    inside = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, other in inside:
        yield from places(other, (*path, key))


@pytest.fixture(scope="module")
def good():
    table = np.random.default_rng(0).integers(2, size=(200, 4))
    table[:, 1] = table[:, 0]
    data = load(table)
    return json.loads(result_text(result_of_learned(ibmap_hc(data), data)))


@pytest.mark.parametrize("seed", range(4))
def test_odd_fields(good, tmp_path, seed):
    cases = [(path, odd) for path in places(good) if path for odd in ODD]
    file = tmp_path / "result.json"
    for path, odd in random.Random(seed).sample(cases, 150):
        content = json.loads(json.dumps(good))
        at = content
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = odd
        file.write_text(json.dumps(content))
        try:
            result = read_result(file)
        except IbmapError as error:
            assert "\n" not in str(error)  # noqa: PT017
            continue
        with suppress(IbmapError):
            json.dumps(page_content(result, None), allow_nan=False)
            header(result, None)
        for form in FORMATS:
            with suppress(IbmapError):
                dumps(result.network, form)


@pytest.fixture(scope="module")
def whole():
    """What a file holds of a network with effects, rivals and two views, beside columns of three levels."""
    rng = np.random.default_rng(0)
    a = rng.integers(3, size=200)
    b = np.where(rng.random(200) < 0.6, a, rng.integers(3, size=200))
    data = load({"a": a, "b": b, "c": (b > 0) ^ (rng.random(200) < 0.2), "d": rng.integers(2, size=200)})
    learned = evidence_map(data).with_effects(data)
    return data, json.loads(json.dumps(result_of_learned(learned, data).content, default=str))


def test_a_file_has_the_counts_levels_and_effects_of_every_edge(whole):
    data, content = whole
    assert content["levels"] == {
        name: list(map(str, labels)) for name, labels in zip(data.names, data.levels, strict=True)
    }
    learned = result_of(content).learned
    assert len(content["counts"]) == len(content["effect_tables"]) == learned.graph.n_edges >= 2
    for (i, j), counts, table in zip(
        learned.graph.pairs.tolist(), content["counts"], content["effect_tables"], strict=True
    ):
        expected = np.zeros((len(data.levels[i]), len(data.levels[j])), int)
        np.add.at(expected, (data.codes[i], data.codes[j]), 1)
        assert counts == expected.tolist()
        assert np.shape(table) == (() if np.shape(counts) == (2, 2) else np.shape(counts))
    misses = [(x, y) for x, y, *_ in content["near_misses"]]
    assert {*misses, *learned.graph.edges} == set(combinations(data.names, 2))
    assert (content["n_undecided"], content["n_against"]) == (
        learned.edge_table.n_undecided,
        learned.n_against,
    )


@pytest.mark.parametrize(
    ("field", "odd", "words"),
    [
        ("counts", lambda found: found[1:], "there must be counts for every edge"),
        ("counts", lambda found: {}, "there must be counts for every edge"),
        ("counts", lambda found: [[[0.5]], *found[1:]], "counts must be tables of whole numbers"),
        ("counts", lambda found: [[[-1]], *found[1:]], "counts must be tables of whole numbers"),
        ("counts", lambda found: [[[1 << 63]], *found[1:]], "counts must be tables of whole numbers"),
        ("counts", lambda found: [[[True]], *found[1:]], "counts must be tables of whole numbers"),
        ("effect_tables", lambda found: [[[1.0, 2.0]], *found[1:]], "tables of numbers, like the counts"),
        (
            "effect_tables",
            lambda found: [np.full((3, 3), np.nan).tolist(), *found[1:]],
            "tables of numbers, like the counts",
        ),
        ("levels", lambda found: {**found, "a": [1, 2]}, "levels must be lists of words"),
        ("levels", lambda found: [], "levels is not a dict"),
        ("ordinal", lambda found: "a", "ordinal is not a list"),
        ("n_undecided", lambda found: 0.5, "n_undecided is not a whole number"),
        ("n_against", lambda found: "many", "n_against is not a whole number"),
        ("made_with", lambda found: [], "made_with is not a dict"),
        ("near_misses", lambda found: {}, "near_misses is not a list"),
        ("arc_score", lambda found: "best", "there is no score of directed graphs 'best'"),
    ],
)
def test_what_is_damaged_is_named(whole, field, odd, words):
    content = {**whole[1], field: odd(whole[1].get(field))}
    with pytest.raises(DataError, match=words):
        result_of(content)


def test_what_is_as_large_as_may_be_or_not_there_is_read(whole):
    content = dict(whole[1])
    content["counts"] = [None, *content["counts"][1:]]
    content["effect_tables"] = [None, *content["effect_tables"][1:]]
    assert result_of(content).learned.graph.n_edges == len(content["counts"])
    content["counts"] = [[[(1 << 63) - 1, 0]], *content["counts"][1:]]
    del content["effect_tables"], content["ordinal"], content["made_with"], content["view_scores"]
    assert result_of(content).learned.view_scores is None
    assert result_of({**content, "n_against": None}).learned.edge_table.counted == (
        content["n_undecided"],
        None,
    )
    logs = content["numbers"]["log_posterior_xy"]
    for log, is_read in ((1e-7, True), (1e-5, False)):
        numbers = {**content["numbers"], "log_posterior_xy": [log, *logs[1:]]}
        if is_read:
            assert result_of({**content, "numbers": numbers}).learned.graph.n_edges == len(logs)
        else:
            with pytest.raises(DataError, match="a log posterior is above zero"):
                result_of({**content, "numbers": numbers})
