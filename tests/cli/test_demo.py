import polars as pl

from ibmap import Graph
from ibmap.cli.demo import MORE, RIVALS
from ibmap.cli.learn import FILES
from ibmap.synthetic.people import EDGES, VARIABLES


def test_demo_tells_the_story_in_one_screen(ibmap, tmp_path):
    ran = ibmap("demo", "--out", tmp_path / "demo")
    assert ran.code == 0
    assert ran.err == ""
    assert "14 direct associations" in ran.out
    assert "Without any edge: blood_group." in ran.out
    (line,) = [line for line in ran.out.splitlines() if line.startswith(RIVALS["evidence-map"])]
    assert line.split()[-5:] == ["14", "0", "0", "the", "truth"]
    assert all(name in ran.out for name in RIVALS.values())
    assert len(ran.out.splitlines()) <= 40
    assert sorted(path.name for path in (tmp_path / "demo").iterdir()) == sorted([*FILES, *MORE])
    truth = Graph.from_json((tmp_path / "demo" / "truth.json").read_text())
    assert truth == Graph(VARIABLES, EDGES)
    assert pl.read_csv(tmp_path / "demo" / "people.csv").shape == (1000, 13)
