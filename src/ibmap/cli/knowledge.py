"""What the user knows already: edges that must be there, or must not, and priors of independence.

``--prior`` is one probability for all pairs, or a CSV file with the columns x, y and prior, one row per pair.
``--knowledge`` is a TOML or a CSV file. A TOML file has up to three lists::

    required = [["smoke", "cough"]]
    forbidden = [["tea", "cough"]]
    prior = [["smoke", "tea", 0.9]]     # probability that the two are independent

A CSV file has the columns x, y and known, which holds "required", "forbidden" or such a probability.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ibmap._files import read_whole
from ibmap.errors import DataError, RequestError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ibmap.data import Schema
    from ibmap.graph import Graph

Pair = tuple[int, int]
Statement = str | float  #: "required", "forbidden", or the prior probability of independence
KINDS = ("required", "forbidden", "prior")
PARTS = 16  #: of a dotted key; with thousands, Python's reader of TOML takes gigabytes
_STRING = re.compile(r"""\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'""")
_LONG_KEY = re.compile(r"(?:[\w\"-]+[ \t]*\.[ \t]*){16}")


@dataclass(frozen=True)
class Knowledge:
    """What is known about pairs of variables, by position, x before y."""

    names: tuple[str, ...] = ()
    pairs: dict[Pair, Statement] = field(default_factory=dict)

    def edges(self, kind: str) -> list[tuple[str, str]]:
        """Return the pairs that are "required", or "forbidden"."""
        return [(self.names[i], self.names[j]) for (i, j), said in self.pairs.items() if said == kind]

    def prior(
        self, otherwise: str | None, schema: "Schema", usual: float = 0.5
    ) -> "float | NDArray[np.float64] | None":
        """Return the prior of pairs: by the option --prior, by single statements, else the usual one."""
        known = {pair: p for pair, p in self.pairs.items() if not isinstance(p, str)}
        base = None if otherwise is None else prior_from(otherwise, schema, usual)
        if not known:
            return base
        import numpy as np

        if base is not None and np.ndim(base):
            raise RequestError("--prior is a file and --knowledge holds priors: put them into one file")
        matrix = np.full((schema.n_variables, schema.n_variables), usual if base is None else base)
        for (i, j), p in known.items():
            matrix[i, j] = matrix[j, i] = p
        return matrix


def prior_from(text: str, schema: "Schema", usual: float = 0.5) -> "float | NDArray[np.float64]":
    """Return a number, or a matrix of the pairs in a file with columns x, y, prior; others have ``usual``.

    Examples
    --------
    >>> from ibmap.data import load
    >>> prior_from("0.25", load({"a": [0, 1], "b": [1, 0]}).schema)
    0.25
    """
    try:
        return float(text)
    except ValueError:
        pass
    import numpy as np

    matrix = np.full((schema.n_variables, schema.n_variables), usual)
    said: dict[Pair, float] = {}
    for number, row in enumerate(_prior_rows(Path(text)), start=2):
        i, j = schema.indices((row["x"], row["y"]))
        where = f"{text!r}, line {number}"
        if i == j:
            raise RequestError(f"{where}: a pair needs two different variables")
        p = _probability(row["prior"], where)
        before = said.setdefault((min(i, j), max(i, j)), p)
        if before != p:
            raise RequestError(f"{where}: {row['x']!r} and {row['y']!r} have the prior {before:g} and {p:g}")
        matrix[i, j] = matrix[j, i] = p
    return matrix


def _probability(cell: str, where: str) -> float:
    try:
        p = float(cell)
    except ValueError:
        p = -1.0
    if not 0 < p < 1:
        raise RequestError(f"{where}: {cell!r} is not a probability between 0 and 1")
    return p


def _prior_rows(path: Path) -> list[dict[str, Any]]:
    import csv
    import io

    try:
        text = read_whole(path).decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        columns, rows = list(reader.fieldnames or ()), list(reader)
    except FileNotFoundError:
        raise RequestError(f"--prior takes a probability or a file, and {str(path)!r} is neither") from None
    except DataError:  # it is endless
        raise
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"{str(path)!r} cannot be read: {error}") from None
    if not {"x", "y", "prior"} <= set(columns):
        raise DataError(f"{str(path)!r} must have the columns x, y and prior")
    if any(None in row or None in row.values() for row in rows):
        raise DataError(f"{str(path)!r} has a row with more or fewer than {len(columns)} cells")
    return rows


