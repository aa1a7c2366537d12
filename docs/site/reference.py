"""Write docs/reference.md from the program: commands with their options, and what stands in the registries.

``make reference`` runs it; ``tests/cli/test_lists.py`` compares the page with what it would write.
"""

import inspect
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from ibmap._text import listed
from ibmap.cli.app import TASKS, app
from ibmap.cli.registries import Names
from ibmap.criteria import SCORES
from ibmap.engines import ENGINES
from ibmap.exchange import FORMATS
from ibmap.independence.registry import TESTS
from ibmap.learners import LEARNERS, find_learner
from ibmap.search import SEARCHES

PAGE = Path(__file__).parents[1] / "reference.md"
ROLE = re.compile(r":\w+:(?=`)")
SHARED = 3  #: commands that have an option in common, from which on it is described once
HEAD = """# Reference

All commands with their options, and the names that options take. `make reference` writes this page from the
program. Defaults are in square brackets. [Learners, scores, searches and engines](learners.md) says what the
parts do; `make docs` builds the reference of the Python library.

Exit codes: 0 done; 1 the data or the request is wrong (one line on stderr); 2 wrong usage; 130 interrupted.
"""


def page() -> str:
    """Return the text of the page."""
    commands = {f"ibmap {name}": command for name, command in leaves(typer.main.get_command(app))}
    where: dict[tuple[str, str], list[str]] = {}
    for name, command in commands.items():
        for option in options(command):
            where.setdefault((spelled(option), told(option, command)), []).append(name)
    parts = [HEAD]
    for task, verbs in TASKS.items():
        parts.append(f"## {task}\n")
        for name, command in commands.items():
            if name.split()[1] in verbs:
                own = [(key, what) for (key, what), who in where.items() if len(who) < SHARED and name in who]
                arguments = " ".join(p.metavar or p.name for p in command.params if is_argument(p))
                about = f"### {name}\n\n`{f'{name} {arguments}'.strip()}`: {command.help}\n"
                rows = [(f"`{key}`", what) for key, what in own]
                parts.append(about + ("\n" + table(("option", "meaning"), rows) if rows else ""))
    parts.append("## Options that commands share\n")
    groups: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for (key, what), who in where.items():
        if len(who) >= SHARED:
            groups.setdefault(tuple(who), []).append((f"`{key}`", what))
    for who, rows in groups.items():
        names = listed([name.removeprefix("ibmap ") for name in who])
        parts.append(f"**{names}**\n\n{table(('option', 'meaning'), rows)}")
    for title, names, find in (
        ("Learners", LEARNERS, find_learner),
        ("Tests of independence", TESTS, TESTS.__getitem__),
        ("Scores", SCORES, SCORES.__getitem__),
        ("Searches", SEARCHES, SEARCHES.__getitem__),
        ("Engines", ENGINES, ENGINES.__getitem__),
    ):
        rows = [(f"`{name}`", first_line(find(name))) for name in names]
        parts.append(f"## {title}\n\n{table(('name', 'what it is'), rows)}")
    rows3 = [(f"`{key}`", form.title, listed(form.suffixes)) for key, form in FORMATS.items()]
    parts.append(f"## Formats of networks\n\n{table(('name', 'format', 'suffixes'), rows3)}")
    return "\n".join(parts)


def leaves(group: Any, before: str = "") -> Iterable[tuple[str, Any]]:
    """Yield the commands of a group, those of its groups too, in the order of the help."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from leaves(command, f"{before}{name} ")
        else:
            yield before + name, command


def is_argument(parameter: Any) -> bool:
    """Whether a parameter has no dashes."""
    return not parameter.opts[0].startswith("-")


def options(command: Any) -> list[Any]:
    """Return the options of a command, and its arguments that have a help text."""
    return [p for p in command.params if p.help and p.opts[0] != "--help"]


def spelled(option: Any) -> str:
    """Return how an option or an argument is typed."""
    if is_argument(option):
        return option.metavar or option.name.upper()
    return f"{option.opts[0]} {option.metavar or ''}".strip()


def told(option: Any, command: Any) -> str:
    """Return the help text of an option, with its default."""
    module = sys.modules[command.callback.__module__]
    files = listed(getattr(module, "FILES", ("files",)))
    text = option.help.format_map(Names(files=files))
    text = text if text.endswith("...") else text.removesuffix(".")
    plain = isinstance(option.default, int | float | str | Path) and not isinstance(option.default, bool)
    return f"{text} [{option.default}]" if plain and not is_argument(option) else text


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table of Markdown."""
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)


def first_line(thing: Callable[..., Any]) -> str:
    """Return the first sentence of a docstring, without its marks."""
    said = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(ROLE.sub("", said).replace("``", "`").split()).rstrip(".")


if __name__ == "__main__":
    PAGE.write_text(page())
