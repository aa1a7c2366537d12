"""What can be chosen is said: help and README know every test, learner and format by name."""

from pathlib import Path
from typing import Any

import pytest
import typer

from ibmap.cli.app import app
from ibmap.exchange import FORMATS
from ibmap.independence.registry import TESTS
from ibmap.learners import LEARNERS

README = (Path(__file__).parents[2] / "README.md").read_text()
VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def help_of(verb: str) -> str:
    return " ".join(parameter.help or "" for parameter in VERBS[verb].params)


@pytest.mark.parametrize("verb", ["learn", "bootstrap", "test"])
@pytest.mark.parametrize("name", TESTS)
def test_every_test_is_in_the_help(verb: str, name: str) -> None:
    assert name in help_of(verb)


@pytest.mark.parametrize("verb", ["learn", "bootstrap", "optimize"])
@pytest.mark.parametrize("name", LEARNERS)
def test_every_learner_is_in_the_help_and_the_readme(verb: str, name: str) -> None:
    assert name in help_of(verb)
    assert f"`{name}`" in README


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_in_the_help_and_the_readme(name: str) -> None:
    assert name in help_of("convert")
    title = FORMATS[name].title
    assert title in VERBS["convert"].help
    assert title.lower() in README.lower()


@pytest.mark.parametrize("verb", [name for name in VERBS if name != "demo"])
def test_every_verb_is_in_the_readme(verb: str) -> None:
    assert f"ibmap {verb}" in README
