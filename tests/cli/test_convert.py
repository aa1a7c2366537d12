import json

import pytest

from ibmap import Graph, exchange

GRAPH = Graph(["smoke", "cough", "tea, cup"], [("smoke", "cough"), ("cough", "tea, cup")])


@pytest.fixture
def net(tmp_path):
    path = tmp_path / "graph.json"
    path.write_text(GRAPH.to_json())
    return path


@pytest.mark.parametrize("name", ["a.json", "a.graphml", "a.gexf", "a.dot", "a.adjacency.csv", "a.csv"])
def test_there_and_back(ibmap, net, tmp_path, name):
    ran = ibmap("convert", net, tmp_path / name)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"wrote {tmp_path / name}: 2 edges among 3 variables, as ")
    ran = ibmap("convert", tmp_path / name, tmp_path / "back.json", "--json")
    assert json.loads(ran.out) == {
        "out": str(tmp_path / "back.json"),
        "format": "json",
        "variables": 3,
        "edges": 2,
    }
    assert Graph.from_json((tmp_path / "back.json").read_text()) == GRAPH


def test_formats_by_name_and_stdout(ibmap, net, tmp_path):
    assert ibmap("convert", net, tmp_path / "net.txt", "--to", "dot").code == 0
    ran = ibmap("convert", tmp_path / "net.txt", "-", "--from", "dot", "--to", "edges")
    assert ran.out == 'x,y\nsmoke,cough\ncough,"tea, cup"\n'


def test_the_list_of_edges_that_learn_writes_can_be_converted(ibmap, survey, tmp_path):
    ibmap("learn", survey, "--out", tmp_path / "result")
    for source in ("result", "result/edges.csv", "result/graph.json"):
        assert ibmap("convert", tmp_path / source, tmp_path / "net.graphml", "--force").code == 0
        network = exchange.read(tmp_path / "net.graphml")
        assert network.graph.edges == (("smoke", "cough"),)
        assert set(network.graph.names) == {"smoke", "cough", "tea"}


def test_what_exists_is_not_replaced_unless_forced(ibmap, net, tmp_path):
    (tmp_path / "net.dot").write_text("mine")
    ran = ibmap("convert", net, tmp_path / "net.dot")
    assert ran.code == 2
    assert ran.err.count("\n") == 1
    assert "exists: pass --force" in ran.err
    assert (tmp_path / "net.dot").read_text() == "mine"
    assert ibmap("convert", net, tmp_path / "net.dot", "--force").code == 0
    assert exchange.read(tmp_path / "net.dot").graph == GRAPH


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("none.json", "a.dot"), "there is no file"),
        (("graph.json", "a.txt"), "a.txt'"),
        (("graph.json", "a.txt", "--to", "gml"), "unknown format 'gml'; there are json"),
        (("bad.json", "a.dot"), "is not a graph in JSON: the text is damaged"),
        (("graph.json", "none/a.dot"), "cannot write"),
    ],
)
def test_bad_requests(ibmap, net, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.json").write_text('{"variables": [')
    ran = ibmap("convert", *arguments)
    assert (ran.code in (1, 2), ran.out) == (True, "")
    assert ran.err.count("\n") == 1
    assert words in ran.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json", "graph.json"]
