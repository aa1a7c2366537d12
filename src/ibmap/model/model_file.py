"""model.json: a network with its levels, its bins and where it comes from, for those who ask later."""

import hashlib
import json
import math
from collections.abc import Hashable
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ibmap._files import read_whole, write_whole
from ibmap._folders import settle
from ibmap.errors import DataError, IbmapError, RequestError
from ibmap.graph import Graph
from ibmap.model import uai
from ibmap.model.fitting import FittedBy
from ibmap.model.markov_network import MarkovNetwork
from ibmap.model.mixed_network import MixedNetwork
from ibmap.model.scales import Scale

FORMAT, VERSION, NAME = "ibmap-model", 3, "model.json"  # version 1 has no interactions, 2 no numbers
#: what comes of a damaged file
DAMAGES = (IbmapError, LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


def model_text(network: MarkovNetwork) -> str:
    """Return the text of a model file."""
    by = network.fitted_by
    content = {
        "variables": list(network.names),
        "levels": [[_plain(label) for label in labels] for labels in network.levels],
        "edges": [list(edge) for edge in network.graph.edges],
        "fields": [_numbers(field) for field in network.fields],
        "factors": [[_numbers(row) for row in table] for table in network.factors],
        "bin_edges": {name: _numbers(edges) for name, edges in network.bin_edges.items()},
        "fitted_by": None if by is None else vars(by),
    }
    if network.missing_values:
        content["missing_values"] = {name: list(values) for name, values in network.missing_values.items()}
    if network.interactions:
        content["interactions"] = [list(names) for names in network.interactions]
        content["tables"] = [_numbers(table.ravel()) for table in network.tables]
    if isinstance(network, MixedNetwork):
        content["scales"] = {name: scale.to_dict() for name, scale in network.scales.items()}
        content["ordinal"], content["straight"] = list(network.ordinal), [list(e) for e in network.straight]
    version = 3 if isinstance(network, MixedNetwork) else 2 if network.interactions else 1
    about = {"format": FORMAT, "version": version, "digest": _digest(content)}
    return json.dumps({**about, **content}, ensure_ascii=False) + "\n"


def model_of(text: str) -> MarkovNetwork:
    """Return the network that the text of a model file holds."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        raise DataError("it is damaged: it is not JSON") from None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise DataError("it is not a model: ibmap fit writes one")
    if not isinstance(found.get("version"), int) or found["version"] > VERSION:
        raise DataError(
            f"it comes from a newer ibmap (format {str(found.get('version'))[:20]}, this one reads "
            f"{VERSION}): update ibmap"
        )
    content = {key: value for key, value in found.items() if key not in ("format", "version", "digest")}
    try:
        if found["digest"] != _digest(content):
            raise DataError("its numbers are not those that were written")
        names = [str(name) for name in content["variables"]]
        edges = {name: tuple(map(float, edges)) for name, edges in content["bin_edges"].items()}
        by, levels = content["fitted_by"], [tuple(labels) for labels in content["levels"]]
        interactions = tuple(tuple(map(str, some)) for some in content.get("interactions", []))
        shapes = [[len(levels[names.index(name)]) for name in some] for some in interactions]
        tables = zip(content.get("tables", []), shapes, strict=True)
        kind: type[MarkovNetwork] = MarkovNetwork
        more: dict[str, Any] = {}
        if found["version"] >= 3:
            scales = {name: Scale.from_dict(scale) for name, scale in content["scales"].items()}
            kind, more = MixedNetwork, {"scales": scales}
            more |= {"ordinal": content["ordinal"], "straight": content["straight"]}
        return kind(
            Graph(names, [(x, y) for x, y in content["edges"]]),
            tuple(levels),
            tuple(np.array(field, float) for field in content["fields"]),
            tuple(np.array(table, float) for table in content["factors"]),
            bin_edges=edges,
            fitted_by=None if by is None else FittedBy(by["method"], by["n_rows"], by["digest"]),
            missing_values={
                name: tuple(values) for name, values in content.get("missing_values", {}).items()
            },
            interactions=interactions,
            tables=tuple(np.array(numbers, float).reshape(shape) for numbers, shape in tables),
            **more,
        )
    except DAMAGES as error:
        raise DataError(f"it is damaged: {error}") from None


def write_model(network: MarkovNetwork, path: str | PathLike[str], *, overwrite: bool = False) -> None:
    """Write a model to a file: JSON, or the UAI format if the name ends in ``.uai``."""
    target = Path(path)
    text = uai.dumps(network) if target.suffix.lower() == ".uai" else model_text(network)
    write_whole(target, text, overwrite=overwrite)


def read_model(path: str | PathLike[str]) -> MarkovNetwork:
    """Read a model: a file that :func:`write_model` wrote, or model.json in a folder."""
    file = Path(path)
    if file.is_dir():
        file = file / NAME
    settle(file.parent)
    try:
        text = read_whole(file).decode("utf-8")
    except FileNotFoundError:
        raise RequestError(f"there is no model {str(file)!r}: ibmap fit RESULT FILE writes one") from None
    except UnicodeDecodeError:
        raise DataError(f"{str(file)!r} is damaged: it is not text") from None
    try:
        return uai.loads(text) if file.suffix.lower() == ".uai" else model_of(text)
    except IbmapError as error:
        raise DataError(f"{str(file)!r} cannot be read: {error}") from None


def _digest(content: dict[str, Any]) -> str:
    said = json.dumps(content, sort_keys=True)
    return hashlib.sha256(said.encode()).hexdigest()


def _plain(label: Hashable) -> Any:
    """Return a label as JSON can hold it: others than numbers and words become text."""
    return label if label is None or isinstance(label, bool | int | float | str) else str(label)


def _numbers(values: Any) -> list[float | str]:
    """Return numbers as JSON can hold them; it knows no infinity, so that becomes a word."""
    found = [float(value) for value in values]
    return [value if math.isfinite(value) else str(value) for value in found]
