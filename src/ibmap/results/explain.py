"""Why is there an edge, or why not? Who learned the network is asked again; words first, details apart."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html import escape
from math import exp, isfinite, log
from typing import Any

import numpy as np

from ibmap._text import counted, in_short, listed, probability
from ibmap._types import Ints
from ibmap.criteria import LocalScore
from ibmap.drawing.html import summary_html
from ibmap.engines import Engine, Questions, Source, Tables, as_engine, ask
from ibmap.engines.engine import looks_at_rows
from ibmap.engines.questions import NONE
from ibmap.errors import RequestError
from ibmap.graph import Graph
from ibmap.independence import BoundTest, IndependenceTest, as_test
from ibmap.independence.base import log_one_minus_exp
from ibmap.independence.gaussian import partial_correlation
from ibmap.model.effects import EdgeEffects, effects_in
from ibmap.results.arranged import ArrangedTable, arranged_table, as_it_is, of_copies
from ibmap.results.directed import Directed
from ibmap.results.learned import Learned, Step
from ibmap.results.provenance import Foreign

WEAK = log(3)  #: log Bayes factor below which evidence is not worth more than a mention (Jeffreys 1961)
LARGE = log(1e6)  #: and above which nobody needs the number
LIKELY = 0.1  #: rivals with a smaller probability are not told
ARRANGED = ("evidence-map", "dag-hc")  #: learners that put columns into the order of their contents
FEW_ROWS = 0.005  #: share of the rows up to which two variables that differ are nearly the same
LEVELS = 12  #: tables with more levels on a side are not drawn


@dataclass(frozen=True)
class View:
    """The pair as one end sees it: given the other neighbours of ``x``, or its other parents."""

    x: str
    y: str
    given: tuple[str, ...]
    n_rows: int
    n_slices: int | None  #: None if the variables are continuous
    independent: bool
    numbers: dict[str, float]  #: log posteriors, or statistic and p-value; a partial correlation
    others: str = "neighbours"  #: what is given: other neighbours, or other parents

    def sentence(self) -> str:
        """Say what the test found."""
        others = f" given {listed(self.given)}" if self.given else f" (no other {self.others})"
        verdict = "independent of" if self.independent else "dependent on"
        return f"{self.x} is {verdict} {self.y}{others}: {self._number()}."

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form; JSON knows no infinite numbers."""
        numbers = {name: value if isfinite(value) else None for name, value in self.numbers.items()}
        return {**vars(self), "given": list(self.given), "numbers": numbers}

    def _number(self) -> str:
        if "log_independent" in self.numbers:
            log_p = self.numbers["log_independent" if self.independent else "log_dependent"]
            return f"P = {probability(log_p)}"
        name = "p_value" if "p_value" in self.numbers else "statistic"
        return f"{name.replace('_', '-')} = {self.numbers[name]:.3g}"


