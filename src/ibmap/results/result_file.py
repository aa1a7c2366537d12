"""result.json: all that is known after learning, for those who ask later (``ibmap explain``, the report)."""

import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ibmap import __version__
from ibmap._checks import file_path
from ibmap._files import read_whole
from ibmap._folders import settle
from ibmap.engines import Engine, Questions, Source, as_engine, ask
from ibmap.engines.model import DIRECTED
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.exchange.json_text import content, network_from
from ibmap.exchange.network import POSTERIORS, Network, as_network
from ibmap.graph import Graph
from ibmap.model.dependent_effects import Dependence
from ibmap.model.effects import effects_of
from ibmap.results.edges import EdgeTable
from ibmap.results.explain import LEVELS
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Provenance

FORMAT = "ibmap-result"
VERSION = 2
#: what comes of a damaged file
DAMAGES = (IbmapError, LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)
NEAR_MISSES = 2000  #: pairs without an edge that are kept


@dataclass(frozen=True)
class Result:
    """What a result file holds.

    Attributes
    ----------
    learned : Learned
        The network, its history and provenance; without the matrix of pair scores.
    content : dict
        Everything, as it stands in the file: near_misses (the closest ones; n_undecided tells how many of all
        pairs without an edge are undecided, n_against against how many there is strong evidence), levels,
        counts, data, provenance, made_with, and perhaps required and forbidden, which older files do not
        have; arcs, if there is a directed graph.
    """

    learned: Learned
    content: dict[str, Any] = field(repr=False)

    @property
    def network(self) -> Network:
        """The graph with posteriors on its edges."""
        return as_network(self.learned)


def result_content(
    learned: Learned, data: Source, source: dict[str, Any] | None = None, *, engine: Any = None
) -> dict[str, Any]:
    """Return what a result file holds.

    ``data`` is the table that was learned from, or the engine that holds it, which knows how it was read;
    ``source`` says where it comes from.
    """
    counting = as_engine(data, engine)
    schema = counting.schema
    about = {"path": None, "missing": "error", "continuous": None}
    about |= dict.fromkeys(("discretize", "bins", "drop", "only"))
    about |= {"digest": schema.digest, **(source or {}), **schema.reading}
    if about["path"] is not None:
        about["path"] = None if str(about["path"]) == "-" else str(Path(about["path"]).resolve())
    return {
        "format": FORMAT,
        "version": VERSION,
        **learned.to_dict(),
        **content(as_network(learned)),
        "n_rows": learned.n_rows,
        "data": about,
        "provenance": learned.provenance.to_dict(schema.names),
        "required": [list(edge) for edge in learned.required],
        "forbidden": [list(edge) for edge in learned.forbidden],
        "made_with": {"ibmap": __version__, "python": platform.python_version(), "numpy": version("numpy")},
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "near_misses": _near_misses(learned),
        "n_undecided": learned.edge_table.n_undecided,
        "n_against": learned.n_against,
        "rivals": None
        if learned.rivals is None
        else [[x, y, [list(one) for one in who]] for (x, y), who in learned.rivals.items()],
        "dependent_effects": _dependences(learned),
        "effect_tables": _effect_tables(learned),
        "view_scores": None if learned.view_scores is None else dict(learned.view_scores),
        "history": [list(step[1:]) for step in learned.history],
        "bin_edges": {name: list(edges) for name, edges in schema.bin_edges.items()},
        "levels": {
            name: [str(level) for level in levels]
            for name, levels in zip(schema.names, schema.levels, strict=True)
            if 0 < len(levels) <= LEVELS
        },
        "ordinal": [name for name, ordered in zip(schema.names, schema.ordinal, strict=True) if ordered],
        "counts": _counts(learned, counting),
    }


