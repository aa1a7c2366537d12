"""Every example runs, is short, and says what it should."""

import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SAYS = {
    "continuous.py": "soil is independent of price given rain and yield",
    "optimise.py": "ibmap-hc: worth 4",
    "own_engine.py": "the same network as in memory: True",
    "own_score.py": "exactly the truth: True",
    "own_test.py": "information: (('x",
    "quickstart.py": "blanket of coughs: ('smokes', 'tea')",
}


def test_every_example_is_known():
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_example(name, capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", [name])  # what pytest was given is not for the example
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert SAYS[name] in capsys.readouterr().out
    assert len((EXAMPLES / name).read_text().splitlines()) < 60
