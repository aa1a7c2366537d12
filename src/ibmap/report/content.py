"""What the page shows, as plain data; the page itself decides nothing about networks."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import numpy as np

from ibmap._text import counted, in_seconds
from ibmap.exchange.groups import FOUND, as_groups, strengths
from ibmap.exchange.network import Network, copies_as_one
from ibmap.graph import Graph
from ibmap.model.effects import EdgeEffects, Effects
from ibmap.model.mixed_effects import MixedEffects
from ibmap.results.bootstrap import Support, replicates
from ibmap.results.edges import UNDECIDED
from ibmap.results.learned import Learned
from ibmap.results.result_file import NEAR_MISSES, Result

DRAWN = 300  #: variables beyond which only the neighbourhood of one is drawn
EDGES = 10_000  #: edges that a page carries, the most probable ones
LEAST_SHARE = 0.7  #: of the longer side of a drawing: a shorter one is not stretched to more
LEAST = -1e300  #: stands for the log of zero, which JSON does not know


def page_content(result: Result, support: Support | None = None, groups: Any = None) -> dict[str, Any]:
    """Return everything that the page needs, as JSON can hold it.

    Pairs are lists of columns: ``n_listed`` edges first, then other pairs, each by falling posterior. ``xy``
    is the log posterior of an edge seen from x. Of edges only: ``untested``, ``counts``, ``rivals`` (pairs
    that could stand in), ``strength`` and ``sign``, the numbers that ``effect_numbers`` names, ``effect`` in
    short and in words, ``table`` (the log table of the effect) and ``depends`` (how it depends on others).
    ``predictability`` is the share of each variable that its neighbours explain, None where it is not known.
    ``nodes`` are what is drawn: variables, and copies of one as one.
    """
    graph, known = result.learned.graph, result.learned.predictability or {}
    return {
        "names": list(graph.names),
        "levels": [result.content["levels"].get(name) for name in graph.names],
        "ordinal": [i for i, name in enumerate(graph.names) if name in result.content.get("ordinal", [])],
        "pairs": _pairs(result, support.frequencies if support else {}),
        "n_edges": graph.n_edges,
        "n_listed": min(graph.n_edges, EDGES),
        "undecided": [math.log(bound) for bound in UNDECIDED],
        "degrees": [len(graph.neighbours(i)) for i in range(graph.n_variables)],
        "steps": [
            [graph.index(s.x), graph.index(s.y), s.added, s.gain, s.score] for s in result.learned.history
        ],
        "given": {
            "required": [[graph.index(x), graph.index(y)] for x, y in result.learned.required],
            "forbidden": [[graph.index(x), graph.index(y)] for x, y in result.learned.forbidden],
        },
        "has_support": support is not None,
        "effect_numbers": list(result.learned.effects.columns) if result.learned.effects else [],
        "continuous": is_of_numbers(result),
        "predictability": [known.get(name) for name in graph.names],
        "nodes": _nodes(result.network, groups),
    }


#: how a table was read, as a result has it
READING = (
    *("missing", "discretize", "bins", "drop", "only", "weights", "weights_are", "cluster"),
    *("design_effect", "effective_rows", "nominal", "ordinal", "continuous", "numbers", "missing_values"),
)


def is_of_numbers(result: Result) -> bool:
    """Whether the variables are continuous: they have no levels, and edges no counts."""
    return not result.content["levels"]


def source_name(result: Result) -> str:
    """Return what the table is called; a page that is passed on names no folders."""
    path = result.content["data"].get("path")
    return str(
        result.content["data"].get("name") or (PurePath(str(path)).name if path else "a table in memory")
    )


def header(result: Result, support: Support | None = None) -> list[tuple[str, str]]:
    """Return how it was learned: from what, how, with what, and when."""
    learned, found = result.learned, result.content
    made, made_at = found.get("made_with") or {}, str(found.get("made_at", ""))[:19].replace("T", " ")
    how = {key: _in_words(value) for key in READING if (value := found["data"].get(key)) != "error"}
    lines = [
        ("data", f"{source_name(result)}{_options(how)}"),
        ("size", f"{counted(learned.n_rows, 'row')}, {counted(learned.graph.n_variables, 'variable')}"),
        ("learner", learned.learner),
        *([("posterior", learned.posterior_in_words)] if _is_of_many(learned) else []),
        *([("view", learned.view_in_words)] if learned.view_in_words else []),
        *_parts(found["provenance"]),
        ("work", _work(result)),
        ("seed", _seed(found["data"])),
        ("time", f"{in_seconds(learned.seconds)}, {made_at} UTC"),
        ("versions", ", ".join(f"{name} {number}" for name, number in made.items())),
    ]
    if support:
        seed = "" if support.seed is None else f", seed {support.seed}"
        lines.append(("bootstrap", f"{replicates(support.n_replicates, support.subsample)}{seed}"))
    return lines


def _is_of_many(learned: Learned) -> bool:
    """Whether posteriors come from several networks, which is worth saying."""
    return learned.arcs is not None or learned.provenance.options.get("posterior") == "averaged"


def _seed(data: Mapping[str, Any]) -> str:
    """Return the seed of what was drawn at random: missing values that were imputed."""
    if data.get("missing") != "impute":
        return "none: nothing is drawn at random"
    return f"{data.get('imputation_seed', 0)}, of missing values"


def _in_words(value: Any, at_most: int = 5) -> Any:
    """Return a list, or numbers by name, as they are typed; the first few if there are many."""
    if isinstance(value, dict):
        value = [f"{name}={number}" for name, number in value.items()]
    if not isinstance(value, list):
        return value
    rest = len(value) - at_most
    return ", ".join(map(str, value[:at_most])) + (f" and {rest} more" if rest > 0 else "")


def _parts(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the test, the score and the search, with all their options."""
    found = [(kind, provenance.get(kind)) for kind in ("test", "score", "search")]
    return [(kind, f"{part['name']}{_options(_brief(part['options']))}") for kind, part in found if part]


