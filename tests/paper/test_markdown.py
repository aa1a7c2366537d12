"""Tables, figures and the page: what is shown is what is in the rows, and the same rows show the same."""

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from ibmap.errors import RequestError
from ibmap.paper import figures, markdown, page
from ibmap.paper.markdown import MARKS
from ibmap.paper.registry import find_experiment
from ibmap.paper.results import Results, Row, cells_of
from ibmap.paper.runner import reproduce
from ibmap.paper.store import path_of, read
from tests.toys import EXPERIMENT, STUDY

PNG = b"\x89PNG"


@pytest.fixture
def content(tmp_path):
    reproduce(STUDY, tmp_path)
    return read(path_of(tmp_path, STUDY))


def test_the_table_has_means_and_deviations(content):
    table = markdown.markdown_table(EXPERIMENT, Results(content.rows), EXPERIMENT.measures[0]).splitlines()
    assert table[0] == "| n | slow | fast |"
    assert table[2:] == [
        "| 2 | 4.0 ± 1.0 | 3.0 ± 1.0 |",
        "| 3 | 5.0 ± 1.0 | 4.0 ± 1.0 |",
        "| 5 | 7.0 ± 1.0 | 6.0 ± 1.0 |",
    ]


def test_the_papers_numbers_stand_beside_ours(content):
    printed = replace(EXPERIMENT, printed=lambda cell, measure: 9.5 if cell["learner"] == "slow" else None)
    assert "| 2 | 4.0 ± 1.0 (9.5) | 3.0 ± 1.0 |" in markdown.markdown_table(
        printed, Results(content.rows), EXPERIMENT.measures[0]
    )
    rows = list(csv.DictReader(io.StringIO(markdown.csv_table(printed, Results(content.rows)))))
    assert rows[0]["hamming_paper"] == "9.5"


def test_the_csv_has_a_line_per_cell(content):
    rows = list(csv.DictReader(io.StringIO(markdown.csv_table(EXPERIMENT, Results(content.rows)))))
    assert len(rows) == 6
    first = {"n": "2", "learner": "slow", "repetitions": "3", "hamming_mean": "4", "hamming_std": "1"}
    assert rows[0] == first


def test_the_checklist_says_what_holds_and_what_does_not(content):
    text = markdown.checklist(EXPERIMENT, Results(content.rows))
    assert "✔ **holds**: “fast is better”. Ours: holds in 3 of 3 cases" in text
    assert "✘ **does not hold**: “slow is better” (indeed). Ours: holds in 0 of 3 cases; worst" in text


def test_what_was_run(content):
    text = markdown.what_was_run(EXPERIMENT, content)
    assert "Cells: 6 of 6 (n: 2, 3, 5; learner: slow, fast); repetitions: 3 of 3." in text
    assert "Settings: seed = 0, pause = 0.0, mishap = none." in text
    assert "Made with ibmap " in text


def made_up(name: str) -> Results:
    """Rows of a small part of an experiment, with made-up numbers."""
    experiment = find_experiment(name)
    profile = [[-float(d + q) for d in range(4)] for q in range(5, 0, -1)]
    grid = {factor: levels[:3] for factor, levels in experiment.study.grid.items()}
    rows = []
    for cell in cells_of(grid):
        for r in range(2):
            values = {measure.name: 1.0 + r + len(str(cell)) % 7 for measure in experiment.measures}
            rows.append(Row(cell, r, {**values, "profile": profile, "below_highest": 0.0}))
    return Results(rows)


NAMES = ["random-runtime", "ascents", "ising", "table-real", "mi-hamming", "landscape-6"]


@pytest.mark.parametrize("name", NAMES)
def test_every_layout_draws_and_the_same_rows_draw_the_same(name):
    pytest.importorskip("matplotlib")
    picture = figures.draw(find_experiment(name), made_up(name))
    assert picture.startswith(PNG)
    assert picture == figures.draw(find_experiment(name), made_up(name))


def test_without_matplotlib_there_is_advice(content, monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    with pytest.raises(RequestError, match="pip install matplotlib"):
        figures.draw(EXPERIMENT, Results(content.rows))


@pytest.fixture
def toys_only(monkeypatch):
    monkeypatch.setattr(page, "experiment_names", lambda: ("toy",))
    monkeypatch.setattr(page, "find_experiment", lambda name: EXPERIMENT)


def test_the_page_shows_everything_and_does_not_change_by_itself(tmp_path, toys_only):
    reproduce(STUDY, tmp_path)
    reproduce(STUDY, tmp_path / "other-seed", settings={"seed": 5}, repetitions=3)
    made = page.make_page(tmp_path, "reproduction")
    assert made == page.make_page(tmp_path, "reproduction")
    assert "| toy | 1 | 0 | 1 | 0 | [csv](reproduction/toy.csv) |" in made.text
    assert "| toy-other-seed | " in made.text
    assert "(toy: 1)" in made.text  # what does not hold
    assert {"toy.csv", "toy-other-seed.csv", "claims.csv"} <= set(made.files)
    assert str(made.files["claims.csv"]).count("\ntoy,") == 2 * len(EXPERIMENT.claims)
    for name in made.files:
        assert f"(reproduction/{name})" in made.text


def test_without_matplotlib_the_page_has_no_figures(tmp_path, toys_only, monkeypatch):
    monkeypatch.setattr(figures, "find_spec", lambda name: None)
    reproduce(STUDY, tmp_path)
    made = page.make_page(tmp_path, "reproduction")
    assert list(made.files) == ["toy.csv", "claims.csv"]
    assert ".png" not in made.text


def test_the_page_in_the_repository_counts_the_claims_in_its_file():
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "reproduction.md").read_text()
    claims = list(csv.DictReader((docs / "reproduction" / "claims.csv").read_text().splitlines()))
    for name, variant in {(claim["experiment"], claim["variant"]) for claim in claims}:
        found = [c["status"] for c in claims if (c["experiment"], c["variant"]) == (name, variant)]
        counts = " | ".join(str(found.count(status)) for status in MARKS)
        stem = f"{name}-{variant}" if variant else name
        assert f"| {stem} | {counts} |" in text
    for file in (docs / "reproduction").iterdir():
        assert f"(reproduction/{file.name})" in text


def test_a_page_of_nothing_is_refused(tmp_path, toys_only):
    with pytest.raises(RequestError, match="there are no rows in"):
        page.make_page(tmp_path, "reproduction")