@dataclass(frozen=True)
class Explanation:
    """Why two variables are adjacent, or not.

    Attributes
    ----------
    x, y : str
        The pair.
    joined : bool
        Whether there is an edge.
    views : pair of View
        The test, or the score, seen from ``x`` and from ``y``.
    flips : sequence of Step
        The steps of the search that flipped the pair.
    n_ascents : int or None
        Number of steps of the search; None for learners without a score.
    gain_of_flip : float or None
        Change of the score if the pair were flipped now.
    levels : pair of tuples
        Labels of ``x`` and of ``y``.
    counts : tuple of tuples of int
        Rows with each label of ``x`` (down) and of ``y`` (across).
    test : str
        Name of the test that was asked.
    required, forbidden : bool
        Whether the edge had to be there, or must not be there, whatever the data say.
    over_rivals : float or None
        Log posterior of the edge, averaged over graphs in which another variable takes the place of one end.
    rivals : sequence of (str, str, float)
        Alternatives if the edge were not there: the end that stays, its other neighbour, the probability.
    log_odds : float or None
        Log posterior odds of an edge if the network is the moral graph of a directed one; otherwise None.
    arcs : tuple of str
        Sentences about the arcs of that directed graph, and about variables that are (nearly) the same.
    view : str
        Whether the undirected or the directed graph predicted better, if both were compared.
    effect : str
        A sentence about strength and sign of the edge.
    untested : bool
        Whether it is an edge for which both ends had too few rows to test it.
    correlation : float or None
        Correlation of two numbers, other variables ignored; they have no levels and no counts.
    means : tuple of (int, float, float)
        Rows, mean and standard deviation of a number by level, if one is a number and one has levels.
    log_bayes_factor : float or None
        Logarithm of posterior over prior odds of an edge: below zero the data speak against a direct
        association. None if one of them is not known.
    """

    x: str
    y: str
    joined: bool
    views: tuple[View, View]
    flips: Sequence[Step]
    n_ascents: int | None
    gain_of_flip: float | None
    levels: tuple[tuple[Any, ...], tuple[Any, ...]] = field(repr=False)
    counts: tuple[tuple[int, ...], ...] = field(repr=False)
    test: str
    required: bool = False
    forbidden: bool = False
    over_rivals: float | None = None
    rivals: Sequence[tuple[str, str, float]] = ()
    log_odds: float | None = None
    arcs: tuple[str, ...] = ()
    view: str = ""
    effect: str = ""
    untested: bool = False
    correlation: float | None = None
    means: tuple[tuple[int, float, float], ...] = ()
    log_bayes_factor: float | None = None

    @property
    def log_posterior(self) -> float | None:
        """Log posterior probability of an edge; None if it is not known."""
        if self.over_rivals is not None:
            return self.over_rivals
        if self.log_odds is not None:
            return -float(np.logaddexp(0.0, -self.log_odds))
        logs = [view.numbers.get("log_dependent") for view in self.views]
        return None if None in logs else float(np.mean(logs))  # type: ignore[arg-type]

    def posterior_odds(self) -> float | None:
        """Return the log posterior odds of an edge; None if they are not known."""
        if self.over_rivals is not None:
            return self.over_rivals - float(log_one_minus_exp(np.array(self.over_rivals)))
        if self.log_odds is not None:
            return self.log_odds
        ends = [view.numbers for view in self.views if "log_dependent" in view.numbers]
        odds = [end["log_dependent"] - end["log_independent"] for end in ends]
        return float(np.mean(odds)) if odds else None

    def words(self) -> str:
        """Return the explanation in a few sentences."""
        are = "are" if self.joined else "are not"
        head = f"{self.x} and {self.y} {are} directly associated"
        if self._told:
            head += f" because the edge was {self._told}"
        if self.log_posterior is not None:
            head += f"; posterior of an edge: {probability(self.log_posterior)}"
        views = [] if self._is_directed else [view.sentence() for view in self.views]
        if self.untested:
            views.append("Neither end could test the edge: with so many neighbours, too few rows are left.")
        said = [f"{head}.", self._evidence(), self.effect, *self.arcs, *views, *self._stand_ins()]
        if self.flips and not self.joined and self.flips[-1].gain < 0:
            said.append(
                "The edge was removed again: other variables explain the data as well, seen from both ends."
            )
        return "\n".join(filter(None, said))

    def _evidence(self) -> str:
        """Say for what the data speak, and how much; "" if that is not known."""
        if self.log_bayes_factor is None:
            return ""
        log_factor = abs(self.log_bayes_factor)
        if log_factor < WEAK:
            return "The data say little for or against a direct association."
        side = "for" if self.log_bayes_factor > 0 else "against"
        factor = f"{float(f'{exp(log_factor):.2g}'):,.0f}" if log_factor < LARGE else "above a million"
        return f"Evidence {side} a direct association: Bayes factor {factor}."

    @property
    def _is_directed(self) -> bool:
        """Whether the views are about parents: what they say of an edge is in the sentences about arcs."""
        return self.views[0].others == "parents"

    def _stand_ins(self) -> list[str]:
        """Tell who could stand in for the edge."""
        return [
            f"Without this edge, {stays} might be directly associated with {comes} instead "
            f"(probability {share:.2g})."
            for stays, comes, share in self.rivals
            if share >= LIKELY
        ]

    @property
    def _told(self) -> str:
        """What the search was told about the edge."""
        return "required" if self.required else "forbidden" if self.forbidden else ""

    def _search(self) -> list[str]:
        """Tell what the search did with the pair."""
        if self.n_ascents is None:
            return []
        lines = [
            f"Ascent {step.n} of {self.n_ascents} {'added' if step.added else 'removed'} the edge: "
            f"the score {'rose' if step.gain >= 0 else 'fell'} by {abs(step.gain):.4g} to {step.score:.6g}."
            for step in self.flips
        ] or [f"The search {'was not free to flip' if self._told else 'never flipped'} this pair."]
        if self.gain_of_flip is not None:
            verb = "Removing" if self.joined else "Adding"
            lines.append(f"{verb} it now would change the score by {self.gain_of_flip:+.4g}.")
        return lines

    def details(self) -> str:
        """Return how the search came to it, and the numbers of the test or the score, as logarithms."""
        numbers = [view.sentence() for view in self.views if self._is_directed] + [f"test {self.test}"]
        for view in self.views:
            found = [f"{name.replace('_', ' ')} {value:.6g}" for name, value in view.numbers.items()]
            slices = [] if view.n_slices is None else [counted(view.n_slices, "slice")]
            sizes = [counted(view.n_rows, "row"), *slices]
            numbers.append(f"seen from {view.x}: {'; '.join([*found, *sizes])}")
        return "\n".join([*self._search(), *[self.view] * bool(self.view), *numbers])

    def __str__(self) -> str:
        return "\n".join([self.words(), "", *self._table()])

    def _repr_html_(self) -> str:
        """Return what notebooks show: the sentences, and the counts."""
        head, *lines = self.words().splitlines()
        cells = "\n".join(self._table())
        return summary_html(head, lines, f"<pre>{escape(cells)}</pre>")

    def _table_of_means(self) -> list[str]:
        """Draw the means of the number by level of the other."""
        level, number = (self.y, self.x) if self.levels[1] else (self.x, self.y)
        labels = self.levels[1] or self.levels[0]
        rows = [[level, "rows", f"mean of {number}", "standard deviation"]]
        rows += [
            [str(label), f"{n:,}", f"{mean:.4g}", f"{sd:.3g}"]
            for label, (n, mean, sd) in zip(labels, self.means, strict=True)
        ]
        return _aligned(rows)

    def _table(self) -> list[str]:
        """Draw the counts, or tell the correlation."""
        if self.correlation is not None:
            return [f"correlation of {self.x} and {self.y}, other variables ignored: {self.correlation:+.4f}"]
        if self.means:
            return self._table_of_means()
        if max(map(len, self.levels)) > LEVELS:
            return [f"counts: {len(self.levels[0])} by {len(self.levels[1])} levels, too many to show"]
        corner = f"{self.x} \\ {self.y}"
        rows = [[corner, *map(str, self.levels[1])]]
        rows += [[str(level), *map(str, row)] for level, row in zip(self.levels[0], self.counts, strict=True)]
        return _aligned(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints, as a dict."""
        return {
            "x": self.x,
            "y": self.y,
            "joined": self.joined,
            "required": self.required,
            "forbidden": self.forbidden,
            "log_posterior": self.log_posterior,
            "rivals": [list(rival) for rival in self.rivals],
            "views": [view.to_dict() for view in self.views],
            "flips": [step._asdict() for step in self.flips],
            "n_ascents": self.n_ascents,
            "gain_of_flip": self.gain_of_flip,
            "levels": [[str(level) for level in levels] for levels in self.levels],
            "counts": [list(row) for row in self.counts],
            "correlation": self.correlation,
            "means": [list(row) for row in self.means],
            "test": self.test,
            "effect": self.effect,
            "log_bayes_factor": self.log_bayes_factor,
            "untested": self.untested,
            "words": self.words(),
        }


def _aligned(rows: list[list[str]]) -> list[str]:
    """Return lines of cells one below the other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]


