"""result.json: all that is known after learning, for those who ask later (``ibmap explain``, the report)."""

import json
import math
import platform
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ibmap import __version__
from ibmap.data import CategoricalData
from ibmap.engines import LocalCounts
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.exchange.json_text import content, network_from
from ibmap.exchange.network import Network, as_network
from ibmap.graph import Graph
from ibmap.independence import as_test
from ibmap.independence.registry import TESTS
from ibmap.results.explanation import LEVELS, contingency
from ibmap.results.learned import Learned, Step

FORMAT = "ibmap-result"
VERSION = 1
DAMAGES = (IbmapError, LookupError, TypeError, ValueError, AttributeError)  #: what comes of a damaged file
NEAR_MISSES = 2000  #: pairs without an edge that are kept


@dataclass(frozen=True)
class Result:
    """What a result file holds.

    Attributes
    ----------
    learned : Learned
        The network, its history and provenance; without the matrix of pair scores.
    network : Network
        The graph with posteriors on its edges.
    content : dict
        Everything, as it stands in the file: near_misses, levels, counts, data, test_options, made_with, and
        perhaps learner_options, required and forbidden, which older files do not have.
    """

    learned: Learned
    network: Network
    content: dict[str, Any] = field(repr=False)

    def test(self) -> Any:
        """Return the test that was used, with its options; None for tests that a file cannot describe."""
        kind, options = self.content["test_kind"], dict(self.content["test_options"])
        if kind not in TESTS:
            return None
        if isinstance(options.get("prior"), dict):
            options["prior"] = _matrix(options["prior"], self.learned.graph.names)
        return TESTS[kind](**options)


def result_text(
    learned: Learned,
    data: CategoricalData,
    test: object = None,
    source: dict[str, Any] | None = None,
    options: dict[str, Any] | None = None,
) -> str:
    """Return the text of a result file.

    ``source`` is the path of the table and how it was read, ``options`` what else the learner was told.
    """
    about = {"path": None, "missing": "error", **dict.fromkeys(("discretize", "bins", "drop", "only"))}
    about |= {"digest": data.digest(), **(source or {})}
    if about["path"] is not None:
        about["path"] = None if str(about["path"]) == "-" else str(Path(about["path"]).resolve())
    kind, test_options = described(test, data.names)
    found: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        **learned.to_dict(),
        **content(as_network(learned)),
        "n_rows": learned.n_rows,
        "data": about,
        "test_kind": kind,
        "test_options": test_options,
        "learner_options": options or {},
        "required": [list(edge) for edge in learned.required],
        "forbidden": [list(edge) for edge in learned.forbidden],
        "made_with": {"ibmap": __version__, "python": platform.python_version(), "numpy": version("numpy")},
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "near_misses": _near_misses(learned),
        "history": [list(step[1:]) for step in learned.history],
        "levels": {
            name: [str(level) for level in levels]
            for name, levels in zip(data.names, data.levels, strict=True)
            if len(levels) <= LEVELS
        },
        "counts": _counts(learned, data),
    }
    return json.dumps(found, ensure_ascii=False, default=str) + "\n"


def read_result(path: str | PathLike[str]) -> Result:
    """Read a result: the file, or the folder that ``ibmap learn --out`` wrote."""
    file, found = read_json(path, FORMAT, VERSION, kind="a result", name="result.json", verb="learn")
    try:
        return result_of(found)
    except DAMAGES as error:
        raise damaged(file, error) from None


def as_result(source: Any) -> Result:
    """Return the result that is meant: a Result, a path, or a fitted learner, whose table is at hand."""
    if isinstance(source, Result):
        return source
    if isinstance(source, str | PathLike):
        return read_result(source)
    if not hasattr(source, "learned_"):
        raise RequestError(f"expected a fitted learner, a result or its folder, not {type(source).__name__}")
    how = {name: getattr(source, name, None) for name in ("missing", "discretize", "bins")}
    text = result_text(source.learned_, source.data_, getattr(source, "test", None), how)
    return result_of(json.loads(text))


