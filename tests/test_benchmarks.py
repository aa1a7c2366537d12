"""Benchmarks are not run here, but what they import is there."""

import runpy
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PEERS = ("pybnesian", "pateda")  #: installed for ``make bench`` only


@pytest.mark.parametrize("path", sorted(BENCHMARKS.glob("*.py")), ids=lambda path: path.name)
def test_a_benchmark_finds_what_it_measures(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    try:
        found = runpy.run_path(str(path), run_name="imported")
    except ModuleNotFoundError as error:
        if error.name in PEERS:
            pytest.skip(f"{error.name} is a peer, and not installed")
        raise
    assert found