End = tuple[int, int, Ints]  #: a variable, the other one, and what is given


def explain(
    data: Source, learned: Learned, x: str, y: str, *, engine: Any = None, test: object = None
) -> Explanation:
    """Explain a pair: ask whether the two are dependent, given their other neighbours in the network.

    The score of the learner answers, or its test if it has no score. If the network is the moral graph of a
    directed one, the parents of a variable take the place of its neighbours.

    Parameters
    ----------
    data : Table or Engine
        The table that was learned from, or an engine that holds it.
    learned : Learned
        The network.
    x, y : str
        Two variables.
    engine : Engine, callable, str or None
        Engine that counts, see :func:`ibmap.engines.as_engine`.
    test : IndependenceTest, str or None
        A test to ask instead of the one that the network was learned with.

    Examples
    --------
    >>> from ibmap.data import load
    >>> from ibmap.learners import ibmap_hc
    >>> data = load({"a": [0, 0, 1, 1] * 20, "b": [0, 0, 1, 1] * 20, "c": [0, 1] * 40})
    >>> print(explain(data, ibmap_hc(data), "a", "c").words())
    a and c are not directly associated; posterior of an edge: 0.173.
    Evidence against a direct association: Bayes factor 5.
    a is independent of c given b: P = 0.896.
    c is independent of a (no other neighbours): P = 0.712.
    """
    counting = as_engine(data, engine)
    schema = counting.schema
    if not isinstance(learned, Learned):
        raise RequestError(f"learned must be what a learner returned, a Learned, not {in_short(learned)}")
    i, j = schema.indices((x, y))
    if i == j:
        raise RequestError(f"X and Y are both {x!r}: name two different variables")
    table = _arranged(learned, counting, (i, j)) if test is None else as_it_is(counting)
    known = learned if table.engine is counting else table.contracted(learned)
    found = _explained(table.engine, known, x, y, test)
    one_of = {name: " = ".join(sorted(group)) for group in learned.copies for name in group}
    views = [
        replace(view, given=tuple(one_of.get(name, name) for name in sorted(view.given, key=schema.index)))
        for view in found.views
    ]
    joined = learned.graph.has_edge(x, y)
    side_by_side = counting.pair(i, j)
    sentences = (*found.arcs, *nearly_the_same(side_by_side.counts))
    if any({x, y} <= set(group) for group in learned.copies):
        sentences = of_copies([(x, y)], schema.n_rows, sentence=True)
    told = replace(
        found,
        views=(views[0], views[1]),
        joined=joined,
        levels=(schema.levels[i], schema.levels[j]),
        counts=side_by_side.counts,
        correlation=side_by_side.correlation,
        means=side_by_side.means,
        required={x, y} in map(set, learned.required),
        forbidden={x, y} in map(set, learned.forbidden),
        arcs=sentences,
        effect=_effect(learned, counting, x, y) if joined else "",
        untested={x, y} in map(set, learned.untested),
        **_over_rivals(learned, i, j),
    )
    is_copy = any({x, y} & set(group) for group in learned.copies)  # these share a posterior
    prior = None if test is not None or is_copy else learned.prior_odds
    odds = None if prior is None else told.posterior_odds()
    if prior is None or odds is None:
        return told
    return replace(told, log_bayes_factor=odds - float(prior[i, j] if len(prior) > 1 else prior[0, 0]))


