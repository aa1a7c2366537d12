"""The table of formats: one file each, a function that writes text and one that reads it."""

from collections.abc import Callable
from os import PathLike
from typing import Any, NamedTuple

from ibmap import _checks
from ibmap._files import read_whole, write_whole
from ibmap._folders import settle
from ibmap._text import in_short
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.exchange import adjacency, dot, edges, gexf, graphml, json_text
from ibmap.exchange.network import Network, as_network


class Format(NamedTuple):
    """A format of text files."""

    title: str
    suffixes: tuple[str, ...]
    dumps: Callable[[Network], str]
    loads: Callable[[str], Network]


FORMATS = {
    "json": Format("JSON", (".json",), json_text.dumps, json_text.loads),
    "graphml": Format("GraphML", (".graphml",), graphml.dumps, graphml.loads),
    "gexf": Format("GEXF", (".gexf",), gexf.dumps, gexf.loads),
    "dot": Format("DOT", (".dot", ".gv"), dot.dumps, dot.loads),
    "adjacency": Format("adjacency CSV", (".adjacency.csv", ".adj"), adjacency.dumps, adjacency.loads),
    "edges": Format("edge list", (".csv", ".edges"), edges.dumps, edges.loads),
}


def format_of(path: str | PathLike[str], name: str | None = None) -> str:
    """Return the name of the format that a file has by its suffix, or that was named.

    Examples
    --------
    >>> format_of("net.GraphML"), format_of("net.adjacency.csv"), format_of("net.txt", "dot")
    ('graphml', 'adjacency', 'dot')
    """
    if name is not None:
        _checks.known(name, "format", FORMATS)
        return name
    text = str(path).lower()
    for key, form in FORMATS.items():  # .adjacency.csv comes before .csv
        if text.endswith(form.suffixes):
            return key
    raise RequestError(f"no format has the suffix of {str(path)!r}: name one of {', '.join(FORMATS)}")


def dumps(source: Any, format: str = "json") -> str:
    """Return a graph, or what a learner returned, as text.

    Examples
    --------
    >>> from ibmap import Graph
    >>> print(dumps(Graph("ab", [("a", "b")]), "adjacency"), end="")
    "","a","b"
    "a","0","1"
    "b","1","0"
    """
    return FORMATS[format_of("", format)].dumps(as_network(source))


def loads(text: str, format: str = "json") -> Network:
    """Return the network that a text holds.

    Examples
    --------
    >>> loads("graph { a -- b -- c }", "dot").graph.edges
    (('a', 'b'), ('b', 'c'))
    """
    form = FORMATS[format_of("", format)]
    if not isinstance(text, str):
        raise RequestError(f"text must be a string, not {in_short(text)}; exchange.read reads files")
    try:
        return form.loads(text)
    except IbmapError as error:
        raise DataError(f"not a graph in {form.title}: {error}") from None


def read(path: str | PathLike[str], format: str | None = None) -> Network:
    """Read a network from a file; the suffix tells the format unless it is named."""
    file = _checks.file_path(path, "path")
    name = format_of(file, format)
    settle(file.parent)
    try:
        text = read_whole(file).decode("utf-8-sig")
    except FileNotFoundError:
        raise RequestError(f"there is no file {str(path)!r}") from None
    except UnicodeDecodeError:
        raise DataError(f"{str(path)!r} is not text in UTF-8") from None
    if name == "edges" and format is None and adjacency.looks_like(text):
        name = "adjacency"
    try:
        return loads(text, name)
    except IbmapError as error:
        raise DataError(f"{str(path)!r} is {error}") from None


def write(
    source: Any, path: str | PathLike[str], format: str | None = None, *, overwrite: bool = False
) -> None:
    """Write a graph, or what a learner returned, to a file; the suffix tells the format if none is named."""
    file = _checks.file_path(path, "path")
    text = dumps(source, format_of(file, format))
    write_whole(file, text, overwrite=_checks.flag(overwrite, "overwrite"))
