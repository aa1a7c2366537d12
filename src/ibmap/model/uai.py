"""The UAI format for Markov networks: sizes and tables, no names (variables are numbered)."""

from collections.abc import Hashable, Sequence

from ibmap.errors import RequestError
from ibmap.model.markov_network import MarkovNetwork
from ibmap.model.tables import Table, network_of_tables, weights_of

KINDS = ("MARKOV", "BAYES")  #: both are products of tables


def dumps(network: MarkovNetwork) -> str:
    """Return the text of a network; names and labels are lost, their order stays.

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> coin = MarkovNetwork(Graph(["coin"]), (("heads", "tails"),), ([0.0, 0.0],), ())
    >>> print(dumps(coin), end="")
    MARKOV
    1
    2
    1
    1 0
    <BLANKLINE>
    2
    1.0 1.0
    """
    tables = list(weights_of(network))
    lines = ["MARKOV", str(len(network.names)), " ".join(str(len(labels)) for labels in network.levels)]
    lines += [str(len(tables)), *(" ".join(map(str, [len(one), *one])) for one, _ in tables)]
    for _, weights in tables:
        lines += ["", str(weights.size)]
        lines += [" ".join(map(repr, row)) for row in weights.reshape(-1, weights.shape[-1]).tolist()]
    return "\n".join(lines) + "\n"


def loads(
    text: str, names: Sequence[str] | None = None, levels: Sequence[tuple[Hashable, ...]] | None = None
) -> MarkovNetwork:
    """Return the network that a text holds; without names, variables are x0, x1, ... and levels 0, 1, ...

    Examples
    --------
    >>> loads("MARKOV 2  2 2  1  2 0 1  4  3 1 1 3").query("x0", given={"x1": 1})[1].__round__(2)
    0.75
    """
    words = _Words(text)
    kind = words.take(1)[0]
    if kind.upper() not in KINDS:
        raise RequestError(f"a UAI file begins with MARKOV, not {kind[:20]!r}")
    n = words.whole(1)[0]
    sizes = words.whole(n)
    if sum(sizes) > len(words):  # every level of every variable has an entry in some table
        raise RequestError("the UAI file is damaged: its variables have more levels than it has words")
    scopes = [words.whole(words.whole(1)[0]) for _ in range(words.whole(1)[0])]
    if any(v >= n for scope in scopes for v in scope) or min(sizes, default=1) < 1:
        raise RequestError("a table names a variable that is not there, or a variable has no level")
    tables: list[Table] = [(scope, words.numbers(words.whole(1)[0])) for scope in scopes]
    if any(len(set(scope)) < len(scope) for scope in scopes):
        raise RequestError("a table names a variable twice")
    labels = [tuple(range(size)) for size in sizes] if levels is None else list(levels)
    if [len(one) for one in labels] != sizes or (names is not None and len(names) != n):
        raise RequestError("names and levels do not fit the sizes in the file")
    return network_of_tables([f"x{i}" for i in range(n)] if names is None else names, labels, tables)


class _Words:
    """The words of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self._words, self._at = text.split(), 0

    def __len__(self) -> int:
        return len(self._words)

    def take(self, count: int) -> list[str]:
        """Return the next words."""
        found = self._words[self._at : self._at + count]
        if len(found) < count:
            raise RequestError("the UAI file is damaged: it ends too early")
        self._at += count
        return found

    def whole(self, count: int) -> list[int]:
        """Return the next words as whole numbers."""
        found = self.take(count)
        if not all(word.isdecimal() and len(word) < 10 for word in found):
            raise RequestError(f"the UAI file is damaged: a whole number was expected near {found[:3]}")
        return [int(word) for word in found]

    def numbers(self, count: int) -> list[float]:
        """Return the next words as numbers."""
        found = self.take(count)
        try:
            return [float(word) for word in found]
        except ValueError:
            raise RequestError("the UAI file is damaged: a table holds what is not a number") from None