def _arranged(learned: Learned, engine: Engine, pair: tuple[int, int]) -> ArrangedTable:
    """Return the table as its learner saw it; the two columns stand for their copies."""
    learner, score = learned.provenance.learner, learned.provenance.score
    groups = {frozenset(group) for group in learned.copies}
    if learner not in ARRANGED or not (score is None or score.is_evidence):
        return as_it_is(engine)
    table = arranged_table(engine, pair)
    same = {frozenset(group) for group in table.copies} == groups
    return table if same and table.place[pair[0]] != table.place[pair[1]] else as_it_is(engine)


def _explained(counting: Engine, learned: Learned, x: str, y: str, test: object) -> Explanation:
    """Ask about a pair in a table as the learner saw it."""
    schema = counting.schema
    i, j = schema.indices((x, y))
    directed = None if learned.arcs is None or test is not None else Directed(learned, counting)
    ends = [(v, w, _others(learned, directed, v, w)) for v, w in ((i, j), (j, i))]
    score = bound_score(learned, counting, test)
    if directed is not None:
        label = f"none, score {directed.label}"
        answers = [_by_evidence(directed.evidence(v, w)) for v, w, _ in ends]
    elif score is None:
        judge = judging_test(learned, test)
        label, bound = judge.name, judge.bind(counting)
        answers = [_by_test(bound, *end) for end in ends]
    else:
        label, answers = _label(learned, test), [_by_score(score, learned, *end) for end in ends]
    kin = "neighbours" if directed is None else "parents"
    views = _views(counting, ends, answers, kin)
    joined, pair = learned.graph.has_edge(x, y), None if directed is None else directed.pair(i, j)
    gain = None if score is None else _gain(score, learned, i, j)
    if pair is not None:
        gain = -pair.log_odds if joined else pair.log_odds
    return Explanation(
        x,
        y,
        joined,
        (views[0], views[1]),
        [step for step in learned.history if {step.x, step.y} == {x, y}],
        None if learned.score is None else learned.n_iter,
        gain,
        ((), ()),
        (),
        label,
        log_odds=None if pair is None else pair.log_odds,
        arcs=() if pair is None else pair.sentences,
        view=learned.view_in_words,
    )


