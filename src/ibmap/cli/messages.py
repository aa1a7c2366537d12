"""Messages of the library in the words of the command line: options, not arguments of Python."""

import re
from collections.abc import Mapping
from typing import Any

#: arguments of Python whose option has another name
ALIASES = {
    "n_jobs": "jobs", "n_rows": "rows", "n_variables": "variables", "n_replicates": "replicates",
    "population_size": "population", "random_state": "seed",
}  # fmt: skip
_QUOTED = re.compile(r"((?<!\w)'[^']*'|(?<!\w)\"[^\"]*\")")


def arguments_of(command: Any) -> dict[str, str]:
    """Return the options of a verb (of all verbs of a group) by the arguments of Python that they set."""
    found: dict[str, str] = {}
    for verb in getattr(command, "commands", {"": command}).values():
        for option in (text for param in verb.params for text in param.opts if text.startswith("--")):
            found[option.removeprefix("--").replace("-", "_")] = option
    return found | {name: found[other] for name, other in ALIASES.items() if other in found}


def in_options(message: str, options: Mapping[str, str]) -> str:
    """Return a message that names options where it named arguments; what is quoted stays as it is.

    Examples
    --------
    >>> options = {"missing": "--missing", "n_rows": "--rows", "tau": "--tau", "drop": "--drop"}
    >>> in_options("missing must be 'drop' or 'error', not 'missing=1'", options)
    "--missing must be 'drop' or 'error', not 'missing=1'"
    >>> in_options("n_rows and tau must be above 0: got n_rows=0, tau=2; or drop the column", options)
    '--rows and --tau must be above 0: got --rows 0, --tau 2; or --drop the column'
    >>> in_options("drop= leaves it out (drop=)", options)
    '--drop leaves it out (--drop)'
    """
    first = re.match(r"\w+( and \w+)*(?= must\b)", message)
    end = first.end() if first else 0
    parts = _QUOTED.split(message[end:])
    parts[::2] = [_outside_quotes(part, options) for part in parts[::2]]
    return _named(r"\w+", message[:end], options) + "".join(parts)


def _outside_quotes(text: str, options: Mapping[str, str]) -> str:
    text = text.replace("overwrite=True", "--force")
    text = _named(r"\b\w+= ?", text, options)
    text = _named(r"\b[a-z]+_\w+", text, options)
    if "drop" in options:
        text = re.sub(r"\bdrop (?=(it|them|the columns?)\b)", "--drop ", text)
    return re.sub(r"(?<=must be )None, |,? or None(?=, not)", "", text)


def _named(pattern: str, text: str, options: Mapping[str, str]) -> str:
    """Replace the arguments that match; a "=" behind one is a blank behind the option."""

    def option(found: re.Match[str]) -> str:
        name, before_value = found[0].rstrip("= "), "=" in found[0] and text[found.end() :][:1] != ")"
        return options[name] + " " * before_value if name in options else found[0]

    return re.sub(pattern, option, text)
