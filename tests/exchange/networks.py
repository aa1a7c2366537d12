"""Networks with names that break careless writers, and a strategy that draws them."""

import math

from hypothesis import strategies as st

from ibmap import Graph
from ibmap.exchange import Network
from ibmap.exchange.network import POSTERIORS

NASTY = [
    'say "hi"',
    "it's",
    "a,b",
    "a;b\tc",
    "<script>alert(1)</script>",
    "&amp; &lt; &#13; &",
    "back\\slash\\",
    '\\n \\N \\"',
    "two\nlines",
    "dos\r\nlines\r",
    "שלום עולם",
    "👩‍👩‍👧 emoji",
    "x" * 500,
    "",
    " spaces ",
    "graph",
    "n1",
    "n0",
    "x",
    "y",
    "1e5",
    "{[]}--->",
    "# comment",
    "/* c */ // d",
    "\u2028\x85\xa0",
    "é",
    "e\u0301",
]
XML_SAFE = st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]) | st.sampled_from("\n\r\t")


@st.composite
def networks(draw, names=None, numbers=True):
    one = st.text(XML_SAFE, max_size=8) | st.sampled_from(NASTY) if names is None else names
    labels = draw(st.lists(one, unique=True, max_size=7))
    pairs = [(x, y) for i, x in enumerate(labels) for y in labels[i + 1 :]]
    edges = [pair for pair in pairs if draw(st.booleans())]
    graph = Graph(labels, edges)
    if not (numbers and draw(st.booleans())):
        return Network(graph)
    log_p = st.floats(max_value=0, allow_nan=False)
    values = [(draw(log_p), draw(log_p)) for _ in edges]
    rows = [(math.exp((a + b) / 2), a, b) for a, b in values]
    return Network(graph, tuple(dict(zip(POSTERIORS, row, strict=True)) for row in rows))
