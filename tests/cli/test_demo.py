import json

from ibmap import Graph
from ibmap.cli.learn import FILES


def test_demo_tells_the_story_in_one_screen(ibmap, tmp_path):
    ran = ibmap("demo", "--out", tmp_path / "demo")
    assert ran.code == 0
    assert ran.err == ""
    assert "92 edges" in ran.out
    assert "Blanket of diagnosis: mean concavity, area error, worst texture, worst" in ran.out
    assert "Six of thirty measurements" in ran.out
    assert all(word in ran.out for word in ("found", "missed", "invented"))
    lines = ran.out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines[:-1])) <= 80  # the last one holds the folder
    files = sorted(path.name for path in (tmp_path / "demo").iterdir())
    assert files == sorted([*FILES, "world-graph.json", "world-truth.json"])
    graph = Graph.from_json((tmp_path / "demo" / "graph.json").read_text())
    assert graph.degree("diagnosis") == 6
    assert json.loads((tmp_path / "demo" / "world-truth.json").read_text())["variables"][:2] == ["x0", "x1"]