def read_knowledge(path: Path | None, schema: "Schema") -> Knowledge:
    """Read a knowledge file; contradictions about a pair are an error."""
    if path is None:
        return Knowledge()
    try:
        text = read_whole(path).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise RequestError(f"there is no file {str(path)!r}") from None
    except UnicodeDecodeError:
        raise DataError(f"{str(path)!r} is not text in UTF-8") from None
    except DataError:  # it is endless
        raise
    except ValueError as error:
        raise RequestError(f"{str(path)!r} cannot be read: {error}") from None
    statements = _from_csv(text, path) if path.suffix.lower() == ".csv" else _from_toml(text, path)
    pairs: dict[Pair, Statement] = {}
    for x, y, said in statements:
        pair = _pair(x, y, schema, path)
        if not isinstance(said, str) and not 0 < said < 1:
            raise RequestError(
                f"{str(path)!r}: the prior of {x!r} and {y!r} must lie between 0 and 1: {said}"
            )
        before = pairs.setdefault(pair, said)
        if before != said:
            raise RequestError(f"{str(path)!r}: {x!r} and {y!r} are {_word(before)} and {_word(said)}")
    return Knowledge(schema.names, pairs)


def _pair(x: str, y: str, schema: "Schema", path: Path) -> Pair:
    i, j = schema.indices((x, y))
    if i == j:
        raise RequestError(f"{str(path)!r}: a pair needs two different variables, not {x!r} twice")
    return min(i, j), max(i, j)


def _word(said: Statement) -> str:
    return said if isinstance(said, str) else f"given the prior {said:g}"


def _from_toml(text: str, path: Path) -> list[tuple[str, str, Statement]]:
    import tomllib

    if _LONG_KEY.search(_STRING.sub('""', text)):
        raise DataError(f"{str(path)!r} has a key of more than {PARTS} parts: there are {', '.join(KINDS)}")
    try:
        found: dict[str, Any] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DataError(f"{str(path)!r} is not TOML: {error}") from None
    for key in found:
        if key not in KINDS:
            raise RequestError(f"{str(path)!r}: unknown key {key!r}; there are {', '.join(KINDS)}")
    statements: list[tuple[str, str, Statement]] = []
    for kind in KINDS:
        shape = '[["x", "y", 0.9], ...]' if kind == "prior" else '[["x", "y"], ...]'
        entries = found.get(kind, [])
        if not isinstance(entries, list) or not all(_fits(entry, kind) for entry in entries):
            raise RequestError(f"{str(path)!r}: {kind} must look like {shape}")
        statements += [(e[0], e[1], float(e[2]) if kind == "prior" else kind) for e in entries]
    return statements


def _fits(entry: Any, kind: str) -> bool:
    """Whether an entry is a pair of names, with a number behind it if it is a prior."""
    if not isinstance(entry, list) or len(entry) != 2 + (kind == "prior"):
        return False
    names, rest = entry[:2], entry[2:]
    return all(isinstance(name, str) for name in names) and all(type(p) in (int, float) for p in rest)


def _from_csv(text: str, path: Path) -> list[tuple[str, str, Statement]]:
    import csv
    import io

    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise DataError(f"{str(path)!r} is not CSV: {error}") from None
    if not rows or rows[0] != ["x", "y", "known"]:
        raise DataError(f"{str(path)!r} must have the columns x, y and known")
    statements: list[tuple[str, str, Statement]] = []
    for number, row in enumerate(rows[1:], start=2):
        if len(row) != 3:
            raise DataError(f"{str(path)!r}, row {number}: {len(row)} cells instead of 3")
        statements.append((row[0], row[1], _statement(row[2].strip(), f"{str(path)!r}, row {number}")))
    return statements


def _statement(cell: str, where: str) -> Statement:
    if cell in ("required", "forbidden"):
        return cell
    try:
        return float(cell)
    except ValueError:
        raise RequestError(f"{where}: {cell!r} is not required, forbidden or a probability") from None


def read_graph(path: Path) -> "Graph":
    """Read a graph that an earlier run wrote."""
    from ibmap._folders import settle
    from ibmap.graph import Graph

    settle(path.parent)
    try:
        return Graph.from_json(read_whole(path).decode("utf-8"))
    except FileNotFoundError:
        raise RequestError(f"there is no file {str(path)!r}") from None
    except DataError:  # it is endless
        raise
    except ValueError as error:
        raise RequestError(f"{str(path)!r} does not hold a graph: {error}") from None