def _views(
    engine: Engine, ends: Sequence[End], answers: Sequence[tuple[bool, dict[str, float]]], kin: str
) -> list[View]:
    """Return the pair as either end sees it, with the rows that were looked at."""
    names = engine.schema.names
    if engine.schema.is_continuous:
        linear = engine.gaussian_moments is not None
        more: list[dict[str, float]] = [
            {"partial_correlation": partial_correlation(engine, *end)} if linear else {} for end in ends
        ]
        sizes: list[tuple[int, int | None]] = [(engine.schema.n_rows, None)] * len(ends)
    else:
        tables = ask(engine, Questions.of([(v, np.array([w]), given) for v, w, given in ends]))
        more = [{} for _ in ends]
        sizes = list(zip(tables.n_rows.tolist(), tables.n_slices.tolist(), strict=True))
    found = []
    for (v, w, given), answer, others, size in zip(ends, answers, more, sizes, strict=True):
        known = tuple(names[k] for k in given.tolist())
        found.append(View(names[v], names[w], known, *size, answer[0], {**answer[1], **others}, kin))
    return found


def _effect(learned: Learned, engine: Engine, x: str, y: str) -> str:
    """Say how strong an edge is, and in which direction."""
    found, graph = learned.effects, learned.graph
    i, j = sorted((graph.index(x), graph.index(y)))
    e = int(np.flatnonzero((graph.pairs == (i, j)).all(axis=1))[0])
    if found is None or (isinstance(found, EdgeEffects) and not found.sign[e] and not found.tables):
        found = effects_in(engine, graph)
    levels = engine.schema.levels
    return found.in_words(e, (graph.names[i], graph.names[j]), (levels[i], levels[j]))


def _over_rivals(learned: Learned, i: int, j: int) -> dict[str, Any]:
    """Return the posterior that was shown, over rivals if the pair is an edge; nothing if nobody compared."""
    at = None if learned.rivals is None else learned.edge_table.place(i, j)
    if learned.rivals is None or at is None:
        return {}
    x, y = (learned.graph.names[v] for v in (min(i, j), max(i, j)))
    shown = float(learned.edge_table.log_posterior[at])
    return {"over_rivals": shown, "rivals": learned.rivals.get((x, y), ())}


def bound_score(learned: Learned, engine: Engine, test: object = None) -> LocalScore | None:
    """Return the score that learned a network, bound to an engine; None for learners without one."""
    score, asked = learned.provenance.score, learned.provenance.test if test is None else as_test(test)
    for part in (score, asked):
        if isinstance(part, Foreign):
            raise RequestError(f"the result was learned with {part.name!r} of another program")
    return None if score is None else score.bind(engine, asked)  # type: ignore[union-attr, arg-type]


def _label(learned: Learned, test: object) -> str:
    """Return who was asked: the test, or the score if that asks none."""
    score, asked = learned.provenance.score, learned.provenance.test if test is None else as_test(test)
    return asked.name if asked is not None else f"none, score {score.name if score else ''}"


def judging_test(learned: Learned, test: object = None) -> IndependenceTest:
    """Return the test of a network; learners without one compare mutual informations."""
    asked = learned.provenance.test if test is None else test
    if isinstance(asked, Foreign):
        raise RequestError(f"the result was learned with the test {asked.name!r} of another program")
    return as_test("mutual-information" if asked is None else asked)


def _others(learned: Learned, directed: Directed | None, v: int, w: int) -> Ints:
    """Return what is given where v and w are asked about: other neighbours of v, or other parents."""
    blanket = learned.graph.neighbours(v) if directed is None else directed.parents(v)
    return np.asarray(blanket[blanket != w])


def _by_test(bound: BoundTest, v: int, w: int, given: Ints) -> tuple[bool, dict[str, float]]:
    """Return what the test decides, and its numbers."""
    answers = bound.fixed(v, np.array([w]), given)
    kinds = ("log_independent", "log_dependent", "statistic", "p_value")
    found = {kind: values for kind in kinds if (values := getattr(answers, kind)) is not None}
    return bool(answers.independent[0]), {kind: float(values[0]) for kind, values in found.items()}


