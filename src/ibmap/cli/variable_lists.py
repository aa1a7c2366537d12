"""Names of variables as they are typed: in a list with commas, though a name may hold commas too."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.data import Schema


def variables(text: str, names: Sequence[str]) -> list[str]:
    """Return the variables in a list with commas; a name may hold commas where that is unambiguous.

    Examples
    --------
    >>> variables("height, cm,age", ["age", "height, cm"])
    ['height, cm', 'age']
    """
    parts = text.split(",")
    ways: list[list[list[str]]] = [[[]]]  # ways[k]: how the first k parts can be read; two are one too many
    for end in range(1, len(parts) + 1):
        found = []
        for start in range(end):
            name = _known(",".join(parts[start:end]), names)
            found += [[*way, name] for way in ways[start] if name is not None]
        ways.append(found[:2])
    if len(ways[-1]) > 1:
        one, other = (" and ".join(map(repr, way)) for way in ways[-1])
        raise RequestError(f"{text!r} can mean {one}, or {other}: name the variables one by one")
    if not ways[-1]:
        from ibmap.data.schema import unknown_variable

        raise unknown_variable(next(p.strip() for p in parts if _known(p, names) is None), names)
    return ways[-1][0]


def pair(text: str, option: str, schema: "Schema") -> tuple[str, str]:
    """Return the two variables of an edge "X,Y"; either name may hold commas.

    Examples
    --------
    >>> from ibmap.data import load
    >>> pair("height, cm,age", "--require", load({"age": [0, 1], "height, cm": [1, 0]}).schema)
    ('height, cm', 'age')
    """
    parts = text.split(",")
    cuts = [(",".join(parts[:k]), ",".join(parts[k:])) for k in range(1, len(parts))]
    if not cuts:
        raise RequestError(f"{option} takes two variables with a comma between them, not {text!r}")
    known = [(_known(x, schema.names), _known(y, schema.names)) for x, y in cuts]
    found = [(x, y) for x, y in known if x is not None and y is not None]
    if len(found) > 1:
        raise RequestError(f"{option} {text!r} can be read in {len(found)} ways: rename a variable")
    if found:
        return found[0]
    best = max(range(len(cuts)), key=lambda k: sum(name is not None for name in known[k]))
    for name, exact in zip(cuts[best], known[best], strict=True):
        if exact is None:
            schema.index(name.strip())  # raises, with the nearest name as advice
    raise RequestError(f"{option} {text!r} does not name two variables")


def _known(name: str, names: Sequence[str]) -> str | None:
    """Return the variable of this name, spaces around it aside."""
    return next((n for n in (name, name.strip()) if n in names), None)
