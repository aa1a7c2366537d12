"""Readings: what is run for them, and how they are ranked."""

import csv
import io
import json
import pickle

import pytest

from ibmap.paper import ranking, readings
from ibmap.paper.experiment import Setup
from ibmap.paper.readings import CHOICES, PARTS, all_readings
from ibmap.paper.registry import find_experiment
from ibmap.paper.results import Row, cells_of


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.experiments[0])
def test_parts_are_studies(part):
    study, base = part.study, part.shown[0].study
    pickle.dumps(study)
    json.dumps([dict(study.settings), study.cells(quick=True)])
    assert set(study.grid) == {*part.choices, *base.grid}
    for factor, levels in study.quick.items():
        assert set(levels) <= set(study.grid[factor]), factor
    for experiment in part.shown:
        assert experiment.study is base
    assert set(part.choices) <= {*base.settings}


def test_the_first_reading_is_the_default_one():
    first = all_readings()[0]
    for part in PARTS:
        for name in part.choices:
            assert str(part.shown[0].study.settings[name]) == getattr(first, name), name


def test_a_cell_is_run_with_its_choices():
    part, setup = PARTS[0], Setup(PARTS[0].study.settings)
    chosen = {"prior_counts": "0.25", "combine": "slices", "potentials": "log-uniform"}
    own = {"n": 20, "tau": 2, "D": 100}
    for rule in CHOICES["hhc_symmetry"]:
        measures = part.study.run({**chosen, **own, "learner": f"hhc-mn {rule}"}, 0, setup)
        settings = {**find_experiment("random-hamming").study.settings, **chosen, "hhc_symmetry": rule}
        same = find_experiment("random-hamming").study.run({**own, "learner": "hhc-mn"}, 0, Setup(settings))
        assert measures["hamming"] == same["hamming"]


def test_what_asks_no_test_is_run_once(monkeypatch):
    calls = []
    study = find_experiment("table-onemax").study
    monkeypatch.setattr(
        readings, "find_experiment", lambda name: type("E", (), {"study": type("S", (), {"run": seen})})
    )
    readings._without_test.cache_clear()

    def seen(cell, repetition, setup):
        calls.append(cell)
        return {"size": 50}

    for counts in CHOICES["prior_counts"]:
        cell = {"prior_counts": counts, "combine": "slices", "n": 15, "algorithm": "MOA"}
        assert readings.run(cell, 0, Setup(study.settings), "table-onemax") == {"size": 50}
    assert len(calls) == 1
    readings._without_test.cache_clear()


def made_up() -> dict[str, list[Row]]:
    """Rows of all quick cells; 0.25 agrees with the paper a little better than ones."""
    rows = {}
    for part in PARTS:
        experiment = part.shown[0]
        rows[part.study.name] = [
            Row(cell, r, measures(experiment, cell, r))
            for cell in cells_of(part.study.quick)
            for r in range(4)
        ]
    return rows


def measures(experiment, cell, repetition):
    rank = {"ibmap-hc": 1, "hhc-mn or": 2, "hhc-mn and": 2, "gsmn": 3}.get(str(cell.get("learner")), 4)
    errors = rank * cell.get("n", 1) * cell.get("tau", 1) * (1 + repetition / 100)
    found = dict.fromkeys(("hamming", "false_positives", "size", "evaluations", "deviation"), errors)
    found |= {"f_independences": 1 / errors, "f_edges": 1 / errors, "accuracy": 0.5, "train": 1, "test": 1}
    printed = experiment.printed
    if printed is not None and cell["prior_counts"] == "0.25":
        own = {name: value for name, value in cell.items() if name not in CHOICES}
        own["learner"] = str(own.get("learner", "")).partition(" or")[0]
        if "algorithm" in own or own["learner"] in ("ibmap-hc", "gsmn", "hhc-mn"):
            known = {name: printed(own, name) for name in ("hamming", "accuracy", "size", "evaluations")}
            found |= {name: value for name, value in known.items() if value is not None}
    return found


def test_the_reading_with_the_papers_numbers_comes_first():
    ranked = ranking.ranking(made_up())
    assert len(ranked) == 8  # two prior counts, two rules, two kinds of potentials
    best = ranked[0].reading
    assert (best.prior_counts, best.hhc_symmetry) == ("0.25", "or")
    assert ranked[0].score.claims > ranked[-1].score.claims
    assert ranked[0].score.steps == 0
    assert ranked[0].error.steps == 0
    rows = list(csv.DictReader(io.StringIO(ranking.ranking_csv(ranked))))
    assert [row["rank"] for row in rows] == [str(rank) for rank in range(1, 9)]
    assert rows[0]["prior_counts"] == "0.25"
    table = ranking.ranking_table(ranked, 2)
    assert "(default) | ones | slices | and |" in table
    assert "(preset) | 0.25 | slices | or |" in table
    assert "| prior_counts | ones |" in ranking.choices_table(ranked)
    assert "| log-uniform | 0.25 |" in ranking.errors_table(made_up())


def test_readings_without_rows_are_not_ranked():
    assert ranking.ranking({}) == []


def test_parts_without_rows_are_left_aside():
    part = {name: rows for name, rows in made_up().items() if name == "readings-random"}
    ranked = ranking.ranking(part)
    assert ranked
    assert "| – |" in ranking.ranking_table(ranked, 1)
