"""docs/reference.md has every command, option and choice: it is what the program writes about itself."""

import runpy
from pathlib import Path
from typing import Any

import pytest
import typer

from ibmap.cli.app import app
from ibmap.criteria import SCORES
from ibmap.engines import ENGINES
from ibmap.exchange import FORMATS
from ibmap.learners import LEARNERS
from ibmap.search import SEARCHES

DOCS = Path(__file__).parents[2] / "docs"
REFERENCE = (DOCS / "reference.md").read_text()
VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_the_reference_is_up_to_date() -> None:
    assert runpy.run_path(str(DOCS / "site" / "reference.py"))["page"]() == REFERENCE, "run make reference"


@pytest.mark.parametrize("name", [*LEARNERS, *SCORES, *SEARCHES, *ENGINES, *FORMATS])
def test_every_choice_is_in_the_reference(name: str) -> None:
    assert f"| `{name}` |" in REFERENCE


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_the_reference(verb: str) -> None:
    assert f"### ibmap {verb}" in REFERENCE
