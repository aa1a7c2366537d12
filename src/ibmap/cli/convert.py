"""``ibmap convert``: a network from one format to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ibmap._text import either, safe_cell
from ibmap.cli import options, screen
from ibmap.errors import RequestError

if TYPE_CHECKING:
    from ibmap.exchange import Network

IN_FOLDERS = ("result.json", "graph.json", "truth.json", "averaged.json")  #: of learn, simulate, bootstrap

GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="FILE",
        help='Groups of variables: a CSV with the columns variable and group, or "found" for communities.',
    ),
]
IN_SPREADSHEETS = ("adjacency", "edges")  #: formats that are opened there


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Network file, or folder of a result.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; - is stdout.")],
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Format of IN: {formats} [from its suffix]."),
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Format of OUT: {formats} [from its suffix].")
    ] = None,
    groups: GroupsOption = None,
    safe_csv: options.SafeCsv = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Read a network and write it in another format."""
    from ibmap import exchange
    from ibmap._files import refuse_existing

    to_screen = str(target) == "-"
    form = exchange.format_of(target, to)
    if not to_screen:
        refuse_existing(target, overwrite=force, read=read_from(source))
    network = read_network(source, from_)
    if groups is not None:
        if form != "graphml":
            raise RequestError(f"--groups are written to GraphML, not to {exchange.FORMATS[form].title}")
        network = exchange.with_groups(network, groups)
    if safe_csv:
        network = for_spreadsheets(network, form)
    if to_screen:
        screen.hand_over(exchange.dumps(network, form))
        return
    exchange.write(network, target, form, overwrite=force)
    graph = network.graph
    found = {"out": str(target), "format": form, "variables": graph.n_variables, "edges": graph.n_edges}
    if as_json:
        screen.tell_json(found)
    else:
        edges, names = screen.counted(graph.n_edges, "edge"), screen.counted(graph.n_variables, "variable")
        screen.tell(f"wrote {target}: {edges} among {names}, as {exchange.FORMATS[form].title}")


def for_spreadsheets(network: "Network", form: str) -> "Network":
    """Return the network with names that no spreadsheet takes for formulas."""
    from ibmap.exchange import Network
    from ibmap.graph import Graph

    if form not in IN_SPREADSHEETS:
        raise RequestError(f"--safe-csv is for CSV: {either(IN_SPREADSHEETS)}, not {form}")
    graph = network.graph
    return Network(Graph.from_pairs(graph.pairs, map(safe_cell, graph.names)), network.numbers)


def read_from(source: Path, *more: str) -> list[Path]:
    """Return the files that a network is read from: in a folder some have names, and there may be more."""
    return [source / name for name in (*IN_FOLDERS, *more)] if source.is_dir() else [source]


def read_network(path: Path, form: str | None = None) -> "Network":
    """Read a network from a file of any format, or from the folder that a verb wrote."""
    from ibmap import exchange
    from ibmap._folders import settle

    if path.is_dir():
        settle(path)
        found = next((path / name for name in IN_FOLDERS if (path / name).is_file()), None)
        if found is None:
            raise RequestError(f"there is no network in {str(path)!r}: ibmap learn --out DIR writes one")
        path = found
    if form is None and not path.suffix:  # as of a pipe
        form = "json"
    return exchange.read(path, form)