def with_present_names(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a table was read by the names that options have now.

    Examples
    --------
    >>> with_present_names({"columns": "ranks", "categorical": ["sex"], "bins": None})
    {'bins': None, 'continuous': 'all', 'numbers': 'ranks', 'nominal': ['sex']}
    """
    found = {name: value for name, value in about.items() if name not in ("columns", "categorical")}
    if about.get("columns") in ("values", "ranks"):
        found |= {"continuous": "all", "numbers": about["columns"]}
    return found | ({"nominal": about["categorical"]} if about.get("categorical") else {})


def result_of_learned(
    learned: Learned, data: Source, source: dict[str, Any] | None = None, *, engine: Any = None
) -> Result:
    """Return the result of what was just learned; its file is ``result_text(result)``."""
    return Result(learned, result_content(learned, data, source, engine=engine))


def result_text(result: Result) -> str:
    """Return the text of a result file."""
    return json.dumps(result.content, ensure_ascii=False, default=str) + "\n"


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
    return result_of_learned(source.described_, source.engine_)


def read_json(
    path: str | PathLike[str], form: str, version: int, *, kind: str, name: str, verb: str
) -> tuple[Path, dict[str, Any]]:
    """Read a file of ours, or that of this name in a folder; other kinds and newer versions are refused."""
    file = file_path(path, "path")
    file = file / name if file.is_dir() else file
    settle(file.parent)
    other = DataError(f"{str(file)!r} is not {kind}: ibmap {verb} --out DIR writes {name}")
    try:
        content = read_whole(file)
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
    """Return the result that a file holds, read as JSON; files of version 1 are read as well."""
    if found["version"] < 2:
        found = {**found, "provenance": _provenance_of_version_1(found)}
    network = network_from(found)
    graph = network.graph
    history = tuple(
        Step(n, str(x), str(y), bool(added), float(gain), float(score))
        for n, (x, y, added, gain, score) in enumerate(found["history"], start=1)
    )
    for key, kind in (("data", dict), ("provenance", dict), ("levels", dict), ("near_misses", list)):
        if not isinstance(found[key], kind):
            raise DataError(f"{key} is not a {kind.__name__}")
    found = {**found, "data": with_present_names(found["data"])}
    _check_fields(found, network)
    learned = Learned(
        graph,
        Provenance.from_dict(found["provenance"], graph.names),
        int(found["n_rows"]),
        int(found["n_tests"]),
        int(found["n_iter"]),
        float(found["seconds"]),
        score=None if found["score"] is None else float(found["score"]),
        history=history,
        required=_edges(found.get("required", []), graph),
        forbidden=_edges(found.get("forbidden", []), graph),
        arcs=_arcs(found["arcs"], graph) if "arcs" in found else None,
        arc_score=_arc_score(found.get("arc_score")),
        view_scores=_view_scores(found.get("view_scores")),
        known_edges=_known_edges(network, found),
        warnings=tuple(str(words) for words in list(found.get("warnings", []))),
        rivals=_rivals(found.get("rivals")),
        copies=network.copies,
        predictability=network.predictability or None,
        effects=effects_of(
            [numbers for _, _, numbers in network.edges()],
            {
                graph.edges.index((str(one["x"]), str(one["y"]))): Dependence.from_dict(one)
                for one in found.get("dependent_effects", [])
            },
        ),
    )
    _ = learned.untested  # a prior that is no number shows here, and not on the screen
    return Result(learned, found)


def _check_fields(found: dict[str, Any], network: Network) -> None:
    """Refuse what would only be noticed when somebody shows it."""
    counts, made_with = found["counts"], found.get("made_with", {})
    if not isinstance(counts, list) or len(counts) != network.graph.n_edges:
        raise DataError("there must be counts for every edge")
    if not all(table is None or _is_table(table) for table in counts):
        raise DataError("counts must be tables of whole numbers")
    tables = found.get("effect_tables", [])
    fitting = [table is None or _fits(table, of) for table, of in zip(tables, counts, strict=bool(tables))]
    if not all(fitting):
        raise DataError("effect_tables must be tables of numbers, like the counts")
    if not all(isinstance(level, str) for levels in found["levels"].values() for level in list(levels)):
        raise DataError("levels must be lists of words")
    if not isinstance(found.get("ordinal", []), list):
        raise DataError("ordinal is not a list")
    for name in ("n_undecided", "n_against"):
        if type(found.get(name) or 0) is not int:
            raise DataError(f"{name} is not a whole number")
    if not isinstance(made_with, dict):
        raise DataError("made_with is not a dict")
    for part in found["provenance"].values():
        if isinstance(part, dict) and not isinstance(part.get("options", {}), dict):
            raise DataError("options are not a dict")
    logs = [numbers[name] for numbers in network.numbers for name in POSTERIORS[1:] if name in numbers]
    if any(value > 1e-6 for value in logs):
        raise DataError("a log posterior is above zero")


def _is_table(table: Any) -> bool:
    return all(type(count) is int and 0 <= count < 1 << 63 for row in table for count in row)


def _fits(table: Any, counts: Any) -> bool:
    """Whether a table has numbers, and as many as there are counts."""
    shape = np.shape(np.array(table, float))
    return (
        counts is not None and shape == np.shape(counts) and bool(np.isfinite(np.array(table, float)).all())
    )


def _provenance_of_version_1(found: dict[str, Any]) -> dict[str, Any]:
    """Return the provenance of a file whose learner is a name with its options in brackets."""
    name, options = str(found["learner"]).partition("(")[0], dict(found.get("learner_options") or {})
    scored, test = found["score"] is not None, {"name": found["test_kind"], "options": found["test_options"]}
    climb = {"name": "climb", "options": {"patience": options.get("patience", 0)}}
    return {
        "learner": {"name": name, "options": options},
        "test": None if name == "mi" else test,
        "score": {"name": "ib", "options": {}} if scored else None,
        "search": climb if scored else None,
    }


def _known_edges(network: Network, found: Mapping[str, Any]) -> EdgeTable:
    """Return the edge table of a file: its edges by falling posterior, and the near misses that it keeps."""
    graph, unknown = network.graph, float("nan")
    logs = np.array(
        [[n.get(name, unknown) for name in POSTERIORS[1:]] for _, _, n in network.edges()], dtype=float
    ).reshape(-1, 2)
    order = np.argsort(-np.nan_to_num(logs.sum(axis=1)), kind="stable")
    listed = found["near_misses"]
    missed = [(graph.index(x), graph.index(y), float(xy), float(yx)) for x, y, _, xy, yx in listed]
    pairs = np.array([row[:2] for row in missed], np.int64).reshape(-1, 2)
    other = np.array([row[2:] for row in missed], float).reshape(-1, 2)
    every = np.concatenate([graph.pairs[order], pairs]), np.concatenate([logs[order], other])
    counts = (found["n_undecided"], found.get("n_against")) if "n_undecided" in found else None
    return EdgeTable(graph.names, every[0], graph.n_edges, every[1], counts)


def _rivals(found: Any) -> dict[tuple[str, str], tuple[tuple[str, str, float], ...]] | None:
    """Return who could stand in for each edge; None if the file does not say."""
    if found is None:
        return None
    return {(str(x), str(y)): tuple((str(a), str(b), float(p)) for a, b, p in who) for x, y, who in found}


def _view_scores(found: Any) -> dict[str, float] | None:
    """Return what the two views are worth; None if the file does not say."""
    return None if found is None else {view: float(found[view]) for view in ("undirected", "directed")}


def _edges(pairs: Any, graph: Graph) -> tuple[tuple[str, str], ...]:
    return Graph(graph.names, [(x, y) for x, y in pairs]).edges


def _arcs(pairs: Any, graph: Graph) -> tuple[tuple[str, str], ...]:
    """Return arcs (parent, child) as a file has them, if they join variables of the graph."""
    arcs = tuple((str(x), str(y)) for x, y in pairs)
    Graph(graph.names, arcs)  # raises if there is no such variable
    return arcs


def _dependences(learned: Learned) -> list[dict[str, Any]]:
    """Return the effects that depend on other variables, with their edges."""
    found = getattr(learned.effects, "dependences", {})
    edges = learned.graph.edges
    return [{"x": edges[e][0], "y": edges[e][1], **one.to_dict()} for e, one in found.items()]


def _effect_tables(learned: Learned) -> list[Any]:
    """Return the log tables of the effects of edges; an odds ratio says those of two binary variables."""
    tables = getattr(learned.effects, "tables", ())
    return [
        np.round(table, 3).tolist() if 2 < max(table.shape) <= LEVELS and table.size else None
        for table in tables
    ]


def _arc_score(name: Any) -> str | None:
    """Return the score of the arcs; None if an older file does not say it."""
    if name not in (None, *DIRECTED):
        raise DataError(f"there is no score of directed graphs {str(name)[:20]!r}")
    return None if name is None else str(name)


def _near_misses(learned: Learned) -> list[list[Any]]:
    """Return x, y, posterior and both log posteriors of the pairs that come closest to an edge."""
    return [
        [x, y, *(v if math.isfinite(v) else str(v) for v in (math.exp((xy + yx) / 2), xy, yx))]
        for x, y, xy, yx in learned.edge_table.first(0, NEAR_MISSES)
    ]


def _counts(learned: Learned, engine: Engine) -> list[Any]:
    """Return the table of counts of every edge; None where there are no levels, or too many to look at."""
    levels, pairs = engine.schema.cardinalities, learned.graph.pairs
    small = np.asarray(((levels[pairs] <= LEVELS) & (levels[pairs] > 0)).all(axis=1))
    none = np.empty(0, np.int64)
    asked = [(i, pairs[small & (pairs[:, 0] == i), 1], none) for i in np.unique(pairs[small, 0]).tolist()]
    tables = ask(engine, Questions.of(asked)) if asked else None
    found = iter(range(len(pairs)))
    return [
        tables.contingency(next(found)) if fits and tables is not None else None for fits in small.tolist()
    ]