def _work(result: Result) -> str:
    learned = result.learned
    parts = [counted(learned.n_tests, "test"), counted(learned.n_iter, learned.iterations)]
    return ", ".join(parts + ([] if learned.score is None else [f"score {learned.score:.3f}"]))


def _options(options: Mapping[str, Any]) -> str:
    """Return options in brackets; those that are not set say nothing."""
    told = [
        f"{name.replace('_', ' ')} {f'{value:.3g}' if isinstance(value, float) else value}"
        for name, value in options.items()
        if value is not None and value is not False
    ]
    return f" ({', '.join(told)})" if told else ""


def _brief(options: Mapping[str, Any]) -> dict[str, Any]:
    prior = options.get("prior")
    pairs = f"by pair ({len(prior['pairs'])} given)" if isinstance(prior, dict) else prior
    return {name: pairs if name == "prior" else value for name, value in options.items()}


def _pairs(result: Result, frequencies: Mapping[tuple[str, str], float]) -> dict[str, list[Any]]:
    graph, table = result.learned.graph, result.learned.edge_table
    place = {pair: k for k, pair in enumerate(map(tuple, graph.pairs.tolist()))}
    n_edges, n_missed = min(table.n_edges, EDGES), min(len(table) - table.n_edges, NEAR_MISSES)
    rows = [*range(n_edges), *range(table.n_edges, table.n_edges + n_missed)]
    ends, names, untested = table.pairs[rows].tolist(), graph.names, set(result.learned.untested)
    edges = [place[i, j] for i, j in ends[:n_edges]]
    logs = [[_finite(log) for log in column] for column in table.log_posteriors[rows].T.tolist()]
    return {
        "x": [i for i, _ in ends],
        "y": [j for _, j in ends],
        "xy": logs[0],
        "yx": logs[1],
        "untested": [(names[i], names[j]) in untested for i, j in ends[:n_edges]] if untested else [],
        "counts": [result.content["counts"][e] for e in edges],
        "rivals": [_stand_ins(result, names[i], names[j]) for i, j in ends[:n_edges]],
        "support": [frequencies.get((names[i], names[j]), 0.0) for i, j in ends] if frequencies else [],
        **_effects(result, edges),
    }


