"""The paper's tables, from the data folder: every network is scored as the slow twin scores it."""

import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from ibmap import load
from ibmap.errors import DataWarning
from ibmap.learners import ibmap_hc
from tests.reference.bayesian import log_posterior

FOLDER = Path(os.environ.get("IBMAP_DATA", Path(__file__).parents[3] / "shared" / "data")) / "benchmarks"
TABLES = sorted(path.stem for path in FOLDER.glob("*.csv"))
NO_DATA = "no data folder: set IBMAP_DATA, or put it at ../shared/data beside the checkout"


@pytest.mark.skipif(not TABLES, reason=NO_DATA)
def test_the_folder_holds_the_tables_of_the_paper() -> None:
    assert len(TABLES) == 19


@pytest.mark.parametrize("name", TABLES or [pytest.param("", marks=pytest.mark.skip(reason=NO_DATA))])
def test_assertions_of_a_real_network_have_the_posteriors_of_the_twin(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # some tables keep an identifier
        data = load(FOLDER / f"{name}.csv", discretize="equal-width")
    learned = ibmap_hc(data)
    sigma, graph = learned.pair_scores, learned.graph
    assert sigma is not None
    assert learned.score == pytest.approx(sigma.sum(), rel=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(25):
        x, y = (int(v) for v in rng.choice(data.n_variables, 2, replace=False))
        edge = graph.adjacency[x, y]
        given = [int(z) for z in np.flatnonzero(graph.adjacency[x]) if z != y]
        twin = log_posterior(data.codes, data.cardinalities, x, y, given)
        expected = twin.log_dependent if edge else twin.log_independent
        assert sigma[x, y] == pytest.approx(expected, rel=1e-9, abs=1e-300)
