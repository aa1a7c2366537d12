import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from ibmap.cli import main
from tests.conftest import signals_as_before


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    def warns(self, *parts: object, kind: str = "warning") -> bool:
        """Whether stderr is one line of this kind with all these names, numbers or options in it."""
        one_line = self.err.startswith(f"ibmap: {kind}: ") and self.err.count("\n") == 1
        return one_line and all(str(part) in self.err for part in parts)

    def refuses(self, *parts: object) -> bool:
        """Whether it left with 1 or 2, nothing on stdout, and one line with all these parts in it."""
        return self.code in (1, 2) and not self.out and self.warns(*parts, kind="error")


@pytest.fixture
def ibmap(monkeypatch, capsys):
    """Run ``ibmap`` in this process."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["ibmap", *map(str, arguments)])
        with signals_as_before(), pytest.raises(SystemExit) as left:
            main()
        return Ran(left.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def refused(ibmap, tmp_path):
    """Run ``ibmap learn --force`` where older results are: one line, exit 1, nothing touched."""

    def run(*arguments: object, verb: str = "learn") -> str:
        out = tmp_path / "result"
        out.mkdir(exist_ok=True)
        (out / "graph.json").write_text("older")
        fresh = tmp_path / "fresh"
        lines = []
        for folder in (out, fresh):
            more = ["--out", folder, "--force"] if verb == "learn" else []
            ran = ibmap(verb, *arguments, *more)
            assert ran.code in (1, 2)
            assert ran.out == ""
            assert ran.err.startswith("ibmap: error: ")
            assert ran.err.count("\n") == 1
            assert ran.err.endswith("\n")
            lines.append(ran.err)
        assert not fresh.exists()
        assert [(path.name, path.read_text()) for path in out.iterdir()] == [("graph.json", "older")]
        assert lines[0] == lines[1]
        return lines[0]

    return run


@pytest.fixture
def survey(tmp_path) -> Path:
    """A small table: smoke, cough and tea; the first two go together."""
    rng = np.random.default_rng(0)
    smoke = rng.integers(2, size=300)
    cough = smoke ^ (rng.random(300) < 0.2)
    tea = rng.integers(3, size=300)
    lines = [f"{'yes' if s else 'no'},{c},{'abc'[t]}" for s, c, t in zip(smoke, cough, tea, strict=True)]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(["smoke,cough,tea", *lines]) + "\n")
    return path
