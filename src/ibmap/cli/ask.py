"""``ibmap ask``: how probable are the values of a variable, given others?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ibmap.cli import options, screen
from ibmap.errors import RequestError

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Model that ibmap fit wrote, or its folder.")]


def ask(
    model: Model,
    x: Annotated[str, typer.Argument(metavar="X", help="Variable.")],
    given: Annotated[
        list[str] | None, typer.Option(metavar="Y=VALUE", help="What is known; may be repeated.")
    ] = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
) -> None:
    """Ask a model one question; the answer says whether it is exact."""
    from ibmap.model import NumberAnswer, read_model

    network = read_model(model)
    answer: Any = network.query(x, evidence(given or [], network.names), random_state=seed)
    if as_json:
        known = {name: str(level) for name, level in answer.given.items()}
        found: dict[str, Any] = {"x": x, "given": known, "method": answer.method}
        if isinstance(answer, NumberAnswer):
            numbers = ("mean", "deviation", "median", "low", "high", "error")
            found |= {name: getattr(answer, name) for name in numbers}
            bars = zip(("from", "to", "share"), zip(*answer.histogram, strict=True), strict=True)
            found["histogram"] = {name: list(column) for name, column in bars}
        else:
            found["probabilities"] = {str(level): p for level, p in answer.items()}
            if answer.errors is not None:
                found["errors"] = {str(level): error for level, error in answer.errors.items()}
        screen.tell_json(found)
    else:
        screen.tell(str(answer))


def evidence(texts: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the values that are given, by variable; names and values may hold "=".

    Examples
    --------
    >>> evidence(["smokes=yes", "a=b=c"], ["smokes", "a=b"])
    {'smokes': 'yes', 'a=b': 'c'}
    """
    found: dict[str, str] = {}
    for text in texts:
        if "=" not in text:
            raise RequestError(f"--given {text!r} does not have the form Y=VALUE")
        cuts = [k for k, letter in enumerate(text) if letter == "="]
        name, value = next(
            ((text[:k], text[k + 1 :]) for k in cuts if text[:k] in names),
            (text[: cuts[0]], text[cuts[0] + 1 :]),
        )
        if found.setdefault(name, value) != value:
            raise RequestError(f"--given has two values of {name}: {found[name]} and {value}")
    return found
