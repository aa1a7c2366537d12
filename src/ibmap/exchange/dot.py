"""DOT, as Graphviz draws it: nodes are n0, n1, ... with the names as labels, posteriors are attributes."""

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise

from ibmap.errors import RequestError
from ibmap.exchange.network import Network, Numbers, network_of

_TOKEN = re.compile(
    r"""\s+|//[^\n]*|/\*.*?\*/|^\#[^\n]*            # nothing to see
    |"(?P<quoted>(?:[^"\\]|\\.)*)"
    |(?P<word>[A-Za-z_\x80-\U0010ffff][\w\x80-\U0010ffff]*|-?(?:\.\d+|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?))
    |(?P<sign>--|->|[\[\]{}=;,:])""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_ESCAPES = {"n": "\n", "l": "\n", "r": "\n"}
Token = tuple[str, str]  #: kind ("quoted", "word", "sign") and text


def dumps(network: Network) -> str:
    """Return DOT text."""
    graph = network.graph
    lines = ["graph {"]
    lines += [f"  n{i} [label={_label(name)}];" for i, name in enumerate(graph.names)]
    for (i, j), (_, _, numbers) in zip(graph.pairs.tolist(), network.edges(), strict=True):
        said = ", ".join(f'{_label(name)}="{value!r}"' for name, value in numbers.items())
        lines.append(f"  n{i} -- n{j}{f' [{said}]' if said else ''};")
    return "\n".join([*lines, "}"]) + "\n"


def _label(name: str) -> str:
    r"""Quote a name: Graphviz knows \\, \", \n, and entities such as &amp; in labels."""
    text = name.replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"')
    return '"' + text.replace("\n", "\\n").replace("\r", "&#13;") + '"'


def _plain(label: str) -> str:
    """Return the text that Graphviz would show for a label."""
    plain = re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), label, flags=re.DOTALL)
    return unescape(plain.replace("&#13;", "\r"))


def loads(text: str) -> Network:
    """Read DOT text: an undirected graph without subgraphs; labels are the names, if they differ."""
    tokens = _Tokens(text)
    if tokens.word() == "strict":
        tokens.take()
    if tokens.word() != "graph":
        raise RequestError("it is directed" if tokens.word() == "digraph" else "it must begin with 'graph {'")
    tokens.take()
    if tokens.look()[0] != "sign":
        tokens.take()
    tokens.expect("{")
    labels: dict[str, str] = {}
    edges: list[tuple[str, str, Numbers]] = []
    while tokens.look() != ("sign", "}"):
        _statement(tokens, labels, edges)
    found = [_plain(label) for label in labels.values()]
    names = dict(zip(labels, found if len(set(found)) == len(found) else labels, strict=True))
    return network_of(names.values(), [(names[x], names[y], numbers) for x, y, numbers in edges])


def _statement(tokens: "_Tokens", labels: dict[str, str], edges: list[tuple[str, str, Numbers]]) -> None:
    """Read one statement: a node, a chain of edges, or defaults that say nothing about the graph."""
    if tokens.look() == ("sign", ";"):
        tokens.take()
        return
    is_default = tokens.word() in ("graph", "node", "edge")
    ends = [tokens.name()]
    if tokens.look() == ("sign", "="):
        tokens.take()
        tokens.name()
        return
    while tokens.look()[1] in ("--", "->") and tokens.look()[0] == "sign":
        if tokens.take() == ("sign", "->"):
            raise RequestError("it is directed")
        ends.append(tokens.name())
    options = tokens.options()
    if is_default:
        return
    for end in ends:
        labels.setdefault(end, end)
    if len(ends) == 1 and "label" in options:
        labels[ends[0]] = options["label"]
    numbers = {_plain(key): value for key, text in options.items() if (value := _number(text)) is not None}
    edges += [(x, y, numbers) for x, y in pairwise(ends)]


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


class _Tokens:
    """The tokens of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_split(text))
        self._at = 0

    def look(self) -> Token:
        if self._at == len(self._tokens):
            raise RequestError("the text ends too early")
        return self._tokens[self._at]

    def word(self) -> str:
        """Return the next token in lower case if it is a keyword, perhaps."""
        kind, text = self.look()
        return text.lower() if kind == "word" else ""

    def take(self) -> Token:
        token = self.look()
        self._at += 1
        return token

    def expect(self, sign: str) -> None:
        if (token := self.take()) != ("sign", sign):
            raise RequestError(f"expected {sign!r}, found {token[1][:40]!r}")

    def name(self) -> str:
        if self.look()[0] == "sign" or self.word() == "subgraph":
            raise RequestError(f"expected a node, found {self.look()[1]!r}; subgraphs and ports are not read")
        return self.take()[1]

    def options(self) -> dict[str, str]:
        """Return what stands in square brackets."""
        found: dict[str, str] = {}
        while self.look() == ("sign", "["):
            self.take()
            while self.look() != ("sign", "]"):
                key = self.name()
                self.expect("=")
                found[key] = self.name()
                if self.look() in (("sign", ","), ("sign", ";")):
                    self.take()
            self.take()
        return found


def _split(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            raise RequestError(f"cannot read {text[at : at + 20]!r}")
        at = found.end()
        if found.lastgroup is not None:
            yield found.lastgroup, found[found.lastgroup]
