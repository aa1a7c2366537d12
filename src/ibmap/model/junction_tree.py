"""Exact inference: messages between the cliques of a triangulated graph."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ibmap._core import SumProduct
from ibmap._types import Floats, Ints
from ibmap.model.layout import Layout
from ibmap.model.triangulation import TooLargeError, clique_tree

MAX_CELLS = 1 << 20  #: of all cliques together: tens of milliseconds for an answer


@dataclass
class _Program:
    """Steps for the core (:class:`ibmap._core.SumProduct`), while they are written down."""

    shape: list[int] = field(default_factory=lambda: [0])
    size: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=lambda: [0])
    place: list[int] = field(default_factory=list)
    stride: list[int] = field(default_factory=list)

    def add(self, sizes: Sequence[int], operands: Sequence["Operand"], target: "Operand") -> int:
        """Add a step over all variables of a clique; return its number."""
        self.size += sizes
        self.shape.append(len(self.size))
        for one in (*operands, target):
            self.place.append(one.start)
            self.stride += one.strides
        self.places.append(len(self.place))
        return len(self.shape) - 2

    def to_core(self, work_size: int) -> SumProduct:
        """Return the program in a form that runs."""
        return SumProduct(*(np.array(part, np.int64) for part in vars(self).values()), work_size=work_size)


@dataclass(frozen=True)
class Operand:
    """A table in the workspace: where it begins, and its stride for every variable of a clique."""

    start: int
    strides: list[int]


class JunctionTree:
    """A tree of cliques for a graph; it answers for any parameters and any evidence.

    The workspace holds the parameters, then the potentials, the messages (up and down), the beliefs and the
    marginals, all of them logarithms.

    Parameters
    ----------
    layout : Layout
        The graph, and where its parameters are.
    max_cells : float
        Cells of all cliques together, at most.

    Examples
    --------
    >>> from ibmap.graph import Graph
    >>> layout = Layout(Graph("ab", [("a", "b")]), np.array([2, 2]))
    >>> tree = JunctionTree(layout)
    >>> round(float(np.exp(tree.log_partition(np.log([1, 1, 1, 1, 3, 1, 1, 3])))), 6)
    8.0
    >>> tree.marginals(np.log([3, 1, 1, 1, 1, 1, 1, 1]))[0].round(3)
    array([0.75, 0.25])
    """

    def __init__(self, layout: Layout, max_cells: float = MAX_CELLS) -> None:
        self.layout, self._max_cells = layout, max_cells
        self.cliques, self.home = clique_tree(layout.graph.pairs, layout.levels, max_cells)
        self.sizes = [layout.levels[c.variables].tolist() for c in self.cliques]
        self.n_cells = [int(np.prod(sizes)) for sizes in self.sizes]
        self._children: list[list[int]] = [[] for _ in self.cliques]
        self.factors: list[list[int]] = [[] for _ in self.cliques]  #: tables that a clique holds
        for k, clique in enumerate(self.cliques):
            if clique.parent >= 0:
                self._children[clique.parent].append(k)
        for e, (i, j) in enumerate(layout.graph.pairs.tolist()):
            both = (self.home[i], self.home[j])
            self.factors[both[0] if j in self.cliques[both[0]].variables else both[1]].append(e)
        sets = [set(clique.variables) for clique in self.cliques]
        for e, scope in enumerate(layout.interactions, start=layout.graph.n_edges):
            self.factors[next(self.home[v] for v in scope if sets[self.home[v]].issuperset(scope))].append(e)
        self._reserve()
        self._write_program()

    def __reduce__(self) -> tuple[Any, ...]:
        return JunctionTree, (self.layout, self._max_cells)

    def _reserve(self) -> None:
        """Say where everything is in the workspace."""
        shared = [int(np.prod(s[: c.n_shared])) for s, c in zip(self.sizes, self.cliques, strict=True)]
        end = self.layout.size

        def reserved(counts: Sequence[int]) -> list[int]:
            nonlocal end
            starts = np.cumsum([end, *counts]).tolist()
            end = int(starts[-1])
            return [int(start) for start in starts[:-1]]

        self.potential, self.belief = reserved(self.n_cells), reserved(self.n_cells)
        self._up, self._down = reserved(shared), reserved(shared)
        self.marginal = reserved(self.layout.levels.tolist())
        self.table_marginal = reserved(np.diff(self.layout.table_start).tolist())
        self._total = reserved([1] * len(self.cliques))
        self.work_size = end

    def _write_program(self) -> None:
        """Write down the steps, in an order in which they may run."""
        program, cliques = _Program(), range(len(self.cliques))
        whole = [Operand(self.potential[k], _row_major(self.sizes[k])) for k in cliques]
        beliefs = [Operand(self.belief[k], whole[k].strides) for k in cliques]
        self.step_potential = [program.add(self.sizes[k], self._parameters(k), whole[k]) for k in cliques]
        self.step_up = {
            k: program.add(self.sizes[k], [whole[k], *self._from_below(k)], self._message(self._up, k, k))
            for k in reversed(cliques)
        }
        self.step_down = {}
        for k in cliques:
            for child in self._children[k]:
                others = [*self._from_above(k), *self._from_below(k, but=child)]
                target = self._message(self._down, child, k)
                self.step_down[child] = program.add(self.sizes[k], [whole[k], *others], target)
        self.step_belief = [
            program.add(self.sizes[k], [whole[k], *self._from_above(k), *self._from_below(k)], beliefs[k])
            for k in cliques
        ]
        for v, k in enumerate(self.home):
            place = Operand(self.marginal[v], self._strides(k, {v: 1}))
            program.add(self.sizes[k], [beliefs[k]], place)
        self.step_table = {
            e: program.add(self.sizes[k], [beliefs[k]], Operand(self.table_marginal[e], self._scope(k, e)))
            for k in cliques
            for e in self.factors[k]
        }
        self._program = program.to_core(self.work_size)

    def _strides(self, k: int, wanted: dict[int, int]) -> list[int]:
        return [wanted.get(v, 0) for v in self.cliques[k].variables]

    def _scope(self, k: int, e: int) -> list[int]:
        scope = self.layout.scopes[e]
        strides = _row_major(self.layout.levels[list(scope)].tolist())
        return self._strides(k, dict(zip(scope, strides, strict=True)))

    def _parameters(self, k: int) -> list[Operand]:
        """Return the parameters that a clique holds: the variables that it brings in, and its tables."""
        clique, layout = self.cliques[k], self.layout
        fields = [
            Operand(int(layout.field_start[v]), self._strides(k, {v: 1}))
            for v in clique.variables[clique.n_shared :]
        ]
        return fields + [Operand(int(layout.table_start[e]), self._scope(k, e)) for e in self.factors[k]]

    def _message(self, starts: list[int], child: int, k: int) -> Operand:
        """Return the message between a child and its parent, as clique ``k``, one of them, sees it."""
        clique = self.cliques[child]
        shared = clique.variables[: clique.n_shared]
        if clique.parent < 0:
            return Operand(self._total[child], self._strides(k, {}))
        strides = _row_major(self.sizes[child][: clique.n_shared])
        return Operand(starts[child], self._strides(k, dict(zip(shared, strides, strict=True))))

    def _from_below(self, k: int, but: int = -1) -> list[Operand]:
        return [self._message(self._up, child, k) for child in self._children[k] if child != but]

    def _from_above(self, k: int) -> list[Operand]:
        return [self._message(self._down, k, k)] if self.cliques[k].parent >= 0 else []

    def run(self, work: Floats, first: int, last: int) -> None:
        """Run steps of the program in a workspace."""
        self._program.run(work, first, last)

    def started(self, theta: Floats) -> Floats:
        """Return a workspace with parameters in it."""
        work = np.empty(self.work_size)
        work[: len(theta)] = theta
        return work

    def collect(self, theta: Floats) -> Floats:
        """Return a workspace in which all messages have gone up."""
        work = self.started(theta)
        self.run(work, 0, 2 * len(self.cliques))
        return work

    def log_partition(self, theta: Floats) -> float:
        """Return the logarithm of the sum of all weights; -inf if there is no possible configuration."""
        return self.total(self.collect(theta))

    def total(self, work: Floats) -> float:
        """Return the log partition function that a workspace holds after messages have gone up."""
        return float(sum(work[self._total[k]] for k, c in enumerate(self.cliques) if c.parent < 0))

    def marginals(self, theta: Floats) -> list[Floats]:
        """Return the distribution of every variable."""
        work = self.started(theta)
        self.run(work, 0, self.step_belief[-1] + 1 + len(self.home) if self.home else 0)
        start = self.layout.field_start
        shares = normalised(work[self.marginal[0] :][: start[-1]], start[:-1]) if self.home else work[:0]
        return [shares[a:b] for a, b in pairwise(start.tolist())]

    def joint(self, theta: Floats, variables: Sequence[int]) -> Floats:
        """Return the joint distribution of some variables of one clique, a dimension for each."""
        k, clique = next((k, c) for k, c in enumerate(self.cliques) if set(variables) <= set(c.variables))
        work = self.started(theta)
        self.run(work, 0, self.step_belief[-1] + 1)
        logs = work[self.belief[k] : self.belief[k] + self.n_cells[k]].reshape(self.sizes[k])
        shares = np.exp(logs - logs.max())
        others = tuple(axis for axis, v in enumerate(clique.variables) if v not in variables)
        left = [v for v in clique.variables if v in variables]
        found = shares.sum(axis=others).transpose([left.index(v) for v in variables])
        return np.asarray(found / found.sum())

    def children(self, k: int) -> list[int]:
        """Return the cliques that hang on a clique."""
        return self._children[k]


def normalised(logs: Floats, start: Ints) -> Floats:
    """Return probabilities from logarithms, of parts that begin at ``start``; NaN where all are zero."""
    sizes = np.diff(np.append(start, len(logs)))
    peak = np.maximum.reduceat(logs, start)
    shares = np.exp(logs - np.repeat(np.where(peak > -np.inf, peak, np.nan), sizes))
    return np.asarray(shares / np.repeat(np.add.reduceat(shares, start), sizes))


def _row_major(sizes: Sequence[int]) -> list[int]:
    """Return the strides of a table of which the last dimension runs fastest."""
    strides = np.cumprod([1, *reversed(sizes[1:])])[::-1] if len(sizes) else np.empty(0, np.int64)
    return [int(stride) for stride in strides]


def tree_of(layout: Layout, max_cells: float = MAX_CELLS) -> JunctionTree | None:
    """Return a junction tree, or None if it would be too large."""
    try:
        return JunctionTree(layout, max_cells)
    except TooLargeError:
        return None