def _by_score(
    score: LocalScore, learned: Learned, v: int, w: int, given: Ints
) -> tuple[bool, dict[str, float]]:
    """Return what the evidence says, as log posteriors: log odds of t, exact where rivals were compared."""
    blanket = learned.graph.neighbours(v)
    exact = learned.rivals is not None and w in blanket
    rows = score.rows([v], [blanket], floor=np.inf, also=None if exact else [[w]], exact=exact)
    return _by_evidence(float(rows.matrix(score.n)[0, w]))


def _by_evidence(evidence: float) -> tuple[bool, dict[str, float]]:
    """Return what log odds of dependence decide, and the log posteriors."""
    no, yes = (-float(np.logaddexp(0.0, sign * evidence)) for sign in (-1.0, 1.0))
    return evidence < 0, {"log_independent": yes, "log_dependent": no}


def _gain(score: LocalScore, learned: Learned, i: int, j: int) -> float:
    """Return by how much the score would change if the pair were flipped."""
    graph = learned.graph
    flipped = graph.flip(graph.names[i], graph.names[j])
    if score.counts_pairs_once:
        return score.of_graph(flipped.adjacency) - score.of_graph(graph.adjacency)
    before, after = (sum(score.value(end, g.neighbours(end)) for end in (i, j)) for g in (graph, flipped))
    return after - before


def nearly_the_same(counts: tuple[tuple[int, ...], ...]) -> tuple[str, ...]:
    """Return a note about two variables that differ in few rows, whatever their labels.

    Examples
    --------
    >>> nearly_the_same(((500, 1), (0, 499)))
    ('They are the same in all but 1 of 1,000 rows.',)
    >>> nearly_the_same(((500, 0), (500, 0)))
    ()
    """
    differ, n_rows = rows_that_differ(counts), sum(map(sum, counts))
    return (f"They are the same in all but {differ:,} of {counted(n_rows, 'row')}.",) if differ else ()


def rows_that_differ(counts: tuple[tuple[int, ...], ...]) -> int:
    """Return in how many rows two variables differ, whatever their labels; 0 if in none, or in many.

    Examples
    --------
    >>> rows_that_differ(((500, 1), (0, 499))), rows_that_differ(((500, 0), (500, 0)))
    (1, 0)
    """
    best = [max(range(len(row)), key=row.__getitem__) for row in counts if any(row)]
    if len(best) < 2 or len(set(best)) < len(best):
        return 0
    n_rows = sum(map(sum, counts))
    differ = n_rows - sum(max(row) for row in counts)
    return differ if differ <= FEW_ROWS * n_rows else 0


def near_copies(engine: Engine, graph: Graph) -> tuple[str, ...]:
    """Return the warning about edges between two variables that differ in few rows.

    Examples
    --------
    >>> from ibmap.data import load
    >>> a = [0, 1] * 500
    >>> engine = as_engine(load({"a": a, "b": [1, *a[1:]], "c": [0] * 500 + [1] * 500}))
    >>> print(*near_copies(engine, Graph("abc", [("a", "b"), ("b", "c")])))
    a and b are the same in all but 1 of 1,000 rows: which of them has an edge depends on these
    """
    if not graph.n_edges or looks_at_rows(engine.schema):
        return ()
    found = []
    tables = ask(engine, Questions.of([(i, np.array([j]), NONE) for i, j in graph.pairs.tolist()]))
    for t in np.flatnonzero(rows_beside_largest(tables) <= FEW_ROWS * tables.n_rows).tolist():
        counts = tables.contingency(t)
        if differ := rows_that_differ(counts):
            found.append((differ, *graph.edges[t], sum(map(sum, counts))))
    if not found:
        return ()
    (differ, x, y, n_rows), others = min(found), len(found) - 1
    more = f" ({counted(others, 'pair')} more like this)" if others else ""
    return (
        f"{x} and {y} are the same in all but {differ:,} of {counted(n_rows, 'row')}{more}: which of "
        "them has an edge depends on these",
    )


def rows_beside_largest(tables: Tables) -> Ints:
    """Return, of each table, how many rows are not in the largest cell of their level of x."""
    x_levels = tables.levels[tables.x].astype(np.int64)
    first = np.concatenate([[0], np.cumsum(x_levels)])
    largest = np.zeros(first[-1], np.int64)
    np.maximum.at(largest, np.repeat(first[:-1], np.diff(tables.start)) + tables.cells[1], tables.cells[3])
    return np.asarray(tables.n_rows - np.add.reduceat(largest, first[:-1]))