def _effects(result: Result, edges: list[int]) -> dict[str, list[Any]]:
    """Return the effects of edges as numbers, in short and in words; nothing if they are not known."""
    found = result.learned.effects
    if found is None:
        return {}
    numbers = [found.numbers(e) for e in edges]
    columns = {name: [_finite(one.get(name, math.nan)) for one in numbers] for name in found.columns}
    columns |= {
        name: [_finite(float(getattr(found, name)[e])) for e in edges] for name in ("strength", "sign")
    }
    tables, depends = result.content.get("effect_tables", []), getattr(found, "dependences", {})
    if isinstance(found, EdgeEffects):  # as a file has them
        found = replace(found, tables=tuple(np.array(table or []) for table in tables))
    return {
        **columns,
        "table": [tables[e] for e in edges] if tables else [],
        "depends": [depends[e].to_dict() if e in depends else None for e in edges],
        "effect": [found.in_short(e) for e in edges],
        "effect_in_words": [_sentence(result, found, e) for e in edges],
    }


def _sentence(result: Result, found: Effects, e: int) -> str:
    """Return the sentence about an edge; it names levels where the result knows them."""
    graph, levels = result.learned.graph, result.content["levels"]
    x, y = (graph.names[i] for i in graph.pairs[e].tolist())
    known = x in levels and y in levels
    if isinstance(found, EdgeEffects) and found.tables and not (known and found.tables[e].size):
        found = replace(found, tables=())
    mixed = isinstance(found, MixedEffects)
    labels = (tuple(levels.get(x, ())), tuple(levels.get(y, ()))) if known or mixed else ((), ())
    return found.in_words(e, (x, y), labels)


def _stand_ins(result: Result, x: str, y: str) -> list[tuple[int, int, float]]:
    """Return the pairs that could as well be adjacent in place of an edge, and how probable each is."""
    index = result.learned.graph.index
    return [(index(stays), index(comes), p) for stays, comes, p in result.learned.stand_ins(x, y)]


def _finite(log_p: float) -> float | None:
    """Return a log that JSON can hold; None if it is not known."""
    return None if math.isnan(log_p) else max(log_p, LEAST)


def _nodes(network: Network, groups: Any) -> dict[str, Any]:
    """Return what is drawn: names, the node of every variable, places, groups and strengths.

    Too many variables have no places and no groups: only the neighbourhood of one of them is drawn.
    """
    merged, names = copies_as_one(network)
    graph = merged.graph
    about = {"names": list(graph.names), "of": [graph.index(names[name]) for name in network.graph.names]}
    if graph.n_variables > DRAWN:
        return {**about, "places": None, "groups": None}
    given = {} if groups is None else as_groups(network, groups)
    found = {names[name]: group for name, group in given.items()} or as_groups(merged, FOUND)
    kinds = sorted(set(filter(None, found.values())), key=lambda name: (len(name), name))
    central = strengths(merged)
    return {
        **about,
        "places": _places(graph),
        "groups": {
            "names": kinds,
            "of": [kinds.index(found[name]) if found[name] else -1 for name in graph.names],
            "strength": [round(float(np.nan_to_num(central[name])), 4) for name in graph.names],
            "given": groups is not None,
        },
    }


def _places(graph: Graph) -> list[list[float]]:
    """Return where each variable stands, in a square of side one that flat drawings do not fill."""
    from ibmap.drawing.layouts import places_of

    places = places_of(graph, "packed", seed=0)
    points = np.array([places[name] for name in graph.names], dtype=float).reshape(-1, 2)
    middle, span = (points.min(axis=0) + points.max(axis=0)) / 2, np.ptp(points, axis=0)
    span = np.maximum(span, LEAST_SHARE * span.max()) if span.max() > 0 else np.ones(2)
    return np.round((points - middle) / span + 0.5, 4).tolist()  # type: ignore[no-any-return]