def read_json(
    path: str | PathLike[str], form: str, version: int, *, kind: str, name: str, verb: str
) -> tuple[Path, dict[str, Any]]:
    """Read a file of ours, or that of this name in a folder; other kinds and newer versions are refused."""
    file = Path(path)
    file = file / name if file.is_dir() else file
    other = DataError(f"{str(file)!r} is not {kind}: ibmap {verb} --out DIR writes {name}")
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        raise RequestError(f"there is no file {str(file)!r}: ibmap {verb} --out DIR writes one") from None
    if not content.lstrip().startswith(b"{"):
        raise other
    try:
        found = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError):
        raise DataError(f"{str(file)!r} is damaged: it is not JSON") from None
    if found.get("format") != form:
        raise other
    if not isinstance(found.get("version"), int) or found["version"] > version:
        raise DataError(
            f"{str(file)!r} comes from a newer ibmap (format {str(found.get('version'))[:20]}, this one "
            f"reads {version}): update ibmap"
        )
    return file, found


def damaged(file: Path, error: Exception) -> DataError:
    """Return what to say about a file that does not hold what it should."""
    return DataError(f"{str(file)!r} is damaged: {type(error).__name__}: {error}")


def result_of(found: dict[str, Any]) -> Result:
    """Return the result that a file holds, read as JSON."""
    network = network_from(found)
    history = tuple(
        Step(n, str(x), str(y), bool(added), float(gain), float(score))
        for n, (x, y, added, gain, score) in enumerate(found["history"], start=1)
    )
    learned = Learned(
        network.graph,
        str(found["learner"]),
        str(found["test"]),
        int(found["n_rows"]),
        int(found["n_tests"]),
        int(found["n_iter"]),
        float(found["seconds"]),
        score=math.nan if found["score"] is None else float(found["score"]),
        history=history,
        required=_edges(found.get("required", []), network.graph),
        forbidden=_edges(found.get("forbidden", []), network.graph),
    )
    for key, kind in (("data", dict), ("test_options", dict), ("levels", dict), ("near_misses", list)):
        if not isinstance(found[key], kind):
            raise DataError(f"{key} is not a {kind.__name__}")
    if len(found["counts"]) != network.graph.n_edges:
        raise DataError("there must be counts for every edge")
    result = Result(learned, network, found)
    result.test()
    return result


def _edges(pairs: Any, graph: Graph) -> tuple[tuple[str, str], ...]:
    return Graph(graph.names, [(x, y) for x, y in pairs]).edges


def described(test: object, names: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    """Return the kind of a test and its options as JSON can hold them.

    Examples
    --------
    >>> described("chi-square", ())
    ('chi-square', {'alpha': 0.05, 'dof': 'adjusted'})
    """
    asked = as_test(test)
    kind = next((name for name, made in TESTS.items() if type(asked) is made), asked.name)
    if kind not in TESTS:
        return kind, {}
    options = dict(vars(asked))
    if np.ndim(options.get("prior", 0)):
        matrix = np.asarray(options["prior"])
        pairs = np.argwhere(np.triu(matrix != 0.5, 1)).tolist()
        listed = [[names[i], names[j], float(matrix[i, j])] for i, j in pairs]
        options["prior"] = {"others": 0.5, "pairs": listed}
    return kind, options


def _matrix(prior: dict[str, Any], names: tuple[str, ...]) -> np.ndarray[Any, Any]:
    index = {name: i for i, name in enumerate(names)}
    matrix = np.full((len(names), len(names)), float(prior["others"]))
    for x, y, p in prior["pairs"]:
        matrix[index[x], index[y]] = matrix[index[y], index[x]] = float(p)
    return matrix


def _near_misses(learned: Learned) -> list[list[Any]]:
    """Return x, y, posterior and both log posteriors of the pairs that come closest to an edge."""
    if learned.pair_scores is None:
        return []
    from ibmap.results.edges import most_credible

    columns = most_credible(learned.graph, learned.pair_scores, NEAR_MISSES)
    rows = zip(*(list(columns[name]) for name in list(columns)[:5]), columns["in_graph"], strict=True)
    return [
        [x, y, *(float(v) if math.isfinite(v) else str(float(v)) for v in values)]
        for x, y, *values, in_graph in rows
        if not in_graph
    ]


def _counts(learned: Learned, data: CategoricalData) -> list[Any]:
    """Return the table of counts of every edge; None where there are too many levels to look at."""
    counts = LocalCounts(data)
    found: list[Any] = []
    for i in range(data.n_variables):
        later = learned.graph.neighbours(i)
        later = later[later > i]
        tables = counts.fixed(i, later, []) if len(later) else None
        for t, j in enumerate(later.tolist()):
            small = max(data.cardinalities[i], data.cardinalities[j]) <= LEVELS
            found.append(contingency(tables, t, data) if small and tables is not None else None)
    return found
