"""``ibmap convert``: a network from one format to another."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ibmap.cli import options, screen

FORMATS = "json, graphml, gexf, dot, adjacency or edges"


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="A network, or the folder of a result.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="Where it goes; - is stdout.")],
    from_: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help=f"{FORMATS} [by suffix].")
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="FORMAT", help="The same, of OUT.")] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Read a network and write it in another format."""
    from ibmap import exchange
    from ibmap._files import refuse_existing

    to_screen = str(target) == "-"
    form = exchange.format_of(target, to)
    if not to_screen:
        refuse_existing(target, overwrite=force)
    network = exchange.read(in_folder(source), from_)
    if to_screen:
        typer.echo(exchange.dumps(network, form), nl=False)
        return
    exchange.write(network, target, form, overwrite=force)
    graph = network.graph
    found = {"out": str(target), "format": form, "variables": graph.n_variables, "edges": graph.n_edges}
    if as_json:
        typer.echo(json.dumps(found, ensure_ascii=False))
    else:
        edges, names = screen.counted(graph.n_edges, "edge"), screen.counted(graph.n_variables, "variable")
        typer.echo(f"wrote {target}: {edges} among {names}, as {exchange.FORMATS[form].title}")


def in_folder(path: Path) -> Path:
    """Return the file that holds the network in the folder of a result; any other path as it is."""
    names = ("result.json", "graph.json")
    return next((path / name for name in names if (path / name).is_file()), path)
