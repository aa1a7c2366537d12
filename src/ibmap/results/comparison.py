"""What two groups have in common, and where their networks differ."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ibmap._text import counted
from ibmap._types import Bools, Floats, Ints
from ibmap.drawing.html import summary_html, table_html
from ibmap.drawing.svg import ACCENT, INK, WRONG, Line, network_svg, width_of
from ibmap.graph import Graph
from ibmap.results.learned import STRONGEST, Learned, frame

SAME = "#9aa3b0"  #: the colour of edges that do not differ
LEVEL = 0.05  #: below which a difference is called one


class Judged(NamedTuple):
    """A statistic, and the share of permutations in which it is at least as large."""

    value: float
    p_value: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """Networks of two groups with the same variables, and permutation tests of their differences.

    Attributes
    ----------
    labels : pair of str
        Names of the groups.
    learned : pair of Learned
        Their networks, with effects.
    pairs : ndarray of shape (m, 2)
        The edges of either network, as positions.
    fitted : ndarray of shape (2, m)
        The strength of each of these edges in both groups, everything else equal, with its sign if it has
        one. Of categories, Cramér's V, fitted with the edges of both networks and with levels as frequent as
        in all rows, so that the groups can be compared; in a table with numbers, the strength of the effect.
    deviation : ndarray of shape (m,)
        Difference between the groups in each edge, in standard errors.
    p_value, p_adjusted : ndarray of shape (m,)
        Share of permutations in which this edge differs at least as much, and in which any edge does; the
        second is adjusted for looking at all edges.
    largest, overall : Judged
        The largest deviation of an edge, and the sum of the squares of all, each with its p-value.
    n_permutations : int
        Number of permutations of the rows over the groups.
    """

    labels: tuple[str, str]
    learned: tuple[Learned, Learned]
    pairs: Ints = field(repr=False)
    fitted: Floats = field(repr=False)
    deviation: Floats = field(repr=False)
    p_value: Floats = field(repr=False)
    p_adjusted: Floats = field(repr=False)
    largest: Judged
    overall: Judged
    n_permutations: int

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.learned[0].graph.names

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The edges of either network."""
        return tuple((self.names[i], self.names[j]) for i, j in self.pairs.tolist())

    def in_group(self, g: int) -> Bools:
        """Return which of the edges the network of one group has."""
        keys = np.array([len(self.names), 1])
        return np.isin(self.pairs @ keys, self.learned[g].graph.pairs @ keys)

    @property
    def difference(self) -> Floats:
        """The strength of each edge in the second group, less that in the first.

        For levels without an order, strengths may be equal although the tables differ.
        """
        return np.asarray(self.fitted[1] - self.fitted[0])

    @property
    def signed(self) -> Bools:
        """Which edges join binary or ordinal variables, so that strengths have a sign."""
        found = np.zeros(len(self.pairs), bool)
        for g, one in enumerate(self.learned):
            if one.effects is not None:
                found[self.in_group(g)] |= one.effects.sign != 0
        return found

    def rows(self) -> list[tuple[str, ...]]:
        """Return x, y, strength in both groups, difference, p and adjusted p of every edge, as text.

        The strength in a group without the edge is in brackets.
        """
        order, edges, rows = self._order().tolist(), self.edges, []
        there = [self.in_group(g) for g in (0, 1)]
        for e in order:
            form = "+.2f" if self.signed[e] else ".2f"
            shown = [format(self.fitted[g, e], form) for g in (0, 1)]
            both = [text if there[g][e] else f"({text})" for g, text in enumerate(shown)]
            numbers = f"{self.difference[e]:+.2f}", f"{self.p_value[e]:.3g}", f"{self.p_adjusted[e]:.3g}"
            rows.append((*edges[e], *both, *numbers))
        return rows

    @property
    def different(self) -> Bools:
        """Which edges differ, by the adjusted p-value."""
        return np.asarray(self.p_adjusted < LEVEL)

    def _order(self) -> Ints:
        return np.argsort(-self.deviation, kind="stable")

    def to_columns(self) -> dict[str, Any]:
        """Return the table as columns, the most certain differences first."""
        order = self._order()
        edges = self.edges
        return {
            "x": [edges[e][0] for e in order],
            "y": [edges[e][1] for e in order],
            "in_first": self.in_group(0)[order],
            "in_second": self.in_group(1)[order],
            "strength_first": self.fitted[0][order],
            "strength_second": self.fitted[1][order],
            "difference": self.difference[order],
            "deviation": self.deviation[order],
            "p_value": self.p_value[order],
            "p_adjusted": self.p_adjusted[order],
        }

    @property
    def frame(self) -> Any:
        """That table as a frame, in the library of the user's table (polars for files)."""
        return frame(self.to_columns(), self.learned[0].backend)

    @property
    def union(self) -> Graph:
        """The edges of both networks together."""
        return Graph.from_pairs(self.pairs, self.names)

    def words(self) -> str:
        """Return the comparison in a few sentences."""
        (a, b), sizes = self.labels, [one.graph.n_edges for one in self.learned]
        common = int((self.in_group(0) & self.in_group(1)).sum())
        rows, are = [counted(one.n_rows, "row") for one in self.learned], "is" if common == 1 else "are"
        lines = [
            f"{a} ({rows[0]}) has {counted(sizes[0], 'edge')}, {b} ({rows[1]}) has {sizes[1]:,}; "
            f"{common:,} of them {are} the same.",
            self._whole(),
        ]
        found = int(self.different.sum())
        if found:
            differ = "differs" if found == 1 else "differ"
            lines.append(
                f"{counted(found, 'edge')} {differ} (p below {LEVEL}, adjusted for looking at all of them)."
            )
        return "\n".join(lines)

    def _whole(self) -> str:
        verdict = "differ" if self.largest.p_value < LEVEL else "do not differ by more than chance"
        return (
            f"The networks {verdict}: the largest difference of an edge is {self.largest.value:.1f} standard "
            f"errors (p = {self.largest.p_value:.3g}); all edges together: p = {self.overall.p_value:.3g} "
            f"({counted(self.n_permutations, 'permutation')})."
        )

    def svg(self, width: int = 420) -> str:
        """Return a picture: edges that differ in colour, wider if they differ more; the others in grey."""
        lines, (first, second) = {}, self.labels
        there = [self.in_group(g) for g in (0, 1)]
        for e, edge in enumerate(self.edges):
            wide, both = width_of(self.difference[e]), bool(there[0][e] and there[1][e])
            line = Line(wide, INK if both else WRONG if there[1][e] else ACCENT)
            said = (
                f"{edge[0]} – {edge[1]}: {first} {self.fitted[0, e]:.2f}, {second} {self.fitted[1, e]:.2f}, "
            )
            title = f"{said}adjusted p {self.p_adjusted[e]:.3g}"
            plain = Line(1.2, SAME, dashed=not both)
            lines[edge] = (line if self.different[e] else plain)._replace(title=title)
        return network_svg(self.union, lines, width=width)

    def _repr_html_(self) -> str:
        """Return what notebooks show."""
        rows = self.rows()[:STRONGEST]
        table = table_html(
            ["", "", *self.labels, "difference", "p", "adjusted p"], rows, len(self.pairs) - len(rows)
        )
        headline, *lines = self.words().splitlines()
        return summary_html(headline, lines, table, self.svg())

    def __str__(self) -> str:
        return self.words()

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints, as a dict."""
        columns = {
            name: value if isinstance(value, list) else value.tolist()
            for name, value in self.to_columns().items()
        }
        whole = {name: getattr(self, name)._asdict() for name in ("largest", "overall")}
        return {
            "labels": list(self.labels),
            "n_rows": [one.n_rows for one in self.learned],
            "n_edges": [one.graph.n_edges for one in self.learned],
            "variables": list(self.names),
            "learner": self.learned[0].learner,
            "n_permutations": self.n_permutations,
            **whole,
            "edges": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
            "words": self.words(),
        }
