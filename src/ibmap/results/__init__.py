"""After learning: the network, its edges, why they are there, and the files that hold them."""

from ibmap.results.bootstrap import Bootstrapped
from ibmap.results.edges import EdgeTable, edge_table
from ibmap.results.explain import Explanation, View, explain
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Foreign, Provenance
from ibmap.results.result_file import Result, read_result

__all__ = [
    "Bootstrapped",
    "EdgeTable",
    "Explanation",
    "Foreign",
    "Learned",
    "Provenance",
    "Result",
    "Step",
    "View",
    "edge_table",
    "explain",
    "read_result",
]
