"""A result file with something odd in a field is refused in one sentence, or shown."""

import json
import random
from contextlib import suppress

import numpy as np
import pytest

from ibmap.data import load
from ibmap.errors import IbmapError
from ibmap.exchange import FORMATS, dumps
from ibmap.learners import ibmap_hc
from ibmap.report.content import header, page_content
from ibmap.results.result_file import read_result, result_of_learned, result_text

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
