"""Networks in and out: files in many formats, and the objects of other libraries.

>>> from ibmap import Graph, exchange
>>> print(exchange.dumps(Graph("ab", [("a", "b")]), "edges"), end="")
x,y
a,b
"""

from ibmap.exchange.formats import FORMATS, dumps, format_of, loads, read, write
from ibmap.exchange.groups import communities, strengths, with_groups
from ibmap.exchange.network import Network, as_network
from ibmap.exchange.objects import (
    from_igraph,
    from_networkx,
    from_pgmpy,
    to_igraph,
    to_networkx,
    to_pgmpy,
)

__all__ = [
    "FORMATS",
    "Network",
    "as_network",
    "communities",
    "dumps",
    "format_of",
    "from_igraph",
    "from_networkx",
    "from_pgmpy",
    "loads",
    "read",
    "strengths",
    "to_igraph",
    "to_networkx",
    "to_pgmpy",
    "with_groups",
    "write",
]
