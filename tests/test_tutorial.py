"""The tutorial runs, and says what comes out: on a cut of the table, and in the slow test on all of it."""

import re

import pytest

from tests import tutorial
from tests.tutorial import (
    DATA,
    DOCUMENT,
    PICTURES,
    README,
    Ran,
    pictures,
    put_data,
    put_people,
    rewritten,
    run,
)

DOCUMENT_TEXT = DOCUMENT.read_text()
EVERY = 16  # of the rows: about 2,000 people
# Lines that do not depend on the rows, up to where they do.
STRUCTURE = re.compile(
    r"strongest edges +posterior|wrote \w+|support +whole table +edge|test none"
    r"|seen from [\w-]+: log independent|[\w-]+ \\ [\w-]+ .*|P\(\w+ \||hours given"
)
FILES = [
    "adult.csv",
    "people.csv",
    "result/edges.csv",
    "result/result.json",
    "trust/support.csv",
    "filled.csv",
    "people.graphml",
]

needs_data = pytest.mark.skipif(
    not DATA.exists(),
    reason="no data folder: set IBMAP_DATA, or put it at ../shared/data beside the checkout",
)


def structure(text: str) -> list[str]:
    return [" ".join(found[0].split()) for line in text.splitlines() if (found := STRUCTURE.match(line))]


@pytest.mark.slow
@needs_data
def test_tutorial_runs_on_a_cut_of_the_table(tmp_path):
    put_data(tmp_path, EVERY)
    for ran in run(DOCUMENT_TEXT, tmp_path):
        assert ran.code == ran.code_shown, f"{ran.what}: {ran.said}"
        assert structure(ran.said) == structure(ran.shown), ran.what
        assert bool(ran.said) == bool(ran.shown), ran.what
    for name in [*FILES, *pictures(DOCUMENT_TEXT)]:
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.slow
@needs_data
def test_tutorial_shows_what_comes_out(tmp_path):
    put_data(tmp_path)
    for ran in run(DOCUMENT_TEXT, tmp_path):
        assert ran.as_shown, f"{ran.what}\n{ran.said}\nrun python -m tests.tutorial --write"


@pytest.mark.slow
def test_readme_shows_what_comes_out(tmp_path):
    put_people(tmp_path)
    ran = list(run(README.read_text(), tmp_path))
    assert len(ran) == 2
    for one in ran:
        assert one.as_shown, f"{one.what}\n{one.said}\nrun python -m tests.tutorial README --write"


@pytest.mark.slow
def test_learners_page_shows_what_comes_out(tmp_path):
    ran = list(run((tutorial.ROOT / "docs" / "learners.md").read_text(), tmp_path))
    assert [one.what for one in ran if not one.as_shown] == []


def test_readme_is_short():
    assert len(README.read_text().split()) <= 900


@needs_data
def test_put_data_marks_missing_values_as_uci_does(tmp_path):
    put_data(tmp_path)
    rows = [line.split(", ") for line in (tmp_path / "adult.data").read_text().splitlines() if line]
    assert len(rows) == 32561
    missing = [sum(row[i] == "?" for row in rows) for i in range(15)]
    assert {i: count for i, count in enumerate(missing) if count} == {1: 1836, 6: 1843, 13: 583}


def test_pictures_are_shown_and_small():
    for name in pictures(DOCUMENT_TEXT):
        assert f"](tutorial/{name})" in DOCUMENT_TEXT
        assert (PICTURES / name).stat().st_size < 60_000
    shown = re.findall(r"\]\(tutorial/(.+?)\)", DOCUMENT_TEXT)
    assert sorted(shown) == sorted(path.name for path in PICTURES.iterdir())


def test_every_number_in_the_prose_is_in_an_output():
    prose = (
        tutorial.BLOCK.sub("", DOCUMENT_TEXT).replace("50,000 dollars", "").replace("more than 50,000", "")
    )
    outputs = "".join(block[2] for block in tutorial.BLOCK.finditer(DOCUMENT_TEXT) if block[1] != "python")
    numbers = re.findall(r"\d+,\d{3}|\d\.\d{2,}|\d+e-\d+", prose)
    assert numbers
    assert [number for number in numbers if number not in outputs] == []


SMALL = """\
```console
$ ibmap --version
old, in 3.5 s
$ ibmap learn none.csv
ibmap: error: no such thing
```
words
```python
x = 2
```
```python
print(x + 1, " ")
```

```text
old
```
"""


def test_blocks_run_in_order_and_the_document_is_rewritten(tmp_path):
    ran = list(run(SMALL, tmp_path))
    assert [r.what.split()[0] for r in ran] == ["ibmap", "ibmap", "x", "print(x"]
    assert [r.code for r in ran] == [0, 1, 0, 0]
    assert ran[1].said.startswith("ibmap: error:")
    assert "'none.csv'" in ran[1].said
    assert ran[3] == Ran('print(x + 1, " ")\n', "old\n", "3\n")
    fresh = rewritten(SMALL, ran)
    assert fresh == SMALL.replace("old, in 3.5 s\n", ran[0].said).replace(
        "no such thing", "there is no file 'none.csv'"
    ).replace("old\n", "3\n")
    assert rewritten(fresh, list(run(fresh, tmp_path))) == fresh


def test_seconds_alone_leave_the_document_as_it_is():
    assert Ran("ibmap", "learned in 0.42 s, 3 edges\n", "learned in 1.5 s, 3 edges\n").as_shown
    assert not Ran("ibmap", "learned in 0.42 s, 3 edges\n", "learned in 1.5 s, 4 edges\n").as_shown
    assert not Ran("ibmap", "same\n", "same\n", code=1).as_shown


def test_only_ibmap_is_run(tmp_path):
    with pytest.raises(ValueError, match="'rm'"):
        list(run("```console\n$ rm file\n```\n", tmp_path))
