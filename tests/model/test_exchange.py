"""Models in files, and in the objects of other libraries: their inference gives our marginals."""

import json
import subprocess
import sys
import warnings
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ibmap.data import load
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.graph import Graph
from ibmap.model import (
    MarkovNetwork,
    from_pgmpy,
    from_pyagrum,
    model_of,
    model_text,
    read_model,
    to_pgmpy,
    to_pyagrum,
    uai,
    write_model,
)
from tests.model.models import random_network, seeds

ROOT = Path(__file__).parents[2]


def same(one: MarkovNetwork, other: MarkovNetwork) -> None:
    """Whether the marginals are equal, level by level."""
    mine, theirs = one.marginals(), other.marginals()
    assert list(mine) == list(theirs)
    for name in mine:
        assert list(theirs[name].values()) == pytest.approx(list(mine[name].values()))


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_files_bring_a_model_back(seed: int) -> None:
    network = random_network(seed)
    back = model_of(model_text(network))
    assert (back.names, back.levels, back.graph) == (network.names, network.levels, network.graph)
    assert (back.theta == network.theta).all()
    again = uai.loads(uai.dumps(network), network.names, network.levels)
    same(network, again)


def test_files_keep_bins_and_provenance(tmp_path: Path) -> None:
    data = load({"a": [0.5, 1.5, 2.5, 9.5] * 5, "b": [True, False] * 10}, discretize="quantile", bins=2)
    network = MarkovNetwork.fit(Graph("ab", [("a", "b")]), data)
    write_model(network, tmp_path / "model.json")
    back = read_model(tmp_path)
    assert (back.bin_edges, back.fitted_by) == (network.bin_edges, network.fitted_by)
    assert back.levels == network.levels
    with pytest.raises(RequestError, match="exists"):
        write_model(network, tmp_path / "model.json")
    write_model(network, tmp_path / "model.uai")
    assert read_model(tmp_path / "model.uai").names == ("x0", "x1")


def test_labels_of_any_type_come_back_or_become_text() -> None:
    labels = (None, True, 2, 0.5, "two", (1, 2))
    network = MarkovNetwork(Graph("a"), (labels,), (np.zeros(6),), ())
    (back,) = model_of(model_text(network)).levels
    assert back == (None, True, 2, 0.5, "two", "(1, 2)")
    assert [type(label) for label in back[:5]] == [type(label) for label in labels[:5]]


def test_parameters_cannot_be_changed() -> None:
    network = random_network(5)
    given = [np.zeros(2), np.zeros(2)]
    one = MarkovNetwork(Graph("ab", [("a", "b")]), ((0, 1),) * 2, given, (np.zeros((2, 2)),))  # type: ignore[arg-type]
    given[0][0] = 7.0
    assert one.fields[0][0] == 0.0
    for table in (*network.fields, *network.factors, *network.tables, *one.fields):
        with pytest.raises(ValueError, match="read-only"):
            table[...] = 1.0


def test_impossible_cells_survive_a_file() -> None:
    table = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    network = MarkovNetwork(Graph("ab", [("a", "b")]), ((0, 1),) * 2, (np.zeros(2),) * 2, (table,))
    for back in (model_of(model_text(network)), uai.loads(uai.dumps(network), network.names)):
        assert back.query("b", {"a": 1})[0] == 0.0


def changed(**entries: object) -> str:
    found = json.loads(model_text(random_network(11)))
    return json.dumps({**found, **entries})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ('{"format": "ibmap-result"}', "not a model"),
        ("[1]", "not a model"),
        (changed(version=99), "newer ibmap"),
        (changed(fields=[[1.0]]), "damaged"),
        (changed(digest="0"), "not those that were written"),
        (model_text(random_network(11))[:-40], "not JSON"),
        ('{"format": "ibmap-model", "version": 1}', "damaged"),
    ],
)
def test_damaged_newer_and_other_files_are_one_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text(text)
    with pytest.raises(DataError, match=words) as error:
        read_model(tmp_path)
    assert "\n" not in str(error.value)
    assert str(tmp_path / "model.json") in str(error.value)


def test_no_file_and_no_text(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="ibmap fit"):
        read_model(tmp_path)
    (tmp_path / "model.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="not text"):
        read_model(tmp_path)


@settings(deadline=None, max_examples=150)
@given(st.text(alphabet="MARKOV 0123-.e\n", max_size=60))
def test_no_text_breaks_the_reader_of_uai(text: str) -> None:
    for attempt in (text, f"MARKOV\n{text}"):
        with suppress(IbmapError):
            uai.loads(attempt)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("GRAPH 1", "begins with MARKOV"),
        ("MARKOV 2 2 2 1 2 0 5 4 1 1 1 1", "not there"),
        ("MARKOV 2 2 2 1 2 0 1 3 1 1 1", "3 entries"),
        ("MARKOV 2 2 2 1 2 0 1 4 1 1 1", "ends too early"),
        ("MARKOV 2 2 2 1 2 0 1 4 1 1 1 -1", "not weights"),
        ("MARKOV 2 2 2 1 2 0 1 4 1 1 1 x", "what is not a number"),
        ("MARKOV 2 2 2 1 2 0 0 4 1 1 1 1", "twice"),
        ("MARKOV 1 999999999 0", "more levels than it has words"),
        ("MARKOV 2 9 9 1 2 0 1 4 1 1 1 1", "more levels than it has words"),
        ("MARKOV 999999999 2", "ends too early"),
        ("MARKOV 1 2 999999999", "ends too early"),
        ("MARKOV 1 2 1 999999999 0", "ends too early"),
        ("MARKOV 1 2 1 1 0 999999999 1 1", "ends too early"),
    ],
)
def test_uai_files_that_make_no_sense(text: str, words: str) -> None:
    with pytest.raises(RequestError, match=words):
        uai.loads(text)


@settings(deadline=None, max_examples=15)
@given(seeds)
def test_marginals_of_pgmpy_are_ours(seed: int) -> None:
    network = random_network(seed, largest=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pgmpy.inference import VariableElimination

        model = to_pgmpy(network)
        assert model.check_model()
        same(network, from_pgmpy(model))
        for name, found in network.marginals().items():
            values = VariableElimination(model).query([name], show_progress=False).values
            assert list(found.values()) == pytest.approx(values / values.sum())


PYAGRUM = """
import numpy as np
import pyagrum as gum
from ibmap.model import from_pyagrum, to_pyagrum
from tests.model.models import random_network

for seed in range(40):
    network = random_network(seed, largest=4, fewest=2)  # its posteriors of constants have odd shapes
    model = to_pyagrum(network)
    inference = gum.ShaferShenoyMRFInference(model)
    inference.makeInference()
    back = from_pyagrum(model).marginals()
    for name, found in network.marginals().items():
        assert np.allclose(list(found.values()), inference.posterior(name).toarray())
        assert np.allclose(list(found.values()), list(back[name].values()))
print("equal")
"""


def test_marginals_of_pyagrum_are_ours() -> None:
    """In a process of its own: where warnings are errors, importing pyAgrum ends Python."""
    if find_spec("pyagrum") is None:
        pytest.skip("pyagrum is not installed")
    done = subprocess.run(
        [sys.executable, "-c", PYAGRUM], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert done.stdout.endswith("equal\n"), done.stderr


def test_what_is_no_model_of_another_library_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for read in (from_pgmpy, from_pyagrum):
        with pytest.raises(RequestError, match="not int"):
            read(5)
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    with pytest.raises(RequestError, match="pip install pyagrum"):
        to_pyagrum(random_network(0))
