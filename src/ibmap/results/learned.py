"""What every learner returns, and how it is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple

import numpy as np

from ibmap._text import counted, in_seconds, probability
from ibmap._types import Floats, Ints
from ibmap.criteria.families import log_prior_odds
from ibmap.data import Schema
from ibmap.drawing.html import summary_html, table_html
from ibmap.drawing.svg import ACCENT, UNSIGNED, WRONG, Line, network_svg, width_of
from ibmap.engines import Source, as_engine
from ibmap.graph import Graph
from ibmap.model.averaged_effects import with_averages
from ibmap.model.effects import EdgeEffects, Effects, effects_in
from ibmap.results.edges import STRONG, EdgeTable, both_ways, edge_table, finding
from ibmap.results.predictability import predictability
from ibmap.results.provenance import Provenance
from ibmap.results.warnings import more_cells_than_rows, untested
from ibmap.search import climb, state

STRONGEST = 8  #: edges that a notebook shows
PREDICTED = 5  #: variables of which is said how well they are predicted
CERTAIN = -0.01  #: log posterior of an edge; above it nobody asks who could stand in


class Step(NamedTuple):
    """One step of the search: the pair that was flipped, and the change of the score."""

    n: int
    x: str
    y: str
    added: bool
    gain: float
    score: float


@dataclass(frozen=True, eq=False)
class Learned:
    """A learned network and where it comes from.

    Attributes
    ----------
    graph : Graph
        The structure.
    provenance : Provenance
        How it was found: learner, test, score and search with their options.
    n_rows, n_tests, n_iter : int
        Rows of the table, tests performed, and iterations: steps of the search, or variables visited by
        learners without a score.
    seconds : float
        Wall time of the search.
    backend : str or None
        Library of the frames that are returned (polars if None).
    score : float or None
        The score of the network; None for learners without one.
    pair_scores : ndarray or None
        σ_xy: log posterior of what the graph says about x and y, given the blanket of x.
    history : sequence of Step
        The steps of the search.
    required, forbidden : sequence of (str, str)
        Edges that had to be in the network, or must not be in it.
    arcs : sequence of (str, str), or None
        The directed graph whose moral graph this is, as (parent, child); None for learners without one.
    arc_score : str or None
        Score by which the arcs were found; None for learners without arcs.
    view_scores : mapping or None
        Scores of the undirected and the directed graph, if both were compared: half of the log
        pseudo-likelihood, each row left out in turn, plus the log prior. ``arcs`` shows which one won.
    known_edges : EdgeTable or None
        The edges with their posteriors where ``pair_scores`` is not at hand, as in a file.
    copies : sequence of sequences of str
        Variables that are the same in all rows, up to their labels; they were learned as one, and share its
        edges and their posteriors.
    constant : sequence of str
        Variables with a single level, about which nothing can be learned.
    warnings : sequence of str
        Warnings about the table and about the search.
    rivals : mapping or None
        For each edge its alternatives: (the end that stays, its other neighbour, the probability if the edge
        were not there); None for learners that do not compare.
    effects : EdgeEffects, PartialCorrelations or None
        Strength and sign of every edge, in the order of ``graph.pairs``; see :meth:`with_effects`.
    predictability : mapping or None
        Share of each variable that its neighbours predict in rows left out, from 0 to 1; see
        ``results/predictability.py``.
    """

    graph: Graph
    provenance: Provenance
    n_rows: int
    n_tests: int
    n_iter: int
    seconds: float
    backend: str | None = None
    score: float | None = None
    pair_scores: Floats | None = field(default=None, repr=False)
    history: Sequence[Step] = field(default=(), repr=False)
    required: Sequence[tuple[str, str]] = field(default=(), repr=False)
    forbidden: Sequence[tuple[str, str]] = field(default=(), repr=False)
    arcs: Sequence[tuple[str, str]] | None = field(default=None, repr=False)
    arc_score: str | None = None
    view_scores: Mapping[str, float] | None = field(default=None, repr=False)
    known_edges: EdgeTable | None = field(default=None, repr=False)
    copies: Sequence[Sequence[str]] = field(default=(), repr=False)
    constant: Sequence[str] = field(default=(), repr=False)
    warnings: Sequence[str] = field(default=(), repr=False)
    rivals: Mapping[tuple[str, str], tuple[tuple[str, str, float], ...]] | None = field(
        default=None, repr=False
    )
    effects: Effects | None = field(default=None, repr=False)
    predictability: Mapping[str, float] | None = field(default=None, repr=False)

    @property
    def learner(self) -> str:
        """Name of the learner, with the options that are not the default."""
        return str(self.provenance)

    @property
    def test(self) -> str:
        """Name of the test, with the options that are not the default."""
        return self.provenance.test_label

    @property
    def finding(self) -> str:
        """What was found, in one sentence: numbers of edges, of pairs without one, of undecided pairs."""
        graph, table = self.graph, self.edge_table
        return finding(graph.n_variables, graph.n_edges, table.n_uncertain, table.n_undecided, self.n_against)

    @property
    def origin(self) -> str:
        """Where it comes from, in one sentence: number of rows, learner, seconds."""
        test = "" if self.provenance.test is None else f", test {self.test}"
        rows = counted(self.n_rows, "row")
        return f"Learned from {rows} by {self.learner}{test} in {in_seconds(self.seconds)}."

    @property
    def iterations(self) -> str:
        """What ``n_iter`` counts: "ascent", or "variable" for learners without a score."""
        return "variable" if self.score is None else "ascent"

    @property
    def posterior_in_words(self) -> str:
        """What the posterior of an edge means here; empty for learners without a score."""
        if self.score is None:
            return ""
        if self.provenance.options.get("posterior") == "averaged":
            return "Posterior: the share of networks, sampled by their evidence, that have the edge."
        if self.arcs is not None and self.rivals is None:
            return (
                "Posterior: how probable it is that these two are directly associated, by what the score "
                "loses without the arcs behind the edge."
            )
        if self.rivals is not None:
            return (
                "Posterior: how probable it is that these two are directly associated; lower where another "
                "variable would explain the data as well (shown after 'or')."
            )
        return (
            "Posterior: the geometric mean of two, one from each end of the edge. It is not a probability: "
            "0.707 means that one end is sure and the other cannot tell."
        )

    @property
    def summarises_ends(self) -> bool:
        """Whether the posterior of an edge is a mean of two that may differ a lot, so that both are shown."""
        return self.score is not None and self.arcs is None and self.rivals is None

    @property
    def view_in_words(self) -> str:
        """Whether the undirected or the directed graph won, and by how much; empty if only one was tried."""
        if not self.view_scores:
            return ""
        undirected, directed = (self.view_scores[view] for view in ("undirected", "directed"))
        if self.arcs is None:
            return (
                "A directed graph was tried: neighbours predict each value from the rest of its row better "
                f"(log score {undirected:.1f} against {directed:.1f}, each row left out in turn)."
            )
        how = "better" if directed > undirected else "worse"
        return (
            "Edges are arcs of a directed graph, and pairs with a common child: it predicts each value from "
            f"the rest of its row {how} than neighbours without direction do (log score {directed:.1f} "
            f"against {undirected:.1f}, each row left out in turn)."
        )

    @property
    def listed_in_words(self) -> str:
        """What is not listed where a search had too many variables for a matrix of all pairs."""
        most = state.WHOLE if self.learner == "evidence-map" else climb.MATRIX
        if self.pair_scores is not None or self.score is None or self.graph.n_variables <= most:
            return ""
        return (
            f"With {self.graph.n_variables:,} variables no matrix of all pairs was kept: pairs without an "
            f"edge are listed if the search met them."
        )

    @cached_property
    def edge_table(self) -> EdgeTable:
        """Edges, then near misses, the most probable first; computed at first use."""
        return self.known_edges or edge_table(self.graph, self.pair_scores, constant=self.constant)

    @property
    def prior_odds(self) -> Floats | None:
        """Log prior odds of an edge: one number for all pairs, or a matrix; None if they are not known."""
        made_by, n = self.provenance, self.graph.n_variables
        prior = getattr(made_by.test, "prior", None)
        if self.score is None:
            return None
        if made_by.test is not None:  # its prior is that of independence
            return None if prior is None else np.atleast_2d(np.log1p(-np.asarray(prior)) - np.log(prior))
        options = made_by.options if made_by.score is None else made_by.score.options()
        neighbours = options.get("expected_neighbours")
        return None if neighbours is None else log_prior_odds(n, neighbours, options.get("prior"))

    @cached_property
    def log_bayes_factors(self) -> Floats:
        """The log Bayes factor of an edge for every pair of the edge table; NaN where it is not known.

        Posterior odds over prior odds: above zero it is evidence for a direct association, below against.
        Copies of a variable share its posteriors, and have none.
        """
        prior, table = self.prior_odds, self.edge_table
        if prior is None:
            return np.full(len(table), np.nan)
        copies = [self.graph.index(name) for group in self.copies for name in group]
        shared = np.isin(table.pairs, copies).any(axis=1)
        return np.where(shared, np.nan, table.log_bayes_factors(prior))

    @property
    def n_against(self) -> int | None:
        """Number of pairs with strong evidence against an edge; None if not all are known.

        Strong: a Bayes factor of ten or more against it, and a posterior that is not undecided.
        """
        table, n_known = self.edge_table, self.graph.n_variables - len(self.constant)
        if table.counted:
            return table.counted[1]
        if self.prior_odds is None or len(table) < n_known * (n_known - 1) // 2:
            return None
        against = (self.log_bayes_factors <= -STRONG) & ~table.undecided
        return int(against[table.n_edges :].sum())

    @cached_property
    def untested(self) -> tuple[tuple[str, str], ...]:
        """The edges that neither end could test: both posteriors are next to the prior.

        Only for learners whose posteriors are those of single tests (``summarises_ends``).
        """
        prior = getattr(self.provenance.test, "prior", None)
        if prior is None or not self.summarises_ends:
            return ()
        pairs, logs = self._edges_with_logs()
        priors = np.broadcast_to(np.asarray(prior, float), (self.graph.n_variables,) * 2)
        unsure = pairs[untested(logs, priors[pairs[:, 0], pairs[:, 1]])]
        names = self.graph.names
        return tuple((names[i], names[j]) for i, j in unsure[np.lexsort(unsure.T[::-1])].tolist())

    @property
    def posteriors(self) -> list[float] | None:
        """The posterior of every edge, in the order of ``graph.edges``; None for learners without a score."""
        if self.score is None:
            return None
        pairs, logs = self._edges_with_logs()
        found: list[float] = np.exp(logs.mean(axis=1))[np.lexsort(pairs.T[::-1])].tolist()
        return found

    def _edges_with_logs(self) -> tuple[Ints, Floats]:
        """Return the edges and their log posteriors at both ends, without a look at other pairs."""
        if self.pair_scores is None:
            table = self.edge_table
            return table.pairs[: table.n_edges], table.log_posteriors[: table.n_edges]
        return self.graph.pairs, both_ways(self.graph.pairs, self.pair_scores)

    def with_effects(self, data: Source) -> "Learned":
        """Return a copy with the strength and the sign of every edge, from the table or its engine.

        If posteriors of edges are probabilities, effects are also averaged over networks.
        """
        found = effects_in(as_engine(data), self.graph)
        if isinstance(found, EdgeEffects) and self.posteriors is not None and not self.summarises_ends:
            found = with_averages(found, np.array(self.posteriors))
        return replace(self, effects=found)

    def described(self, data: Source) -> "Learned":
        """Return a copy with the effects of its edges and the predictability of its variables."""
        engine = as_engine(data)
        shares = zip(self.graph.names, predictability(engine, self.graph).tolist(), strict=True)
        known = {name: share for name, share in shares if not isnan(share)}
        return replace(self.with_effects(engine), predictability=known)

    @property
    def predictability_in_words(self) -> str:
        """Which variables are predicted best by their neighbours; "" if none is, or it is not known."""
        some = sorted((self.predictability or {}).items(), key=lambda one: -one[1])
        if not some or not self.graph.n_edges:
            return ""
        told = ", ".join(f"{name} {share:.0%}" for name, share in some[:PREDICTED])
        more = f", ..., {some[-1][0]} {some[-1][1]:.0%}" if len(some) > PREDICTED else ""
        return f"Predicted by their neighbours (share explained in rows left out): {told}{more}."

    @cached_property
    def effect_in_short(self) -> dict[tuple[str, str], str]:
        """The effect of every edge as a short text; "" if it is not known."""
        found = self.effects
        return {edge: found.in_short(e) if found else "" for e, edge in enumerate(self.graph.edges)}

    def stand_ins(self, x: str, y: str) -> tuple[tuple[str, str, float], ...]:
        """Return the pairs that could as well have an edge in place of (x, y), with their probabilities.

        For edges that are not certain: the alternatives with a probability of at least one half.
        """
        edge = (x, y) if self.graph.index(x) < self.graph.index(y) else (y, x)
        logs = self.edge_table.of_pair.get((self.graph.index(edge[0]), self.graph.index(edge[1])))
        if not self.rivals or logs is None or sum(logs) / 2 > CERTAIN:
            return ()
        return tuple(rival for rival in self.rivals.get(edge, ()) if rival[2] >= 0.5)

    @cached_property
    def edges_frame(self) -> Any:
        """The edge table as a frame, in the library of the user's table (polars for files).

        ``posterior`` summarises what the two ends say (``posterior_in_words`` tells how);
        ``log_posterior_xy`` and ``log_posterior_yx`` are the two (x given its blanket, y given its own).
        ``log_bayes_factor`` is above zero where the data speak for an edge, below zero where against one.
        Where effects are known, ``strength`` says how strong an edge is, from 0 to 1, and ``sign`` is 1 if
        both ends rise together, -1 if one falls as the other rises, 0 if levels have no order.
        """
        columns = {**self.edge_table.columns, "log_bayes_factor": self.log_bayes_factors}
        return frame({**columns, **self._effect_columns()}, self.backend)

    def _effect_columns(self) -> dict[str, Any]:
        """Return the effects of the pairs of the edge table; NaN for pairs without an edge."""
        if self.effects is None:
            return {}
        table, place = self.edge_table, self._places()
        names = dict.fromkeys(("strength", "sign", *self.effects.columns))
        columns: dict[str, Any] = {name: np.full(len(table), np.nan) for name in names}
        numbers = [self.effects.numbers(e) for e in range(self.graph.n_edges)]
        of_all = np.abs(self.effects.strength).tolist(), self.effects.sign.tolist()
        for known, strength, sign in zip(numbers, *of_all, strict=True):
            known.update(strength=strength, sign=sign)
        for name, column in columns.items():
            column[: table.n_edges] = [numbers[e].get(name, np.nan) for e in place.tolist()]
        if dependences := getattr(self.effects, "dependences", None):
            on = ["; ".join(dependences[e].on) if e in dependences else "" for e in place.tolist()]
            columns["depends_on"] = [*on, *[""] * (len(table) - len(on))]
        return columns

    def _places(self) -> Ints:
        """Return for every edge of the edge table where it stands in ``graph.pairs``."""
        table, n = self.edge_table, max(self.graph.n_variables, 1)
        return np.searchsorted(self.graph.pairs @ [n, 1], table.pairs[: table.n_edges] @ [n, 1])

    def strongest(self, top: int) -> list[tuple[str, str, float, float]]:
        """Return x, y and both log posteriors of some edges: the strongest, and of these the most probable.

        Where strengths are not known, the most probable.
        """
        table = self.edge_table
        if self.effects is not None:
            strength = np.nan_to_num(np.abs(self.effects.strength))[self._places()]
            order = np.argsort(-strength, kind="stable")[:top]
            table = replace(table, pairs=table.pairs[order], log_posteriors=table.log_posteriors[order])
        return table.first(min(top, self.graph.n_edges), 0)

    @property
    def order_in_words(self) -> str:
        """How :meth:`strongest` sorts them, as a heading; "" if there are no edges."""
        if not self.graph.n_edges:
            return ""
        if self.effects is not None and not np.isnan(self.effects.strength).all():
            return "strongest edges"
        return "most probable edges" if self.score is not None else "edges"

    def summary(self) -> str:
        """What was found, in a sentence, what to beware of, and where it comes from."""
        warnings = [f"Warning: {words}" for words in self.warnings]
        return "\n".join([f"{self.finding}.", *warnings, self.origin])

    def _repr_html_(self) -> str:
        """Return what notebooks show: the strongest edges, and a picture."""
        found, n_edges = self.strongest(STRONGEST), self.graph.n_edges
        rows = [
            [x, y, "" if isnan(xy) else probability((xy + yx) / 2), self.effect_in_short[x, y]]
            for x, y, xy, yx in found
        ]
        heads = [self.order_in_words, "", "posterior" if self.score is not None else "", ""]
        table = table_html(heads, rows, n_edges - len(rows))
        picture = network_svg(self.graph, self._lines())
        return summary_html(self.finding, [*self.warnings, self.origin], table, picture)

    def _lines(self) -> dict[tuple[str, str], Line]:
        """Return how edges are drawn: as wide as they are strong, in the colour of their sign."""
        if self.effects is None:
            return {}
        signs, strengths = self.effects.sign.tolist(), np.nan_to_num(self.effects.strength).tolist()
        return {
            edge: Line(width_of(strength), ACCENT if sign > 0 else WRONG if sign else UNSIGNED)
            for edge, sign, strength in zip(self.graph.edges, signs, strengths, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints, as a dict."""
        directed: dict[str, Any] = {}
        if self.arcs is not None:
            directed = {"arcs": [list(arc) for arc in self.arcs], "arc_score": self.arc_score}
        return {
            "variables": list(self.graph.names),
            "edges": [list(edge) for edge in self.graph.edges],
            "posteriors": self.posteriors,
            **directed,
            "score": self.score,
            "n_tests": self.n_tests,
            "n_iter": self.n_iter,
            "seconds": self.seconds,
            "learner": self.learner,
            "test": self.test,
            "untested": [list(edge) for edge in self.untested],
            "copies": [list(group) for group in self.copies],
            "warnings": list(self.warnings),
        }


def learned_from(schema: Schema, pairs: Ints, provenance: Provenance, **more: Any) -> Learned:
    """Put names on a result; ``pairs`` are the edges as indices."""
    graph = Graph.from_pairs(pairs, schema.names)
    constant = constant_of(schema)
    sparse = more_cells_than_rows(schema, graph.pairs, provenance.test)
    said = (*schema.warnings, *more.pop("warnings", ()), *sparse)
    about: dict[str, Any] = {"backend": schema.backend, "constant": constant, "warnings": said}
    return Learned(graph, provenance, n_rows=schema.n_rows, **about, **more)


def constant_of(schema: Schema) -> tuple[str, ...]:
    """Return the variables with a single level."""
    return tuple(schema.names[i] for i in np.flatnonzero(schema.cardinalities == 1))


def frame(columns: dict[str, Any], backend: str | None) -> Any:
    """Make a frame of the library that the user brought, or of polars."""
    import narwhals as nw

    library: Any = backend or "polars"
    return nw.from_dict(columns, backend=library).to_native()
