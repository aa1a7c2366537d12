"""What stands at the doors of Graph: names to positions, matrices, JSON and frames, checked once."""

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ibmap import _checks
from ibmap._text import in_short
from ibmap.errors import RequestError, UnknownVariableError


def numbered(names: Iterable[str]) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the names as a tuple, and the position of each; they must be strings, each named once."""
    labels = tuple(names if isinstance(names, str) else _checks.names_in(names, "names"))
    for name in labels:
        if not isinstance(name, str):
            raise RequestError(f"names of variables must be strings: got {name!r}")
    index = {name: i for i, name in enumerate(labels)}
    if len(index) < len(labels):
        twice = next(name for i, name in enumerate(labels) if index[name] != i)
        raise RequestError(f"variable {twice!r} is named twice")
    return labels, index


def position(index: Mapping[str, int], name: str) -> int:
    """Return the position of ``name``, or raise with the nearest known name as advice.

    Examples
    --------
    >>> position({"diagnosis": 0}, "diagnosys")
    Traceback (most recent call last):
    ibmap.errors.UnknownVariableError: unknown variable 'diagnosys'; did you mean 'diagnosis'?
    """
    try:
        return index[name]
    except (KeyError, TypeError):
        near = get_close_matches(str(name), index, n=1)
        advice = f"; did you mean {near[0]!r}?" if near else ""
        raise UnknownVariableError(f"unknown variable {in_short(name)}{advice}") from None


def pair_of(index: Mapping[str, int], edge: Iterable[str]) -> tuple[int, int]:
    """Return the positions of the two ends of an edge."""
    ends = tuple(edge) if isinstance(edge, Iterable) and not isinstance(edge, str) else ()
    if len(ends) != 2:
        raise RequestError(f"an edge is a pair of names: got {in_short(edge)}")
    return position(index, ends[0]), position(index, ends[1])


def checked_pairs(pairs: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return pairs of positions below ``n`` as a new array of shape (edges, 2)."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.int64)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise RequestError("pairs must be an integer array with two columns")
    if array.min() < 0 or array.max() >= n:
        raise RequestError(f"pairs must hold positions below {n}: found {array.min()} to {array.max()}")
    return array.astype(np.int64)


def pairs_of_adjacency(
    adjacency: ArrayLike, names: Iterable[str] | None
) -> tuple[NDArray[np.int64], Sequence[str]]:
    """Return the pairs (i, j), i <= j, of a symmetric matrix of 0 and 1, and the names of its variables."""
    matrix = np.asarray(adjacency)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise RequestError(f"an adjacency matrix must be square, not of shape {matrix.shape}")
    joined = np.ascontiguousarray(matrix if matrix.dtype == np.bool_ else matrix != 0)
    keys = np.flatnonzero(joined)  # both directions, sorted: cheap on a sparse matrix of any size
    pairs = np.stack(np.divmod(keys, max(len(matrix), 1)), axis=1)
    if not np.array_equal(matrix[pairs[:, 0], pairs[:, 1]], np.ones(len(pairs))):
        raise RequestError("an adjacency matrix must hold nothing but 0 and 1")
    if not np.array_equal(pairs[np.lexsort((pairs[:, 0], pairs[:, 1]))], pairs[:, ::-1]):
        raise RequestError("an adjacency matrix must be symmetric")
    labels = [f"x{i}" for i in range(len(matrix))] if names is None else list(numbered(names)[0])
    if len(labels) != len(matrix):
        raise RequestError(f"{len(labels)} names given for {len(matrix)} variables")
    return pairs[pairs[:, 0] <= pairs[:, 1]], labels


def compressed(pairs: NDArray[np.int64], names: Sequence[str]) -> tuple[NDArray[np.int64], ...]:
    """Return sorted unique pairs (i, j), i < j, and all neighbours as offsets and positions, read-only."""
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if loops.size:
        raise RequestError(f"variable {names[pairs[loops[0], 0]]!r} cannot have an edge to itself")
    n = max(len(names), 1)
    keys = np.minimum(pairs[:, 0], pairs[:, 1]) * n + np.maximum(pairs[:, 0], pairs[:, 1])
    if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
        keys = np.unique(keys)
    i, j = np.divmod(keys, n)
    both = np.concatenate([keys, j * n + i])
    both.sort()
    source, neighbours = np.divmod(both, n)
    offsets = np.zeros(len(names) + 1, np.int64)
    np.cumsum(np.bincount(source, minlength=len(names)), out=offsets[1:])
    arrays = (np.stack([i, j], axis=1), offsets, neighbours)
    for array in arrays:
        array.flags.writeable = False
    return arrays


def positions(where: Iterable[int], n: int, name: str) -> list[int]:
    """Return positions of variables, if they are below ``n``."""
    found = list(where) if isinstance(where, Iterable) else [where]
    for i in found:
        if not _checks.is_whole(i) or not 0 <= i < n:
            raise RequestError(
                f"{name} must be positions of variables, from 0 to {n - 1}, not {in_short(where)}"
            )
    return [int(i) for i in found]


def reached(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int64], sources: Iterable[int], blocked: Iterable[int]
) -> NDArray[np.bool_]:
    """Mark what a walk from ``sources`` meets when it may not enter ``blocked``."""
    seen = bytearray(len(offsets) - 1)
    for i in positions(blocked, len(seen), "blocked"):
        seen[i] = 2
    stack = positions(sources, len(seen), "sources")
    for i in stack:
        seen[i] = 1
    while stack:
        i = stack.pop()
        for j in neighbours[offsets[i] : offsets[i + 1]].tolist():
            if not seen[j]:
                seen[j] = 1
                stack.append(j)
    return np.equal(np.frombuffer(seen, dtype=np.uint8), 1, dtype=np.bool_)


def parts_of_json(source: str | bytes | Mapping[str, Any]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the variables and edges that a JSON text, or the same as a dict, holds."""
    try:
        content = source if isinstance(source, Mapping) else json.loads(source)
        names, edges = content["variables"], content["edges"]
    except (ValueError, TypeError, KeyError, RecursionError):
        names = edges = None
    if not isinstance(names, list | tuple) or not isinstance(edges, list | tuple):
        raise RequestError('not a graph in JSON: expected {"variables": [...], "edges": [[x, y], ...]}')
    return list(names), list(edges)


def frame_of_edges(edges: Sequence[tuple[str, str]], backend: str | None) -> Any:
    """Return the edges as a native frame with text columns x and y."""
    if backend is not None:
        _checks.word(backend, "backend", ("polars", "pandas", "pyarrow"))
    import narwhals as nw

    kind = cast(Literal["polars", "pandas", "pyarrow"], backend or "polars")
    columns = {"x": [x for x, _ in edges], "y": [y for _, y in edges]}
    return nw.from_dict(columns, {"x": nw.String(), "y": nw.String()}, backend=kind).to_native()
