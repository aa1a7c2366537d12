"""Adjacency CSV: names along the top and down the side, 0 and 1 between; no other numbers."""

import csv
import io

import numpy as np

from ibmap.errors import RequestError
from ibmap.exchange.edges import rows_of
from ibmap.exchange.network import Network
from ibmap.graph import Graph


def dumps(network: Network) -> str:
    """Return the matrix, every cell in quotes."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    names = network.graph.names
    writer.writerow(["", *names])
    for name, row in zip(names, network.graph.to_numpy(), strict=True):
        writer.writerow([name, *row.tolist()])
    return out.getvalue()


def loads(text: str) -> Network:
    """Read a matrix."""
    rows = rows_of(text)
    if not rows or rows[0][0] != "":
        raise RequestError("the first line must hold an empty cell and the names of the variables")
    names = rows[0][1:]
    if [row[0] for row in rows[1:]] != names:
        raise RequestError("the first column must hold the same names as the first line")
    for row in rows[1:]:
        if len(row) != len(rows[0]):
            raise RequestError(f"the row of {row[0][:40]!r} has {len(row)} cells, the first {len(rows[0])}")
        if wrong := [cell for cell in row[1:] if cell not in ("0", "1")]:
            raise RequestError(f"the row of {row[0][:40]!r} holds {wrong[0][:40]!r}: expected 0 or 1")
    matrix = np.array([row[1:] for row in rows[1:]], dtype="U1") == "1"
    return Network(Graph.from_adjacency(matrix.reshape(len(names), len(names)), names))


def looks_like(text: str) -> bool:
    """Whether a CSV text is a matrix and not a list of edges: its first cell is empty."""
    return text.startswith((",", '"",')) or text.split("\n", 1)[0].strip() == '""'
