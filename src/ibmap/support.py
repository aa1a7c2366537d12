"""averaged.json: what a bootstrap says about every edge, for those who ask later (the report)."""

from os import PathLike
from typing import Any

from ibmap.errors import DataError
from ibmap.graph import Graph
from ibmap.learners.bootstrap import Bootstrapped
from ibmap.result import DAMAGES, Result, damaged, read_json

FORMAT = "ibmap-bootstrap"
VERSION = 1
FILE = "averaged.json"
KIND = "the support of edges"


def support_content(found: Bootstrapped, threshold: float, seed: int | None = None) -> dict[str, Any]:
    """Return what the file holds: the averaged network, and how often every edge came back."""
    import narwhals as nw

    averaged, learned = found.averaged(threshold), found.learned
    return {
        "format": FORMAT,
        "version": VERSION,
        "variables": list(averaged.names),
        "edges": [list(edge) for edge in averaged.edges],
        "whole": [list(edge) for edge in learned.graph.edges],
        "support": [list(row) for row in nw.from_native(found.support(), eager_only=True).rows()],
        "n_replicates": found.n_replicates,
        "seed": seed,
        "threshold": threshold,
        "n_rows": learned.n_rows,
        "learner": learned.learner,
        "test": learned.test,
    }


def read_support(path: str | PathLike[str], result: Result) -> dict[tuple[str, str], float]:
    """Read how often every edge came back: the file, or the folder that ``ibmap bootstrap --out`` wrote.

    Parameters
    ----------
    path : path
        averaged.json, or its folder.
    result : Result
        The network that the support is about; support of another table or learner is refused.

    Returns
    -------
    dict
        From (x, y) to the share of replicates with that edge; x stands before y in the graph of the result.
        A pair that is missing is an edge of no replicate.
    """
    file, found = read_json(path, FORMAT, VERSION, kind=KIND, name=FILE, verb="bootstrap")
    try:
        whole = Graph(found["variables"], [(x, y) for x, y in found["whole"]])
        shares = [_checked(whole, *row[:3]) for row in found["support"]]
        said = {name: found[name] for name in ("n_rows", "learner", "test")}
    except DAMAGES as error:
        raise damaged(file, error) from None
    if why := _misfit(said, whole, result):
        raise DataError(f"{str(file)!r} is {KIND} of another table or learner: {why}")
    place = result.learned.graph.index
    return {(x, y) if place(x) < place(y) else (y, x): share for x, y, share in shares}


def _checked(graph: Graph, x: Any, y: Any, share: Any) -> tuple[str, str, float]:
    """Return a row of the file if it makes sense."""
    if graph.index(x) == graph.index(y) or not 0 <= share <= 1:
        raise DataError(f"{x!r} and {y!r} cannot have the support {share!r}")
    return x, y, float(share)


def _misfit(said: dict[str, Any], whole: Graph, result: Result) -> str:
    """Say what is different; nothing if the support and the result belong together."""
    learned = result.learned
    for name, there in said.items():
        if there != (here := getattr(learned, name)):
            return f"{name} is {there!r} there and {here!r} in the result"
    if set(whole.names) != set(learned.graph.names):
        return "the variables have other names"
    return "" if whole == learned.graph else "its network of the whole table has other edges"
