"""Every experiment: a small cell of it runs, gives the measures that are shown, and gives them again."""

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.paper.experiment import Setup
from ibmap.paper.fits import EMPTY, RANDOM, random_world
from ibmap.paper.registry import experiment_names, find_experiment
from ibmap.paper.results import Results, Row
from ibmap.paper.runner import reproduce
from ibmap.paper.store import path_of

DATA = Path(__file__).parents[3] / "shared" / "data"
SMALL = {
    "random-hamming": {"n": 20, "tau": 2, "D": 50},
    "random-fmeasure": {"n": 20, "tau": 2, "D": 50},
    "random-errors": {"n": 20, "tau": 2, "D": 50},
    "random-runtime": {"n": 20, "tau": 2, "D": 50},
    "ascents": {"n": 4, "tau": 8},
    "ising": {"n": 12, "D": 50},
    "mi-hamming": {"tau": 2},
    "landscape-6": {"tau": 8, "D": 10},
    "landscape-20": {"tau": 1, "D": 10},
    "table-real": {"table": "lenses"},
    "table-onemax": {"n": 8, "algorithm": "MOA'"},
    "table-royal-road": {"n": 8, "algorithm": "MOA"},
    "eda-problems": {"problem": "onemax 8"},
}
CLOCK = {"milliseconds", "seconds"}


def small_cells(name: str):
    study = find_experiment(name).study
    for learner in study.grid.get("learner", (None,)):
        yield SMALL[name] if learner is None else {**SMALL[name], "learner": learner}


@pytest.mark.parametrize("name", experiment_names())
def test_a_small_cell_gives_what_is_shown(name):
    experiment = find_experiment(name)
    if name == "table-real" and not DATA.exists():
        pytest.skip(f"needs the real tables in {DATA}")
    setup = Setup(experiment.study.settings, DATA)
    for cell in small_cells(name):
        assert sorted(cell) == sorted(experiment.study.grid)
        measures, again = (experiment.study.run(cell, 0, setup) for _ in range(2))
        json.dumps(measures, allow_nan=False)
        assert {k: v for k, v in measures.items() if k not in CLOCK} == {
            k: v for k, v in again.items() if k not in CLOCK
        }
        results = Results([Row(cell, 0, measures)])
        for measure in experiment.measures:
            idle = cell.get("learner") == EMPTY and measure.name in ("milliseconds", "tests")
            assert (results.summary(cell, measure.name) is None) == idle, measure.name


@pytest.mark.parametrize("name", experiment_names())
def test_descriptions_are_complete(name):
    experiment = find_experiment(name)
    study = experiment.study
    assert experiment.name == name
    assert experiment.across in study.grid
    assert experiment.title
    assert experiment.about
    assert set(study.quick) == set(study.grid)
    for factor, levels in study.quick.items():
        assert set(levels) <= set(study.grid[factor]), factor
    assert set(study.together) <= set(study.grid)
    assert len(study.cells(quick=True)) * study.quick_repetitions <= 400
    json.dumps([dict(study.settings), study.cells()])
    pickle.dumps(study)  # other processes run it


def test_the_papers_grid():
    grid = find_experiment("random-hamming").study.grid
    assert grid["n"] == (100, 200, 500)
    assert grid["tau"] == (1, 2, 4, 8)
    assert grid["D"] == (25, 50, 100, 200, 400, 800, 1600, 3200)
    assert grid["learner"] == ("gsmn", "hhc-mn", "ibmap-hc", "empty")
    assert find_experiment("ascents").study.grid["n"] == (4, 12, 16, 20, 24, 30, 50, 75, 100, 200, 500)
    assert find_experiment("ising").study.grid["n"] == (100, 200, 500, 750)
    assert len(find_experiment("table-real").study.grid["table"]) == 19
    assert find_experiment("table-onemax").study.grid["n"] == (15, 30, 60, 90, 120)
    assert find_experiment("table-royal-road").study.grid["n"] == (16, 32, 64, 92, 120)


def test_four_figures_share_one_study():
    studies = {
        id(find_experiment(f"random-{what}").study) for what in ("hamming", "fmeasure", "errors", "runtime")
    }
    assert len(studies) == 1


def test_fewer_rows_are_the_first_of_more():
    few, many = (random_world(20, 2, rows, "random", RANDOM, 3) for rows in (50, 400))
    assert few.truth == many.truth
    assert (few.first(50).codes == many.first(50).codes).all()
    other = random_world(20, 2, 50, "random", RANDOM, 4)
    assert other.truth != few.truth


def test_a_tau_that_is_too_large_is_the_complete_graph():
    assert random_world(6, 8, 10, "random", RANDOM, 0).truth.n_edges == 15


def test_missing_tables_are_one_line_before_anything_is_written(tmp_path):
    study = find_experiment("table-real").study
    with pytest.raises(IbmapError) as refused:
        reproduce(study, tmp_path / "out", data_dir=tmp_path / "nowhere")
    assert isinstance(refused.value, DataError | RequestError)
    assert "\n" not in str(refused.value)
    assert not path_of(tmp_path / "out", study).exists()


def test_settings_reach_the_cells(tmp_path):
    study = replace(
        find_experiment("mi-hamming").study,
        grid={"tau": (2,), "learner": ("empty",)},
    )
    small = reproduce(study, tmp_path / "a", repetitions=1, settings={"n": 10})
    assert small[0].measures["false_negatives"] == 10
