"""What can be chosen is said: the README knows it by name (help texts come from the registries)."""

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

README = (Path(__file__).parents[2] / "README.md").read_text()
VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_in_the_readme(name: str) -> None:
    assert f"`{name}`" in README


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_in_the_readme(name: str) -> None:
    assert FORMATS[name].title.lower() in README.lower()


@pytest.mark.parametrize("name", [*SCORES, *SEARCHES, *ENGINES])
def test_every_score_search_and_engine_is_in_the_readme(name: str) -> None:
    assert f"`{name}`" in README


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "demo"])
def test_every_verb_is_in_the_readme(verb: str) -> None:
    assert f"ibmap {verb}" in README
