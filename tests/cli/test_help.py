"""Help and registries hold together: what the library has can be found, and reached, on the command line."""

import re
import subprocess
import sys
from inspect import Parameter, signature
from typing import Any

import pytest
from typer.main import get_command

from ibmap.cli import options
from ibmap.cli.app import TASKS, app
from ibmap.cli.registries import REGISTRIES, Names
from ibmap.independence.registry import TESTS, as_test
from ibmap.learners.registry import LEARNERS, find_learner

COMMANDS: dict[str, Any] = get_command(app).commands
VERBS = {name: verb for name, verb in COMMANDS.items() if not hasattr(verb, "commands")}
VERBS |= {f"simulate {name}": verb for name, verb in COMMANDS["simulate"].commands.items()}
#: what a program hands to a learner, and a command line cannot
ONLY_PYTHON = {"data", "test", "callback"}


def option(verb: str, argument: str) -> Any:
    """The option of a verb that sets an argument of a learner or a test."""
    return next((param for param in VERBS[verb].params if options.typed(argument) in param.opts), None)


def arguments() -> list[tuple[str, str, Parameter]]:
    makers = {**TESTS, **{name: find_learner(name) for name in LEARNERS}}
    return [(who, name, p) for who, make in makers.items() for name, p in signature(make).parameters.items()]


def texts(verb: str) -> str:
    return " ".join(param.help or "" for param in VERBS[verb].params)


@pytest.mark.parametrize("key", REGISTRIES)
def test_every_registry_is_in_some_help(ibmap, key: str) -> None:
    if f"{{{key}}}" in " ".join(map(texts, VERBS)):  # not yet filled in
        verb = next(verb for verb in VERBS if f"{{{key}}}" in texts(verb))
        shown = re.sub(r"[\s│─]+", "", ibmap(*verb.split(), "--help").out)  # lines, or boxes (old typer)
        assert Names()[key].replace(" ", "") in shown
    else:
        pytest.fail(f"no help text shows {{{key}}}")


@pytest.mark.parametrize("verb", VERBS)
def test_help_texts_name_nothing_by_hand(verb: str) -> None:
    names = {*TESTS, *LEARNERS} - {"mi"}  # "mi" is a part of many words
    assert not [name for name in names if re.search(rf"\b{name}\b(?!\])", texts(verb))]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_shows_its_help(ibmap, verb: str) -> None:
    ran = ibmap(*verb.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert not re.search(r"[{]\w+[}](?! *\n)", ran.out.split("Options", 1)[1])


@pytest.mark.parametrize(("who", "name", "parameter"), arguments())
def test_every_argument_of_tests_and_learners_is_an_option(who: str, name: str, parameter: Parameter) -> None:
    if name in ONLY_PYTHON:
        return
    found = option("learn", name)
    assert found is not None, f"{who} has {name!r}: add a field to TestOptions or LearnerOptions"
    assert found.default is None
    if who in TESTS:
        assert option("test", name) is not None
        assert option("evaluate", name) is not None
        assert f"[{parameter.default}]" in found.help


def test_the_first_test_is_the_default_one() -> None:
    assert type(as_test(None)) is next(iter(TESTS.values()))


LARGE = ["sklearn", "scipy", "pandas", "matplotlib"]


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], ["numpy", "polars", "rich", *LARGE]),
        (["learn", "--help"], LARGE),
        (["optimize", "-h"], LARGE),
    ],
)
def test_help_imports_nothing_heavy(arguments: list[str], heavy: list[str]) -> None:
    code = (
        "import sys, atexit; from ibmap.cli import main\n"
        f"atexit.register(lambda: print('heavy:', [name for name in {heavy!r} if name in sys.modules]))\n"
        f"sys.argv = ['ibmap', *{arguments!r}]; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.endswith("heavy: []\n")


@pytest.mark.parametrize(
    ("given", "name"),
    [
        (["--test", "chi-square", "--dof", "full"], "chi-square(alpha=0.05, dof=full)"),
        (["--test", "mutual-information", "--min-information", "0.2"], "mutual-information(threshold=0.2)"),
    ],
)
@pytest.mark.parametrize("verb", ["learn", "test"])
def test_options_reach_the_test(ibmap, survey, verb: str, given: list[str], name: str) -> None:
    where = ["--learner", "gsmn"] if verb == "learn" else ["smoke", "cough"]
    ran = ibmap(verb, survey, *where, *given)
    assert (ran.code, ran.err) == (0, "")
    assert f"test {name}" in ran.out


def test_another_test_s_option_is_refused_by_its_name_on_the_command_line(refused, survey) -> None:
    said = refused(survey, "--learner", "ibmap-hc", "--min-information", "0.1")
    assert "bayesian has no option --min-information; mutual-information has" in said


def test_short_help_and_verbs_by_task(ibmap):
    short, long = ibmap("-h"), ibmap("--help")
    assert short.out == long.out
    assert ibmap("learn", "-h").out == ibmap("learn", "--help").out
    assert ibmap("simulate", "random", "-h").code == 0
    for task, names in TASKS.items():
        section = short.out.partition(f"{task}:")[2].partition("\n\n")[0]
        assert [
            line.split()[0] for line in section.splitlines() if line.startswith("  ") and line[2] != " "
        ] == [*names]
    assert sorted(name for names in TASKS.values() for name in names) == sorted(COMMANDS)


def test_completion_of_the_shell(ibmap, monkeypatch):
    monkeypatch.setenv("_IBMAP_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "ibmap boot")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert ibmap().out.split() == ["bootstrap"]


@pytest.mark.parametrize("verb", VERBS)
def test_common_options_come_first_and_are_few(ibmap, verb: str) -> None:
    first = ibmap(*verb.split(), "--help").out.split("Options:\n", 1)[1].split("\n\n")[0]
    assert len(re.findall(r"^  -", first, re.MULTILINE)) <= 25
