"""Groups of options: a verb takes dataclasses, the command line has their fields.

The fields carry typer's annotations. :func:`expanded` makes the command that typer sees; a :class:`Verb`
puts the names of registries into its help.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Any

from typer.core import TyperCommand

from ibmap._text import listed
from ibmap.cli.options import DrawingTableOptions, LearnerOptions, TestOptions
from ibmap.cli.registries import Names
from ibmap.cli.screen import writing
from ibmap.errors import RequestError

LARGEST = 1_000_000_000  #: of any whole number that is an option, seeds aside


#: options of their own section in the help, by the group that holds them; all others are common
HEADINGS: dict[str, Any] = {
    "How the table is read": DrawingTableOptions,
    "How networks are searched and scored": LearnerOptions,
    "Tests of independence, for learners that use one": TestOptions,
}
COMMON = (
    *("learner", "missing", "discretize", "bins", "drop", "only"),
    *("ordinal", "nominal", "continuous", "weights", "cluster"),
)


def _heading(name: str) -> str:
    """Return the section of the help that an option belongs to."""
    found = (heading for heading, group in HEADINGS.items() if name in {one.name for one in fields(group)})
    return "Options" if name in COMMON else next(found, "Options")


def expanded(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb whose groups (parameters that are dataclasses) are replaced by their fields.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     width: int = 1
    ...     height: int = 2
    >>> def area(name: str, size: Size) -> None:
    ...     print(name, size.width * size.height)
    >>> inspect.signature(expanded(area))
    <Signature (*, name: str, width: int = 1, height: int = 2) -> None>
    >>> expanded(area)(name="field", width=3)
    field 6
    """
    before = inspect.signature(verb)
    groups: dict[str, Any] = {
        name: p.annotation for name, p in before.parameters.items() if is_dataclass(p.annotation)
    }
    after: list[inspect.Parameter] = []
    for name, parameter in before.parameters.items():
        options = _options(groups[name]) if name in groups else [parameter]
        after += [option.replace(kind=inspect.Parameter.KEYWORD_ONLY) for option in options]
    signature = before.replace(parameters=after)  # raises if two groups have the same field

    @wraps(verb)
    def command(**given: Any) -> None:
        bound = signature.bind(**given)
        bound.apply_defaults()
        options = dict(bound.arguments)
        for name, group in groups.items():
            options[name] = group(**{field.name: options.pop(field.name) for field in fields(group)})
        verb(**options)

    command.__signature__ = signature  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in after}
    return command


def _options(group: Any) -> list[inspect.Parameter]:
    """Return the fields of a group as parameters: those of its constructor."""
    return list(inspect.signature(group).parameters.values())


class Verb(TyperCommand):
    """A command whose help names what is in the registries, where its texts have ``{learners}`` and the like.

    ``{files}`` is what the verb writes: ``FILES`` of its module.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; whole numbers that no computer could count to are refused."""
        with writing():  # the help
            rest: list[str] = super().parse_args(ctx, args)
        for option in self.params:
            value = ctx.params.get(option.name)
            if isinstance(value, int) and abs(value) > LARGEST and option.name != "seed":
                raise RequestError(f"{option.opts[0]} must be at most {LARGEST:,}")
        return rest

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, the common options, then the others under headings."""
        sections: dict[str, list[Any]] = {name: [] for name in ("Arguments", "Options", *HEADINGS)}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                is_argument = param.param_type_name == "argument"
                sections["Arguments" if is_argument else _heading(param.name)].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        module = sys.modules[self.callback.__module__]
        names = Names(files=listed(getattr(module, "FILES", ("files",))))
        for option in self.params:
            option.help = option.help and option.help.format_map(names)  # type: ignore[attr-defined]
        super().format_help(ctx, formatter)
