"""Names that a spreadsheet takes for formulas stay as they are in CSV, unless --safe-csv is asked for."""

import csv

import pytest

from ibmap import exchange

NAMES = ("=1+1", "+a", "-b", "@c", "'=1+1", "a=b", "plain")
SAFE = ("'=1+1", "'+a", "'-b", "'@c", "''=1+1", "a=b", "plain")


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(NAMES)
        rows = [[i % 2] * len(NAMES) for i in range(80)]
        for k in range(len(NAMES)):  # no column is the copy of another
            rows[5 * k][k] ^= 1
        writer.writerows(rows)
    return path


def cells(path):
    with path.open(newline="") as file:
        return {cell for row in csv.reader(file) for cell in row}


def test_without_the_option_names_come_back_as_they_are(ibmap, table, tmp_path):
    assert ibmap("learn", table, "--out", tmp_path / "out").code == 0
    known = exchange.read(tmp_path / "out" / "graph.json").graph
    assert known.names == NAMES
    found = exchange.read(tmp_path / "out" / "edges.csv").graph
    assert {frozenset(edge) for edge in found.edges} == {frozenset(edge) for edge in known.edges}
    for end in ("csv", "adj"):
        assert ibmap("convert", tmp_path / "out", tmp_path / f"net.{end}").code == 0
        assert set(exchange.read(tmp_path / f"net.{end}").graph.names) == set(NAMES)


def test_with_it_no_cell_of_a_name_is_a_formula(ibmap, table, tmp_path):
    out = tmp_path / "out"
    assert ibmap("learn", table, "--out", out, "--safe-csv").code == 0
    assert ibmap("bootstrap", table, "--replicates", 3, "--out", out, "--safe-csv").code == 0
    assert ibmap("convert", out, tmp_path / "net.csv", "--safe-csv").code == 0
    assert ibmap("convert", out, tmp_path / "net.adj", "--safe-csv").code == 0
    harmful = {name for name, safe in zip(NAMES, SAFE, strict=True) if name != safe} - set(SAFE)
    for path in (out / "edges.csv", out / "support.csv", tmp_path / "net.csv", tmp_path / "net.adj"):
        assert not cells(path) & harmful, path
        assert set(SAFE) <= cells(path), path
    assert exchange.read(out / "graph.json").graph.names == NAMES  # JSON is for programs
    assert '"safe_csv":true' in (out / "report.html").read_text()
    assert ibmap("report", out, "--force").code == 0
    assert '"safe_csv":false' in (out / "report.html").read_text()


def test_it_is_for_csv(ibmap, table, tmp_path):
    assert ibmap("learn", table, "--out", tmp_path / "out").code == 0
    ran = ibmap("convert", tmp_path / "out", "-", "--to", "dot", "--safe-csv")
    assert ran.refuses("--safe-csv is for CSV")
