"""Edge list: CSV with columns x, y and perhaps numbers; a row with one cell is a variable without edges."""

import csv
import io

from ibmap.errors import RequestError
from ibmap.exchange.network import Network, network_of, number

IN_GRAPH = "in_graph"  #: the column by which ``edges.csv`` tells edges from near misses


def dumps(network: Network) -> str:
    """Return the edges, then the variables that have none."""
    out = io.StringIO()
    plain, quoting = (
        csv.writer(out, quoting=quotes, lineterminator="\n") for quotes in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL)
    )
    columns = network.columns
    rows = [["x", "y", *columns]]
    joined: set[str] = set()
    for x, y, numbers in network.edges():
        joined |= {x, y}
        cells = [repr(numbers[name]) if name in numbers else "" for name in columns]
        rows.append([x, y, *cells])
    rows += [[name] for name in network.graph.names if name not in joined]
    for row in rows:  # left to itself, the csv module forgets the quotes around a carriage return
        (quoting if "\r" in "".join(row) else plain).writerow(row)
    return out.getvalue()


def loads(text: str) -> Network:
    """Read an edge list, or ``edges.csv`` of ``ibmap learn``, whose near misses are no edges."""
    rows = rows_of(text)
    if not rows or rows[0][:2] != ["x", "y"]:
        raise RequestError("the first line must name the columns x, y and perhaps numbers")
    header = rows[0]
    names: dict[str, None] = {}
    edges = []
    for line, row in enumerate(rows[1:], start=2):
        if len(row) not in (1, len(header)):
            raise RequestError(f"row {line} has {len(row)} cells, the first has {len(header)}")
        names.update(dict.fromkeys(row[:2]))
        if len(row) > 1 and (found := _numbers(header, row, line)) is not None:
            edges.append((row[0], row[1], found))
    return network_of(names, edges)


def rows_of(text: str) -> list[list[str]]:
    """Return the rows of CSV text, blank lines aside."""
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise RequestError(f"the text is damaged ({error})") from None


def _numbers(header: list[str], row: list[str], line: int) -> dict[str, float] | None:
    """Return the numbers of an edge; None for a pair that is no edge."""
    cells = dict(zip(header[2:], row[2:], strict=True))
    if cells.pop(IN_GRAPH, "true").lower() in ("false", "0"):
        return None
    return {name: number(cell, f"row {line}") for name, cell in cells.items() if cell}
